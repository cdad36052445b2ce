"""What is compared: models and data sets by name, and the splits that all models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils import check_consistent_length, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..._arrays import Indices
from ..._names import class_name, number_repeats
from ..._validation import integer_in
from ...datasets import load
from ..held_out import as_indices

Split = tuple[Indices, Indices]
"""Training rows and test rows."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set and its splits."""

    name: str
    X: Any
    y: NDArray[Any]
    splits: tuple[Split, ...]


def named_models(models: Any) -> dict[str, Any]:
    """Return classifiers by name; those of a list have the name of their class, and a number.

    A Pipeline is called by its last step.
    """
    if isinstance(models, Mapping):
        found = {_name(name, "model"): model for name, model in models.items()}
    elif isinstance(models, (list, tuple)):
        found = dict(zip(number_repeats([class_name(m) for m in models]), models, strict=True))
    else:
        raise ValueError(f"models={models!r} must be a dict of classifiers by name, or a list.")
    if not found:
        raise ValueError("models is empty; give one classifier at least.")
    for name, model in found.items():
        if isinstance(model, type):
            raise ValueError(f"Model {name!r} is the class {model.__name__}; give an object of it.")
        if not (hasattr(model, "fit") and hasattr(model, "get_params") and is_classifier(model)):
            raise ValueError(
                f"Model {name!r} is {model!r}; expected a classifier with scikit-learn's methods."
            )
    return found


def named_problems(datasets: Any, cv: Any, n_repeats: int, seed: int) -> list[Problem]:
    """Return the data sets by name, checked, with the splits of each."""
    pairs = _named_pairs(datasets)
    cv = _check_cv(cv, n_repeats, seed, len(pairs))
    return [_problem(name, pair, cv) for name, pair in pairs.items()]


def _named_pairs(datasets: Any) -> dict[str, Any]:
    """Return X and y by the name of the data set, loaded where only a name is given."""
    if isinstance(datasets, str):
        datasets = [datasets]
    if isinstance(datasets, tuple) and not all(isinstance(one, str) for one in datasets):
        datasets = {"data": datasets}
    if isinstance(datasets, Mapping):
        found = {_name(name, "data set"): pair for name, pair in datasets.items()}
    elif isinstance(datasets, (list, tuple)) and all(isinstance(one, str) for one in datasets):
        found = {name: load(name) for name in datasets}
        if len(found) < len(datasets):
            raise ValueError(f"datasets={list(datasets)!r} must be different names.")
    else:
        raise ValueError(
            f"datasets of type {type(datasets).__name__} must be a dict of pairs (X, y) by name, "
            "a list of names of protolearn.datasets, one name, or one tuple (X, y)."
        )
    if not found:
        raise ValueError("datasets is empty; give one at least.")
    return found


def _problem(name: str, pair: Any, cv: Any) -> Problem:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"Data set {name!r} must be a pair (X, y), got {type(pair).__name__}.")
    try:
        X, y = indexable(pair[0], column_or_1d(pair[1]))
        check_consistent_length(X, y)
        check_classification_targets(y)
        splits = tuple(
            (as_indices(train), as_indices(test))
            for train, test in (cv.split(X, y) if hasattr(cv, "split") else cv)
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"Data set {name!r}: {error}") from error
    if not splits or not all(len(part) for split in splits for part in split):
        raise ValueError(f"cv={cv!r} gives data set {name!r} no splits, or empty ones.")
    return Problem(name, X, y, splits)


def _check_cv(cv: Any, n_repeats: int, seed: int, n_datasets: int) -> Any:
    """Return a splitter, or a list of pairs of indices."""
    if isinstance(cv, (int, np.integer)):
        folds = integer_in(cv, "cv={value!r}", 2)
        return RepeatedStratifiedKFold(n_splits=folds, n_repeats=n_repeats, random_state=seed)
    if n_repeats != 1:
        raise ValueError(
            f"n_repeats={n_repeats} is for an integer cv; cv={cv!r} has its own number of splits."
        )
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    try:
        pairs = [(train, test) for train, test in cv]
    except (TypeError, ValueError):
        raise ValueError(
            f"cv={cv!r} must be a number of folds, a splitter of scikit-learn, or pairs "
            "(training rows, test rows)."
        ) from None
    if n_datasets > 1:
        raise ValueError(
            f"cv is a list of rows, which belongs to one data set, but there are {n_datasets}; "
            "give an integer or a splitter."
        )
    return pairs


def _name(name: Any, kind: str) -> str:
    if isinstance(name, str) and name:
        return name
    raise ValueError(f"The name {name!r} of a {kind} must be a string, not empty.")
