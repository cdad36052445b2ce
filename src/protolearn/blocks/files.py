"""Tables in files: which there are, and their columns as arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".csv.gz": "csv"}


def is_path(value: Any) -> bool:
    """Whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def is_dataset(value: Any) -> bool:
    """Whether a value is a pyarrow dataset, without importing pyarrow."""
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


def open_dataset(path: str | os.PathLike[str]) -> Any:
    """Return the dataset that a file is, or a folder of files of one format."""
    from pyarrow import dataset

    where = Path(path)
    if not where.exists():
        raise ValueError(f"X={os.fspath(path)!r} is no file and no folder.")
    files = sorted(where.rglob("*")) if where.is_dir() else [where]
    files = [file for file in files if file.is_file() and not _hidden(file, where)]
    formats = {_format(file) for file in files} - {None}
    if len(formats) != 1:
        found = " and ".join(sorted(map(str, formats))) or "neither Parquet nor CSV"
        raise ValueError(
            f"X={os.fspath(path)!r} holds {found}; expected files of one of them, all *.parquet."
        )
    return dataset.dataset(
        [str(file) for file in files if _format(file)],
        format=formats.pop(),
        partitioning=dataset.partitioning(flavor="hive"),
        partition_base_dir=str(where) if where.is_dir() else None,
    )


def index_columns(schema: Any) -> list[str]:
    """Return the columns that are the index of a pandas frame, not values."""
    described = schema.pandas_metadata or {}
    kept = [name for name in described.get("index_columns", ()) if isinstance(name, str)]
    return kept + [name for name in schema.names if re.fullmatch(r"__index_level_\d+__", name)]


def with_doubles(schema: Any, columns: Iterable[str]) -> Any:
    """Return the schema with columns of numbers as doubles; raise if one holds something else."""
    import pyarrow as pa

    types = pa.types
    for name in columns:
        kind = schema.field(name).type
        if types.is_integer(kind) or types.is_floating(kind):
            place = schema.get_field_index(name)
            schema = schema.set(place, pa.field(name, pa.float64()))
        elif not (types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)):
            raise ValueError(
                f"Column {name!r} of X holds {kind}, expected numbers; encode it first, or write "
                "the files without it."
            )
    return schema


def column_as_doubles(column: Any) -> NDArray[Any]:
    """Return a column as doubles, NaN where there is nothing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    found = column.cast(pa.float64(), safe=False)
    if found.null_count:
        found = found.fill_null(np.nan)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def column_as_labels(column: Any) -> NDArray[Any]:
    """Return a column of labels as it is."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        raise ValueError("the column of labels has empty entries; leave out rows without a label.")
    found = column.to_numpy(zero_copy_only=False)
    return found.astype(str) if found.dtype.kind == "O" else np.asarray(found)


def _hidden(file: Path, folder: Path) -> bool:
    """Whether a file, or a folder that it is in, is not meant to be data."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _format(file: Path) -> str | None:
    return next((kind for end, kind in FORMATS.items() if file.name.lower().endswith(end)), None)
