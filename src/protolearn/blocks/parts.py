"""Data that come in parts, as they are given and not yet checked: from files, or by a function."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reading import holds_texts, open_tables, read_blocks
from .block import Block
from .memory import Blocks


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
        self._label, self._weight = label, weight
        self._tables = open_tables(data)
        first = self._tables[0]
        known = [name for name in first.names if name not in getattr(first, "index", ())]
        for role, name in (("y", label), ("sample_weight", weight)):
            if name is not None or role == "y":
                _check_column(role, name, known)
        if weight == label:
            raise ValueError(f"sample_weight={weight!r} is the column of the labels.")
        self.names: tuple[str, ...] = tuple(n for n in known if n not in (label, weight))
        self.n_features = len(self.names)
        if not self.names:
            raise ValueError(f"X has no column beside {label!r}; there is nothing to learn from.")

    def __iter__(self) -> Iterator[Part]:
        numbers = [*self.names, *([] if self._weight is None else [self._weight])]
        kinds, index = dict.fromkeys(numbers, "number"), 0
        for table in self._tables:
            if hasattr(table, "index") and holds_texts(table, self._label):
                kinds[self._label] = "category"
            blocks = read_blocks(table, [*numbers, self._label], kinds)
            while True:
                with naming_file(table.name):
                    start, block = next(blocks, (0, None))
                    if block is None:
                        break
                    y = label_array(block[self._label])
                X = np.stack([block[name] for name in self.names], axis=1)
                name = f"rows {start} to {start + len(X) - 1} of {table.name!r}"
                weight = None if self._weight is None else block[self._weight]
                yield Part(index, name, X, y, weight)
                index += 1


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Add to an error in which file it occurs."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In {file!r}: {error}") from error


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


def is_path(value: Any) -> bool:
    """Whether a value names a file or a folder."""
    return isinstance(value, (str, os.PathLike))


def is_dataset(value: Any) -> bool:
    """Whether a value is a pyarrow dataset, without importing pyarrow."""
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


def label_array(values: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array: integers as such, others as texts or truth values."""
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        return values.astype(np.int64)
    if any(value is None or value != value for value in values.tolist()):
        raise ValueError("the column of labels has empty entries; leave out rows without a label.")
    return np.array(values.tolist()) if values.dtype == object else values


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
