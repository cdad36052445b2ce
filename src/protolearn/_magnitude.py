"""Whether squared distances of the data can be represented at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._columns import column_ranges
from ._parameters import Floats

LARGEST = 5e307
SMALLEST_SPREAD = 1e-152


def check_magnitude(X: Any) -> None:
    """Raise if a squared distance of two rows could overflow, or all of them would vanish."""
    check_ranges(*column_ranges(X))


def check_ranges(low: Floats, high: Floats) -> None:
    """Raise the same, given the least and the greatest value of each column."""
    with np.errstate(over="ignore"):
        largest = np.nansum((2.0 * np.fmax(np.abs(low), np.abs(high))) ** 2)
        spread = float(np.fmax.reduce(high - low))
    if not largest < LARGEST:
        raise ValueError(
            f"X has values up to {np.fmax.reduce(np.abs([low, high]), axis=None):.1e}, whose "
            "squared distances are beyond double precision; rescale X, for example with "
            "StandardScaler."
        )
    if 0.0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"The widest feature of X spans {spread:.1e}, and its squared distances vanish in "
            "double precision; rescale X, for example with StandardScaler."
        )
