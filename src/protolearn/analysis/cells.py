"""The cells of the prototypes of a fitted model, where their boundaries are flat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from .._arrays import Floats, Indices, as_floats
from ..classifiers import NearestPrototypeClassifier
from ..distances import Geometry
from .nearest_cells import nearest_cells

ANY = -1
"""In the place of a class to enter: any other than the one to leave."""


class Ways(NamedTuple):
    """The shortest ways of some rows into other classes.

    Attributes
    ----------
    ways : array (n, d)
        What to add to the rows.
    length : array (n,)
        How long that is; infinite where there is no way.
    rival : array (n,)
        The prototype whose cell is reached; -1 where there is no way.
    """

    ways: Floats
    length: Floats
    rival: Indices


@dataclass(frozen=True)
class Cells:
    """The cells of prototypes whose distances differ by linear functions of the sample.

    Attributes
    ----------
    coordinates : array (K, r)
        Where the prototypes lie, by :meth:`Geometry.directions`: their features, or coordinates in
        the subspace in which they lie, if that has fewer dimensions.
    basis : array (d, r) or None
        The axes of that subspace; None where coordinates are features.
    labels : array (K,)
        Class code of each prototype.
    """

    coordinates: Floats
    basis: Floats | None
    labels: Indices

    @classmethod
    def of(cls, model: NearestPrototypeClassifier, movable: Any = slice(None)) -> Cells | None:
        """Give the cells of a model along the features that may move, None if they are curved."""
        codebook = model._codebook()
        distance, directions = model._distance, None
        if isinstance(distance, Geometry) and not decides_softly(model):
            directions = distance.directions(codebook)
        if directions is None:
            return None
        return cls(as_floats(directions[:, movable]), None, codebook.labels)

    def within_their_span(self) -> Cells:
        """Give the same in coordinates of the subspace in which the prototypes lie."""
        K, d = self.coordinates.shape
        if d <= K:
            return self
        basis, triangle = np.linalg.qr(self.coordinates.T)
        return replace(self, coordinates=as_floats(triangle.T), basis=basis)

    @cached_property
    def apart(self) -> Floats:
        """The distances of the coordinates from each other, an array (K, K)."""
        return cdist(self.coordinates, self.coordinates)

    def shortest_ways(
        self,
        D: Floats,
        leave: Indices,
        enter: Indices | None = None,
        box: tuple[Floats, Floats] | None = None,
        inset: float = 0.0,
    ) -> Ways:
        """Give the shortest ways out of one class into another.

        Parameters
        ----------
        D : array (n, K)
            Distances of the rows.
        leave, enter : arrays (n,)
            Class codes, ``ANY`` to enter any other; None: all of them.
        box : pair of arrays (n, r), default=None
            How far each row may move along each coordinate, down and up.
        inset : float, default=0.0
            How far to go beyond the boundary, in units of the largest distance of the row.
        """
        n, r = len(D), self.coordinates.shape[1]
        ways = Ways(np.zeros((n, r)), np.empty(n), np.empty(n, dtype=np.intp))
        enter = np.full(n, ANY) if enter is None else enter
        low, high = (np.empty((n, 0)),) * 2 if box is None else map(as_floats, box)
        fixed = as_floats(D), self.coordinates, self.apart, self.labels
        nearest_cells(*fixed, leave, enter, low, high, inset, *ways)
        return ways if self.basis is None else ways._replace(ways=ways.ways @ self.basis.T)


def decides_softly(model: NearestPrototypeClassifier) -> bool:
    """Tell whether more than the nearest prototype counts: not with one prototype a class."""
    labels = model.prototype_labels_
    return model._decision.soft and len(np.unique(labels)) < len(labels)


def named(model: NearestPrototypeClassifier) -> str:
    """Name a model, with its distance where that is a parameter."""
    name, distance = type(model).__name__, getattr(model, "distance", None)
    return name if distance is None else f"{name} with distance={distance!r}"


def complete_rows(model: NearestPrototypeClassifier, X: Any, name: str) -> Any:
    """Check the rows; give them in double precision, or raise if values are missing."""
    X = model._rows(X).astype(np.float64, copy=False)
    if not issparse(X) and np.isnan(X.min()):
        raise ValueError(
            f"X has missing values: {name} tells how far a row may move, and needs to know where "
            "it is. Impute them first."
        )
    return X


def leading_class(D: Floats, labels: Indices) -> Indices:
    """Give the class code of the nearest prototype."""
    return labels[D.argmin(axis=1)]
