"""Where the data are: blocks of rows that the objective sums over.

In memory or in a memory map (``base``), in files (``files``), made by a function (``parts``), or
on a cluster (``on_dask``). Data in parts are surveyed once (``survey``), and read as checked and
encoded blocks (``reading``).
"""

from .base import Batch, Blocks, MemoryBlocks
from .block import Block, Chunk
from .block import encode as encode
from .parts import Part, Parts

__all__ = ["Batch", "Block", "Blocks", "Chunk", "MemoryBlocks", "Part", "Parts"]
