"""How the values of a column are spread in each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import Floats, Indices
from ..tables import CategoryColumn
from .subject import Subject

LEVELS = 5.0, 25.0, 50.0, 75.0, 95.0
"""Percentiles that are shown: ends of the thin line, of the thick one, and the median."""


class Spread(NamedTuple):
    """The values of a column by class, in the user's units.

    Attributes
    ----------
    quantiles : array of shape (n_classes, 5) or None
        Percentiles 5, 25, 50, 75 and 95 of numbers; NaN for a class without rows. None for
        categories.
    shares : array of shape (n_classes, n_categories) or None
        How often each category is there; None for numbers.
    """

    quantiles: Floats | None
    shares: Floats | None = None


def spread_of(subject: Subject) -> list[Spread]:
    """Return the spread of each column."""
    n_classes = len(subject.classes)
    return [
        categories_by_class(column, part, subject.codes, n_classes)
        if isinstance(column, CategoryColumn)
        else Spread(quantiles_by_class(part[:, 0], subject.codes, n_classes))
        for column, part in subject.parts(subject.plain)
    ]


def quantiles_by_class(values: Floats, codes: Indices, n_classes: int) -> Floats:
    """Return the percentiles of numbers."""
    found = np.full((n_classes, len(LEVELS)), np.nan)
    for code in np.unique(codes):
        found[code] = np.percentile(values[codes == code], LEVELS)
    return found


def categories_by_class(column: Any, part: Floats, codes: Indices, n_classes: int) -> Spread:
    """Return the shares of categories."""
    nearest = column.nearest(part)
    known = nearest >= 0  # others are unknown
    counts = np.zeros((n_classes, len(column.categories)))
    np.add.at(counts, (codes[known], nearest[known]), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0.0)
    return Spread(None, shares)
