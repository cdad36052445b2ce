"""Tables in files, read into structured arrays."""

from .arrow_files import ParquetFolder as ParquetFolder
from .arrow_files import holds_texts as holds_texts
from .cell_values import text_of as text_of
from .cell_values import truth_of as truth_of
from .column_reader import read_blocks as read_blocks
from .data_file import MemoryLimit as MemoryLimit
from .data_file import TableFileError
from .header import different_names as different_names
from .read import ReadTable, read_table
from .read import describe_origin as describe_origin
from .read import open_table as open_table
from .read import open_tables as open_tables

__all__ = ["ReadTable", "TableFileError", "read_table"]
