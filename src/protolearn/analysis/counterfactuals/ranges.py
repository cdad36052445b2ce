"""Where a changed row may lie: features that stay, and ranges for the others."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds

from ..._arrays import Floats

FORMS = (
    "a dict of (low, high) by feature, a tuple (low, high) of numbers or arrays for all features, "
    "or one pair (low, high) for each feature"
)


@dataclass(frozen=True)
class Ranges:
    """What may happen to each feature.

    Attributes
    ----------
    movable : array of bool (d,)
        Whether it may change.
    low, high : arrays (d,)
        Its range; infinite where there is none.
    """

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

    @property
    def is_free(self) -> bool:
        """Whether everything may go anywhere."""
        return bool(self.movable.all()) and not self.is_bounded


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
    return [place(feature, "fixed", names) for feature in fixed]


def place(feature: Any, parameter: str, names: list[str]) -> int:
    """Return the place of a feature, given by name or place."""
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
        near = difflib.get_close_matches(feature, names, 1)
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else ".")
        raise ValueError(
            f"{parameter} names the feature {feature!r}, which the model has not seen. "
            + (f"Did you mean {near[0]!r}?" if near else f"It has {some}")
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
            pairs[place(feature, "bounds", names)] = pair
    elif isinstance(bounds, Bounds):
        pairs = np.broadcast_to(np.c_[bounds.lb, bounds.ub], (n_features, 2))
    elif isinstance(bounds, tuple) and not is_tuple_of_pairs(bounds, n_features):
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
            f"bounds={bounds!r} must be {FORMS}; there are {n_features} features."
        ) from None
    return ends[:, 0], ends[:, 1]


def is_tuple_of_pairs(bounds: tuple[Any, ...], n_features: int) -> bool:
    """Whether a tuple holds a pair for each feature, not the two ends of all features."""
    if len(bounds) != 2:
        return True
    return n_features == 2 and all(isinstance(end, tuple) for end in bounds)
