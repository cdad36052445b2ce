"""Choosing the first negatives of every exemplar (algorithm 2 of Shen and Danyluk)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._arrays import ROUNDING, Floats, Indices
from .blocks import by_blocks


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
        pairs[block.start] = _of_exemplars(X, squares, codes, exemplars, k)

    by_blocks(len(X), len(X), choose)
    exemplar, negative = zip(*(pairs[start] for start in sorted(pairs)), strict=True)
    return np.concatenate(exemplar), np.concatenate(negative)


def _of_exemplars(
    X: Floats, squares: Floats, codes: Indices, exemplars: Indices, k: int
) -> tuple[Indices, Indices]:
    """Choose the negatives of some exemplars."""
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
    which, row = np.nonzero(_smallest(np.where(front, distances, np.inf), k))
    return exemplars[which], row


def _smallest(values: Floats, k: int) -> NDArray[np.bool_]:
    """Mark the k smallest finite values of each row; of equal ones the first."""
    if k >= values.shape[1]:
        return np.isfinite(values)
    largest = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    marked = (values <= largest) & np.isfinite(values)
    for i in np.flatnonzero(marked.sum(axis=1) > k):
        marked[i] = False
        marked[i, np.argsort(values[i], kind="stable")[:k]] = True
    return marked
