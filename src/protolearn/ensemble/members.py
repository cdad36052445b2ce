"""Who models learn from: rows worth learning, first negatives, and the sets of every model.

The negatives of an exemplar are its nearest rows of other classes (algorithm 2 of Shen and
Danyluk). If one label in ten is wrong, these are mostly rows of its own class with wrong labels,
and the hyperplane has any direction: so rows whose neighbours gainsay their label are left out
(Wilson, 1972).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from .._arrays import ROUNDING, Floats, Indices, rows_at_a_time
from .._threads import in_slices, one_blas_thread
from .hyperplane_solver import Problems

NEIGHBOURS = 3
"""How many neighbours are asked, as by Wilson."""


@dataclass(frozen=True)
class Members:
    """Rows that models learn from; the order is by model, positives first, then by row."""

    model: Indices  # that an entry belongs to
    row: Indices  # of the training part
    sign: Floats  # +1.0 in the positive set, -1.0 in the negative one
    strength: Floats  # dual variable of the last solution; zero for those who have just joined

    @classmethod
    def empty(cls) -> Members:
        """Return empty sets."""
        return cls(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))

    def with_rows(self, model: Indices, row: Indices, sign: float) -> Members:
        """Return the sets with more rows; those who belong to them already stay as they are."""
        everyone = Members(
            np.concatenate([self.model, model]),
            np.concatenate([self.row, row]),
            np.concatenate([self.sign, np.full(len(row), sign)]),
            np.concatenate([self.strength, np.zeros(len(row))]),
        )
        n = int(everyone.row.max(initial=0)) + 1
        side = 2 * everyone.model + (everyone.sign < 0.0)
        _, first = np.unique(side * n + everyone.row, return_index=True)
        return everyone._some(first)

    def of_models(self, models: Indices) -> Members:
        """Return the sets of some models, given in ascending order and numbered anew."""
        place = np.searchsorted(models, self.model)
        place[place == len(models)] = 0
        kept = self._some(np.flatnonzero(models[place] == self.model))
        return Members(np.searchsorted(models, kept.model), kept.row, kept.sign, kept.strength)

    def problems(self, exemplar: Indices) -> Problems:
        """Return what each model has to solve."""
        start = np.searchsorted(self.model, np.arange(len(exemplar) + 1))
        return Problems(start, self.row, self.sign, exemplar)

    def sizes(self, n_models: int) -> Indices:
        """Return the number of members of each model."""
        return np.bincount(self.model, minlength=n_models)

    def sets(self, n_models: int, sign: float) -> list[Indices]:
        """Return the rows in the set of each model."""
        chosen = self.sign == sign
        ends = np.searchsorted(self.model[chosen], np.arange(1, n_models))
        return np.split(self.row[chosen], ends)

    def _some(self, entries: Indices) -> Members:
        return Members(
            self.model[entries], self.row[entries], self.sign[entries], self.strength[entries]
        )


def worth_learning(X: Floats, codes: Indices, held: Floats, held_codes: Indices) -> Indices:
    """Return the rows to learn from: those that agree with their neighbours, or all.

    All, if their nearest neighbours tell the class of more held-out rows than those of the others.
    """
    everyone, some = np.arange(len(X)), np.flatnonzero(agreeing_rows(X, codes))
    right = []
    for rows in (everyone, some):
        near = NearestNeighbors(n_neighbors=1).fit(X[rows])
        nearest = near.kneighbors(held, return_distance=False)[:, 0]
        right.append(np.count_nonzero(codes[rows][nearest] == held_codes))
    return everyone if right[0] > right[1] else some


def agreeing_rows(X: Floats, codes: Indices) -> NDArray[np.bool_]:
    """Return which rows are of a class as frequent among their neighbours as any other.

    If there is none in a class, all its rows are marked.
    """
    near = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(X) - 1)).fit(X)
    labels = codes[near.kneighbors(return_distance=False)]
    counts = (labels[:, :, None] == np.arange(codes.max() + 1)).sum(axis=1)
    marked = counts[np.arange(len(X)), codes] == counts.max(axis=1)
    lost = np.bincount(codes[marked], minlength=counts.shape[1]) == 0
    return marked | lost[codes]


def choose_negatives(X: Floats, codes: Indices, k: int) -> tuple[Indices, Indices]:
    """Return for every row up to k rows of other classes: pairs of exemplar and negative.

    The nearest negative defines a hyperplane through the exemplar, normal to the line between the
    two. Negatives are the k nearest ones in front of it, so they can be separated from the
    exemplar. A negative that lies where the exemplar is shows no direction: the nearest of the
    others does. If there are no others those at the place of the exemplar are taken, from which
    nothing separates it.
    """
    squares = np.einsum("ij,ij->i", X, X)
    pairs: dict[int, tuple[Indices, Indices]] = {}

    def choose(block: slice) -> None:
        exemplars = np.arange(block.start, block.stop)
        pairs[block.start] = _negatives_of(X, squares, codes, exemplars, k)

    by_blocks(len(X), len(X), choose)
    exemplar, negative = zip(*(pairs[start] for start in sorted(pairs)), strict=True)
    return np.concatenate(exemplar), np.concatenate(negative)


def _negatives_of(
    X: Floats, squares: Floats, codes: Indices, exemplars: Indices, k: int
) -> tuple[Indices, Indices]:
    """Return the same pairs for some exemplars."""
    products = X[exemplars] @ X.T
    sizes = squares[exemplars, None] + squares
    distances = sizes - 2.0 * products
    negative = codes[exemplars, None] != codes
    apart = negative & (distances > ROUNDING * sizes)
    nearest = np.where(apart, distances, np.inf).argmin(axis=1)
    along = X[nearest] @ X.T - products  # n . d_j, but for the length of n
    at_exemplar = along[np.arange(len(exemplars)), exemplars]
    front = apart & (along > at_exemplar[:, None])
    front |= negative & ~apart.any(axis=1, keepdims=True)
    which, row = np.nonzero(mark_smallest(np.where(front, distances, np.inf), k))
    return exemplars[which], row


def mark_smallest(values: Floats, k: int) -> NDArray[np.bool_]:
    """Return where the k smallest finite values of each row are; of equal ones the first."""
    if k >= values.shape[1]:
        return np.isfinite(values)
    largest = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    marked = (values <= largest) & np.isfinite(values)
    for i in np.flatnonzero(marked.sum(axis=1) > k):
        marked[i] = False
        marked[i, np.argsort(values[i], kind="stable")[:k]] = True
    return marked


def by_blocks(n: int, width: int, work: Callable[[slice], None]) -> None:
    """Call ``work(items)`` for some of n items at a time that are ``width`` numbers each.

    So memory stays bounded. Several threads do so at once, with one BLAS thread in each.
    """
    size = rows_at_a_time(8 * width)
    ends = [*range(0, n, size), n]

    def several(first: int, last: int) -> None:
        for k in range(first, last):
            work(slice(ends[k], ends[k + 1]))

    with one_blas_thread():
        in_slices(len(ends) - 1, several)
