"""Tables whose values have types: Parquet, Feather, JSON Lines and Excel, batch by batch."""

from __future__ import annotations

import datetime
import json
import os
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from .cell_values import text_of
from .column_reader import kind_of_type, read_columns
from .data_file import PARQUET, DataFile, MemoryLimit, TableFileError, report_read_errors
from .header import MOST_FOOTER, count_footer, count_titles, different_names, find_header
from .text_table import Layout

ROWS, CELLS = 1 << 16, 1 << 22
"""Rows that are read at once, or cells if these are more."""

LINES, LONGEST_LINE = 1 << 22, 1 << 26
"""Bytes of JSON Lines that are read at once, and of an object in them."""

SAMPLE_ROWS = 200
"""Rows of a sheet that its header is found by."""

IGNORED = (".", "_")
"""How names begin that are no data: of hidden files, and of notes that other programs leave."""

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""Columns that pandas writes and that nobody has named."""

Batches = Callable[[list[str]], Iterator[Any]]
"""Returns some columns, by their names in the file, some thousand rows at once."""


class ArrowTable:
    """A file of typed values."""

    delimiter = ""

    def __init__(
        self, name: str, kind: str, stored: Sequence[str], batches: Batches, *assumptions: str
    ):
        stored = [column for column in stored if not UNNAMED_INDEX.fullmatch(column)]
        self.name, self.kind, self.stored, self.batches = name, kind, stored, batches
        self.index: list[Any] = []  # columns that are the index of a frame of pandas
        self.notes: list[str] = []
        self.assumptions = list(assumptions)
        if not stored:
            raise TableFileError(f"{name!r} has no columns; expected one at least.")
        if "" in stored:
            raise TableFileError(
                f"{name!r} has no name for column {self.stored.index('') + 1}; expected one for "
                "each: write it with one."
            )
        self.names = different_names(stored, self.assumptions)

    def sample(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the columns of the first rows; those without a value there are of later rows."""
        import pyarrow as pa

        found: dict[str, Any] = {}
        for _, block in self.blocks(columns, {}):
            for name, column in block.items():
                if name not in found or pa.types.is_null(found[name].type):
                    found[name] = column
            if not any(pa.types.is_null(column.type) for column in found.values()):
                break
        return found

    def blocks(
        self, columns: Sequence[str], types: Mapping[str, Any]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return some rows of some columns at a time, and how many rows were before."""
        stored, start = [self.stored[self.names.index(name)] for name in columns], 0
        for batch in self.batches(stored):
            if batch.num_rows:
                yield start, dict(zip(columns, batch.columns, strict=True))
                start += batch.num_rows

    def place(self, number: int) -> str:
        """Return the words for a row: its number from 1."""
        return f"row {number + 1}"


@contextmanager
def report_damage(name: str, kind: str) -> Iterator[None]:
    """Raise a sentence that says that a file is damaged."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, struct.error) as error:
        raise TableFileError(
            f"{name!r} is a damaged {kind} file ({first_line(error)}); copy or load it again."
        ) from None


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def parquet_batches(stream: Any, names: list[str], limit: MemoryLimit, name: str) -> Iterator[Any]:
    """Return some columns of a Parquet file; texts as the different ones and which each row has."""
    from pyarrow import parquet

    schema = parquet.ParquetFile(stream).schema_arrow
    texts = [field.name for field in schema if str(field.type) in ("string", "large_string")]
    file = parquet.ParquetFile(stream, read_dictionary=texts)
    sizes = [0.0]  # by its own account, at least
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        sizes += [c.total_uncompressed_size for c in chunks if c.path_in_schema in names]
    limit.check(name, max(sum(sizes), 8.0 * file.metadata.num_rows * len(set(names))))
    columns = list(dict.fromkeys(names))
    for batch in file.iter_batches(batch_size=batch_size(len(columns)), columns=columns):
        yield in_order(batch, names)


def in_order(batch: Any, names: Sequence[str]) -> Any:
    """Return columns of a batch, those with the same name one after another."""
    if batch.schema.names == list(names):
        return batch
    found: list[int] = []
    for name in names:
        places = [j for j, other in enumerate(batch.schema.names) if other == name]
        found.append(next((j for j in places if j not in found), places[0]))
    return batch.select(found)


def open_parquet(file: DataFile, limit: MemoryLimit) -> ArrowTable:
    """Return a Parquet file."""
    from pyarrow import parquet

    def batches(names: list[str]) -> Iterator[Any]:
        with file.unpacked() as stream, report_damage(file.name, "Parquet"):
            yield from parquet_batches(stream, names, limit, file.name)

    with file.unpacked() as stream, report_damage(file.name, "Parquet"):
        names = parquet.ParquetFile(stream).schema_arrow.names
    return ArrowTable(file.name, file.describe_packing("Parquet"), names, batches)


def open_feather(file: DataFile, limit: MemoryLimit) -> ArrowTable:
    """Return a Feather file, which is a file of Arrow."""
    import pyarrow as pa

    @contextmanager
    def opened() -> Iterator[Any]:
        with file.unpacked() as stream, report_damage(file.name, "Feather"):
            yield pa.ipc.open_file(stream)

    def batches(names: list[str]) -> Iterator[Any]:
        with file.unpacked() as stream, report_damage(file.name, "Feather"):
            stream.seek(8)  # behind the mark, messages as in a stream
            for message in pa.ipc.MessageReader.open_stream(stream):
                limit.check(file.name, unpacked_size(message))
        with opened() as reader:
            for number in range(reader.num_record_batches):
                yield in_order(reader.get_batch(number), names)

    with opened() as reader:
        names = reader.schema.names
    return ArrowTable(file.name, file.describe_packing("Feather"), names, batches)


def unpacked_size(message: Any) -> int:
    """Return the bytes of a batch of Arrow when it is unpacked, by what the file says of it.

    pyarrow does not tell them; they stand in a message of the format FlatBuffers.
    """
    meta = message.metadata.to_pybytes()

    def find_field(table: int, number: int) -> int:
        first = table - struct.unpack_from("<i", meta, table)[0]
        there = 4 + 2 * number < struct.unpack_from("<H", meta, first)[0]
        step = struct.unpack_from("<H", meta, first + 4 + 2 * number)[0] if there else 0
        return table + step if step else 0

    def follow(place: int) -> int:
        return int(place + struct.unpack_from("<I", meta, place)[0])

    if message.type == "schema":
        return 0
    batch = follow(find_field(follow(0), 2))
    batch = follow(find_field(batch, 1)) if message.type == "dictionary" else batch
    buffers, is_packed, total = follow(find_field(batch, 2)), find_field(batch, 3), 0
    for number in range(struct.unpack_from("<I", meta, buffers)[0]):
        start, length = struct.unpack_from("<qq", meta, buffers + 4 + 16 * number)
        size = struct.unpack_from("<q", message.body, start)[0] if is_packed and length else -1
        total += length if size < 0 else size
    return int(total)


def open_json(file: DataFile, limit: MemoryLimit) -> ArrowTable:
    """Return JSON Lines: an object in each line."""
    import pyarrow as pa

    def parts() -> Iterator[Any]:
        rest = b""
        with file.binary() as stream:
            while part := stream.read(LINES) or (rest and b"\n"):
                whole = rest + part
                end = whole.rfind(b"\n") + 1
                rest = whole[end:]
                if len(rest) > LONGEST_LINE:
                    raise TableFileError(
                        f"{file.name!r} has a line of more than {LONGEST_LINE} bytes; expected an "
                        "object in each line."
                    )
                if whole[:end].strip():
                    yield parse_json(file.name, whole[:end])

    def batches(names: list[str]) -> Iterator[Any]:
        for part in parts():
            there = set(part.column_names)
            columns = [part[n] if n in there else pa.nulls(part.num_rows) for n in names]
            yield pa.table(columns, names=names)

    names = dict.fromkeys(name for part in parts() for name in part.column_names)
    return ArrowTable(file.name, file.describe_packing("JSON Lines"), list(names), batches)


def parse_json(name: str, lines: bytes) -> Any:
    """Return lines of JSON as a table; a column of values of several types becomes texts."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    with suppress(pa.ArrowInvalid):
        return arrow_json.read_json(pa.BufferReader(lines.removeprefix(b"\xef\xbb\xbf")))
    why = ""
    try:
        texts = lines.decode("utf-8-sig").splitlines()
        rows = [json.loads(line) for line in texts if line.strip()]
    except (ValueError, RecursionError) as error:
        rows, why = [None], f" ({first_line(error)})"
    if not all(isinstance(row, dict) for row in rows):
        raise TableFileError(
            f"{name!r} has a line that is no JSON object{why}; expected JSON Lines: an object in "
            "each line."
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: arrow_column([row.get(name) for row in rows]) for name in names})


def open_excel(file: DataFile, limit: MemoryLimit) -> ArrowTable:
    """Return the first sheet of a workbook of Excel or OpenDocument, without a title above it."""
    import pyarrow as pa

    assumed: list[str] = []
    rows = excel_rows(file, limit, assumed)
    texts = texts_of(rows[:SAMPLE_ROWS])
    if skip := count_titles(texts):
        title = next(filter(None, texts[0]))
        assumed.append(f"{skip} row{'s' * (skip > 1)} such as {title!r} skipped")
    seen = Counter(cell for row in texts for cell in row)
    end = len(rows) - count_footer(texts_of(rows[skip:][-MOST_FOOTER:]), len(rows[0]), seen)
    if end < len(rows):
        note = next(filter(None, texts_of(rows[end : end + 1])[0]))
        assumed.append(f"the end of the sheet, from {note!r} on, is taken for totals or notes")
    header = find_header(file.name, texts[skip:end], Layout())
    body, names = rows[skip + header.there : end], list(header.names)

    def batches(chosen: list[str]) -> Iterator[Any]:
        places = map(names.index, chosen)
        yield pa.table([arrow_column([row[j] for row in body]) for j in places], names=chosen)

    kind = file.describe_packing("Excel sheet")
    found = ArrowTable(file.name, kind, names, batches, *assumed, *header.assumptions)
    found.notes.extend(header.notes)
    return found


def texts_of(rows: list[list[Any]]) -> list[list[str]]:
    """Return the cells of rows as texts."""
    return [[text_of(cell) or "" for cell in row] for row in rows]


def excel_rows(file: DataFile, limit: MemoryLimit, assumed: list[str]) -> list[list[Any]]:
    """Return the cells of the rows that have any, None where there is nothing."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise TableFileError(
            f"{file.name!r} is an Excel file, which needs python-calamine: pip install "
            "'protolearn[excel]', or save the sheet as CSV."
        ) from None
    with file.unpacked() as stream:
        if zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as archive:
                limit.check(file.name, sum(one.file_size for one in archive.infolist()))
        stream.seek(0)
        try:
            book = CalamineWorkbook.from_filelike(stream)
            found = book.get_sheet_by_index(0).to_python()
        except Exception as error:  # each kind of damage has a class of its own
            raise TableFileError(
                f"{file.name!r} is a damaged Excel file ({first_line(error)}); save it again."
            ) from None
    if len(book.sheet_names) > 1:
        assumed.append(
            f"the sheet {book.sheet_names[0]!r}, the first of {len(book.sheet_names)}, is read"
        )
    rows = [[None if cell == "" else cell for cell in row] for row in found]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        raise TableFileError(f"{file.name!r} has no rows; expected a header and rows below it.")
    return rows


