"""The nearest point of a cell: projection of a sample on a polyhedron within a box.

The cell of a rival prototype v is where v is nearer than the prototypes j of the classes that are
to be left: ``a_j . y + c_j <= 0``, with y the way from the sample, ``a_j = 2 (u_j - u_v)`` and
``c_j = D_v - D_j`` at the sample. The shortest such y is found by the dual active-set method of
Goldfarb and Idnani (1983): start without conditions, add the one that is violated most, release
those that no longer press. The way only grows meanwhile, so that a rival is given up as soon as it
is longer than the way to another one. A condition on one feature alone (a side of the box) fixes
that feature, and the rest goes on among the others. Within a box the start is the way that meets
the first condition, with all the sides that it touches.

Conditions are numbered: first those of the prototypes, then one for each feature with a box. The
``side`` of a condition tells whether it presses: 0 if not, 1 or -1 (a lower side) if it does.

Loops over vectors are functions of their own, called by address: so they are compiled once and not
at every place of use, which takes about twice as long.
"""

from __future__ import annotations

import numba
import numpy as np

from .._arrays import Floats
from ..native import ADDRESS, f8, matrix, native, pointer, types, vector, vector_out

PARALLEL = 1e-10  # sine of the angle to the span of others at which a direction lies in that span
NOISE = 1e-13  # conditions violated by no more than this share of the way are met
CERTAIN = 1e-8  # size of a violation, relative to the distances, that rounding cannot explain
EPSILON = 2.0**-52
FOLLOWS = 2  # the side of a condition that is met, but for rounding, because those that press are

DOT = f8(vector, vector)
ADD = types.void(vector_out, f8, vector)
TOOLS = types.UniTuple(ADDRESS, 2)  # the addresses of ``dot`` and ``add``
PROJECT = f8(TOOLS, matrix, vector, vector, vector, vector, f8, vector_out)

dot_at, add_at = pointer(DOT), pointer(ADD)
_exact = numba.njit(error_model="numpy")


