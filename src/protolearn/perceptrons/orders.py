"""The orders in which examples are presented, and when the weights are looked at meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from .._parameters import Indices

ORDERS = ("cyclic", "random")

LOOKS = 8
"""The weights are compared with the best ones in so many sweeps, then in every one of so many."""

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def always(n: int) -> Iterator[Indices]:
    """Give the order of the rows, again and again."""
    return repeat(np.arange(n))


def random_orders(n: int, rng: np.random.RandomState) -> Iterator[Indices]:
    """Give random orders."""
    while True:
        yield rng.permutation(n)


def look(n_iter: int, n: int, looks: int = LOOKS) -> int:
    """Tell after how many examples of a sweep the weights are compared with the best ones.

    That is now and then, and each time somewhere else: rows that are sorted by class would give
    the weights at the end of every sweep the same bias.
    """
    return n if n_iter > looks and n_iter % looks else int(n * (n_iter * GOLDEN % 1.0))


def until_look(n_iter: int) -> int:
    """Tell how many sweeps from this one on come before the next with a look."""
    return LOOKS - n_iter % LOOKS
