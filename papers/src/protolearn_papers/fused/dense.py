"""Fused sequential descent on dense rows."""

from __future__ import annotations

import numba

from protolearn._arrays import Floats, Indices, as_floats
from protolearn.distances import SquaredEuclidean
from protolearn.objective import Objective

from .loops import INLINED, Descent, RowFunctions, descend

squared_distances = numba.njit(**INLINED)(SquaredEuclidean.row.py)


@numba.njit(**INLINED)
def fill(rows, i, state, out):
    """Return the squared distances."""
    squared_distances(rows[0][i], state[0], None, None, None, out)


@numba.njit(**INLINED)
def move_two(rows, i, state, k, k_share, m, m_share):
    """Move two prototypes towards a row."""
    X, W = rows[0], state[0]
    for f in range(W.shape[1]):
        W[k, f] += k_share * (X[i, f] - W[k, f])
        W[m, f] += m_share * (X[i, f] - W[m, f])


@numba.njit(**INLINED)
def move_all(rows, i, state, shares):
    """Move all prototypes towards a row."""
    X, W = rows[0], state[0]
    for k in range(W.shape[0]):
        part = shares[k]
        for f in range(W.shape[1]):
            W[k, f] += part * (X[i, f] - W[k, f])


DENSE = RowFunctions(fill, move_two, move_all)


class DenseDescent(Descent):
    """Passes over the same rows, dense ones.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    y : ndarray of shape (n_rows,)
        Classes as numbers.
    order : ndarray of shape (n_steps,)
        The row of each step, over all passes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import SquaredEuclidean
    >>> from protolearn.losses import Sigmoid
    >>> from protolearn.margins import Relative
    >>> from protolearn.objective import Objective
    >>> from protolearn_papers.fused import DenseDescent
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> descent = DenseDescent(X, y, np.tile(np.arange(4), 500))
    >>> objective = Objective(SquaredEuclidean(), Relative(), Sigmoid(), n_classes=2)
    >>> descent.run(objective, np.array([[0.0], [3.0]]), np.array([0, 1]), rate=0.1).round(1)
    array([[0.6],
           [3.4]])
    """

    def __init__(self, X: Floats, y: Indices, order: Indices):
        super().__init__((as_floats(X),), y, order)

    def run(self, objective: Objective, start: Floats, labels: Indices, rate: float) -> Floats:
        """Return the prototypes that are reached from others of the same classes."""
        W, falling = self.started(objective, start, labels), as_floats([rate, len(self.order)])
        descend(DENSE, self.rows, self.y, self.order, (W,), labels, objective, falling)
        return W
