"""The sets of the paper, with other tweets in place of its own, and the noise in their labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn import datasets

from .paper import TWITTER

CELL = 8.0
"""Side of the cells that the clusters of the isolated set are in."""

NOISE = 0.1
"""Share of wrong labels in the noisy sets."""

DRAWN: dict[str, Callable[..., Any]] = {
    "isolated": datasets.make_isolated,
    "striated": datasets.make_striated,
    "spirals": datasets.make_spirals,
}
SETS = (*DRAWN, "iris", "glass", "vehicle", "segment")
"""The sets of both tables, in their order; table 2 has the tweets as well."""

TWEETS, N_TWEETS = "semeval2013", 600
"""The set that stands in for the tweets of the paper, and how many of them it took."""

QUICK = ("spirals", "iris")
"""Those of the reduced version."""


def load(name: str, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Draw or load a set."""
    if name in DRAWN:
        X, y = DRAWN[name](random_state=seed)
    elif name == TWITTER:
        X, y = draw_tweets(seed)
    else:
        X, y = datasets.fetch(name)
    return X, y


def draw_tweets(seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Draw tweets of the training part at random; features count the words that are in them."""
    X, y = datasets.load(TWEETS, part="train")
    rows = np.random.RandomState(seed).permutation(len(y))[:N_TWEETS]
    counts = X[rows].toarray().astype(np.float64)
    return counts[:, counts.any(axis=0)], y[rows]


def true_parts(name: str, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.intp]:
    """Return which part of its class a row of the isolated or the striated set was drawn from."""
    if name == "isolated":  # one cluster a cell of the grid; the background is one part
        cells = np.floor(X / CELL).astype(np.intp) @ (1000, 1)
        return np.where(y == 1, cells, -1)
    across = (X[:, 1] - X[:, 0]) / np.sqrt(2.0) + 3.5  # the middle of the first of 8 stripes is 0
    return np.asarray(2 * np.round((across - y) / 2.0) + y, dtype=np.intp)


@cache
def given(name: str, noisy: bool, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return a set as the methods see it; with noise, test rows have wrong labels too."""
    X, y = load(name, seed)
    return X, datasets.flip_labels(y, NOISE, random_state=seed) if noisy else y
