"""What the automatic choice chooses from: families of models, with their few important settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ...classifiers import GLVQ, GMLVQ, GRLVQ, LGMLVQ, MRSLVQ, RSLVQ, KernelGLVQ
from ...ensemble import PrototypeSVM
from ...linear import FisherPrototypes, MeanOfClass, SoftMarginSVM

Grid = Mapping[str, Any]

MOST_PAIRS = 5000
"""Rows up to which models that compare all pairs of rows are tried."""

MOST_MAPPED = 100
"""Features up to which a learned map may keep all dimensions."""

WIDE_RANK = 30
"""Dimensions that it keeps of more."""


@dataclass(frozen=True)
class Candidate:
    """A model that may be chosen.

    Parameters
    ----------
    family : str
        The family it belongs to; the name of the model if it is in none.
    model : type
        The class of the model.
    settings : mapping
        What differs from the defaults of the class.
    scaled : bool, default=True
        Whether a scaler comes before the model.
    """

    family: str
    model: type[BaseEstimator]
    settings: Mapping[str, Any]
    scaled: bool = True

    def pipeline(self, y: NDArray[Any], seed: int) -> Pipeline:
        """Return the model for these labels, behind its scaler, yet to be fitted."""
        settings = dict(self.settings)
        if "prototypes_per_class" in settings:
            settings["prototypes_per_class"] = at_most(settings["prototypes_per_class"], y)
        model = self.model(**settings)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        scaler = [("scaler", StandardScaler())] if self.scaled else []
        return Pipeline([*scaler, ("model", model)])

    @property
    def all_pairs(self) -> bool:
        """Whether it compares all pairs of rows, so that its time grows with their square."""
        return self.family in ALL_PAIRS or self.family in ALL_PAIRS_MODELS

    def __str__(self) -> str:
        """Write the model with what differs from its defaults."""
        defaults = self.model().get_params()
        changed = {name: value for name, value in self.settings.items() if value != defaults[name]}
        given = ", ".join(f"{name}={shown(value)}" for name, value in changed.items())
        return f"{self.model.__name__}({given})"


def shown(value: Any) -> str:
    """Write the value of a setting with few digits."""
    return f"{value:.3g}" if isinstance(value, float) else repr(value)


def at_most(n_prototypes: int, y: NDArray[Any]) -> int | dict[Any, int]:
    """Return each class as many prototypes, or as many as it has rows."""
    labels, counts = np.unique(y, return_counts=True)
    if n_prototypes <= counts.min():
        return n_prototypes
    return {
        label: min(n_prototypes, count)
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
    }


def linear(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return linear classifiers, which are one prototype a class."""
    yield SoftMarginSVM, {"C": [1.0, 0.01, 0.1, 10.0, 100.0]}
    yield FisherPrototypes, {"ridge": [0.1, 0.001]}
    yield MeanOfClass, {}


def fixed(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with the Euclidean metric."""
    yield GLVQ, {"prototypes_per_class": [4, 1, 2, 8], "beta": [15.0, 5.0]}
    yield GLVQ, {"prototypes_per_class": [1, 4], "attraction": [0.05]}
    yield RSLVQ, {"prototypes_per_class": [1, 3, 6]}


def learned(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with one learned metric."""
    full = full_rank(n_features)
    low = sorted({rank for rank in (2, n_features // 3) if 2 <= rank < n_features})
    yield GMLVQ, {"prototypes_per_class": [2, 1, 4], "rank": [full, *low]}
    yield GMLVQ, {"prototypes_per_class": [1, 2, 4], "rank": [full], "regularization": [0.02]}
    yield MRSLVQ, {"prototypes_per_class": [1, 2, 4], "rank": [full]}
    yield GRLVQ, {"prototypes_per_class": [1, 2, 4]}


def local(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with a learned metric for each class, or for each prototype."""
    by_class = {"prototypes_per_class": [1, 2], "regularization": [0.005, 0.0, 0.05]}
    by_prototype = {"prototypes_per_class": [2, 3], "regularization": [0.02]}
    rank = [full_rank(n_features)]
    yield LGMLVQ, {"rank": rank, **by_class}
    yield LGMLVQ, {"localized": ["prototype"], "rank": rank, **by_prototype}


def kernel(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ in the feature space of Gaussian kernels, from wide to narrow."""
    gammas = [width / n_features for width in (1.0, 0.1, 0.3, 3.0)]
    yield KernelGLVQ, {"prototypes_per_class": [3, 1, 6], "gamma": gammas}


def ensemble(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return ensembles of small linear SVMs."""
    yield PrototypeSVM, {"C": [100.0, 1.0]}


def full_rank(n_features: int) -> int | None:
    """Return the rank of a map that keeps as much as there is time for."""
    return None if n_features <= MOST_MAPPED else WIDE_RANK


FAMILIES = {
    "linear": linear,
    "fixed": fixed,
    "learned": learned,
    "local": local,
    "kernel": kernel,
    "ensemble": ensemble,
}

ALL_PAIRS = "kernel", "ensemble"
"""Families that compare all pairs of rows."""

ALL_PAIRS_MODELS = "AdaTron", "ExemplarSVM", "KernelAdaTron", "RVM"
"""Other models that do."""


def members(family: str, n_features: int, scaled: bool = True) -> list[Candidate]:
    """Return the candidates of a family."""
    return [
        Candidate(family, model, settings, scaled)
        for model, grid in FAMILIES[family](n_features)
        for settings in ParameterGrid(grid)
    ]