def arrow_column(values: list[Any]) -> Any:
    """Return values of Python as a column of Arrow; of several types as texts."""
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    if types <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types <= {datetime.date, datetime.datetime}:
        return pa.array(np.array(values, dtype="datetime64[us]"))
    if types == {datetime.time}:
        return pa.array(values, pa.time64("us"))
    return pa.array([text_of(value) for value in values], pa.string())


class FolderFile(NamedTuple):
    """A Parquet file in a folder."""

    path: Path
    schema: Any
    told: dict[str, Any]  # columns by the names of folders


class ParquetFolder(ArrowTable):
    """A table in the Parquet files of a folder, in the order of their names.

    What the names of folders in it tell, as in ``year=2024``, is a column more.
    """

    def __init__(self, path: Any, limit: MemoryLimit | None = None, paths: Any = None):
        from pyarrow import parquet

        self.path, self.limit = Path(os.fsdecode(path)), limit or MemoryLimit.of(None)
        paths, every, self.n_rows = paths or parquet_files(self.path), [], 0
        for one in paths:
            with report_damage(str(one), "Parquet"):
                found = parquet.ParquetFile(one)
            schema, n_rows = found.schema_arrow, found.metadata.num_rows
            parts = [part.split("=", 1) for part in one.relative_to(self.path).parts if "=" in part]
            told = {name: unquote(text) for name, text in parts if name not in schema.names}
            every.append((FolderFile(one, schema, told), n_rows))
            self.n_rows += n_rows
        self.files = [file for file, n_rows in every if n_rows] or [every[0][0]]
        check_alike(self.path, self.files)
        for name in self.files[0].told:
            if all(file.told[name].isdecimal() for file in self.files):
                for file in self.files:
                    file.told[name] = int(file.told[name])
        stored = [*self.files[0].schema.names, *self.files[0].told]
        kind = f"a folder of {len(paths):,} Parquet file{'s' * (len(paths) > 1)}"
        super().__init__(self.path.name or self.path.resolve().name, kind, stored, self.read_files)

    def tables(self) -> list[ArrowTable]:
        """Return each file as a table of its own, with the columns of all."""
        tables = []
        for file in self.files:
            batches = partial(self.read_files, files=[file])
            tables.append(ArrowTable(file.path.name, self.kind, self.stored, batches))
            tables[-1].index = index_columns(file.schema)
        return tables

    def read_files(self, names: list[str], files: Any = None) -> Iterator[Any]:
        """Return some columns of all files, or of some."""
        import pyarrow as pa

        for path, schema, told in files or self.files:
            inside = [name for name in names if name not in told]
            with report_damage(str(path), "Parquet"):
                # Without a column of its own a batch still tells how many rows it has.
                some = inside or schema.names[:1]
                for batch in parquet_batches(path, some, self.limit, self.name):
                    columns = dict(zip(some, batch.columns, strict=True))
                    for name in set(names) - set(inside):
                        columns[name] = pa.array([told[name]] * batch.num_rows)
                    yield pa.table([columns[name] for name in names], names=names)

    def read_rows(
        self, chosen: Sequence[str], asked: Mapping[str, str], rows: Indices
    ) -> NDArray[Any]:
        """Read some rows, whose places from 0 ascend; others are not kept."""
        return read_columns(self, chosen, asked, {}, self.limit, rows).frame


