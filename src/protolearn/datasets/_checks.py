"""Checks of the sizes, numbers and seeds that the generators take."""

from __future__ import annotations

import numbers
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if integral and value >= minimum:
        return int(value)
    raise ValueError(f"{name}={value!r} must be an integer of at least {minimum}.")


def check_number(name: str, value: Any, low: float, high: float = np.inf) -> float:
    """Return ``value`` as a finite float in ``[low, high]``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if real and np.isfinite(value) and low <= value <= high:
        return float(value)
    upper = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f"of at least {low:g}"
    raise ValueError(f"{name}={value!r} must be a finite number {upper}.")


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    number = check_number(name, value, 0.0)
    if number > 0.0:
        return number
    raise ValueError(f"{name}={value!r} must be greater than 0.")


def check_seed(random_state: Seed) -> np.random.RandomState:
    """Return the random numbers to draw from.

    NumPy keeps the streams of ``RandomState`` fixed for ever, those of ``Generator`` not: with
    the former a seed names one data set in every version. A given ``Generator`` is not copied;
    its bit generator supplies the numbers, so two calls with it give two data sets.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng
