"""The support vector machine of several classes at once (Crammer and Singer, 2001).

    min  sum_c |w_c|^2 / 2 + sum_i C_i xi_i,    f_y(z_i) - f_c(z_i) >= 1 - xi_i  for c other than y

with ``f_c = w_c.z + b_c`` and free offsets. Its dual has multipliers ``alpha_ic``, which sum to
zero over the classes, are at most ``C_i`` for the own class and at most zero for all others, and
sum to zero over the samples: ``w_c = sum_i alpha_ic z_i``.

The multipliers of one sample after the other are set to the best ones (Keerthi et al., 2008), and
an augmented Lagrangian of the offsets takes care of the sums over the samples; time and memory of
that grow linearly with the numbers that are not zero. Where it does not come to an end, and
features and classes are few, the proximal point method on the dual does, as for the machine of two
classes: each step minimises a smooth function by Newton's method.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices, as_floats
from ..native import (
    FAST,
    f8,
    i8,
    indices,
    indices_out,
    matrix_out,
    native,
    types,
    vector,
    vector_out,
)

TOLERANCE = 1e-9
"""Violation of the conditions of an optimum that is let pass, in units of the margin."""

GAP = 1e-6
"""Part of the cost that a solution may be above the least one."""

MOST_NUMBERS = 300
"""Normals and offsets of all classes up to which there is Newton's method."""

NEWTON_STEPS, OUTER_STEPS, SEARCH_STEPS = 100, 40, 30

ROUNDING = 1e-13
"""Relative error of sums that is sure to be rounding."""

SHORT = 0.1
"""Part of the first derivative along a way that may be left at its end."""

FARTHEST = 1e6
"""Length of a way in units of Newton's."""

SWEEPS = 3000
"""The most times that all samples are passed through."""

UNSOLVED = 1e-4
"""A gap, or a violation, that is worth a warning."""

STEADY = 10
"""Sweeps between two changes of the multipliers of the offsets."""


class JointMachine(NamedTuple):
    """A solution, or a start for one."""

    alpha: Floats  # (n, K): multipliers of the samples
    offsets: Floats  # (K,)
    n_iter: int = 0  # passes through the samples, and Newton steps


