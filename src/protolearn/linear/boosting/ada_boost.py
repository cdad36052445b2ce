"""AdaBoost* with a bias, on the mean-of-class classifier (Graf et al., 2009, section 5.2).

The samples have weights ``alpha``, which sum to one in each class. A round takes the weighted
means ``p+`` and ``p-`` of the classes, adds ``v / |p+ - p-|`` times their hyperplane to the
aggregate, and multiplies the weight of a sample with ``exp(-v y_i w.x_i)``, so that samples on the
wrong side count more. So a weight is, up to a factor, ``exp(-y_i f(x_i))`` of the aggregate f
without its offset, and the products ``y_i f(x_i)`` are all that must be kept. They are sums over
the rounds, which neither overflow nor forget a sample whose weight has become zero.

Any weights bound the margin that a hyperplane can have by ``|p+ - p-| / 2``, also those of which
the aggregate is made; and the aggregate has a margin. The rounds end when the two meet.

Samples lie in the unit ball. Those of the positive class are the first ``split`` rows. Soft margins
(equations 25 and 26) lengthen sample i by a coordinate of its own, ``sqrt(slack)``, which is added
to the products and never stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from ..._arrays import Floats
from ...native import FAST, f8, i8, matrix, native, types, vector_out

VANISHED = 1e-12
"""Distance of the prototypes below which they are the same point."""

FINER = 0.05
"""What the direction may be wrong by, as a part of what the margin may be short of."""

NEAR = 1.01
"""How far apart the prototypes of the aggregate may be, in units of the least distance known."""


class Progress(NamedTuple):
    """How far the rounds have come.

    Attributes
    ----------
    rounds : int
        Rounds that were made.
    target : float
        The margin that AdaBoost* aims at.
    upper : float
        No hyperplane has a margin above it.
    lower : float
        The largest margin that an aggregate had.
    best : int
        The round that had it, or the last whose margin is within the tolerance.
    closed : int
        1 if the gap between them is closed, or the prototypes coincide: no round can follow.
    """

    rounds: int
    target: float
    upper: float
    lower: float
    best: int
    closed: int


START = Progress(0, 1.0, np.inf, -np.inf, 0, 0)


class Aggregate(NamedTuple):
    """The sum of the hyperplanes of all rounds so far.

    Attributes
    ----------
    gamma : array (n,)
        Coefficients of the samples, positive for the first class and negative for the second.
    products : array (n,)
        ``y_i f(x_i)``, f without its offset.
    best : array (n,)
        The coefficients after the best round.
    """

    gamma: Floats
    products: Floats
    best: Floats

    @classmethod
    def empty(cls, n: int) -> Aggregate:
        """Return the sum before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n))


@numba.njit(**FAST)
def decay(x):
    """Return ``exp(x)`` for x from -40 to 0, of a smaller x as if it were -40.

    The series of ``exp(x / 1024)``, squared ten times: right to 4e-13. It runs in SIMD registers;
    the library's exponentials would take longer than the products of samples of few features.
    """
    t = max(x, -40.0) / 1024.0
    p = 1.0 / 720.0 + t * (1.0 / 5040.0)
    p = 1.0 + t * (1.0 + t * (0.5 + t * (1.0 / 6.0 + t * (1.0 / 24.0 + t * (1.0 / 120.0 + t * p)))))
    for _ in range(10):
        p *= p
    return p


@numba.njit(**FAST)
def least(a):
    """Return the smallest number."""
    smallest = np.inf
    for i in range(a.size):
        smallest = min(smallest, a[i])
    return smallest


@numba.njit(**FAST)
def inner(a, b):
    """Return the scalar product."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@numba.njit(**FAST)
def sum_of(a):
    """Return the sum."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@numba.njit(**FAST)
def weigh(products, sign, signed):
    """Write the weights of one class, which sum to one, times its sign."""
    smallest, total = least(products), 0.0
    for i in range(products.size):
        signed[i] = decay(smallest - products[i])
        total += signed[i]
    for i in range(products.size):
        signed[i] *= sign / total


@numba.njit(**FAST)
def add(v, distance, signed, scores, sign, gamma, products):
    """Add the hyperplane of a round to the aggregate, in the samples of one class."""
    for i in range(gamma.size):
        gamma[i] += v / distance * signed[i]
        products[i] += sign * v * scores[i]


@numba.njit(**FAST)
def vote(edge, other, target):
    """Return the weight of a hyperplane by how well it classifies either class."""
    return 0.125 * np.log(
        (2.0 + edge - target)
        * (2.0 + other - target)
        / ((2.0 - edge + target) * (2.0 - other + target))
    )


BOOST = types.Tuple((i8, f8, f8, f8, i8, i8))(
    matrix, i8, f8, f8, f8, i8, i8, f8, f8, f8, i8, i8, vector_out, vector_out, vector_out
)


@native(BOOST, makes_arrays=True)
def boost(
    rows, split, slack, epsilon, tol, last,
    rounds, target, upper, lower, best_round, closed,
    gamma, products, best,
):  # fmt: skip
    """Make rounds until there are ``last``, the gap is closed or the prototypes coincide.

    A closed gap leaves the direction open by an angle of ``sqrt(2 tol)``, so the aggregate must
    also agree with the hyperplane of the last weights, which is much nearer to the best one. And
    the first hyperplane may be the best at once, long before the prototypes are.
    """
    n, d = rows.shape
    signed, scores, normal = np.empty(n), np.empty(n), np.empty(d)
    weights_a, weights_b = signed[:split], signed[split:]
    scores_a, scores_b = scores[:split], scores[split:]
    gamma_a, gamma_b = gamma[:split], gamma[split:]
    products_a, products_b = products[:split], products[split:]
    while rounds < last and not closed:
        weigh(products_a, 1.0, weights_a)
        weigh(products_b, -1.0, weights_b)
        np.dot(signed, rows, normal)  # p+ - p-
        distance = np.sqrt(inner(normal, normal) + slack * inner(signed, signed))
        upper = min(upper, 0.5 * distance)
        if distance <= VANISHED:
            closed = 1
            break
        np.dot(rows, normal, scores)
        for i in range(n):
            scores[i] = (scores[i] + slack * signed[i]) / distance
        edge, other = inner(weights_a, scores_a), inner(weights_b, scores_b)
        target = min(target, 0.5 * (edge + other) - epsilon)
        v = vote(edge, other, target)
        add(v, distance, weights_a, scores_a, 1.0, gamma_a, products_a)
        add(v, distance, weights_b, scores_b, -1.0, gamma_b, products_b)
        rounds += 1
        # |f|^2 = sum |gamma_i| y_i f(x_i); its two parts give the offset between the prototypes.
        part, rest = inner(gamma_a, products_a), -inner(gamma_b, products_b)
        size, total = np.sqrt(max(part + rest, 0.0)), sum_of(gamma_a)
        half = 0.5 * size / total  # way between its prototypes
        upper = min(upper, half)
        offset = 0.5 * (rest - part) / total
        margin = min(least(products_a) + offset, least(products_b) - offset) / size
        if margin >= lower or upper - margin <= tol * upper:  # as good, and more of a path
            lower, best_round = max(lower, margin), rounds
            for i in range(n):
                best[i] = gamma[i]
        if upper - lower <= tol * upper:
            along = inner(weights_a, products_a) - inner(weights_b, products_b)
            apart = min(1.0 - along / (size * distance), 1.0 - lower / upper)
            closed = 1 if apart <= FINER * tol and half <= NEAR * upper else 0
    return rounds, target, upper, lower, best_round, closed
