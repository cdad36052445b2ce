"""Tables in files: folders of Parquet and CSV, and whatever else a pyarrow dataset reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parts import Part, ReadParts

NUMBERS = 1 << 21
"""Numbers that are read at a time."""

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".csv.gz": "csv"}


def is_path(value: Any) -> bool:
    """Tell whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def is_dataset(value: Any) -> bool:
    """Tell whether a value is a pyarrow dataset, without importing pyarrow."""
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
        known = self._dataset.schema.names
        for role, name in (("y", label), ("sample_weight", weight)):
            if name is not None or role == "y":
                _check_column(role, name, known)
        self.names = tuple(name for name in known if name not in (label, weight))
        self.n_features = len(self.names)
        if not self.names:
            raise ValueError(f"X has no column beside {label!r}; there is nothing to learn from.")
        self._check_types()

    def __iter__(self) -> Iterator[Part]:
        rows = max(NUMBERS // self.n_features, 1)
        columns = [*self.names, self._label, *([self._weight] if self._weight else [])]  # type: ignore[misc]
        index = 0
        for fragment in self._dataset.get_fragments():
            begin = 0
            batches = fragment.to_batches(
                schema=self._dataset.schema, columns=columns, batch_size=rows, batch_readahead=1
            )
            for batch in batches:
                end = begin + batch.num_rows
                name = f"rows {begin} to {end - 1} of {_file(fragment)}"
                yield self._part(index, name, batch)
                index, begin = index + 1, end

    def _part(self, index: int, name: str, batch: Any) -> Part:
        """Give a batch as arrays."""
        X = np.empty((batch.num_rows, self.n_features))
        assert self.names is not None
        for j, column in enumerate(self.names):
            X[:, j] = numbers(batch.column(column))
        y = labels(batch.column(self._label))
        weight = None if self._weight is None else numbers(batch.column(self._weight))
        return Part(index, name, X, y, weight)

    def _check_types(self) -> None:
        """Raise if a feature is no number."""
        import pyarrow as pa

        for name in (*self.names, *([self._weight] if self._weight else [])):  # type: ignore[misc]
            kind = self._dataset.schema.field(name).type
            tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
            if not any(test(kind) for test in (*tests, pa.types.is_decimal, pa.types.is_null)):
                raise ValueError(
                    f"Column {name!r} of X holds {kind}, expected numbers; encode it first, or "
                    "leave it out: give a dataset of the columns to use."
                )


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
    files = [file for file in files if file.is_file() and not file.name.startswith((".", "_"))]
    formats = {_format(file) for file in files} - {None}
    if len(formats) != 1:
        found = " and ".join(sorted(map(str, formats))) or "neither Parquet nor CSV"
        raise ValueError(
            f"X={os.fspath(path)!r} holds {found}; expected files of one of them, all *.parquet."
        )
    chosen = [str(file) for file in files if _format(file)]
    if where.is_dir() and next(iter(formats)) == "parquet" and len(chosen) == len(files):
        return dataset.dataset(str(where), format="parquet", partitioning="hive")
    return dataset.dataset(chosen, format=next(iter(formats)))


def numbers(column: Any) -> NDArray[Any]:
    """Give a column as doubles, NaN where there is nothing."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    found = column.cast(pa.float64(), safe=False)
    if found.null_count:
        found = found.fill_null(np.nan)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def labels(column: Any) -> NDArray[Any]:
    """Give a column of labels as it is."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        raise ValueError("The column of labels has empty entries; leave out rows without a label.")
    found = column.to_numpy(zero_copy_only=False)
    return found.astype(str) if found.dtype.kind == "O" else np.asarray(found)


def _format(file: Path) -> str | None:
    return next((kind for end, kind in FORMATS.items() if file.name.lower().endswith(end)), None)


def _file(fragment: Any) -> str:
    path = getattr(fragment, "path", "")
    return repr(Path(path).name) if path else "the data"


def _check_column(role: str, name: Any, known: list[str]) -> None:
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"{role}={name!r} must name a column of X; they are {', '.join(map(repr, known))}."
        )
