"""How many threads work: keeping numerical libraries to one, and sharing out native work.

BLAS threads only wait for each other on small work. OpenMP threads that share a sum add it up in
another order each time, and a seed would not give the same numbers twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import joblib
import numba
from threadpoolctl import ThreadpoolController

SLICES = 4
"""Slices of work for each thread."""


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread within a context.

    The setting belongs to the whole process, and contexts of several threads that overlap would
    restore it wrongly; so only the main thread sets it.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


def one_openmp_thread() -> AbstractContextManager[object]:
    """Limit OpenMP to one thread within a context; the setting belongs to the calling thread."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="openmp")
    return limit


def in_slices(n_items: int, work: Callable[[int, int], object]) -> None:
    """Call ``work(first, last)`` for slices of items, in as many threads as there are cores.

    The work is native, which does not hold the interpreter, and independent for each item. A
    process that joblib started takes its share of the cores: that is what joblib tells numba. An
    error of a thread is raised here.

    Parameters
    ----------
    n_items : int
    work : callable
        Handles the items from ``first`` up to ``last``.
    """
    n_threads = min(_n_threads(), n_items)
    if n_threads <= 1:
        work(0, n_items)
        return
    # More slices than threads: some items take longer than others.
    n_slices = min(SLICES * n_threads, n_items)
    ends = [n_items * k // n_slices for k in range(n_slices + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))


def _n_threads() -> int:
    """Give the number of threads for native work."""
    return min(joblib.effective_n_jobs(-1), numba.config.NUMBA_NUM_THREADS)


@cache
def _controller() -> ThreadpoolController:
    """Find the libraries of this process, once."""
    return ThreadpoolController()
