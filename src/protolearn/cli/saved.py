"""A saved model, and the rows of a table that it can be asked about."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables import (
    UNKNOWN_CATEGORY,
    CategoryColumn,
    Column,
    TableSteps,
    is_number,
    suggest_name,
    warn_of_unseen_categories,
)
from .failure import Failure
from .source import open_data

KINDS = {"number": "number", "date": "date", "category": "category", "boolean": "category"}
"""How a column has to be read, by what it was in the training rows."""

TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""How files write truth values."""


@dataclass(frozen=True)
class SavedModel:
    """A model that begins with a table.

    Attributes
    ----------
    pipeline : Pipeline
        The model as it was saved.
    steps : TableSteps
        What it is made of.
    notes : dict
        What was noted beside it.
    """

    pipeline: Any
    steps: TableSteps
    notes: dict[str, Any]

    @classmethod
    def open(cls, path: Path) -> SavedModel:
        """Load a model, which has to begin with a table."""
        from ..io import describe, load

        model, notes = load(path), describe(path).notes
        try:
            steps = TableSteps.of(model)
        except (TypeError, ValueError) as error:
            raise Failure(
                f"the model in {str(path)!r} cannot be asked about a table: {error}"
            ) from (error)
        if not hasattr(steps.model, "predict") or not hasattr(model, "classes_"):
            name = type(steps.model).__name__
            raise Failure(f"the model in {str(path)!r} ends in {name}, which is no classifier.")
        if not hasattr(steps.encoder, "feature_names_in_"):
            raise Failure(
                f"the model in {str(path)!r} was fitted to columns that have no names, or names "
                "that are no texts, so that the columns of a file cannot be told apart. Fit it to "
                "a table with names."
            )
        return cls(model, steps, dict(notes or {}))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the model needs."""
        return self.steps.encoder.columns_

    def rows(self, data: str) -> NDArray[Any]:
        """Read the columns that the model needs, as what they were when it was fitted."""
        names = [column.name for column in self.columns]
        kinds = {c.name: KINDS[c.kind] for c in self.columns if c.kind in KINDS}
        frame = open_data(data, kinds=kinds, columns=names).frame
        found = list(frame.dtype.names or ())
        lost = [name for name in names if name not in found]
        if lost:
            raise Failure(f"{data!r} has no column {lost[0]!r}, which the model needs.")
        for column in self.columns:
            if isinstance(column, CategoryColumn):
                restore(frame, column)
        return frame

    def unseen(self, frame: Any) -> str:
        """Return which categories the training rows do not have; nothing if there are none."""
        encoder, new = self.steps.encoder, {}
        table = encoder.input_table(frame)
        for column, name in zip(self.columns, table.names, strict=True):
            if isinstance(column, CategoryColumn):
                values = table.read(name)
                unknown = column.codes(values) == UNKNOWN_CATEGORY
                if unknown.any():
                    new[name] = values.data[unknown].tolist()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            warn_of_unseen_categories(new, encoder.unknown)
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


def restore(frame: Any, column: CategoryColumn) -> None:
    """Replace the texts that a file has for numbers and truth values."""
    if all(value is None or isinstance(value, str) for value in column.categories):
        return
    values = frame[column.name].tolist()
    meant = {value: meaning(value, column) for value in set(values)}
    frame[column.name] = np.array([meant[value] for value in values], dtype=object)


def meaning(value: Any, column: CategoryColumn) -> Any:
    """Return the category that is written so, or what is written if there is none."""
    if not isinstance(value, str):
        return value
    for category in column.categories:
        if isinstance(category, (bool, np.bool_)):
            if TRUTHS.get(value.strip().lower()) == bool(category):
                return category
        elif category == value or (is_number(category) and number(value) == float(category)):
            return category
    return value


def number(text: str) -> float:
    """Read a number; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan
