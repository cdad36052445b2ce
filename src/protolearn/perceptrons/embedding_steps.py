"""Steps in the embedding strengths: dual ascent, and learning the example of least potential.

Dual ascent raises ``sum u - u^T C u / 2`` by the example, or the pair, that gains most.
The potentials ``E = C u`` with ``C_ij = y_i y_j K_ij`` follow each step. An embedding strength is
from 0 to its bound ``gamma``. Without a threshold the strengths are free of each other, and one
changes at a time; a free threshold asks for ``sum u y = 0``, which steps of two keep.

The potentials, fields and lengths of MinOver are N times those of a unit: sums of whole examples.
"""

from __future__ import annotations

import numba
import numpy as np

from .._arrays import Indices
from ..native import FAST, f8, i8, indices, matrix, native, types, vector, vector_out
from .examples import Examples
from .products import KEPT

FLAT = 1e-12
"""Least curvature, in units of the largest product, that a step reckons with."""

ROUNDING = 1e-14
"""Part of a strength by which steps of two may miss a bound."""


@numba.njit(**FAST)
def least_curvature(K):
    """Return the least curvature that a step reckons with, positive even if all products vanish."""
    largest = 0.0
    for k in range(K.shape[0]):
        largest = max(largest, K[k, k])
    return FLAT * largest if largest > 0.0 else 1.0


@numba.njit(**FAST)
def move_within_bounds(before, change, gamma):
    """Change a strength within 0 and gamma, onto the bound if only rounding would keep it off."""
    after = before + change
    if after <= ROUNDING * before:
        return 0.0
    return gamma if after >= gamma * (1.0 - ROUNDING) else after


@numba.njit(**FAST)
def best_single(K, u, E, gamma, flat):
    """Return the example that gains most, and the largest violation of optimality."""
    best, gain, violation = -1, 0.0, 0.0
    for k in range(E.size):
        slope = 1.0 - E[k]
        if (slope > 0.0 and u[k] < gamma[k]) or (slope < 0.0 and u[k] > 0.0):
            violation = max(violation, abs(slope))
            rise = slope * slope / max(K[k, k], flat)
            if rise > gain:
                best, gain = k, rise
    return best, violation


@numba.njit(**FAST)
def extremes(signs, u, E, gamma):
    """Return who has the largest ``y (1 - E)`` that may fall, this, and the least that may rise."""
    first, high, low = -1, -np.inf, np.inf
    for k in range(E.size):
        slope = signs[k] * (1.0 - E[k])
        if slope > high and (u[k] < gamma[k] if signs[k] > 0.0 else u[k] > 0.0):
            first, high = k, slope
        if slope < low and (u[k] > 0.0 if signs[k] > 0.0 else u[k] < gamma[k]):
            low = slope
    return first, high, low


@numba.njit(**FAST)
def best_partner(signs, K, i, high, u, E, gamma, flat):
    """Return the example that gains most together with i."""
    second, gain = -1, 0.0
    for k in range(E.size):
        lead = high - signs[k] * (1.0 - E[k])
        if lead > 0.0 and (u[k] > 0.0 if signs[k] > 0.0 else u[k] < gamma[k]):
            rise = lead * lead / max(K[i, i] + K[k, k] - 2.0 * K[i, k], flat)
            if rise > gain:
                second, gain = k, rise
    return second


@native(types.Tuple((i8, f8))(vector, matrix, f8, vector, f8, i8, vector_out, vector_out))
def ascend(signs, K, eta, gamma, tol, steps, u, E):
    """Change one strength at a time; return the number of steps, and the violation left."""
    flat = least_curvature(K)
    violation = np.inf
    for step in range(steps):
        i, violation = best_single(K, u, E, gamma, flat)
        if violation <= tol:
            return step, violation
        changed = min(max(u[i] + eta * (1.0 - E[i]) / max(K[i, i], flat), 0.0), gamma[i])
        change = signs[i] * (changed - u[i])
        u[i] = changed
        for k in range(E.size):
            E[k] += signs[k] * change * K[i, k]
    return steps, violation


