"""Where the data are: blocks of rows that the objective sums over.

In memory or in a memory map (``base``), in files (``files``), made by a function (``parts``), or
on a cluster (``on_dask``). Data in parts are surveyed once (``survey``), and read as checked and
encoded blocks (``reading``).
"""

from .base import Batch, Blocks, MemoryBlocks
from .block import Block, Chunk
from .block import encode as encode
from .files import FileParts as FileParts
from .files import is_dataset as is_dataset
from .files import is_path as is_path
from .moments import rows_with_moments as rows_with_moments
from .on_dask import DaskParts as DaskParts
from .parts import MadeParts as MadeParts
from .parts import Part, Parts
from .reading import Checks as Checks
from .reading import Reader as Reader
from .reading import Split as Split
from .survey import Survey as Survey
from .survey import Surveyor as Surveyor
from .survey import Wanted as Wanted

__all__ = ["Batch", "Block", "Blocks", "Chunk", "MemoryBlocks", "Part", "Parts"]
