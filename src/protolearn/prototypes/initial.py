"""Where the prototypes begin: class means, k-means in each class, k-means++, rows, an array.

All work is done on a copy of one class at a time, moved to its mean and divided by a power of two,
so that data of any size pass through k-means unharmed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from .._parameters import Floats, Indices
from .._threads import one_openmp_thread

MAX_ROWS = 20_000
"""Rows of one class that k-means looks at; a larger class is sampled."""

NOISE = 1e-3
"""Size of the step that separates equal starts, relative to the spread of the class."""

Rng = np.random.RandomState
Start = Callable[[Floats, Floats, int, Rng], Floats]


def around_mean(Z: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take the mean k times; equal ones are separated afterwards."""
    return np.zeros((k, Z.shape[1]))


def by_kmeans(Z: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take the centres of k clusters."""
    if k == 1:
        return np.zeros((1, Z.shape[1]))
    with warnings.catch_warnings(), one_openmp_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        model = KMeans(k, n_init=1, random_state=rng).fit(Z, sample_weight=weight)
    centers: Floats = model.cluster_centers_
    return centers


def by_kmeans_plusplus(Z: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take k rows that lie far from each other."""
    centers: Floats = kmeans_plusplus(Z, k, sample_weight=weight, random_state=rng)[0]
    return centers


def by_rows(Z: Floats, weight: Floats, k: int, rng: Rng) -> Floats:
    """Take k rows at random."""
    return Z[rng.choice(len(Z), k, replace=False, p=weight / weight.sum())]


STARTS: dict[str, Start] = {
    "means": around_mean,
    "kmeans": by_kmeans,
    "kmeans++": by_kmeans_plusplus,
    "random": by_rows,
}


def initial_prototypes(
    init: Any, X: Floats, y: Indices, weight: Floats, counts: Indices, rng: Rng
) -> Floats:
    """Give the prototypes to start from, class by class in the order of the codes.

    Parameters
    ----------
    init : str or array (K, d)
        A key of ``STARTS``, or the prototypes themselves.
    X, y, weight : arrays
        Samples, class codes and positive weights.
    counts : array (n_classes,)
        Number of prototypes of each class.
    rng : RandomState
        Source of randomness.
    """
    if not isinstance(init, str):
        return _given(init, int(counts.sum()), X.shape[1])
    if init not in STARTS:
        raise ValueError(
            f"init={init!r} must be one of {', '.join(map(repr, STARTS))} or an array of shape "
            "(number of prototypes, number of features)."
        )
    spread = 0.25 * (X.max(axis=0) - X.min(axis=0))
    return np.vstack(
        [
            _start_class(STARTS[init], X, np.flatnonzero(y == code), weight, int(k), spread, rng)
            for code, k in enumerate(counts)
        ]
    )


def _start_class(
    start: Start, X: Floats, rows: Indices, weight: Floats, k: int, spread: Floats, rng: Rng
) -> Floats:
    """Give the prototypes of one class."""
    mean = weight[rows] / weight[rows].sum() @ X[rows]
    if len(rows) > MAX_ROWS:
        rows = rng.choice(rows, min(max(MAX_ROWS, 10 * k), len(rows)), replace=False)
    Z = X[rows] - mean
    size = float(np.abs(Z).max())
    unit = 2.0 ** np.floor(np.log2(size)) if size > 0.0 else 1.0
    W = start(Z / unit, weight[rows], k, rng)
    return mean + unit * W + _separate(W, spread, rng)


def _separate(W: Floats, spread: Floats, rng: Rng) -> Floats:
    """Give a small step for each prototype that equals an earlier one: they would stay equal."""
    step = np.zeros_like(W)
    first = np.unique(W, axis=0, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(W)), first)
    step[again] = NOISE * spread * rng.standard_normal((len(again), W.shape[1]))
    return step


def _given(init: Any, n_prototypes: int, n_features: int) -> Floats:
    """Check prototypes that the user gives."""
    try:
        W = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init={init!r} must be one of {', '.join(map(repr, STARTS))} or an array of numbers "
            f"of shape ({n_prototypes}, {n_features})."
        ) from None
    if W.shape != (n_prototypes, n_features):
        raise ValueError(
            f"init has shape {W.shape}, expected ({n_prototypes}, {n_features}): one row for each "
            "prototype, grouped by class in the order of classes_."
        )
    if not np.isfinite(W).all():
        raise ValueError("init contains NaN or infinity; give finite prototypes.")
    return W
