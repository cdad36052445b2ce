"""Blocks on a Dask cluster: functions go to the rows, and only sums come back.

Each pass is one ``compute`` of a tree: the function at every chunk, then sums of sums. A cluster
keeps the checked and encoded blocks in its memory and makes those of a lost worker again; without
a cluster they are made anew at each pass, so that they need not fit into memory.
"""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from .._dask import as_column, as_rows, is_dask, is_frame
from .._threads import keep_some_freed_memory, one_blas_thread
from .block import Block
from .memory import Blocks, shuffled_indices
from .parts import Part, Parts, Read, column_names, sum_results
from .survey import SURVEYS_AT_ONCE

FAN_IN = 32
"""Sums that are added up in one place."""

SENT_ALONG = 1 << 16
"""Bytes that every task brings along."""

ROWS_OF_A_CHUNK = 256
"""Rows that a mini-batch takes of a chunk, at least: a task costs about as much as these."""

Slice = tuple[Any, Any, int, int]
"""A block, the order of its rows, and which of these."""


class DaskParts(Parts):
    """The chunks of Dask collections: of an array or frame X, with labels and weights.

    These are Dask arrays or series, array-likes, or names of columns of X.
    """

    in_order = False

    def __init__(self, X: Any, y: Any, weight: Any = None):
        if is_frame(X):
            X, y, weight = _columns_apart(X, y, weight)
            self.names = column_names(X)
        rows = as_rows(X)
        self.n_features = int(rows.shape[1])
        chunks = rows.to_delayed().ravel().tolist()
        labels = _cut_like(y, "y", rows)
        none = [None] * len(chunks)
        weights = none if weight is None else _cut_like(weight, "sample_weight", rows)
        named = [f"chunk {index} of X" for index in range(len(chunks))]
        self._parts = list(zip(range(len(chunks)), named, chunks, labels, weights, strict=True))

    def map_reduce(self, function: Callable[[Part], Any]) -> Any:
        """Sum the results over the parts, leaving out those that are None."""
        call = pack(function)
        return sum_in_tree(
            [as_delayed(read_part)(call, *part) for part in self._parts], SURVEYS_AT_ONCE
        )

    def blocks(self, read: Read, n_samples: int, size: int) -> DaskBlocks:
        """Return the parts as blocks that ``read`` makes of them; empty ones count nothing."""
        import dask

        call, kept = pack(read), _on_cluster()
        blocks = [as_delayed(read_part)(call, *part) for part in self._parts]
        if kept:
            blocks = list(dask.persist(*blocks))
        return DaskBlocks(blocks, n_samples, size, kept)


class DaskBlocks(Blocks):
    """Delayed blocks: a cluster keeps them, or else they are made at each pass."""

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
        call = pack((function, args))
        return sum_in_tree([as_delayed(call_with_block)(call, block) for block in self._blocks])

    def mini_batches(self, size: int, rng: np.random.RandomState | None) -> Iterator[DaskBatch]:
        """Yield every row once, at most about ``size`` at a time; the rows stay where they are.

        In order, a batch has exactly the rows it would have in memory. In random order it has
        rows of several chunks, so that the workers share it. Blocks that are not kept are made
        once for all their batches.
        """
        lengths = self._known_lengths()
        seeds = None if rng is None else rng.randint(np.iinfo(np.int32).max, size=len(lengths))
        held = (KeptBlocks if self._kept else FetchedBlocks)(self._blocks, lengths, seeds)
        plan = in_turn(size, lengths) if rng is None else at_random(size, lengths, rng, self._kept)
        for pieces in plan:
            yield DaskBatch(held.slices(pieces), self._kept)

    def _known_lengths(self) -> Indices:
        """Count the rows of each block, once."""
        if self._lengths is None:
            import dask

            counts = dask.compute(*[as_delayed(len)(block) for block in self._blocks])
            self._lengths = np.array(counts, dtype=np.intp)
        return self._lengths


