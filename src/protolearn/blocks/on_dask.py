"""Blocks on a Dask cluster: functions go to the rows, and only sums come back.

Each pass is one ``compute`` of a tree: the function at every chunk, then sums of sums. A cluster
keeps the checked and encoded blocks in its memory and makes those of a lost worker again; without
a cluster they are made anew at each pass, so that they need not fit into memory.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._dask import is_dask, is_frame
from .._parameters import Indices
from .base import Block, Blocks
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
        if not hasattr(type(X), "ndim"):
            raise ValueError(f"X is a Dask {type(X).__name__}; expected an array or a frame.")
        if is_frame(X):
            X, y, weight = _columns_apart(X, y, weight)
            self.names = column_names(X)
            chunks = list(X.to_delayed())
        else:
            if X.ndim != 2:
                raise ValueError(f"X has {X.ndim} dimensions, expected rows and columns.")
            X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
            chunks = X.to_delayed().ravel().tolist()
        self.n_features = int(X.shape[1])
        if not chunks:
            raise ValueError("X has no chunks: there is nothing to learn from.")
        lengths = None if is_frame(X) else X.chunks[0]
        labels = _cut(y, "y", len(chunks), lengths)
        weights = [None] * len(chunks)
        if weight is not None:
            weights = _cut(weight, "sample_weight", len(chunks), lengths)
        named = [f"chunk {index} of X" for index in range(len(chunks))]
        self._parts = list(zip(range(len(chunks)), named, chunks, labels, weights, strict=True))

    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""
        call = packed(function)
        return computed([delayed(of_part)(call, *part) for part in self._parts], SURVEYS)

    def blocks(self, read: Read, n_samples: int, size: int) -> DaskBlocks:
        """Give the parts as blocks that ``read`` makes of them; empty ones count nothing."""
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
        """Give every row once, at most about ``size`` at a time; the rows stay where they are.

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
    """Tell whether a cluster computes."""
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


def _cut(values: Any, role: str, count: int, lengths: tuple[float, ...] | None) -> list[Any]:
    """Give labels or weights in as many pieces as X has chunks."""
    known = lengths is not None and not any(math.isnan(n) for n in lengths)
    if values is None:
        raise ValueError("y is None; give the labels of the rows.")
    if isinstance(values, str):
        raise ValueError(f"{role}={values!r} names a column, but X is an array; give a Dask frame.")
    if not is_dask(values):
        if not known:
            raise ValueError(
                f"{role} is {type(values).__name__}, and the lengths of the chunks of X are not "
                f"known; give {role} as a Dask collection, or X after X.compute_chunk_sizes()."
            )
        from dask.array import from_array

        values = from_array(column_or_1d(values), chunks=-1)
    elif is_frame(values) and known:
        values = values.to_dask_array(lengths=True)
    if not is_frame(values) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{role} has {values.ndim} dimensions, expected one entry for each row.")
    if known and not is_frame(values) and not math.isnan(values.shape[0]):
        _check_length(role, values.shape[0], lengths)
        values = values.rechunk((lengths,))
    if values.npartitions != count:
        raise ValueError(
            f"{role} has {values.npartitions} chunks and X has {count}, of unknown lengths; cut "
            "both alike."
        )
    return list(np.ravel(np.array(values.to_delayed(), dtype=object)))


def _check_length(role: str, n_values: int, lengths: Any) -> None:
    if n_values != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows and {role} has {n_values} entries.")
