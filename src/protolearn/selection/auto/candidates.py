"""What the automatic choice chooses from: families of models, with their few important settings."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ... import classifiers, ensemble, linear, perceptrons
from ...classifiers import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    MRSLVQ,
    RSLVQ,
    KernelGLVQ,
)
from ...ensemble import PrototypeSVM
from ...linear import FisherPrototypes, MeanOfClass, SoftMarginSVM

Grid = Mapping[str, Any]

MOST_PAIRS = 5000
"""Rows up to which models that compare all pairs of rows are tried."""

MOST_MAPPED = 100
"""Features up to which a learned map may keep all dimensions."""

WIDE_RANK = 30
"""Dimensions that it keeps of more."""

WIDE, SCREENED = 300, (100, 25)
"""Features from which on only the most telling ones are learned from, and how many of them."""

INSIDE = {"solver": "inside"}
"""Prototypes stay in the range of their class, so that each looks like a row."""

COARSE = {"tol": [1e-2]}
"""L-BFGS stops earlier where that costs no accuracy: not with maps of low rank or a penalty."""

UNSHOWN = "solver", "max_iter", "tol", "n_shifts"
"""Settings of how a model is fitted, which its name leaves out."""

SETTINGS: dict[str, Grid] = {
    "AdaTron": {"gamma": [10.0, 1.0, np.inf]},
    "BoostedPrototypes": {"C": [1.0, 10.0, np.inf]},
    "CommitteeMachine": {"n_units": [3, 5]},
    "ExemplarSVM": {"C": [100.0, 1.0]},
    "KernelAdaTron": {"C": [10.0, 1.0, 100.0]},
    "ParityMachine": {"early_stopping": [True, False]},
    "RobustLVQ": {"norm": [np.inf, 2]},
    "RVM": {"kernel": ["linear", "rbf"]},
}
"""What matters much of models that are in no family; hard margins come last."""

NUMBERS = [1, 2, 4]
"""Prototypes of a class, of the other models in no family."""


@dataclass(frozen=True)
class Candidate:
    """A model that may be chosen: its class, and the settings that matter.

    A model that is in no family has its own name there. ``scaled``: a scaler comes before it.
    ``n_features``: it sees as many features, those whose means differ most between the classes.
    """

    family: str
    model: type[BaseEstimator]
    settings: Mapping[str, Any]
    scaled: bool = True
    n_features: int | None = None

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The parameters of the model with their defaults."""
        return dict(self.model().get_params())

    def model_for(self, y: NDArray[Any], seed: int) -> BaseEstimator:
        """Return the model for these labels, yet to be fitted."""
        settings = dict(self.settings)
        if "prototypes_per_class" in settings:
            settings["prototypes_per_class"] = at_most(settings["prototypes_per_class"], y)
        if "random_state" in self.defaults:
            settings["random_state"] = seed
        return self.model(**settings)

    def steps(self) -> list[tuple[str, Any]]:
        """Return what comes before the model: a scaler, a choice of features, yet to be fitted."""
        scaler = [("scaler", StandardScaler())] if self.scaled else []
        if self.n_features is None:
            return scaler
        return [*scaler, ("screen", SelectKBest(f_classif, k=self.n_features))]

    def pipeline(self, y: NDArray[Any], seed: int) -> Pipeline:
        """Return the model for these labels, behind these steps, yet to be fitted."""
        return Pipeline([*self.steps(), ("model", self.model_for(y, seed))])

    @property
    def kind(self) -> str:
        """What a person sees of the model: one of ``KINDS``."""
        several = self.settings.get("prototypes_per_class", 1) != 1
        if self.family in ("local", "kernel", "ensemble"):
            return {"local": "local metric"}.get(self.family, self.family)
        if self.model.__name__ in (*ALL_PAIRS_MODELS, "KernelGLVQ"):
            return "kernel"
        if self.model is MeanOfClass:  # the nearest class mean decides
            return "prototypes"
        if self.model.__module__.startswith(classifiers.__name__):
            soft = self.model in (RSLVQ, MRSLVQ) and several
            return "soft prototypes" if soft else "prototypes"
        return "ensemble" if self.model.__name__ in SEVERAL_UNITS else "linear"

    @property
    def all_pairs(self) -> bool:
        """Whether it compares all pairs of rows, so that its time grows with their square."""
        return self.family in ALL_PAIRS or self.family in ALL_PAIRS_MODELS

    def expected_seconds(self, n_rows: int, n_features: int, n_classes: int) -> float:
        """Return about how long a fit takes on a usual processor, by the products that it needs.

        A rough number that is the same on every machine, so that a plan that follows from it is.
        """
        d = n_features if self.n_features is None else self.n_features
        if self.model is KernelGLVQ:
            return 4e-10 * n_rows**3
        if self.all_pairs:
            return 4e-7 * n_rows**2
        n_prototypes = n_classes * int(self.settings.get("prototypes_per_class", 1))
        rank = min(self.settings.get("rank") or d, d)
        if self.model is LGMLVQ:
            by_prototype = self.settings.get("localized") == "prototype"
            return 1e-7 * n_rows * (n_prototypes if by_prototype else n_classes) * rank * d
        if self.model in (GMLVQ, MRSLVQ):
            return 6e-8 * n_rows * rank * (d + n_prototypes)
        if self.family == "fixed" or self.model is GRLVQ:
            return 2e-8 * n_rows * n_prototypes * d
        if self.model is SoftMarginSVM and n_classes > 2:  # one machine for all classes
            return 4e-6 * n_rows * n_classes * d * self.settings.get("C", 1.0) ** 0.25
        return 2e-7 * n_rows * n_classes * d

    def __str__(self) -> str:
        """Write the model with what differs from its defaults."""
        shown = {name: value for name, value in self.settings.items() if name not in UNSHOWN}
        changed = {name: value for name, value in shown.items() if value != self.defaults[name]}
        texts = (f"{v:.3g}" if isinstance(v, float) else repr(v) for v in changed.values())
        given = ", ".join(map("{}={}".format, changed, texts))
        screened = "" if self.n_features is None else f" on {self.n_features} features"
        return f"{self.model.__name__}({given}){screened}"


