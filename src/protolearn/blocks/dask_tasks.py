"""What runs on the workers of Dask, and how sums come back."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from .._threads import keep_some_freed_memory, one_blas_thread
from .block import Block
from .parts import Part, added

FAN_IN = 32
"""Sums that are added up in one place."""

SENT_ALONG = 1 << 16
"""Bytes that every task brings along."""


class Call(NamedTuple):
    """A function and its first arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


def packed(value: Any) -> Any:
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
def unpacked(content: bytes) -> Any:
    """Return the value, the same one to all tasks of a pass."""
    return pickle.loads(content)


def of_part(read: bytes, index: int, name: str, X: Any, y: Any, weight: Any) -> Any:
    """Read a part."""
    keep_some_freed_memory()
    with one_blas_thread():
        weight = None if weight is None else np.ravel(weight)
        return unpacked(read)(Part(index, name, X, y, weight))


def of_block(call: bytes, block: Block) -> Any:
    """Call a function with a block; give None if that is empty."""
    if not len(block):
        return None
    keep_some_freed_memory()
    function, args = unpacked(call)
    with one_blas_thread():
        return function(*args, block)


def of_slice(call: bytes, block: Block, order: Any, first: int, last: int) -> Any:
    """Call a function with some rows of a block, in some order."""
    return of_block(call, cut(block, order, first, last))


def cut(block: Block, order: Any, first: int, last: int) -> Block:
    """Return some rows of a block, in some order."""
    return block.rows(slice(first, last) if order is None else order[first:last])


def sum_of(*results: Any) -> Any:
    """Add up results."""
    return added(results)


def delayed(function: Callable[..., Any]) -> Any:
    """Return the lazy form of a function."""
    import dask

    return dask.delayed(function, pure=False, traverse=False)


def computed(results: list[Any], fan_in: int = FAN_IN) -> Any:
    """Sum results in a tree whose form depends on their number alone."""
    while len(results) > 1:
        ends = range(0, len(results), fan_in)
        results = [delayed(sum_of)(*results[k : k + fan_in]) for k in ends]
    return results[0].compute()
