"""Presenting examples in orders, one after the other: the perceptron learns from its mistakes.

Where mistakes are learned the weights are ``sum u_i y_i x_i``, N times those of a unit, and so are
the potentials: whole numbers stay whole, and zero is not mistaken for a positive potential.
Examples come *mirrored*, as ``y_i x_i``: their products with the weights are the potentials, and
to learn one is to add it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple, Self

import numba
import numpy as np

from .._arrays import Floats, Indices, as_indices
from ..native import (
    ADDRESS,
    FAST,
    MODULATION,
    f8,
    i8,
    indices,
    indices_out,
    matrix,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from .examples import SINGLES, TOGETHER, Examples

modulation_at = pointer(MODULATION)

SINGLE_ROUNDING = 2.0**-24
"""Largest relative error of rounding to single precision."""

ORDERS = ("cyclic", "random")

LOOKS, RARER = 8, 32
"""The weights are compared with the best ones in so many sweeps, then in one of so many."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)

RUN, LONGEST, MISTAKES, COUNTED, FEWEST, CREDIT = range(6)
"""Places in the state of :func:`draw`: the present run of correct answers, that of the weights in
the pocket, the updates so far, whether the errors of the present weights were counted, the fewest
errors so far, and what may be spent on counting."""

PRICE, SORTING = 3, 16
"""What it costs to look at an example for counting errors, and to find the best threshold too; each
example that is presented earns one or more."""


def row_order(n: int) -> Iterator[Indices]:
    """Return the order of the rows, again and again."""
    return repeat(np.arange(n, dtype=np.intp))


