"""Labels as small integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 1 << 20
"""Labels that are encoded at a time."""


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Give the place of each label in the sorted ``classes``, in as few bytes as will do."""
    codes = np.empty(len(y), dtype=np.min_scalar_type(len(classes)))
    for start in range(0, len(y), ROWS):
        part = y[start : start + ROWS]
        found = np.searchsorted(classes, part)
        known = classes[np.minimum(found, len(classes) - 1)] == part
        if not known.all():
            raise ValueError(
                f"y contains {part[~known].tolist()[0]!r}, which is not among the classes "
                f"{classes.tolist()!r}."
            )
        codes[start : start + ROWS] = found
    return codes
