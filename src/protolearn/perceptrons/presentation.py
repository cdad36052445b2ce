"""Presenting examples in orders, one after the other: the perceptron learns from its mistakes.

Where mistakes are learned the weights are ``sum u_i y_i x_i``, N times those of a unit, and so are
the potentials: whole numbers stay whole, and zero is not mistaken for a positive potential.
Examples come *mirrored*, as ``y_i x_i``: their products with the weights are the potentials, and
to learn one is to add it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numba
import numpy as np

from .._arrays import Indices, as_indices
from ..native import FAST, f8, i8, indices, indices_out, matrix, native, types, vector, vector_out

ORDERS = ("cyclic", "random")

LOOKS, RARER = 8, 16
"""The weights are compared with the best ones in so many sweeps, then in one of so many."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)

RUN, LONGEST, MISTAKES, COUNTED, FEWEST, CREDIT = range(6)
"""Places in the state of :func:`draw`: the present run of correct answers, that of the weights in
the pocket, the updates so far, whether the errors of the present weights were counted, the fewest
errors so far, and what may be spent on counting."""

AHEAD = 4
"""Potentials that are computed at a time."""

PRICE, SORTING = 2, 16
"""What it costs to look at an example for counting errors, and to find the best threshold too; each
example that is presented earns one or more."""


def row_order(n: int) -> Iterator[Indices]:
    """Return the order of the rows, again and again."""
    return repeat(np.arange(n, dtype=np.intp))


def random_orders(n: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Return random orders."""
    while True:
        yield as_indices(rng.permutation(n))


def comparison_point(n_iter: int, n: int, rarer: int = RARER) -> int:
    """Return after how many examples of a sweep the weights are compared with the best.

    That is now and then, and each time somewhere else: rows that are sorted by class would give
    the weights at the end of every sweep the same bias.
    """
    return n if n_iter > LOOKS and n_iter % rarer else int(n * (n_iter * GOLDEN % 1.0))


def sweeps_before_comparison(n_iter: int) -> int:
    """Return how many sweeps there are from this one to the next with a comparison."""
    return RARER - n_iter % RARER


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
def four_potentials(mirrored, i0, i1, i2, i3, w):
    """Return the potentials of four examples."""
    e0 = e1 = e2 = e3 = 0.0
    for k in range(w.size):
        e0 += mirrored[i0, k] * w[k]
        e1 += mirrored[i1, k] * w[k]
        e2 += mirrored[i2, k] * w[k]
        e3 += mirrored[i3, k] * w[k]
    return e0, e1, e2, e3


@numba.njit(**FAST)
def learn_mistakes_once(mirrored, order, c, w, u):
    """Present examples in an order, and return the number of mistakes, ``E_i <= c``.

    Four potentials are computed at a time, and those after a mistake again. How many are right up
    to the first mistake is summed, not branched on: one branch is easier to predict than four.
    """
    n = order.size
    mistakes = position = 0
    while position < n:
        if position + 4 <= n:
            i0, i1 = order[position], order[position + 1]
            i2, i3 = order[position + 2], order[position + 3]
            e0, e1, e2, e3 = four_potentials(mirrored, i0, i1, i2, i3, w)
            one = int(e0 > c)
            two = one & int(e1 > c)
            three = two & int(e2 > c)
            if three & int(e3 > c):
                position += 4  # known before the sums are: the next four can begin
                continue
            position += one + two + three
        elif inner(mirrored[order[position]], w) > c:
            position += 1
            continue
        i = order[position]
        learn(mirrored[i], 1.0, w)
        u[i] += 1.0
        mistakes += 1
        position += 1
    return mistakes


@native(types.UniTuple(i8, 3)(matrix, indices, i8, f8, vector_out, vector_out))
def sweep(mirrored, order, times, c, w, u):
    """Present examples in an order, so many times or until none is a mistake.

    Return how many times it was, the number of mistakes, and how many of them were in the last.
    """
    total = mistakes = 0
    for done in range(times):
        mistakes = learn_mistakes_once(mirrored, order, c, w, u)
        total += mistakes
        if mistakes == 0:
            return done + 1, total, 0
    return times, total, mistakes


@numba.njit(**FAST)
def count_errors(mirrored, w, most):
    """Return the errors, counted up to more than ``most``, and how many examples it took."""
    n = len(mirrored)
    errors = done = 0
    while done + 4 <= n and errors <= most:
        e0, e1, e2, e3 = four_potentials(mirrored, done, done + 1, done + 2, done + 3, w)
        errors += int(e0 <= 0.0) + int(e1 <= 0.0) + int(e2 <= 0.0) + int(e3 <= 0.0)
        done += 4
    while done < n and errors <= most:
        errors += inner(mirrored[done], w) <= 0.0
        done += 1
    return errors, done


@native(types.boolean(matrix, vector, i8))
def has_at_most(mirrored, w, most):
    """Whether there are no more errors than ``most``."""
    errors, _ = count_errors(mirrored, w, most)
    return errors <= most


@native(
    types.UniTuple(i8, 2)(
        *(matrix, indices, indices, i8, f8, i8, vector_out, vector_out, indices_out, vector_out)
    )
)
def draw(mirrored, order, partners, start, c, earned, w, u, state, ahead):
    """Present examples until weights may be better than those in the pocket.

    That is after a run of correct answers that is longer than that of the pocket, if the errors
    over all examples are no more. They are counted if ``CREDIT`` allows, to which each example
    presented adds ``earned``. Return where, and 1 if it is so, or 0 at the end of the order.

    An example may have a partner of the other class (-1: none). The two are learned together, so
    that a threshold does not matter. Errors depend on the threshold, so the caller counts them.

    There is room for four potentials ``ahead``, of the next examples until the weights change.
    """
    n, left = len(mirrored), 0
    for position in range(start, order.size):
        i, j = order[position], partners[position]
        if left == 0 and position + 4 <= order.size:
            i1, i2, i3 = order[position + 1], order[position + 2], order[position + 3]
            ahead[3], ahead[2], ahead[1], ahead[0] = four_potentials(mirrored, i, i1, i2, i3, w)
            left = 4
        if left > 0:
            left -= 1
            potential = ahead[left]
        else:
            potential = inner(mirrored[i], w)
        if j >= 0:
            potential += inner(mirrored[j], w)
        state[CREDIT] += earned
        if potential > c:
            state[RUN] += 1
            if state[RUN] > state[LONGEST] and state[COUNTED] == 0 and state[CREDIT] >= PRICE * n:
                state[COUNTED] = 1
                errors, cost = 0, SORTING * n
                if j < 0:
                    errors, looked = count_errors(mirrored, w, state[FEWEST])
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
        state[RUN] = state[COUNTED] = left = 0
    return order.size, 0


@native(types.void(matrix, vector, vector, vector, f8, f8, vector_out, vector_out))
def learn_in_turn(rows, signs, target, weight, share, rate, w, u):
    """Add to one strength after the other what its potential lacks; ``w`` are the weights."""
    for i in range(target.size):
        step = rate * weight[i] * (target[i] - inner(rows[i], w))
        u[i] += signs[i] * step
        learn(rows[i], share * step, w)
