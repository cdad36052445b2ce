"""Boosting of the mean-of-class classifier: AdaBoost* with a bias, and a totally corrective form.

AdaBoost* is that of Graf et al. (2009, section 5.2).
The samples have weights ``alpha``, which sum to one in each class. A round takes the weighted
means ``p+`` and ``p-`` of the classes, adds ``v / |p+ - p-|`` times their hyperplane to the
aggregate, and multiplies the weight of a sample with ``exp(-v y_i w.x_i)``, so that samples on the
wrong side count more. So a weight is, up to a factor, ``exp(-y_i f(x_i))`` of the aggregate f
without its offset, and the products ``y_i f(x_i)`` are all that must be kept. They are sums over
the rounds, which neither overflow nor forget a sample whose weight has become zero.

Any weights bound the margin that a hyperplane can have by ``|p+ - p-| / 2``, also those of which
the aggregate is made; and the aggregate has a margin. The rounds end when the two meet.

The totally corrective form (Warmuth, Glocer and Vishwanathan, 2008) does not add hyperplanes with
weights that stay. After each round all weights are the best ones for a margin that is smoothed by
their entropy, ``alpha_i = exp(-eta y_i w.x_i)`` up to a factor with the hyperplane w of these same
weights, and eta grows from round to round. It is found by Newton's method.

Samples lie in the unit ball. Those of the positive class are the first ``split`` rows. Soft margins
(equations 25 and 26) lengthen sample i by a coordinate of its own, ``sqrt(slack)``, which is added
to the products and never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from scipy.linalg import solve
from scipy.sparse.linalg import LinearOperator

from .._arrays import Floats, Indices
from ..native import FAST, f8, i8, indices, matrix, native, types, vector, vector_out
from ..one_versus_rest import BinaryProblem
from .canonical import Canonical, CenteredFrame, Expansion, canonical
from .centered_rows import CenteredRows, RowNumbers, row_squares, solve_by_products
from .discriminants import class_means, middle_offset
from .svm_solver import reduce_features

VANISHED = 1e-12
"""Distance of the prototypes below which they are the same point."""

FINER = 0.05
"""What the direction may be wrong by, as a part of what the margin may be short of."""

NEAR = 1.01
"""How far apart the prototypes of the aggregate may be, in units of the least distance known."""

HOPELESS = 1e-3
"""Margin, as a part of the radius of the data, that is not worth looking for."""

SHARPEST = 1e16
"""Sharpness of a margin beyond which rounding decides, for samples in the unit ball."""

NEWTON_STEPS, ENOUGH, SHORTEST = 50, 1e-18, 1e-10
"""The most steps of a round, a gain that is rounding, and the shortest part of a step."""

WORK = 1e8
"""Multiplications between two looks at the keyboard."""


class BoostingProgress(NamedTuple):
    """How far the rounds have come."""

    rounds: int
    target: float  # the margin that AdaBoost* aims at
    upper: float  # no hyperplane has a margin above it
    lower: float  # the largest margin that an aggregate had
    best: int  # the round that had it, or the last whose margin is within the tolerance
    closed: int  # 1 if the gap is closed, or the prototypes coincide: no round can follow


START = BoostingProgress(0, 1.0, np.inf, -np.inf, 0, 0)


class Aggregate(NamedTuple):
    """The sum of the hyperplanes of all rounds so far."""

    gamma: Floats  # coefficients of the samples, positive for the first class
    products: Floats  # y_i f(x_i), f without its offset
    best: Floats  # the coefficients after the best round

    @classmethod
    def empty(cls, n: int) -> Aggregate:
        """Return the sum before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n))


Report = Callable[[BoostingProgress, float, bool], None]
"""Takes how far it has come, the unit of the margins, and whether that was all."""


class BoostingSettings(NamedTuple):
    """The parameters of boosting; ``C`` in the units of the frame."""

    C: float
    epsilon: float
    max_iter: int
    tol: float


class Ball(NamedTuple):
    """The samples as boosting takes them: in the unit ball, class by class."""

    rows: Any  # the samples, those of the positive class first
    order: Indices  # which samples they are
    split: int  # how many are positive
    slack: float  # square of the coordinate that each sample has for itself
    radius: float  # the unit of the ball, in the units of the frame

    @classmethod
    def of(cls, frame: CenteredFrame, signs: Floats, C: float) -> Ball:
        """Return the samples, lengthened by ``1 / sqrt(C)``, within the unit ball."""
        order = np.argsort(-signs, kind="stable")
        largest = float(row_squares(frame.rows).max())
        slack = 1.0 / (1.0 + C * largest) if largest > 0.0 else float(np.isfinite(C))
        factor = np.sqrt((1.0 - slack) / largest) if largest > 0.0 else 1.0
        return cls(
            rows=factor * frame.rows[order],
            order=order,
            split=int(np.sum(signs > 0.0)),
            slack=slack,
            radius=float(np.sqrt(largest + 1.0 / C)),
        )


