"""The sets of the paper, other sets to choose defaults on, and accuracies on folds of either."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from protolearn import PrototypeSVM, datasets
from protolearn.datasets import flip_labels
from protolearn_papers.shen.data import NOISE, SETS, load

Labelled = tuple[NDArray[np.float64], NDArray[Any]]

LARGE = 1500
"""Rows that are taken of a large set."""


def some_rows(name: str) -> Labelled:
    """Load a seeded draw of rows."""
    X, y = datasets.load(name)
    rows = np.random.RandomState(0).permutation(len(X))[:LARGE]
    return X[rows], y[rows]


def checkerboard() -> Labelled:
    """Draw 800 points on a board of four by four fields."""
    X = np.random.RandomState(0).uniform(0.0, 4.0, (800, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


PAPER: dict[str, Callable[[], Labelled]] = {name: partial(load, name, 0) for name in SETS}

OTHERS: dict[str, Callable[[], Labelled]] = {
    **{
        name: partial(datasets.load, name)
        for name in ("wine", "wdbc", "sonar", "ionosphere", "heart", "pima", "glass2")
    },
    **{name: partial(some_rows, name) for name in ("pendigits", "optdigits", "satimage")},
    "moons": partial(make_moons, 600, noise=0.25, random_state=0),
    "circles": partial(make_circles, 600, noise=0.15, factor=0.5, random_state=0),
    "checkerboard": checkerboard,
}


@dataclass(frozen=True)
class Folds:
    """What was found on each fold.

    Attributes
    ----------
    accuracy : array (folds,)
        Share of the test rows.
    models : array (folds,)
        Size of the ensemble.
    """

    accuracy: NDArray[np.float64]
    models: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: list[Folds]) -> Folds:
        """Put folds together."""
        return cls(
            np.concatenate([part.accuracy for part in parts]),
            np.concatenate([part.models for part in parts]),
        )


def tell(what: str) -> None:
    """Write a line of progress over the one before."""
    print(f"  {what:<70}", end="\r", file=sys.stderr, flush=True)


def on_folds(X: Any, given: Any, true: Any, n_folds: int, **settings: Any) -> Folds:
    """Fit to the given labels and count successes by the true ones."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, given):
            tell(f"{len(X)} rows of {X.shape[1]} features, fold {len(found) + 1} of {n_folds}")
            model = PrototypeSVM(random_state=0, **settings).fit(X[train], given[train])
            found.append((model.score(X[test], true[test]), len(model.prototypes_)))
    accuracy, models = np.array(found, dtype=np.float64).T
    return Folds(accuracy, models)


def noisy_folds(
    X: Any, y: Any, seeds: range, n_folds: int, *, noisy_tests: bool, **settings: Any
) -> Folds:
    """Put the folds of several draws of label noise together; test rows have it too, or not."""

    def draws() -> Iterator[Folds]:
        for seed in seeds:
            noisy = flip_labels(y, NOISE, random_state=seed)
            yield on_folds(X, noisy, noisy if noisy_tests else y, n_folds, **settings)

    return Folds.joined(list(draws()))
