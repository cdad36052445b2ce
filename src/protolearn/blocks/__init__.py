"""Where the data are: blocks of rows that the objective sums over."""

from .base import Block, Blocks
from .memory import MemoryBlocks

__all__ = ["Block", "Blocks", "MemoryBlocks"]
