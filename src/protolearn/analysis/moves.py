"""The shortest moves of rows into other classes, in any norm and within a box.

A rival v takes a row over where it is nearer than all own prototypes j: ``a_j . y + c_j <= 0``,
with y the move, ``a_j = 2 (u_j - u_v)`` and ``c_j = D_v - D_j`` at the row. The shortest such y in
the Euclidean norm is a projection (``projection.py``); in the norms 1 and inf it is a linear
program, which HiGHS solves. What counts as proved does not rest on its tolerances: any multipliers
``l_j >= 0`` give one half-space, ``sum_j l_j (a_j . y + c_j) <= 0``, in which the cell lies, and
the distance of a half-space within a box has a closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_array, identity
from sklearn.utils.parallel import Parallel, delayed

from .._arrays import Floats, Indices, as_floats, as_indices
from .._threads import one_blas_thread
from ..margins import Radius
from ..pairs import find_pairs, lengths_between, lost_digits
from .cells import Cells, Ways
from .projection import CERTAIN, EPSILON, PARALLEL

Box = tuple[Floats, Floats]
"""How far each row may move in each feature, down (not positive) and up (not negative)."""

ROWS = 128  # that a thread takes at a time; always as many, so that all numbers of threads agree

DUAL_ORDER = {1: np.inf, 2: 2, np.inf: 1}

SOLVED, INFEASIBLE = 0, 2
"""What HiGHS says of a program."""


def pair_bounds(D: Floats, codes: Indices, U: Floats, labels: Indices, norm: Any) -> Floats:
    """Return ``min_j max_i (D_j - D_i) / (2 |u_i - u_j|)``, below the shortest move.

    Lengths come from products, and are off by the share of rounding that they keep of their terms.
    """
    given = as_floats(D), as_indices(codes), as_floats(U), labels, np.ones(2)
    return find_pairs(Radius(norm), *given).value * (1.0 - lost_digits(U))


def shortest_moves(
    U: Floats,
    labels: Indices,
    D: Floats,
    leave: Indices,
    norm: Any,
    box: Box | None = None,
    *,
    limit: float = np.inf,
    enough: float = 0.0,
    inset: float = 0.0,
    n_jobs: int | None = None,
) -> Ways:
    """Return the shortest moves of rows out of their classes.

    Only moves shorter than ``limit`` are looked for, and no better one than one shorter than
    ``enough``. ``length`` is proved from below; where no move is found it is the limit, and the
    rival is -1. ``inset`` is how far to go beyond the boundary, in units of the largest distance.
    """
    search: Any
    if norm == 2:
        U, basis = (U, None) if box is not None or U.shape[1] <= len(U) else subspace(U)
        search = Cells(as_floats(U), basis, labels).shortest_ways
    else:
        search = LinearPrograms(U, labels, norm).shortest_ways

    def part(start: int) -> Ways:
        rows = slice(start, start + ROWS)
        room = None if box is None else (box[0][rows], box[1][rows])
        options = {"inset": inset, "limit": limit, "enough": enough}
        found: Ways = search(D[rows], leave[rows], None, room, **options)
        return found

    with one_blas_thread():
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(part)(start) for start in range(0, max(len(D), 1), ROWS)
        )
    return Ways(*map(np.concatenate, zip(*parts, strict=True)))


def subspace(U: Floats) -> tuple[Floats, Floats]:
    """Return coordinates in the subspace in which prototypes lie, and its axes."""
    basis, triangle = np.linalg.qr(U.T)
    return triangle.T, basis


class LinearPrograms:
    """The shortest moves in the norms 1 and inf, a program for each row and rival."""

    def __init__(self, U: Floats, labels: Indices, norm: Any):
        self.U, self.labels, self.norm = as_floats(U), labels, norm
        self.apart = lengths_between(self.U, self.U, norm)
        self.touching = PARALLEL * float(self.apart.max(initial=0.0))

    def shortest_ways(
        self,
        D: Floats,
        leave: Indices,
        enter: None,
        box: Box | None,
        inset: float,
        limit: float,
        enough: float,
    ) -> Ways:
        """Return the shortest moves of some rows."""
        n, d = len(D), self.U.shape[1]
        found = Ways(np.zeros((n, d)), np.full(n, limit), np.full(n, -1, dtype=np.intp))
        free = np.full(d, -np.inf), np.full(d, np.inf)
        for i in range(n):
            room = free if box is None else (box[0][i], box[1][i])
            self._search(D[i], leave[i], room, inset, enough, i, found)
        return found

    def _search(
        self, D: Floats, leave: int, room: Box, inset: float, enough: float, i: int, found: Ways
    ) -> None:
        """Try the rivals of one row, the one with the nearest planes first."""
        own, deep = np.flatnonzero(self.labels == leave), inset * D.max()
        rivals = np.flatnonzero(self.labels != leave)
        gaps, lengths = D[rivals][:, None] - D[own] + deep, 2.0 * self.apart[np.ix_(rivals, own)]
        apart = lengths > 2.0 * self.touching
        unreachable = (~apart & (gaps > CERTAIN * D.max())).any(axis=1)
        planes = np.divide(gaps, lengths, out=np.full_like(gaps, -np.inf), where=apart)
        below = 1.0 - 4.0 * (self.U.shape[1] + 16) * EPSILON
        bounds = np.where(unreachable, np.inf, below * np.maximum(planes.max(axis=1), 0.0))
        for v in np.argsort(bounds, kind="stable"):
            if bounds[v] >= found.length[i]:
                break
            here, rival = own[apart[v]], rivals[v]
            A = 2.0 * (self.U[here] - self.U[rival]) / lengths[v, apart[v]][:, None]
            proved, way = shortest_move(A, planes[v, apart[v]], self.norm, room, found.length[i])
            if proved < found.length[i] and way is not None:
                found.length[i], found.rival[i], found.ways[i] = max(proved, bounds[v]), rival, way
            if found.length[i] < enough:
                break


def shortest_move(
    A: Floats, c: Floats, norm: Any, room: Box, limit: float
) -> tuple[float, Floats | None]:
    """Return a length that no y with ``A y + c <= 0`` within a box undercuts, and the shortest y.

    Infinity if there is none. A length that is not below ``limit`` has no y.
    """
    if not len(A):
        return 0.0, np.zeros(len(room[0]))
    singly = max(
        half_space_length(A[i : i + 1], c[i : i + 1], np.ones(1), norm, room)
        for i in np.argsort(c)[:-3:-1]
    )
    if singly >= limit:
        return singly, None
    result = solve_program(A, c, norm, room)
    if result.status == INFEASIBLE:
        return prove_empty(A, c, room), None
    if result.status != SOLVED:
        return singly, None if singly >= limit else np.zeros(A.shape[1])
    d = A.shape[1]
    way = result.x[:d] - result.x[d:] if norm == 1 else result.x[:d]
    press = np.maximum(-result.ineqlin.marginals[: len(A)], 0.0)
    proved = max(half_space_length(A, c, press, norm, room), singly)
    return proved, np.clip(way, *room)


def solve_program(A: Floats, c: Floats, norm: Any, room: Box) -> Any:
    """Return what HiGHS finds for the shortest y; its first conditions are those of A."""
    (m, d), (low, high) = A.shape, room
    if norm == 1:  # y = p - q
        ends = np.concatenate([high, -low])
        return linprog(
            np.ones(2 * d),
            np.hstack([A, -A]),
            -c,
            bounds=np.stack([np.zeros(2 * d), ends], axis=1),
            method="highs",
        )
    one = csr_array(-np.ones((d, 1)))
    conditions = bmat([[csr_array(A), csr_array((m, 1))], [identity(d), one], [-identity(d), one]])
    bounds = np.vstack([np.stack([low, high], axis=1), [0.0, np.inf]])
    cost = np.append(np.zeros(d), 1.0)
    given = np.concatenate([-c, np.zeros(2 * d)])
    return linprog(cost, conditions.tocsr(), given, bounds=bounds, method="highs")


def half_space_length(A: Floats, c: Floats, press: Floats, norm: Any, room: Box) -> float:
    """Return a length below that of every y within a box with ``press . (A y + c) <= 0``.

    With ``g = press A`` and ``k = press . c`` the y that gains most for its length moves against g:
    all features as far, but for their ends (inf), or the features with the largest entries of g
    first, each to its end (1). All rounding makes the length smaller.
    """
    slack = (sum(A.shape) + 8) * EPSILON
    need = float(press @ c) - slack * float(press @ np.abs(c))
    if need <= 0.0:
        return 0.0
    g = press @ A
    gain = np.abs(g) + slack * (press @ np.abs(A))
    ends = np.where(g > 0.0, -room[0], room[1])
    ends = np.where(slack * (press @ np.abs(A)) > np.abs(g), np.maximum(-room[0], room[1]), ends)
    moves = (gain > 0.0) & (ends > 0.0)
    gain, ends = gain[moves], ends[moves]
    order = np.argsort(-gain if norm == 1 else ends)
    gain, ends = gain[order], ends[order]
    if norm == 1:
        gains = np.cumsum(gain * ends)
        k = int(np.searchsorted(gains, need))
        if k == len(gain):
            return np.inf
        before = float(gains[k - 1]) if k else 0.0
        return (float(ends[:k].sum()) + (need - before) / float(gain[k])) * (1.0 - slack)
    left = np.cumsum(gain[::-1])[::-1]  # of features that are not at an end
    finite = np.where(np.isfinite(ends), ends, 0.0)
    taken = np.concatenate([[0.0], np.cumsum(gain * finite)])[:-1]
    reached = np.where(np.isfinite(ends), taken + left * finite, np.inf)
    k = int(np.searchsorted(reached, need))
    if k == len(gain):
        return np.inf
    return (need - float(taken[k])) / float(left[k]) * (1.0 - 4.0 * slack)


def prove_empty(A: Floats, c: Floats, room: Box) -> float:
    """Return infinity if some multipliers prove that no y meets all conditions, else zero.

    ``min s`` with ``A y + c <= s`` within the box: its multipliers add up to one.
    """
    (m, d), (low, high) = A.shape, room
    bounds = np.vstack([np.stack([low, high], axis=1), [-np.inf, np.inf]])
    cost = np.append(np.zeros(d), 1.0)
    result = linprog(cost, np.hstack([A, -np.ones((m, 1))]), -c, bounds=bounds, method="highs")
    if result.status != SOLVED:
        return 0.0
    press = np.maximum(-result.ineqlin.marginals, 0.0)
    return half_space_length(A, c, press, np.inf, room)
