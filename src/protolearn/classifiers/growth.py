"""Finding the number of prototypes with what the classifier trains with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..blocks import Block, MemoryBlocks
from ..codebook import Codebook
from ..distances import Distance
from ..prototypes import Growth
from .early_stopping import hold_out
from .learner import Learner

JUDGED = 0.3
"""Share of the samples that decide about the number of prototypes."""

ENOUGH = 600
"""Fewer samples are learned from as often as these: held-out ones tell if it is by heart."""


def grown(
    model: Any,
    distance: Distance,
    learner_for: Callable[[Codebook], Learner],
    start: Codebook,
    block: Block,
    rng: np.random.RandomState,
) -> Codebook:
    """Give a start with as many prototypes of each class as held-out rows ask for."""
    taught, judged = hold_out(block, JUDGED, np.bincount(start.labels), rng)
    if not len(judged):
        return start

    def train(start: Codebook) -> Codebook:
        learner = learner_for(start).for_trial()
        result = learner.train(
            start,
            MemoryBlocks(taught),
            rng,
            max_iter=model.max_iter or most_iterations(learner, len(taught)),
            tol=model.tol,
            callback=None,
        )
        return result.codebook

    def tell(count: int, share: float) -> None:
        if model.verbose:
            print(
                f"[{type(model).__name__}] {count} prototypes, {100 * share:.1f} % held-out errors"
            )

    return Growth(distance, train, taught, judged, rng, tell).grow(start)


def most_iterations(learner: Learner, n_samples: int) -> int:
    """Give the number of iterations of a trial when the user names none."""
    return max(map(learner.default_max_iter, (n_samples, max(n_samples, ENOUGH))))
