"""What was read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class ReadTable:
    r"""A table that was read from a file.

    Attributes
    ----------
    frame : structured array of shape (n_rows,)
        A field for each column: doubles (NaN where one is missing), texts as objects (None where
        one is missing) or times in microseconds (NaT where one is missing).
    origin : str
        What was understood of the file, in a line.
    notes : tuple of str
        What else one should know, such as that the numbers have decimal commas.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from protolearn.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name;weight\nRex;12,5\nTom;4,0\n")
    >>> read_table(path).notes
    ('decimal commas, as in 12,5',)
    """

    frame: NDArray[Any]
    origin: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ReadTable {self.origin}>"
