"""How many prototypes each class has."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices


def is_automatic(per_class: Any) -> bool:
    """Tell whether the number of prototypes is to be found."""
    return isinstance(per_class, str) and per_class == "auto"


def prototype_counts(per_class: Any, classes: NDArray[Any]) -> Indices:
    """Give the number of prototypes of each class, in the order of ``classes``.

    Parameters
    ----------
    per_class : int or mapping from label to int
        What the user asked for; a label that a mapping leaves out has one prototype.
    classes : array
        The labels.
    """
    known = classes.tolist()
    if isinstance(per_class, Mapping):
        unknown = [label for label in per_class if label not in known]
        if unknown:
            raise ValueError(
                f"prototypes_per_class names {unknown!r}, which y does not contain; its labels "
                f"are {known!r}."
            )
        wanted = [per_class.get(label, 1) for label in known]
    else:
        wanted = [per_class] * len(known)
    for count in wanted:
        if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(
                f"prototypes_per_class={per_class!r} must be a positive integer, a dict that gives "
                "one for each label, or 'auto'."
            )
    return np.array(wanted, dtype=np.intp)


def check_enough_rows(counts: Indices, classes: NDArray[Any], rows: Indices) -> None:
    """Raise if a class has fewer rows than prototypes."""
    for label, count, available in zip(classes.tolist(), counts, rows, strict=True):
        if count > available:
            raise ValueError(
                f"Class {label!r} has {available} rows, fewer than its {count} prototypes; lower "
                "prototypes_per_class, for this class alone by a dict such as "
                f"{{{label!r}: {available}}}."
            )
