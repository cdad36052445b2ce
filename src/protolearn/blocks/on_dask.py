"""Blocks on a Dask cluster: functions go to the rows, and only sums come back.

Each pass is one ``compute`` of a tree: the function at every chunk, then sums of sums. A cluster
keeps the checked and encoded blocks in its memory and makes those of a lost worker again; without
a cluster they are made anew at each pass, so that they need not fit into memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._arrays import Indices
from .._dask import as_column, as_rows, is_dask, is_frame
from .base import Blocks
from .block import Block
from .dask_batches import DaskBatch, Fetched, Kept, at_random, in_turn
from .dask_tasks import Call, computed, delayed, of_block, of_part, packed
from .parts import Part, Parts, Read, column_names

SURVEYS = 4
"""Surveys, which have rows in them, that are added up in one place."""


class DaskParts(Parts):
    """The chunks of Dask collections.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The rows.
    y : Dask array or series, array-like, or name of a column of X
        The labels.
    weight : the same, or None, default=None
        The weights.
    """

    in_order = False

    def __init__(self, X: Any, y: Any, weight: Any = None):
        if is_frame(X):
            X, y, weight = _columns_apart(X, y, weight)
            self.names = column_names(X)
        rows = as_rows(X)
        self.n_features = int(rows.shape[1])
        chunks = rows.to_delayed().ravel().tolist()
        labels = _cut(y, "y", rows)
        weights = [None] * len(chunks)
        if weight is not None:
            weights = _cut(weight, "sample_weight", rows)
        named = [f"chunk {index} of X" for index in range(len(chunks))]
        self._parts = list(zip(range(len(chunks)), named, chunks, labels, weights, strict=True))

    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""
        call = packed(function)
        return computed([delayed(of_part)(call, *part) for part in self._parts], SURVEYS)

    def blocks(self, read: Read, n_samples: int, size: int) -> DaskBlocks:
        """Return the parts as blocks that ``read`` makes of them; empty ones count nothing."""
        import dask

        call, kept = packed(read), _on_cluster()
        blocks = [delayed(of_part)(call, *part) for part in self._parts]
        if kept:
            blocks = list(dask.persist(*blocks))
        return DaskBlocks(blocks, n_samples, size, kept)


class DaskBlocks(Blocks):
    """Blocks that are elsewhere.

    Parameters
    ----------
    blocks : list of Delayed
        What gives a block each.
    n_samples, size : int
        Number of rows and of numbers in all.
    kept : bool
        Whether a cluster keeps them; else they are made at each pass.
    """

    largest_batch = 1 << 13

    def __init__(self, blocks: list[Any], n_samples: int, size: int, kept: bool):
        self.n_samples, self.size = n_samples, size
        self._blocks, self._kept = blocks, kept
        self._lengths: Indices | None = None

    def __iter__(self) -> Iterator[Block]:
        for delayed_block in self._blocks:
            block = delayed_block.compute()
            if len(block):
                yield block

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum ``function(*args, block)`` over the blocks, where they are."""
        call = packed(Call(function, args))
        return computed([delayed(of_block)(call, block) for block in self._blocks])

    def mini_batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[DaskBatch]:
        """Return every row once, at most about ``size`` at a time; the rows stay where they are.

        In order, a batch has exactly the rows it would have in memory. In random order it has
        rows of several chunks, so that the workers share it. Blocks that are not kept are made
        once for all their batches.
        """
        lengths = self._known_lengths()
        seeds = None if rng is None else rng.randint(np.iinfo(np.int32).max, size=len(lengths))
        held = (Kept if self._kept else Fetched)(self._blocks, lengths, seeds)
        plan = in_turn(size, lengths) if rng is None else at_random(size, lengths, rng, self._kept)
        for pieces in plan:
            yield DaskBatch(held.slices(pieces), self._kept)

    def _known_lengths(self) -> Indices:
        """Count the rows of each block, once."""
        if self._lengths is None:
            import dask

            counts = dask.compute(*[delayed(len)(block) for block in self._blocks])
            self._lengths = np.array(counts, dtype=np.intp)
        return self._lengths


def _on_cluster() -> bool:
    """Whether a cluster computes."""
    if "distributed" not in sys.modules:
        return False
    from distributed import default_client

    try:
        default_client()
    except ValueError:
        return False
    return True


def _columns_apart(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Take labels and weights that are named out of the columns of a frame."""
    taken = [name for name in (y, weight) if isinstance(name, str)]
    for name in taken:
        if name not in list(X.columns):
            raise ValueError(f"{name!r} is no column of X; they are {list(X.columns)!r}.")
    found = [X[name] if isinstance(name, str) else name for name in (y, weight)]
    return (X.drop(columns=taken) if taken else X, *found)


def _cut(values: Any, role: str, rows: Any) -> list[Any]:
    """Return labels or weights in as many pieces as the rows have chunks."""
    if values is None:
        raise ValueError(f"{role} is None; give one entry for each row.")
    if isinstance(values, str):
        raise ValueError(f"{role}={values!r} names a column, but X is an array; give a Dask frame.")
    if is_frame(values) and not np.isnan(rows.shape[0]):
        values = values.to_dask_array(lengths=True)
    if is_dask(values) and not is_frame(values) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    pieces: list[Any] = as_column(values, role, rows).to_delayed().ravel().tolist()
    return pieces
