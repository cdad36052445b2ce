"""One fold of a small set: the training rows choose the settings, the test rows judge once."""

from __future__ import annotations

from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from protolearn._arrays import Floats, Indices
from protolearn.datasets import fetch

from .methods import METHODS
from .protocol import Fits, Protocol, chosen

FOLDS = 10


def judged_fold(
    name: str, repetition: int, fold: int, protocol: Protocol, seed: int
) -> dict[str, dict[str, float]]:
    """Return the accuracy and the chosen setting of each method in one fold of one repetition."""
    X, y = coded(name)
    whole = seed_of(seed, name, repetition)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=whole)
    train, test = list(folds.split(X, y))[fold]
    own = seed_of(seed, name, repetition, fold)
    return judged(X[train], y[train], X[test], y[test], protocol, own)


def judged(
    X: Floats, y: Indices, X_test: Floats, y_test: Indices, protocol: Protocol, seed: int
) -> dict[str, dict[str, float]]:
    """Choose settings for all methods, fit all the training rows with them, judge the test rows."""
    everything = np.arange(len(y))
    if protocol.all_choose:
        folds = StratifiedKFold(round(1 / protocol.validation), shuffle=True, random_state=seed)
        splits = list(folds.split(X, y))
    else:
        splits = [
            train_test_split(
                everything, test_size=protocol.validation, stratify=y, random_state=seed
            )
        ]
    tries = [
        prepared(X[taught], y[taught], X[asked], y[asked], protocol, seed)
        for taught, asked in splits
    ]
    fits, X_scaled, _ = prepared(X, y, X_test, y_test, protocol, seed)
    found = {}
    for name, method in METHODS.items():
        tried = [
            (one, float(np.mean([part.accuracy(method, one, A, b) for part, A, b in tries])))
            for one in protocol.settings()
        ]
        setting, validation = chosen(tried)
        accuracy = fits.accuracy(method, setting, X_scaled, y_test)
        found[name] = {"accuracy": accuracy, "validation": validation, **setting._asdict()}
    return found


def prepared(
    X: Floats, y: Indices, X_other: Floats, y_other: Indices, protocol: Protocol, seed: int
) -> tuple[Fits, Floats, Indices]:
    """Return fits on some rows, and other rows scaled as these."""
    scaler = StandardScaler().fit(X)
    fits = Fits(scaler.transform(X), y, protocol.epochs, seed, protocol.by_distance)
    return fits, scaler.transform(X_other), y_other


@cache
def coded(name: str) -> tuple[Floats, Indices]:
    """Return a set with its classes as numbers."""
    X, y = fetch(name)
    return X, np.unique(y, return_inverse=True)[1]


def seed_of(*parts: Any) -> int:
    """Return a seed for a part of the work, the same in every run."""
    words = [part if isinstance(part, int) else crc32(str(part).encode()) for part in parts]
    return int(np.random.SeedSequence(words).generate_state(1)[0] >> 1)
