"""A block: rows with their labels as codes and their weights, which all sums are taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._arrays import Floats, Indices, MappedRows, as_indices, rows_at_a_time

ENCODED = 1 << 20
"""Labels that are encoded at a time."""


class Chunk(NamedTuple):
    """Some rows of a block, few enough for a cache, as native functions take them."""

    X: Any
    codes: Indices
    weights: Floats
    prepared: Floats | None


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    X : array (n, d), CSR matrix or MappedRows
        The samples.
    y : array (n,)
        Class codes, integers of any size.
    weight : array (n,) or None
        Weights; None is one for each row, and takes no memory.
    prepared : array (n,) or None
        What the distance computed beforehand.
    places : array (n,) or None
        Where the rows are among those that are learned from, if someone asks.
    """

    X: Any
    y: NDArray[Any]
    weight: Floats | None = None
    prepared: Floats | None = None
    places: Indices | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def size(self) -> int:
        """How many numbers the samples are."""
        return int(self.X.nnz if issparse(self.X) else self.X.size)

    @property
    def codes(self) -> Indices:
        """The class codes as native functions take them."""
        return as_indices(self.y)

    @property
    def weights(self) -> Floats:
        """The weights as an array."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self) if self.weight is None else self.weight.sum())

    def place(self, row: int) -> int:
        """Return which row of the data this is; -1 if nobody asked."""
        return -1 if self.places is None else int(self.places[row])

    def rows(self, which: Any) -> Block:
        """Return some rows: views for a slice, copies for indices."""
        columns = (
            None if column is None else column[which]
            for column in (self.weight, self.prepared, self.places)
        )
        return Block(self.X[which], self.y[which], *columns)

    def some(self, which: Indices) -> Block:
        """Return some rows; those on disk are not read."""
        if not isinstance(self.X, MappedRows):
            return self.rows(which)
        weight = None if self.weight is None else self.weight[which]
        return Block(self.X.some(which), self.y[which], weight)

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args, block)``: a block is a batch whose rows are here."""
        return function(*args, self)

    def chunks(self, n_numbers: float) -> Iterator[Chunk]:
        """Cut the block into chunks that fit into a cache, with so many numbers more for a row."""
        X, y, n = self.X, np.ascontiguousarray(self.y, dtype=np.intp), len(self.y)
        weight = np.ones(n) if self.weight is None else self.weight
        width = X.nnz // max(n, 1) if issparse(X) else X.shape[1]
        size = rows_at_a_time(width + int(n_numbers))
        if n <= size and not isinstance(X, MappedRows):
            yield Chunk(X, y, weight, self.prepared)
            return
        for start in range(0, n, size):
            rows = slice(start, start + size)
            prepared = None if self.prepared is None else self.prepared[rows]
            yield Chunk(X[rows], y[rows], weight[rows], prepared)


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the place of each label in the sorted ``classes``, in as few bytes as will do."""
    codes = np.empty(len(y), dtype=np.min_scalar_type(len(classes)))
    for start in range(0, len(y), ENCODED):
        part = y[start : start + ENCODED]
        found = np.searchsorted(classes, part)
        known = classes[np.minimum(found, len(classes) - 1)] == part
        if not known.all():
            raise ValueError(
                f"y contains {part[~known].tolist()[0]!r}, which is not among the classes "
                f"{classes.tolist()!r}."
            )
        codes[start : start + ENCODED] = found
    return codes
