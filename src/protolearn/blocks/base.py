"""What a solver sees of the data: blocks of rows, and sums over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from .._arrays import MappedRows
from ..codebook import Codebook
from ..distances import BlockForm, Distance
from .block import Block, mixed, shuffled


class Batch(Protocol):
    """Rows that make one step together, here or elsewhere."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(*args, block)`` over the rows."""


class Blocks(ABC):
    """Data as a sequence of blocks.

    Attributes
    ----------
    n_samples : int
        Number of rows in all.
    size : int
        Number of numbers in all.
    largest_batch : int
        Rows of a mini-batch, at most, when the user names no number.
    """

    n_samples: int
    size: int
    largest_batch: int = 256

    @abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """Return the blocks in order."""

    def prepared(self, distance: Distance, codebook: Codebook) -> Blocks:
        """Return the same data with what the distance can compute beforehand, where it is kept."""
        return self

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum ``function(*args, block)`` over the blocks; the results have to support ``+``."""
        blocks = iter(self)
        first = next(blocks, None)
        if first is None:
            raise ValueError("There is no row to sum over.")
        total = function(*args, first)
        for block in blocks:
            total = total + function(*args, block)
        return total

    def mini_batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[Batch]:
        """Return every row once, ``size`` at a time, for sums alone: they may stay elsewhere."""
        return self.batches(size, rng)

    def batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[Block]:
        """Return every row once, ``size`` at a time; in random order if a generator is given.

        Rows in random order are copied together, so that whoever learns from them one by one
        does not wait for the memory at each. Very many short rows are in random order by runs of
        neighbours: runs from all over the data are brought together and shuffled.
        """
        for block in self:
            for part in [block] if rng is None else mixed(block, rng):
                order = None if rng is None else shuffled(len(part), rng)
                for start in range(0, len(part), size):
                    rows = slice(start, start + size)
                    yield part.rows(rows if order is None else order[rows])


class MemoryBlocks(Blocks):
    """The whole data as one block.

    Parameters
    ----------
    block : Block
        All the rows.
    """

    def __init__(self, block: Block):
        X = block.X
        self.n_samples, self.size = len(block.y), int(X.nnz if issparse(X) else X.size)
        self._block = block

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args, block)`` of the only block."""
        return function(*args, self._block)

    def __iter__(self) -> Iterator[Block]:
        yield self._block

    def prepared(self, distance: Distance, codebook: Codebook) -> MemoryBlocks:
        """Return the same data with what the distance can compute beforehand."""
        if isinstance(self._block.X, MappedRows) or not isinstance(distance, BlockForm):
            return self
        prepared = distance.prepare(self._block.X, codebook)
        return MemoryBlocks(replace(self._block, prepared=prepared))
