"""The user's units and those of the model, which may stand at the end of a pipeline."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from ..._arrays import Floats
from .ranges import Ranges

FEATUREWISE = (
    StandardScaler,
    MinMaxScaler,
    MaxAbsScaler,
    RobustScaler,
    PowerTransformer,
    QuantileTransformer,
)
"""Steps that change each feature by itself, and keep the order of its values."""

FAR = 1e30
"""What the model sees of a number without end, if no step has an end of its own."""

SAME = 1e-6
"""Relative difference of what the model sees from what it should see that counts as none."""


class Units:
    """The way into the space of the last step of a pipeline, and back.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted model; without a pipeline both spaces are the same.

    Attributes
    ----------
    steps, mixing : lists of pairs
        Name and transformer of the steps before the last, and of those among them that are not
        known to change each feature by itself.
    last : classifier
        The last step.
    names : array of str or None
        Names of the features, if they have any.
    """

    def __init__(self, model: Any):
        self.steps: list[tuple[str, Any]] = []
        self.mixing: list[tuple[str, Any]] = []
        self.last, first = model, model
        if isinstance(model, Pipeline):
            steps = [step for step in model.steps if step[1] not in (None, "passthrough")]
            self.steps, self.last, first = steps[:-1], steps[-1][1], steps[0][1]
            self.mixing = [step for step in self.steps if not isinstance(step[1], FEATUREWISE)]
        for name, step in self.steps:
            if not hasattr(step, "inverse_transform"):
                raise no_way_back(name, step, "it has no inverse_transform")
        self.names = getattr(first, "feature_names_in_", None)

    def inner(self, X: Any) -> Any:
        """Return rows as the model sees them."""
        for _, step in self.steps:
            X = apply_step(step, X)
        return X

    def outer(self, X: Floats, after: Floats) -> Floats:
        """Return rows X, changed so that the model sees ``after``.

        What a step leaves out (all but some principal components) stays as it is in X, and so does
        a row to which no way leads back.
        """
        seen = [X]
        for _, step in self.steps:
            seen.append(np.asarray(apply_step(step, seen[-1]), dtype=np.float64))
        for name, step in reversed(self.steps):
            before, given = seen.pop(), seen[-1]
            back = undo_step(name, step, after)
            if isinstance(step, FEATUREWISE):
                back = np.where(after == before, given, back)
            else:
                back = given + (back - undo_step(name, step, before))
            after = np.where(np.isfinite(back).all(axis=1, keepdims=True), back, given)
        return after

    def undoes(self, seen: Floats, after: Floats, rows: Floats) -> bool:
        """Whether the model sees changed rows as it should: steps have a true inverse.

        In units of the rows that were changed, or of the changed ones.
        """
        off = np.abs(seen - after).max(initial=0.0)
        size = max(np.abs(rows).max(initial=0.0), np.abs(after).max(initial=0.0))
        return bool(off <= SAME * size)

    def ranges(self, ranges: Ranges, n_inner: int) -> Ranges:
        """Return ranges as the model sees them, with its number of features."""
        if not self.mixing:
            ends = self._end(ranges.low, -FAR), self._end(ranges.high, FAR)
            return Ranges(ranges.movable, *ends)
        if ranges.is_free:
            end = np.full(n_inner, np.inf)
            return Ranges(np.ones(n_inner, dtype=bool), -end, end)
        name, step = self.mixing[0]
        raise ValueError(
            f"Step {name!r} of the pipeline, {step!r}, is not known to change each feature by "
            "itself: fixed features and bounds in your units are no ranges of what the model sees. "
            "Leave fixed and bounds out, or give the last step alone, and rows as it sees them."
        )

    def _end(self, end: Floats, far: float) -> Floats:
        """Return one end of ranges as the model sees it."""
        limit = np.full((1, len(end)), far)
        for name, step in reversed(self.steps):
            limit = undo_step(name, step, limit)
            limit = np.where(np.isfinite(limit), limit, np.nan)
        seen = np.asarray(self.inner(np.where(np.isfinite(end), end, limit)), dtype=np.float64)[0]
        return np.where(np.abs(seen) < 0.5 * FAR, seen, np.copysign(np.inf, far))


def apply_step(step: Any, X: Any) -> Any:
    """Return what a step makes of rows, which may have lost the names of their features."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return step.transform(X)


def undo_step(name: str, step: Any, Z: Floats) -> Floats:
    """Return the rows of which a step makes Z; not finite where it can make no such."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(step.inverse_transform(Z), dtype=np.float64)
    except ValueError as error:
        raise no_way_back(name, step, error) from error


def no_way_back(name: str, step: Any, reason: Any) -> ValueError:
    """Return an error that says that a step cannot be undone, and what to do."""
    return ValueError(
        f"Step {name!r} of the pipeline, {step!r}, cannot be undone ({reason}), so that what the "
        "model sees cannot be turned back into your units. Give the last step alone, and rows as "
        "it sees them."
    )
