"""Embedding strengths of largest stability, found on a few examples at a time.

All examples are looked at; the strengths of those that are furthest from optimal, and of those that
may go both ways, are brought near their optimum with the others held; then the potentials of all
follow. The many steps go through few examples, and no more than their products are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._arrays import Floats, Indices
from .embedding_steps import ascend, ascend_in_pairs
from .perceptron import VANISHED, TrainingLog
from .products import NOT_SEMIDEFINITE, Products

AT_A_TIME = 128
"""Examples that are furthest from optimal and taken together."""

NEARER = 0.1
"""Part of the violation among all that is left among those taken together."""

INDEFINITE = 1e-9
"""Part of what it could be by which ``u^T C u`` may be negative by rounding."""

ONE_GO = 20
"""Most steps before all examples are looked at again, as a multiple of their number."""


class Optimum(NamedTuple):
    """Embedding strengths, and how far they are from the optimum."""

    strengths: Floats
    threshold: float  # the free one; zero if there is none
    steps: int
    violation: float  # by how much the conditions of the optimum are violated at worst
    bound: float  # no hyperplane has a larger stability, in units of the longest example


class Goal(NamedTuple):
    """What to look for."""

    eta: float  # length of a step, as a multiple of the way to the optimum along it
    gamma: float  # largest strength
    pairs: bool  # whether sum u y = 0 is kept
    tol: float  # the violation that is allowed
    max_iter: int  # most steps, as a multiple of the number of examples


def optimum(
    products: Products,
    signs: Floats,
    goal: Goal,
    progress: TrainingLog,
    offer: Callable[[Floats, Floats], object],
) -> Optimum:
    """Return the maximum of ``sum u - u^T C u / 2`` for ``0 <= u <= gamma``.

    Strengths and potentials are offered whenever all examples were looked at.
    """
    n = len(signs)
    u, E, steps = np.zeros(n), np.zeros(n), 0
    longest = float(np.sqrt(products.diagonal.max()))
    climb = ascend_in_pairs if goal.pairs else ascend
    while True:
        violation, theta, some = most_violated(signs, u, E, goal)
        bound = stability_bound(u, E, longest)
        progress.report(1 + steps // n, f"violation {violation:.1e}", last=violation <= goal.tol)
        out = steps >= goal.max_iter * n or (goal.gamma == np.inf and bound < VANISHED)
        if violation <= goal.tol or out:
            return Optimum(u, theta, steps, violation, bound)
        mine, moved, before = signs[some], u[some], E[some]
        wanted = max(0.5 * goal.tol, NEARER * violation)
        most = min(ONE_GO * n, goal.max_iter * n - steps)
        made, _ = climb(
            *(mine, products.among(some), goal.eta, goal.gamma, wanted, most, moved, before)
        )
        steps += made
        E += signs * products.sums(some, mine * (moved - u[some]))
        u[some] = moved
        check_semidefinite(u, E, longest)
        offer(u, E)


def check_semidefinite(u: Floats, E: Floats, longest: float) -> None:
    """Raise if ``u^T C u`` is negative: no products of rows are such, and there is no optimum."""
    size = float(u.sum()) * longest
    if not np.isfinite(E).all() or (size > 0.0 and u @ E / size < -INDEFINITE * size):
        raise ValueError(NOT_SEMIDEFINITE)


def most_violated(signs: Floats, u: Floats, E: Floats, goal: Goal) -> tuple[float, float, Indices]:
    """Return the violation of optimality, the threshold, and the examples to be changed next."""
    slope, theta = 1.0 - E, 0.0
    if goal.pairs:
        slope = signs * slope
        rise = np.where(signs > 0.0, u < goal.gamma, u > 0.0)
        fall = np.where(signs > 0.0, u > 0.0, u < goal.gamma)
        high = np.where(rise, slope, -np.inf)
        low = np.where(fall, slope, np.inf)
        violation = float(high.max() - low.min())
        theta = -0.5 * float(high.max() + low.min())
        chosen = np.concatenate(
            [largest_places(high, AT_A_TIME // 2), largest_places(-low, AT_A_TIME // 2)]
        )
    else:
        wrong = np.where(np.where(slope > 0.0, u < goal.gamma, u > 0.0), np.abs(slope), 0.0)
        violation = float(wrong.max())
        chosen = largest_places(wrong, AT_A_TIME)
    between = np.flatnonzero((u > 0.0) & (u < goal.gamma))
    return violation, theta, np.union1d(chosen, between)


def largest_places(values: Floats, count: int) -> Indices:
    """Return the places of the largest values."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def stability_bound(u: Floats, E: Floats, longest: float) -> float:
    """Return ``|w| N / sum u``, which no stability exceeds, in units of the longest example."""
    total = float(u.sum())
    squared = max(float(u @ E), 0.0)
    if total == 0.0:
        return np.inf
    return float(np.sqrt(squared)) / (total * longest) if longest > 0.0 else 0.0
