"""Which rows a model looks at: all, or of very many those nearest to its exemplar.

All models on all rows are a number of pairs that grows with the square of the rows. A model that
looks at a fixed number of rows makes time and memory grow with the rows alone. It votes within the
distance of the farthest of these rows, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from ..native import indices_matrix, matrix, matrix_out, native, types
from .members import by_blocks, mark_smallest

UNSEEN = -1
"""Stands for a row that is near but not in the part that is looked at."""


@dataclass(frozen=True)
class Neighbourhoods:
    """The rows nearest to each of some exemplars."""

    rows: NDArray[np.int32]  # (E, R): in ascending order
    squares: Floats  # (E,): the squared distance of the farthest of them
    n_rows: int  # of all

    @classmethod
    def of(cls, exemplars: Floats, X: Floats, n_neighbors: int) -> Neighbourhoods:
        """Return the neighbourhoods of exemplars in X."""
        rows = np.empty((len(exemplars), n_neighbors), np.int32)
        squares, lengths = np.empty(len(exemplars)), np.einsum("ij,ij->i", X, X)

        def find(block: slice) -> None:
            distances = -2.0 * exemplars[block] @ X.T
            distances += lengths  # but for the square of the exemplar, which is the same for all
            near = np.nonzero(mark_smallest(distances, n_neighbors))[1]
            rows[block] = near.reshape(-1, n_neighbors)

        by_blocks(len(exemplars), len(X), find)

        def measure(block: slice) -> None:
            seen = rows[block].astype(np.intp)
            squares[block] = squared_distances(exemplars[block], X, seen).max(axis=1)

        by_blocks(len(exemplars), n_neighbors, measure)
        return cls(rows, squares, len(X))

    def within(self, places: Indices, exemplar: Indices) -> View:
        """Return what models look at in a part of the rows; ``places`` are those of the part."""
        place = np.full(self.n_rows, UNSEEN, np.intp)
        place[places] = np.arange(len(places))
        return View(self.rows, place, exemplar)


class View(NamedTuple):
    """What each model of an ensemble looks at."""

    near: NDArray[np.int32]  # (E, R): rows by exemplar
    place: Indices  # (n,): where a row is in the part that is looked at
    exemplar: Indices  # (M,): of each model

    @classmethod
    def of_all(cls, n_rows: int, n_models: int) -> View:
        """Return the view of models that look at all rows."""
        near = np.arange(n_rows, dtype=np.int32)[None]
        return cls(near, np.arange(n_rows), np.zeros(n_models, np.intp))

    @property
    def width(self) -> int:
        """How many rows a model looks at."""
        return int(self.near.shape[1])

    def rows(self, models: Indices | slice) -> Indices:
        """Return the rows of some models, an array (models, width); ``UNSEEN`` stands for none."""
        return self.place[self.near[self.exemplar[models]]]


def rows_seen(view: View | None, models: Indices | slice) -> Indices | None:
    """Return the rows that some models look at; None if these are all."""
    return None if view is None else view.rows(models)


def as_table(seen: Indices | None, n_rows: int) -> Indices:
    """Return the rows that models look at, one line for all models if they look at all rows."""
    return np.arange(n_rows, dtype=np.intp)[None] if seen is None else seen


def decision_values(
    weights: Floats, intercepts: Floats, X: Floats, seen: Indices | None = None
) -> Floats:
    """Return ``w . x + b`` by model and row; minus infinity in place of rows that are not seen."""
    if seen is None:
        return weights @ X.T + intercepts[:, None]
    values = np.empty(seen.shape)
    products(weights, X, seen, values)
    values += intercepts[:, None]
    values[seen < 0] = -np.inf
    return values


def squared_distances(exemplars: Floats, X: Floats, seen: Indices | None = None) -> Floats:
    """Return the squared distances of exemplars and rows."""
    if seen is None:
        distances = -2.0 * exemplars @ X.T
        distances += np.einsum("ij,ij->i", exemplars, exemplars)[:, None]
        distances += np.einsum("ij,ij->i", X, X)
        return distances
    distances = np.empty(seen.shape)
    differences(exemplars, X, seen, distances)
    return distances


@native(types.void(matrix, matrix, indices_matrix, matrix_out))
def products(weights, X, seen, out):
    """Write the product of each vector with its rows, zero in place of those that are not seen."""
    for i in range(len(seen)):
        for q in range(seen.shape[1]):
            total, j = 0.0, seen[i, q]
            if j >= 0:
                for k in range(X.shape[1]):
                    total += weights[i, k] * X[j, k]
            out[i, q] = total


@native(types.void(matrix, matrix, indices_matrix, matrix_out))
def differences(exemplars, X, seen, out):
    """Write the squared distance of each vector to its rows, zero to those that are not seen."""
    for i in range(len(seen)):
        for q in range(seen.shape[1]):
            total, j = 0.0, seen[i, q]
            if j >= 0:
                for k in range(X.shape[1]):
                    total += (exemplars[i, k] - X[j, k]) ** 2
            out[i, q] = total
