"""Blocks of rows: what they offer to a solver, in memory or in a memory map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard
from scipy.sparse import issparse

from .._arrays import Floats, MappedRows, some_rows
from ..codebook import Codebook
from ..distances import BlockForm, Distance
from .block import Block

WINDOW = 1 << 14
"""Short rows that are shuffled among each other; of more, runs from all over are mixed."""

RUN_NUMBERS = 1 << 10
"""Numbers of neighbours that are fetched together."""

LARGEST_SCATTER = 1 << 24
"""Numbers that the covariances of all classes may have."""


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

    def prepare_for(self, distance: Distance, codebook: Codebook) -> Blocks:
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
        """Yield every row once, ``size`` at a time; in random order if a generator is given.

        Rows in random order are copied together, so that whoever learns from them one by one
        does not wait for the memory at each. Very many short rows are in random order by runs of
        neighbours: runs from all over the data are brought together and shuffled.
        """
        for block in self:
            for part in [block] if rng is None else runs_at_random(block, rng):
                order = None if rng is None else shuffled_indices(len(part), rng)
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
        X, self._block = block.X, block
        self.n_samples, self.size = len(block.y), int(X.nnz if issparse(X) else X.size)

    @property
    def is_array(self) -> bool:
        """Whether the rows are a dense array of double precision."""
        return isinstance(self._block.X, np.ndarray) and self._block.X.dtype == np.float64

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args, block)`` of the only block."""
        return function(*args, self._block)

    def __iter__(self) -> Iterator[Block]:
        yield self._block

    def number_rows(self) -> MemoryBlocks:
        """Return the same rows with their places, for who watches single steps."""
        places = self._block.places  # known if some rows have no weight
        places = np.arange(self.n_samples) if places is None else places
        return MemoryBlocks(replace(self._block, places=places))

    def prepare_for(self, distance: Distance, codebook: Codebook) -> MemoryBlocks:
        """Return the same data with what the distance can compute beforehand."""
        if isinstance(self._block.X, MappedRows) or not isinstance(distance, BlockForm):
            return self
        prepared = distance.prepare(self._block.X, codebook)
        return MemoryBlocks(replace(self._block, prepared=prepared))


def runs_at_random(block: Block, rng: np.random.RandomState) -> Iterator[Block]:
    """Yield the block in parts: of very many short rows, runs that are drawn at random.

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


def shuffled_indices(n: int, rng: np.random.RandomState) -> NDArray[Any]:
    """Return the numbers below n in random order, as small integers as will do."""
    order = np.arange(n, dtype=np.uint32 if n < 1 << 32 else np.uint64)
    rng.shuffle(order)
    return order


def rows_with_moments(blocks: Blocks, means: Floats, low: Floats, high: Floats) -> Block | None:
    """Return few rows with the moments of all; None if their covariances would be too large.

    ``means`` are those of the classes; columns with ``low == high`` are constant in the new rows.

    Of a class with mean m and covariance ``S = sum_k l_k l_k^T`` take the P rows
    ``m + t sum_k h_jk l_k``, where the columns of h are those of a Hadamard matrix of P > d rows,
    without the first: of entries of size one, orthogonal, with sum zero. Their mean is m, their
    covariance a multiple of S, and all of them are ``t sqrt(trace S)`` away from m. With the share
    ``1 / t^2`` of the weight, the rest of it on m, they have the covariance S, and with
    ``t^2 = E|x - m|^4 / (trace S)^2 >= 1`` the fourth moment of the lengths as well.
    """
    n_classes, d = means.shape
    if n_classes * d * d > LARGEST_SCATTER:
        return None
    means = np.clip(means, low, high)  # a mean of equal numbers may differ from them
    total = blocks.reduce(scatter, means)
    varies = low < high
    signs = hadamard(1 << d.bit_length(), dtype=np.int8)[:, 1 : varies.sum() + 1]
    X, weight = [], []
    for code, mean in enumerate(means):
        s = total.weight[code]
        S = total.products[code][np.ix_(varies, varies)] / s
        squared = S.trace() ** 2
        stretch = max(total.fourth[code] / s / squared, 1.0) if squared > 0.0 else 1.0
        values, vectors = np.linalg.eigh(S)
        rows = np.tile(mean, (len(signs) + 1, 1))
        rows[:-1, varies] += signs @ (np.sqrt(stretch * np.maximum(values, 0.0)) * vectors).T
        X.append(rows)
        share = s / stretch
        weight.append(np.append(np.full(len(signs), share / len(signs)), s - share))
    codes = np.repeat(np.arange(n_classes), len(signs) + 1)
    return Block(np.vstack(X), codes, np.concatenate(weight))


@dataclass(frozen=True)
class Scatter:
    """Sums over the rows of each class, of what they differ from its mean."""

    weight: Floats  # (n_classes,)
    products: Floats  # (n_classes, d, d)
    fourth: Floats  # (n_classes,): powers of the lengths

    def __add__(self, other: Scatter) -> Scatter:
        products, fourth = self.products + other.products, self.fourth + other.fourth
        return Scatter(self.weight + other.weight, products, fourth)


def scatter(means: Floats, block: Block) -> Scatter:
    """Return the scatter of a block about the means of its classes."""
    n_classes, d = means.shape
    products, fourth = np.zeros((n_classes, d, d)), np.zeros(n_classes)
    weights = block.weights
    for rows in some_rows(block.X):
        part = block.X[rows].toarray() if issparse(block.X) else block.X[rows]
        codes = block.y[rows]
        for code in np.unique(codes):
            here = codes == code
            offset, weight = part[here] - means[code], weights[rows][here]
            offset[np.isnan(offset)] = 0.0  # what is missing is taken as the mean of the class
            products[code] += (weight[:, None] * offset).T @ offset
            fourth[code] += weight @ np.square(np.einsum("ij,ij->i", offset, offset))
    total = np.bincount(block.y, weights, minlength=n_classes).astype(np.float64)
    return Scatter(total, products, fourth)
