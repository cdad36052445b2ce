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
    def of(cls, fixed: Any, bounds: Any, names: list[str], n_features: int) -> Ranges:
        """Read the parameters of a user."""
        movable = np.ones(n_features, dtype=bool)
        movable[fixed_features(fixed, names, n_features)] = False
        low, high = both_ends(bounds, names, n_features)
        wrong = np.flatnonzero(~((low <= high) & (low < np.inf) & (high > -np.inf)))
        if len(wrong):
            j = wrong[0]
            raise ValueError(
                f"bounds of feature {names[j]} are ({low[j]:g}, {high[j]:g}): there must be a "
                "number that is not below the first and not above the second."
            )
        return cls(movable, np.where(movable, low, -np.inf), np.where(movable, high, np.inf))

    @classmethod
    def all_free(cls, n_features: int) -> Ranges:
        """Let everything go anywhere."""
        anywhere = np.full(n_features, np.inf)
        return cls(np.ones(n_features, dtype=bool), -anywhere, anywhere)

    def hold(self, X: Floats) -> NDArray[np.bool_]:
        """Tell which rows lie within the ranges."""
        return np.all((self.low <= X) & (self.high >= X), axis=1)

    def clip(self, X: Floats) -> Floats:
        """Bring rows into the ranges."""
        return np.clip(X, self.low, self.high)

    @property
    def bounded(self) -> bool:
        """Tell whether any feature has a range."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @property
    def free(self) -> bool:
        """Tell whether everything may go anywhere."""
        return bool(self.movable.all()) and not self.bounded


def fixed_features(fixed: Any, names: list[str], n_features: int) -> list[int]:
    """Give the places of the features that stay; a mask, names or places are given."""
    if fixed is None:
        return []
    if isinstance(fixed, str) or not np.iterable(fixed):
        fixed = [fixed]
    mask = np.asarray(fixed)
    if mask.dtype == bool:
        if mask.shape != (n_features,):
            raise ValueError(
                f"fixed is a mask of shape {mask.shape}, expected one entry for each of the "
                f"{n_features} features."
            )
        return np.flatnonzero(mask).tolist()
    return [place(feature, "fixed", names, n_features) for feature in fixed]


def place(feature: Any, parameter: str, names: list[str], n_features: int) -> int:
    """Give the place of a feature, given by name or place."""
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
        near = difflib.get_close_matches(feature, names, 1)
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else ".")
        raise ValueError(
            f"{parameter} names the feature {feature!r}, which the model has not seen. "
            + (f"Did you mean {near[0]!r}?" if near else f"It has {some}")
        )
    if not isinstance(feature, (int, np.integer)) or not -n_features <= feature < n_features:
        raise ValueError(
            f"{parameter} names the feature {feature!r}; expected a name, or a number from 0 to "
            f"{n_features - 1}."
        )
    return int(feature) % n_features


def both_ends(bounds: Any, names: list[str], n_features: int) -> tuple[Floats, Floats]:
    """Give the lower and upper ends of all ranges; what is given may have several forms."""
    pairs: Any = [(None, None)] * n_features
    if isinstance(bounds, Mapping):
        for feature, pair in bounds.items():
            pairs[place(feature, "bounds", names, n_features)] = pair
    elif isinstance(bounds, Bounds):
        pairs = np.broadcast_to(np.c_[bounds.lb, bounds.ub], (n_features, 2))
    elif is_low_and_high(bounds, n_features):
        low, high = (end if np.iterable(end) else [end] * n_features for end in bounds)
        pairs = zip(low, high, strict=True)
    elif bounds is not None:
        pairs = bounds
    try:
        ends = np.array([as_numbers(*pair) for pair in pairs]).reshape(n_features, 2)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds={bounds!r} must be {FORMS}; there are {n_features} features."
        ) from None
    return ends[:, 0], ends[:, 1]


def is_low_and_high(bounds: Any, n_features: int) -> bool:
    """Tell whether a tuple holds the ends of all features, not the pairs of two features."""
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        return False
    return n_features != 2 or not all(isinstance(end, tuple) for end in bounds)


def as_numbers(low: Any, high: Any) -> tuple[float, float]:
    """Give both ends of a range; None is no end."""
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)
