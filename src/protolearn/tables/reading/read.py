"""Tables in files, read into structured arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import suggest_name
from .arff import MISSING as ARFF_MISSING
from .arff import check_categories, is_arff, open_arff
from .cell_values import MISSING
from .column_kinds import Judge
from .data_file import DataFile, TableFileError
from .filling import FIELDS, FirstDraft
from .parquet import MAGIC, column_names, open_parquet, read_parquet
from .parquet_folder import ParquetFolder, is_folder
from .text_table import TextTable


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


def read_table(
    path: Any, *, kinds: Mapping[str, str] | None = None, columns: Sequence[str] | None = None
) -> ReadTable:
    r"""Read a table from a file: CSV, TSV, Parquet or ARFF, packed by gzip or not.

    A folder of Parquet files of one schema is a table too, the files in the order of their names.
    What the names of folders in it tell, as in ``year=2024``, is a column more.

    What the file is, is told by what it holds, not by its name. Of a text, the encoding, the
    delimiter, whether there is a header, and what each column holds are found out.

    Parameters
    ----------
    path : str or path
        The file, or a folder of Parquet files. Names in it that begin with ``.`` or ``_`` are
        ignored.
    kinds : dict, default=None
        What some columns are, by name: ``"number"``, ``"category"`` (texts as they are written:
        ``01`` stays ``01``) or ``"date"``. Others are recognised.
    columns : sequence of str, default=None
        Names of the columns to read; None: all. Others are not looked at. They come in the order
        of the file.

    Returns
    -------
    table : ReadTable
        With ``frame``, a structured array, and in words ``origin`` and ``notes``.

    Raises
    ------
    TableFileError
        If the file is not there, is no table, or has a mistake, which is named by row and column.

    See Also
    --------
    split_target : Take the column of labels out of the frame.

    Notes
    -----
    A column holds numbers if at least half of its cells are numbers; then all others must be
    missing, or else the first that is not is named in an error. It holds dates if all cells are
    dates or times by ISO 8601, as ``2024-12-31`` or ``2024-12-31T23:59:59``; times with a time zone
    are turned into UTC. All other columns are texts, also numbers among them.

    A cell is missing if it is empty or one of ``NA``, ``N/A``, ``n/a``, ``NaN``, ``nan``, ``null``,
    ``NULL``, ``#N/A``, ``<NA>`` and ``?``. ``-``, ``.`` and ``None`` are missing among numbers and
    dates, and texts among texts. Blanks around cells and empty lines are left out.

    Numbers may have decimal commas where these do not part cells. Separators of thousands, signs of
    currencies and percents are not understood: such cells are no numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from protolearn.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name,weight,born\nRex,12.5,2020-03-01\nTom,NA,2021-07-15\n")
    >>> table = read_table(path)
    >>> table.origin
    'pets.csv: comma-separated text with a header, 2 rows, 3 columns'
    >>> table.frame["weight"].tolist(), table.frame["name"].tolist()
    ([12.5, nan], ['Rex', 'Tom'])
    """
    asked = dict(kinds or {})
    for name, kind in asked.items():
        if kind not in FIELDS:
            raise ValueError(f"kinds has {kind!r} for {name!r}; expected one of {list(FIELDS)}.")
    if is_folder(path):
        return read_folder(path, asked, columns)
    file = DataFile.at(path)
    if file.head.startswith(MAGIC):
        return read_columns(file, asked, columns)
    file.check_text()
    for encoding in file.encodings():
        try:
            return read_text(file, encoding, asked, columns)
        except UnicodeDecodeError as error:
            found = error
    raise TableFileError(
        f"{file.name!r} begins as a text in {found.encoding}, but does not go on as one; save it "
        "in UTF-8."
    )


def read_columns(file: DataFile, asked: dict[str, str], columns: Any) -> ReadTable:
    """Read a Parquet file."""
    with open_parquet(file) as parquet:
        names = column_names(file.name, parquet.schema_arrow)
        chosen = columns_to_read(file.name, names, asked, columns)
        check_rows(file.name, parquet.metadata.num_rows)
        frame = read_parquet(parquet, chosen, asked)
    return ReadTable(
        frame,
        describe_origin(file.name, describe_packing(file, "Parquet"), len(frame), names, chosen),
    )


def read_folder(path: Any, asked: dict[str, str], columns: Any) -> ReadTable:
    """Read all rows of a folder of Parquet files."""
    folder = ParquetFolder.at(path)
    chosen = columns_to_read(folder.name, list(folder.names), asked, columns)
    check_rows(folder.name, folder.n_rows)
    frame = folder.read_rows(chosen, asked, np.arange(folder.n_rows))
    return ReadTable(
        frame, describe_origin(folder.name, folder.kind, len(frame), folder.names, chosen)
    )


def read_text(file: DataFile, encoding: str, asked: dict[str, str], columns: Any) -> ReadTable:
    """Read a text, once if its first rows tell what it holds, or else twice."""
    arff = is_arff(file.head.decode(encoding, errors="ignore"))
    table = open_arff(file, encoding) if arff else TextTable.of(file, encoding)
    names = list(table.header.names)
    chosen = set(columns_to_read(file.name, names, asked, columns))
    places = {name: place for place, name in enumerate(names) if name in chosen}
    if arff:
        asked = {a.name: a.kind for a in table.layout.attributes} | asked
    commas, missing = table.layout.delimiter != ",", ARFF_MISSING if arff else MISSING
    draft = FirstDraft(asked, most_rows(file, table), commas, missing)
    tallies, n_rows = draft.survey(table.blocks(), places)
    check_rows(file.name, n_rows)
    judge = Judge(table.place, asked)
    plan = judge.plan(tallies, commas)
    frame = draft.frame(table.blocks(), places, plan, n_rows)
    if arff:
        check_categories(frame, table, plan.kinds)
    kind = describe_packing(file, table.layout.describe(table.header))
    told = describe_origin(file.name, kind, n_rows, names, places)
    return ReadTable(frame, told, (*table.notes, *judge.notes))


def most_rows(file: DataFile, table: TextTable) -> int:
    """Return a number of rows that a file does not exceed; 0 if its lines tell nothing about that.

    Each row of a table has a line, with a character for each cell. If there are more lines than
    that, they are in cells with line ends.
    """
    n_lines, n_bytes = file.lines()
    n_rows = n_lines - table.layout.skip - table.header.there
    return n_rows if n_rows * table.header.width <= n_bytes else 0


def check_rows(name: str, n_rows: int) -> None:
    """Raise if there are no rows."""
    if not n_rows:
        raise TableFileError(
            f"{name!r} has names of columns, but no rows; expected one at least below them."
        )


def columns_to_read(
    file: str, names: list[str], asked: Mapping[str, str], columns: Any
) -> list[str]:
    """Return the names of the columns to read, in the order of the file."""
    chosen = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    there = set(names)
    for name in [*chosen, *asked]:
        if name not in there:
            raise TableFileError(f"{file!r} has no column {name!r}.{suggest_name(name, names)}")
    if not chosen:
        raise ValueError("columns is empty; expected names of columns, or None for all.")
    asked_for = set(chosen)
    return [name for name in names if name in asked_for]


def describe_origin(name: str, kind: str, n_rows: int, names: Any, chosen: Any) -> str:
    """Return a text that says what was understood of a file or a folder."""
    part = f"{len(chosen)} of {len(names)}" if len(chosen) < len(names) else f"{len(names)}"
    return (
        f"{name}: {kind}, {n_rows} row{'s' * (n_rows > 1)}, {part} column{'s' * (len(names) > 1)}"
    )


def describe_packing(file: DataFile, kind: str) -> str:
    """Return how a file of some kind is packed, in a word."""
    return f"gzipped {kind}" if file.gzipped else kind