class BoostingStep(NamedTuple):
    """The aggregate after some round; its margin and the bound in the units of the samples."""

    round: int
    form: Canonical
    margin: float
    bound: float


class Boosted(NamedTuple):
    """What boosting between some classes has led to."""

    name: str
    steps: list[BoostingStep]
    n_iter: int
    gap: float
    converged: bool
    hopeless: bool


class Rounds:
    """Boosting between two classes of the rows of a frame."""

    def __init__(self, frame: CenteredFrame, problem: BinaryProblem, settings: BoostingSettings):
        self.frame, self.settings = frame, settings
        self.signs, self.name = problem.signs, problem.name
        self.ball = Ball.of(frame, self.signs, settings.C)
        self.aggregate = Aggregate.empty(len(self.signs))
        self.progress = START

    def run(self, report: Report) -> Expansion:
        """Make the rounds, and return the aggregate with the largest margin."""
        steps: list[BoostingStep] = []
        while not self.is_over():
            self.advance(next_step(self.progress.rounds), report)
            if self.progress.best > 0:
                steps.append(self.step(self.progress.rounds, self.aggregate.gamma))
        best = max(self.progress.best, 1)
        gamma = self.aggregate.best
        if self.progress.best == 0:  # the means of the classes coincide
            gamma = class_means(self.frame, self.signs).gamma[self.ball.order]
        steps = [step for step in steps if step.round < best]
        steps.append(self.step(best, gamma))
        return self.hyperplane(gamma)[0]._replace(details=self.summary(steps))

    def advance(self, last: int, report: Report) -> None:
        """Make rounds up to some round, a few at a time, so that they can be interrupted."""
        _, epsilon, max_iter, tol = self.settings
        rows, _, split, slack, radius = self.ball
        last = min(last, max_iter)
        piece = max(int(WORK / (rows.size + 1000)), 1)
        numbers = RowNumbers.of(rows)
        while self.progress.rounds < last and not self.is_over():
            end = min(self.progress.rounds + piece, last)
            made = boost(
                *numbers, rows.shape[1], split, slack, epsilon, tol, end,
                *self.progress, *self.aggregate,
            )  # fmt: skip
            self.progress = BoostingProgress(*made)
            report(self.progress, radius * self.frame.scale, self.is_over())

    def is_over(self) -> bool:
        """Whether no further round is needed, or allowed, or of any use."""
        full = self.progress.rounds >= self.settings.max_iter
        return full or self.progress.closed == 1 or self.hopeless()

    def hopeless(self) -> bool:
        """Whether the hulls of the classes meet, as far as it matters."""
        upper, lower = self.progress.upper, self.progress.lower
        if upper <= 0.5 * VANISHED:
            return True
        hard = self.ball.slack == 0.0
        return hard and lower <= 0.0 and upper <= min(self.settings.tol, HOPELESS)

    def summary(self, steps: list[BoostingStep]) -> Boosted:
        """Return how it went."""
        _, _, margin, bound = steps[-1]
        hopeless, closed = self.hopeless(), self.progress.closed == 1
        upper, lower = self.progress.upper, self.progress.lower
        gap = (upper - lower) / upper if 0.0 < upper < np.inf else np.inf
        return Boosted(
            name=self.name,
            steps=steps,
            n_iter=max(self.progress.rounds, 1),
            gap=max(1.0 - margin / bound, 0.0) if bound > 0.0 else np.inf,
            converged=not hopeless and (closed or gap <= self.settings.tol),
            hopeless=hopeless,
        )

    def step(self, round: int, gamma: Floats) -> BoostingStep:
        """Return the aggregate of a round in canonical form, without its many coefficients."""
        expansion, margin = self.hyperplane(gamma)
        form = canonical(expansion, self.frame)._replace(gamma=np.empty(0))
        scale = self.frame.scale
        bound = scale * self.ball.radius * self.progress.upper
        return BoostingStep(round, form, scale * margin, bound)

    def hyperplane(self, gamma: Floats) -> tuple[Expansion, float]:
        """Return the hyperplane halfway between the prototypes, and its margin in the frame."""
        unsorted = np.empty_like(gamma)
        unsorted[self.ball.order] = gamma
        products = self.frame.rows @ (unsorted @ self.frame.rows) + unsorted / self.settings.C
        offset = middle_offset(unsorted, products)
        size = np.sqrt(max(float(unsorted @ products), 0.0))
        nearest = float(np.min(self.signs * (products + offset)))
        return Expansion(unsorted, offset), nearest / size if size > 0.0 else 0.0


