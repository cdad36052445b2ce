"""Support vector machines by the proximal point method on their dual.

With ``f = w.z + b`` and multipliers ``0 <= alpha <= cap`` of the samples, each step minimises

    |w|^2 / 2 + sum_i envelope_i(1 - y_i f(z_i)),    alpha_i(t) = clip(alpha_i + sigma t, 0, cap_i),

where ``alpha_i(t)`` is the derivative of the envelope, and takes ``alpha(1 - y f)`` as its new
multipliers. The minimum is found by Newton's method: the function is piecewise quadratic, so that
the last step is exact. The dual is a quadratic program, for which the outer steps end after
finitely many, too. One step from zero multipliers without a cap is the 2-norm machine with
``C = sigma``. Time and memory grow linearly with the number of samples, multipliers of an earlier
problem are a warm start, and large caps do no harm.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices
from ..separability import NotSeparableError, samples_in_the_way, separates
from .centered_rows import CenteredRows, solve_by_products, weighted_rows
from .dual_descent import descend

CAPS = (1e4, 1e8, 1e12, np.inf)
"""Limits of the multipliers that are tried for a hard margin, for samples of unit size."""
UNSOLVED = 1e-6
"""Violation of the margin that is worth a warning."""
MOST_PROGRAMMED = 100_000
"""Numbers in the rows up to which a linear program finds the samples in the way."""
NEWTON_STEPS = 200
OUTER_STEPS = 60
SEARCH_STEPS = 100
POLISHES = 5
FIRST_SIGMA = 10.0
"""Weight of the envelopes in the first step, for samples of unit size; it grows tenfold a step."""
LARGEST_SIGMA = 1e6
"""In units of the largest multiplier: a larger weight would make multipliers of rounding errors."""
WARM_POWER = 2
"""Steps that are left out where an earlier problem is the start."""
LARGE_C = 1e5
"""Weight of squared slacks beyond which a single step would lose digits."""
ROUNDING = 1e-13
"""Relative error of sums that is sure to be rounding."""
GAP, WIDE_GAP = 1e-10, 1e-5
"""Part of the cost that a solution by descent may be above the least: sparse, and wide rows."""
PASSES = 1000
"""Passes through the samples after which Newton's method takes over."""
TOLERANCE = 1e-10
"""Violation of the conditions of an optimum that is let pass, in units of the margin."""


class Machine(NamedTuple):
    """A solution, or a start for one."""

    alpha: Floats  # multipliers of the samples
    normal: Floats  # w = sum_i alpha_i y_i z_i
    offset: float
    error: float = np.inf  # violation of the conditions of an optimum, in units of the margin
    n_iter: int = 0  # Newton steps


def reduce_features(rows: Any) -> Any:
    """Return rows with the same products, and no more features than there are rows.

    Rows that are not written down stay so.
    """
    n, d = rows.shape
    if d <= n or isinstance(rows, CenteredRows):
        return rows
    return np.ascontiguousarray(np.transpose(np.linalg.qr(rows.T, mode="r")))


def soft_margin(
    norm: int, rows: Floats, signs: Floats, C: Floats, start: Machine | None = None
) -> Machine:
    """Return a machine with slacks; warn if rounding has spoilt it."""
    if isinstance(rows, CenteredRows):
        none = np.zeros(len(rows))
        cap, give = (C, none) if norm == 1 else (none + np.inf, 1.0 / C)
        machine = by_descent(rows, signs, cap, give, start)
    else:
        machine = (soft_margin_1 if norm == 1 else soft_margin_2)(rows, signs, C, start)
    warn_unsolved(machine, "take a smaller C")
    return machine


def by_descent(
    rows: Any,
    signs: Floats,
    cap: Floats,
    give: Floats,
    start: Machine | None,
    tolerance: float | None = None,
) -> Machine:
    """Return the machine of rows that are not written down; by Newton's method if need be."""
    if tolerance is None:
        tolerance = GAP if issparse(rows.X) else WIDE_GAP
    start = start or _zero_machine(rows)
    found = descend(rows, signs, cap, give, start, tolerance=tolerance, passes=PASSES)
    machine = Machine(found.alpha, found.normal, found.offset, 0.0, found.n_iter)
    if found.gap <= tolerance:
        return machine
    if not issparse(rows.X):
        rows = reduce_features((rows.X - rows.center) / rows.scale)
        machine = machine._replace(normal=(machine.alpha * signs) @ rows)
    better = proximal(rows, signs, cap, give, machine)
    return better._replace(n_iter=found.n_iter + better.n_iter)


