"""What the measured processes have in common; it needs NumPy alone, whoever runs it.

``python -m benchmarks.peers.child_x TASK JSON`` runs one task and prints its numbers as one line of
JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = dict[str, Any]

BETA = 5.0
"""Slope of the sigmoid where both sides lower the same cost."""

STEP = 1.0
"""Learning rate of the sequential epochs, in the units of the data."""

ACCURACY_EPOCHS = 4
"""Sequential epochs after which the accuracy is told."""


class Split(NamedTuple):
    """A data set, ready to be learned."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def main(tasks: dict[str, Callable[..., Numbers]]) -> None:
    """Run the task that the command line names."""
    print(json.dumps(tasks[sys.argv[1]](**json.loads(sys.argv[2]))))


def load(path: str) -> Split:
    """Read an exported set and scale its features."""
    with np.load(path) as archive:
        center, spread = archive["center"], archive["spread"]
        X, X_test = ((archive[key] - center) / spread for key in ("X", "X_test"))
        return Split(X, archive["y"], X_test, archive["y_test"])


def timed(model: Any, X: NDArray, y: NDArray) -> float:
    """Fit, and give the seconds."""
    start = perf_counter()
    model.fit(X, y)
    return perf_counter() - start


def time_epochs(make: Callable[[int], Any], data: Split, few: int, many: int) -> Numbers:
    """Time fits of few and of many epochs, of which the difference is free of all set-up."""
    make(few).fit(data.X, data.y)  # whatever happens only once
    return {
        "few": timed(make(few), data.X, data.y),
        "many": timed(make(many), data.X, data.y),
        "epochs": many - few,
    }


def fit_in_turn(make: Callable[[], Any], data: Split, fits: int) -> Numbers:
    """Fit equal new models; give the seconds of the first and of the last, and the accuracy."""
    models = [make() for _ in range(fits)]
    seconds = [timed(model, data.X, data.y) for model in models]
    return {"cold": seconds[0], "warm": seconds[-1], "accuracy": accuracy(models[0], data)}


def fit_folds(make: Callable[[], Any], paths: list[str]) -> Numbers:
    """Fit a new model on each fold; give the seconds of all and the mean accuracy."""
    seconds, accuracies = [], []
    for data in map(load, paths):
        model = make()
        seconds.append(timed(model, data.X, data.y))
        accuracies.append(accuracy(model, data))
    return {"seconds": sum(seconds), "accuracy": float(np.mean(accuracies))}


def accuracy(model: Any, data: Split) -> float:
    """Give the share of test rows that are right."""
    return float(np.mean(np.asarray(model.predict(data.X_test)) == data.y_test))


def training_loss(data: Split, prototypes: NDArray, labels: NDArray) -> float:
    """Give the mean cost of GLVQ, written out: the judge of both sides."""
    W = np.asarray(prototypes, dtype=np.float64)
    D = np.stack([np.square(data.X - w).sum(axis=1) for w in W], axis=1)
    own = data.y[:, None] == np.asarray(labels)
    nearest_own = np.where(own, D, np.inf).min(axis=1)
    nearest_other = np.where(own, np.inf, D).min(axis=1)
    margin = (nearest_other - nearest_own) / (nearest_other + nearest_own)
    return float(np.mean(1.0 / (1.0 + np.exp(BETA * margin))))
