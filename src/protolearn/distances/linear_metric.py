"""Linear metrics: ``|A (x - w)|^2``, the squared Euclidean distance after a linear map A.

A is one for all prototypes, or one for each class, or one for each prototype. A subclass says what
kind of map it is (a weight for each feature, a matrix) and how distances and gradients come out of
products; here is what they share: the groups, the constraint, and the sums over groups.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .._arrays import Floats, Indices, as_floats, as_indices, row_lengths
from .._validation import check_choice
from ..codebook import Codebook, Gradients
from .constraints import UnitNorm
from .distance import Distance, Finder, distances_by_row, has_all_digits, least_of_rows
from .lost_digits import MANY, are_apart, distance_to_origin, restore_digits
from .mixins import BlockForm, FeatureTerms, Geometry, rounding_of_products
from .sqeuclidean import relative

LOCALIZED = ("class", "prototype")


class LinearMetric(BlockForm, Geometry, FeatureTerms, Distance):
    """The squared Euclidean distance after a linear map of the features, which is learned.

    The squares of the entries of the map sum to one.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has a map of its own; None: one map for all.
    """

    squared = True
    adaptive = True
    constraint = UnitNorm()
    steep = True
    scales_features = True

    def __init__(self, localized: str | None = None):
        self.localized = localized

    def check(self) -> None:
        """Raise if a setting is out of range."""
        if self.localized is not None:
            check_choice(self, "localized", LOCALIZED, None)

    def groups(self, labels: Indices) -> Indices:
        """Return the map that each prototype uses."""
        if self.localized is None:
            return np.zeros(len(labels), dtype=np.intp)
        return as_indices(labels if self.localized == "class" else np.arange(len(labels)))

    def stride(self, codebook: Codebook) -> float:
        """Return the inverse of the mean eigenvalue of ``A^T A``."""
        d, total = codebook.prototypes.shape[1], np.square(codebook.metric).sum(axis=1)
        return float(d / total[codebook.group].mean())

    def directions(self, codebook: Codebook) -> Floats | None:
        """Return ``A^T A w``, relative to the centre, if one map serves all prototypes."""
        if len(codebook.metric) > 1:
            return None
        offset, row = codebook.prototypes - codebook.center, codebook.metric[0]
        return self.map_back(self.map_rows(offset, row), row)

    @property
    def has_flat_boundaries(self) -> bool:  # type: ignore[override]
        """Whether one map serves all prototypes."""
        return self.localized is None

    def pull_directions(self, codebook: Codebook, by_direction: Floats, out: Gradients) -> None:
        """Add the derivatives by the prototypes and by the map of ``A^T A w``."""
        row, V = codebook.metric[0], as_floats(by_direction)
        offset = codebook.prototypes - codebook.center
        out.prototypes[...] += self.map_back(self.map_rows(V, row), row)
        if self.adaptive:
            out.metric[0] += self.pulled_by_product(offset, V, row)

    def pulled_by_product(self, W: Floats, V: Floats, row: Floats) -> Floats:
        """Return the derivative of ``sum V A^T A W`` by the map, ``A (V^T W + W^T V)``."""
        both = self.map_rows(V, row).T @ W + self.map_rows(W, row).T @ V
        return np.asarray(both).ravel()

    def steepness(self, codebook: Codebook) -> Floats | None:
        """Return the largest singular value of the map of each prototype."""
        d = codebook.prototypes.shape[1]
        largest = [self.stretch(row, d) for row in codebook.metric]
        return np.asarray(largest)[codebook.group]

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        E = np.empty_like(D)
        for g, members in by_map(codebook):
            row = np.abs(codebook.metric[g])
            lengths = partial(lambda row, V: row_lengths(self.map_rows(V, row)), row)
            longest = self.size_of(row)
            found = rounding_of_products(X, codebook, moved, lengths, longest)
            E[:, members] = found[:, members]
        return E

    def size_of(self, row: Floats) -> float:
        """Return the root of the sum of the squares of the entries of the map."""
        return float(np.linalg.norm(row))

    def stretch(self, row: Floats, n_features: int) -> float:
        """Return the largest singular value of the map."""
        return float(np.linalg.norm(self.omega(row, n_features), 2))

    @abstractmethod
    def map_rows(self, X: Any, row: Floats) -> Any:
        """Return ``A x`` for every row of X."""

    @abstractmethod
    def map_back(self, Z: Floats, row: Floats) -> Floats:
        """Return ``A^T z`` for every row of Z."""

    @abstractmethod
    def omega(self, row: Floats, n_features: int) -> Floats:
        """Return the map as a matrix."""

    def leading(self, row: Floats, n_features: int) -> Floats:
        """Return the two directions in which the map stretches most, times how much it does."""
        _, sizes, directions = np.linalg.svd(self.omega(row, n_features), full_matrices=False)
        largest = np.abs(directions).argmax(axis=1)[:, None]
        directions *= np.sign(np.take_along_axis(directions, largest, axis=1))
        found = (sizes[:, None] * directions)[:2]
        return np.pad(found, ((0, 2 - len(found)), (0, 0)))

    def _column_lengths(self, row: Floats, n_features: int) -> Floats:
        """Return how long a unit of each feature is under a map."""
        return np.sqrt(self.relevances(row[None], n_features)[0])

    @abstractmethod
    def relevances(self, metric: Floats, n_features: int) -> Floats:
        """Return the diagonal of ``A^T A`` of each map, an array (groups, d)."""

    def center_rows(self, X: Any, codebook: Codebook) -> tuple[Any, Floats]:
        """Return rows and prototypes relative to a point among the data.

        So data far from the origin lose few digits in products.
        """
        center = codebook.center.astype(X.dtype, copy=False)
        return X - center, codebook.prototypes - center

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Return all distances under one map, by products of centred rows.

        Also the squared length of each mapped row, and what the gradient can use again: rows and
        prototypes, mapped and not.
        """
        P, Q = self.map_rows(X, row), self.map_rows(W, row).astype(X.dtype, copy=False)
        D = P @ (-2.0 * Q).T
        D += np.einsum("ij,ij->i", Q, Q)
        norms = np.einsum("ij,ij->i", P, P)
        D += norms[:, None]
        return D, norms, (X, W, P, Q)

    def one_by_one(self, X: Floats, W: Floats, row: Floats, center: Floats) -> Floats:
        """Return all distances under one map, without a difference of large squares."""
        return distances_by_row(self, X, W, row[None], np.zeros(len(W), dtype=np.intp))

    @abstractmethod
    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by W and by the map, given dL/dD at some prototypes of each row.

        An index of -1 is a prototype with another map.
        """

    @abstractmethod
    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by W and by the map, given the whole matrix dL/dD."""

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, and for each map what the gradient can use again."""
        centred = self.center_rows(X, codebook)
        if len(codebook.metric) == 1:
            every = np.arange(len(codebook.labels))
            D, kept = self._under_map(X, centred, codebook, 0, every)
            return D, [kept]
        D, all_kept = np.empty((X.shape[0], len(codebook.labels)), dtype=X.dtype), []
        for g, members in by_map(codebook):
            D[:, members], kept = self._under_map(X, centred, codebook, g, members)
            all_kept.append(kept)
        return D, all_kept

    def _under_map(
        self, X: Any, centred: tuple[Any, Floats], codebook: Codebook, g: int, members: Indices
    ) -> tuple[Any, Any]:
        """Return the distances to the prototypes of one map, and what the gradient uses again."""
        (rows, W), row = centred, codebook.metric[g]
        D, norms, kept = self.squares(rows, W[members], row)
        np.maximum(D, 0.0, out=D)
        if has_all_digits(D, norms, codebook, self.size_of(row)):
            return D, kept

        def in_double(some: Any) -> Any:
            return self._under_map(some, self.center_rows(some, codebook), codebook, g, members)[0]

        found = restore_digits(
            D,
            X,
            norms,
            distance_to_origin(codebook, self._column_lengths(row, X.shape[1])),
            in_double,
            lambda some: self.one_by_one(some, codebook.prototypes[members], row, codebook.center),
        )
        return found, kept

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Any]:
        """Return the nearest prototype of each row, and a number that is finite if the row is."""
        return LinearMetric.finder(self, codebook, X.dtype, X.shape[0])(X)

    def finder(self, codebook: Codebook, dtype: Any, n_rows: int) -> Finder:
        """Return the function that finds the nearest prototypes.

        Under a map for all, ``|A (x - w)|^2 - |A (x - c)|^2`` is linear in x: one product with
        the prototypes, however large A; if its digits are enough to separate them.
        """

        def by_distances(X: Any) -> tuple[Indices, Any]:
            return Distance.nearest(self, X, codebook)

        if len(codebook.metric) > 1 or n_rows < MANY * len(codebook.labels):
            return by_distances
        row, offset = codebook.metric[0], codebook.prototypes - codebook.center
        mapped = self.map_rows(offset, row)
        raised = self.map_back(mapped, row)
        if not are_apart(codebook, mapped, raised, dtype):
            return by_distances
        norms = np.einsum("ij,ij->i", raised, offset + 2.0 * codebook.center)
        factors = (-2.0 * raised).astype(dtype, copy=False).T, norms.astype(dtype, copy=False)
        return lambda X: least_of_rows(relative(X, *factors))

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return ``e_j (A^T A e)_j``, e the difference."""
        difference: Floats = np.asarray(X - codebook.prototypes[prototype])
        terms = np.empty_like(difference)
        for g in np.unique(codebook.group[prototype]):
            rows, row = codebook.group[prototype] == g, codebook.metric[g]
            e = difference[rows]
            terms[rows] = e * self.map_back(self.map_rows(e, row), row)
        return terms

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, given dL/dD at two prototypes of each row."""
        kept = self.forward(X, codebook)[1] if kept is None else kept
        for (g, members), again in zip(by_map(codebook), kept, strict=True):
            place = np.full(len(codebook.labels), -1)
            place[members] = np.arange(len(members))
            W, row, here = codebook.prototypes[members], codebook.metric[g], place[index]
            by_w, by_row = self.pulled_by_winners(X, W, row, here, value, again)
            out.prototypes[members] += by_w
            out.metric[g] += by_row

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        kept = self.forward(X, codebook)[1] if kept is None else kept
        for (g, members), again in zip(by_map(codebook), kept, strict=True):
            W, row = codebook.prototypes[members], codebook.metric[g]
            by_w, by_row = self.pulled_by_rows(X, W, row, G[:, members], again)
            out.prototypes[members] += by_w
            out.metric[g] += by_row


def by_map(codebook: Codebook) -> Iterator[tuple[int, Indices]]:
    """Return each map that is used, and the prototypes that share it."""
    for g in np.unique(codebook.group):
        yield int(g), np.flatnonzero(codebook.group == g)