@dataclass(frozen=True)
class DaskBatch:
    """Rows of several blocks that make one step together."""

    slices: list[Slice]
    elsewhere: bool  # whether workers have them, or they are here

    def __len__(self) -> int:
        return sum(last - first for _, _, first, last in self.slices)

    def reduce(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of ``function(*args, block)`` over the rows."""
        if not self.elsewhere:
            return sum_results(function(*args, rows_between(*one)) for one in self.slices)
        call = pack((function, args))
        return sum_in_tree([as_delayed(call_with_rows)(call, *one) for one in self.slices])


class KeptBlocks:
    """Delayed blocks that workers keep, and the orders of their rows beside them.

    The orders have seeds; None: rows are as they come.
    """

    def __init__(self, blocks: list[Any], lengths: Indices, seeds: Any):
        import dask

        self._blocks, self._orders = blocks, [None] * len(blocks)
        if seeds is not None:
            pairs = zip(seeds.tolist(), lengths.tolist(), strict=True)
            self._orders = list(dask.persist(*[as_delayed(row_order)(*pair) for pair in pairs]))

    def slices(self, pieces: list[Piece]) -> list[Slice]:
        """Return what makes a batch."""
        return [(self._blocks[c], self._orders[c], first, last) for c, first, last in pieces]


class FetchedBlocks:
    """Delayed blocks that are made here when they are needed; those of one batch at a time."""

    def __init__(self, blocks: list[Any], lengths: Indices, seeds: Any):
        self._blocks, self._lengths, self._seeds = blocks, lengths, seeds
        self._here: dict[int, tuple[Any, Any]] = {}

    def slices(self, pieces: list[Piece]) -> list[Slice]:
        """Return what makes a batch."""
        import dask

        self._here = {c: self._here[c] for c, _, _ in pieces if c in self._here}
        missing = [c for c, _, _ in pieces if c not in self._here]
        made = dask.compute(*[self._blocks[c] for c in missing])
        for c, block in zip(missing, made, strict=True):
            seed, n_rows = None if self._seeds is None else self._seeds[c], self._lengths[c]
            self._here[c] = block, None if seed is None else row_order(int(seed), int(n_rows))
        return [(*self._here[c], first, last) for c, first, last in pieces]


def row_order(seed: int, n_rows: int) -> NDArray[Any]:
    """Return the rows of a chunk in random order."""
    return shuffled_indices(n_rows, np.random.RandomState(seed))


class Piece(NamedTuple):
    """Some rows of a chunk, in the order of a pass."""

    chunk: int
    first: int
    last: int


def in_turn(size: int, lengths: Indices) -> Iterator[list[Piece]]:
    """Yield batches of rows as they come, across the ends of chunks."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    for first in range(0, int(ends[-1]), size):
        last = min(first + size, int(ends[-1]))
        here = np.flatnonzero((starts < last) & (ends > first) & (lengths > 0))
        yield [
            Piece(int(c), max(first - int(starts[c]), 0), int(min(last, ends[c]) - starts[c]))
            for c in here
        ]


def at_random(
    size: int, lengths: Indices, rng: np.random.RandomState, mixed: bool
) -> Iterator[list[Piece]]:
    """Yield an equal share of each chunk of a group; batches of groups take turns if mixed."""
    filled = rng.permutation(np.flatnonzero(lengths))
    together = max(size // ROWS_OF_A_CHUNK, 1)
    groups = [filled[k : k + together] for k in range(0, len(filled), together)]
    steps = [math.ceil(lengths[group].sum() / size) for group in groups]
    turns = [(g, step) for g, count in enumerate(steps) for step in range(count)]
    for g, step in [turns[k] for k in rng.permutation(len(turns))] if mixed else turns:
        ends = [lengths[c] * np.array([step, step + 1]) // steps[g] for c in groups[g]]
        pairs = zip(groups[g], ends, strict=True)
        yield [Piece(int(c), int(first), int(last)) for c, (first, last) in pairs if last > first]


def as_delayed(function: Callable[..., Any]) -> Any:
    """Return the lazy form of a function."""
    import dask

    return dask.delayed(function, pure=False, traverse=False)


def sum_in_tree(results: list[Any], fan_in: int = FAN_IN) -> Any:
    """Return the sum of results, by a tree whose form depends on their number alone."""
    while len(results) > 1:
        ends = range(0, len(results), fan_in)
        results = [as_delayed(sum_of)(*results[k : k + fan_in]) for k in ends]
    return results[0].compute()


# What runs on the workers of Dask.


def pack(value: Any) -> Any:
    """Return a value as bytes that go with every task, or as a node if they are many.

    A value that stands by itself in a graph is one more way there and back at every pass.
    """
    import cloudpickle  # type: ignore[import-untyped]
    import dask

    content = cloudpickle.dumps(value)
    if len(content) <= SENT_ALONG:
        return content
    return dask.delayed(content, name=f"protolearn-{uuid4().hex}", traverse=False)


@lru_cache(maxsize=4)
def unpack(content: bytes) -> Any:
    """Return the value, the same one to all tasks of a pass."""
    return pickle.loads(content)


def read_part(read: bytes, index: int, name: str, X: Any, y: Any, weight: Any) -> Any:
    """Return what a reader makes of a part."""
    keep_some_freed_memory()
    with one_blas_thread():
        weight = None if weight is None else np.ravel(weight)
        return unpack(read)(Part(index, name, X, y, weight))


def call_with_block(call: bytes, block: Block) -> Any:
    """Return what a function says of a block; None if that is empty."""
    if not len(block):
        return None
    keep_some_freed_memory()
    function, args = unpack(call)
    with one_blas_thread():
        return function(*args, block)


def call_with_rows(call: bytes, block: Block, order: Any, first: int, last: int) -> Any:
    """Return what a function says of some rows of a block, in some order."""
    return call_with_block(call, rows_between(block, order, first, last))


def rows_between(block: Block, order: Any, first: int, last: int) -> Block:
    """Return some rows of a block, in some order."""
    return block.rows(slice(first, last) if order is None else order[first:last])


def sum_of(*results: Any) -> Any:
    """Return the sum of results."""
    return sum_results(results)


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
    """Return a frame without the columns of labels and weights that are named, and these."""
    taken = [name for name in (y, weight) if isinstance(name, str)]
    for name in taken:
        if name not in list(X.columns):
            raise ValueError(f"{name!r} is not a column of X; the columns are {list(X.columns)!r}.")
    found = [X[name] if isinstance(name, str) else name for name in (y, weight)]
    return (X.drop(columns=taken) if taken else X, *found)


def _cut_like(values: Any, role: str, rows: Any) -> list[Any]:
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
