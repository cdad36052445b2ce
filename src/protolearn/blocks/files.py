"""Tables in files: folders of Parquet and CSV, and whatever else a pyarrow dataset reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parts import Part, ReadParts

NUMBERS = 1 << 21
"""Numbers that are read at a time."""

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".csv.gz": "csv"}


def is_path(value: Any) -> bool:
    """Whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def is_dataset(value: Any) -> bool:
    """Whether a value is a pyarrow dataset, without importing pyarrow."""
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


class FileParts(ReadParts):
    """The rows of a dataset, some at a time, in the order of the files.

    Parameters
    ----------
    data : str, path or pyarrow.dataset.Dataset
        A file, a folder of files, or a dataset.
    label : str
        The column of the labels.
    weight : str or None, default=None
        The column of the weights. All other columns are features.
    """

    def __init__(self, data: Any, label: Any, weight: Any = None):
        self._dataset = opened(data) if is_path(data) else data
        self._label, self._weight = label, weight
        schema = self._dataset.schema
        known = [name for name in schema.names if name not in index_columns(schema)]
        for role, name in (("y", label), ("sample_weight", weight)):
            if name is not None or role == "y":
                _check_column(role, name, known)
        if weight == label:
            raise ValueError(f"sample_weight={weight!r} is the column of the labels.")
        self.names: tuple[str, ...] = tuple(n for n in known if n not in (label, weight))
        self.n_features = len(self.names)
        if not self.names:
            raise ValueError(f"X has no column beside {label!r}; there is nothing to learn from.")
        self._numbers = (*self.names, *([] if weight is None else [weight]))
        self._schema = with_doubles(schema, self._numbers)

    def __iter__(self) -> Iterator[Part]:
        index, columns = 0, [*self._numbers, self._label]
        for fragment in self._fragments():
            begin, file = 0, _file(fragment)
            with named(file):
                self._check_columns(fragment)
                batches = fragment.to_batches(
                    schema=self._schema,
                    columns=columns,
                    batch_size=max(NUMBERS // self.n_features, 1),
                    batch_readahead=1,
                )
            while True:
                with named(file):
                    batch = next(batches, None)
                    if batch is None:
                        break
                    name = f"rows {begin} to {begin + batch.num_rows - 1} of {file}"
                    part = self._part(index, name, batch)
                yield part
                index, begin = index + 1, begin + batch.num_rows

    def _fragments(self) -> Iterator[Any]:
        """Return the files; a dataset with a filter is one."""
        try:
            return iter(self._dataset.get_fragments())
        except ValueError:  # how pyarrow says that there is a filter
            return iter([_Filtered(self._dataset)])

    def _check_columns(self, fragment: Any) -> None:
        """Raise if a file has other columns than the first one."""
        there = getattr(fragment, "physical_schema", None)
        if there is None:
            return
        from pyarrow.dataset import get_partition_keys

        keys = get_partition_keys(fragment.partition_expression)
        found = {*there.names, *keys} - set(index_columns(there))
        expected = {*self._schema.names} - set(index_columns(self._schema))
        if found != expected:
            other = ", ".join(map(repr, sorted(found ^ expected)))
            raise ValueError(
                f"it has not the columns of the first file: one of them lacks {other}."
            )

    def _part(self, index: int, name: str, batch: Any) -> Part:
        """Return a batch as arrays."""
        X = np.empty((batch.num_rows, self.n_features))
        for j, column in enumerate(self.names):
            X[:, j] = numbers(batch.column(column))
        y = labels(batch.column(self._label))
        weight = None if self._weight is None else numbers(batch.column(self._weight))
        return Part(index, name, X, y, weight)


class _Filtered:
    """A dataset with a filter, read as one file."""

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def to_batches(self, schema: Any, **settings: Any) -> Iterator[Any]:
        """Read it; its columns have the types that they have."""
        return iter(self._dataset.to_batches(**settings))


@contextmanager
def named(file: str) -> Iterator[None]:
    """Add to an error in which file it occurs."""
    import pyarrow as pa

    try:
        yield
    except (ValueError, pa.ArrowException) as error:
        raise ValueError(f"In {file}: {error}") from error


def index_columns(schema: Any) -> list[str]:
    """Name the columns that are the index of a pandas frame, not values."""
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


def opened(path: str | os.PathLike[str]) -> Any:
    """Open a file or a folder of files of one format."""
    try:
        from pyarrow import dataset
    except ImportError:
        raise ImportError(
            f"Reading {os.fspath(path)!r} needs pyarrow: pip install 'protolearn[parquet]'."
        ) from None
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


def numbers(column: Any) -> NDArray[Any]:
    """Return a column as doubles, NaN where there is nothing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    found = column.cast(pa.float64(), safe=False)
    if found.null_count:
        found = found.fill_null(np.nan)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def labels(column: Any) -> NDArray[Any]:
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


def _file(fragment: Any) -> str:
    path = getattr(fragment, "path", "")
    return repr(Path(path).name) if path else "the data"


def _check_column(role: str, name: Any, known: list[str]) -> None:
    if not isinstance(name, str) or name not in known:
        shown = repr(name) if isinstance(name, (str, NoneType)) else type(name).__name__
        raise ValueError(
            f"{role}={shown} must name a column of X; they are {', '.join(map(repr, known))}."
        )
