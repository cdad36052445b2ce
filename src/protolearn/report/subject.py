"""What a picture or a page tells about: a fitted model, labelled rows, and how to name them.

Models see numbers; people know columns, units and words. A subject knows both sides, whether the
model begins with a table, with scalers, or with neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from .._names import number_repeats, shorten_name
from ..analysis import LabelledRows, RejectClassifier, known_labels
from ..selection import places_among
from ..tables import (
    FEATUREWISE,
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    UNUSED_COLUMN,
    CategoryColumn,
    Column,
    TableEncoder,
    TextColumn,
    apply_step,
    column_texts,
    flatten_steps,
    ignore_warnings,
    labelled_prototypes,
    prototype_text,
    undo_step,
)

LONGEST = 80  # characters of names and texts that are shown
# Percentiles that are shown: ends of the thin line, of the thick one, and the median.
LEVELS = 5.0, 25.0, 50.0, 75.0, 95.0
MOST_NUMBERS = 50_000_000  # of a sparse matrix that is shown


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model and labelled rows.

    Make one with :meth:`of`.
    """

    model: Any  # as it was given: it answers rows of X
    X: Any  # the rows
    y: NDArray[Any]  # (n_samples,): their labels
    last: Any  # the end of the pipeline, or of what a search has found
    between: list[tuple[str, Any]]  # the steps before it, but for a table encoder at the beginning
    # What is known of the columns. That of the model, or one that only describes the rows.
    encoder: TableEncoder
    frame: Any  # the rows with the columns of the encoder
    begins_with_table: bool  # whether the encoder is the first step of the model
    # False if nothing leads back from the last step: it is told by what it sees.
    in_users_units: bool = True

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None) -> Subject:
        """Return a model with rows; names are for arrays, which have none."""
        check_is_fitted(model)
        steps = flatten_steps(model)
        if not hasattr(steps[-1][1], "predict") or not hasattr(model, "classes_"):
            raise TypeError(f"{type(model).__name__} is not a fitted classifier.")
        if isinstance(steps[-1][1], RejectClassifier):
            raise TypeError(
                "RejectClassifier leaves rows without an answer; give its model_, whose page shows "
                "what is bought by that."
            )
        X = np.asarray(X) if isinstance(X, (list, tuple)) else X
        if issparse(X):
            raise TypeError(
                "X is a sparse matrix; expected rows that can be shown: give X.toarray() of some "
                "of them."
            )
        if np.ndim(X) == 1 and getattr(X, "dtype", np.dtype(float)).names is None:
            raise TypeError(
                "X holds one thing a row; expected rows of columns that can be shown: give the "
                "last step of the model, and rows as it sees them."
            )
        y = known_labels(model, column_or_1d(y))
        check_consistent_length(X, y)
        *before, (_, last) = steps
        if before and isinstance(before[0][1], TableEncoder):
            check_unnamed(X, feature_names)
            found = cls(model, X, y, last, before[1:], before[0][1], X, True)
        else:
            frame = named_frame(X, feature_names)
            found = cls(model, X, y, last, before, TableEncoder().fit(frame), frame, False)
        return found if found._can_be_undone else found._of_last_step()

    def take(self, rows: Indices) -> Subject:
        """Return the same with some of the rows."""
        X, y, _ = LabelledRows(self.X, self.y, None).take(rows)
        frame = X if self.frame is self.X else LabelledRows(self.frame, self.y, None).take(rows).X
        return replace(self, X=X, y=y, frame=frame)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return self.encoder.columns_

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [shorten_name(str(column.name), LONGEST) for column in self.columns]

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return [shorten_name(str(label), LONGEST) for label in self.model.classes_]

    def codes_of(self, labels: Any) -> Indices:
        """Return the places of labels among the classes."""
        return places_among(np.asarray(self.model.classes_), labels)

    @cached_property
    def codes(self) -> Indices:
        """The class of each row."""
        return self.codes_of(self.y)

    @cached_property
    def predicted_codes(self) -> Indices:
        """What the model says of each row."""
        with ignore_warnings(NO_FEATURE_NAMES, UNSEEN_CATEGORIES):
            return self.codes_of(self.model.predict(self.X))

    @cached_property
    def inner(self) -> Floats:
        """The rows as the last step sees them."""
        with ignore_warnings(NO_FEATURE_NAMES, UNSEEN_CATEGORIES):
            Z: Any = self.encoder.transform(self.frame) if self.begins_with_table else self.X
            for _, step in self.between:
                Z = apply_step(step, Z)
        if issparse(Z) and Z.shape[0] * Z.shape[1] > MOST_NUMBERS:
            raise TypeError(
                f"{type(self.last).__name__} sees a sparse matrix of shape {Z.shape}, too large to "
                "be shown; give fewer rows, with cv=None and a model that has not seen them."
            )
        return np.asarray(Z.toarray() if issparse(Z) else Z, dtype=np.float64)

    @cached_property
    def is_used(self) -> NDArray[np.bool_]:
        """Whether the model sees anything of each column, which selecting steps may leave out."""
        places = np.arange(sum(column.width for column in self.columns))
        for _, step in self.between:
            if hasattr(step, "get_support"):
                places = places[step.get_support()]
            elif not isinstance(step, FEATUREWISE):
                return np.ones(len(self.columns), dtype=bool)
        owner = np.repeat(np.arange(len(self.columns)), [c.width for c in self.columns])
        return np.isin(np.arange(len(self.columns)), owner[places])

    @cached_property
    def inner_names(self) -> list[str]:
        """What the last step sees is called."""
        if self.begins_with_table or not self.between:
            names = [str(name) for name in self.encoder.get_feature_names_out()]
        else:
            names = names_after(self.between, self.names)
        width = self.inner.shape[1]
        return names if len(names) == width else [f"x{j}" for j in range(width)]

    @cached_property
    def plain(self) -> Floats:
        """The rows in the user's units, categories as entries."""
        with ignore_warnings(UNSEEN_CATEGORIES):
            return self.encoder.unscaled_rows(self.encoder.input_table(self.frame))

    @cached_property
    def spreads(self) -> list[Spread]:
        """The values of each column by class."""
        n_classes = len(self.classes)
        return [spread_of(*one, self.codes, n_classes) for one in self.parts(self.plain)]

    def parts(self, plain: Floats) -> list[tuple[Column, Floats]]:
        """Return rows in the user's units, cut into columns."""
        return self.encoder.split_columns(plain)

    def undo_steps(self, Z: Floats) -> Floats:
        """Return rows of the last step in the user's units."""
        for name, step in reversed(self.between):
            Z = undo_step(name, step, Z)
        return self.encoder.units_.inverse_transform(Z) if self.begins_with_table else Z

    @cached_property
    def prototypes(self) -> tuple[Floats, Indices] | None:
        """The prototypes as the model sees them, and their classes; None if there are none."""
        try:
            rows, labels = labelled_prototypes(self.last)
        except TypeError:
            return None
        return (rows, self.codes_of(labels)) if rows.ndim == 2 else None  # numbers of rows

    @property
    def prototype_names(self) -> list[str]:
        """Of each prototype its class, with a number if the class has several."""
        assert self.prototypes is not None
        return number_repeats([self.classes[code] for code in self.prototypes[1]])

    def prototype_texts(self, plain: Floats) -> list[list[str]]:
        """Return rows in the user's units as texts: for each column that of each row."""
        return [
            [
                shorten_name(prototype_text(column, part[k : k + 1]), LONGEST)
                if used
                else UNUSED_COLUMN
                for k in range(len(part))
            ]
            for (column, part), used in zip(self.parts(plain), self.is_used, strict=True)
        ]

    def texts(self) -> list[list[str]]:
        """Return the rows as texts: for each column that of each row."""
        with ignore_warnings(UNSEEN_CATEGORIES):
            return column_texts(self.encoder, self.frame)

    def by_column(self, numbers: Floats) -> Floats:
        """Return sums by column of numbers of the features the model sees, along the last axis."""
        if numbers.shape[-1] == len(self.columns):
            return numbers
        starts = np.cumsum([0, *(column.width for column in self.columns)])[:-1]
        return np.add.reduceat(numbers, starts, axis=-1)

    @property
    def one_by_one(self) -> bool:
        """Whether what the model sees are the columns, each by itself."""
        width = sum(column.width for column in self.columns)
        apart = all(isinstance(step, FEATUREWISE) for _, step in self.between)
        return apart and self.inner.shape[1] == width

    @cached_property
    def _can_be_undone(self) -> bool:
        """Whether prototypes can be shown in the user's units."""
        words = any(isinstance(column, CategoryColumn) for column in self.columns)
        if words and not self.begins_with_table:
            return False
        if not all(hasattr(step, "inverse_transform") for _, step in self.between):
            return False
        width = sum(column.width for column in self.columns)
        try:
            return self.undo_steps(self.take(np.arange(1)).inner).shape[1] == width
        except ValueError:
            return False

    def _of_last_step(self) -> Subject:
        """Return the same about what the last step sees, where nothing leads back."""
        names = [name or "no name" for name in self.inner_names]
        frame = named_frame(self.inner, names)
        encoder = TableEncoder().fit(frame)
        return Subject(self.last, self.inner, self.y, self.last, [], encoder, frame, False, False)


