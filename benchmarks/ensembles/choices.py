"""Which defaults are best, on other sets than those of the paper.

One setting at a time departs from the default, then C and the calibration together, then the
number of neighbours that may gainsay a label. Labels of training rows are true or one in ten is
wrong; test rows always have the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

from protolearn.ensemble import members, prototype

from ..measure import Table
from .data import OTHERS, noisy_folds, on_folds

FOLDS = 4

DEFAULT: dict[str, Any] = {"C": 100.0, "calibration": "local", "standardize": True, "pruning": 0.2}

CHOICES: dict[str, tuple[Any, ...]] = {
    "C": (1.0, 10.0, 100.0, 1000.0),
    "calibration": ("local", "binning", "platt"),
    "standardize": (True, False),
    "pruning": (0.0, 0.1, 0.2, 0.4, None),
}


NEIGHBOURS = (1, 3, 5, 7)


@dataclass(frozen=True)
class Choice:
    """Means over all sets with one setting; accuracies and sizes by set too."""

    name: str
    accuracy: dict[str, float]
    models: dict[str, float]
    noisy_accuracy: dict[str, float]
    noisy_models: dict[str, float]
    seconds: float

    def line(self) -> str:
        """Give the line as it is printed."""
        means = [
            *(100.0 * mean(self.accuracy), mean(self.models)),
            *(100.0 * mean(self.noisy_accuracy), mean(self.noisy_models)),
        ]
        cells = "".join(f"{value:>10.{2 - k % 2}f}" for k, value in enumerate(means))
        return f"{self.name:<30}{cells}{self.seconds:>10.0f}"

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return asdict(self)


HEADING = f"{'default but for':<30}" + "".join(
    f"{name:>10}" for name in ("% right", "models", "% noisy", "models", "seconds")
)
"""The heading over lines of :class:`Choice`."""


def mean(by_set: dict[str, float]) -> float:
    """Give the mean over sets."""
    return float(np.mean(list(by_set.values())))


def tables() -> Iterator[Table]:
    """Give single departures, then pairs, then which rows are learned from."""
    yield Table(f"{DEFAULT}, {len(OTHERS)} sets, {FOLDS} folds\n{HEADING}", single())
    yield Table(HEADING, pairs())
    yield Table(HEADING, edited())


def single() -> Iterator[Choice]:
    """Measure the default, and each other value of each setting."""
    yield measured("the default", {})
    for name, values in CHOICES.items():
        for value in values:
            if value != DEFAULT[name]:
                yield measured(f"{name}={value}", {name: value})


def pairs() -> Iterator[Choice]:
    """Measure the other values of C and of the calibration together."""
    for C, calibration in product(CHOICES["C"], CHOICES["calibration"]):
        if DEFAULT["C"] != C and calibration != DEFAULT["calibration"]:
            changed = {"C": C, "calibration": calibration}
            yield measured(f"C={C:g}, {calibration}", changed)


def edited() -> Iterator[Choice]:
    """Measure without editing, and with other numbers of neighbours."""
    with patch.object(prototype, "worth_learning", lambda X, *_: np.arange(len(X))):
        yield measured("all rows are learned from", {})
    for neighbours in NEIGHBOURS:
        with patch.object(members, "NEIGHBOURS", neighbours):
            yield measured(f"{neighbours} neighbours", {})


def measured(name: str, changed: dict[str, Any]) -> Choice:
    """Measure one setting on all sets."""
    settings, start = {**DEFAULT, **changed}, perf_counter()
    columns: tuple[dict[str, float], ...] = ({}, {}, {}, {})
    for key, load in OTHERS.items():
        X, y = load()
        clean = on_folds(X, y, y, FOLDS, **settings)
        noisy = noisy_folds(X, y, range(1), FOLDS, noisy_tests=False, **settings)
        found = clean.accuracy, clean.models, noisy.accuracy, noisy.models
        for column, values in zip(columns, found, strict=True):
            column[key] = float(values.mean())
    return Choice(name, *columns, perf_counter() - start)
