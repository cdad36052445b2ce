"""Tables in files, read into structured arrays."""

from .errors import TableFileError
from .read import read_table
from .result import ReadTable

__all__ = ["ReadTable", "TableFileError", "read_table"]
