"""Data that come in parts: as they are given, not yet checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .base import Blocks
from .block import Block


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


def added(results: Iterable[Any]) -> Any:
    """Sum results, leaving out those that are None; None if there is no other."""
    total = None
    for result in results:
        if total is None:
            total = result
        elif result is not None:
            total = total + result
    return total


class ReadParts(Parts):
    """Parts that are read here, one after the other."""

    @abstractmethod
    def __iter__(self) -> Iterator[Part]:
        """Read the parts."""

    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""
        return added(map(function, self))

    def blocks(self, read: Read, n_samples: int, size: int) -> ReadBlocks:
        """Return the parts as blocks that ``read`` makes of them; empty ones are left out."""
        return ReadBlocks(self, read, n_samples, size)


class ReadBlocks(Blocks):
    """Blocks that are read anew at each pass; one of them is in memory at a time.

    Parameters
    ----------
    parts : ReadParts
        Where they come from.
    read : callable
        Makes a block of a part.
    n_samples, size : int
        Number of rows and of numbers in all.
    """

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

    Parameters
    ----------
    make : callable
        Gives, at each call, an iterable over ``(X, y)`` or ``(X, y, sample_weight)``.
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


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of columns, if all of them are texts."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def _n_columns(part: Part) -> int:
    shape: tuple[int, ...] = getattr(part.X, "shape", ())
    if len(shape) != 2:
        raise ValueError(
            f"X of {part.name} is {type(part.X).__name__}"
            + (f" of shape {tuple(shape)}" if shape else "")
            + "; expected a table with rows and columns."
        )
    return int(shape[1])
