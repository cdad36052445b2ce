"""What a solver sees of the data: blocks of rows, and sums over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._arrays import Floats, Indices, MappedRows, as_indices, rows_at_a_time
from ..codebook import Codebook
from .journal import NO_JOURNAL, Journal

if TYPE_CHECKING:
    from ..distances import Distance


WINDOW = 1 << 14
"""Short rows that are shuffled among each other; of more, runs from all over are mixed."""

RUN_NUMBERS = 1 << 10
"""Numbers of neighbours that are fetched together."""


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    X : array (n, d), CSR matrix or MappedRows
        The samples.
    y : array (n,)
        Class codes, integers of any size.
    weight : array (n,) or None
        Weights; None is one for each row, and takes no memory.
    prepared : array (n,) or None
        What the distance computed beforehand.
    """

    X: Any
    y: NDArray[Any]
    weight: Floats | None = None
    prepared: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def size(self) -> int:
        """How many numbers the samples are."""
        return int(self.X.nnz if issparse(self.X) else self.X.size)

    @property
    def codes(self) -> Indices:
        """The class codes as native functions take them."""
        return as_indices(self.y)

    @property
    def weights(self) -> Floats:
        """The weights as an array."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self) if self.weight is None else self.weight.sum())

    def rows(self, which: Any) -> Block:
        """Give some rows: views for a slice, copies for indices."""
        weight, prepared = (
            None if column is None else column[which] for column in (self.weight, self.prepared)
        )
        return Block(self.X[which], self.y[which], weight, prepared)

    def some(self, which: Indices) -> Block:
        """Give some rows; those on disk are not read."""
        if not isinstance(self.X, MappedRows):
            return self.rows(which)
        weight = None if self.weight is None else self.weight[which]
        return Block(self.X.some(which), self.y[which], weight)

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Give ``function(*args, block)``: a block is a batch whose rows are here."""
        return function(*args, self)

    def chunks(self, n_numbers: float) -> Iterator[Block]:
        """Cut the block into views that fit into a cache, with so many numbers more for a row."""
        width = self.X.nnz // max(len(self), 1) if issparse(self.X) else self.X.shape[1]
        size = rows_at_a_time(width + int(n_numbers))
        if len(self) <= size and not isinstance(self.X, MappedRows):
            yield self
            return
        for start in range(0, len(self), size):
            yield self.rows(slice(start, start + size))


class Batch(Protocol):
    """Rows that make one step together, here or elsewhere."""

    def __len__(self) -> int:
        """Give the number of rows."""

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Give the sum of ``function(*args, block)`` over the rows."""


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
    journal : Journal
        Keeps what was computed from the data, so that it need not be computed twice.
    """

    n_samples: int
    size: int
    largest_batch: int = 256
    journal: Journal = NO_JOURNAL

    @abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """Give the blocks in order."""

    def prepared(self, distance: Distance, codebook: Codebook) -> Blocks:
        """Give the same data with what the distance can compute beforehand, where it is kept."""
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
        """Give every row once, ``size`` at a time, for sums alone: they may stay where they are."""
        return self.batches(size, rng)

    def batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[Block]:
        """Give every row once, ``size`` at a time; in random order if a generator is given.

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


def mixed(block: Block, rng: np.random.RandomState) -> Iterator[Block]:
    """Give the block in parts: of very many short rows, runs that are drawn at random.

    A short row from anywhere in a large memory takes about as long as to learn from it; a run of
    neighbours does not.
    """
    run = 1 if issparse(block.X) else RUN_NUMBERS // block.X.shape[1]
    if len(block) <= WINDOW or run < 2:
        yield block
        return
    starts = np.arange(0, len(block), run)
    rng.shuffle(starts)
    for first in range(0, len(starts), WINDOW // run):
        drawn = starts[first : first + WINDOW // run]
        rows = (drawn[:, None] + np.arange(run)).ravel()
        yield block.rows(rows[rows < len(block)])


def shuffled(n: int, rng: np.random.RandomState) -> NDArray[Any]:
    """Give the numbers below n in random order, as small integers as will do."""
    order = np.arange(n, dtype=np.uint32 if n < 1 << 32 else np.uint64)
    rng.shuffle(order)
    return order
