"""Passes over the data, and when they end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..blocks.journal import NO_JOURNAL, Arrays, Journal, put_back, state_of
from ..codebook import Codebook
from .base import Progress, SolverResult
from .memory import Memory

PATIENCE = 5
"""Epochs without progress after which a schedule that has no end stops."""


def default_epochs(n_samples: int) -> int:
    """Give the number of epochs when the user names none.

    There are fewer for larger data, which take long, and for few rows, which would be learned by
    heart.
    """
    return int(np.clip(min(500_000 // n_samples, max(n_samples // 20, 10)), 8, 30))


def run_epochs(
    one_pass: Callable[[], float],
    codebook: Codebook,
    memory: Memory,
    progress: Progress,
    rng: np.random.RandomState,
    journal: Journal,
    *,
    max_iter: int,
    tol: float,
    open_ended: bool,
) -> SolverResult:
    """Pass over the data ``max_iter`` times, or until the callback says stop.

    With an open end, also until the mean cost of a pass has not fallen by the share ``tol`` for
    some passes. ``one_pass`` changes the codebook in place and gives the mean cost it met; what
    the journal knows of it is not done again.
    """
    best, waited = np.inf, 0
    for _ in range(max_iter):
        loss = _pass_once(one_pass, codebook, memory, rng, journal)
        waited = 0 if loss < best - tol * abs(best) or not np.isfinite(best) else waited + 1
        best = min(best, loss)
        if progress.report(loss, codebook) or (open_ended and waited == PATIENCE):
            break
    curve = progress.loss_curve
    return SolverResult(codebook, curve, len(curve), True, memory)


def _pass_once(
    one_pass: Callable[[], float],
    codebook: Codebook,
    memory: Memory,
    rng: np.random.RandomState,
    journal: Journal,
) -> float:
    """Pass over the data, or take from the journal where that led to."""

    def work() -> Arrays:
        loss = np.array(one_pass())
        here = {"prototypes": codebook.prototypes, "metric": codebook.metric}
        return {"loss": loss, **here, **state_of(rng), **memory.arrays()}

    if journal is NO_JOURNAL:
        return one_pass()
    found = journal.once(work)
    codebook.prototypes[...], codebook.metric[...] = found["prototypes"], found["metric"]
    memory.restore(found)
    put_back(rng, found)
    return float(found["loss"])
