"""The parameters and rows of a search, and which of the rows each fit leaves out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from numbers import Integral
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..._arrays import Floats, Indices, check_magnitude, validate_data
from ..._validation import (
    check_choice,
    check_flag,
    check_integer,
    check_positive,
    check_verbose,
)
from ...folds import RowGroups, hold_out_part, row_groups, stratified_folds
from ...tables import NO_FEATURE_NAMES, NumberColumn, TableEncoder, ignore_warnings

LOOK_ROWS = 2_000
"""Rows of the first look at all candidates."""

MOST_ROWS = 10_000
"""Rows that the better candidates are compared on."""

LOOK_SECONDS = 25.0
"""Time that all first looks are expected to take at most; the slowest candidates are left out."""

LARGE, MOST_TESTED = 10_000, 20_000
"""Rows above which some are set aside for testing alone, and how many at most."""

LARGE_LOOKS, LARGE_FOLDS = 2, 3
"""Pairs of folds, and single folds, that are left out of as many rows."""

TESTED_SHARE = 0.2
"""Share of the rows that is set aside."""

FEWEST_HELD_OUT = 3
"""Rows of a class from which on they are held out: one remains when two folds are left out."""


class LeftOut(NamedTuple):
    """The rows that a fit learns from, and the one or two folds that it leaves out."""

    train: Indices
    tests: tuple[Indices, ...]
    folds: tuple[int, ...]


class SearchPlan(NamedTuple):
    """Which rows have which part in a search; it follows from the data and the seed alone.

    Attributes
    ----------
    looks : list of LeftOut
        What the fits of a first look at all candidates leave out.
    others : list of LeftOut
        What further fits of the better candidates leave out; single folds come last.
    rows : array
        The rows that the parts name by their places.
    test : array or None
        Rows that have no part in the search, if there are many; they show how good the choice is.
    """

    looks: list[LeftOut]
    others: list[LeftOut]
    rows: Indices
    test: Indices | None


def check_parameters(search: Any) -> None:
    """Raise if a parameter is wrong, before any work starts."""
    if search.max_fits is not None:
        check_integer(search, "max_fits", low=1)
    if search.time_budget is not None:
        check_positive(search, "time_budget")
    check_integer(search, "cv", low=2)
    if search.prefer_simple is not None:
        check_flag(search, "prefer_simple")
        warnings.warn(
            "prefer_simple of AutoPrototypeClassifier is deprecated and will be removed in 1.1; "
            f"use prefer={'small' if search.prefer_simple else 'accurate'!r} instead.",
            FutureWarning,
            stacklevel=3,
        )
    check_choice(search, "prefer", ("readable", "accurate", "small"))
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


def encoder_for(X: Any) -> TableEncoder | None:
    """Return an encoder of a data frame; None if it has numbers alone, or X is an array."""
    is_frame = hasattr(X, "columns") or getattr(getattr(X, "dtype", None), "names", None)
    if not is_frame or hasattr(X, "dask"):
        return None
    with ignore_warnings(NO_FEATURE_NAMES):
        encoder = TableEncoder().fit(X)
    plain = all(
        isinstance(column, NumberColumn) and column.kind == "number" and not column.n_missing
        for column in encoder.columns_
    )
    return None if plain else encoder


def checked_data(
    search: Any, X: Any, y: Any, groups: Any
) -> tuple[Floats, NDArray[Any], RowGroups]:
    """Return rows and labels as arrays, and which rows stay together; store the classes."""
    try:
        if search.table_ is None:
            X, y = validate_data(search, X, y, dtype=np.float64)
        else:
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            X = search.table_.transform(X)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(search.table_, name):
                    setattr(search, name, getattr(search.table_, name))
    except ValueError as error:
        if "X contains NaN" not in str(error):
            raise
        raise ValueError(
            "Input X contains NaN, and not all candidates take missing values. Give a data frame, "
            "in which missing values are replaced, or put SimpleImputer before this in a Pipeline."
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


def checked_times(times: Any, groups: Any, n_rows: int) -> NDArray[Any]:
    """Return when rows were observed, as numbers that rise with time."""
    if groups is not None:
        raise ValueError(
            "groups and times are both given: a group may be observed at several times. Give times "
            "alone, or groups alone."
        )
    times = column_or_1d(times)
    if len(times) != n_rows:
        raise ValueError(f"times has {len(times)} values for {n_rows} rows.")
    if times.dtype.kind not in "iufM" or (times != times).any():
        raise ValueError("times must be numbers or dates (datetime64), none of them missing.")
    return np.unique(times, return_inverse=True)[1]


def plan_search(
    y: NDArray[Any], together: RowGroups, n_folds: int, seed: int, times: Any = None
) -> SearchPlan:
    """Return which rows a search learns from and which it holds out.

    With ``times``, folds follow each other, and each is predicted by models of earlier rows alone.

    The rows are divided into folds. A first look leaves out each fold and the next one, so that no
    fold has a part in the choice of a model that predicts it. With many rows a test part takes the
    place of these folds, and the first look takes fewer rows than the comparison.
    """
    rows, test = np.arange(len(y)), None
    if len(y) > LARGE:
        test = set_aside(y, together, seed) if times is None else latest_rows(y, times)
        rows = np.setdiff1d(rows, test)
    rows = draw_rows(rows, y, MOST_ROWS, seed)
    few = draw_rows(np.arange(len(rows)), y[rows], LOOK_ROWS, seed)
    if times is None:
        folds = held_out_folds(y[rows], together.take(rows), n_folds, seed)
    else:
        folds, few = forward_folds(y[rows], times[rows], n_folds), np.arange(len(rows))
    forward, n_folds, everything = times is not None, len(folds), np.arange(len(rows))
    single = [leave_out(everything, folds, (k,), forward) for k in range(n_folds)]
    if n_folds == 2:  # two left out would leave nothing to learn from
        return SearchPlan(single, [], rows, test)
    neighbours = [tuple(sorted((k, (k + 1) % n_folds))) for k in range(n_folds)]
    pairs = []
    if test is not None:
        neighbours, single = neighbours[::2][:LARGE_LOOKS], single[:LARGE_FOLDS]
    elif len(few) == len(rows):
        pairs = [out for out in combinations(range(n_folds), 2) if out not in neighbours]
    return SearchPlan(
        [leave_out(few, folds, out, forward) for out in neighbours],
        [*(leave_out(everything, folds, out, forward) for out in pairs), *single],
        rows,
        test,
    )


def set_aside(y: NDArray[Any], together: RowGroups, seed: int) -> Indices:
    """Return the rows that have no part in a search; none of a class of one or two rows."""
    common = np.setdiff1d(np.arange(len(y)), rows_never_held_out(y, together))
    share = min(TESTED_SHARE, MOST_TESTED / len(y))
    stratify = len(np.unique(y[common])) <= int(share * len(common))
    _, test = hold_out_part(
        y[common], share, together.take(common), stratify=stratify, random_state=seed
    )
    return common[test]


def rows_never_held_out(y: NDArray[Any], together: RowGroups) -> Indices:
    """Return the rows of classes that have only one or two, and what stays together with them."""
    classes, counts = together.count_by_class(y)
    rare = np.flatnonzero(np.isin(y, classes[counts < FEWEST_HELD_OUT]))
    if together.codes is not None:
        rare = np.flatnonzero(np.isin(together.codes, together.codes[rare]))
    return rare


def affordable(
    tried: Sequence[Any], plan: SearchPlan, n_features: int, n_classes: int
) -> list[Any]:
    """Return the candidates without the slowest ones, for which a first look takes too long."""
    n_rows, n_looks = len(plan.looks[0].train), len(plan.looks)
    seconds = [n_looks * one.expected_seconds(n_rows, n_features, n_classes) for one in tried]
    order = np.argsort(seconds, kind="stable")
    kept = order[np.cumsum(np.asarray(seconds)[order]) <= LOOK_SECONDS]
    return [tried[k] for k in sorted(kept if len(kept) else order[:1])]


def draw_rows(rows: Indices, y: NDArray[Any], n_rows: int, seed: int) -> Indices:
    """Return some of the rows, class by class, with at least a few of each class."""
    if len(rows) <= n_rows:
        return rows
    order = np.random.RandomState(seed).permutation(rows)
    codes = np.unique(y[order], return_inverse=True)[1]
    # The place of each row within its class: a share of each class comes first.
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    place = np.empty(len(order))
    place[by_class] = np.concatenate([np.arange(n) for n in counts])
    first = place < np.maximum(counts * n_rows // len(rows), FEWEST_HELD_OUT * 5)[codes]
    return np.sort(order[first])


def held_out_folds(y: NDArray[Any], together: RowGroups, n_folds: int, seed: int) -> list[Indices]:
    """Return the rows of each fold of a stratified split.

    Rows of classes that have only one or two are never left out, nor what stays together with
    them. There are fewer folds than asked for if all classes are smaller.
    """
    n_folds = min(n_folds, int(together.count_by_class(y)[1].max()))
    rare = rows_never_held_out(y, together)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        split = stratified_folds(y, n_folds, together, random_state=seed)
    return [np.setdiff1d(test, rare) for _, test in split]


def forward_folds(y: NDArray[Any], times: NDArray[Any], n_folds: int) -> list[Indices]:
    """Return folds that follow each other; the rows before the first have all classes.

    Rows of the same time are in the same fold.
    """
    moments, places = np.unique(times, return_inverse=True)
    last_first = max(int(places[y == label].min()) for label in np.unique(y))
    least = np.searchsorted(np.cumsum(np.bincount(places)), len(y) / (n_folds + 1))
    start = max(int(least), last_first)
    if len(moments) - 1 - start < n_folds:
        raise ValueError(
            f"times has {len(moments)} different values, and the rows of the first {start + 1} are "
            f"needed to have seen all classes; fewer than {n_folds} are left for {n_folds} folds. "
            "Use fewer folds, merge rare classes, or leave out times."
        )
    later = np.bincount(places, minlength=len(moments))[start + 1 :]
    shares = (np.cumsum(later) - 0.5 * later) / later.sum()
    fold_of = np.minimum((shares * n_folds).astype(np.intp), n_folds - 1)
    fold_of = np.concatenate([np.full(start + 1, -1), fold_of])[places]
    folds = [np.flatnonzero(fold_of == k) for k in range(n_folds)]
    return [fold for fold in folds if len(fold)]


def latest_rows(y: NDArray[Any], times: NDArray[Any]) -> Indices:
    """Return the last rows, which have no part in a search."""
    share = min(TESTED_SHARE, MOST_TESTED / len(y))
    test = np.flatnonzero(times > np.sort(times)[int((1.0 - share) * len(y)) - 1])
    unseen = np.setdiff1d(y[test], np.delete(y, test)).tolist()
    if unseen or not len(test):
        raise ValueError(
            f"The last {share:.0%} of the rows in the order of times are to test the model, but "
            f"{f'no earlier row has the classes {unseen!r}' if unseen else 'all have one time'}."
        )
    return test


def leave_out(
    rows: Indices, folds: Sequence[Indices], out: tuple[int, ...], forward: bool = False
) -> LeftOut:
    """Return what a fit to some rows learns from, if it leaves out these folds.

    ``forward``: from what is before the first of them.
    """
    tests = tuple(np.intersect1d(folds[fold], rows) for fold in out)
    unseen = folds[min(out) :] if forward else tests
    return LeftOut(np.setdiff1d(rows, np.concatenate(list(unseen))), tests, out)
