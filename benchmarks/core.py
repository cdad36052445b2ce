"""The core: a sequential epoch, a batch evaluation, predict, and the first fit of a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_argmin

from protolearn import GLVQ
from protolearn.blocks import Block, MemoryBlocks
from protolearn.codebook import Codebook
from protolearn.distances import Matrix, SquaredEuclidean
from protolearn.losses import Hinge, Logistic, Sigmoid
from protolearn.margins import LogOdds, Margin, Radius, Relative
from protolearn.objective import Objective
from protolearn.solvers import SGD, Adam

from .measure import HEADING, Row, Table, best_of

PROSEMBLE_PREDICT = 1.23
"""Products that prosemble 2.4.0 needs to predict in single precision."""


def make(n: int, d: int, K: int, dtype: type = np.float64) -> tuple[NDArray, NDArray, Codebook]:
    """Make n rows in ten classes around K prototypes."""
    rng = np.random.RandomState(0)
    W = rng.standard_normal((K, d))
    which = rng.randint(K, size=n)
    X = (W[which] + rng.standard_normal((n, d))).astype(dtype)
    labels = np.sort(np.arange(K) % 10)
    codebook = Codebook(W, labels, np.zeros((1, 0)), np.zeros(K, dtype=np.intp), W.mean(axis=0))
    return X, labels[which], codebook


def sequential() -> Iterator[Row]:
    """One epoch of sequential GLVQ."""
    for n, d, K, target in ((7291, 256, 200, 4.0), (1797, 64, 10, np.inf)):
        X, y, codebook = make(n, d, K)
        objective = Objective(SquaredEuclidean(), Relative(), Sigmoid(5.0), 10, scale=2.0 * d)
        blocks = MemoryBlocks(Block(X, y)).prepare_for(objective.distance, codebook)
        rng = np.random.RandomState(0)

        def epochs(count: int) -> None:
            SGD().minimize(objective, codebook, blocks, rng, max_iter=count, tol=0.0)  # noqa: B023

        one, two, product = best_of(
            lambda: epochs(2),
            lambda: epochs(3),
            lambda: X @ codebook.prototypes.T,  # noqa: B023
        )
        seconds = two - one
        yield Row(f"SGD epoch n={n} d={d} K={K}", seconds, "X @ W.T", product, target)
        if n == 1797:
            speed = 2e-9 * n * d * K / product
            # 0.6 us a sample where the product runs at 30 GFLOP/s, more where it is slower.
            allowed = n * 0.6e-6 * 30.0 / speed
            name = f"SGD epoch, {1e6 * seconds / n:.2f} us a sample"
            yield Row(name, seconds, f"0.6 us at 30 GFLOP/s ({speed:.0f} here)", allowed, 1.0)


def batch() -> Iterator[Row]:
    """One value and gradient of the whole data."""
    n, d, K = 60000, 784, 100
    X, y, codebook = make(n, d, K)
    cases: tuple[tuple[str, Margin, float], ...] = (
        ("winner margin", Relative(), 1.6),
        ("log-odds", LogOdds(2.0), 2.5),
    )
    for name, margin, target in cases:
        loss = Sigmoid(5.0) if margin.winners else Logistic()
        objective = Objective(SquaredEuclidean(), margin, loss, 10, scale=2.0 * d)
        blocks = MemoryBlocks(Block(X, y)).prepare_for(objective.distance, codebook)
        seconds, product = best_of(
            lambda: blocks.reduce(objective.partial, codebook),  # noqa: B023
            lambda: X @ codebook.prototypes.T,
            repeats=5,
        )
        yield Row(f"value and gradient, {name}", seconds, "X @ W.T", product, target)


def pairs() -> Iterator[Row]:
    """One epoch of mini-batches for the certified radius, with thousands of prototypes."""
    n, d, K, size = 5120, 784, 4000, 256
    X, y, codebook = make(n, d, K)
    objective = Objective(SquaredEuclidean(), Radius(), Hinge(), 10, scale=2.0 * d)
    blocks, rng = MemoryBlocks(Block(X, y)), np.random.RandomState(0)
    W, solver = codebook.prototypes, Adam(batch_size=size)

    def products() -> None:
        for start in range(0, n, size):
            _ = X[start : start + size] @ W.T, W[:size] @ W.T

    def epochs(count: int) -> None:
        solver.minimize(objective, codebook, blocks, rng, max_iter=count, tol=0.0)

    one, two, product = best_of(lambda: epochs(1), lambda: epochs(2), products)
    yield Row(f"epoch for the radius, K={K}", two - one, "X @ W.T, W @ W.T", product, 4.0)


def matrix_batch() -> Iterator[Row]:
    """Time the same with a learned matrix, against the two products it cannot do without."""
    n, d, K, r = 60000, 784, 10, 50
    X, y, codebook = make(n, d, K)
    rng = np.random.RandomState(0)
    omega, R = rng.standard_normal((r, d)), rng.standard_normal((n, r))
    omega /= np.linalg.norm(omega)
    codebook = replace(codebook, metric=omega.reshape(1, -1))
    objective = Objective(Matrix(rank=r), Relative(), Sigmoid(5.0), 10, scale=1.0)
    blocks = MemoryBlocks(Block(X, y)).prepare_for(objective.distance, codebook)
    seconds, products = best_of(
        lambda: blocks.reduce(objective.partial, codebook),
        lambda: (X @ omega.T, R.T @ X),
        repeats=5,
    )
    yield Row("value and gradient, matrix of rank 50", seconds, "X @ A.T, R.T @ X", products, 2.0)


def predict() -> Iterator[Row]:
    """Prediction, in both precisions."""
    for dtype in (np.float64, np.float32):
        X, y, codebook = make(60000, 784, 100, dtype)
        model = GLVQ(
            prototypes_per_class=10, init=codebook.prototypes, solver="sgd", max_iter=1
        ).fit(X[:2000], y[:2000])
        W = model.prototypes_.astype(dtype)
        ours, product, sklearn = best_of(
            lambda: model.predict(X),  # noqa: B023
            lambda: X @ W.T,  # noqa: B023
            lambda: pairwise_distances_argmin(X, W),  # noqa: B023
            repeats=5,
        )
        name = f"predict {np.dtype(dtype).name}"
        target = 1.2 if dtype is np.float64 else min(1.2, PROSEMBLE_PREDICT)
        yield Row(name, ours, "X @ W.T", product, target)
        yield Row(name, ours, "pairwise_distances_argmin", sklearn, 1.0)


FIT_OURS = "from protolearn import GLVQ; GLVQ().fit(X, y)"
FIT_THEIRS = "from sklearn.linear_model import LogisticRegression as L; L(max_iter=1000).fit(X, y)"
LOAD = "from sklearn.datasets import load_iris; X, y = load_iris(return_X_y=True); "


def first_fit() -> Iterator[Row]:
    """From the start of a process to a fitted model, with a warm and with an empty cache."""
    ours, theirs = best_of(lambda: _process(FIT_OURS), lambda: _process(FIT_THEIRS), repeats=5)
    yield Row("process to first GLVQ fit, warm", ours, "LogisticRegression", theirs, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        cold = best_of_one_cold(folder)
    yield Row("process to first GLVQ fit, cold cache", cold, "10 seconds", 10.0, 1.0)


def best_of_one_cold(folder: str) -> float:
    """Time the fit when nothing is compiled yet."""
    from time import perf_counter

    start = perf_counter()
    _process(FIT_OURS, NUMBA_CACHE_DIR=folder)
    return perf_counter() - start


def _process(code: str, **environment: str) -> None:
    subprocess.run([sys.executable, "-c", LOAD + code], check=True, env=os.environ | environment)


def rows() -> Iterator[Row]:
    """Everything, a line at a time."""
    for part in (sequential, batch, pairs, matrix_batch, predict, first_fit):
        yield from part()


def tables() -> Iterator[Table]:
    """Give the one table of this part."""
    yield Table(HEADING, rows())
