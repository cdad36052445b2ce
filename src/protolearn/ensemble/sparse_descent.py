"""Many small support vector machines with the l1 norm and the squared hinge loss, in the primal.

A machine minimizes ``|v|_1 + sum_i C_i max(0, 1 - v . z_i)^2`` with ``v = (w, b)`` and the
examples ``z_i = y_i (x_i - origin, 1)``. Coordinate descent (Yuan et al. 2010) soon finds out which
weights are zero, but may take thousands of sweeps to settle the others if features resemble each
other. So each sweep is followed by Newton steps on those that are not zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from ..native import (
    ADDRESS,
    FAST,
    f8,
    i8,
    indices,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from .cholesky import EQUATIONS

solver_at = pointer(EQUATIONS)

TRIES = 60
"""Steps of a search along a line at most; halving an interval so often leaves nothing of it."""

NEWTON_STEPS = 100
"""Steps on a block at most before the next sweep; a few are the rule."""


class Room(NamedTuple):
    """Memory for the steps on the weights that are not zero, of which a block is changed."""

    used: Any  # (d + 1,): places of the weights, those of the block first
    hessian: Any  # (block, block)
    step: Any  # (block,): change of the weights
    move: Any  # (m,): change of the margins of the examples


@numba.njit(**FAST)
def load(X, rows, signs, origin, Z):
    """Write the examples of a problem, one a column."""
    d = origin.size
    for k in range(d):
        for i in range(rows.size):
            Z[k, i] = signs[i] * (X[rows[i], k] - origin[k])
    for i in range(rows.size):
        Z[d, i] = signs[i]


@numba.njit(**FAST)
def add(x, step, y):
    """Add a multiple of a vector to another."""
    for i in range(y.size):
        y[i] += step * x[i]


@numba.njit(**FAST)
def find_lacks(Z, v, lack):
    """Write what the examples lack of a margin of one."""
    lack[:] = 1.0
    for k in range(v.size):
        if v[k] != 0.0:
            add(Z[k], -v[k], lack)


@numba.njit(**FAST)
def slope_and_curvature(C, lack, move, t):
    """Return both for the sum of losses, at ``lack - t move`` and along ``move``."""
    slope = curvature = 0.0
    for i in range(lack.size):
        rest = lack[i] - t * move[i]
        price = 2.0 * C[i] * move[i] if rest > 0.0 else 0.0
        slope -= price * rest
        curvature += price * move[i]
    return slope, curvature


@numba.njit(**FAST)
def line_minimum(C, lack, move, rise, limit):
    """Minimize the losses and ``rise t`` for t from 0 to a limit.

    The slope is increasing and made of straight pieces: Newton steps within an interval where its
    sign changes find its zero exactly.
    """
    low, high, t = 0.0, limit, 0.0
    for _ in range(TRIES):
        slope, curvature = slope_and_curvature(C, lack, move, t)
        slope += rise
        if slope < 0.0:
            low = t
        else:
            high = t
        new = t - slope / curvature if curvature > 0.0 else (limit if slope < 0.0 else low)
        if new >= limit and high == limit:
            new = limit
        elif not low < new < high:
            new = 0.5 * (low + high)
        if new == np.inf or abs(new - t) <= 1e-15 * abs(new):
            break
        t = new
    return t


@numba.njit(**FAST)
def sweep(Z, C, v, lack, move):
    """Minimize along one weight after the other, but not beyond zero."""
    for k in range(v.size):
        slope, _ = slope_and_curvature(C, lack, Z[k], 0.0)
        if v[k] == 0.0:
            way, rise = -np.sign(slope), 1.0
            if abs(slope) <= 1.0:
                continue
        else:
            way = -np.sign(slope + np.sign(v[k]))
            rise = way * np.sign(v[k])
        for i in range(lack.size):
            move[i] = way * Z[k, i]
        limit = np.inf if rise > 0.0 else abs(v[k])
        t = line_minimum(C, lack, move, rise, limit)
        v[k] = v[k] + way * t if t < limit else 0.0
        add(move, -t, lack)


@numba.njit(**FAST)
def gap_and_cost(Z, C, v, lack):
    """Return the gap to the best multiple of the losses' slopes in the dual, and the cost."""
    find_lacks(Z, v, lack)
    losses = total = size = steepest = 0.0
    for i in range(lack.size):
        if lack[i] > 0.0:
            losses += C[i] * lack[i] ** 2
            total += 2.0 * C[i] * lack[i]
    for k in range(v.size):
        slope, _ = slope_and_curvature(C, lack, Z[k], 0.0)
        steepest = max(steepest, abs(slope))
        size += abs(v[k])
    if losses == 0.0:
        return size, size
    scale = min(0.5 * total / losses, 1.0 / steepest if steepest > 0.0 else np.inf)
    cost = size + losses
    return cost - scale * (total - scale * losses), cost


