"""What is wrong with a file."""

from __future__ import annotations


class TableFileError(ValueError):
    """A file is no table, or one with a mistake in it.

    Examples
    --------
    >>> from protolearn.tables import TableFileError, read_table
    >>> try:
    ...     read_table("nowhere.csv")
    ... except TableFileError as error:
    ...     print(error)
    There is no file 'nowhere.csv'; look at its name and folder.
    """
