"""The support vector machine of several classes at once (Crammer and Singer, 2001).

    min  sum_c |w_c|^2 / 2 + sum_i C_i xi_i,    f_y(z_i) - f_c(z_i) >= 1 - xi_i  for c other than y

with ``f_c = w_c.z + b_c`` and free offsets. Its dual has multipliers ``alpha_ic``, which sum to
zero over the classes, are at most ``C_i`` for the own class and at most zero for all others, and
sum to zero over the samples: ``w_c = sum_i alpha_ic z_i``.

The multipliers of one sample after the other are set to the best ones (Keerthi et al., 2008), those
at a bound being left out for a while. The offsets are the weights of a feature that is one
everywhere, pulled to where they were last: so they are free in the end. Time and memory of that
grow linearly with the numbers that are not zero. Where it does not come to an end, and features and
classes are few, the proximal point method on the dual does, as for the machine of two classes: each
step minimises a smooth function by Newton's method.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices, as_floats
from ..native import (
    FAST,
    f8,
    i8,
    indices,
    indices_matrix_out,
    indices_out,
    matrix,
    matrix_out,
    native,
    types,
    vector,
    vector_out,
)
from ..separability import NotSeparableError, samples_in_the_way_jointly
from .centered_rows import CenteredRows, RowNumbers, row_squares
from .dual_descent import PULL

TOLERANCE = 1e-9
"""Violation of the conditions of an optimum that is let pass, in units of the margin."""

GAP, ENOUGH = 1e-6, 5e-4
"""Part of the cost that a solution may be above the least, and where that takes long."""

PATIENCE, LITTLE_WORK = 1000, 1e7
"""Passes through the samples and multiplications up to which it does not take long."""

UNSOLVED = 1e-3
"""A gap, or a violation, that is worth a warning."""

HARD_GAP, HARD_CAPS, TOUCHING = 1e-8, (1e4, 1e8), 1e-6
"""The same for hard margins; multipliers that are tried; a violation that is let pass."""

MOST_PROGRAMMED = 1_000_000
"""Numbers up to which a linear program finds the samples in the way."""

SMALL = 50_000
"""Samples times normals and offsets up to which Newton's method makes a solution exact."""

MOST_NUMBERS = 300
"""Normals and offsets of all classes up to which there is Newton's method."""

NEWTON_STEPS, OUTER_STEPS, SEARCH_STEPS = 100, 40, 30

ROUNDING = 1e-13
"""Relative error of sums that is sure to be rounding."""

SHORT = 0.1
"""Part of the first derivative along a way that may be left at its end."""

FARTHEST = 1e6
"""Length of a way in units of Newton's."""

SWEEPS, FIRST_SWEEPS, COARSE_SWEEPS = 30_000, 2_000, 500
"""The most times that the samples are passed through, most of them without those at bounds.

The other numbers are those before Newton's method, where there is one: it takes less time than many
passes if the multipliers may be large. The last one is for a solution that may be coarse.
"""

WORK = 1e8
"""Multiplications between two looks at the keyboard."""

FIRST_CLOSE, CLOSER, CLOSEST = 0.1, 0.75, 1e-10
"""Violation up to which samples are passed through at first, and how it becomes smaller."""

NO_VIOLATION = 1e-12
"""A violation that is rounding."""


class JointMachine(NamedTuple):
    """A solution, or a start for one."""

    alpha: Floats  # (n, K): multipliers of the samples
    offsets: Floats  # (K,)
    n_iter: int = 0  # passes through the samples, and Newton steps


