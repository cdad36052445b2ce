"""Checks of the sizes, numbers and seeds that the generators take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from .._validation import integer_in, number_in

Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None


def check_count(name: str, value: Any, minimum: int = 1) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    return integer_in(value, f"{name}={{value!r}}", minimum)


def check_number(name: str, value: Any, low: float, high: float = np.inf) -> float:
    """Return ``value`` as a finite float in ``[low, high]``."""
    return number_in(value, f"{name}={{value!r}}", low, high)


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    return number_in(value, f"{name}={{value!r}}", 0.0, above=True)


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
