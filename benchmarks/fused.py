"""Fused sequential descent: against SGD on the same steps, and sparse against dense rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import random_array

from protolearn.blocks import Block, MemoryBlocks
from protolearn.codebook import Codebook
from protolearn.distances import SquaredEuclidean
from protolearn.losses import Loss, Sigmoid
from protolearn.margins import LogOdds, Margin, Relative
from protolearn.objective import Objective
from protolearn.solvers import SGD
from protolearn_papers.fused import DenseDescent, SparseDescent

from .measure import HEADING, Row, Table, best_of

SHAPES = ((460, 8, 2, 3), (507, 18, 4, 3), (5833, 256, 10, 10))
"""Rows, features, classes, prototypes a class: small tables, and pictures."""

AXES: dict[str, tuple[Margin, Loss]] = {
    "GLVQ": (Relative(), Sigmoid(15.0)),
    "SNPC": (LogOdds(2.0), Sigmoid()),
}
STEPS = 40_000
RATE = 0.1


def tables() -> Iterator[Table]:
    """Give the table."""
    yield Table(HEADING, rows())


def rows() -> Iterator[Row]:
    """Time passes over the same rows in the same order."""
    for name, axes in AXES.items():
        for shape in SHAPES:
            yield against_sgd(name, axes, *shape)
        yield sparse_against_dense(name, axes, 2000, 1000, 20, 5)


def against_sgd(
    name: str, axes: tuple[Margin, Loss], n: int, d: int, classes: int, per_class: int
) -> Row:
    """Compare with the solver of the classifiers."""
    rng = np.random.RandomState(0)
    X, y, labels = (
        rng.standard_normal((n, d)),
        rng.randint(classes, size=n),
        own(classes, per_class),
    )
    start = rng.standard_normal((len(labels), d))
    objective = Objective(SquaredEuclidean(), *axes, classes, 0.01, float(d))
    epochs = max(STEPS // n, 1)
    descent = DenseDescent(X, y, np.tile(np.arange(n), epochs))
    group = np.zeros(len(labels), dtype=np.intp)
    codebook = Codebook(start, labels, np.zeros((1, 0)), group, np.zeros(d))
    blocks, solver = MemoryBlocks(Block(X, y, np.ones(n))), SGD(RATE, shuffle=False)

    def by_sgd() -> None:
        solver.minimize(objective, codebook, blocks, rng, max_iter=epochs, tol=0.0)

    fused, called = best_of(lambda: descent.run(objective, start, labels, RATE), by_sgd)
    shape = f"{n} x {d}, {len(labels)} prototypes"
    return Row(f"{name}, {epochs} passes, {shape}", fused, "SGD", called, 1.0)


def sparse_against_dense(
    name: str, axes: tuple[Margin, Loss], n: int, d: int, classes: int, per_class: int
) -> Row:
    """Compare the two geometries on rows with 6 % of the features."""
    rng = np.random.RandomState(0)
    X = random_array((n, d), density=0.06, random_state=rng, format="csr")
    y, labels = rng.randint(classes, size=n), own(classes, per_class)
    start = rng.rand(len(labels), d) * 0.06
    objective = Objective(SquaredEuclidean(), *axes, classes, 0.01, 20.0)
    sparse = SparseDescent(X, y, np.arange(n))
    dense = DenseDescent(X.toarray(), y, np.arange(n))
    seconds, reference = best_of(
        lambda: sparse.run(objective, start, labels, RATE),
        lambda: dense.run(objective, start, labels, RATE),
    )
    shape = f"{n} x {d}, {len(labels)} prototypes"
    return Row(f"{name}, sparse rows, {shape}", seconds, "dense rows", reference, 0.5)


def own(classes: int, per_class: int) -> np.ndarray:
    """Give the classes of the prototypes."""
    return np.repeat(np.arange(classes), per_class)
