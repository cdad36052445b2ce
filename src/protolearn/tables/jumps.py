"""Jumps between categories: all ways to change some columns of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices


@dataclass(frozen=True)
class Jumps:
    """What rows may jump to in the columns of categories.

    Attributes
    ----------
    places : list of slice
        Where the entries of each column are.
    entries : list of arrays (k, width)
        The entries of each category.
    allowed : list of arrays
        The codes of the categories to jump to.
    own : list of arrays (n,)
        The code that each row has.
    stays : list of arrays of bool (n,)
        Whether a row may keep it.
    cost : list of arrays (n, k)
        The squared length of a jump to each category, as the model sees it.
    """

    places: list[slice]
    entries: list[Floats]
    allowed: list[Indices]
    own: list[Indices]
    stays: list[NDArray[np.bool_]]
    cost: list[Floats]

    @property
    def number(self) -> int:
        """Number of combinations of allowed categories."""
        return prod(len(codes) for codes in self.allowed)

    def of_size(self, size: int, reach: Floats) -> Iterator[tuple[Indices, dict[int, int]]]:
        """Return rows, and the codes to which so many columns jump, where that is within reach.

        ``reach`` is the squared length within which something new may be found, and may shrink
        meanwhile.
        """
        every = range(len(self.allowed))
        for chosen in combinations(every, size):
            fits = np.ones(len(reach), dtype=bool)
            for j in every:
                if j not in chosen:
                    fits &= self.stays[j]
            for codes in product(*(self.allowed[j].tolist() for j in chosen)):
                jump = dict(zip(chosen, codes, strict=True))
                rows = np.flatnonzero(fits & self._possible(jump, reach))
                if len(rows):
                    yield rows, jump

    def _possible(self, jump: dict[int, int], reach: Floats) -> NDArray[np.bool_]:
        """Return for which rows a jump changes all its columns, and is within reach."""
        cost = np.zeros(len(reach))
        possible = np.ones(len(reach), dtype=bool)
        for j, code in jump.items():
            possible &= self.own[j] != code
            cost += self.cost[j][:, code]
        return possible & (cost < reach)

    def made(self, rows: Floats, jump: dict[int, int]) -> Floats:
        """Return rows after a jump."""
        rows = rows.copy()
        for j, code in jump.items():
            rows[:, self.places[j]] = self.entries[j][code]
        return rows

    def least(self, size: int) -> Floats:
        """Return the least squared length of jumps of so many columns, for each row."""
        shortest = []
        for own, codes, cost in zip(self.own, self.allowed, self.cost, strict=True):
            other = np.where(own[:, None] == codes, np.inf, cost[:, codes])
            shortest.append(other.min(axis=1, initial=np.inf))
        return np.sort(np.stack(shortest), axis=0)[:size].sum(axis=0)
