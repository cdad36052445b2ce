"""Many small support vector machines by coordinate descent, in the dual (l2) or the primal (l1).

With ``v = (w, b)`` and the examples ``z_i = y_i (x_i - origin, 1)`` a machine minimizes

* in the dual: ``1/2 |v|^2 + sum_i C_i max(0, 1 - v . z_i)``, where each example has a strength
  ``0 <= alpha_i <= C_i`` and ``v = sum_i alpha_i z_i`` (Hsieh et al. 2008);
* in the primal: ``|v|_1 + sum_i C_i max(0, 1 - v . z_i)^2`` (Yuan et al. 2010).

Sweeps soon find out which strengths are at a bound, or which weights are zero, but may take
thousands to settle the others, the free ones. There are few: so each sweep is followed by exact
steps on these, as in an active set method. In the dual the rows of Z are examples, in the primal
the columns.
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

EQUATIONS = i8(matrix_out, vector_out, i8)
"""``solve(A, b, n)``: see :func:`.hyperplane_solver.solve_positive`."""

SOLVE_PROBLEMS = types.void(
    *(matrix, indices, indices, vector, indices, vector, i8, i8, f8, i8, ADDRESS),
    *(matrix_out, vector_out, vector_out),
)

ROUNDING = 1e-14
"""What rounding may leave of a row that depends on others, in parts of its squared length."""

TRIES = 60
"""Steps of a search along a line at most; halving an interval so often leaves nothing of it."""

NEWTON_STEPS = 100
"""Steps on a block at most before the next sweep; a few are the rule."""

solver_at = pointer(EQUATIONS)


class FreeBlock(NamedTuple):
    """Memory for steps on the free strengths or weights, of which a block is changed at a time."""

    free: Any  # places of all that are free, those of the block first
    gram: Any  # (block, block): products of the examples of the block, in the dual
    system: Any  # (block, block): equations of the step
    step: Any  # (block,): change of the strengths or weights
    lack: Any  # what examples lack of a margin of one: in the dual those of the block
    move: Any  # change of v in the dual, of the margins of the examples in the primal


@numba.njit(**FAST)
def memory_for(n_free, block, n_moved):
    """Return memory for so many free variables, and for the numbers that a step moves."""
    square = (block, block)
    lack = np.empty(max(block, n_moved))
    step, move = np.empty(block), np.empty(n_moved)
    return FreeBlock(
        np.empty(n_free, np.intp), np.empty(square), np.empty(square), step, lack, move
    )


@numba.njit(**FAST)
def largest_problem(start, first, last):
    """Return the most rows that a problem has."""
    m = 0
    for i in range(first, last):
        m = max(m, start[i + 1] - start[i])
    return m


@numba.njit(**FAST)
def load(X, rows, signs, origin, Z):
    """Write the examples of a problem, one a row."""
    d = origin.size
    for i in range(rows.size):
        for k in range(d):
            Z[i, k] = signs[i] * (X[rows[i], k] - origin[k])
        Z[i, d] = signs[i]


@numba.njit(**FAST)
def inner(a, b):
    """Return the scalar product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@numba.njit(**FAST)
def add(x, step, y):
    """Add a multiple of a vector to another."""
    for k in range(y.size):
        y[k] += step * x[k]


@numba.njit(**FAST)
def leave(free, place, size, done, n):
    """Replace one of the block by the next of n; return the size of the block and who had turns."""
    if done < n:
        free[place] = free[done]
        return size, done + 1
    free[place] = free[size - 1]
    return size - 1, done


@native(SOLVE_PROBLEMS, makes_arrays=True)
def solve_in_dual(X, start, rows, signs, origin, C, first, last, tol, max_iter, solver, V, A, gaps):
    """Solve the problems from ``first`` up to ``last``, from the strengths A."""
    solve, d, m = solver_at(solver), X.shape[1], largest_problem(start, first, last)
    memory = memory_for(m, min(m, d + 2), d + 1)
    Z, squares = np.empty((m, d + 1)), np.empty(m)
    for i in range(first, last):
        a, b, v = start[i], start[i + 1], V[i]
        load(X, rows[a:b], signs[a:b], X[origin[i]], Z)
        for j in range(b - a):
            squares[j] = inner(Z[j], Z[j])
        combine(Z, A[a:b], v)
        gap, cost = dual_gap_and_cost(Z, C[a:b], A[a:b], v, memory.move)
        for _ in range(max_iter):
            if gap <= tol * cost:
                break
            sweep_strengths(Z, squares, C[a:b], A[a:b], v)
            settle_strengths(Z, C[a:b], A[a:b], v, memory, solve)
            gap, cost = dual_gap_and_cost(Z, C[a:b], A[a:b], v, memory.move)
        gaps[i] = gap / cost if cost > 0.0 else 0.0


