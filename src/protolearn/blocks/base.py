"""What a solver sees of the data: blocks of rows, and sums over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._parameters import Floats, Indices


@dataclass(frozen=True)
class Block:
    """Some rows: samples, class codes, weights, and what the distance prepared for them."""

    X: Floats
    y: Indices
    weight: Floats
    prepared: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def chunks(self, size: int) -> Iterator[Block]:
        """Cut the block into views of at most ``size`` rows."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            rows = slice(start, start + size)
            prepared = None if self.prepared is None else self.prepared[rows]
            yield Block(self.X[rows], self.y[rows], self.weight[rows], prepared)


class Blocks(ABC):
    """Data as a sequence of blocks.

    Attributes
    ----------
    n_samples : int
        Number of rows in all.
    """

    n_samples: int

    @abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """Give the blocks in order."""

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum ``function(*args, block)`` over the blocks; the results have to support ``+``."""
        blocks = iter(self)
        total = function(*args, next(blocks))
        for block in blocks:
            total = total + function(*args, block)
        return total

    def passes(self, rng: np.random.RandomState | None) -> Iterator[tuple[Block, Indices]]:
        """Give every block once with an order of its rows, shuffled if a generator is given."""
        for block in self:
            order = np.arange(len(block)) if rng is None else rng.permutation(len(block))
            yield block, order