class CorrectiveRounds(Rounds):
    """Boosting in which every round makes all weights the best ones, for ever sharper margins."""

    def __init__(self, frame: CenteredFrame, problem: BinaryProblem, settings: BoostingSettings):
        super().__init__(frame, problem, settings)
        n, split = len(self.signs), self.ball.split
        self.rows = reduce_features(self.ball.rows)
        self.sides = slice(0, split), slice(split, n)
        self.sorted_signs = np.where(np.arange(n) < split, 1.0, -1.0)
        self.eta, self.normal, self.extra = 0.0, np.zeros(self.rows.shape[1]), np.zeros(n)

    def advance(self, last: int, report: Report) -> None:
        """Make rounds up to some round; the first is the mean of class."""
        while self.progress.rounds < min(last, self.settings.max_iter) and not self.is_over():
            self.eta = 1.0 if self.progress.rounds == 1 else self.eta * (1 + self.settings.epsilon)
            alpha = self.best_weights() if self.progress.rounds else self.smooth_cost()[1]
            self.look_at(alpha)
            report(self.progress, self.ball.radius * self.frame.scale, self.is_over())

    def is_over(self) -> bool:
        """Whether no further round is needed, or allowed, or of any use."""
        return super().is_over() or self.eta > SHARPEST

    def look_at(self, alpha: Floats) -> None:
        """Store the hyperplane of some weights, its margin, and how near it is to the best."""
        slack, tol = self.ball.slack, self.settings.tol
        gamma = alpha * self.sorted_signs
        normal = gamma @ self.rows
        distance = float(np.sqrt(normal @ normal + slack * (gamma @ gamma)))
        rounds, target, upper, lower, best, _ = self.progress
        upper, rounds = min(upper, 0.5 * distance), rounds + 1
        self.aggregate = self.aggregate._replace(gamma=gamma)
        closed = distance <= VANISHED
        if distance > VANISHED:
            products = self.rows @ normal + slack * gamma
            offset = middle_offset(gamma, products)
            margin = float(np.min(self.sorted_signs * (products + offset))) / distance
            if margin >= lower or upper - margin <= tol * upper:
                lower, best = max(lower, margin), rounds
                self.aggregate = self.aggregate._replace(best=gamma)
            closed = closed or (rounds > 1 and upper - lower <= tol * upper)
        self.progress = BoostingProgress(rounds, target, upper, lower, best, int(closed))

    def smooth_cost(self, t: float = 0.0, way: Any = None) -> tuple[float, Floats]:
        """Return the smoothed cost at the place, or along a way from it, and the weights there."""
        normal, extra = self.normal, self.extra
        if way is not None:
            normal, extra = normal + t * way[0], extra + t * way[1]
        products = self.sorted_signs * (self.rows @ normal) + np.sqrt(self.ball.slack) * extra
        alpha, cost = np.empty(len(products)), 0.5 * float(normal @ normal + extra @ extra)
        for side in self.sides:
            least = float(products[side].min())
            weight = np.exp(-self.eta * (products[side] - least))
            alpha[side] = weight / weight.sum()
            if self.eta > 0.0:
                cost += float(np.log(weight.mean())) / self.eta - least
        return cost, alpha

    def best_weights(self) -> Floats:
        """Return the weights that agree with their own hyperplane, by Newton's method."""
        cost, alpha = self.smooth_cost()
        for _ in range(NEWTON_STEPS):
            *way, slope = self.newton_way(alpha)
            if -slope <= ENOUGH * max(1.0, abs(cost)):
                break
            t, reached = 1.0, self.smooth_cost(1.0, way)
            while reached[0] > cost + 0.1 * t * slope and t > SHORTEST:
                t *= 0.5
                reached = self.smooth_cost(t, way)
            self.normal, self.extra = self.normal + t * way[0], self.extra + t * way[1]
            cost, alpha = reached
            if t <= SHORTEST:
                break
        return alpha

    def newton_way(self, alpha: Floats) -> tuple[Floats, Floats, float]:
        """Return the way to the minimum of a quadratic function, and the slope along it.

        The coordinates that each sample has for itself are eliminated: of the curvature by the
        products, ``diag(alpha) - alpha alpha^T`` in each class, ``N`` is left.
        """
        rows, signs, slack, eta = self.rows, self.sorted_signs, self.ball.slack, self.eta
        root, damped = np.sqrt(slack), alpha / (1.0 + eta * slack * alpha)
        keep = [1.0 / (1.0 - eta * slack * (damped[p] @ alpha[p])) for p in self.sides]

        def curvature(v: Floats) -> Floats:  # N v
            out = damped * v
            for side, factor in zip(self.sides, keep, strict=True):
                out[side] -= factor * damped[side] * (damped[side] @ v[side])
            return out

        by_normal = self.normal - (alpha * signs) @ rows
        by_extra = self.extra - root * alpha
        right = eta * root * ((signs * curvature(by_extra)) @ rows) - by_normal
        if isinstance(rows, CenteredRows):
            normal = solve_by_products(self.curved_rows(damped, keep), right)
        else:
            matrix = rows.T @ ((eta * damped)[:, None] * rows)
            for side, factor in zip(self.sides, keep, strict=True):
                mean = damped[side] @ rows[side]
                matrix -= eta * factor * np.outer(mean, mean)
            matrix.flat[:: len(matrix) + 1] += 1.0
            normal = solve(matrix, right, assume_a="sym", check_finite=False)
        extra = eta * slack * curvature(by_extra) - by_extra
        extra -= eta * root * curvature(signs * (rows @ normal))
        return normal, extra, float(by_normal @ normal + by_extra @ extra)

    def curved_rows(self, damped: Floats, keep: list[Any]) -> LinearOperator:
        """Return the rows times the root of ``eta N``, for products alone.

        In a class the root of ``D - k d d^T`` is ``(1 - r s s^T) D^1/2`` with ``s = d^1/2``.
        """
        root = np.sqrt(damped)
        cut = [
            (1.0 - np.sqrt(max(1.0 - k * damped[p].sum(), 0.0))) / damped[p].sum()
            for p, k in zip(self.sides, keep, strict=True)
        ]

        def flatten(v: Floats) -> Floats:
            out = v.copy()
            for side, factor in zip(self.sides, cut, strict=True):
                out[side] -= factor * root[side] * (root[side] @ v[side])
            return np.sqrt(self.eta) * out

        return LinearOperator(
            self.rows.shape,
            matvec=lambda v: flatten(root * (self.rows @ v.ravel())),
            rmatvec=lambda v: (root * flatten(v.ravel())) @ self.rows,
            dtype=np.float64,
        )


