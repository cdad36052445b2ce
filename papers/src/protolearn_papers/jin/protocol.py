"""The protocol: a grid of settings, each fitted on a part of the training rows, judged on the rest.

All settings of a fold begin with the same prototypes for the same number a class, and see the rows
in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from protolearn._arrays import Floats, Indices
from protolearn.blocks import Block
from protolearn.prototypes import initial_prototypes

from ..fused import DenseDescent, SparseDescent
from .methods import Method

ALPHAS = (0.0, 0.001, 0.005, 0.01, 0.05)
TAUS = (0.1, 0.5, 1.0, 1.5, 2.0)
RATE = 0.1
"""The first learning rate of tau = 1, in units of the scale."""


class Setting(NamedTuple):
    """Attraction, prototypes a class, and learning rate in tenths."""

    alpha: float
    prototypes: int
    tau: float


@dataclass(frozen=True)
class Protocol:
    """What is tried, for how long, and what share of the training rows chooses.

    Attributes
    ----------
    alphas, prototypes, taus : tuples
        The grid.
    epochs : int
        Passes over the rows.
    validation : float
        Share of the training rows that choose.
    all_choose : bool
        Whether the parts of that share choose in turn, so that every training row does.
    by_distance : bool
        Whether the first learning rate is in units of the mean distance to the nearest prototype.
        Otherwise it is in units of the mean squared distance, like the losses.
    """

    prototypes: tuple[int, ...]
    epochs: int
    validation: float
    alphas: tuple[float, ...] = ALPHAS
    taus: tuple[float, ...] = TAUS
    all_choose: bool = False
    by_distance: bool = False

    def settings(self) -> Iterator[Setting]:
        """Return the grid; of equally good settings the first is chosen."""
        for prototypes, alpha, tau in product(self.prototypes, self.alphas, self.taus):
            yield Setting(alpha, prototypes, tau)


def chosen(tried: Iterable[tuple[Setting, float]]) -> tuple[Setting, float]:
    """Return the setting with the best accuracy, the first of equal ones, and that accuracy."""
    return max(tried, key=lambda one: one[1])


class Fits:
    """Fits on the same rows, in the same order of rows, from the same prototypes.

    Parameters
    ----------
    X, y : arrays (n_rows, n_features), (n_rows,)
        Rows and class codes.
    epochs : int
        Passes over the rows.
    seed : int
        Seed of the order and of the first prototypes.
    by_distance : bool, default=False
        Whether learning rates are in units of the mean distance, not of its square.
    """

    def __init__(self, X: Any, y: Indices, epochs: int, seed: int, by_distance: bool = False):
        self.block = Block(X, y, np.ones(len(y)))
        self.n_classes = int(y.max()) + 1
        self.seed, self.by_distance = seed, by_distance
        rng = np.random.RandomState(seed)
        order = np.concatenate([rng.permutation(len(y)) for _ in range(epochs)])
        descent = SparseDescent if issparse(X) else DenseDescent
        self._descent = descent(X, y, order)
        self._starts: dict[int, tuple[Floats, float, float]] = {}

    def labels(self, prototypes: int) -> Indices:
        """Return the classes of the prototypes."""
        return np.repeat(np.arange(self.n_classes), prototypes)

    def start(self, prototypes: int) -> tuple[Floats, float, float]:
        """Return the first prototypes, the mean squared distance to the nearest, the unit of rates.

        A rate that is multiplied by the mean squared distance has the unit one, because the losses
        are divided by it.
        """
        if prototypes not in self._starts:
            counts = np.full(self.n_classes, prototypes)
            rng = np.random.RandomState(self.seed)
            W = initial_prototypes("kmeans", self.block, counts, rng)
            nearest = distances(self.block.X, W).min(axis=1)
            scale = float(nearest.mean())
            mean_distance = float(np.sqrt(np.maximum(nearest, 0.0)).mean())
            self._starts[prototypes] = W, scale, mean_distance / scale if self.by_distance else 1.0
        return self._starts[prototypes]

    def prototypes(self, method: Method, setting: Setting) -> Floats:
        """Return the prototypes that a setting ends with."""
        W, scale, unit = self.start(setting.prototypes)
        objective = method.objective(self.n_classes, setting.alpha, scale)
        labels = self.labels(setting.prototypes)
        return self._descent.run(objective, W, labels, RATE * setting.tau * unit)

    def accuracy(self, method: Method, setting: Setting, X: Any, y: Indices) -> float:
        """Fit, and give the share of other rows that are classified rightly."""
        W = self.prototypes(method, setting)
        nearest = self.labels(setting.prototypes)[distances(X, W).argmin(axis=1)]
        return float(np.mean(nearest == y))


def distances(X: Any, W: Floats) -> Floats:
    """Return the squared distances of rows, which may be sparse, to prototypes.

    Half a million times for a few hundred rows, where the checks of scikit-learn's take far longer.
    """
    found: Floats = X @ (-2.0 * W.T)
    found += row_norms(X, squared=True)[:, None]
    found += row_norms(W, squared=True)
    return found