def crammer_singer(
    rows: Any,
    codes: Indices,
    C: Floats,
    n_classes: int,
    start: JointMachine | None = None,
    tolerance: float = GAP,
) -> JointMachine:
    """Return the machine of several classes; warn if it is not solved."""
    start = start or zero_start(codes, n_classes)
    machine, error = solve_jointly(rows, codes, C, start, tolerance)
    if error > max(tolerance, UNSOLVED):
        warnings.warn(
            "The machine of several classes was not solved: it violates the conditions of an "
            f"optimum by {error:.1e} after {machine.n_iter} steps. Scale the features, or take a "
            "smaller C.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return machine


def hard_crammer_singer(rows: Any, codes: Indices, n_classes: int) -> JointMachine:
    """Return the machine of several classes without slacks; raise if there is none."""
    start, places = zero_start(codes, n_classes), np.arange(len(codes))
    for cap in HARD_CAPS:
        caps = np.full(len(codes), cap)
        start, _ = solve_jointly(rows, codes, caps, start, HARD_GAP, np.inf)
        scores = rows @ (start.alpha.T @ rows).T + start.offsets
        lead = scores[places, codes][:, None] - scores
        lead[places, codes] = np.inf
        margins = lead.min(axis=1)
        if margins.min() > 1.0 - TOUCHING:
            return start
        check_jointly_separable(rows, codes, margins)
    if margins.min() <= 0.0:
        raise ValueError(
            "Hyperplanes separate all classes at once, but the margin is so narrow, or the "
            "features differ in scale so much, that rounding hides it. Scale the features, or use "
            "SoftMarginSVM."
        )
    warnings.warn(
        f"The margin is violated by {1.0 - margins.min():.1e} of its width: rounding spoils the "
        "solution. Scale the features, or use SoftMarginSVM.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return start


def check_jointly_separable(rows: Any, codes: Indices, margins: Floats) -> None:
    """Raise if no scores put the own class of every sample first.

    Of many samples those with a negative margin are in the way: the linear program would take
    minutes.
    """
    numbers = rows.size * len(np.unique(codes))
    if numbers <= MOST_PROGRAMMED:
        given = rows.X if isinstance(rows, CenteredRows) else rows
        wrong = samples_in_the_way_jointly(given, codes)
    else:
        wrong = np.flatnonzero(margins <= TOUCHING)
    if len(wrong):
        raise NotSeparableError(wrong, "all classes at once")


def zero_start(codes: Indices, n_classes: int) -> JointMachine:
    """Return the start without any knowledge."""
    return JointMachine(np.zeros((len(codes), n_classes)), np.zeros(n_classes))


def solve_jointly(
    rows: Any,
    codes: Indices,
    C: Floats,
    start: JointMachine,
    tolerance: float = GAP,
    patience: float = PATIENCE,
) -> tuple[JointMachine, float]:
    """Return the machine, and its error as a part of the cost or in units of the margin."""
    start = start._replace(alpha=keep_in_range(start.alpha, codes, C))
    numbers = start.alpha.shape[1] * (rows.shape[1] + 1)
    small = len(codes) * numbers <= SMALL
    newton = numbers <= MOST_NUMBERS and (small or not isinstance(rows, CenteredRows))
    coarse = tolerance > ENOUGH
    goal, first = (tolerance, patience), COARSE_SWEEPS if coarse else FIRST_SWEEPS
    machine, error = by_samples(rows, codes, C, start, *goal, first if newton else SWEEPS)
    enough = max(ENOUGH, tolerance) if np.isfinite(patience) else tolerance
    if not newton or (error <= enough and (coarse or not small)):
        return machine, error
    exact, violation = by_newton(as_dense(rows), codes, C, machine, tolerance if coarse else 0.0)
    if violation <= TOLERANCE:
        return exact, violation
    if error > enough:
        n_iter = exact.n_iter
        machine, error = by_samples(rows, codes, C, machine, *goal, SWEEPS)
        machine = machine._replace(n_iter=n_iter + machine.n_iter)
    return (machine, error) if error <= UNSOLVED else (exact, violation)


def as_dense(rows: Any) -> Floats:
    """Return rows as an array."""
    if not isinstance(rows, CenteredRows):
        return rows
    X = rows.X.toarray() if issparse(rows.X) else rows.X
    return (X - rows.center) / rows.scale


def by_newton(
    rows: Floats, codes: Indices, C: Floats, start: JointMachine, gap: float = 0.0
) -> tuple[JointMachine, float]:
    """Return the machine, and its error in units of the margin, by the proximal point method.

    One whose cost is at most this part above the least has no error.
    """
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
        if gap > 0.0:
            near, above = measure_gap(rows, codes, C, alpha, plane[:, -1])
            if above <= gap:
                return near._replace(n_iter=n_iter), 0.0
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
    rows: Any,
    codes: Indices,
    C: Floats,
    start: JointMachine,
    tolerance: float,
    patience: float,
    most_sweeps: int,
) -> tuple[JointMachine, float]:
    """Return the machine, and its error as a part of the cost, sample by sample."""
    if not isinstance(rows, CenteredRows):
        rows = CenteredRows(rows, np.zeros(rows.shape[1]))
    alpha, (n, K) = start.alpha.copy(), start.alpha.shape
    numbers, square = RowNumbers.of(rows), row_squares(rows)
    normals = as_floats((alpha.T @ rows.X).T)  # (d, K): the classes of a feature lie together
    level = np.stack([start.offsets, alpha.sum(axis=0), rows.center @ normals])
    order, classes, live = np.arange(n), np.tile(np.arange(K), (n, 1)), np.full(n, K)
    best, gap, close, n_iter, seed = start, np.inf, FIRST_CLOSE, 0, 1
    most = int(WORK / (K * (rows.size / n + 10.0)))
    visits = 0.0
    while n_iter < most_sweeps:
        live[:], solved = K, False
        state = np.array([n, 1.0 if n_iter == 0 else close, 1.0, visits])
        while not solved and n_iter < most_sweeps:
            count, seed, solved = sweep(
                *numbers, codes, C, square, PULL, most, close, seed,
                alpha, normals, level, order, classes, live, state,
            )  # fmt: skip
            n_iter += count
        level[0] += PULL * level[1]
        made, error = measure_gap(rows, codes, C, alpha, level[0])
        best, gap, visits = (*((made, error) if error < gap else (best, gap)), state[3])
        if gap <= tolerance or (
            gap <= ENOUGH and n_iter > patience and visits * WORK > LITTLE_WORK * most
        ):
            break
        close = max(CLOSER * close, CLOSEST)
    return best._replace(n_iter=n_iter), gap


def measure_gap(
    rows: Any, codes: Indices, C: Floats, alpha: Floats, offsets: Floats
) -> tuple[JointMachine, float]:
    """Return multipliers that sum to zero, and the part of the cost they may be above the least."""
    places = np.arange(len(codes))
    alpha, balanced = balance_classes(alpha, codes)
    if not balanced:
        return JointMachine(alpha, offsets), np.inf
    normals = alpha.T @ rows
    scores = rows @ normals.T + offsets
    slack = scores - scores[places, codes][:, None] + 1.0
    slack[places, codes] = 0.0
    slack = slack.max(axis=1)
    square, total = float(np.sum(normals**2)), float(alpha[places, codes].sum())
    cost, bound = 0.5 * square + float(C @ slack), total - 0.5 * square
    factor = 1.0
    if 0.0 < slack.max() < 0.5:  # a larger machine may have no slacks at all
        factor = 1.0 / (1.0 - float(slack.max()))
        larger = 0.5 * factor**2 * square
        factor, cost = (factor, larger) if larger < cost else (1.0, cost)
    alpha = keep_in_range(factor * alpha, codes, C)
    machine = JointMachine(alpha, factor * (offsets - offsets.mean()))
    return machine, (cost - bound) / cost if cost > 0.0 else 0.0


def balance_classes(alpha: Floats, codes: Indices) -> tuple[Floats, bool]:
    """Return nearly the same multipliers, whose sums over the samples are zero, and if so.

    What the samples of a class hold against another is changed by a factor, one less the difference
    of two numbers of the classes; and all is made smaller by the largest.
    """
    K = alpha.shape[1]
    against = -np.stack([alpha[codes == c].sum(axis=0) for c in range(K)])
    np.fill_diagonal(against, 0.0)
    both = against + against.T
    heights = np.linalg.lstsq(np.diag(both.sum(axis=1)) - both, alpha.sum(axis=0), rcond=None)[0]
    factors = 1.0 - heights[:, None] + heights
    if factors[against > 0.0].min(initial=1.0) < 0.0:
        return alpha, False
    factors = np.maximum(factors, 0.0) / max(1.0, factors[against > 0.0].max(initial=1.0))
    alpha, places = alpha * factors[codes], np.arange(len(codes))
    alpha[places, codes] = 0.0
    alpha[places, codes] = -alpha.sum(axis=1)
    return alpha, True


def keep_in_range(alpha: Floats, codes: Indices, C: Floats) -> Floats:
    """Return multipliers, those of samples whose C is smaller shrunk."""
    own = alpha[np.arange(len(codes)), codes]
    return alpha * np.divide(C, own, out=np.ones_like(C), where=own > C)[:, None]


@numba.njit(inline="always", **FAST)
def add_products(dense, values, starts, columns, i, normals, classes, m, out):
    """Add the products of a sample with the normals of m classes."""
    if dense.size:
        for j in range(dense.shape[1]):
            value = dense[i, j]
            for t in range(m):
                out[t] += value * normals[j, classes[t]]
    else:
        for place in range(starts[i], starts[i + 1]):
            value, j = values[place], columns[place]
            for t in range(m):
                out[t] += value * normals[j, classes[t]]


@numba.njit(inline="always", **FAST)
def add_sample(dense, values, starts, columns, i, changes, classes, m, normals):
    """Add multiples of a sample to the normals of m classes."""
    if dense.size:
        for j in range(dense.shape[1]):
            value = dense[i, j]
            for t in range(m):
                normals[j, classes[t]] += value * changes[t]
    else:
        for place in range(starts[i], starts[i + 1]):
            value, j = values[place], columns[place]
            for t in range(m):
                normals[j, classes[t]] += value * changes[t]


@numba.njit(inline="always", **FAST)
def shrink_classes(gradient, classes, m, low, y, C, alpha):
    """Move classes that stay at their bound behind the others; return how many others there are."""
    t = 0
    while t < m:
        c = classes[t]
        if gradient[t] < low and alpha[c] == (C if c == y else 0.0):
            m -= 1
            classes[t], classes[m] = classes[m], c
            gradient[t] = gradient[m]
        else:
            t += 1
    return m


@numba.njit(inline="always", **FAST)
def best_multipliers(gradient, classes, m, size, y, C, alpha, ordered):
    """Write the change of the multipliers of a sample to the best ones into ``gradient``."""
    for t in range(m):
        c = classes[t]
        gradient[t] -= size * alpha[c]
        value, place = gradient[t] + (size * C if c == y else 0.0), t
        while place > 0 and ordered[place - 1] < value:  # from the largest down
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = value
    level, r = ordered[0] - size * C, 1
    while r < m and level < r * ordered[r]:
        level += ordered[r]
        r += 1
    level /= r
    for t in range(m):
        c = classes[t]
        cap = C if c == y else 0.0
        new = min(cap, (level - gradient[t]) / size)
        gradient[t] = new - alpha[c]
        alpha[c] = new


SWEEP = types.Tuple((i8, i8, types.boolean))(
    matrix, vector, indices, indices, vector, vector, indices, vector, vector, f8, i8, f8, i8,
    matrix_out, matrix_out, matrix_out, indices_out, indices_matrix_out, indices_out, vector_out,
)  # fmt: skip


@native(SWEEP, makes_arrays=True)
def sweep(
    dense, values, starts, columns, along, unit, codes, C, square, pull, most, close, seed,
    alpha, normals, level, order, classes, live, state,
):  # fmt: skip
    """Pass through the samples until they violate the conditions of an optimum by little.

    Multipliers at a bound, and samples that have no others, are left out until the rest is done.
    Returns the passes, the random seed, and whether the end was reached within ``most`` samples.
    """
    n, K = alpha.shape
    gradient, ordered = np.empty(K), np.empty(K)
    count, visited = 0, 0
    active, loose, whole = int(state[0]), state[1], state[2] == 1.0
    solved = False
    while visited < most:
        worst, k = 0.0, 0
        while k < active:
            seed = (seed * 1103515245 + 12345) % 2147483648  # the same order in every process
            other = k + (seed >> 8) % (active - k)
            i = order[other]
            order[other] = order[k]
            order[k] = i
            y, m, own = codes[i], live[i], classes[i]
            high, low = -np.inf, np.inf
            for t in range(m):
                gradient[t] = level[1, own[t]] * (unit[0] - along[i]) - level[2, own[t]]
            add_products(dense, values, starts, columns, i, normals, own, m, gradient)
            for t in range(m):
                c = own[t]
                gradient[t] = level[0, c] + (0.0 if c == y else 1.0) + unit[1] * gradient[t]
                high = max(high, gradient[t])
                if alpha[i, c] < (C[i] if c == y else 0.0):
                    low = min(low, gradient[t])
            m = live[i] = shrink_classes(gradient, own, m, low, y, C[i], alpha[i])
            visited += 1
            if m <= 1:
                active -= 1
                order[k] = order[active]
                order[active] = i
                continue
            k += 1
            if high - low > NO_VIOLATION:
                worst = max(worst, high - low)
                best_multipliers(gradient, own, m, square[i] + pull, y, C[i], alpha[i], ordered)
                for t in range(m):
                    c = own[t]
                    level[0, c] += pull * gradient[t]
                    level[1, c] += gradient[t]
                    level[2, c] += gradient[t] * along[i]
                add_sample(dense, values, starts, columns, i, gradient, own, m, normals)
        count += 1
        if worst >= loose:
            whole = False
            continue
        if worst < close and whole:
            solved = True
            break
        active, whole, loose = n, True, max(0.5 * loose, close)
        for i in range(n):
            live[i] = K
    state[3] += visited
    state[0], state[1], state[2] = active, loose, 1.0 if whole else 0.0
    return count, seed, solved
