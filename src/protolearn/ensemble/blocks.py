"""Pairwise work, some items at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable

from .._arrays import rows_at_a_time
from .._threads import in_slices, one_blas_thread


def by_blocks(n: int, width: int, work: Callable[[slice], None]) -> None:
    """Call ``work(items)`` for some of n items at a time that are ``width`` numbers each.

    Several threads do so at once. BLAS then has one in each.
    """
    size = rows_at_a_time(8 * width)
    ends = [*range(0, n, size), n]

    def several(first: int, last: int) -> None:
        for k in range(first, last):
            work(slice(ends[k], ends[k + 1]))

    with one_blas_thread():
        in_slices(len(ends) - 1, several)
