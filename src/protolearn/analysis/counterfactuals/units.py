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
    """

    def __init__(self, model: Any):
        steps = model.steps if isinstance(model, Pipeline) else [("", model)]
        steps = [(name, step) for name, step in steps if step not in (None, "passthrough")]
        self.steps = steps[:-1]
        for name, step in self.steps:
            if not hasattr(step, "inverse_transform"):
                raise no_way_back(name, step, "it has no inverse_transform")
        self.names = getattr(steps[0][1], "feature_names_in_", None)

    def inner(self, X: Any) -> Any:
        """Give rows as the model sees them."""
        for _, step in self.steps:
            X = transformed(step, X)
        return X

    def outer(self, X: Floats, after: Floats) -> Floats:
        """Give rows X, changed so that the model sees ``after``.

        What a step leaves out (all but some principal components) stays as it is in X, and so does
        a row to which no way leads back.
        """
        seen = [X]
        for _, step in self.steps:
            seen.append(np.asarray(transformed(step, seen[-1]), dtype=np.float64))
        for name, step in reversed(self.steps):
            before, given = seen.pop(), seen[-1]
            back = undone(name, step, after)
            if isinstance(step, FEATUREWISE):
                back = np.where(after == before, given, back)
            else:
                back = given + (back - undone(name, step, before))
            after = np.where(np.isfinite(back).all(axis=1, keepdims=True), back, given)
        return after

    def undoes(self, seen: Floats, after: Floats, rows: Floats) -> bool:
        """Tell whether the model sees changed rows as it should: steps have a true inverse.

        In units of the rows that were changed, or of the changed ones.
        """
        off = np.abs(seen - after).max(initial=0.0)
        size = max(np.abs(rows).max(initial=0.0), np.abs(after).max(initial=0.0))
        return not self.steps or bool(off <= SAME * size)

    def ranges(self, ranges: Ranges, n_inner: int) -> Ranges:
        """Give ranges as the model sees them, with its number of features."""
        mixing = [step for step in self.steps if not isinstance(step[1], FEATUREWISE)]
        if not mixing:
            ends = self._end(ranges.low, -FAR), self._end(ranges.high, FAR)
            return Ranges(ranges.movable, *ends)
        if ranges.free:
            return Ranges.all_free(n_inner)
        name, step = mixing[0]
        raise ValueError(
            f"Step {name!r} of the pipeline, {step!r}, is not known to change each feature by "
            "itself: fixed features and bounds in your units are no ranges of what the model sees. "
            "Leave fixed and bounds out, or give the last step alone, and rows as it sees them."
        )

    @property
    def featurewise(self) -> bool:
        """Tell whether the model sees the features one by one, if in other units."""
        return all(isinstance(step, FEATUREWISE) for _, step in self.steps)

    def _end(self, end: Floats, far: float) -> Floats:
        """Give one end of ranges as the model sees it."""
        if not self.steps:
            return end
        limit = np.full((1, len(end)), far)
        for name, step in reversed(self.steps):
            limit = undone(name, step, limit)
            limit = np.where(np.isfinite(limit), limit, np.nan)
        seen = np.asarray(self.inner(np.where(np.isfinite(end), end, limit)), dtype=np.float64)[0]
        return np.where(np.abs(seen) < 0.5 * FAR, seen, np.copysign(np.inf, far))


def transformed(step: Any, X: Any) -> Any:
    """Give what a step makes of rows, which may have lost the names of their features."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return step.transform(X)


def undone(name: str, step: Any, Z: Floats) -> Floats:
    """Give the rows of which a step makes Z; not finite where it can make no such."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(step.inverse_transform(Z), dtype=np.float64)
    except ValueError as error:
        raise no_way_back(name, step, error) from error


def no_way_back(name: str, step: Any, reason: Any) -> ValueError:
    """Say that a step cannot be undone, and what to do."""
    return ValueError(
        f"Step {name!r} of the pipeline, {step!r}, cannot be undone ({reason}), so that what the "
        "model sees cannot be turned back into your units. Give the last step alone, and rows as "
        "it sees them."
    )
