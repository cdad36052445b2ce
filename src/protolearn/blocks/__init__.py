"""Where the data are: blocks of rows that the objective sums over.

In memory or in a memory map (``memory``), in files (``files``), made by a function (``parts``), or
on a cluster (``on_dask``). Data in parts are surveyed once (``survey``), and read as checked and
encoded blocks (``reading``).
"""

from .base import Batch, Block, Blocks
from .journal import FileJournal, Journal
from .memory import MemoryBlocks
from .parts import Part, Parts

__all__ = ["Batch", "Block", "Blocks", "FileJournal", "Journal", "MemoryBlocks", "Part", "Parts"]