def random_orders(n: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Return random orders."""
    while True:
        yield as_indices(rng.permutation(n))


def comparison_point(n_iter: int, n: int) -> int:
    """Return after how many examples of a sweep the weights are compared with the best.

    That is now and then, and each time somewhere else: rows that are sorted by class would give
    the weights at the end of every sweep the same bias.
    """
    return n if n_iter > LOOKS and n_iter % RARER else int(n * (n_iter * GOLDEN % 1.0))


class Draws:
    """Places drawn at random, with replacement.

    From a small generator of its own (splitmix64, Steele, Lea and Flood, 2014), seeded by a larger
    one: that takes as long to give a number as a perceptron takes to learn from it.
    """

    def __init__(self, rng: np.random.RandomState):
        high, low = rng.randint(2**32, size=(2, 1), dtype=np.uint64)
        self._state = (high << np.uint64(32)) | low

    def __call__(self, n: int, count: int) -> Indices:
        """Draw some of n places."""
        places = np.empty(count, dtype=np.intp)
        draw_places(self._state, n, places)
        return places


@native(types.void(types.Array(types.uint64, 1, "C"), i8, indices_out))
def draw_places(state, n, places):
    """Fill in random numbers from 0 to n - 1."""
    count = np.uint64(n)
    for k in range(places.size):
        state[0] += np.uint64(0x9E3779B97F4A7C15)
        z = state[0]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        places[k] = np.intp(((z >> np.uint64(32)) * count) >> np.uint64(32))


@numba.njit(**FAST)
def inner(a, b):
    """Return the scalar product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@numba.njit(**FAST)
def learn(x, step, w):
    """Add a multiple of an example to the weights."""
    for k in range(w.size):
        w[k] += step * x[k]


@numba.njit(**FAST)
def learn_mistakes_once(mirrored, order, c, w, u):
    """Present examples in an order, and return the number of mistakes, ``E_i <= c``.

    Two potentials are computed at a time, and the second again after a mistake: processors do
    both in little more time than one.
    """
    last = order.size - 1
    mistakes = position = 0
    while position <= last:
        i, j = order[position], order[min(position + 1, last)]
        first = second = 0.0
        for k in range(w.size):
            first += mirrored[i, k] * w[k]
            second += mirrored[j, k] * w[k]
        if (first > c) & (second > c):
            position += 2
            continue
        i = j if first > c else i
        position += 2 if first > c else 1
        learn(mirrored[i], 1.0, w)
        u[i] += 1.0
        mistakes += 1
    return mistakes


@numba.njit(**FAST)
def count_errors(mirrored, hard, w, most):
    """Return the errors, counted up to more than ``most``, and how many examples it took.

    First come ``hard`` examples, of length one and in single precision: mostly these are enough to
    see that there are more errors. Only those count here that rounding cannot explain; the first
    line is room for the weights, the number of the others a multiple of four.
    """
    length = math.sqrt(inner(w, w))
    errors, done = 0, 1
    if length > 0.0 and hard.shape[0] > 1:
        for k in range(w.size):
            hard[0, k] = np.float32(w[k] / length)
        doubt = -np.float32(SINGLE_ROUNDING * (w.size + 4))
        while done + TOGETHER <= hard.shape[0] and errors <= most:
            errors += clear_errors(hard, done, doubt)
            done += TOGETHER
        if errors > most:
            return errors, done - 1
    errors = i = 0
    while i < mirrored.shape[0] and errors <= most:
        errors += int(inner(mirrored[i], w) <= 0.0)
        i += 1
    return errors, done - 1 + mirrored.shape[0]


@numba.njit(**FAST)
def clear_errors(hard, i, doubt):
    """Return how many of four rows have a product with the first below ``doubt``."""
    a = b = c = d = np.float32(0.0)
    for k in range(hard.shape[1]):
        weight = hard[0, k]
        a += hard[i, k] * weight
        b += hard[i + 1, k] * weight
        c += hard[i + 2, k] * weight
        d += hard[i + 3, k] * weight
    return int(a < doubt) + int(b < doubt) + int(c < doubt) + int(d < doubt)


@native(types.UniTuple(i8, 4)(matrix, indices, i8, f8, vector_out, vector_out, SINGLES, i8))
def sweep(mirrored, order, times, c, w, u, hard, most):
    """Present examples in an order, so many times or until none is a mistake.

    After each time the errors are counted, those of ``hard`` examples first, and no more than
    ``most`` end it. Return how many times it was, the number of mistakes, how many of them were
    in the last, and 1 if there are so few errors.
    """
    total = mistakes = few = 0
    for done in range(times):
        mistakes = learn_mistakes_once(mirrored, order, c, w, u)
        total += mistakes
        few = int(count_errors(mirrored, hard, w, most)[0] <= most)
        if mistakes == 0 or few:
            return done + 1, total, mistakes, few
    return times, total, mistakes, few


@native(
    types.UniTuple(i8, 2)(
        *(matrix, indices, indices, types.boolean, i8, f8, i8),
        *(vector_out, vector_out, indices_out, SINGLES),
    )
)
def draw(mirrored, order, partners, each, start, c, earned, w, u, state, hard):
    """Present examples until weights may be better than those in the pocket.

    That is after a run of correct answers that is longer than that of the pocket, if the errors
    over all examples are no more. They are counted if ``CREDIT`` allows, to which each example
    presented adds ``earned``. Return where, and 1 if it is so, or 0 at the end of the order.

    If ``each`` update is counted, that is after an update that leaves fewer errors than ``FEWEST``.
    An example may have a partner of the other class (-1: none). The two are learned together, so
    that a threshold does not matter. Errors depend on the threshold, so the caller counts them.

    Errors of ``hard`` examples are counted first.
    """
    n = len(mirrored)
    for position in range(start, order.size):
        i, j = order[position], partners[position]
        potential = inner(mirrored[i], w)
        if j >= 0:
            potential += inner(mirrored[j], w)
        state[CREDIT] += earned
        if potential > c:
            state[RUN] += 1
            if each or state[RUN] <= state[LONGEST] or state[COUNTED] == 1:
                continue
            if state[CREDIT] >= PRICE * n:
                state[COUNTED] = 1
                errors, cost = 0, SORTING * n
                if j < 0:
                    errors, looked = count_errors(mirrored, hard, w, state[FEWEST])
                    cost = PRICE * looked
                state[CREDIT] -= cost
                if errors <= state[FEWEST]:
                    return position + 1, 1
            continue
        learn(mirrored[i], 1.0, w)
        u[i] += 1.0
        if j >= 0:
            learn(mirrored[j], 1.0, w)
            u[j] += 1.0
        state[MISTAKES] += 1
        state[RUN] = state[COUNTED] = 0
        if each and count_errors(mirrored, hard, w, state[FEWEST] - 1)[0] < state[FEWEST]:
            return position + 1, 1
    return order.size, 0


@native(
    i8(
        *(matrix, indices, ADDRESS, vector, vector, vector),
        *(f8, vector, f8, vector_out, vector_out),
    )
)
def present(mirrored, order, f, theta, weight, shift, low, high, share, w, u):
    """Present examples in an order; return how many strengths change.

    Strength i changes by ``weight f(E_i + shift)`` as far as the bounds allow, and the weights by
    ``share`` times as much of the example.
    """
    modulation = modulation_at(f)
    updates = 0
    for i in order:
        step = weight[i] * modulation(inner(mirrored[i], w) + shift[i], theta)
        step = min(max(step, low - u[i]), high[i] - u[i])
        if step != 0.0:
            u[i] += step
            learn(mirrored[i], share * step, w)
            updates += 1
    return updates


@native(types.void(ADDRESS, vector, vector, vector, f8, vector, vector, vector_out))
def steps_together(f, theta, weight, potentials, low, high, u, steps):
    """Compute the changes of all strengths by the same weights."""
    modulation = modulation_at(f)
    for i in range(u.size):
        step = weight[i] * modulation(potentials[i], theta)
        steps[i] = min(max(step, low - u[i]), high[i] - u[i])


class LearningRule(NamedTuple):
    """By how much the strength of an example changes: ``f`` of its potential, within bounds."""

    f: Any  # the address of the modulation function
    theta: Floats  # its parameters
    weight: Floats  # factor of each example
    shift: Floats  # added to each potential
    low: float
    high: Floats

    @classmethod
    def of(
        cls, f: Any, theta: Any, examples: Examples, *, low: float = -np.inf, high: float = np.inf
    ) -> Self:
        """Return the rule of a native function for examples; their weights are factors."""
        n, weight = len(examples.signs), examples.weight
        weight = np.ones(n) if weight is None else weight
        return cls(f.address, np.array(theta, float), weight, np.zeros(n), low, np.full(n, high))

    def in_turn(self, examples: Examples, order: Indices, w: Floats, u: Floats) -> int:
        """Change strengths and weights one example after the other; return how many changed."""
        share = 1.0 / examples.inputs.size
        return int(present(examples.mirrored_rows, order, *self, share, w, u))

    def together(self, examples: Examples, w: Floats, u: Floats) -> int:
        """Change all strengths at once; return how many changed."""
        potentials, steps = examples.mirrored_rows @ w + self.shift, np.empty(len(u))
        steps_together(*self[:3], potentials, self.low, self.high, u, steps)
        u += steps
        w += steps @ examples.mirrored_rows / examples.inputs.size
        return int(np.count_nonzero(steps))
