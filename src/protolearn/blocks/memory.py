"""Blocks of data that are one array: a single one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._arrays import MappedRows
from ..codebook import Codebook
from ..distances import BlockForm, Distance
from .base import Block, Blocks


class MemoryBlocks(Blocks):
    """The whole data as one block.

    Parameters
    ----------
    block : Block
        All the rows.
    """

    def __init__(self, block: Block):
        self.n_samples, self.size = len(block), block.size
        self._block = block

    def __iter__(self) -> Iterator[Block]:
        yield self._block

    def prepared(self, distance: Distance, codebook: Codebook) -> MemoryBlocks:
        """Return the same data with what the distance can compute beforehand."""
        if isinstance(self._block.X, MappedRows) or not isinstance(distance, BlockForm):
            return self
        prepared = distance.prepare(self._block.X, codebook)
        found = MemoryBlocks(replace(self._block, prepared=prepared))
        found.journal = self.journal
        return found
