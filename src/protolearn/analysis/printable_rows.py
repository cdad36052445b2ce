"""Changed rows as they are printed: with few digits, and true when they are read back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .._names import digits_text, exact_text

FINER = 0, 1, 2, 3, 4, 6, 8, 10, 12, None
"""Further digits with which numbers are written until what is written is right; None: all."""

Write = Callable[[int, float, float, int | None], tuple[str, float]]
"""Takes the place of a feature, its old and its new value, and a number of further digits; returns
the new value as text, rounded away from the old one, and the number that the text means."""


class Printable(NamedTuple):
    """Changed rows as they are printed."""

    texts: NDArray[Any]  # (n, d): the numbers that change, "" where none does
    points: Floats  # (n, d): the rows with the numbers that the texts mean
    is_right: NDArray[np.bool_]  # (n,): whether the model says of them what was promised


def find_printable(
    rows: Floats,
    points: Floats,
    write: Write,
    is_right: Callable[[Floats, Indices], NDArray[np.bool_]],
    ranges: Any = None,
) -> Printable:
    """Return changed rows with few digits, of which the model says the same as of all digits.

    Numbers are rounded away from the row, so that they go beyond the boundary rather than fall
    short of it. What they mean, when read back, is asked of the model: ``is_right`` takes all rows
    and the places of those that wait for an answer. Rows that it refuses get more digits, and so
    does a number that rounding would bring out of its range.
    """
    texts, printed = np.full(points.shape, "", dtype=object), points.copy()
    waiting = np.arange(len(rows))
    for level in range(len(FINER)):
        for i in waiting:
            for j in np.flatnonzero(points[i] != rows[i]).tolist():
                for finer in FINER[level:]:
                    found = write(j, float(rows[i, j]), float(points[i, j]), finer)
                    if ranges is None or ranges.low[j] <= found[1] <= ranges.high[j]:
                        break
                texts[i, j], printed[i, j] = found
        waiting = waiting[~is_right(printed, waiting)]
        if not len(waiting):
            break
    return Printable(texts, printed, ~np.isin(np.arange(len(rows)), waiting))


def write_digits(place: int, old: float, new: float, finer: int | None) -> tuple[str, float]:
    """Write a number with four significant digits or more, rounded away from the old one."""
    if finer is None:
        return exact_text(new), new
    text = digits_text(new, 4 + finer, ROUND_CEILING if new > old else ROUND_FLOOR)
    return text, float(text)


def digits_beside(value: float, other: str) -> str:
    """Write a number with as many significant digits as tell it from another, at least four."""
    texts = [digits_text(value, 4 + finer) for finer in FINER if finer is not None]
    return next((text for text in texts if text != other), exact_text(value))
