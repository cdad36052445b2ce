"""Features and their ranges in the user's units, and in those of the model behind a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds
from scipy.sparse import issparse

from .._arrays import Floats
from .._names import suggest_name
from ..tables import FEATUREWISE, apply_step, flatten_steps, no_way_back, undo_step

SPARSE = "it makes sparse rows; encode='onehot-dense' or sparse_output=False make it give arrays"
FAR = 1e30  # what the model sees of a number without end, if no step has an end of its own
SAME = 1e-6  # relative difference between what the model sees and should see that counts as none


class Units:
    """The way into the space of the last step of a pipeline, and back.

    Without a pipeline both spaces are the same; of a search its best estimator is meant. ``steps``
    are the names and transformers before the ``last`` step, ``mixing`` those of them that are not
    known to change each feature by itself, and ``names`` those of the features, if there are any.
    """

    def __init__(self, model: Any):
        steps = flatten_steps(model)
        *self.steps, (_, self.last) = steps
        self.mixing = [step for step in self.steps if not isinstance(step[1], FEATUREWISE)]
        for name, step in self.steps:
            if not hasattr(step, "inverse_transform"):
                raise no_way_back(name, step, "it has no inverse_transform")
        self.names = getattr(steps[0][1], "feature_names_in_", None)

    def inner(self, X: Any) -> Any:
        """Return rows as the model sees them."""
        for name, step in self.steps:
            X = apply_step(step, X)
            if issparse(X):
                raise no_way_back(name, step, SPARSE)
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
        if ranges.movable.all() and not ranges.is_bounded:
            end = np.full(n_inner, np.inf)
            return Ranges(np.ones(n_inner, dtype=bool), -end, end)
        name, step = self.mixing[0]
        raise ValueError(
            f"Step {name!r} of the pipeline, {step!r}, is not known to change each feature by "
            "itself: fixed features and bounds in your units are not ranges of what the model "
            "sees. "
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


@dataclass(frozen=True)
class Ranges:
    """Whether each feature may change, and within which range; infinite where there is none."""

    movable: NDArray[np.bool_]
    low: Floats
    high: Floats

    @classmethod
    def of(cls, fixed: Any, bounds: Any, names: list[str]) -> Ranges:
        """Return the ranges that a user's parameters name; ``names`` are those of all features."""
        movable, high = np.ones(len(names), dtype=bool), np.full(len(names), np.inf)
        if fixed is not None:
            movable[fixed_features(fixed, names)] = False
        low, high = (-high, high) if bounds is None else both_ends(bounds, names)
        wrong = np.flatnonzero(~((low <= high) & (low < np.inf) & (high > -np.inf)))
        if len(wrong):
            j = wrong[0]
            raise ValueError(
                f"bounds of feature {names[j]} are ({low[j]:g}, {high[j]:g}): there must be a "
                "number that is not below the first and not above the second."
            )
        return cls(movable, np.where(movable, low, -np.inf), np.where(movable, high, np.inf))

    def clip(self, X: Floats) -> Floats:
        """Return rows, brought into the ranges."""
        return np.clip(X, self.low, self.high)

    @property
    def is_bounded(self) -> bool:
        """Whether any feature has a range."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())


def fixed_features(fixed: Any, names: list[str]) -> list[int]:
    """Return the places of the features that stay; a mask, names or places are given."""
    if isinstance(fixed, str) or not np.iterable(fixed):
        fixed = [fixed]
    mask = np.asarray(fixed)
    if mask.dtype == bool:
        if mask.shape != (len(names),):
            raise ValueError(
                f"fixed is a mask of shape {mask.shape}, expected one entry for each of the "
                f"{len(names)} features."
            )
        return np.flatnonzero(mask).tolist()
    return [feature_place(feature, "fixed", names) for feature in fixed]


def feature_place(feature: Any, parameter: str, names: list[str]) -> int:
    """Return the place of a feature, given by name or place."""
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
        raise ValueError(
            f"{parameter} names the feature {feature!r}, which the model has not seen."
            f"{suggest_name(feature, names)}"
        )
    n_features = len(names)
    if not isinstance(feature, (int, np.integer)) or not -n_features <= feature < n_features:
        raise ValueError(
            f"{parameter} names the feature {feature!r}; expected a name, or a number from 0 to "
            f"{n_features - 1}."
        )
    return int(feature) % n_features


def both_ends(bounds: Any, names: list[str]) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of all ranges, which may be given in several forms."""
    n_features, pairs = len(names), bounds
    if isinstance(bounds, Mapping):
        pairs = [(None, None)] * n_features
        for feature, pair in bounds.items():
            pairs[feature_place(feature, "bounds", names)] = pair
    elif isinstance(bounds, Bounds):
        pairs = np.broadcast_to(np.c_[bounds.lb, bounds.ub], (n_features, 2))
    elif (
        isinstance(bounds, tuple)
        and len(bounds) == 2
        # Two tuples for two features are one pair for each, not the two ends of all.
        and not (n_features == 2 and all(isinstance(end, tuple) for end in bounds))
    ):
        low, high = (end if np.iterable(end) else [end] * n_features for end in bounds)
        pairs = zip(low, high, strict=True)
    try:
        both = [
            (-np.inf if low is None else float(low), np.inf if high is None else float(high))
            for low, high in pairs
        ]
        ends = np.array(both).reshape(n_features, 2)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds={bounds!r} must be a dict of (low, high) by feature, a tuple (low, high) of "
            "numbers or arrays for all features, or one pair (low, high) for each feature; there "
            f"are {n_features} features."
        ) from None
    return ends[:, 0], ends[:, 1]