def check_unnamed(X: Any, names: Sequence[str] | None) -> None:
    """Raise if names are given for columns that have some."""
    named = hasattr(X, "columns") or getattr(getattr(X, "dtype", None), "names", None)
    if names is not None and named:
        raise ValueError("feature_names is given, and the columns of X have names already.")


def named_frame(X: Any, names: Sequence[str] | None) -> Any:
    """Return rows whose columns have names, if any are known."""
    check_unnamed(X, names)
    if names is None:
        return X
    X, names = np.asarray(X, dtype=np.float64), [str(name) for name in names]
    if X.shape[1] != len(names) or len(set(names)) != len(names) or "" in names:
        raise ValueError(
            f"feature_names has {len(names)} names, {len(set(names))} of them different; X has "
            f"{X.shape[1]} columns, and each needs its own, which may not be empty."
        )
    frame = np.empty(len(X), dtype=[(name, np.float64) for name in names])
    for j, name in enumerate(frame.dtype.names or ()):
        frame[name] = X[:, j]
    return frame


def names_after(steps: Sequence[tuple[str, Any]], names: list[str]) -> list[str]:
    """Return what steps call their features; nothing if they do not tell."""
    try:
        for _, step in steps:
            names = [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError):
        return []
    return names


class Spread(NamedTuple):
    """The values of a column by class, in the user's units."""

    # (n_classes, 5): percentiles 5, 25, 50, 75 and 95 of numbers; NaN for a class without
    # rows. None for categories and texts.
    quantiles: Floats | None
    # (n_classes, n_categories): how often each category or word is there; None for numbers.
    shares: Floats | None = None


def spread_of(column: Column, part: Floats, codes: Indices, n_classes: int) -> Spread:
    """Return the values of a column by class."""
    is_known = np.ones(len(part), dtype=bool)
    if isinstance(column, CategoryColumn):
        has = column.nearest(part)[:, None] == np.arange(len(column.categories))
        is_known = has.any(axis=1)  # others are unknown
    elif isinstance(column, TextColumn):
        has = part > 0.0
    else:
        found = np.full((n_classes, len(LEVELS)), np.nan)
        for code in np.unique(codes):
            found[code] = np.percentile(part[codes == code, 0], LEVELS)
        return Spread(found)
    shares = np.zeros((n_classes, has.shape[1]))
    for code in np.unique(codes[is_known]):
        shares[code] = has[is_known & (codes == code)].mean(axis=0)
    return Spread(None, shares)
