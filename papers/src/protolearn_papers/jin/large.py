"""USPS and 20 newsgroups: one split, settings chosen on a fifth of the training part."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from protolearn._arrays import Indices
from protolearn.datasets import fetch

from .methods import METHODS
from .protocol import Fits, Protocol, Setting, chosen
from .words import Weighting


class Parts(NamedTuple):
    """Rows and classes of training and test."""

    X: Any
    y: Indices
    X_test: Any
    y_test: Indices


def searched(
    name: str, method: str, prototypes: int, protocol: Protocol, seed: int
) -> list[list[float]]:
    """Try all settings with some prototypes a class; give each with its validation accuracy."""
    fits, X, y = selection_fits(name, protocol, seed)
    tried = [one for one in protocol.settings() if one.prototypes == prototypes]
    return [[*one, fits.accuracy(METHODS[method], one, X, y)] for one in tried]


def judged(
    name: str, method: str, tried: list[list[float]], protocol: Protocol, seed: int
) -> dict[str, float]:
    """Fit the whole training part with the best setting, and judge the test part."""
    settings = [(Setting(alpha, int(n), tau), score) for alpha, n, tau, score in tried]
    setting, validation = chosen(settings)
    parts = read(name)
    fits = Fits(parts.X, parts.y, protocol.epochs, seed)
    accuracy = fits.accuracy(METHODS[method], setting, parts.X_test, parts.y_test)
    return {"accuracy": accuracy, "validation": validation, **setting._asdict()}


@cache
def selection_fits(name: str, protocol: Protocol, seed: int) -> tuple[Fits, Any, Indices]:
    """Return the fits on four fifths of the training part, and the rows that choose."""
    parts = read(name)
    taught, asked = train_test_split(
        np.arange(len(parts.y)), test_size=protocol.validation, stratify=parts.y, random_state=seed
    )
    fits = Fits(parts.X[taught], parts.y[taught], protocol.epochs, seed)
    return fits, parts.X[asked], parts.y[asked]


@cache
def read(name: str) -> Parts:
    """Return the customary parts: pixels as they are, texts as weighted words."""
    X, labels = fetch(name, "train")
    X_test, test_labels = fetch(name, "test")
    classes, y = np.unique(labels, return_inverse=True)
    y_test = np.searchsorted(classes, test_labels)
    if name != "20ng":
        return Parts(X.astype(np.float64), y, X_test.astype(np.float64), y_test)
    weighting = Weighting(X, y)
    return Parts(weighting(X), y, weighting(X_test), y_test)
