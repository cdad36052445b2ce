"""From what is wanted to a threshold for each class."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from .held_out import HeldOut
from .thresholds import cheapest_threshold, lowest_error, threshold_for_error

ANY = "any class"


def given_thresholds(threshold: Any, classes: NDArray[Any]) -> Floats:
    """Return the threshold of each class out of a number or a dict."""
    by_label = threshold
    if not isinstance(threshold, Mapping):
        by_label = dict.fromkeys(classes.tolist(), threshold)
    unknown = [label for label in by_label if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"threshold names {unknown!r}, which the model has not seen; its classes are "
            f"{classes.tolist()!r}."
        )
    for label, value in by_label.items():
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or value != value:
            raise ValueError(
                f"threshold={threshold!r} must be a number, or a dict of label to number; got "
                f"{value!r} for class {label!r}."
            )
    return np.array([float(by_label.get(label, -np.inf)) for label in classes.tolist()])


def found_thresholds(
    held: HeldOut, classes: NDArray[Any], rule: str, value: float, per_class: bool
) -> Floats:
    """Return the threshold of each class that held-out rows ask for."""
    if not per_class:
        return np.full(len(classes), best(held, rule, value, ANY))
    thresholds = np.empty(len(classes))
    for code, label in enumerate(classes.tolist()):
        own = (held.predicted == label) & (held.weight > 0.0)
        part, which = (held.where(own), repr(label)) if own.any() else (held, ANY)
        thresholds[code] = best(part, rule, value, which)
    return thresholds


def best(held: HeldOut, rule: str, value: float, which: str) -> float:
    """Return the best threshold by "cost" or "target_error" for rows predicted as ``which``."""
    rows = held.confidence, held.wrong, held.weight
    if rule == "cost":
        return cheapest_threshold(*rows, value)
    threshold = threshold_for_error(*rows, value)
    if threshold == np.inf:
        warnings.warn(
            f"No threshold reaches target_error={value!r} for predictions of {which}: all are "
            f"rejected. The smallest error on held-out rows is {lowest_error(*rows):.3g}.",
            UserWarning,
            stacklevel=4,
        )
    return threshold