@numba.njit(**FAST)
def find_direction(Z, C, v, lack, room, size, solve):
    """Write the Newton step of the block and its move; give the change of the norm along it.

    If features depend on each other, the step is a combination of them that is zero: it changes the
    norm but no loss. Give also the place of one of them, or -1.
    """
    for p in range(size):
        k = room.used[p]
        slope, curvature = slope_and_curvature(C, lack, Z[k], 0.0)
        room.step[p] = -slope - np.sign(v[k])
        room.hessian[p, p] = curvature
        for q in range(p):
            room.hessian[p, q] = shared_curvature(C, lack, Z[k], Z[room.used[q]])
    dependent = solve(room.hessian, room.step, size)
    rise = 0.0
    for p in range(size):
        rise += np.sign(v[room.used[p]]) * room.step[p]
    sign = -1.0 if dependent >= 0 and rise > 0.0 else 1.0
    move = room.move[: lack.size]
    move[:] = 0.0
    for p in range(size):
        room.step[p] *= sign
        add(Z[room.used[p]], room.step[p], move)
    return sign * rise, dependent


@numba.njit(**FAST)
def shared_curvature(C, lack, first, second):
    """Return the second derivative of the sum of losses by two weights."""
    total = 0.0
    for i in range(lack.size):
        total += 2.0 * C[i] * first[i] * second[i] if lack[i] > 0.0 else 0.0
    return total


@numba.njit(**FAST)
def move_block(C, v, lack, room, size, rise):
    """Go along the step to the minimum or to the first zero of a weight.

    Give whose zero, or -1, and the length of the way: it is 1 if no example came to lack something,
    or ceased to, on the way.
    """
    limit, met = np.inf, -1
    for p in range(size):
        way = -v[room.used[p]]
        if way * room.step[p] > 0.0 and way / room.step[p] < limit:
            limit, met = way / room.step[p], p
    move = room.move[: lack.size]
    t = line_minimum(C, lack, move, rise, limit)
    for p in range(size):
        v[room.used[p]] += t * room.step[p]
    add(move, -t, lack)
    if t < limit:
        return -1, t
    v[room.used[met]] = 0.0
    return met, t


@numba.njit(**FAST)
def settle(Z, C, v, lack, room, solve):
    """Minimize over the weights that are not zero; those that become zero leave.

    Features that depend on others make some weights superfluous: they change until one leaves. So a
    block of one weight more than there are examples is enough, which others enter in turn.
    """
    n = 0
    for k in range(v.size):
        if v[k] != 0.0:
            room.used[n] = k
            n += 1
    size = done = min(n, lack.size + 1)
    more = NEWTON_STEPS
    while size > 0:
        rise, dependent = find_direction(Z, C, v, lack, room, size, solve)
        leaves, length = move_block(C, v, lack, room, size, rise)
        if length == 0.0:  # the combination changes nothing: one of its weights waits
            leaves = dependent
        if leaves >= 0 and done < n:
            room.used[leaves] = room.used[done]
            done += 1
        elif leaves >= 0:
            size -= 1
            room.used[leaves] = room.used[size]
        elif more == 0 or (dependent < 0 and abs(length - 1.0) < 1e-3):
            return
        else:
            more -= 1


@numba.njit(**FAST)
def descend(Z, C, v, lack, room, solve, tol, max_iter):
    """Minimize until the duality gap is small; give it in parts of the cost."""
    gap, cost = gap_and_cost(Z, C, v, lack)
    for _ in range(max_iter):
        if gap <= tol * cost:
            break
        sweep(Z, C, v, lack, room.move[: lack.size])
        settle(Z, C, v, lack, room, solve)
        gap, cost = gap_and_cost(Z, C, v, lack)
    return gap / cost if cost > 0.0 else 0.0


@native(
    types.void(
        *(matrix, indices, indices, vector, indices, vector, i8, i8, f8, i8, ADDRESS),
        *(matrix_out, vector_out, vector_out),
    ),
    makes_arrays=True,
)
def solve_sparse(
    X,
    start,
    rows,
    signs,
    origin,
    C,
    first,
    last,
    tol,
    max_iter,
    solver,
    weights,
    offsets,
    gaps,
):
    """Solve the problems from ``first`` up to ``last``, from the given weights."""
    solve = solver_at(solver)
    d, m = X.shape[1], 0
    for i in range(first, last):
        m = max(m, start[i + 1] - start[i])
    block = min(m, d) + 1
    room = Room(
        np.empty(d + 1, np.intp),
        np.empty((block, block)),
        np.empty(block),
        np.empty(m),
    )
    memory, v, lack = np.empty((d + 1) * m), np.empty(d + 1), np.empty(m)
    for i in range(first, last):
        a, b = start[i], start[i + 1]
        Z = memory[: (d + 1) * (b - a)].reshape(d + 1, b - a)
        load(X, rows[a:b], signs[a:b], X[origin[i]], Z)
        for k in range(d):
            v[k] = weights[i, k]
        v[d] = offsets[i]
        gaps[i] = descend(Z, C[a:b], v, lack[: b - a], room, solve, tol, max_iter)
        for k in range(d):
            weights[i, k] = v[k]
        offsets[i] = v[d]
