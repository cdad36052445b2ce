"""The nearest cell of another class: which rival prototype a sample reaches by the shortest way.

Rivals behind a plane that is farther away than the way to another rival are left out, unseen.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from .._arrays import Floats, Indices
from ..native import (
    ADDRESS,
    f8,
    indices,
    indices_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector_out,
)
from .projection import CERTAIN, PARALLEL, PROJECT, TOOLS, project, tools

project_at = pointer(PROJECT)
_exact = numba.njit(error_model="numpy")


def nearest_cells(D: Floats, U: Floats, apart: Floats, labels: Indices, *rest: Any) -> None:
    """Write for each row the shortest way into another class, its length, and whose cell it is.

    The rest are ``leave, enter, low, high, inset, ways, length, rival``, as of ``over_rows``.
    """
    touching = PARALLEL * float(apart.max(initial=0.0))
    over_rows(project.address, tools(), D, U, apart, touching, labels, *rest)
    if np.isnan(rest[-2]).any():
        raise RuntimeError(
            "The distance to the boundary was not found within the steps that are allowed. Please "
            "report this, with the model and the rows."
        )


@_exact
def _conditions(v, D, U, apart, touching, hold, inset, A, c, certain):
    """Write down what makes v nearer than those that hold; give their number, -1 if v cannot be.

    ``inset`` moves the boundaries into the cell, in units of the largest distance.
    """
    m, scale, largest = 0, 0.0, 0.0
    for j in range(D.size):
        scale = max(scale, D[j])
    for j in range(D.size):
        if not hold[j]:
            continue
        gap, length = D[v] - D[j], 2.0 * apart[v, j]
        if length <= touching:  # no way along the features that may move changes this
            if gap + inset * scale > CERTAIN * scale:
                return -1
            continue
        for i in range(U.shape[1]):
            A[m, i] = 2.0 * (U[j, i] - U[v, i]) / length
        c[m] = (gap + inset * scale) / length
        certain[m] = CERTAIN * scale / length
        largest = max(largest, abs(c[m]))
        m += 1
    certain[m] = CERTAIN * largest
    return m


@_exact
def _bound(v, D, apart, touching, hold):
    """Give the distance to the farthest plane between the sample and the cell of v."""
    largest = 0.0
    for j in range(D.size):
        if hold[j] and D[v] > D[j] and 2.0 * apart[v, j] > touching:
            largest = max(largest, (D[v] - D[j]) / (2.0 * apart[v, j]))
    return largest


@_exact
def _smallest(values):
    where = 0
    for k in range(values.size):
        if values[k] < values[where]:
            where = k
    return where


@native(
    types.void(
        ADDRESS,
        TOOLS,
        matrix,
        matrix,
        matrix,
        f8,
        indices,
        indices,
        indices,
        matrix,
        matrix,
        f8,
        matrix_out,
        vector_out,
        indices_out,
    ),
    makes_arrays=True,
)
def over_rows(
    projector,
    tools,
    D,
    U,
    apart,
    touching,
    labels,
    leave,
    enter,
    low,
    high,
    inset,
    ways,
    length,
    rival,
):
    """Write for each row the shortest way into another class, its length, and whose cell it is.

    ``enter`` is the class to go to, or -1 for any other than the one to ``leave``. Where there is
    no way the length is infinite and the rival -1.
    """
    project, (K, r) = project_at(projector), U.shape
    A, c, certain, y = np.empty((K, r)), np.empty(K), np.empty(K + 1), np.empty(r)
    bound, hold = np.empty(K), np.empty(K, dtype=np.bool_)
    for i in range(D.shape[0]):
        for j in range(K):
            hold[j] = labels[j] == leave[i] if enter[i] < 0 else labels[j] != enter[i]
        for v in range(K):
            bound[v] = np.inf if hold[v] else _bound(v, D[i], apart, touching, hold)
        length[i], rival[i] = np.inf, -1
        for _ in range(K):
            v = _smallest(bound)
            least, bound[v] = bound[v], np.inf
            if least >= length[i]:
                break
            m = _conditions(v, D[i], U, apart, touching, hold, inset, A, c, certain)
            if m < 0:
                continue
            found = project(tools, A[:m], c[:m], certain[: m + 1], low[i], high[i], length[i], y)
            if found < length[i]:
                length[i], rival[i] = max(found, least), v  # rounding makes no way shorter
                for f in range(r):
                    ways[i, f] = y[f]
            elif np.isnan(found):
                length[i] = np.nan
                break
