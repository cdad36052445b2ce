"""Samples of the rows, by class: what a fit would have seen another time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from .._arrays import Indices

FOLDS = 5
"""Parts of a stratified split; a fit sees all but one of them."""

FEWEST = 2
"""Different rows that every class keeps, where it has them."""


def bootstrap(
    y: NDArray[Any], needed: Mapping[Any, int], n_resamples: int, rng: np.random.RandomState
) -> Iterator[Indices]:
    """Return rows drawn with replacement from each class, as many as it has.

    At least as many of them differ as the class needs, so that every prototype can have its own.
    """
    members = {label: np.flatnonzero(y == label) for label in needed}
    for _ in range(n_resamples):
        drawn = [_draw(members[label], max(count, FEWEST), rng) for label, count in needed.items()]
        yield np.sort(np.concatenate(drawn))


def folds(
    y: NDArray[Any], needed: Mapping[Any, int], n_resamples: int, rng: np.random.RandomState
) -> Iterator[Indices]:
    """Return the training rows of stratified splits, which are repeated until there are enough."""
    for label, count in needed.items():
        size = int((y == label).sum())
        if size < FOLDS or size - -(-size // FOLDS) < count:
            raise ValueError(
                f"Class {label!r} has {size} rows, too few for {FOLDS} folds and "
                f"{count} prototypes; give method='bootstrap'."
            )
    splits = RepeatedStratifiedKFold(
        n_splits=FOLDS, n_repeats=-(-n_resamples // FOLDS), random_state=rng
    )
    for train, _ in islice(splits.split(np.zeros(len(y)), y), n_resamples):
        yield train


METHODS = {"bootstrap": bootstrap, "folds": folds}


def _draw(rows: Indices, different: int, rng: np.random.RandomState) -> Indices:
    """Return rows drawn with replacement; if too few differ, these first and then the rest."""
    drawn = rng.choice(rows, size=len(rows))
    different = min(different, len(rows))
    if len(np.unique(drawn)) < different:
        drawn[:different] = rng.choice(rows, size=different, replace=False)
    return drawn
