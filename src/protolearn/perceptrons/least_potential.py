"""Learning the example of least potential, again and again, and how far that is from optimal.

Weights, fields and lengths are N times those of a unit: sums of whole examples.
"""

from __future__ import annotations

import numba
import numpy as np

from ..native import FAST, f8, i8, indices, matrix, native, types, vector, vector_out
from .examples import Examples
from .products import KEPT

TOGETHER = 32
"""Examples whose products are computed at a time."""

SQUARE, TOTAL = range(2)
"""Places of ``|w|^2`` and ``sum u`` in the sizes of weights."""


class Learned:
    """What the examples that were learned so far amount to.

    Attributes
    ----------
    u : array (n,)
        How many times each was learned.
    fields : array (n,)
        ``w.x_i``.
    sizes : array (2,)
        ``|w|^2`` and ``sum u``.
    """

    def __init__(self, examples: Examples):
        n = len(examples.signs)
        self.examples = examples
        self.u, self.fields, self.sizes = np.zeros(n), np.zeros(n), np.zeros(2)
        self._columns = np.empty((0, n))
        self._line = np.full(n, -1, dtype=np.intp)
        self._filled, self._room = 0, min(n, max(2 * TOGETHER, KEPT // (8 * n)))

    def learn(self, updates: int, tol: float) -> tuple[int, bool]:
        """Make updates until the gap is closed; give how many, and whether it is.

        Then the sums are made anew: rounding errors of many updates would add up.
        """
        made = 0
        while True:
            missing, more, closed = learn_least(
                *(self.examples.signs, self.examples.free, self._columns, self._line),
                *(tol, updates - made, self.u, self.fields, self.sizes),
            )
            made += more
            if missing < 0:
                self._sum()
                return made, bool(closed)
            self._fetch(missing)

    @property
    def length(self) -> float:
        """The length of the weights."""
        return float(np.sqrt(self.sizes[SQUARE]))

    @property
    def largest(self) -> float:
        """What no stability exceeds."""
        return self.length / float(self.sizes[TOTAL])

    def _sum(self) -> None:
        """Make fields and sizes of the strengths."""
        w = (self.u * self.examples.signs) @ self.examples.inputs.rows
        self.fields = self.examples.inputs.rows @ w
        self.sizes = np.array([w @ w, self.u.sum()])

    def _fetch(self, missing: int) -> None:
        """Compute the products of an example with all, and those of others with low potentials.

        If there is no room for more, those that there are are forgotten.
        """
        if self._filled + TOGETHER > self._room < len(self.u):
            self._filled, self._line[:] = 0, -1
        rows = self.examples.inputs.rows
        potentials = np.where(self._line < 0, self.examples.signs * self.fields, np.inf)
        potentials[missing] = -np.inf
        chosen = np.argsort(potentials, kind="stable")[:TOGETHER]
        chosen = chosen[potentials[chosen] < np.inf]
        end = self._filled + len(chosen)
        if end > len(self._columns):
            grown = np.empty((min(2 * end, self._room), len(rows)))
            grown[: self._filled] = self._columns[: self._filled]
            self._columns = grown
        self._columns[self._filled : end] = rows[chosen] @ rows.T
        self._line[chosen] = np.arange(self._filled, end)
        self._filled = end


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

    Give the example whose products are missing or -1, the number of updates, and 1 if the
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
