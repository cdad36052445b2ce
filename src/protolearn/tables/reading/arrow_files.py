"""Tables whose values have types: Parquet, Feather, JSON Lines and Excel, batch by batch."""

from __future__ import annotations

import datetime
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .cell_values import text_of
from .data_file import DataFile, MemoryLimit, TableFileError
from .header import different_names, find_header
from .text_table import Layout

ROWS = 1 << 16
"""Rows that are read at once."""

LINES = 1 << 22
"""Bytes of JSON Lines that are read at once."""

LONGEST_LINE = 1 << 26
"""Bytes of an object in JSON Lines."""

Blocks = Iterator[tuple[int, dict[str, Any]]]
"""Numbers of rows before, and columns of Arrow."""


@dataclass(frozen=True)
class ArrowTable(ABC):
    """A file of typed values; formats say how batches come and what the columns are called."""

    file: DataFile
    limit: MemoryLimit
    delimiter = ""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.name

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return self.file.describe_packing(self.format_name)

    format_name = "table"

    @property
    @abstractmethod
    def stored_names(self) -> list[str]:
        """The names of the columns as the file has them."""

    @cached_property
    def assumptions(self) -> list[str]:
        """What was assumed, and may be otherwise."""
        return []

    @cached_property
    def notes(self) -> list[str]:
        """What else was found."""
        return []

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, no two the same."""
        return column_names(self.name, self.stored_names, self.assumptions)

    @abstractmethod
    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Return batches with columns at some places, some thousand rows each."""

    def sample(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the first rows."""
        return first_values(self.blocks(columns, {}))

    def blocks(self, columns: Sequence[str], types: Mapping[str, Any]) -> Blocks:
        """Return some rows of some columns at a time, and how many rows were before."""
        places, start = [self.names.index(name) for name in columns], 0
        for batch in self.batches(places):
            if batch.num_rows:
                yield start, dict(zip(columns, batch.columns, strict=True))
                start += batch.num_rows

    def place(self, number: int) -> str:
        """Return the words for a row: its number from 1."""
        return f"row {number + 1}"


def first_values(blocks: Blocks) -> dict[str, Any]:
    """Return the columns of the first rows; those without a value there are of later rows."""
    import pyarrow as pa

    found: dict[str, Any] = {}
    for _, block in blocks:
        for name, column in block.items():
            if name not in found or pa.types.is_null(found[name].type):
                found[name] = column
        if not any(pa.types.is_null(column.type) for column in found.values()):
            break
    return found


def column_names(name: str, names: Sequence[str], assumed: list[str]) -> list[str]:
    """Return the names of columns, no two the same."""
    if not names:
        raise TableFileError(f"{name!r} has no columns; expected one at least.")
    if "" in names:
        raise TableFileError(
            f"{name!r} has no name for column {list(names).index('') + 1}; expected one for each: "
            "write it with one."
        )
    return different_names(names, assumed)


@contextmanager
def report_damage(name: str, kind: str) -> Iterator[None]:
    """Raise a sentence that says that a file is damaged."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise TableFileError(
            f"{name!r} is a damaged {kind} file ({first_line(error)}); copy or load it again."
        ) from None


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


