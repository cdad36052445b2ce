"""Shifting the boundaries of models (algorithm 3 of Shen and Danyluk)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._parameters import Floats, Indices
from .machines import Machines


def shift(
    machines: Machines, X: Floats, codes: Indices, probability: float, rng: np.random.RandomState
) -> Machines:
    """Let rows of the training part join the sets of models.

    A row joins the positives of that model of its class that fires on it and has the nearest
    exemplar. Of the rows of other classes that a model fires on, its hard negatives, each joins its
    negatives with the given probability.
    """
    squares = np.einsum("ij,ij->i", X, X)
    nearest, least = np.full(len(X), -1), np.full(len(X), np.inf)
    hard: list[tuple[Indices, Indices]] = []
    for models, scores in machines.scores(X):
        exemplar = machines.exemplar[models]
        fires = scores > 0.0
        own = machines.label[models, None] == codes
        distance = squares[exemplar, None] + squares - 2.0 * X[exemplar] @ X.T
        distance[np.arange(len(exemplar)), exemplar] = -np.inf  # to itself, whatever the rounding
        distance[~(fires & own)] = np.inf
        closest = distance.argmin(axis=0)
        closer = distance[closest, np.arange(len(X))] < least
        least[closer] = distance[closest[closer], closer]
        nearest[closer] = models.start + closest[closer]
        model, row = np.nonzero(fires & ~own)
        drawn = rng.random_sample(len(model)) < probability
        hard.append((models.start + model[drawn], row[drawn]))
    captured = np.flatnonzero(nearest >= 0)
    members = machines.members.joined(nearest[captured], captured, 1.0)
    model, row = (np.concatenate(part) for part in zip(*hard, strict=True))
    return replace(machines, members=members.joined(model, row, -1.0))
