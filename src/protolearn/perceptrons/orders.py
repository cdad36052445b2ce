"""The orders in which examples are presented, and when the weights are looked at meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from .._arrays import Indices, as_indices
from ..native import i8, indices_out, native, types

ORDERS = ("cyclic", "random")

LOOKS, RARER = 8, 16
"""The weights are compared with the best ones in so many sweeps, then in one of so many."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def always(n: int) -> Iterator[Indices]:
    """Return the order of the rows, again and again."""
    return repeat(np.arange(n, dtype=np.intp))


def random_orders(n: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Return random orders."""
    while True:
        yield as_indices(rng.permutation(n))


def look(n_iter: int, n: int, rarer: int = RARER) -> int:
    """Return after how many examples of a sweep the weights are compared with the best.

    That is now and then, and each time somewhere else: rows that are sorted by class would give
    the weights at the end of every sweep the same bias.
    """
    return n if n_iter > LOOKS and n_iter % rarer else int(n * (n_iter * GOLDEN % 1.0))


def until_look(n_iter: int) -> int:
    """Return how many sweeps from this one on come before the next with a look."""
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
