"""A saved model, the rows of a table that it can be asked about, and what it says about them."""

from __future__ import annotations

import base64
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances

from .._arrays import Floats
from .._names import number_repeats, suggest_name
from ..analysis import after_table, certified_radius, margin_of_prediction
from ..classifiers import NearestPrototypeClassifier
from ..reading import ReadTable, TableFileError, truth_of
from ..selection import places_among
from ..tables import (
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    CategoryColumn,
    Column,
    TableSteps,
    apply_step,
    ignore_warnings,
    labelled_prototypes,
)
from .data_source import PLAIN_READING, Reading, open_data
from .failure import Failure
from .output_checks import check_model_file

MOST_MARKED = 50_000
"""Rows of which a model keeps marks, to tell whether it has seen a row."""


@dataclass(frozen=True)
class SavedModel:
    """A pipeline that begins with a table, the steps it is made of, and the notes of its file."""

    pipeline: Any
    steps: TableSteps
    notes: dict[str, Any]

    @classmethod
    def open(cls, path: Path) -> SavedModel:
        """Return a model from a file; it has to begin with a table."""
        from ..io import describe, load

        check_model_file(path)
        model, notes, this = load(path), describe(path).notes, f"the model in {str(path)!r}"
        try:
            steps = TableSteps.of(model)
        except (TypeError, ValueError) as error:
            raise Failure(f"{this} cannot be applied to a table: {error}") from error
        if not hasattr(steps.model, "predict") or not hasattr(model, "classes_"):
            name = type(steps.model).__name__
            raise Failure(f"{this} ends in {name}, which is not a classifier.")
        if not hasattr(steps.encoder, "feature_names_in_"):
            raise Failure(
                f"{this} was fitted to columns without names, so the columns of a file cannot be "
                "matched. Fit it to a table with column names."
            )
        return cls(model, steps, dict(notes or {}))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the model needs."""
        return self.steps.encoder.columns_

    def read(
        self, data: str, reading: Reading = PLAIN_READING, keep: bool = False
    ) -> tuple[ReadTable, list[str]]:
        """Return the columns that the model needs, read as what they were when it was fitted.

        Also the columns that name the rows, whose names come second, and with ``keep`` all others.
        """
        names = [column.name for column in self.columns]
        kinds = {
            c.name: "category" if c.kind == "text" else c.kind
            for c in self.columns
            if c.kind != "empty"
        }
        missing = (*self.notes.get("missing", ()), *reading.missing)
        last: Exception | None = None
        known_ids = dict.fromkeys([tuple(reading.id or self.notes.get("id", ())), reading.id])
        targets = [self.notes.get("target"), None][not keep :]  # labels are words
        for ids, target in product(known_ids, targets):
            wanted = reading._replace(missing=missing, id=ids)
            columns = None if keep else list(dict.fromkeys([*names, *ids]))
            try:
                read = open_data(data, kinds=kinds, columns=columns, target=target, reading=wanted)
                break
            except TableFileError as error:  # the table need not have names of rows, nor labels
                last = error
        else:
            raise last or AssertionError
        self.restore_words(data, read.frame)
        return read, list(ids)

    def rows(self, data: str) -> NDArray[Any]:
        """Return the columns that the model needs."""
        return self.read(data)[0].frame

    def restore_words(self, data: str, frame: NDArray[Any]) -> None:
        """Replace words by the categories that they stand for; raise if a column is not there."""
        names = [column.name for column in self.columns]
        found = list(frame.dtype.names or ())
        lost = [name for name in names if name not in found]
        if lost:
            raise Failure(f"{data!r} has no column {lost[0]!r}, which the model needs.")
        for column in self.columns:
            if isinstance(column, CategoryColumn):
                restore_categories(frame, column)

    def known_rows(self, Z: Floats) -> NDArray[np.bool_] | None:
        """Return which rows, as the model sees them, it was fitted to; None if it does not know."""
        marks = self.notes.get("rows")
        if not isinstance(marks, str):
            return None
        known = np.frombuffer(base64.b64decode(marks), "<u4")
        return np.isin(marks_of(Z), known)

    def unseen_note(self, frame: Any) -> str:
        """Return which categories the training rows do not have; nothing if there are none."""
        encoder = self.steps.encoder
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            encoder.warn_of_unseen(encoder.input_table(frame))
        return str(told[0].message) if told else ""

    def label_named(self, text: str) -> Any:
        """Return the class that is written so."""
        by_text = {str(label): label for label in np.asarray(self.pipeline.classes_).tolist()}
        if text not in by_text:
            known = ", ".join(map(repr, list(by_text)[:8])) + ", ..." * (len(by_text) > 8)
            raise Failure(f"the model has no class {text!r}; its classes are {known}.")
        return by_text[text]

    def column_named(self, text: str) -> Any:
        """Return the column that is written so."""
        names = [column.name for column in self.columns]
        if text not in names:
            raise Failure(f"the model has no column {text!r}.{suggest_name(text, names)}")
        return text


def row_marks(encoder: Any, X: Any) -> str | None:
    """Return marks of training rows as a text; None if there are too many."""
    if len(X) > MOST_MARKED:
        return None
    with ignore_warnings(UNSEEN_CATEGORIES, NO_FEATURE_NAMES):
        found = np.unique(marks_of(encoder.transform(X)))
    return base64.b64encode(found.astype("<u4").tobytes()).decode()


def marks_of(Z: Floats) -> NDArray[np.uint32]:
    """Return a checksum of each row, which two different rows hardly ever share."""
    rows = np.ascontiguousarray(Z + 0.0)  # without negative zeros
    return np.fromiter((zlib.crc32(row) for row in rows), np.uint32, len(rows))


def restore_categories(frame: Any, column: CategoryColumn) -> None:
    """Replace the texts that a file has for numbers and truth values."""
    values = frame[column.name].tolist()
    meant = {value: category_written(value, column) for value in set(values)}
    frame[column.name] = np.array([meant[value] for value in values], dtype=object)


def category_written(value: Any, column: CategoryColumn) -> Any:
    """Return the category that is written so, or what is written if there is none."""
    if not isinstance(value, str) or value in column.categories:
        return value
    for category in column.categories:
        if isinstance(category, (bool, np.bool_)) or is_truth(category):
            if is_truth(value) and truth_of(value) == truth_of(str(category)):
                return category
        elif category is not None and as_number(value) == as_number(str(category)):
            return category
    return value


def is_truth(value: Any) -> bool:
    """Whether a text is ``true`` or ``false``, in any case."""
    return isinstance(value, str) and value.strip().lower() in ("true", "false", "yes", "no")


def as_number(text: str) -> float:
    """Return the number that a text is, or NaN."""
    try:
        return float(text)
    except ValueError:
        return np.nan


@dataclass(frozen=True)
class RowPredictions:
    """What is predicted for some rows; None where the model cannot tell.

    These are the label, the probability of each class, the distances to the prototypes, the
    hypothesis margin and the certified radius, whether the rule of the file rejects the row, and
    whether it is among the training rows.
    """

    label: NDArray[Any]
    probability: Floats | None
    distances: Floats | None
    margin: Floats | None
    radius: Floats | None
    flagged: NDArray[np.bool_] | None
    known: NDArray[np.bool_] | None


class RowPredictor:
    """A saved model that is asked about some rows after others.

    ``reasons`` says why the model does not tell something, ``prototypes`` are the names of the
    prototypes, and rows with a probability below ``threshold`` are flagged: None if there is no
    rule, minus infinity if it flags nothing.
    """

    def __init__(self, saved: SavedModel):
        self.saved, self.reasons = saved, dict[str, str]()
        self.classes = np.asarray(saved.pipeline.classes_)
        self._after_table = after_table(saved.pipeline)
        self.threshold = self._threshold()
        if not hasattr(self._after_table, "predict_proba"):
            name = type(saved.steps.model).__name__
            self.reasons["probability"] = f"{name} gives no probabilities"
        self.prototypes = self._prototypes()

    def ask(self, frame: Any) -> RowPredictions:
        """Return all that can be told of some rows."""
        steps, model = self.saved.steps, self.saved.steps.model
        with ignore_warnings(UNSEEN_CATEGORIES, NO_FEATURE_NAMES):
            Z = steps.encoder.transform(frame)
            label = np.asarray(self._after_table.predict(Z))
            rows = Z
            for _, step in steps.between:
                rows = apply_step(step, rows)
            probability = self._try("probability", lambda: self._after_table.predict_proba(Z))
            return RowPredictions(
                label,
                probability,
                self._try("nearest_prototype", prototype_distances, model, rows),
                self._try("margin", margin_of_prediction, model, rows),
                self._try("certified_radius", certified_radius, model, rows),
                self._reject_flags(label, probability),
                self.saved.known_rows(Z),
            )

    def _try(self, what: str, ask: Callable[..., Any], *args: Any) -> Floats | None:
        """Return an answer, or keep the reason why there is none."""
        if what in self.reasons:
            return None
        try:
            return np.asarray(ask(*args), dtype=np.float64)
        except (TypeError, ValueError) as error:
            # What the caller of a function is to give instead is no advice for a command.
            self.reasons[what] = str(error).partition("; give ")[0].rstrip(".")
            return None

    def _prototypes(self) -> list[str]:
        """Return the names of the prototypes."""
        try:
            labels = prototype_labels(self.saved.steps.model)
            return number_repeats([str(label) for label in labels.tolist()])
        except TypeError as error:
            self.reasons["nearest_prototype"] = str(error).partition(":")[0]
            return []

    def _threshold(self) -> float | None:
        """Return the threshold of the rule in the file."""
        rule = self.saved.notes.get("reject")
        if rule is None:
            self.reasons["reject"] = "the model file has no rule for it"
            return None
        try:
            if rule["measure"] == "probability":
                threshold = rule["threshold"]
                return -np.inf if threshold is None else float(threshold)
        except (KeyError, TypeError, ValueError):
            pass
        self.reasons["reject"] = f"the rule of the model file is not understood: {rule!r}"
        return None

    def _reject_flags(
        self, label: NDArray[Any], probability: Floats | None
    ) -> NDArray[np.bool_] | None:
        """Return which rows the rule of the file rejects."""
        if self.threshold is None:
            return None
        if self.threshold == -np.inf:
            return np.zeros(len(label), dtype=bool)
        if probability is None:
            self.reasons["reject"] = "its rule needs probabilities"
            return None
        own = probability[np.arange(len(label)), places_among(self.classes, label)]
        return own < self.threshold


def prototype_distances(model: Any, rows: Floats) -> Floats:
    """Return the distance of rows to all prototypes, as the model measures it if it does."""
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.distances(rows))
    return np.asarray(euclidean_distances(rows, labelled_prototypes(model)[0]))


def prototype_labels(model: Any) -> NDArray[Any]:
    """Return the label of each prototype."""
    if isinstance(model, NearestPrototypeClassifier):
        return np.asarray(model.prototype_labels_)
    return np.asarray(labelled_prototypes(model)[1])