@native(SOLVE_PROBLEMS, makes_arrays=True)
def solve_in_primal(
    X, start, rows, signs, origin, C, first, last, tol, max_iter, solver, V, A, gaps
):
    """Solve the problems from ``first`` up to ``last``, from the weights V; there is no A."""
    solve, d, m = solver_at(solver), X.shape[1], largest_problem(start, first, last)
    memory, examples = memory_for(d + 1, min(m, d) + 1, m), np.empty((d + 1) * m)
    for i in range(first, last):
        a, b, v = start[i], start[i + 1], V[i]
        Z = examples[: (d + 1) * (b - a)].reshape(d + 1, b - a)
        load(X, rows[a:b], signs[a:b], X[origin[i]], Z.T)
        lack, move = memory.lack[: b - a], memory.move[: b - a]
        gap, cost = primal_gap_and_cost(Z, C[a:b], v, lack)
        for _ in range(max_iter):
            if gap <= tol * cost:
                break
            sweep_weights(Z, C[a:b], v, lack, move)
            settle_weights(Z, C[a:b], v, lack, memory, solve)
            gap, cost = primal_gap_and_cost(Z, C[a:b], v, lack)
        gaps[i] = gap / cost if cost > 0.0 else 0.0


# In the dual.


@numba.njit(**FAST)
def sweep_strengths(Z, squares, C, alpha, v):
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
def dual_gap_and_cost(Z, C, alpha, v, u):
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
def settle_strengths(Z, C, alpha, v, memory, solve):
    """Minimize over the free strengths; those that meet a bound leave.

    Examples that depend on others make some strengths superfluous: they change until one leaves.
    So a block of one strength more than v has numbers is enough, which others enter in turn.
    """
    n = 0
    for i in range(alpha.size):
        if 0.0 < alpha[i] < C[i]:
            memory.free[n] = i
            n += 1
    size = done = min(n, v.size + 1)
    for p in range(size):
        fill_products(Z, memory, p, p + 1)
    while size > 0:
        length, dependent = find_step(Z, v, memory, size, solve)
        leaves = move_strengths(C, alpha, v, memory, size, length)
        if leaves < 0:
            leaves = dependent  # it waits for the next sweep
        if leaves < 0:
            return
        size, done = leave(memory.free, leaves, size, done, n)
        if leaves < size:
            fill_products(Z, memory, leaves, size)


@numba.njit(**FAST)
def fill_products(Z, memory, p, size):
    """Write the products of one example with those of the block."""
    for q in range(size):
        product = inner(Z[memory.free[p]], Z[memory.free[q]])
        memory.gram[p, q] = memory.gram[q, p] = product


@numba.njit(**FAST)
def find_step(Z, v, memory, size, solve):
    """Write the step to the minimum over the block and how it moves v; return its best length.

    If examples depend on each other, the step is a combination of them that is zero: it changes
    strengths but not v, and goes on to a bound. If they nearly do, it changes v a little, and may
    end before. Return also the place of one of them, or -1.
    """
    step, lack, move = memory.step, memory.lack, memory.move
    for p in range(size):
        for q in range(p + 1):
            memory.system[p, q] = memory.gram[p, q]
        lack[p] = step[p] = 1.0 - inner(Z[memory.free[p]], v)
    dependent = solve(memory.system, step, size)
    gain = inner(step[:size], lack[:size])
    move[:] = 0.0
    parts = 0.0
    for p in range(size):
        if gain < 0.0:
            step[p] = -step[p]
        parts += step[p] ** 2 * memory.gram[p, p]
        add(Z[memory.free[p]], step[p], move)
    curvature = inner(move, move)
    length = abs(gain) / curvature if curvature > ROUNDING * parts else np.inf
    return length, dependent


