"""Blocks on a Dask cluster: functions go to the rows, and only sums come back.

Each pass is one ``compute`` of a tree: the function at every chunk, then sums of sums. A cluster
keeps the checked and encoded blocks in its memory and makes those of a lost worker again; without
a cluster they are made anew at each pass, so that they need not fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from .._dask import is_dask, is_frame
from .._parameters import Indices
from .._threads import keep_some_freed_memory, one_blas_thread
from .base import Block, Blocks
from .parts import Part, Parts, Read, added, column_names

FAN_IN = 16
"""Results that are summed in one place."""

ROWS_OF_A_CHUNK = 256
"""Rows that a mini-batch takes of a chunk, at least: a task costs about as much as these."""


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
        call = _shared(function)
        return _computed([_delayed(_of_part)(call, *part) for part in self._parts])

    def blocks(self, read: Read, n_samples: int, size: int) -> DaskBlocks:
        """Give the parts as blocks that ``read`` makes of them; empty ones count nothing."""
        import dask

        call = _shared(read)
        blocks = [_delayed(_of_part)(call, *part) for part in self._parts]
        if _on_cluster():
            blocks = list(dask.persist(*blocks))
        return DaskBlocks(blocks, n_samples, size)


class DaskBlocks(Blocks):
    """Blocks that are elsewhere.

    Parameters
    ----------
    blocks : list of Delayed
        What gives a block each.
    n_samples, size : int
        Number of rows and of numbers in all.
    """

    largest_batch = 1 << 13

    def __init__(self, blocks: list[Any], n_samples: int, size: int):
        self.n_samples, self.size = n_samples, size
        self._blocks = blocks
        self._lengths: Indices | None = None

    def __iter__(self) -> Iterator[Block]:
        for delayed_block in self._blocks:
            block = delayed_block.compute()
            if len(block):
                yield block

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum ``function(*args, block)`` over the blocks, where they are."""
        call = _shared(Call(function, args))
        return _computed([_delayed(_of_block)(call, block) for block in self._blocks])

    def mini_batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[DaskBatch]:
        """Give every row once, about ``size`` at a time; the rows stay where they are.

        In order, a batch has exactly the rows it would have in memory. In random order it has
        rows of several chunks, so that the workers share it.
        """
        lengths = self._known_lengths()
        if rng is None:
            yield from self._consecutive(size, lengths)
            return
        filled = rng.permutation(np.flatnonzero(lengths))
        together = max(size // ROWS_OF_A_CHUNK, 1)
        groups = [filled[k : k + together] for k in range(0, len(filled), together)]
        orders = self._orders(lengths, rng)
        steps = [math.ceil(lengths[group].sum() / size) for group in groups]
        turns = [(g, step) for g, count in enumerate(steps) for step in range(count)]
        for g, step in [turns[k] for k in rng.permutation(len(turns))]:
            ends = [lengths[c] * np.array([step, step + 1]) // steps[g] for c in groups[g]]
            slices = [
                Slice(self._blocks[c], orders[c], int(first), int(last))
                for c, (first, last) in zip(groups[g], ends, strict=True)
                if last > first
            ]
            yield DaskBatch(slices)

    def _consecutive(self, size: int, lengths: Indices) -> Iterator[DaskBatch]:
        """Cut the rows as they come, across the ends of chunks."""
        ends = np.cumsum(lengths)
        starts = ends - lengths
        for first in range(0, int(ends[-1]), size):
            last = min(first + size, int(ends[-1]))
            here = np.flatnonzero((starts < last) & (ends > first) & (lengths > 0))
            yield DaskBatch(
                [
                    Slice(
                        self._blocks[c],
                        None,
                        max(first - int(starts[c]), 0),
                        min(last, int(ends[c])) - int(starts[c]),
                    )
                    for c in here
                ]
            )

    def _orders(self, lengths: Indices, rng: np.random.RandomState) -> list[Any]:
        """Put the rows of each chunk into random order for one pass."""
        import dask

        seeds = rng.randint(np.iinfo(np.int32).max, size=len(lengths))
        orders = [
            _delayed(_order)(int(seed), int(n)) for seed, n in zip(seeds, lengths, strict=True)
        ]
        return list(dask.persist(*orders))

    def _known_lengths(self) -> Indices:
        """Count the rows of each block, once."""
        if self._lengths is None:
            import dask

            counts = dask.compute(*[_delayed(len)(block) for block in self._blocks])
            self._lengths = np.array(counts, dtype=np.intp)
        return self._lengths


class Call(NamedTuple):
    """A function and its first arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Slice:
    """Some rows of a block that is elsewhere, in an order that is there too."""

    block: Any
    order: Any
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class DaskBatch:
    """Rows of several blocks that make one step together."""

    slices: list[Slice]

    def __len__(self) -> int:
        return sum(map(len, self.slices))

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Give the sum of ``function(*args, block)`` over the rows."""
        call = _shared(Call(function, args))
        return _computed(
            [_delayed(_of_slice)(call, s.block, s.order, s.first, s.last) for s in self.slices]
        )


def _of_part(read: Read, index: int, name: str, X: Any, y: Any, weight: Any) -> Any:
    keep_some_freed_memory()
    with one_blas_thread():
        return read(Part(index, name, X, y, weight))


def _of_block(call: Call, block: Block) -> Any:
    if not len(block):
        return None
    keep_some_freed_memory()
    with one_blas_thread():
        return call.function(*call.args, block)


def _of_slice(call: Call, block: Block, order: Any, first: int, last: int) -> Any:
    rows = slice(first, last) if order is None else order[first:last]
    return _of_block(call, block.rows(rows))


def _order(seed: int, n_rows: int) -> Indices:
    return np.random.RandomState(seed).permutation(n_rows)


def _added(*results: Any) -> Any:
    return added(results)


def _delayed(function: Callable[..., Any]) -> Any:
    from dask import delayed

    return delayed(function, pure=False, traverse=False)


def _shared(value: Any) -> Any:
    """Put a value into the graph once, as it is."""
    from dask import delayed

    return delayed(value, name=f"protolearn-{uuid4().hex}", traverse=False)


def _computed(results: list[Any]) -> Any:
    """Sum results in a tree whose form depends on their number alone."""
    while len(results) > 1:
        results = [
            _delayed(_added)(*results[k : k + FAN_IN]) for k in range(0, len(results), FAN_IN)
        ]
    return results[0].compute()


def _on_cluster() -> bool:
    """Tell whether a cluster computes."""
    import sys

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
    if not is_dask(values):
        if not known:
            raise ValueError(
                f"{role} is {type(values).__name__}, and the lengths of the chunks of X are not "
                f"known; give {role} as a Dask collection, or X after X.compute_chunk_sizes()."
            )
        from dask.array import from_array

        whole = np.asarray(values)
        _check_length(role, len(whole), lengths)
        values = from_array(whole, chunks=(lengths,))
    elif is_frame(values):
        if known:
            values = values.to_dask_array(lengths=True).rechunk((lengths,))
        elif values.npartitions != count:
            raise _other_parts(role, values.npartitions, count)
    elif known and not any(math.isnan(n) for n in values.chunks[0]):
        _check_length(role, values.shape[0], lengths)
        values = values.rechunk((lengths,)) if values.chunks[0] != lengths else values
    if hasattr(values, "numblocks") and values.numblocks[0] != count:
        raise _other_parts(role, values.numblocks[0], count)
    return list(np.ravel(np.array(values.to_delayed(), dtype=object)))


def _check_length(role: str, n_values: int, lengths: Any) -> None:
    if n_values != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows and {role} has {n_values} entries.")


def _other_parts(role: str, found: int, count: int) -> ValueError:
    return ValueError(
        f"{role} has {found} chunks and X has {count}, of unknown lengths; cut both alike."
    )
