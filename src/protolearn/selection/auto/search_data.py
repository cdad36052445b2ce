"""The parameters and rows of a search, and which of the rows each fit leaves out."""

from __future__ import annotations

import warnings
from itertools import combinations
from numbers import Integral
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample
from sklearn.utils.multiclass import check_classification_targets

from ..._arrays import Floats, Indices, check_magnitude, validate_data
from ..._validation import check_flag, check_integer, check_positive, check_verbose
from ...folds import RowGroups, row_groups, stratified_folds

MOST_ROWS = 10_000
"""Rows that the search looks at; of more it takes a sample, class by class."""

FEWEST_HELD_OUT = 3
"""Rows of a class from which on they are held out: one remains when two folds are left out."""


class LeftOut(NamedTuple):
    """The rows that a fit learns from, and the one or two folds that it leaves out."""

    train: Indices
    tests: tuple[Indices, ...]
    folds: tuple[int, ...]


def check_parameters(search: Any) -> None:
    """Raise if a parameter is wrong, before any work starts."""
    if search.max_fits is not None:
        check_integer(search, "max_fits", low=1)
    if search.time_budget is not None:
        check_positive(search, "time_budget")
    check_integer(search, "cv", low=2)
    check_flag(search, "prefer_simple")
    check_flag(search, "standardize")
    check_verbose(search)
    if not (search.callback is None or callable(search.callback)):
        raise ValueError(
            f"callback={search.callback!r} of AutoPrototypeClassifier must be None or a function "
            "of one argument, how far the search is."
        )
    if not (search.checkpoint is None or isinstance(search.checkpoint, (str, PathLike))):
        raise ValueError(
            f"checkpoint={search.checkpoint!r} of AutoPrototypeClassifier must be None or the "
            "path of a file."
        )
    if search.checkpoint is not None and not isinstance(search.random_state, Integral):
        raise ValueError(
            f"random_state={search.random_state!r} of AutoPrototypeClassifier must be an integer "
            "if there is a checkpoint: otherwise every call is another search."
        )
    if not (search.scoring is None or isinstance(search.scoring, str) or callable(search.scoring)):
        raise ValueError(
            f"scoring={search.scoring!r} of AutoPrototypeClassifier must be the name of one "
            "scorer of scikit-learn, or a function scoring(model, X, y)."
        )


def checked_data(
    search: Any, X: Any, y: Any, groups: Any
) -> tuple[Floats, NDArray[Any], RowGroups]:
    """Return rows and labels as arrays, and which rows stay together; store the classes."""
    try:
        X, y = validate_data(search, X, y, dtype=np.float64)
    except ValueError as error:
        if "X contains NaN" not in str(error):
            raise
        raise ValueError(
            "Input X contains NaN, and not all candidates take missing values. Replace them "
            "before, as protolearn.tables.table_pipeline does, or SimpleImputer in a Pipeline."
        ) from error
    check_classification_targets(y)
    together = row_groups(X, groups)
    search.classes_, counts = together.count_by_class(y)
    if len(search.classes_) < 2:
        raise ValueError(
            f"AutoPrototypeClassifier needs at least two classes; y contains one class only: "
            f"{search.classes_[0]!r}."
        )
    if counts.max() < FEWEST_HELD_OUT:
        apart = "" if together.codes is None else " that are neither equal nor of one group"
        raise ValueError(
            f"None of the {len(counts)} classes has {FEWEST_HELD_OUT} rows or more{apart}: nothing "
            "can be held out to compare models. Fit one, such as GLVQ, without a choice."
        )
    check_magnitude(X)
    return X, y, together


def searched_rows(y: NDArray[Any], seed: int) -> Indices:
    """Return the rows that the search looks at."""
    rows = np.arange(len(y))
    if len(y) <= MOST_ROWS:
        return rows
    return np.sort(
        resample(rows, replace=False, n_samples=MOST_ROWS, stratify=y, random_state=seed)
    )


def held_out_parts(y: NDArray[Any], together: RowGroups, n_folds: int, seed: int) -> list[LeftOut]:
    """Return each fold of a stratified split, then each pair of folds, as what a fit leaves out.

    Rows of classes that have only one or two are never left out, nor what stays together with
    them. There are fewer folds than asked for if all classes are smaller.
    """
    classes, counts = together.count_by_class(y)
    n_folds = min(n_folds, int(counts.max()))
    rare = np.flatnonzero(np.isin(y, classes[counts < FEWEST_HELD_OUT]))
    if together.codes is not None:
        rare = np.flatnonzero(np.isin(together.codes, together.codes[rare]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        split = stratified_folds(y, n_folds, together, random_state=seed)
    folds = [np.setdiff1d(test, rare) for _, test in split]
    single, pairs = combinations(range(n_folds), 1), combinations(range(n_folds), 2)
    if n_folds == 2:  # nothing would be left to learn from
        pairs = combinations((), 2)
    return [
        LeftOut(np.delete(np.arange(len(y)), np.concatenate(tests)), tests, out)
        for out in (*single, *pairs)
        for tests in [tuple(folds[fold] for fold in out)]
    ]
