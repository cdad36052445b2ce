"""Which rows to learn from: those whose neighbours do not gainsay their label (Wilson, 1972).

The negatives of an exemplar are its nearest rows of other classes. If one label in ten is wrong,
these are mostly rows of its own class with wrong labels, and the hyperplane has any direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from .._arrays import Floats, Indices

NEIGHBOURS = 3
"""How many neighbours are asked, as by Wilson."""


def agreeing(X: Floats, codes: Indices) -> NDArray[np.bool_]:
    """Mark the rows whose class is as frequent among their neighbours as any other.

    If there is none in a class, all its rows are marked.
    """
    near = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(X) - 1)).fit(X)
    labels = codes[near.kneighbors(return_distance=False)]
    counts = (labels[:, :, None] == np.arange(codes.max() + 1)).sum(axis=1)
    marked = counts[np.arange(len(X)), codes] == counts.max(axis=1)
    lost = np.bincount(codes[marked], minlength=counts.shape[1]) == 0
    return marked | lost[codes]


def worth_learning(X: Floats, codes: Indices, held: Floats, held_codes: Indices) -> Indices:
    """Return the rows to learn from: those that agree with their neighbours, or all.

    All, if their nearest neighbours tell the class of more held-out rows than those of the others.
    """
    everyone, some = np.arange(len(X)), np.flatnonzero(agreeing(X, codes))
    right = [
        np.count_nonzero(codes[rows][_nearest(X[rows], held)] == held_codes)
        for rows in (everyone, some)
    ]
    return everyone if right[0] > right[1] else some


def _nearest(X: Floats, rows: Floats) -> Indices:
    """Return the place in X of the nearest neighbour of each row."""
    near = NearestNeighbors(n_neighbors=1).fit(X)
    return near.kneighbors(rows, return_distance=False)[:, 0]