def at_most(n_prototypes: int, y: NDArray[Any]) -> int | dict[Any, int]:
    """Return each class as many prototypes, or as many as it has rows."""
    labels, counts = np.unique(y, return_counts=True)
    if n_prototypes <= counts.min():
        return n_prototypes
    return {
        label: min(n_prototypes, count)
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
    }


def linear_models(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return linear classifiers, which are one prototype a class."""
    yield SoftMarginSVM, {"C": [1.0, 0.01, 0.1, 10.0], "tol": [1e-3]}
    yield FisherPrototypes, {"ridge": [0.1, 0.001]}
    yield MeanOfClass, {}
    yield LogisticRegression, {"C": [1.0, 0.01, 0.1, 10.0, 100.0], "max_iter": [1000]}


def fixed_metric(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with the Euclidean metric."""
    yield GLVQ, {"prototypes_per_class": [4, 1, 2, 8], "beta": ["auto", 5.0], **COARSE}
    yield GLVQ, {"prototypes_per_class": [1, 4], "attraction": [0.05], **COARSE}
    yield RSLVQ, {"prototypes_per_class": [1, 3, 6], **COARSE}
    # One prototype a class: logistic regression, with a penalty.
    yield RSLVQ, {"prototypes_per_class": [1], "attraction": [0.03, 0.3], **COARSE}


def learned_metric(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with one learned metric."""
    full = full_rank(n_features)
    low = sorted({rank for rank in (2, n_features // 3) if 2 <= rank < n_features})
    yield GMLVQ, {"prototypes_per_class": [2, 1, 4], "rank": [full], **COARSE}
    if low:
        yield GMLVQ, {"prototypes_per_class": [2], "rank": low}
        yield GMLVQ, {"prototypes_per_class": [1], "rank": low, "max_iter": [200]}
        yield GMLVQ, {"prototypes_per_class": [4], "rank": low}
    yield GMLVQ, {"prototypes_per_class": [1, 2, 4], "rank": [full], "regularization": [0.02]}
    yield MRSLVQ, {"prototypes_per_class": [1, 2, 4], "rank": [full], **COARSE}
    yield GRLVQ, {"prototypes_per_class": [1, 2, 4], **COARSE}


def local_metric(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ with a learned metric for each class, or for each prototype."""
    by_class = {"prototypes_per_class": [1, 2], "regularization": [0.005, 0.05]}
    by_prototype = {"prototypes_per_class": [2], "regularization": [0.02]}
    rank = [full_rank(n_features)]
    yield LGMLVQ, {"rank": rank, **by_class}
    yield LGMLVQ, {"localized": ["prototype"], "rank": rank, **by_prototype}


def kernel_metric(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return LVQ in the feature space of Gaussian kernels, from wide to narrow."""
    gammas = [width / n_features for width in (1.0, 0.1, 0.3, 3.0)]
    yield KernelGLVQ, {"prototypes_per_class": [3, 1], "gamma": gammas, **COARSE}


def svm_ensembles(n_features: int) -> Iterator[tuple[type[BaseEstimator], Grid]]:
    """Return ensembles of small linear SVMs."""
    yield PrototypeSVM, {"C": [100.0, 1.0], "n_shifts": [5]}


def full_rank(n_features: int) -> int | None:
    """Return the rank of a map that keeps as much as there is time for."""
    return None if n_features <= MOST_MAPPED else WIDE_RANK


FAMILIES = {
    "linear": linear_models,
    "fixed": fixed_metric,
    "learned": learned_metric,
    "local": local_metric,
    "kernel": kernel_metric,
    "ensemble": svm_ensembles,
}

ALL_PAIRS = "kernel", "ensemble"
"""Families that compare all pairs of rows."""

ALL_PAIRS_MODELS = "AdaTron", "ExemplarSVM", "KernelAdaTron", "RVM", "SoftPreprocessing"
"""Other models that do."""


SEVERAL_UNITS = "CommitteeMachine", "ParityMachine", "PrototypeSVM"
"""Models of several planes that vote."""

KINDS = "prototypes", "linear", "local metric", "soft prototypes", "kernel", "ensemble"
"""Kinds of models, from the one that is easiest to look at: a few prototypes with exact margins."""


def members(family: str, n_features: int, scaled: bool = True) -> list[Candidate]:
    """Return the candidates of a family.

    Of very many features they see those whose means differ most between the classes; only linear
    models see all of them too.
    """
    seen: list[int | None] = [None]
    if n_features > WIDE:
        seen = [*SCREENED[:1], None, *SCREENED[1:]] if family == "linear" else [*SCREENED]
    return [
        Candidate(family, model, one, scaled, n_seen)
        for n_seen in seen
        for model, grid in FAMILIES[family](n_seen or n_features)
        for one in settings_of(model, grid)
    ]


def models() -> Iterator[type[BaseEstimator]]:
    """Return the classifiers of the library that have scores, and need nothing but rows."""
    for package in classifiers, linear, perceptrons, ensemble:
        for name in package.__all__:
            model = getattr(package, name)
            if isinstance(model, type) and issubclass(model, ClassifierMixin):
                fitting = hasattr(model, "fit") and hasattr(model, "decision_function")
                if fitting and not inspect.isabstract(model):
                    yield model


MODELS = {model.__name__: model for model in models()}


def model_names() -> list[str]:
    """Return the names of the models that ``families`` takes beside families.

    Returns
    -------
    names : list of str
        In the order of the alphabet.

    Examples
    --------
    >>> from protolearn.selection.auto import model_names
    >>> [name for name in model_names() if "SVM" in name]
    ['ExemplarSVM', 'HardMarginSVM', 'PrototypeSVM', 'SoftMarginSVM']
    """
    return sorted(MODELS, key=str.lower)


def chosen_names(names: Any, n_rows: int) -> list[str]:
    """Return the families and models that are wanted, in the order in which they take turns."""
    given = list(names) if np.iterable(names) and not isinstance(names, str) else [names]
    known = {plain_name(name): name for name in ("all", *FAMILIES, *model_names())}
    if not given or not all(plain_name(name) in known for name in given):
        raise ValueError(
            f"families={names!r} of AutoPrototypeClassifier must be 'all' or some of "
            f"{', '.join(map(repr, FAMILIES))}, or names of models.{hint(given, known)}"
        )
    wanted = {known[plain_name(name)] for name in given}
    if "all" in wanted:
        wanted |= {name for name in FAMILIES if n_rows <= MOST_PAIRS or name not in ALL_PAIRS}
    return [name for name in (*FAMILIES, *model_names()) if name in wanted]


def plain_name(name: Any) -> str:
    """Write a name without what people write differently."""
    return re.sub(r"[-_. ]", "", name.lower()) if isinstance(name, str) else ""


def hint(given: list[Any], known: dict[str, str]) -> str:
    """Name what a wrong name resembles, or else all models."""
    wrong = next((name for name in given if plain_name(name) not in known), "")
    near = difflib.get_close_matches(plain_name(wrong), known, 3)
    if near:
        return f" Instead of {wrong!r}, did you mean {' or '.join(repr(known[n]) for n in near)}?"
    return f" The models are {', '.join(model_names())}."


def candidates(
    names: Iterable[str], n_features: int, rng: np.random.RandomState, scaled: bool = True
) -> list[Candidate]:
    """Return all candidates of some families and models, in the order in which they are tried.

    These take turns. Each begins with the settings that are most often good, and goes on with the
    others in random order. What a family has, a model of that family does not bring again.
    """
    turns: list[list[Candidate]] = []
    for name in names:
        taken = [member for turn in turns for member in turn]
        group = [one for one in members_of(name, n_features, scaled) if one not in taken]
        others = [group[1 + i] for i in rng.permutation(max(len(group) - 1, 0))]
        turns.append([*group[:1], *others])
    return [member for turn in zip_longest(*turns) for member in turn if member is not None]


def with_class_weights(tried: Iterable[Candidate], weights: Any) -> list[Candidate]:
    """Return candidates, each that takes class weights also with these: balanced, or by label."""
    found = []
    for one in tried:
        found.append(one)
        if "class_weight" in one.defaults:
            found.append(replace(one, settings={**one.settings, "class_weight": weights}))
    return found


def members_of(name: str, n_features: int, scaled: bool = True) -> list[Candidate]:
    """Return the candidates of a family or of a model."""
    if name in FAMILIES:
        return members(name, n_features, scaled)
    model = MODELS[name]
    every = [one for family in FAMILIES for one in members(family, n_features, scaled)]
    in_family = [one for one in every if one.model is model]
    return in_family or [Candidate(name, model, one, scaled) for one in settings(model)]


def settings(model: type[BaseEstimator]) -> list[dict[str, Any]]:
    """Return the settings of a model that is in no family."""
    grid = SETTINGS.get(model.__name__, {})
    if "prototypes_per_class" in model().get_params():
        grid = {"prototypes_per_class": NUMBERS, **grid}
    return settings_of(model, grid)


def settings_of(model: type[BaseEstimator], grid: Grid) -> list[dict[str, Any]]:
    """Return all settings of a grid; if a solver can keep prototypes in their range, it does."""
    names = model().get_params().keys()
    inside = {"solver", "attraction"} <= names and "kernel" not in names
    return [{**(INSIDE if inside else {}), **one} for one in ParameterGrid(grid)]
