"""What is used of numba beyond its documented interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compile_seconds() -> Iterator[list[float]]:
    """Return a list for the block, to which the seconds of every compilation are appended."""
    seconds: list[float] = []
    try:
        from numba.core.event import install_timer
    except ImportError:  # of a version that has no such events
        yield seconds
        return
    with install_timer("numba:compiler_lock", seconds.append):
        yield seconds
