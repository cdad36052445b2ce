"""A bar that shows how far the search is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from .ledger import Ledger


@contextmanager
def shown(wanted: bool) -> Iterator[Callable[[Ledger], None]]:
    """Give what is to be called after fits: it moves the bar, if one is wanted."""
    if not wanted:
        yield lambda ledger: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("choosing a model", total=1.0)

        def report(ledger: Ledger) -> None:
            progress.update(task, completed=share(ledger), description=best_so_far(ledger))

        yield report
        progress.update(task, completed=1.0)


def share(ledger: Ledger) -> float:
    """Give how much of the search is done: of the fits or of the time, whichever is nearer."""
    budget = ledger.budget
    parts = [len(ledger.trials) / (len(ledger.candidates) * len(ledger.pairs))]
    if budget.max_fits is not None:
        parts.append(budget.n_fits / budget.max_fits)
    if budget.seconds is not None:
        parts.append(budget.elapsed / budget.seconds)
    return min(max(parts), 1.0)


def best_so_far(ledger: Ledger) -> str:
    """Name the best of the candidates with most fits."""
    n_fits = ledger.n_fits()
    most = int(n_fits.max())
    if not most:
        return f"{ledger.budget.n_fits} fits"
    scores = np.where(n_fits == most, ledger.scores[:, :most].mean(axis=(1, 2)), -np.inf)
    name = ledger.candidates[int(scores.argmax())]
    return f"{ledger.budget.n_fits} fits, best {scores.max():.3f} {name}"