@numba.njit(**FAST)
def move_strengths(C, alpha, v, memory, size, length):
    """Go along the step, at most to the first bound; return who met it, or -1."""
    met = -1
    for p in range(size):
        i, step = memory.free[p], memory.step[p]
        way = C[i] - alpha[i] if step > 0.0 else -alpha[i]
        if step != 0.0 and way / step < length:
            length, met = way / step, p
    if length == np.inf:  # the step is zero
        return -1
    for p in range(size):
        i = memory.free[p]
        alpha[i] = min(max(alpha[i] + length * memory.step[p], 0.0), C[i])
    if met >= 0:
        alpha[memory.free[met]] = C[memory.free[met]] if memory.step[met] > 0.0 else 0.0
    add(memory.move, length, v)
    return met


# In the primal.


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
def sweep_weights(Z, C, v, lack, move):
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
def primal_gap_and_cost(Z, C, v, lack):
    """Return the gap to the best multiple of the losses' slopes in the dual, and the cost."""
    lack[:] = 1.0
    for k in range(v.size):
        if v[k] != 0.0:
            add(Z[k], -v[k], lack)
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
def settle_weights(Z, C, v, lack, memory, solve):
    """Minimize over the weights that are not zero; those that become zero leave.

    Features that depend on others make some weights superfluous: they change until one leaves. So a
    block of one weight more than there are examples is enough, which others enter in turn.
    """
    n = 0
    for k in range(v.size):
        if v[k] != 0.0:
            memory.free[n] = k
            n += 1
    size = done = min(n, lack.size + 1)
    more = NEWTON_STEPS
    while size > 0:
        rise, dependent = find_direction(Z, C, v, lack, memory, size, solve)
        leaves, length = move_weights(C, v, lack, memory, size, rise)
        if length == 0.0:  # the combination changes nothing: one of its weights waits
            leaves = dependent
        if leaves >= 0:
            size, done = leave(memory.free, leaves, size, done, n)
        elif more == 0 or (dependent < 0 and abs(length - 1.0) < 1e-3):
            return
        else:
            more -= 1


@numba.njit(**FAST)
def find_direction(Z, C, v, lack, memory, size, solve):
    """Write the Newton step of the block and its move; return the change of the norm along it.

    If features depend on each other, the step is a combination of them that is zero: it changes the
    norm but no loss. Return also the place of one of them, or -1.
    """
    for p in range(size):
        k = memory.free[p]
        slope, curvature = slope_and_curvature(C, lack, Z[k], 0.0)
        memory.step[p] = -slope - np.sign(v[k])
        memory.system[p, p] = curvature
        for q in range(p):
            memory.system[p, q] = shared_curvature(C, lack, Z[k], Z[memory.free[q]])
    dependent = solve(memory.system, memory.step, size)
    rise = 0.0
    for p in range(size):
        rise += np.sign(v[memory.free[p]]) * memory.step[p]
    sign = -1.0 if dependent >= 0 and rise > 0.0 else 1.0
    move = memory.move[: lack.size]
    move[:] = 0.0
    for p in range(size):
        memory.step[p] *= sign
        add(Z[memory.free[p]], memory.step[p], move)
    return sign * rise, dependent


@numba.njit(**FAST)
def shared_curvature(C, lack, first, second):
    """Return the second derivative of the sum of losses by two weights."""
    total = 0.0
    for i in range(lack.size):
        total += 2.0 * C[i] * first[i] * second[i] if lack[i] > 0.0 else 0.0
    return total


@numba.njit(**FAST)
def move_weights(C, v, lack, memory, size, rise):
    """Go along the step to the minimum or to the first zero of a weight.

    Return whose zero, or -1, and the length of the way: it is 1 if no example came to lack
    something, or ceased to, on the way.
    """
    limit, met = np.inf, -1
    for p in range(size):
        way = -v[memory.free[p]]
        if way * memory.step[p] > 0.0 and way / memory.step[p] < limit:
            limit, met = way / memory.step[p], p
    move = memory.move[: lack.size]
    t = line_minimum(C, lack, move, rise, limit)
    for p in range(size):
        v[memory.free[p]] += t * memory.step[p]
    add(move, -t, lack)
    if t < limit:
        return -1, t
    v[memory.free[met]] = 0.0
    return met, t
