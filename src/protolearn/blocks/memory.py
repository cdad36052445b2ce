"""Blocks of data in memory: a single one."""

from __future__ import annotations

from collections.abc import Iterator

from .._parameters import Codebook, Floats, Indices
from ..distances import Distance
from .base import Block, Blocks


class MemoryBlocks(Blocks):
    """The whole data as one block.

    Parameters
    ----------
    X, y, weight : arrays
        Samples, class codes, weights.
    distance, codebook : Distance, Codebook
        What the block is prepared for.
    """

    def __init__(
        self, X: Floats, y: Indices, weight: Floats, distance: Distance, codebook: Codebook
    ):
        self.n_samples = len(X)
        self._block = Block(X, y, weight, distance.prepare(X, codebook))

    def __iter__(self) -> Iterator[Block]:
        yield self._block
