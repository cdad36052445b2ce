"""Support vector machines of two classes by coordinate descent in the dual (Hsieh et al., 2008).

Time of a pass and memory grow with the numbers of the rows that are not zero. The offset is the
weight of a feature that is one everywhere, pulled to where it was last: so it is free in the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from .._arrays import Floats
from ..native import (
    FAST,
    f8,
    i8,
    indices,
    indices_out,
    matrix,
    native,
    types,
    vector,
    vector_out,
)
from .centered_rows import CenteredRows, RowNumbers, row_squares

PULL = 0.1
"""Square of the feature that is one everywhere, for samples of unit size."""

FIRST_CLOSE, CLOSER = 0.1, 0.5
"""Violation up to which samples are passed through at first, and how it becomes smaller."""

PASSES = 10
"""Passes between two changes of what the offset is pulled to."""

HALVINGS = 100
"""Steps to the best offset for given scores."""

NO_VIOLATION = 1e-13
"""A violation that is rounding."""


class Descended(NamedTuple):
    """A machine whose multipliers are balanced and within their caps."""

    alpha: Floats
    normal: Floats
    offset: float
    gap: float  # part of the cost by which it may be above the least
    n_iter: int  # passes


def descend(
    rows: Any,
    signs: Floats,
    cap: Floats,
    give: Floats,
    start: Any,
    *,
    tolerance: float,
    passes: int,
) -> Descended:
    """Return a machine from the multipliers and the offset of a start.

    The end: its cost is above the least by no more than a part, the tolerance, or there were so
    many passes.
    """
    if not isinstance(rows, CenteredRows):
        rows = CenteredRows(rows, np.zeros(rows.shape[1]))
    numbers, square = RowNumbers.of(rows), row_squares(rows)
    alpha, order = np.minimum(start.alpha, cap), np.arange(len(signs))
    pulls = alpha * signs
    raw = np.asarray(pulls @ rows.X).ravel()
    level = np.array([start.offset, pulls.sum(), rows.center @ raw])
    close, n_iter, seed, best = FIRST_CLOSE, 0, 1, None
    while best is None or (best.gap > tolerance and n_iter < passes):
        count, seed, worst = pass_through(
            *numbers, signs, cap, give, square, PULL, PASSES, close, seed, alpha, raw, level, order
        )
        n_iter += count
        made = balance(rows, signs, cap, give, alpha, n_iter)
        best = made if best is None or made.gap < best.gap else best
        level[0] += PULL * level[1]
        close = CLOSER * close if worst <= close else close
    return best._replace(n_iter=n_iter)


def balance(
    rows: Any, signs: Floats, cap: Floats, give: Floats, alpha: Floats, n_iter: int
) -> Descended:
    """Return the machine of multipliers that are made as large in one class as in the other."""
    sides = [float(alpha[signs > 0.0].sum()), float(alpha[signs < 0.0].sum())]
    keep = [min(1.0, sides[1] / sides[0]), min(1.0, sides[0] / sides[1])] if min(sides) else [0, 0]
    alpha = alpha * np.where(signs > 0.0, *keep)
    normal = (alpha * signs) @ rows
    scores = rows @ normal
    offset = best_offset(scores, signs, cap, give)
    slack = 1.0 - signs * (scores + offset)
    square, total = float(normal @ normal), float(alpha.sum())
    cost = 0.5 * square + slack_cost(slack, cap, give)
    bound = total - 0.5 * square - 0.5 * float(give @ alpha**2)
    widest, factor = float(slack.max()), 1.0
    if 0.0 < widest < 0.5 and not give.any():  # a larger machine may have no slacks at all
        factor = 1.0 / (1.0 - widest)
        larger = 0.5 * factor**2 * square
        factor, cost = (factor, larger) if larger < cost else (1.0, cost)
    gap = (cost - bound) / cost if cost > 0.0 else 0.0
    alpha = np.minimum(factor * alpha, cap)
    return Descended(alpha, factor * normal, factor * offset, gap, n_iter)


def slack_cost(slack: Floats, cap: Floats, give: Floats) -> float:
    """Return what slacks cost: each up to its cap, less what the dual gives."""
    slack = np.maximum(slack, 0.0)
    if not give.any():
        return float(cap @ slack)
    return float(0.5 * np.sum(slack**2 / give))


def best_offset(scores: Floats, signs: Floats, cap: Floats, give: Floats) -> float:
    """Return the offset with the least cost of the slacks, where their slope changes its sign."""
    ends = signs - scores
    low, high = float(ends.min()), float(ends.max())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        slack = 1.0 - signs * (scores + middle)
        price = np.where(slack > 0.0, cap, 0.0) if not give.any() else np.maximum(slack, 0.0) / give
        slope = -float(price @ signs)
        if slope == 0.0 or not low < middle < high:
            return middle
        low, high = (middle, high) if slope < 0.0 else (low, middle)
    return 0.5 * (low + high)


@numba.njit(**FAST)
def product(dense, values, starts, columns, i, v):
    """Return the product of a sample with a vector."""
    total = 0.0
    if dense.size:
        for j in range(v.size):
            total += dense[i, j] * v[j]
    else:
        for t in range(starts[i], starts[i + 1]):
            total += values[t] * v[columns[t]]
    return total


@numba.njit(**FAST)
def add_sample(dense, values, starts, columns, i, step, v):
    """Add a multiple of a sample to a vector."""
    if dense.size:
        for j in range(v.size):
            v[j] += step * dense[i, j]
    else:
        for t in range(starts[i], starts[i + 1]):
            v[columns[t]] += step * values[t]


PASS_THROUGH = types.Tuple((i8, i8, f8))(
    matrix, vector, indices, indices, vector, vector, vector, vector, vector, vector, f8, i8, f8,
    i8, vector_out, vector_out, vector_out, indices_out,
)  # fmt: skip


@native(PASS_THROUGH)
def pass_through(
    dense, values, starts, columns, along, unit, signs, cap, give, square, pull, most, close, seed,
    alpha, raw, level, order,
):  # fmt: skip
    """Pass through the samples until they violate the conditions of an optimum by little.

    Samples that stay at a bound are left out until the others are done. ``level`` holds the offset,
    the sum of the signed multipliers, and the product of ``raw`` with the centre. Returns the
    passes, the random seed, and the violation in the last of them.
    """
    n, active, count, worst = alpha.size, alpha.size, 0, np.inf
    high, low = np.inf, -np.inf
    while count < most:
        top, bottom, k = -np.inf, np.inf, 0
        whole = active == n
        while k < active:
            seed = (seed * 1103515245 + 12345) % 2147483648  # the same order in every process
            other = k + (seed >> 8) % (active - k)
            i = order[other]
            order[other] = order[k]
            order[k] = i
            score = product(dense, values, starts, columns, i, raw)
            score += level[1] * (unit[0] - along[i]) - level[2]
            slope = signs[i] * (unit[1] * score + level[0]) - 1.0 + give[i] * alpha[i]
            if (alpha[i] <= 0.0 and slope > high) or (alpha[i] >= cap[i] and slope < low):
                active -= 1
                order[k] = order[active]
                order[active] = i
                continue
            k += 1
            violation = slope
            if alpha[i] <= 0.0:
                violation = min(slope, 0.0)
            elif alpha[i] >= cap[i]:
                violation = max(slope, 0.0)
            top, bottom = max(top, violation), min(bottom, violation)
            if abs(violation) > NO_VIOLATION:
                new = min(max(alpha[i] - slope / (square[i] + pull + give[i]), 0.0), cap[i])
                step = signs[i] * (new - alpha[i])
                alpha[i] = new
                level[0] += pull * step
                level[1] += step
                level[2] += step * along[i]
                add_sample(dense, values, starts, columns, i, step, raw)
        count += 1
        worst = top - bottom
        if worst <= close:
            if whole:
                break
            active, high, low = n, np.inf, -np.inf
        else:
            high = top if top > 0.0 else np.inf
            low = bottom if bottom < 0.0 else -np.inf
    return count, seed, worst
