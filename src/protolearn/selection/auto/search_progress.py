"""How far the search is, for a bar or for a function of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .ledger import Ledger

GOING_ON = 0.35
"""Share of the candidates that have further fits, about."""


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    Attributes
    ----------
    n_fits : int
        Fits that have been made, those of a checkpoint included.
    share : float
        How much is done, from 0 to 1: of the fits or of the time, whichever is nearer to its end.
        The last call has 1, wherever the search stopped.
    best_score : float
        Of the best of the candidates with most fits; NaN as long as there is none.
    best_model : str
        That candidate; empty as long as there is none.
    seconds : float
        Since the beginning.
    """

    n_fits: int
    share: float
    best_score: float
    best_model: str
    seconds: float

    def __str__(self) -> str:
        """Write it in a line."""
        best = f", best {self.best_score:.3f} {self.best_model}" if self.best_model else ""
        return f"{self.n_fits} fits{best}"


@contextmanager
def search_bar(wanted: bool) -> Iterator[list[Callable[[SearchProgress], None]]]:
    """Return what is to be called after fits: it moves a bar, if one is wanted."""
    if not wanted:
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("choosing a model", total=1.0)
        yield [lambda now: progress.update(task, completed=now.share, description=str(now))]
        progress.update(task, completed=1.0)


def progress_of(ledger: Ledger) -> SearchProgress:
    """Return how far a search is."""
    score, model = best_so_far(ledger)
    budget, n_others = ledger.budget, len(ledger.parts) - ledger.n_looks
    n_expected = len(ledger.candidates) * (ledger.n_looks + GOING_ON * n_others)
    shares = [len(ledger.trials) / n_expected]
    if budget.max_fits is not None:
        shares.append(budget.n_fits / budget.max_fits)
    if budget.seconds is not None:
        shares.append(budget.seconds_spent / budget.seconds)
    share = min(max(shares), 1.0)
    return SearchProgress(budget.n_fits, share, score, model, budget.seconds_spent)


def best_so_far(ledger: Ledger) -> tuple[float, str]:
    """Return the best of the candidates with most fits, its score first."""
    n_fits = ledger.n_fits()
    most = int(n_fits.max())
    if not most:
        return np.nan, ""
    numbers = np.flatnonzero(n_fits == most)
    means = ledger.first_scores(numbers, min(most, ledger.n_looks)).mean(axis=1)
    return float(means.max()), str(ledger.candidates[numbers[means.argmax()]])
