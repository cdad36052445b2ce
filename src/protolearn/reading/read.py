"""Tables in files, read into structured arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .._names import as_list, suggest_name
from .arff import is_arff, open_arff
from .arrow_files import OPENERS, ParquetFolder, dataset_table, is_data, is_folder
from .cell_values import quote
from .column_reader import KINDS, AssembledTable, read_columns
from .data_file import DataFile, MemoryLimit, TableFileError
from .text_table import TextTable

TEXTS = (".txt", ".csv", ".tsv", ".csv.gz", ".csv.zst")
"""How the names of texts end that are looked for in a folder."""


@dataclass(frozen=True, eq=False, repr=False)
class ReadTable:
    r"""A table that was read from a file.

    Attributes
    ----------
    frame : structured array of shape (n_rows,)
        A field for each column: doubles (NaN where one is missing), texts and truth values as
        objects (None where one is missing) or times in microseconds (NaT where one is missing).
    origin : str
        What was understood of the file, in a line.
    notes : tuple of str
        What else one should know, such as that the numbers have decimal commas; the assumptions
        are the last of them.
    assumptions : tuple of str
        What was assumed and may be otherwise, such as that 01/02/2024 is the first of February.
    target : str or None
        The column of labels, if one was named.
    id : tuple of str
        Columns that name the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from protolearn.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name;weight\nRex;12,5\nTom;4,0\n")
    >>> print(read_table(path))
    pets.csv: semicolon-separated text with a header, 2 rows, 2 columns
    column 'weight' has decimal commas, as in 12,5
    """

    frame: NDArray[Any]
    origin: str
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    target: str | None = None
    id: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ReadTable {self.origin}>"

    def __str__(self) -> str:
        return "\n".join([self.origin, *self.notes])


def read_table(
    path: Any,
    *,
    kinds: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    target: str | int | None = None,
    drop: Sequence[str] | None = None,
    id: Sequence[str] | None = None,
    missing: Any = None,
    strict: bool = False,
    memory: Any = None,
) -> ReadTable:
    r"""Read a table from a file: CSV, TSV, Excel, Parquet, Feather, JSON Lines or ARFF.

    Files may be packed by gzip or zstd. A folder of Parquet files of one schema is a table too,
    the files in the order of their names. What the names of folders in it tell, as in
    ``year=2024``, is a column more.

    The content of a file tells what it is, not its name. Of a text, the encoding, the delimiter
    and the header are found out. What each column holds is found out in all formats alike.

    Parameters
    ----------
    path : str or path
        The file, ``"-"`` for standard input, or a folder of Parquet files. Names in it that begin
        with ``.`` or ``_`` are ignored.
    kinds : dict, default=None
        What some columns are, by name: ``"number"``, ``"category"`` (texts as they are written:
        ``01`` stays ``01``), ``"date"`` or ``"boolean"``. Others are recognised.
    columns : sequence of str, default=None
        Names of the columns to read; None: all. Others are not looked at. They come in the order
        of the file.
    names : sequence of str, default=None
        Names for all columns of a text that has no header.
    target : str or int, default=None
        The column of labels, which is read as texts: its name, its number from 1, or ``"last"``.
    drop : sequence of str, default=None
        Columns that are not read.
    id : sequence of str, default=None
        Columns that name the rows. They are read as texts.
    missing : sequence of str, or dict, default=None
        Further cells that have no value, such as ``"999"``, in all columns. ``"age=999"``, or a
        dict of columns to such sequences, names cells of one column.
    strict : bool, default=False
        Whether to raise an error where something has to be assumed.
    memory : int or str, default=None
        Bytes that the table may take, or a text such as ``"4GB"``; None: half of the machine's
        memory.

    Returns
    -------
    table : ReadTable
        With ``frame``, a structured array, and in words ``origin``, ``notes`` and
        ``assumptions``.

    Raises
    ------
    TableFileError
        If the file is not there, is no table, takes too much memory, or has a mistake, which is
        named by row and column; with ``strict`` also if something has to be assumed.

    See Also
    --------
    split_target : Take the column of labels out of the frame.

    Notes
    -----
    A column holds numbers, dates or truth values if at least 95 % of its cells are such. The
    others count as missing, and a note names one. All other columns hold words.

    Numbers may have decimal commas, separators of thousands, a currency, a percent sign or another
    unit, the same in a whole column; the unit is left out. In parentheses, or before a minus, they
    are negative. Dates may be written by ISO 8601 or as ``31.12.2024``, ``31/12/2024``,
    ``12/31/2024``, ``2024/12/31``, ``31 Dec 2024`` or ``December 31, 2024``; where day and month
    cannot be told apart, the day is taken to be first. Times with a time zone are turned into UTC.
    Times of a day such as ``14:30`` become hours. ``true`` and ``false``, ``yes`` and ``no`` are
    truth values.

    A cell is missing if it is empty or one of ``NA``, ``N/A``, ``n/a``, ``NaN``, ``nan``, ``null``,
    ``NULL``, ``#N/A``, ``<NA>``, ``<null>`` and ``?``. ``-``, ``.``, ``none``, ``unknown``,
    ``missing`` and errors of Excel are missing among numbers, dates and truth values, and texts
    among texts. Blanks around cells and empty lines are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from protolearn.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name,weight,born\nRex,12.5 kg,31.3.2020\nTom,unknown,15.7.2021\n")
    >>> table = read_table(path)
    >>> print(table)
    pets.csv: comma-separated text with a header, 2 rows, 3 columns
    column 'weight' has the unit kg, which is left out, as in 12.5 kg
    column 'born' has dates with the day first, as in 31.3.2020
    >>> table.frame["weight"].tolist(), table.frame["name"].tolist()
    ([12.5, nan], ['Rex', 'Tom'])
    """
    limit = MemoryLimit.of(memory)
    for name, kind in (kinds or {}).items():
        if kind not in KINDS:
            raise ValueError(f"kinds has {kind!r} for {name!r}; expected one of {list(KINDS)}.")
    wanted = Request(kinds or {}, columns, target, as_list(drop), as_list(id), missing)
    read: Any = None
    for source in table_sources(path, limit, names):
        with suppress(UnicodeDecodeError):
            read = wanted.read(source, limit)
            break
    if strict and read.assumptions:
        told = "; ".join(read.assumptions)
        raise TableFileError(
            f"{read.origin.partition(':')[0]!r} is not read, since something would have to be "
            f"assumed: {told}. Correct the file, name the kinds of the columns, or leave out "
            "strict (--strict)."
        )
    return read


def table_sources(path: Any, limit: MemoryLimit, names: Any = None) -> Iterator[Any]:
    """Return a file or a folder as a table; a text again in each encoding that it may have."""
    if is_folder(path):
        yield ParquetFolder(path, limit)
        return
    file = DataFile.at(path, limit)
    if file.format in OPENERS:
        yield OPENERS[file.format](file, limit)
        return
    file.check_text()
    for encoding in file.encodings():
        with suppress(UnicodeDecodeError):
            is_one = is_arff(file.head.decode(encoding, errors="ignore"))
            source = open_arff(file, encoding) if is_one else TextTable.of(file, encoding, names)
            yield source
    raise TableFileError(
        f"{file.name!r} starts as text in {file.encodings()[0].removesuffix('-sig')}, but has "
        "bytes that are not; save it in UTF-8."
    )


def open_table(path: Any) -> Any:
    """Return the table in a file: its ``names``, and rows to be read by :func:`read_blocks`."""
    return next(table_sources(path, MemoryLimit.of(None)))


def open_tables(data: Any) -> list[Any]:
    """Return the tables of equal columns in a file, in a folder, or in a dataset of pyarrow."""
    if hasattr(data, "get_fragments"):
        return [dataset_table(data)]
    where = Path(data)
    if not where.exists():
        raise TableFileError(f"X={os.fspath(data)!r} is neither a file nor a folder.")
    if where.is_file():
        return [open_table(where)]
    files = [file for file in sorted(where.rglob("*")) if is_data(file, where)]
    binary = [file for file in files if file.name.lower().endswith((".parquet", ".pq"))]
    kinds = TEXTS[binary != [] :]  # beside Parquet a .txt tells what the others are
    texts = [file for file in files if file.name.lower().endswith(kinds)]
    if bool(binary) == bool(texts):
        found = "Parquet and CSV" if texts else "neither Parquet nor CSV"
        raise TableFileError(
            f"X={os.fspath(data)!r} holds {found}; expected files of one of them, all *.parquet."
        )
    if binary:
        return ParquetFolder(where, None, binary).tables()
    tables = [open_table(file) for file in texts]
    for one in tables:
        if other := {*one.names} ^ {*tables[0].names}:
            raise TableFileError(
                f"In {one.name!r}: it has not the columns of the first file: one of them lacks "
                f"{', '.join(map(repr, sorted(other)))}."
            )
    return tables


@dataclass(frozen=True)
class Request:
    """What is wanted of a file."""

    kinds: Mapping[str, str]
    columns: Sequence[str] | None
    target: str | int | None
    drop: list[str]
    id: list[str]
    missing: Any

    def read(self, source: Any, limit: MemoryLimit) -> ReadTable:
        """Read the columns that are wanted."""
        names = list(source.names)
        target = None if self.target is None else target_name(source.name, names, self.target)
        asked = dict(getattr(source, "kinds", {})) | dict.fromkeys(self.id, "category")
        asked |= {} if target is None else {target: "category"}
        asked |= self.kinds
        check_names(source.name, names, [*self.drop, *self.id, *asked])
        chosen = columns_to_read(source.name, names, self.columns)
        chosen = [name for name in chosen if name not in self.drop]
        missing = missing_cells(self.missing, names)
        found = read_columns(source, chosen, asked, missing, limit)
        if not len(found.frame):
            raise TableFileError(
                f"{source.name!r} has names of columns, but no rows; expected one at least below "
                "them."
            )
        if isinstance(source, TextTable):
            check_categories(found, source)
        told = describe_origin(source.name, source.kind, len(found.frame), names, chosen)
        assumed = (*source.assumptions, *found.assumptions)
        notes = (*source.notes, *found.notes, *assumed)
        return ReadTable(found.frame, told, notes, assumed, target, tuple(self.id))


def check_categories(found: AssembledTable, table: TextTable) -> None:
    """Raise if a column holds a category that the header of an ARFF file does not tell."""
    for name, categories in table.layout.categories.items():
        values = found.frame[name].tolist() if found.kinds.get(name) == "category" else []
        wrong = set(values) - {None, *categories}
        if wrong:
            row = next(row for row, value in enumerate(values) if value in wrong)
            raise TableFileError(
                f"Column {name!r} has {quote(values[row])} in {table.place(row)}, which is not "
                f"among its categories {', '.join(categories[:8])}; correct it, or add it to the "
                "header."
            )


def missing_cells(missing: Any, names: Sequence[str]) -> dict[str | None, frozenset[str]]:
    """Return the cells without a value that a user names, by column; None: in all columns."""
    if isinstance(missing, Mapping):
        pairs = [(name, str(cell)) for name, cells in missing.items() for cell in as_list(cells)]
        unknown = [name for name, _ in pairs if name not in names]
        if unknown:
            raise TableFileError(
                f"missing names the column {unknown[0]!r}, which is not there."
                f"{suggest_name(unknown[0], list(names))}"
            )
    else:
        pairs = []
        for text in map(str, as_list(missing)):
            name, mark, cell = text.partition("=")
            pairs.append((name, cell) if mark and name in names else (None, text))
    found: dict[str | None, frozenset[str]] = {}
    for one, cell in pairs:
        found[one] = found.get(one, frozenset()) | {cell.strip()}
    return found


def target_name(file: str, names: Sequence[str], target: str | int) -> str:
    """Return the name of a column that is given by its name, its number from 1, or as the last."""
    text = str(target)
    if text in names:
        return text
    if text == "last":
        return names[-1]
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise TableFileError(f"{file!r} has no column {text!r}.{suggest_name(text, list(names))}")


def check_names(file: str, names: Sequence[str], given: Sequence[str]) -> None:
    """Raise if there is no column of a name that is given."""
    there = set(names)
    for name in given:
        if name not in there:
            raise TableFileError(
                f"{file!r} has no column {name!r}.{suggest_name(name, list(names))}"
            )


def columns_to_read(file: str, names: list[str], columns: Any) -> list[str]:
    """Return the names of the columns to read, in the order of the file."""
    chosen = names if columns is None else as_list(columns)
    check_names(file, names, chosen)
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
