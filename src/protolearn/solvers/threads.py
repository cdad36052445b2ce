"""How many BLAS threads a fit uses: one for small work, where threads only wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL_WORK = 20_000_000
"""Products of a sample, a feature and a prototype, below which one thread is faster."""


def blas_threads(work: int) -> AbstractContextManager[object]:
    """Limit BLAS to one thread within a context if the work of one evaluation is small."""
    if work > SMALL_WORK:
        return nullcontext()
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Find the BLAS libraries of this process, once."""
    return ThreadpoolController()
