"""Margins: certified radii and exact distances to the boundary, and counterfactuals.

MNIST's test part if there is a folder of data (``PROTOLEARN_DATA``), otherwise made-up rows of the
same shape; ten prototypes a class.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from protolearn import GLVQ, certified_radius, counterfactual, datasets, sample_margin

from .measure import HEADING, Row, Table, best_of

SOLVED = 200
"""Projections that the general solver makes; the rest is extrapolated."""


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time the margins of one model."""
    name, train, labels, X = data()
    model = GLVQ(prototypes_per_class=10, max_iter=50, random_state=0).fit(train, labels)
    W = np.ascontiguousarray(model.prototypes_)
    radius, product = best_of(lambda: certified_radius(model, X), lambda: X @ W.T)
    yield Row(f"certified_radius, {name}", radius, "X @ W.T", product, 3.0)
    (exact,) = best_of(lambda: sample_margin(model, X), repeats=3)
    general = solver_seconds(model, X)
    against = f"nnls for each row and rival, extrapolated ({general / exact:.0f} times as long)"
    yield Row(f"sample_margin, {name}", exact, against, general, 0.01)
    yield Row(f"sample_margin, {name}", exact, "a minute", 60.0, 1.0)
    (points,) = best_of(lambda: counterfactual(model, X), repeats=1)
    yield Row(f"counterfactual, {name}", points, "sample_margin", exact, np.inf)


def data() -> tuple[str, NDArray, NDArray, NDArray]:
    """Give training rows, their labels, and the rows to ask about."""
    if "mnist" in datasets.names():
        train, labels = datasets.load("mnist", "train")
        X = datasets.load("mnist", "test")[0]
        return "mnist, K=100", train[:10000] / 255.0, labels[:10000], X / 255.0
    rng = np.random.RandomState(0)
    labels = np.arange(20000) % 10
    X = rng.uniform(size=(10, 784))[labels] + 0.5 * rng.standard_normal((20000, 784))
    return "10000 x 784, K=100", X[:10000], labels[:10000], X[10000:]


def solver_seconds(model: GLVQ, X: NDArray) -> float:
    """Time a general solver on some projections; give what all of them would take."""
    rng = np.random.RandomState(0)
    labels, W = model.prototype_labels_, model.prototypes_
    predicted, seconds = model.predict(X), 0.0
    for i in rng.randint(len(X), size=SOLVED):
        own = W[labels == predicted[i]]
        v = W[rng.choice(np.flatnonzero(labels != predicted[i]))]
        start = perf_counter()
        projected(X[i], own, v)
        seconds += perf_counter() - start
    return seconds / SOLVED * len(X) * float(np.mean(labels != labels[0]) * len(W))


def projected(x: NDArray, own: NDArray, v: NDArray) -> NDArray:
    """Project x on the cell of v, by the problem of Lawson and Hanson (1974), chapter 23."""
    A, b = 2.0 * (own - v), np.square(own).sum(axis=1) - np.square(v).sum()
    E = np.vstack([-A.T, A @ x - b])
    f = np.append(np.zeros(len(x)), 1.0)
    residual = E @ nnls(E, f)[0] - f
    return x - residual[:-1] / residual[-1]