def is_folder(path: Any) -> bool:
    """Whether something names a folder."""
    with suppress(TypeError, ValueError, OSError):
        return Path(os.fsdecode(path)).is_dir()
    return False


def index_columns(schema: Any) -> list[Any]:
    """Return the columns that are the index of a frame of pandas, not values."""
    return [*((schema.pandas_metadata or {}).get("index_columns") or ())]


def dataset_table(dataset: Any) -> ArrowTable:
    """Return a dataset of pyarrow."""

    def batches(names: list[str]) -> Iterator[Any]:
        size = batch_size(len(dataset.schema))
        for batch in dataset.to_batches(columns=names, batch_size=size, batch_readahead=1):
            yield in_order(batch, names)

    found = ArrowTable("the data", "dataset", dataset.schema.names, batches)
    found.index = index_columns(dataset.schema)
    return found


def holds_texts(table: ArrowTable, name: str) -> bool:
    """Whether a column has a type of texts."""
    return kind_of_type(name, table.sample([name])[name].type) == "text"


def batch_size(width: int) -> int:
    """Return how many rows are read at once, fewer of wide tables."""
    return max(1, min(ROWS, CELLS // max(width, 1)))


def is_data(file: Path, folder: Path) -> bool:
    """Whether a path is a file that may be data, by the names of it and of its folders."""
    parts = file.relative_to(folder).parts
    return file.is_file() and not any(part.startswith(IGNORED) for part in parts)


def parquet_files(folder: Path) -> list[Path]:
    """Return the files in a folder and in those within, which all have to be Parquet."""
    files = [file for file in sorted(folder.rglob("*")) if is_data(file, folder)]
    others = [str(file.relative_to(folder)) for file in files if not is_parquet(file)]
    if len(others) < len(files) and others:
        raise TableFileError(
            f"{str(folder)!r} is a folder of Parquet files, but {others[0]!r} in it is none; take "
            "it out, or let its name begin with '_'."
        )
    if others or not files:
        found = "there are none: look at its name"
        if others:
            found = f"it holds {others[0]!r}: name one that is in it, or write them as Parquet"
        raise TableFileError(
            f"{str(folder)!r} is a folder; expected a file, or Parquet files only in it, and "
            f"{found}."
        )
    return files


def is_parquet(file: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with report_read_errors(file), file.open("rb") as stream:
        return stream.read(len(PARQUET)) == PARQUET


def check_alike(folder: Path, files: Sequence[FolderFile]) -> None:
    """Raise if files have different columns, or one that is a number here and a text there."""
    seen: dict[str, tuple[str, Any]] = {}
    names = [[*file.schema.names, *file.told] for file in files]
    paths = [repr(str(file.path.relative_to(folder))) for file in files]
    for place, (_, schema, _) in enumerate(files):
        for one, other in ((0, place), (place, 0)):
            lost = [name for name in names[one] if name not in names[other]]
            if lost:
                raise TableFileError(
                    f"{str(folder)!r} holds files with different columns: {paths[one]} has "
                    f"{lost[0]!r}, and {paths[other]} has not; write them with the same ones, or "
                    "put them into folders of their own."
                )
        for field in schema:
            if str(field.type) == "null":
                continue
            before, kind = seen.setdefault(field.name, (paths[place], field.type))
            if field.type != kind and kind_of_type(field.name, kind) != kind_of_type(
                field.name, field.type
            ):
                raise TableFileError(
                    f"{str(folder)!r} holds files with different columns: {field.name!r} is {kind} "
                    f"in {before} and {field.type} in {paths[place]}; write it as the same "
                    "everywhere."
                )


OPENERS: dict[str, Any] = {
    "parquet": open_parquet,
    "feather": open_feather,
    "json": open_json,
    "excel": open_excel,
}
