"""What a counterfactual is asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats, Indices, as_floats
from ...classifiers import NearestPrototypeClassifier
from ...classifiers.base import all_distances
from ...distances import Geometry
from ..cells import ANY
from .ranges import Ranges

Attempt = Callable[[Indices, float], tuple[Floats, NDArray[np.bool_]]]
"""Takes places of rows, and how far to go beyond the boundary, in units of the largest distance;
gives the changed rows, and which of them were found."""

ROUNDING = 1e-13
"""Relative error of sums of products that is sure not to be exceeded."""


@dataclass(frozen=True)
class Question:
    """Rows that are to get another class, all as the model sees them.

    Attributes
    ----------
    model : NearestPrototypeClassifier
        The fitted model.
    rows : array (n, d)
        The rows.
    leave, enter : arrays (n,)
        Codes of their class, and of the one to reach, or ``ANY``.
    ranges : Ranges
        What may happen to features.
    """

    model: NearestPrototypeClassifier
    rows: Floats
    leave: Indices
    enter: Indices
    ranges: Ranges

    def distances(self, rows: Floats) -> Floats:
        """Give the distances of some rows to all prototypes."""
        return self.model._by_parts(rows, all_distances)

    @cached_property
    def D(self) -> Floats:
        """The distances of the rows."""
        return self.distances(self.rows)

    def rounding(self, places: Indices, points: Floats) -> Floats:
        """Give what rounding may do to the distances of points, in units of the largest distance.

        The answer for a point nearer to the boundary may depend on the rows that come with it.
        """
        distance, codebook = self.model._distance, self.model._codebook()
        assert isinstance(distance, Geometry)
        U = distance.directions(codebook)
        if U is None and distance.squared:
            steepness = np.asarray(distance.steepness(codebook))
            U = np.square(steepness)[:, None] * (codebook.prototypes - codebook.center)
        if U is None:  # no products: the error is that of the distance alone
            return np.full(len(points), ROUNDING)
        products = np.linalg.norm(points, axis=1) * np.linalg.norm(U, axis=1).max()
        return ROUNDING * products / np.maximum(self.D[places].max(axis=1), np.finfo(float).tiny)

    def answered(self, places: Indices, points: Floats) -> NDArray[np.bool_]:
        """Tell which of the points, made of the rows at these places, have the class sought."""
        codes = self.model._codes(as_floats(points)) if len(points) else self.leave[:0]
        return self.sought(places, codes)

    def sought(self, places: Indices, codes: Indices) -> NDArray[np.bool_]:
        """Tell whether these codes are what the rows at these places are to get."""
        leave, enter = self.leave[places], self.enter[places]
        return np.where(enter == ANY, codes != leave, codes == enter)