def warn_unsolved(machine: Machine, advice: str) -> None:
    """Warn if rounding has spoilt a solution."""
    if machine.error > UNSOLVED:
        warnings.warn(
            f"The margin is violated by {machine.error:.1e} of its width: it is so narrow, C is so "
            "large, or the features differ in scale so much, that rounding spoils the solution. "
            f"Scale the features, or {advice}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def hard_margin(rows: Floats, signs: Floats, name: str) -> Machine:
    """Return the machine without slacks; raise if there is none, naming the problem."""
    start, checked = None, False
    for cap in CAPS:
        start = machine = largest_margin(rows, signs, np.full(len(rows), cap), start)
        nearest = np.min(signs * (rows @ machine.normal + machine.offset))
        if nearest > 1.0 - UNSOLVED:
            return machine
        if not checked and not separates(as_given(rows), signs):
            raise NotSeparableError(wrong_samples(machine, rows, signs), name)
        checked = True
    if nearest <= 0.0:
        raise ValueError(
            f"A hyperplane separates {name}, but the margin is so narrow, or the features "
            "differ in scale so much, that rounding hides it. Scale the features, or use "
            "SoftMarginSVM."
        )
    warn_unsolved(machine, "use SoftMarginSVM")
    return machine


def largest_margin(rows: Any, signs: Floats, cap: Floats, start: Machine | None) -> Machine:
    """Return the machine with slacks that cost so much that there are none if possible."""
    if isinstance(rows, CenteredRows):
        return by_descent(rows, signs, cap, np.zeros(len(rows)), start, GAP)
    return soft_margin_1(rows, signs, cap, start)


def wrong_samples(machine: Machine, rows: Floats, signs: Floats) -> Indices:
    """Return samples without which a hyperplane separates classes that overlap.

    Of few samples those on the wrong side of the hyperplane with the least total slack. Of many
    those on the wrong side of a machine with a large cap, which is nearly that one: the linear
    program would take minutes.
    """
    if rows.size > MOST_PROGRAMMED:
        values = signs * (rows @ machine.normal + machine.offset)
        wrong = np.flatnonzero(values <= UNSOLVED)
        if len(wrong):
            return wrong
    return samples_in_the_way(as_given(rows), signs)


def as_given(rows: Any) -> Any:
    """Return rows as an array or a sparse matrix, about whatever origin."""
    return rows.X if isinstance(rows, CenteredRows) else rows


@dataclass(frozen=True)
class Envelopes:
    """The smooth problem of one step: samples with their signs, caps, weights and multipliers."""

    rows: Floats
    signs: Floats
    cap: Floats
    sigma: Floats
    alpha: Floats

    def multipliers(self, decision: Floats) -> Floats:
        """Return the multipliers before they are clipped."""
        return self.alpha + self.sigma * (1.0 - self.signs * decision)

    def minimise(self, normal: Floats, offset: float) -> tuple[Floats, float, int]:
        """Return the minimum, from a start, and the number of steps.

        A whole step that leaves every sample on its part of the envelope is exact but for rounding,
        if that of any sample is curved: otherwise the offset has no minimum there. The next step
        takes the rounding away.
        """
        exact = False
        free = self.multipliers(self.rows @ normal + offset)
        for step in range(NEWTON_STEPS):  # noqa: B007
            pull = np.clip(free, 0.0, self.cap) * self.signs
            slope = np.append(normal - pull @ self.rows, -pull.sum())
            if np.abs(slope).max() <= 2.0 * np.finfo(float).eps * np.abs(pull).sum():
                break
            curved, capped = (free > 0.0) & (free < self.cap), free >= self.cap
            way = self.newton_way(slope, curved)
            change = -self.sigma * self.signs * (self.rows @ way[:-1] + way[-1])
            whole = free + change
            same = (curved == ((whole > 0.0) & (whole < self.cap))) & (
                capped == (whole >= self.cap)
            )
            refined, exact = exact, bool(curved.any() and same.all())
            length = 1.0 if exact else self.best_length(normal, way, free, change)
            normal, offset = normal + length * way[:-1], offset + length * way[-1]
            free = self.multipliers(self.rows @ normal + offset)
            still = length * np.abs(change / self.sigma).max() <= np.finfo(float).eps
            if (exact and refined) or still:  # f moves by less than its rounding
                break
        return normal, offset, step + 1

    def newton_way(self, slope: Floats, curved: NDArray[np.bool_]) -> Floats:
        """Return the way to the minimum of the quadratic function around a point.

        The offset is eliminated first: what is left depends on the scatter of the samples around
        their mean, and is well conditioned wherever they lie.
        """
        sigma, normal = self.sigma[curved], -slope[:-1]
        if not len(sigma):  # the offset alone has no curvature: go as far as a margin is wide
            return np.append(normal, -np.sign(slope[-1]))
        inside, root = self.rows[curved], np.sqrt(sigma)
        mean = sigma @ inside / sigma.sum()
        right = normal + slope[-1] * mean
        if isinstance(inside, CenteredRows):
            normal = solve_by_products(weighted_rows(inside - mean, root), right)
        else:
            normal = solve_regularized(root[:, None] * (inside - mean), right)
        return np.append(normal, -slope[-1] / sigma.sum() - mean @ normal)

    def best_length(self, normal: Floats, way: Floats, free: Floats, change: Floats) -> float:
        """Return where the derivative along a way, piecewise linear and increasing, is zero."""
        first, square = normal @ way[:-1], way[:-1] @ way[:-1]
        by_sigma = change / self.sigma

        def derivative(t: float) -> tuple[float, float]:
            moved = free + t * change
            inside = (moved > 0.0) & (moved < self.cap)
            value = first + t * square + np.clip(moved, 0.0, self.cap) @ by_sigma
            return float(value), float(square + change[inside] @ by_sigma[inside])

        low, high, t = 0.0, np.inf, 1.0
        for _ in range(SEARCH_STEPS):
            value, curvature = derivative(t)
            low, high = (t, high) if value < 0.0 else (low, t)
            root = t - value / curvature if curvature > 0.0 else np.inf
            if abs(root - t) <= ROUNDING * t:
                return root
            if not low < root < high:
                root = 2.0 * t if high == np.inf else 0.5 * (low + high)
            t = root
        return t


def soft_margin_2(rows: Floats, signs: Floats, C: Floats, start: Machine | None = None) -> Machine:
    """Return the machine with squared slacks: ``|w|^2 / 2 + sum_i C_i xi_i^2 / 2``."""
    cap, give = np.full(len(rows), np.inf), 1.0 / C
    if C.max() > LARGE_C:
        return proximal(rows, signs, cap, give, start)
    start = start or _zero_machine(rows)
    step = Envelopes(rows, signs, cap, C, np.zeros(len(rows)))
    normal, offset, n_iter = step.minimise(start.normal, start.offset)
    alpha = np.maximum(step.multipliers(rows @ normal + offset), 0.0)
    return measure_error(Machine(alpha, normal, offset, n_iter=n_iter), rows, signs, cap, give)


def soft_margin_1(rows: Floats, signs: Floats, C: Floats, start: Machine | None = None) -> Machine:
    """Return the machine with slacks: ``|w|^2 / 2 + sum_i C_i xi_i``; multipliers up to C."""
    return proximal(rows, signs, C, np.zeros(len(rows)), start)


def proximal(
    rows: Floats, signs: Floats, cap: Floats, give: Floats, start: Machine | None
) -> Machine:
    """Return a machine of multipliers up to a cap; the dual costs ``give * alpha^2 / 2`` more."""
    normal, offset = (start or _zero_machine(rows))[1:3]
    alpha = np.zeros(len(rows)) if start is None else np.minimum(start.alpha, cap)
    unit, error, n_iter = min(1.0, float(cap.max())), np.inf, 0
    for power in range(0 if start is None else WARM_POWER, OUTER_STEPS):
        largest = np.inf if give.any() else LARGEST_SIGMA * max(1.0, float(alpha.max()))
        sigma = unit * min(FIRST_SIGMA * 10.0**power, largest)
        kept = 1.0 / (1.0 + sigma * give)
        step = Envelopes(rows, signs, cap, sigma * kept, alpha * kept)
        normal, offset, steps = step.minimise(normal, offset)
        moved = np.clip(step.multipliers(rows @ normal + offset), 0.0, cap)
        error, alpha = float(np.abs(moved - alpha).max()) / sigma, moved
        n_iter += steps
        length = float(np.linalg.norm(normal))
        close = max(TOLERANCE * min(1.0, length), 4.0 * np.finfo(float).eps)
        if error <= close or ROUNDING * alpha.sum() > max(1.0, length):
            break  # solved, or larger multipliers would make a normal of rounding alone
    return polish(Machine(alpha, normal, offset, n_iter=n_iter), rows, signs, cap, give)


def measure_error(
    machine: Machine, rows: Floats, signs: Floats, cap: Floats, give: Floats
) -> Machine:
    """Return the machine with the normal of its multipliers, and their error."""
    alpha, unit = machine.alpha, min(1.0, float(cap.max()))
    normal = (alpha * signs) @ rows
    slack = 1.0 - signs * (rows @ normal + machine.offset)
    wanted = np.clip(alpha + unit * (slack - give * alpha), 0.0, cap)
    unbalanced = abs(alpha @ signs) / max(float(alpha.sum()), np.finfo(float).tiny)
    error = max(float(np.abs(wanted - alpha).max()) / unit, float(unbalanced))
    return machine._replace(normal=normal, error=error)


def solve_regularized(scatter: Floats, right: Floats) -> Floats:
    """Return x of ``(I + scatter^T scatter) x = right``, by the smaller of two matrices."""
    m, d = scatter.shape
    matrix = scatter @ scatter.T if m < d else scatter.T @ scatter
    rounding = np.finfo(float).eps * matrix.trace()  # keeps the matrix positive definite
    matrix.flat[:: len(matrix) + 1] += 1.0 + rounding
    factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
    if m >= d:
        return cho_solve(factor, right, check_finite=False)
    return right - scatter.T @ cho_solve(factor, scatter @ right, check_finite=False)


def polish(machine: Machine, rows: Floats, signs: Floats, cap: Floats, give: Floats) -> Machine:
    """Return a machine whose free samples lie on the margin, by the least change of multipliers.

    Multipliers that would leave their range stay at its end, and the others are changed again.
    """
    best = measure_error(machine, rows, signs, cap, give)
    for _ in range(0 if isinstance(rows, CenteredRows) else POLISHES):
        free = (machine.alpha > 0.0) & (machine.alpha < cap)
        if not free.any():
            break
        alpha, offset = on_the_margin(machine, free, rows, signs, give)
        machine = machine._replace(alpha=np.clip(alpha, 0.0, cap), offset=offset)
        made = measure_error(machine, rows, signs, cap, give)
        best = made if made.error < best.error else best
        if (machine.alpha == alpha).all():
            break
    if ((best.alpha > 0.0) & (best.alpha < cap)).any():
        return best
    middle = best._replace(offset=middle_offset(best, rows, signs))
    return measure_error(middle, rows, signs, cap, give)


def on_the_margin(
    machine: Machine, free: NDArray[np.bool_], rows: Floats, signs: Floats, give: Floats
) -> tuple[Floats, float]:
    """Return multipliers and an offset with which the free samples lie on the margin."""
    signed, own = signs[free, None] * rows[free], signs[free]
    pull = machine.alpha * signs
    left = 1.0 - (give * machine.alpha)[free] - signed @ (pull @ rows) - own * machine.offset
    basis = np.linalg.qr(np.column_stack([signed, own]))[0]  # the least change lies in its span
    signed, own = basis.T @ signed, basis.T @ own
    matrix = np.block([[signed @ signed.T, own[:, None]], [own, 0.0]])
    change = np.linalg.lstsq(matrix, np.append(basis.T @ left, -pull.sum()), rcond=None)[0]
    alpha = machine.alpha.copy()
    alpha[free] += basis @ change[:-1]
    return alpha, machine.offset + float(change[-1])


def middle_offset(machine: Machine, rows: Floats, signs: Floats) -> float:
    """Return the middle of all offsets that are optimal, where no sample is free."""
    level = signs - rows @ machine.normal
    above = (signs > 0.0) == (machine.alpha > 0.0)  # the offset is at most the level
    high, low = level[above].min(initial=np.inf), level[~above].max(initial=-np.inf)
    if np.isfinite(low) and np.isfinite(high):
        return float(0.5 * (low + high))
    return float(low if np.isfinite(low) else high)


def _zero_machine(rows: Floats) -> Machine:
    """Return the start without any knowledge."""
    return Machine(np.zeros(len(rows)), np.zeros(rows.shape[1]), 0.0)
