"""How many prototypes each class has."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._parameters import Indices


def prototype_counts(per_class: Any, classes: NDArray[Any], y: Indices) -> Indices:
    """Give the number of prototypes of each class, in the order of ``classes``.

    Parameters
    ----------
    per_class : int or mapping from label to int
        What the user asked for; a label that a mapping leaves out has one prototype.
    classes : array
        The labels.
    y : array
        Class codes of the samples.
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
                f"prototypes_per_class={per_class!r} must be a positive integer, or a dict that "
                "gives one for each label."
            )
    rows = np.bincount(y, minlength=len(classes))
    for label, count, available in zip(known, wanted, rows, strict=True):
        if count > available:
            raise ValueError(
                f"Class {label!r} has {available} rows, fewer than its {count} prototypes; lower "
                "prototypes_per_class, for this class alone by a dict such as "
                f"{{{label!r}: {available}}}."
            )
    return np.array(wanted, dtype=np.intp)
