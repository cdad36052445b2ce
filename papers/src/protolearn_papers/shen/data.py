"""The sets of the paper, without the tweets, and the noise in their labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn import datasets

NOISE = 0.1
"""Share of wrong labels in the noisy sets."""

DRAWN: dict[str, Callable[..., Any]] = {
    "isolated": datasets.make_isolated,
    "striated": datasets.make_striated,
    "spirals": datasets.make_spirals,
}
SETS = (*DRAWN, "iris", "glass", "vehicle", "segment")
"""The sets in the order of the tables."""

QUICK = ("spirals", "iris")
"""Those of the reduced version."""


def load(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Draw or load a set."""
    if name in DRAWN:
        X, y = DRAWN[name](random_state=seed)
    else:
        X, y = datasets.fetch(name)
    return X, y


@cache
def given(name: str, noisy: bool, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return a set as the methods see it; with noise, test rows have wrong labels too."""
    X, y = load(name, seed)
    return X, datasets.flip_labels(y, NOISE, random_state=seed) if noisy else y