class ParquetTable(ArrowTable):
    """A Parquet file."""

    format_name = "Parquet"

    @contextmanager
    def opened(self, dictionaries: Sequence[str] = ()) -> Iterator[Any]:
        """Open it; columns of texts are read as the different ones and which each row has."""
        from pyarrow import parquet

        with self.file.unpacked() as stream, report_damage(self.name, "Parquet"):
            yield parquet.ParquetFile(stream, read_dictionary=list(dictionaries))

    @cached_property
    def schema(self) -> Any:
        """The names and the types of the columns."""
        with self.opened() as parquet:
            return parquet.schema_arrow

    @cached_property
    def stored_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Return batches of rows."""
        texts = [
            field.name for field in self.schema if str(field.type) in ("string", "large_string")
        ]
        with self.opened(texts) as parquet:
            names = [self.stored_names[place] for place in places]
            self.limit.check(self.name, unpacked_size(parquet.metadata, set(names)))
            for batch in parquet.iter_batches(batch_size=ROWS, columns=list(dict.fromkeys(names))):
                yield batch if batch.schema.names == names else batch.select(in_order(batch, names))


def in_order(batch: Any, names: Sequence[str]) -> list[int]:
    """Return the places of columns in a batch, of those with the same name one after another."""
    found: list[int] = []
    for name in names:
        places = [j for j, other in enumerate(batch.schema.names) if other == name]
        found.append(next((j for j in places if j not in found), places[0]))
    return found


def unpacked_size(metadata: Any, names: set[str]) -> float:
    """Return how many bytes some columns of a Parquet file take at least, by its own account."""
    stored = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = map(group.column, range(group.num_columns))
        stored += sum(c.total_uncompressed_size for c in columns if c.path_in_schema in names)
    return max(float(stored), 8.0 * metadata.num_rows * len(names))


class FeatherTable(ArrowTable):
    """A Feather file, which is a file of Arrow."""

    format_name = "Feather"

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open it."""
        import pyarrow as pa

        with self.file.unpacked() as stream, report_damage(self.name, "Feather"):
            yield pa.ipc.open_file(stream)

    @cached_property
    def stored_names(self) -> list[str]:
        """The names of the columns."""
        with self.opened() as reader:
            return list(reader.schema.names)

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Return batches of rows."""
        with self.opened() as reader:
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                self.limit.check(self.name, batch.nbytes)
                yield batch.select(list(places))


class JsonTable(ArrowTable):
    """JSON Lines: an object in each line."""

    format_name = "JSON Lines"

    def parts(self) -> Iterator[Any]:
        """Return tables of some thousand lines."""
        rest = b""
        with self.file.binary() as stream:
            while True:
                part = stream.read(LINES)
                whole = rest + part
                end = whole.rfind(b"\n") + 1 if part else len(whole)
                rest = whole[end:]
                if len(rest) > LONGEST_LINE:
                    raise TableFileError(
                        f"{self.name!r} has a line of more than {LONGEST_LINE} bytes; expected an "
                        "object in each line."
                    )
                if whole[:end].strip():
                    yield self.parse(whole[:end])
                if not part:
                    return

    def parse(self, lines: bytes) -> Any:
        """Return lines as a table; a column of values of several types becomes texts."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        try:
            return arrow_json.read_json(pa.BufferReader(lines.removeprefix(b"\xef\xbb\xbf")))
        except pa.ArrowInvalid:
            pass
        try:
            rows = [
                json.loads(line) for line in lines.decode("utf-8-sig").splitlines() if line.strip()
            ]
        except (ValueError, RecursionError) as error:
            raise TableFileError(
                f"{self.name!r} has a line that is no JSON object ({first_line(error)}); expected "
                "JSON Lines: an object in each line."
            ) from None
        if not all(isinstance(row, dict) for row in rows):
            raise TableFileError(
                f"{self.name!r} has a line that is no JSON object; expected one in each line."
            )
        names = dict.fromkeys(name for row in rows for name in row)
        return pa.table({name: arrow_column([row.get(name) for row in rows]) for name in names})

    @cached_property
    def stored_names(self) -> list[str]:
        """The names of the columns, of all lines."""
        return list(dict.fromkeys(name for part in self.parts() for name in part.column_names))

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Return tables with all columns, of nothing where the lines have none."""
        import pyarrow as pa

        for part in self.parts():
            names = [self.stored_names[place] for place in places]
            there = set(part.column_names)
            columns = [part[n] if n in there else pa.nulls(part.num_rows) for n in names]
            yield pa.table(columns, names=names)


class ExcelTable(ArrowTable):
    """The first sheet of a workbook of Excel or OpenDocument."""

    format_name = "Excel sheet"

    @cached_property
    def rows(self) -> list[list[Any]]:
        """The cells of the rows that have any, None where there is nothing."""
        try:
            from python_calamine import CalamineWorkbook
        except ImportError:
            raise TableFileError(
                f"{self.name!r} is an Excel file, which needs python-calamine: pip install "
                "'protolearn[excel]', or save the sheet as CSV."
            ) from None
        with self.file.unpacked() as stream:
            if zipfile.is_zipfile(stream):
                with zipfile.ZipFile(stream) as archive:
                    self.limit.check(self.name, sum(one.file_size for one in archive.infolist()))
            stream.seek(0)
            try:
                book = CalamineWorkbook.from_filelike(stream)
                found = book.get_sheet_by_index(0).to_python()
            except Exception as error:  # each kind of damage has a class of its own
                raise TableFileError(
                    f"{self.name!r} is a damaged Excel file ({first_line(error)}); save it again."
                ) from None
        if len(book.sheet_names) > 1:
            self.assumptions.append(
                f"the sheet {book.sheet_names[0]!r}, the first of {len(book.sheet_names)}, is read"
            )
        rows = [[None if cell == "" else cell for cell in row] for row in found]
        rows = [row for row in rows if any(cell is not None for cell in row)]
        if not rows:
            raise TableFileError(f"{self.name!r} has no rows; expected a header and rows below it.")
        return rows

    @cached_property
    def body(self) -> tuple[list[str], list[list[Any]]]:
        """The names of the columns and the rows below them; a title above is left out."""
        rows, skip = self.rows, 0
        while skip < len(rows) - 2 and n_cells(rows[skip]) == 1 < n_cells(rows[skip + 1]):
            skip += 1
        if skip:
            title = next(cell for cell in rows[0] if cell is not None)
            self.assumptions.append(f"{skip} row{'s' * (skip > 1)} such as {title!r} skipped")
        texts = [[text_of(cell) or "" for cell in row] for row in rows[skip : skip + 200]]
        header = find_header(self.name, texts, Layout(","))
        self.notes.extend(header.notes)
        self.assumptions.extend(header.assumptions)
        return list(header.names), rows[skip + header.there :]

    @cached_property
    def stored_names(self) -> list[str]:
        """The names of the columns."""
        return self.body[0]

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Return the whole sheet."""
        import pyarrow as pa

        names, rows = self.body
        columns = [arrow_column([row[place] for row in rows]) for place in places]
        yield pa.table(columns, names=[names[place] for place in places])


def n_cells(row: Iterable[Any]) -> int:
    """Return how many cells hold something."""
    return sum(cell is not None for cell in row)


def arrow_column(values: list[Any]) -> Any:
    """Return values of Python as a column of Arrow; of several types as texts."""
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    if types <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types <= {datetime.date, datetime.datetime}:
        midnight = datetime.time()
        times = [
            datetime.datetime.combine(v, midnight) if type(v) is datetime.date else v
            for v in values
        ]
        return pa.array(times, pa.timestamp("us"))
    if types == {datetime.time}:
        return pa.array(values, pa.time64("us"))
    return pa.array([text_of(value) for value in values], pa.string())


FORMATS: dict[str, Any] = {
    "parquet": ParquetTable,
    "feather": FeatherTable,
    "json": JsonTable,
    "excel": ExcelTable,
}
