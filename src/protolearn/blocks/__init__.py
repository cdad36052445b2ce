"""Where the data are: blocks of rows that the objective sums over.

In memory or in a memory map (``memory``), in files or made by a function (``parts``), or on a
cluster (``on_dask``). Data in parts are surveyed once, and read as checked and encoded blocks
(``survey``).
"""

from .block import Block, Chunk
from .block import encode as encode
from .memory import Batch, Blocks, MemoryBlocks
from .memory import rows_with_moments as rows_with_moments
from .on_dask import DaskParts as DaskParts
from .parts import FileParts as FileParts
from .parts import MadeParts as MadeParts
from .parts import Part, Parts
from .parts import is_dataset as is_dataset
from .parts import is_path as is_path
from .survey import Checks as Checks
from .survey import Reader as Reader
from .survey import SampleSize as SampleSize
from .survey import Split as Split
from .survey import Survey as Survey
from .survey import Surveyor as Surveyor

__all__ = ["Batch", "Block", "Blocks", "Chunk", "MemoryBlocks", "Part", "Parts"]
