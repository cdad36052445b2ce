"""Whether squared distances of the data can be represented at all."""

from __future__ import annotations

import numpy as np

from .._parameters import Floats

LARGEST = 5e307
SMALLEST_SPREAD = 1e-152


def check_magnitude(X: Floats) -> None:
    """Raise if a squared distance of two rows could overflow, or all of them would vanish."""
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore"):
        largest = np.sum((2.0 * np.maximum(np.abs(low), np.abs(high))) ** 2)
        spread = float((high - low).max())
    if not largest < LARGEST:
        raise ValueError(
            f"X has values up to {np.abs([low, high]).max():.1e}, whose squared distances are "
            "beyond double precision; rescale X, for example with StandardScaler."
        )
    if 0.0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"The widest feature of X spans {spread:.1e}, and its squared distances vanish in "
            "double precision; rescale X, for example with StandardScaler."
        )