@native(DOT)
def dot(a, b):
    """Return the product of two vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@native(ADD)
def add(out, factor, a):
    """Add a multiple of a vector to another."""
    for i in range(a.size):
        out[i] += factor * a[i]


@_exact
def _gap(dot, p, sign, A, c, y, low, high):
    """Return by how much a condition is violated; ``sign`` is which side of a box."""
    m = A.shape[0]
    if p < m:
        return dot(A[p], y) + c[p]
    return y[p - m] - high[p - m] if sign > 0 else low[p - m] - y[p - m]


@_exact
def _most_violated(dot, A, c, y, low, high, side):
    """Return the condition that is violated most, -1 if all are met; its side, and by how much."""
    m, worst, where, sign = A.shape[0], NOISE * np.sqrt(dot(y, y)), -1, 1
    for j in range(m):
        if side[j] == 0:
            gap = dot(A[j], y) + c[j]
            if gap > worst:
                worst, where, sign = gap, j, 1
    for i in range(low.size):
        if side[m + i] == 0:
            above, below = y[i] - high[i], low[i] - y[i]
            gap = max(above, below)
            if gap > worst:
                worst, where, sign = gap, m + i, 1 if above > below else -1
    return where, sign, worst


@_exact
def _free_part(a, side, m, out):
    """Write a direction into ``out``, without the features that a side of the box fixes."""
    for i in range(a.size):
        out[i] = a[i]
    for i in range(side.size - m):
        if abs(side[m + i]) == 1:
            out[i] = 0.0


@_exact
def _decompose(dot, add, p, sign, A, side, z, Q, R, pull):
    """Write the direction of a condition as z, orthogonal to those that press, and their ``pull``.

    Gram-Schmidt, twice over: z is orthogonal to full precision. Returns the squared lengths of z
    and of the direction among the features that are not fixed.
    """
    m, count = A.shape[0], 0
    if p < m:
        _free_part(A[p], side, m, z)
    else:  # a feature that no side fixes
        for i in range(z.size):
            z[i] = 0.0
        z[p - m] = sign
    whole = dot(z, z)
    for j in range(m):
        if side[j] == 1:
            _free_part(A[j], side, m, Q[count])
            _orthogonalize(dot, add, Q[count], Q, count, R[count])
            R[count, count] = np.sqrt(dot(Q[count], Q[count]))
            for i in range(z.size):
                Q[count, i] *= 1.0 / R[count, count]
            count += 1
    shares = R[count]
    _orthogonalize(dot, add, z, Q, count, shares)
    place = count
    for j in range(m - 1, -1, -1):  # back substitution
        if side[j] == 1:
            place -= 1
            pull[j] = shares[place] / R[place, place]
            for b in range(place):
                shares[b] -= pull[j] * R[place, b]
    for i in range(side.size - m):
        if abs(side[m + i]) == 1:
            share = A[p, i] if p < m else 0.0
            for j in range(m):
                if side[j] == 1:
                    share -= pull[j] * A[j, i]
            pull[m + i] = share * side[m + i]
    return dot(z, z), whole


@_exact
def _orthogonalize(dot, add, z, Q, count, shares):
    """Take from z its parts along the first rows of Q, and note them."""
    for b in range(count):
        shares[b] = 0.0
    for _ in range(2):
        for b in range(count):
            share = dot(Q[b], z)
            shares[b] += share
            add(z, -share, Q[b])


@_exact
def _first_released(side, press, pull, step):
    """Return the condition that stops pressing first within a step, -1 if none, and the step."""
    first = -1
    for k in range(side.size):
        if abs(side[k]) == 1 and pull[k] > 0.0 and press[k] < step * pull[k]:
            first, step = k, press[k] / pull[k]
    return first, step


@_exact
def _release(first, side, press):
    """Let a condition go; what followed from the others may no longer follow."""
    side[first], press[first] = 0, 0.0
    for k in range(side.size):
        if side[k] == FOLLOWS:
            side[k] = 0


@_exact
def _proved_length(dot, add, A, c, press, y, total, low, high):
    """Return a length that no way undercuts despite rounding.

    A way that meets all has ``|y| |sum_j l_j a_j| >= sum_j l_j c_j``, whatever the l_j >= 0. Within
    a box ``|y|^2 / 2`` is at least the minimum over the box of ``|y|^2 / 2 + sum_j l_j (a_j . y +
    c_j)``, which each feature has on its own.
    """
    value = size = weight = 0.0
    total[:] = 0.0
    for j in range(A.shape[0]):
        if press[j] > 0.0:
            add(total, press[j], A[j])
            value += press[j] * c[j]
            size += press[j] * abs(c[j])
            weight += press[j]
    slack = (A.shape[0] + A.shape[1] + 8) * EPSILON
    if low.size:
        for f in range(low.size):
            here, off = min(max(-total[f], low[f]), high[f]), slack * weight * abs(y[f])
            value += here * (0.5 * here + total[f])
            size += abs(here) * (0.5 * abs(here) + abs(total[f])) + off
        value -= 2.0 * slack * size
        return np.sqrt(2.0 * value) if value > 0.0 else 0.0
    value -= slack * size
    return value / (np.sqrt(dot(total, total)) + slack * weight) if value > 0.0 else 0.0


@_exact
def _meet_first(p, A, c, low, high, side, press, y):
    """Write the shortest way within a box that meets one condition, and what presses there.

    It is ``-t a``, cut off at the sides of the box. How far that goes along a is concave in t, so
    Newton's steps come from below. Nothing is written if the box holds no such way.
    """
    a, m, t = A[p], A.shape[0], 0.0
    for _ in range(1000):
        gap, free = c[p], 0.0
        for f in range(a.size):
            way = -t * a[f]
            here = min(max(way, low[f]), high[f])
            gap += a[f] * here
            if not ((a[f] > 0.0 and way <= low[f]) or (a[f] < 0.0 and way >= high[f])):
                free += a[f] * a[f]
        if free <= PARALLEL:
            return
        t += gap / free
        if gap <= NOISE * c[p]:
            break
    side[p], press[p] = 1, t
    for f in range(a.size):
        y[f] = min(max(-t * a[f], low[f]), high[f])
        if y[f] != -t * a[f]:
            side[m + f] = -1 if y[f] == low[f] else 1
            press[m + f] = abs(t * a[f] + y[f])


@native(PROJECT, makes_arrays=True)
def project(tools, A, c, certain, low, high, limit, y):
    """Write the shortest way that meets all conditions into y, and return its length.

    Infinity if there is none shorter than ``limit``. Rows of A have length one; ``certain`` has
    one entry more than c, for the box; an empty box is none.
    """
    dot, add = dot_at(tools[0]), add_at(tools[1])
    m, r = A.shape
    side = np.zeros(m + low.size, dtype=np.int8)
    press, pull = np.zeros(side.size), np.zeros(side.size)
    most = min(m, r) + 1
    Q, R, z = np.empty((most, r)), np.empty((most, most)), np.empty(r)
    for i in range(r):
        y[i] = 0.0
    p, sign, gap = _most_violated(dot, A, c, y, low, high, side)
    if 0 <= p < m and low.size:
        _meet_first(p, A, c, low, high, side, press, y)
        if _proved_length(dot, add, A, c, press, y, z, low, high) >= limit:
            return np.inf
        p, sign, gap = _most_violated(dot, A, c, y, low, high, side)
    for _ in range(100 * (m + r + 10)):
        if p < 0:
            return _proved_length(dot, add, A, c, press, y, z, low, high)
        free, whole = _decompose(dot, add, p, sign, A, side, z, Q, R, pull)
        moves = free > PARALLEL * PARALLEL * max(whole, PARALLEL)
        first, step = _first_released(side, press, pull, gap / free if moves else np.inf)
        if step == np.inf:
            if gap > certain[min(p, m)]:
                return np.inf
            side[p], press[p] = FOLLOWS, 0.0
        else:
            for k in range(side.size):
                if abs(side[k]) == 1:
                    press[k] -= step * pull[k]
            press[p] += step
            if moves:
                add(y, -step, z)
            if _proved_length(dot, add, A, c, press, y, z, low, high) >= limit:
                return np.inf
            if first < 0:
                side[p] = sign
            else:
                _release(first, side, press)
                gap = _gap(dot, p, sign, A, c, y, low, high)
                continue
        p, sign, gap = _most_violated(dot, A, c, y, low, high, side)
    return np.nan


def nearest_half_spaces(G: Floats, c: Floats, low: Floats, high: Floats, ways: Floats) -> None:
    """Write for each row the shortest way y within a box with ``g . y >= c``; zero if none.

    The rows of G have length one; an empty box is none.
    """
    if not low.shape[1]:
        np.multiply(np.maximum(c, 0.0)[:, None], G, out=ways)
        return
    tools = dot.address, add.address
    for i in range(len(G)):
        sure = np.full(2, CERTAIN * abs(c[i]))
        box = low[i], high[i]
        if not project(tools, -G[i : i + 1], c[i : i + 1], sure, *box, np.inf, ways[i]) < np.inf:
            ways[i] = 0.0
