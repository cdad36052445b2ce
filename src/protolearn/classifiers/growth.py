"""Finding the number of prototypes with what the classifier trains with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from ..blocks import MemoryBlocks
from ..codebook import Codebook
from ..prototypes import Growth
from ..solvers import Kohonen
from .early_stopping import hold_out
from .rows import TrainingRows
from .settings import RuleSettings, Settings

JUDGED = 0.3
"""Share of the samples that decide about the number of prototypes."""

ENOUGH = 600
"""Fewer samples are learned from as often as these: held-out ones tell if it is by heart."""


def grow(
    settings: Settings, rows: TrainingRows, start: Codebook, rng: np.random.RandomState
) -> Codebook:
    """Return a start with as many prototypes of each class as held-out rows ask for."""
    sample, n_classes = rows.sample(rng), len(rows.classes)
    taught, judged = hold_out(sample, JUDGED, np.bincount(start.labels), rng)
    if not len(judged):
        return start
    if isinstance(settings, RuleSettings):  # split prototypes have to part, at whatever cost
        solver: Kohonen = clone(settings.solver).set_params(keep_best=False)
        settings = replace(settings, solver=solver)
    everything, blocks = MemoryBlocks(sample), MemoryBlocks(taught)
    n = len(taught)

    def train(start: Codebook) -> Codebook:
        problem = settings.problem(start, rows.form, everything, n_classes)
        solver = problem.solver
        most = max(map(solver.default_max_iter, (n, max(n, ENOUGH))))
        max_iter = settings.max_iter or most
        return solver.minimize(
            problem.cost, start, blocks, rng, max_iter=max_iter, tol=settings.tol
        ).codebook

    def tell(count: int, share: float) -> None:
        if settings.verbose:
            print(f"[{settings.name}] {count} prototypes, {100 * share:.1f} % held-out errors")

    return Growth(rows.form, train, taught, judged, rng, tell).grow(start)
