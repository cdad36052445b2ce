"""Many small support vector machines with the hinge loss, in the dual.

A machine minimizes ``1/2 |v|^2 + sum_i C_i max(0, 1 - v . z_i)`` with ``v = (w, b)`` and the
examples ``z_i = y_i (x_i - origin, 1)``. Its dual has one strength ``0 <= alpha_i <= C_i`` an
example, and ``v = sum_i alpha_i z_i``. Coordinate descent (Hsieh et al. 2008) soon finds out which
strengths are at a bound, but may take thousands of sweeps to settle the free ones. There are few:
so each sweep is followed by exact steps on them, as in an active set method.
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
from .cholesky import EQUATIONS, ROUNDING

solver_at = pointer(EQUATIONS)


class Room(NamedTuple):
    """Memory for the steps on the free strengths, of which a block is changed at a time."""

    free: Any  # (m,): places of the free strengths, those of the block first
    gram: Any  # (block, block): products of the examples of the block
    factor: Any  # (block, block)
    step: Any  # (block,): change of the strengths
    lack: Any  # (block,): what their examples lack of a margin of one
    move: Any  # (d + 1,): change of v


@numba.njit(**FAST)
def inner(a, b):
    """Return the scalar product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@numba.njit(**FAST)
def add(x, step, v):
    """Add a multiple of a vector to another."""
    for k in range(v.size):
        v[k] += step * x[k]


@numba.njit(**FAST)
def load(X, rows, signs, origin, Z, squares):
    """Write the examples of a problem and their squared lengths."""
    d = origin.size
    for i in range(rows.size):
        z = Z[i]
        for k in range(d):
            z[k] = signs[i] * (X[rows[i], k] - origin[k])
        z[d] = signs[i]
        squares[i] = inner(z, z)


@numba.njit(**FAST)
def sweep(Z, squares, C, alpha, v):
    """Minimize along one strength after the other."""
    for i in range(alpha.size):
        new = min(max(alpha[i] + (1.0 - inner(Z[i], v)) / squares[i], 0.0), C[i])
        if new != alpha[i]:
            add(Z[i], new - alpha[i], v)
            alpha[i] = new


@numba.njit(**FAST)
def combine(Z, alpha, v):
    """Write the sum of examples, as strong as they are."""
    v[:] = 0.0
    for i in range(alpha.size):
        add(Z[i], alpha[i], v)


@numba.njit(**FAST)
def gap_and_cost(Z, C, alpha, v, u):
    """Return the duality gap and the primal cost.

    The gap is that of v and the strengths as they are: if strengths cancel each other, v is known
    to more digits than their sum of examples, which is written to u.
    """
    combine(Z, alpha, u)
    cost, bound = 0.5 * inner(v, v), -0.5 * inner(u, u)
    for i in range(alpha.size):
        cost += C[i] * max(0.0, 1.0 - inner(Z[i], v))
        bound += alpha[i]
    return cost - bound, cost


@numba.njit(**FAST)
def find_step(Z, v, room, size, solve):
    """Write the step to the minimum over the block, and how it moves v; give its best length.

    If examples depend on each other, the step is a combination of them that is zero: it changes
    strengths but not v, and goes on to a bound. If they nearly do, it changes v a little, and may
    end before. Give also the place of one of them, or -1.
    """
    for p in range(size):
        for q in range(p + 1):
            room.factor[p, q] = room.gram[p, q]
        room.lack[p] = room.step[p] = 1.0 - inner(Z[room.free[p]], v)
    dependent = solve(room.factor, room.step, size)
    gain = inner(room.step[:size], room.lack[:size])
    room.move[:] = 0.0
    parts = 0.0
    for p in range(size):
        if gain < 0.0:
            room.step[p] = -room.step[p]
        parts += room.step[p] ** 2 * room.gram[p, p]
        add(Z[room.free[p]], room.step[p], room.move)
    curvature = inner(room.move, room.move)
    length = abs(gain) / curvature if curvature > ROUNDING * parts else np.inf
    return length, dependent


