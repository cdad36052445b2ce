"""Mini-batches of rows that are on Dask."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from .block import shuffled
from .dask_tasks import Call, computed, cut, delayed, of_slice, packed
from .parts import added

ROWS_OF_A_CHUNK = 256
"""Rows that a mini-batch takes of a chunk, at least: a task costs about as much as these."""

Slice = tuple[Any, Any, int, int]
"""A block, the order of its rows, and which of these."""


class Piece(NamedTuple):
    """Some rows of a chunk, in the order of a pass."""

    chunk: int
    first: int
    last: int


def in_turn(size: int, lengths: Indices) -> Iterator[list[Piece]]:
    """Cut the rows as they come, across the ends of chunks."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    for first in range(0, int(ends[-1]), size):
        last = min(first + size, int(ends[-1]))
        here = np.flatnonzero((starts < last) & (ends > first) & (lengths > 0))
        yield [
            Piece(int(c), max(first - int(starts[c]), 0), int(min(last, ends[c]) - starts[c]))
            for c in here
        ]


def at_random(
    size: int, lengths: Indices, rng: np.random.RandomState, mixed: bool
) -> Iterator[list[Piece]]:
    """Take an equal share of each chunk of a group; batches of groups take turns if mixed."""
    filled = rng.permutation(np.flatnonzero(lengths))
    together = max(size // ROWS_OF_A_CHUNK, 1)
    groups = [filled[k : k + together] for k in range(0, len(filled), together)]
    steps = [math.ceil(lengths[group].sum() / size) for group in groups]
    turns = [(g, step) for g, count in enumerate(steps) for step in range(count)]
    for g, step in [turns[k] for k in rng.permutation(len(turns))] if mixed else turns:
        ends = [lengths[c] * np.array([step, step + 1]) // steps[g] for c in groups[g]]
        pairs = zip(groups[g], ends, strict=True)
        yield [Piece(int(c), int(first), int(last)) for c, (first, last) in pairs if last > first]


class Kept:
    """Blocks that workers keep, and the orders of their rows beside them.

    Parameters
    ----------
    blocks : list of Delayed
        The blocks.
    lengths : array of int
        How many rows they have.
    seeds : array of int or None
        Of the orders; None: as they come.
    """

    def __init__(self, blocks: list[Any], lengths: Indices, seeds: Any):
        import dask

        self._blocks, self._orders = blocks, [None] * len(blocks)
        if seeds is not None:
            pairs = zip(seeds.tolist(), lengths.tolist(), strict=True)
            self._orders = list(dask.persist(*[delayed(order)(*pair) for pair in pairs]))

    def slices(self, pieces: list[Piece]) -> list[Slice]:
        """Return what makes a batch."""
        return [(self._blocks[c], self._orders[c], first, last) for c, first, last in pieces]


class Fetched:
    """Blocks that are made here when they are needed; those of one batch at a time.

    The parameters are those of :class:`Kept`.
    """

    def __init__(self, blocks: list[Any], lengths: Indices, seeds: Any):
        self._blocks, self._lengths, self._seeds = blocks, lengths, seeds
        self._here: dict[int, tuple[Any, Any]] = {}

    def slices(self, pieces: list[Piece]) -> list[Slice]:
        """Return what makes a batch."""
        import dask

        self._here = {c: self._here[c] for c, _, _ in pieces if c in self._here}
        missing = [c for c, _, _ in pieces if c not in self._here]
        made = dask.compute(*[self._blocks[c] for c in missing])
        for c, block in zip(missing, made, strict=True):
            seeds = self._seeds
            rows = None if seeds is None else order(int(seeds[c]), int(self._lengths[c]))
            self._here[c] = block, rows
        return [(*self._here[c], first, last) for c, first, last in pieces]


@dataclass(frozen=True)
class DaskBatch:
    """Rows of several blocks that make one step together.

    Attributes
    ----------
    slices : list of Slice
        The rows.
    elsewhere : bool
        Whether workers have them, or they are here.
    """

    slices: list[Slice]
    elsewhere: bool

    def __len__(self) -> int:
        return sum(last - first for _, _, first, last in self.slices)

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(*args, block)`` over the rows."""
        if not self.elsewhere:
            return added(function(*args, cut(*one)) for one in self.slices)
        call = packed(Call(function, args))
        return computed([delayed(of_slice)(call, *one) for one in self.slices])


def order(seed: int, n_rows: int) -> NDArray[Any]:
    """Return the rows of a chunk in random order."""
    return shuffled(n_rows, np.random.RandomState(seed))
