"""Keeping numerical libraries to one thread for a while.

BLAS threads only wait for each other on small work. OpenMP threads that share a sum add it up in
another order each time, and a seed would not give the same numbers twice.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController


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


@cache
def _controller() -> ThreadpoolController:
    """Find the libraries of this process, once."""
    return ThreadpoolController()