def crammer_singer(
    rows: Any, codes: Indices, C: Floats, n_classes: int, start: JointMachine | None = None
) -> JointMachine:
    """Return the machine of several classes; warn if it is not solved."""
    alpha = np.zeros((len(codes), n_classes)) if start is None else start.alpha.copy()
    offsets = np.zeros(n_classes) if start is None else start.offsets.copy()
    keep_in_range(alpha, codes, C)
    machine, error = by_samples(rows, codes, C, JointMachine(alpha, offsets))
    if error > UNSOLVED and not issparse(rows) and n_classes * (rows.shape[1] + 1) <= MOST_NUMBERS:
        machine, error = by_newton(rows, codes, C, machine)
    if error > UNSOLVED:
        warnings.warn(
            "The machine of several classes was not solved: it violates the conditions of an "
            f"optimum by {error:.1e} after {machine.n_iter} steps. Scale the features, or take a "
            "smaller C.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return machine


def by_newton(
    rows: Floats, codes: Indices, C: Floats, start: JointMachine
) -> tuple[JointMachine, float]:
    """Return the machine, and its error in units of the margin, by the proximal point method."""
    alpha, n_iter, error = start.alpha, start.n_iter, np.inf
    plane = np.column_stack([alpha.T @ rows, start.offsets])
    unit = min(1.0, float(C.max()))
    for power in range(OUTER_STEPS):
        sigma = unit * 10.0 ** min(power + 1, 7)
        step = JointEnvelopes(np.column_stack([rows, np.ones(len(rows))]), codes, C, sigma, alpha)
        plane, count = step.minimise(plane)
        moved = step.multipliers(plane)[0]
        error, alpha = float(np.abs(moved - alpha).max()) / sigma, moved
        n_iter += count
        if error <= TOLERANCE:
            break
    offsets = plane[:, -1] - plane[:, -1].mean()
    return JointMachine(alpha, offsets, n_iter), error


class JointEnvelopes(NamedTuple):
    """The smooth problem of one step: samples with a one at the end, and all else they have."""

    rows: Floats
    codes: Indices
    C: Floats
    sigma: float
    alpha: Floats

    def multipliers(self, plane: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the best multipliers for some normals and offsets, and which of them are free."""
        places = np.arange(len(self.codes))
        above = self.alpha - self.sigma * (self.rows @ plane.T + 1.0)
        above[places, self.codes] += self.sigma - self.C  # now by how much each is above its cap
        ordered = np.sort(above, axis=1)
        count = np.arange(1, ordered.shape[1] + 1)
        levels = (self.C[:, None] + ordered.cumsum(axis=1)) / count
        last = (levels > ordered).sum(axis=1) - 1
        level = levels[places, last][:, None]
        found = np.minimum(above - level, 0.0)
        found[places, self.codes] += self.C
        return found, above < level

    def slope(self, plane: Floats, alpha: Floats) -> Floats:
        """Return the derivatives by normals and offsets."""
        slope = -(alpha.T @ self.rows)
        slope[:, :-1] += plane[:, :-1]
        return slope

    def minimise(self, plane: Floats) -> tuple[Floats, int]:
        """Return the minimum, from a start, and the number of Newton steps."""
        alpha, free = self.multipliers(plane)
        exact = 0
        for step in range(NEWTON_STEPS):  # noqa: B007
            slope = self.slope(plane, alpha)
            if np.abs(slope).max() <= ROUNDING * np.abs(alpha).sum():
                break
            way = self.newton_way(slope, free)
            length = self.best_length(plane, way)
            plane, before = plane + length * way, free
            alpha, free = self.multipliers(plane)
            # A whole step on the same part of the function is exact, and the next takes rounding.
            exact = exact + 1 if length == 1.0 and (before == free).all() else 0
            still = length * np.abs(self.rows @ way.T).max() <= ROUNDING * np.abs(plane).max()
            if exact > 1 or still:
                break
        return plane, step + 1

    def newton_way(self, slope: Floats, free: NDArray[np.bool_]) -> Floats:
        """Return the way to the minimum of the quadratic function around a point."""
        K, width = slope.shape
        number = free.sum(axis=1)
        matrix = np.zeros((K, width, K, width))
        for c in range(K):
            matrix[c, :-1, c, :-1] += np.eye(width - 1)
            for k in range(c, K):
                both = np.flatnonzero(free[:, c] & free[:, k] & (number > 1))
                weight = self.sigma * ((c == k) - 1.0 / number[both])
                part = self.rows[both].T @ (weight[:, None] * self.rows[both])
                matrix[c, :, k] += part
                if c != k:
                    matrix[k, :, c] += part.T
        size = 1.0 + matrix.max()
        matrix[:, -1, :, -1] += size / K  # offsets that all rise together change nothing
        square = matrix.reshape(K * width, K * width)
        square.flat[:: len(square) + 1] += ROUNDING * size  # some have no free sample
        factor = cho_factor(square, overwrite_a=True, check_finite=False)
        return -cho_solve(factor, slope.ravel(), check_finite=False).reshape(K, width)

    def best_length(self, plane: Floats, way: Floats) -> float:
        """Return about where the derivative along a way, which increases, is zero."""

        def derivative(t: float) -> float:
            moved = plane + t * way
            return float(np.sum(way * self.slope(moved, self.multipliers(moved)[0])))

        first = derivative(0.0)
        low, high, below, above = 0.0, 1.0, first, derivative(1.0)
        while above < SHORT * first and high < FARTHEST:
            low, below, high = high, above, 2.0 * high
            above = derivative(high)
        if abs(above) <= -SHORT * first:
            return high
        for _ in range(SEARCH_STEPS):
            t = low - below * (high - low) / (above - below)  # a secant, kept off the ends
            t = min(max(t, low + 0.1 * (high - low)), high - 0.1 * (high - low))
            value = derivative(t)
            if abs(value) <= -SHORT * first:
                break
            if value < 0.0:
                low, below = t, value
            else:
                high, above = t, value
        return t


def by_samples(
    rows: Any, codes: Indices, C: Floats, start: JointMachine
) -> tuple[JointMachine, float]:
    """Return the machine, and its error in units of the margin or the cost, sample by sample."""
    rows, alpha, offsets = csr_array(rows), start.alpha, start.offsets
    order = np.arange(rows.shape[0])
    data = as_floats(rows.data), rows.indptr.astype(np.intp), rows.indices.astype(np.intp)
    square = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    normals = as_floats((alpha.T @ rows).T)  # (d, K): the classes of a feature lie together
    error, gap, n_iter, seed, due = np.inf, np.inf, 0, 1, 0.0
    while n_iter < SWEEPS and error > TOLERANCE and gap > GAP:
        close = max(TOLERANCE, 0.1 * min(error, 1.0))
        count, seed, violation = sweep(
            *data, codes, C, square, STEADY, close, seed, alpha, normals, offsets, order
        )
        n_iter += count
        excess = alpha.sum(axis=0)
        offsets += excess
        error = max(violation, float(np.ptp(excess)))
        if n_iter >= min(due, SWEEPS) or error <= TOLERANCE:
            gap, due = duality_gap(rows, codes, C, alpha, normals, offsets), 1.1 * n_iter
    return JointMachine(alpha, offsets, n_iter), min(error, gap)


def duality_gap(
    rows: Any, codes: Indices, C: Floats, alpha: Floats, normals: Floats, offsets: Floats
) -> float:
    """Return the part of the cost by which a solution may be above the least."""
    places = np.arange(len(codes))
    scores = rows @ normals + offsets
    lead = scores - scores[places, codes][:, None] + 1.0
    lead[places, codes] = 0.0
    half = 0.5 * float(np.sum(normals**2))
    primal = half + float(C @ lead.max(axis=1))
    dual = float(alpha[places, codes].sum()) - half  # minus the sum over all other classes
    # Multipliers that do not sum to zero over the samples are charged by the offsets they feel.
    unbalanced = abs(float(alpha.sum(axis=0) @ (offsets - offsets.mean())))
    return (primal - dual + unbalanced) / primal if primal > 0.0 else 0.0


def keep_in_range(alpha: Floats, codes: Indices, C: Floats) -> None:
    """Shrink the multipliers of samples whose C has become smaller."""
    own = alpha[np.arange(len(codes)), codes]
    alpha *= np.divide(C, own, out=np.ones_like(C), where=own > C)[:, None]


@numba.njit(**FAST)
def best_multipliers(gradient, size, y, C, alpha, ordered):
    """Write the change of the multipliers of a sample to the best ones into ``gradient``."""
    K = gradient.size
    for c in range(K):
        gradient[c] -= size * alpha[c]
        ordered[c] = gradient[c]
    ordered[y] += size * C
    for c in range(1, K):  # from the largest down
        value, place = ordered[c], c
        while place > 0 and ordered[place - 1] < value:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = value
    level, r = ordered[0] - size * C, 1
    while r < K and level < r * ordered[r]:
        level += ordered[r]
        r += 1
    level /= r
    for c in range(K):
        cap = C if c == y else 0.0
        gradient[c] = min(cap, (level - gradient[c]) / size) - alpha[c]


SWEEP = types.Tuple((i8, i8, f8))(
    vector, indices, indices, indices, vector, vector, i8, f8, i8,
    matrix_out, matrix_out, vector_out, indices_out,
)  # fmt: skip


@native(SWEEP, makes_arrays=True)
def sweep(
    values, starts, columns, codes, C, square, most, close, seed, alpha, normals, offsets, order
):
    """Pass through the samples until they violate the conditions of an optimum by little.

    Samples that are far from the margin are left out until the others are done.
    """
    n, K = alpha.shape
    gradient, ordered = np.empty(K), np.empty(K)
    active, last, count, worst = n, np.inf, 0, np.inf
    while count < most:
        worst, k = 0.0, 0
        while k < active:
            seed = (seed * 1103515245 + 12345) % 2147483648  # the same order in every process
            other = k + (seed >> 8) % (active - k)
            i = order[other]
            order[other] = order[k]
            order[k] = i
            y = codes[i]
            for c in range(K):
                gradient[c] = offsets[c] + (0.0 if c == y else 1.0)
            for t in range(starts[i], starts[i + 1]):
                value, j = values[t], columns[t]
                for c in range(K):
                    gradient[c] += value * normals[j, c]
            high, low, rival, used = -np.inf, np.inf, -np.inf, False
            for c in range(K):
                high = max(high, gradient[c])
                if c != y:
                    rival = max(rival, gradient[c])
                if alpha[i, c] < (C[i] if c == y else 0.0):
                    low = min(low, gradient[c])
                used = used or alpha[i, c] != 0.0
            worst = max(worst, high - low)
            if not used and gradient[y] - rival > last:
                active -= 1
                order[k] = order[active]
                order[active] = i
                continue
            k += 1
            if high - low > 0.0:
                best_multipliers(gradient, square[i] + 1.0, y, C[i], alpha[i], ordered)
                for c in range(K):
                    alpha[i, c] += gradient[c]
                    offsets[c] += gradient[c]
                for t in range(starts[i], starts[i + 1]):
                    value, j = values[t], columns[t]
                    for c in range(K):
                        normals[j, c] += value * gradient[c]
        count += 1
        last = worst if worst > 0.0 else np.inf
        if worst <= close:
            if active == n:
                break
            active, last = n, np.inf
    return count, seed, worst
