"""Names that stand for candidates: of families, and of single models."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import ParameterGrid

from ... import classifiers, ensemble, linear, perceptrons
from .candidates import ALL_PAIRS, FAMILIES, MOST_PAIRS, Candidate, Grid, members

SETTINGS: dict[str, Grid] = {
    "AdaTron": {"gamma": [10.0, 1.0, np.inf]},
    "BoostedPrototypes": {"C": [1.0, 10.0, np.inf]},
    "CommitteeMachine": {"n_units": [3, 5]},
    "ExemplarSVM": {"C": [100.0, 1.0]},
    "KernelAdaTron": {"gamma": [10.0, 1.0, 100.0]},
    "ParityMachine": {"early_stopping": [True, False]},
    "RVM": {"kernel": ["linear", "rbf"]},
}
"""What matters much of models that are in no family; hard margins come last."""

NUMBERS = [1, 2, 4]
"""Prototypes of a class, of the other models in no family."""


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
    return list(ParameterGrid(grid))
