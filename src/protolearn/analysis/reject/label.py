"""The label of rejected rows, and the arrays that hold it beside the classes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS, STRINGS = "biuf", "UT"
"""Kinds of dtypes."""


def free_label(label: Any, classes: NDArray[Any]) -> Any:
    """Return the label of rejected rows, one that suits the classes if none is given."""
    if label is None:
        return usual_label(classes)
    if not isinstance(label, (str, numbers.Real, np.bool_)) or label != label:
        raise ValueError(f"reject_label={label!r} must be a number, a string, or None.")
    if label in classes.tolist():
        raise ValueError(
            f"reject_label={label!r} is one of the classes {classes.tolist()!r}; give another."
        )
    return label


def usual_label(classes: NDArray[Any]) -> Any:
    """Return "reject" for strings; for numbers -1, or the next below all classes."""
    if all(isinstance(label, str) for label in classes.tolist()):
        return free_label("reject", classes)
    if all(isinstance(label, numbers.Real) for label in classes.tolist()):
        return min(-1, int(np.floor(min(classes.tolist()))) - 1)
    raise ValueError(
        f"There is no usual label of rejected rows for the classes {classes.tolist()!r}; give "
        "reject_label."
    )


def common_dtype(classes: NDArray[Any], label: Any) -> np.dtype[Any]:
    """Return a dtype that holds the classes and the label, that of the classes if possible."""
    own, other = classes.dtype, np.asarray(label).dtype
    if own.kind in STRINGS and other.kind in STRINGS:
        return np.promote_types(own, other)
    if own.kind not in NUMBERS or other.kind not in NUMBERS:
        return np.dtype(object)
    if own.kind != "b" and other.kind != "b" and fits(label, own):
        return own
    wide = np.promote_types(own, other)
    exact = wide.kind != "f" or "f" in own.kind + other.kind  # no double holds all 64-bit integers
    return wide if exact else np.dtype(object)


def fits(label: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a dtype holds a number as it is."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(dtype.type(label)) == float(label)
    limits = np.iinfo(dtype)
    return float(label).is_integer() and bool(limits.min <= label <= limits.max)
