"""The classifiers of section 8, fitted to the separable points and to the neurons."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protolearn._arrays import Floats
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    PrototypePath,
    SoftMarginSVM,
    regularization_path,
)

MEAN, FISHER, SPARSE, HARD, SOFT = (
    "mean of class",
    "Fisher",
    "RVM",
    "hard-margin SVM",
    "soft-margin SVM",
)

SOFT_TO_HARD = np.geomspace(1e-5, 1e4, 90)
"""Values of C between which the separable points take the SVM from one limit to the other."""

TRIED = np.geomspace(1e-4, 1e1, 16)
"""Values of C among which the training error chooses."""

TIGHT = 2e-5
"""Tolerance of boosting on the separable points, whose prototypes are slower than their margin."""

LEAST = 1e-4
"""Where the path of C begins in the overlapping case, as a share of the C that is chosen."""


class Fits(NamedTuple):
    """Some rows and what was fitted to them.

    Attributes
    ----------
    X, y : arrays
        The rows, with labels -1 and +1.
    models : dict of str to classifier
        Those that are fitted at once.
    boosted : BoostedPrototypes
        The one with a path of rounds.
    soft : PrototypePath
        The soft-margin SVM as C grows.
    """

    X: Floats
    y: NDArray[Any]
    models: dict[str, Any]
    boosted: BoostedPrototypes
    soft: PrototypePath

    @property
    def rounds(self) -> PrototypePath:
        """The path of the boosted prototypes."""
        path = self.boosted.path_
        assert isinstance(path, PrototypePath)  # two classes
        return path


def soft_path(X: Floats, y: NDArray[Any], C: Floats) -> PrototypePath:
    """Return the path of the soft-margin SVM with squared slacks."""
    path = regularization_path(X, y, C=C, norm=2)
    assert isinstance(path, PrototypePath)  # two classes
    return path


@lru_cache(maxsize=1)  # the draw that is shown is the first of those that are counted
def on_toy(seed: int) -> Fits:
    """Fit to separable points in the plane."""
    X, y = make_graf_toy(random_state=seed)
    models = {MEAN: MeanOfClass(), FISHER: FisherPrototypes(), SPARSE: RVM(), HARD: HardMarginSVM()}
    return Fits(
        X,
        y,
        {name: model.fit(X, y) for name, model in models.items()},
        BoostedPrototypes(variant="adaboost*", tol=TIGHT).fit(X, y),
        soft_path(X, y, SOFT_TO_HARD),
    )


def training_errors(X: Floats, y: NDArray[Any]) -> Floats:
    """Return the training error of the soft-margin SVM at each C that is tried."""
    machines = (SoftMarginSVM(norm=2, C=C).fit(X, y) for C in TRIED)
    return np.array([1.0 - machine.score(X, y) for machine in machines])


@lru_cache(maxsize=1)
def on_neurons(seed: int, n_per_stimulus: int) -> tuple[Fits, float]:
    """Fit to overlapping responses; give the C of least training error as well."""
    X, y = make_neurons(n_per_stimulus, random_state=seed)
    C = float(TRIED[training_errors(X, y).argmin()])
    soft = SoftMarginSVM(norm=2, C=C)
    models = {MEAN: MeanOfClass(), FISHER: FisherPrototypes(), SPARSE: RVM(), SOFT: soft}
    fits = Fits(
        X,
        y,
        {name: model.fit(X, y) for name, model in models.items()},
        BoostedPrototypes(variant="adaboost*", C=C).fit(X, y),
        soft_path(X, y, np.geomspace(LEAST * C, C, 60)),
    )
    return fits, C