@numba.njit(**FAST)
def move_block(C, alpha, v, room, size, length):
    """Go along the step, at most to the first bound; give who met it, or -1."""
    met = -1
    for p in range(size):
        i, step = room.free[p], room.step[p]
        way = C[i] - alpha[i] if step > 0.0 else -alpha[i]
        if step != 0.0 and way / step < length:
            length, met = way / step, p
    if length == np.inf:  # the step is zero
        return -1
    for p in range(size):
        i = room.free[p]
        alpha[i] = min(max(alpha[i] + length * room.step[p], 0.0), C[i])
    if met >= 0:
        alpha[room.free[met]] = C[room.free[met]] if room.step[met] > 0.0 else 0.0
    add(room.move, length, v)
    return met


@numba.njit(**FAST)
def settle(Z, C, alpha, v, room, solve):
    """Minimize over the free strengths; those that meet a bound leave.

    Examples that depend on others make some strengths superfluous: they change until one leaves.
    So a block of one strength more than v has numbers is enough, which others enter in turn.
    """
    n = 0
    for i in range(alpha.size):
        if 0.0 < alpha[i] < C[i]:
            room.free[n] = i
            n += 1
    size = done = min(n, v.size + 1)
    for p in range(size):
        fill(Z, room, p, p + 1)
    while size > 0:
        length, dependent = find_step(Z, v, room, size, solve)
        leaves = move_block(C, alpha, v, room, size, length)
        if leaves < 0:
            leaves = dependent  # it waits for the next sweep
        if leaves < 0:
            return
        if done < n:
            room.free[leaves] = room.free[done]
            done += 1
        else:
            size -= 1
            room.free[leaves] = room.free[size]
        if leaves < size:
            fill(Z, room, leaves, size)


@numba.njit(**FAST)
def fill(Z, room, p, size):
    """Write the products of one example with those of the block."""
    for q in range(size):
        room.gram[p, q] = room.gram[q, p] = inner(Z[room.free[p]], Z[room.free[q]])


@numba.njit(**FAST)
def descend(Z, squares, C, alpha, v, room, solve, tol, max_iter):
    """Minimize until the duality gap is small; give it in parts of the cost."""
    combine(Z, alpha, v)
    gap, cost = gap_and_cost(Z, C, alpha, v, room.move)
    for _ in range(max_iter):
        if gap <= tol * cost:
            break
        sweep(Z, squares, C, alpha, v)
        settle(Z, C, alpha, v, room, solve)
        gap, cost = gap_and_cost(Z, C, alpha, v, room.move)
    return gap / cost if cost > 0.0 else 0.0


@native(
    types.void(
        *(matrix, indices, indices, vector, indices, vector, i8, i8, f8, i8, ADDRESS),
        *(matrix_out, vector_out, vector_out, vector_out),
    ),
    makes_arrays=True,
)
def solve_in_dual(
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
    strengths,
    gaps,
):
    """Solve the problems from ``first`` up to ``last``, from the given strengths."""
    solve = solver_at(solver)
    d, m = X.shape[1], 0
    for i in range(first, last):
        m = max(m, start[i + 1] - start[i])
    block = min(m, d + 2)
    Z, squares, v = np.empty((m, d + 1)), np.empty(m), np.empty(d + 1)
    room = Room(
        np.empty(m, np.intp),
        np.empty((block, block)),
        np.empty((block, block)),
        np.empty(block),
        np.empty(block),
        np.empty(d + 1),
    )
    for i in range(first, last):
        a, b = start[i], start[i + 1]
        load(X, rows[a:b], signs[a:b], X[origin[i]], Z, squares)
        gaps[i] = descend(Z, squares, C[a:b], strengths[a:b], v, room, solve, tol, max_iter)
        for k in range(d):
            weights[i, k] = v[k]
        offsets[i] = v[d]
