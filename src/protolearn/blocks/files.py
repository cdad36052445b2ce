"""Tables in files: which there are, and their columns as arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst")
"""How the names of files end that are looked for in a folder."""


def is_path(value: Any) -> bool:
    """Whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def is_dataset(value: Any) -> bool:
    """Whether a value is a pyarrow dataset, without importing pyarrow."""
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


def files_at(path: str | os.PathLike[str]) -> tuple[list[Path], bool]:
    """Return a file, or the files in a folder, and whether they are texts, not Parquet."""
    where = Path(path)
    if not where.exists():
        raise ValueError(f"X={os.fspath(path)!r} is no file and no folder.")
    files = sorted(where.rglob("*")) if where.is_dir() else [where]
    files = [file for file in files if file.is_file() and not _hidden(file, where)]
    binary = [file for file in files if file.name.lower().endswith(PARQUET)]
    texts = [file for file in files if file.name.lower().endswith(TEXT)]
    if bool(binary) == bool(texts):
        found = "Parquet and CSV" if texts else "neither Parquet nor CSV"
        raise ValueError(
            f"X={os.fspath(path)!r} holds {found}; expected files of one of them, all *.parquet."
        )
    return binary or texts, bool(texts)


def open_dataset(files: list[Path], folder: str | os.PathLike[str]) -> Any:
    """Return the dataset that Parquet files in a folder are."""
    from pyarrow import dataset

    return dataset.dataset(
        list(map(str, files)),
        format="parquet",
        partitioning=dataset.partitioning(flavor="hive"),
        partition_base_dir=str(folder) if Path(folder).is_dir() else None,
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


def label_array(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a text as an array: integers as such, others as texts or truth values."""
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        return values.astype(np.int64)
    missing = [value is None or value != value for value in values.tolist()]
    if any(missing):
        raise ValueError("the column of labels has empty entries; leave out rows without a label.")
    return np.array(values.tolist()) if values.dtype == object else values


def _hidden(file: Path, folder: Path) -> bool:
    """Whether a file, or a folder that it is in, is not meant to be data."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