def next_step(round: int) -> int:
    """Return the round after this one that a path shows: all first ones, then one in every 25th."""
    return round + max(round // 25, 1)


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


@numba.njit(**FAST)
def mean_difference(dense, values, starts, columns, signed, raw):
    """Write the difference of the prototypes; the centre of the samples makes none."""
    if dense.size:
        np.dot(signed, dense, raw)
    else:
        raw[:] = 0.0
        for i in range(signed.size):
            for t in range(starts[i], starts[i + 1]):
                raw[columns[t]] += signed[i] * values[t]


@numba.njit(**FAST)
def scores_along(dense, values, starts, columns, raw, scores):
    """Write the products of the samples with a vector."""
    if dense.size:
        np.dot(dense, raw, scores)
    else:
        for i in range(scores.size):
            scores[i] = 0.0
            for t in range(starts[i], starts[i + 1]):
                scores[i] += values[t] * raw[columns[t]]


BOOST = types.Tuple((i8, f8, f8, f8, i8, i8))(
    matrix, vector, indices, indices, vector, vector, i8, i8, f8, f8, f8, i8,
    i8, f8, f8, f8, i8, i8, vector_out, vector_out, vector_out,
)  # fmt: skip


@native(BOOST, makes_arrays=True)
def boost(
    dense, values, starts, columns, along, unit, width, split, slack, epsilon, tol, last,
    rounds, target, upper, lower, best_round, closed,
    gamma, products, best,
):  # fmt: skip
    """Make rounds until there are ``last``, the gap is closed or the prototypes coincide.

    A closed gap leaves the direction open by an angle of ``sqrt(2 tol)``, so the aggregate must
    also agree with the hyperplane of the last weights, which is much nearer to the best one. And
    the first hyperplane may be the best at once, long before the prototypes are.
    """
    n, d = gamma.size, width
    signed, scores, normal = np.empty(n), np.empty(n), np.empty(d)
    weights_a, weights_b = signed[:split], signed[split:]
    scores_a, scores_b = scores[:split], scores[split:]
    gamma_a, gamma_b = gamma[:split], gamma[split:]
    products_a, products_b = products[:split], products[split:]
    while rounds < last and not closed:
        weigh(products_a, 1.0, weights_a)
        weigh(products_b, -1.0, weights_b)
        mean_difference(dense, values, starts, columns, signed, normal)  # p+ - p-
        distance = np.sqrt(unit[1] * inner(normal, normal) + slack * inner(signed, signed))
        upper = min(upper, 0.5 * distance)
        if distance <= VANISHED:
            closed = 1
            break
        scores_along(dense, values, starts, columns, normal, scores)
        middle = inner(signed, along)  # the product with the centre
        for i in range(n):
            scores[i] = (unit[1] * (scores[i] - middle) + slack * signed[i]) / distance
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
            shared = inner(weights_a, products_a) - inner(weights_b, products_b)
            apart = min(1.0 - shared / (size * distance), 1.0 - lower / upper)
            closed = 1 if apart <= FINER * tol and half <= NEAR * upper else 0
    return rounds, target, upper, lower, best_round, closed
