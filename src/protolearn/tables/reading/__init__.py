"""Tables in files, read into structured arrays."""

from .data_file import TableFileError
from .read import ReadTable, read_table

__all__ = ["ReadTable", "TableFileError", "read_table"]