@native(types.Tuple((i8, f8))(vector, matrix, f8, vector, f8, i8, vector_out, vector_out))
def ascend_in_pairs(signs, K, eta, gamma, tol, steps, u, E):
    """Change two strengths at a time, so that ``sum u y`` stays as it is."""
    flat = least_curvature(K)
    violation = np.inf
    for step in range(steps):
        i, high, low = extremes(signs, u, E, gamma)
        violation = high - low
        if violation <= tol:
            return step, violation
        j = best_partner(signs, K, i, high, u, E, gamma, flat)
        curvature = max(K[i, i] + K[j, j] - 2.0 * K[i, j], flat)
        change = eta * (high - signs[j] * (1.0 - E[j])) / curvature
        change = min(change, gamma[i] - u[i] if signs[i] > 0.0 else u[i])
        change = min(change, u[j] if signs[j] > 0.0 else gamma[j] - u[j])
        mine = move_within_bounds(u[i], signs[i] * change, gamma[i])
        other = move_within_bounds(u[j], -signs[j] * change, gamma[j])
        by_i, by_j = signs[i] * (mine - u[i]), signs[j] * (other - u[j])
        u[i], u[j] = mine, other
        for k in range(E.size):
            E[k] += signs[k] * (by_i * K[i, k] + by_j * K[j, k])
    return steps, violation


class LeastPotentialLearner:
    """Learns the example of least potential again and again, and knows how near the optimum is."""

    def __init__(self, examples: Examples):
        n = len(examples.signs)
        self.examples = examples
        self.u = examples.first_strengths()  # how many times each was learned
        self._sum()  # fields w.x_i; sizes |w|^2 and sum u
        self._columns = np.empty((0, n))
        self._line = np.full(n, -1, dtype=np.intp)
        self._filled, self._room = 0, min(n, max(2, KEPT // (8 * n)))

    def learn(self, updates: int, tol: float) -> tuple[int, bool, Indices]:
        """Make updates until the gap is closed; return how many, whether it is, and who changed.

        Then the sums are made anew: rounding errors of many updates would add up.
        """
        made, before = 0, self.u.copy()
        while True:
            missing, more, closed = learn_least(
                *(self.examples.signs, self.examples.free, self._columns, self._line),
                *(tol, updates - made, self.u, self.fields, self.sizes),
            )
            made += more
            if missing < 0:
                self._sum()
                return made, bool(closed), np.flatnonzero(self.u != before)
            self._fetch(missing)

    @property
    def length(self) -> float:
        """The length of the weights."""
        return float(np.sqrt(self.sizes[0]))

    @property
    def largest(self) -> float:
        """What no stability exceeds."""
        return self.length / float(self.sizes[1])

    def _sum(self) -> None:
        """Make fields and sizes of the strengths."""
        w = self.examples.sums(self.u)
        self.fields = self.examples.inputs.rows @ w
        self.sizes = np.array([w @ w, self.u.sum()])

    def _fetch(self, missing: int) -> None:
        """Compute the products of an example with all; without room, forget the others."""
        if self._filled == self._room:
            self._filled, self._line[:] = 0, -1
        rows = self.examples.inputs.rows
        if self._filled == len(self._columns):
            grown = np.empty((min(2 * self._filled + 2, self._room), len(rows)))
            grown[: self._filled] = self._columns
            self._columns = grown
        self._columns[self._filled] = rows @ rows[missing]
        self._line[missing] = self._filled
        self._filled += 1


@numba.njit(**FAST)
def least(signs, fields, sign):
    """Return the example of least potential; of one class, or of both if ``sign`` is zero."""
    found, lowest = -1, np.inf
    for k in range(fields.size):
        potential = signs[k] * fields[k]
        if potential < lowest and signs[k] * sign >= 0.0:
            found, lowest = k, potential
    return found, lowest


@numba.njit(**FAST)
def embed(i, signs, column, u, fields, sizes):
    """Learn an example."""
    sizes[0] += 2.0 * signs[i] * fields[i] + column[i]
    sizes[1] += 1.0
    u[i] += 1.0
    for k in range(fields.size):
        fields[k] += signs[i] * column[k]


@native(
    types.UniTuple(i8, 3)(
        *(vector, types.boolean, matrix, indices),
        *(f8, i8, vector_out, vector_out, vector_out),
    )
)
def learn_least(signs, free, columns, line, tol, updates, u, fields, sizes):
    """Learn the example of least potential, with a free threshold that of each class.

    Return the example whose products are missing or -1, the number of updates, and 1 if the
    stability is within ``tol`` of the largest.
    """
    for made in range(updates + 1):
        i, lowest = least(signs, fields, 1.0 if free else 0.0)
        j = -1
        if free:
            j, other = least(signs, fields, -1.0)
            lowest = 0.5 * (lowest + other)
        if lowest > 0.0 and lowest * sizes[1] >= (1.0 - tol) * sizes[0]:
            return -1, made, 1
        if made == updates:
            break
        if line[i] < 0:
            return i, made, 0
        if j >= 0 and line[j] < 0:
            return j, made, 0
        embed(i, signs, columns[line[i]], u, fields, sizes)
        if j >= 0:
            embed(j, signs, columns[line[j]], u, fields, sizes)
    return -1, updates, 0
