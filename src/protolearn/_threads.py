"""How many threads work: keeping numerical libraries to one, and sharing out native work.

BLAS threads only wait for each other on small work. OpenMP threads that share a sum add it up in
another order each time, and a seed would not give the same numbers twice.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

import joblib
import numba
from threadpoolctl import ThreadpoolController

SLICES = 4
"""Slices of work for each thread."""

KEPT_BYTES = 1 << 25
"""Freed memory that is kept at the end of a heap."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""What glibc calls the settings."""

_controller = cache(ThreadpoolController)
"""Finds the numerical libraries of this process, once."""

_lock = threading.Lock()
_inside = 0
_limit: Any = None
_most: ContextVar[int | None] = ContextVar("most threads for native work", default=None)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread within a context.

    The setting belongs to the whole process: the first of the contexts that overlap, in whatever
    threads, makes it, and the last one takes it back. Where the process has one core, so has BLAS,
    and the libraries need not be looked for.
    """
    global _inside, _limit
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(2)
    if len(cores) == 1:
        yield
        return
    with _lock:
        if _inside == 0:
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


def one_openmp_thread() -> AbstractContextManager[object]:
    """Limit OpenMP to one thread within a context; the setting belongs to the calling thread."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="openmp")
    return limit


@contextmanager
def at_most_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads for native work within a context; None or -1: no limit."""
    token = _most.set(None if n_jobs in (None, -1) else n_jobs)
    try:
        yield
    finally:
        _most.reset(token)


def in_slices(n_items: int, work: Callable[[int, int], object]) -> None:
    """Call ``work(first, last)`` for slices of items, in as many threads as there are cores.

    The work is native, which does not hold the interpreter, and independent for each item. A
    process that joblib started takes its share of the cores: that is what joblib tells numba. An
    error of a thread is raised here.
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
    """Return the number of threads for native work."""
    most = _most.get()
    if most == 1:
        return 1
    cores = min(joblib.effective_n_jobs(-1), numba.config.NUMBA_NUM_THREADS)
    return cores if most is None else min(cores, most)


@cache
def keep_some_freed_memory() -> None:
    """Let a worker of Dask keep some megabytes of what it frees.

    Such processes are told to give freed memory back to the system at once. Arrays that come and
    go with every block are then made of new pages each time, which takes about as long as the work
    on them.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        return
    with suppress(AttributeError, OSError, TypeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(M_MMAP_THRESHOLD, KEPT_BYTES // 2)
