"""Data that come in parts, as they are given and not yet checked: from files, or by a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from ..reading import open_table, read_blocks
from .block import Block
from .files import (
    column_as_doubles,
    column_as_labels,
    files_at,
    index_columns,
    is_path,
    label_array,
    open_dataset,
    with_doubles,
)
from .memory import Blocks

NUMBERS = 1 << 21
"""Numbers that are read at a time."""


@dataclass(frozen=True)
class Part:
    """Some rows as they are given.

    Attributes
    ----------
    index : int
        Its place among the parts.
    name : str
        What messages call it.
    X, y : array-like
        Rows and labels.
    weight : array-like or None
        Weights of the rows.
    """

    index: int
    name: str
    X: Any
    y: Any
    weight: Any = None


Read = Callable[[Part], Block]


class Parts(ABC):
    """Data as a sequence of parts, which can be gone through any number of times.

    Attributes
    ----------
    n_features : int
        Number of columns.
    names : tuple of str or None
        Names of the columns, if they have any.
    in_order : bool
        Whether one part after the other is brought here to learn from it.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    in_order: bool = True

    @abstractmethod
    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""

    @abstractmethod
    def blocks(self, read: Read, n_samples: int, size: int) -> Blocks:
        """Return the parts as blocks that ``read`` makes of them; empty ones are left out."""


class ReadParts(Parts):
    """Parts that are read here, one after the other."""

    @abstractmethod
    def __iter__(self) -> Iterator[Part]:
        """Yield the parts."""

    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""
        return sum_results(map(function, self))

    def blocks(self, read: Read, n_samples: int, size: int) -> ReadBlocks:
        """Return the parts as blocks that ``read`` makes of them; empty ones are left out."""
        return ReadBlocks(self, read, n_samples, size)


class ReadBlocks(Blocks):
    """Blocks that ``read`` makes of parts, anew at each pass; one is in memory at a time."""

    def __init__(self, parts: ReadParts, read: Read, n_samples: int, size: int):
        self.n_samples, self.size = n_samples, size
        self._parts, self._read = parts, read

    def __iter__(self) -> Iterator[Block]:
        seen = 0
        for part in self._parts:
            block = self._read(part)
            seen += len(block)
            if len(block):
                yield block
        if seen != self.n_samples:
            raise ValueError(
                f"A pass over X gave {seen} rows to learn from, and the first one "
                f"{self.n_samples}: each has to give the same blocks."
            )


class MadeParts(ReadParts):
    """Parts that a function makes.

    Each call returns an iterable over ``(X, y)`` or ``(X, y, sample_weight)``.
    """

    def __init__(self, make: Callable[[], Iterable[Any]]):
        self._make = make
        if isinstance(made := make(), Iterator) and made is make():
            raise ValueError(
                "The function given as X gives the same iterator at each call, which can be gone "
                "through once; it has to make a new one each time."
            )
        for part in self:
            self.n_features = _n_columns(part)
            self.names = column_names(part.X)
            return
        raise ValueError("The function given as X makes no block; expected one (X, y) at least.")

    def __iter__(self) -> Iterator[Part]:
        made = self._make()
        if not isinstance(made, Iterable):
            raise ValueError(
                f"The function given as X made {type(made).__name__}; expected an iterable over "
                "(X, y) or (X, y, sample_weight)."
            )
        for index, block in enumerate(made):
            if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
                raise ValueError(
                    f"Block {index} is {type(block).__name__}; expected a tuple (X, y) or (X, y, "
                    "sample_weight)."
                )
            yield Part(index, f"block {index}", *block)


class FileParts(ReadParts):
    """The rows of a file, of a folder of files or of a pyarrow dataset, some at a time.

    They come in the order of the files. ``label`` and ``weight`` name columns; all others are
    features.
    """

    def __init__(self, data: Any, label: Any, weight: Any = None):
        files, self._are_texts = files_at(data) if is_path(data) else ([], False)
        self._label, self._weight = label, weight
        if self._are_texts:
            self._tables = [open_table(file) for file in files]
            known = list(self._tables[0].names)
        else:
            self._dataset = open_dataset(files, data) if files else data
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
        if not self._are_texts:
            self._schema = with_doubles(schema, self._numbers)

    def __iter__(self) -> Iterator[Part]:
        return self._texts() if self._are_texts else self._batches()

    def _texts(self) -> Iterator[Part]:
        """Return some rows of texts at a time, as the reader of tables understands them."""
        index, columns = 0, [*self._numbers, self._label]
        kinds = dict.fromkeys(self._numbers, "number")
        for table in self._tables:
            if set(table.names) != set(self._tables[0].names):
                other = ", ".join(map(repr, sorted({*table.names} ^ {*self._tables[0].names})))
                raise ValueError(
                    f"In {table.name!r}: it has not the columns of the first file: one of them "
                    f"lacks {other}."
                )
            for start, block in read_blocks(table, columns, kinds):
                X = np.stack([block[name] for name in self.names], axis=1)
                name = f"rows {start} to {start + len(X) - 1} of {table.name!r}"
                weight = None if self._weight is None else block[self._weight]
                yield Part(index, name, X, label_array(block[self._label]), weight)
                index += 1

    def _batches(self) -> Iterator[Part]:
        """Return some rows of Parquet files, or of a dataset, at a time."""
        index, columns = 0, [*self._numbers, self._label]
        for fragment in self._fragments():
            begin, file = 0, _file(fragment)
            with naming_file(file):
                self._check_columns(fragment)
                batches = fragment.to_batches(
                    schema=self._schema,
                    columns=columns,
                    batch_size=max(NUMBERS // self.n_features, 1),
                    batch_readahead=1,
                )
            while True:
                with naming_file(file):
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
            X[:, j] = column_as_doubles(batch.column(column))
        y = column_as_labels(batch.column(self._label))
        weight = None if self._weight is None else column_as_doubles(batch.column(self._weight))
        return Part(index, name, X, y, weight)


class _Filtered:
    """A dataset with a filter, read as one file."""

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def to_batches(self, schema: Any, **settings: Any) -> Iterator[Any]:
        """Read it; its columns have the types that they have."""
        return iter(self._dataset.to_batches(**settings))


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Add to an error in which file it occurs."""
    import pyarrow as pa

    try:
        yield
    except (ValueError, pa.ArrowException) as error:
        raise ValueError(f"In {file}: {error}") from error


def sum_results(results: Iterable[Any]) -> Any:
    """Return the sum of results but those that are None; None if there is no other."""
    total = None
    for result in results:
        if total is None:
            total = result
        elif result is not None:
            total = total + result
    return total


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of columns, if all of them are texts."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def _file(fragment: Any) -> str:
    path = getattr(fragment, "path", "")
    return repr(Path(path).name) if path else "the data"


def _check_column(role: str, name: Any, known: list[str]) -> None:
    if not isinstance(name, str) or name not in known:
        shown = repr(name) if isinstance(name, (str, NoneType)) else type(name).__name__
        raise ValueError(
            f"{role}={shown} must name a column of X; they are {', '.join(map(repr, known))}."
        )


def _n_columns(part: Part) -> int:
    shape: tuple[int, ...] = getattr(part.X, "shape", ())
    if len(shape) != 2:
        raise ValueError(
            f"X of {part.name} is {type(part.X).__name__}"
            + (f" of shape {tuple(shape)}" if shape else "")
            + "; expected a table with rows and columns."
        )
    return int(shape[1])
