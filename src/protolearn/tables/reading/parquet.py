"""Parquet files, by pyarrow."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cell_values import DATES, NOTHING, POINT, WHOLE, date_array, kind_of_cell, number_array, quote
from .data_file import DataFile, TableFileError
from .filling import empty_frame
from .header import check_different

Numbers = Sequence[int] | NDArray[np.intp]
"""Numbers of rows, the first is 1."""

MAGIC = b"PAR1"
ROWS = 1 << 16
"""Rows that are read at once."""


@contextmanager
def open_parquet(file: DataFile) -> Iterator[Any]:
    """Open a Parquet file; one that is packed is unpacked to a temporary file first."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise TableFileError(
            f"{file.name!r} is a Parquet file, which needs pyarrow: pip install "
            "'protolearn[parquet]', or save the table as CSV."
        ) from None
    with file.binary() as stream, tempfile.TemporaryFile() as unpacked:
        if file.gzipped:
            shutil.copyfileobj(stream, unpacked)
            unpacked.seek(0)
        try:
            yield pq.ParquetFile(unpacked if file.gzipped else stream)
        except (pa.ArrowException, OSError) as error:
            raise TableFileError(
                f"{file.name!r} is a damaged Parquet file ({first_line(error)}); copy or load it "
                "again."
            ) from None


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def column_names(name: str, schema: Any) -> list[str]:
    """Return the names of the columns."""
    names = list(schema.names)
    if not names:
        raise TableFileError(f"{name!r} has no columns; expected one at least.")
    check_different(name, names)
    if "" in names:
        raise TableFileError(
            f"{name!r} has no name for column {names.index('') + 1}; expected one for each: write "
            "it with one."
        )
    return names


def read_parquet(parquet: Any, chosen: list[str], asked: dict[str, str]) -> NDArray[Any]:
    """Read some columns into a structured array, block by block."""
    schema = parquet.schema_arrow
    types = dict(zip(schema.names, schema.types, strict=True))
    kinds = {name: kind_of(name, types[name]) for name in chosen}
    kinds |= {name: kind for name, kind in asked.items() if name in kinds}
    frame = empty_frame(kinds, parquet.metadata.num_rows)
    shared: dict[str, dict[Any, Any]] = {name: {} for name in chosen}
    start = 0
    for batch in parquet.iter_batches(batch_size=ROWS, columns=chosen):
        stop = start + batch.num_rows
        fill_rows(frame[start:stop], batch, kinds, range(start + 1, stop + 1), shared)
        start = stop
    return frame


def fill_rows(
    frame: NDArray[Any],
    batch: Any,
    kinds: Mapping[str, str],
    rows: Numbers,
    shared: Mapping[str, dict[Any, Any]],
) -> None:
    """Write a batch into as many rows of a structured array; ``rows`` are their numbers."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, kind in kinds.items():
        frame[name] = column_array(name, columns[name], kind, rows, shared[name])


def kind_of(name: str, dtype: Any) -> str:
    """Return what a type is."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(dtype):
        return kind_of(name, dtype.value_type)
    numbers = types.is_integer, types.is_floating, types.is_decimal, types.is_null
    if any(is_such(dtype) for is_such in numbers):
        return "number"
    if types.is_date(dtype) or types.is_timestamp(dtype):
        return "date"
    texts = types.is_string(dtype) or types.is_large_string(dtype)
    if texts or types.is_boolean(dtype) or str(dtype) == "string_view":
        return "category"
    raise TableFileError(
        f"Column {name!r} holds {dtype}; expected numbers, texts, truth values or dates. Leave it "
        "out, or write it as one of these."
    )


def column_array(name: str, column: Any, kind: str, rows: Numbers, shared: dict[Any, Any]) -> Any:
    """Return a part of a column as an array."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    own = kind_of(name, column.type)
    if kind == "category":
        return shared_texts(column, shared)
    if own == "category":
        return parse_texts(name, column, kind, rows)
    if kind == own == "number":
        found = column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(False)
        wrong = np.isinf(found)
        if wrong.any():
            raise TableFileError(
                f"Column {name!r} has {found[wrong][0]} in row {rows[int(wrong.argmax())]}, "
                "which is not a finite number; correct it, or leave it out if it is missing."
            )
        return found
    if column.null_count == len(column):
        return np.nan if kind == "number" else np.datetime64("NaT")
    if kind != own:
        raise TableFileError(
            f"Column {name!r} is to hold {kind}s, but holds {column.type}; leave that away, or "
            "write it as such."
        )
    return time_array(name, column)


def time_array(name: str, column: Any) -> NDArray[Any]:
    """Return times in microseconds. What has a time zone is stored in UTC."""
    import pyarrow as pa

    fine = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    try:
        return np.asarray(column.cast(pa.timestamp("us"), safe=not fine).to_numpy(False))
    except pa.ArrowInvalid:
        raise TableFileError(
            f"Column {name!r} has a time too far from 1970 for microseconds; correct it, or leave "
            "it empty if it is missing."
        ) from None


def shared_texts(column: Any, shared: dict[Any, Any]) -> list[str | None]:
    """Return values as texts, equal ones as one object."""
    if len(shared) > ROWS:
        shared.clear()
    found = column.to_pylist()
    for value in set(found) - shared.keys():
        shared[value] = text_of(value)
    return [shared[value] for value in found]


def text_of(value: Any) -> str | None:
    """Write a value: whole numbers as integers, dates as in ISO 8601."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def parse_texts(name: str, column: Any, kind: str, rows: Numbers) -> NDArray[Any]:
    """Return texts as numbers or dates."""
    cells = ["" if cell is None else str(cell) for cell in column.to_pylist()]
    found = list(map(kind_of_cell, cells))
    good = {*NOTHING, *((WHOLE, POINT) if kind == "number" else DATES)}
    for place, what in enumerate(found):
        if what not in good:
            raise TableFileError(
                f"Column {name!r} is to hold {kind}s, but row {rows[place]} has "
                f"{quote(cells[place])}; correct it, or leave it empty if it is missing."
            )
    return number_array(cells) if kind == "number" else date_array(cells)
