"""Fused sequential descent on sparse rows: a step touches the non-zero features alone.

A prototype that goes the share s of its way to x becomes ``(1 - s) w + s x``. It is kept as
``w = size v``: the step shrinks the size and adds ``s x / size`` to v, and ``|w|^2`` follows from
``|w|^2``, ``w.x`` and ``|x|^2``. The features of all prototypes lie side by side.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from scipy.sparse import csr_array

from protolearn._arrays import Floats, Indices, as_floats, as_indices
from protolearn.objective import Objective

from .loops import INLINED, Descent, RowFunctions, descend

SMALLEST = 1e-6
"""Size below which, and one over which, a prototype is brought back to size one."""


@numba.njit(**INLINED)
def fill(rows, i, state, out):
    """Return the squared distances, and keep the products of the row with the prototypes."""
    data, indices, indptr, norms = rows
    V, size, squares, dots = state
    dots[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        f, x = indices[p], data[p]
        for k in range(dots.size):
            dots[k] += x * V[f, k]
    for k in range(dots.size):
        dots[k] *= size[k]
        out[k] = max(norms[i] - 2.0 * dots[k] + squares[k], 0.0)


@numba.njit(**INLINED)
def move_two(rows, i, state, k, k_share, m, m_share):
    """Move two prototypes towards a row."""
    data, indices, indptr, norms = rows
    V = state[0]
    k_step = resize(state, k, k_share, norms[i])
    m_step = resize(state, m, m_share, norms[i])
    for p in range(indptr[i], indptr[i + 1]):
        V[indices[p], k] += k_step * data[p]
        V[indices[p], m] += m_step * data[p]


@numba.njit(**INLINED)
def move_all(rows, i, state, shares):
    """Move all prototypes towards a row; the shares become multiples of it."""
    data, indices, indptr, norms = rows
    V = state[0]
    for k in range(shares.size):
        shares[k] = resize(state, k, shares[k], norms[i])
    for p in range(indptr[i], indptr[i + 1]):
        f, x = indices[p], data[p]
        for k in range(shares.size):
            V[f, k] += x * shares[k]


@numba.njit(**INLINED)
def resize(state, k, part, norm):
    """Shrink a prototype by a share of itself; give the multiple of x that is to be added to v."""
    V, size, squares, dots = state
    kept = 1.0 - part
    squares[k] = kept * kept * squares[k] + 2.0 * part * kept * dots[k] + part * part * norm
    size[k] *= kept
    if not SMALLEST < size[k] < 1.0 / SMALLEST:
        V[:, k] *= size[k]
        size[k] = 1.0
    return part / size[k]


SPARSE = RowFunctions(fill, move_two, move_all)


class SparseDescent(Descent):
    """Passes over the same rows, those of a CSR matrix.

    Parameters
    ----------
    X : CSR matrix of shape (n_rows, n_features)
        Rows.
    y : ndarray of shape (n_rows,)
        Classes as numbers.
    order : ndarray of shape (n_steps,)
        The row of each step, over all passes.
    """

    def __init__(self, X: Any, y: Indices, order: Indices):
        X = csr_array(X, dtype=np.float64)
        norms = as_floats(X.multiply(X).sum(axis=1)).ravel()
        rows = as_floats(X.data), as_indices(X.indices), as_indices(X.indptr), norms
        super().__init__(rows, y, order)

    def run(self, objective: Objective, start: Floats, labels: Indices, rate: float) -> Floats:
        """Return the prototypes that are reached from others of the same classes."""
        V = np.ascontiguousarray(self.started(objective, start, labels).T)
        falling = as_floats([rate, len(self.order)])
        n_rows, n_prototypes = len(self.y), len(labels)
        for begun in range(0, len(self.order), n_rows):  # rounding errors live for a pass
            size, dots = np.ones(n_prototypes), np.empty(n_prototypes)
            state = V, size, np.einsum("fk,fk->k", V, V), dots
            order = self.order[begun : begun + n_rows]
            descend(SPARSE, self.rows, self.y, order, state, labels, objective, falling, begun)
            V *= size
        return as_floats(V.T)
