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
from .ascent import ascend, ascend_in_pairs
from .products import NOT_SEMIDEFINITE, Products
from .progress import Progress
from .shared import VANISHED

AT_A_TIME = 128
"""Examples that are furthest from optimal and taken together."""

NEARER = 0.1
"""Part of the violation among all that is left among those taken together."""

INDEFINITE = 1e-9
"""Part of what it could be by which ``u^T C u`` may be negative by rounding."""

ONE_GO = 20
"""Most steps before all examples are looked at again, as a multiple of their number."""


class Optimum(NamedTuple):
    """Embedding strengths, and how far they are from the optimum.

    Attributes
    ----------
    strengths : array (n,)
    threshold : float
        The free threshold; zero if there is none.
    steps : int
        Steps that were made.
    violation : float
        By how much the conditions of the optimum are violated at worst.
    bound : float
        No hyperplane has a larger stability, in units of the longest example.
    """

    strengths: Floats
    threshold: float
    steps: int
    violation: float
    bound: float


class Goal(NamedTuple):
    """What to look for.

    Attributes
    ----------
    eta : float
        Length of a step, as a multiple of the way to the optimum along it.
    gamma : float
        Largest strength.
    pairs : bool
        Whether ``sum u y = 0`` is kept.
    tol : float
        The violation that is allowed.
    max_iter : int
        Most steps, as a multiple of the number of examples.
    """

    eta: float
    gamma: float
    pairs: bool
    tol: float
    max_iter: int


Seen = Callable[[Floats, Floats], object]
"""Called with strengths and potentials whenever all examples were looked at."""


def optimum(
    products: Products, signs: Floats, goal: Goal, progress: Progress, seen: Seen
) -> Optimum:
    """Maximise ``sum u - u^T C u / 2`` for ``0 <= u <= gamma``."""
    n = len(signs)
    u, E, steps = np.zeros(n), np.zeros(n), 0
    longest = float(np.sqrt(products.diagonal.max()))
    climb = ascend_in_pairs if goal.pairs else ascend
    while True:
        violation, theta, some = furthest(signs, u, E, goal)
        bound = reachable(u, E, longest)
        progress.tell(1 + steps // n, f"violation {violation:.1e}", last=violation <= goal.tol)
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
        seen(u, E)


def check_semidefinite(u: Floats, E: Floats, longest: float) -> None:
    """Raise if ``u^T C u`` is negative: no products of rows are such, and there is no optimum."""
    size = float(u.sum()) * longest
    if not np.isfinite(E).all() or (size > 0.0 and u @ E / size < -INDEFINITE * size):
        raise ValueError(NOT_SEMIDEFINITE)


def furthest(signs: Floats, u: Floats, E: Floats, goal: Goal) -> tuple[float, float, Indices]:
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
        chosen = np.concatenate([largest(high, AT_A_TIME // 2), largest(-low, AT_A_TIME // 2)])
    else:
        wrong = np.where(np.where(slope > 0.0, u < goal.gamma, u > 0.0), np.abs(slope), 0.0)
        violation = float(wrong.max())
        chosen = largest(wrong, AT_A_TIME)
    between = np.flatnonzero((u > 0.0) & (u < goal.gamma))
    return violation, theta, np.union1d(chosen, between)


def largest(values: Floats, count: int) -> Indices:
    """Return the places of the largest values."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def reachable(u: Floats, E: Floats, longest: float) -> float:
    """Return ``|w| N / sum u``, which no stability exceeds, in units of the longest example."""
    total = float(u.sum())
    squared = max(float(u @ E), 0.0)
    if total == 0.0:
        return np.inf
    return float(np.sqrt(squared)) / (total * longest) if longest > 0.0 else 0.0
