"""A fitted model and rows, seen from both sides: the user's columns, and what the model sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices, as_floats
from ..rule import DecisionRule, as_rule
from ..tables import (
    FEATUREWISE,
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    CategoryColumn,
    Column,
    Table,
    TableEncoder,
    Values,
    apply_step,
    build_frame,
    column_places,
    flatten_steps,
    ignore_warnings,
    native_column,
)

AFFINE = (
    preprocessing.StandardScaler,
    preprocessing.MinMaxScaler,
    preprocessing.MaxAbsScaler,
    preprocessing.RobustScaler,
)
"""Steps that multiply each feature by a number and add one."""

QUIET = NO_FEATURE_NAMES, UNSEEN_CATEGORIES, "X has feature names"


@dataclass(frozen=True, eq=False)
class ModelView:
    """A model with rows of a table; ``plain`` rows are numbers in the user's units.

    Categories of plain rows are entries, and missing values what takes their place.
    """

    model: Any
    encoder: TableEncoder  # the first step of the model, or one that only describes the columns
    begins_with_table: bool
    between: list[tuple[str, Any]]
    last: Any
    table: Table
    plain: Floats
    has_ranges: bool  # whether the encoder has seen training rows

    @classmethod
    def of(cls, model: Any, X: Any, data: Any = None) -> ModelView:
        """Return a model with rows; ``data`` are training rows, for a model without a table."""
        check_is_fitted(model)
        steps = flatten_steps(model)
        *before, (_, last) = steps
        starts = isinstance(steps[0][1], TableEncoder)
        with ignore_warnings(NO_FEATURE_NAMES):
            encoder = before[0][1] if starts else TableEncoder().fit(X if data is None else data)
            table = encoder.input_table(X)
            plain = encoder.unscaled_rows(table)
        known = starts or data is not None
        between = before[1:] if starts else before
        return cls(model, encoder, starts, between, last, table, plain, known)

    def take(self, data: Any) -> Floats:
        """Return other rows as plain rows."""
        with ignore_warnings(*QUIET):
            return self.encoder.unscaled_rows(self.encoder.input_table(data))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return self.encoder.columns_

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(column.name) for column in self.columns]

    @cached_property
    def places(self) -> list[slice]:
        """Where the numbers of each column are among those of a plain row."""
        return column_places(self.columns)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.model.classes_)

    @cached_property
    def sees_plain_rows(self) -> bool:
        """Whether the model sees all that there is in plain rows."""
        if self.begins_with_table:
            return True
        words = any(isinstance(column, CategoryColumn) for column in self.columns)
        missing = any(c.n_missing for c in self.columns) or any(
            self.table.read(name).data.dtype == object or np.isnan(self.table.read(name).data).any()
            for name in self.table.names
        )
        return not words and not missing

    def inner(self, plain: Floats) -> Floats:
        """Return plain rows as the last step sees them."""
        Z: Any = self.encoder.units_.transform(plain) if self.begins_with_table else plain
        for _, step in self.between:
            Z = apply_step(step, Z)
        return as_floats(Z)

    def labels(self, plain: Floats) -> NDArray[Any]:
        """Return what the model says about plain rows, made of any of the rows."""
        with ignore_warnings(*QUIET):
            return np.asarray(self.last.predict(self.inner(plain)))

    def labels_of_changes(self, plain: Floats, rows: Indices) -> NDArray[Any]:
        """Return what the model says about changes of the rows at these places."""
        if self.sees_plain_rows:
            return self.labels(plain)
        return self.predict(self.frame(plain, rows))

    def predict(self, frame: Any) -> NDArray[Any]:
        """Return the answers of the whole model; what it warns about was told before."""
        with ignore_warnings(*QUIET):
            return np.asarray(self.model.predict(frame))

    def frame(self, points: Floats, rows: Indices | None = None) -> Any:
        """Return a table of changed rows; all values that do not change are as they were."""
        table, columns = self.table, {}
        rows = np.arange(len(self.plain)) if rows is None else rows
        for j, name in enumerate(table.names):
            column, new, given = self.columns[j], points[:, self.places[j]], table.read(name)
            moved = (new != self.plain[rows][:, self.places[j]]).any(axis=1)
            values = column.values(new)
            data = np.where(moved, values.data, given.data[rows])
            kind = given.kind if given.kind != "empty" else values.kind
            columns[name] = native_column(table.library, Values(kind, data), table.dtype(name))
        index = None if table.index is None else table.index[rows]
        return build_frame(table.library, columns, index)

    def probabilities(self, plain: Floats) -> Floats:
        """Return the probability of each class for plain rows."""
        with ignore_warnings(*QUIET):
            if not self.begins_with_table:
                return np.asarray(self.model.predict_proba(plain))
            Z = self.encoder.units_.transform(plain)
            return np.asarray(after_table(self.model).predict_proba(Z))

    @cached_property
    def rule(self) -> DecisionRule | None:
        """The rule of the last step, if it decides by distances or linear scores."""
        try:
            return as_rule(self.last)
        except TypeError:
            return None

    @cached_property
    def is_featurewise(self) -> bool:
        """Whether each number that the model sees belongs to one column."""
        return self.sees_plain_rows and all(isinstance(s, FEATUREWISE) for _, s in self.between)

    @cached_property
    def scale(self) -> Floats | None:
        """What plain numbers are multiplied with on their way to the model; None if curved."""
        if not self.sees_plain_rows:
            return None
        scale = self.encoder.units_.scale_ if self.begins_with_table else np.ones(len(self.plain.T))
        return multipliers(self.between, 1.0 / scale)

    @cached_property
    def directions(self) -> Floats | None:
        """Where prototypes lie by plain numbers, if boundaries are flat in them; else None."""
        rule = self.rule
        if rule is None or rule.is_soft or rule.decision.neighbors > 1 or self.scale is None:
            return None
        if rule.directions is None or rule.directions.shape[1] != len(self.scale):
            return None
        return as_floats(rule.directions * self.scale)

    def distances(self, plain: Floats) -> Floats:
        """Return the distances of plain rows to the prototypes, as the rule measures them."""
        assert self.rule is not None
        with ignore_warnings(*QUIET):
            rows = self.rule.read_rows(self.last, self.inner(plain))
        return np.asarray(self.rule.distances(rows), dtype=np.float64)

    def sizes(self, before: Floats, after: Floats) -> Floats:
        """Return how large each column's change is, in standard deviations or jumps, (n, C).

        That a number is no longer missing counts as nothing beside the change to its value.
        """
        way = np.abs(after - before) / self.encoder.units_.scale_
        parts = [
            way[
                :,
                place
                if isinstance(column, CategoryColumn)
                else slice(place.start, place.start + 1),
            ]
            for column, place in zip(self.columns, self.places, strict=True)
        ]
        return np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1)


def multipliers(steps: list[tuple[str, Any]], scale: Floats) -> Floats | None:
    """Return what steps, and a scale before them, multiply each number with; None if curved."""
    for _, step in steps:
        if not isinstance(step, AFFINE) or getattr(step, "clip", False):
            return None
        if isinstance(step, preprocessing.MinMaxScaler):
            scale = scale * step.scale_
        elif getattr(step, "scale_", None) is not None:
            scale = scale / step.scale_
    return as_floats(scale)


def after_table(model: Any) -> Any:
    """Return the model without the encoder at its beginning: it takes the numbers of that."""
    steps = steps_after(model)
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def steps_after(model: Any) -> list[tuple[str, Any]]:
    """Return what comes after the encoder; the last step stays as it is, also if it is a search."""
    if hasattr(model, "without_table"):
        return [("model", model.without_table())]
    if not isinstance(model, Pipeline):
        return steps_after(model.best_estimator_)
    first, *others = [step for step in model.steps if step[1] not in (None, "passthrough")]
    return others if isinstance(first[1], TableEncoder) else steps_after(first[1]) + others
