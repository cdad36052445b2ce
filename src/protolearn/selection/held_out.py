"""Folds, and what models say about rows that they have not seen."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from .._validation import check_integer, integer_in
from ..analysis import LabelledRows, class_scores, known_labels, split_held_out
from ..folds import Fold, RowGroups, group_keyword, plain_folds, stratified_folds

T = TypeVar("T")


class Answers(NamedTuple):
    """True and predicted labels of some rows, and what else the model says about them.

    Scores and probabilities have one column for each of the classes. Larger scores are surer; only
    their order along a column has a meaning, for two classes also that of the difference.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    classes: NDArray[Any]
    scores: Floats | None
    probabilities: Floats | None


def folds_of(
    cv: Any, model: Any, data: LabelledRows, together: RowGroups, groups: Any, random_state: Any
) -> list[Fold]:
    """Return the folds that ``cv`` names.

    A number is one of shuffled folds, stratified for classifiers, which divide none of the groups
    ``together``. A splitter of the user decides by itself, and is given the user's ``groups``.
    """
    if isinstance(cv, numbers.Integral):
        n_folds = integer_in(cv, "cv={value!r}", 2)
        if is_classifier(model):
            return stratified_folds(data.y, n_folds, together, random_state=random_state)
        return plain_folds(len(data.y), n_folds, together, random_state)
    if random_state is not None:
        raise ValueError(
            f"random_state={random_state!r} shuffles the folds of an integer cv, and cv={cv!r} is "
            "none; give the random_state to the splitter."
        )
    splitter = check_cv(cv, data.y, classifier=is_classifier(model))
    parts = splitter.split(data.X, data.y, *(() if groups is None else (groups,)))
    return [(as_indices(train), as_indices(test)) for train, test in parts]


def labelled_rows(X: Any, y: Any) -> LabelledRows:
    """Return rows with their labels."""
    X, y = indexable(np.asarray(X) if isinstance(X, (list, tuple)) else X, column_or_1d(y))
    return LabelledRows(X, y, None)


def as_indices(rows: Any) -> Indices:
    """Return the numbers of rows, which may also be marked by truth values."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def over_folds(
    model: Any,
    data: LabelledRows,
    folds: list[Fold],
    ask: Callable[[Any, LabelledRows], T],
    n_jobs: int | None,
    groups: Any = None,
) -> list[T]:
    """Return what clones, fitted to the training parts of folds, answer about the test parts.

    A model that chooses by folds of its own is given the ``groups`` too.
    """
    if len(folds) < 2:
        raise ValueError(f"cv gives {len(folds)} split, expected two or more.")
    for number, (train, _) in enumerate(folds, start=1):
        missing = np.setdiff1d(data.y, data.y[train])
        if len(missing):
            raise ValueError(
                f"The training rows of split {number} have none of {missing.tolist()!r}; give a "
                "cv that keeps every class, such as stratified folds."
            )
    keyword = None if groups is None else group_keyword(model)
    answers = Parallel(n_jobs=n_jobs)(
        delayed(fit_and_ask)(
            model, data, train, test, ask, {} if keyword is None else {keyword: groups[train]}
        )
        for train, test in folds
    )
    return list(answers)


def fit_and_ask(
    model: Any,
    data: LabelledRows,
    train: Indices,
    test: Indices,
    ask: Callable[[Any, LabelledRows], T],
    settings: dict[str, Any],
) -> T:
    """Fit a clone to some rows and ask it about others."""
    known, asked = split_held_out(model, data, train, test)
    return ask(clone(model).fit(known.X, known.y, **settings), asked)


def fold_sizes(folds: list[Fold]) -> tuple[Indices, Indices]:
    """Return how many rows each fold trains and tests with."""
    sizes = np.array([(len(train), len(test)) for train, test in folds])
    return sizes[:, 0], sizes[:, 1]


def check_answers(model: Any, y: Any) -> NDArray[Any]:
    """Return the labels, or raise if a model is not a fitted classifier that knows them."""
    if is_regressor(model):
        raise ValueError(f"{type(model).__name__} is a regressor; expected a classifier.")
    check_is_fitted(model)
    return known_labels(model, y)


def answers_of(model: Any, data: LabelledRows) -> Answers:
    """Ask a fitted classifier everything that it can say about some rows."""
    y = check_answers(model, data.y)
    scores = probabilities = None
    if hasattr(model, "decision_function"):
        scores = class_scores(model, data.X)
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(data.X), dtype=np.float64)
        # Those of rows in single precision sum to one but for its last digits.
        probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    return Answers(y, np.asarray(model.predict(data.X)), model.classes_, scores, probabilities)


def places_among(classes: NDArray[Any], labels: Any) -> Indices:
    """Return the places of labels among classes, which may stand in any order."""
    order = np.argsort(classes)
    return order[np.searchsorted(classes, labels, sorter=order)]


class LeaveOneOutFromEachClass(BaseCrossValidator):
    """Leave one row of every class out, in every split.

    Plain leave-one-out takes the tested row from its own class, so that every training set is
    biased against the class that is tested; with few rows, a model that follows the shares of the
    classes then looks worse than it is. Here every class lacks one row.

    Parameters
    ----------
    n_splits : int, default=None
        Number of splits. None: as many as the largest class has rows, so that each row is tested
        at least once. The rows of a class are tested equally often, up to one.
    random_state : int, RandomState instance, default=None
        None takes the rows of each class in their order; a seed shuffles them first.

    Notes
    -----
    Rows of smaller classes are tested several times, so the test sets are no partition:
    :func:`~sklearn.model_selection.cross_val_predict` does not take this splitter;
    :func:`~sklearn.model_selection.cross_val_score` and the searches do. All classes count
    equally, so the mean accuracy over the splits is a balanced one.

    References
    ----------
    Biehl (lecture notes), section 6.2.1.

    Examples
    --------
    >>> from protolearn.selection import LeaveOneOutFromEachClass
    >>> y = ["a", "b", "a", "b", "a"]
    >>> for train, test in LeaveOneOutFromEachClass().split(y, y):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1 4] [2 3]
    [0 2 3] [1 4]
    """

    def __init__(self, n_splits: int | None = None, random_state: Any = None):
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Return the rows of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; only their number counts.
        y : array-like of shape (n_samples,)
            Their labels.
        groups : object, default=None
            Not used, as scikit-learn's splitters have it.

        Yields
        ------
        train, test : arrays
            Indices of rows, rising.
        """
        X, y = indexable(X, y)
        members = rows_by_class(y)
        if self.random_state is not None:
            rng = check_random_state(self.random_state)
            members = [rng.permutation(rows) for rows in members]
        for i in range(self.get_n_splits(y=y)):
            test = np.sort([rows[i % len(rows)] for rows in members])
            yield np.delete(np.arange(len(y)), test), test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Not used, as scikit-learn's splitters have it.
        y : array-like of shape (n_samples,), default=None
            The labels; needed unless ``n_splits`` is given.
        groups : object, default=None
            Not used, as scikit-learn's splitters have it.

        Returns
        -------
        n_splits : int
        """
        if self.n_splits is not None:
            return check_integer(self, "n_splits", low=1)
        return max(map(len, rows_by_class(y)))


def rows_by_class(y: Any) -> list[Indices]:
    """Return the rows of each class; every class must have two."""
    if y is None:
        raise ValueError("y is None; LeaveOneOutFromEachClass needs the labels of the rows.")
    y = column_or_1d(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    if counts.min(initial=2) < 2:
        raise ValueError(
            f"Class {classes[counts.argmin()]!s} has one row: left out, none remains to train on. "
            "Leave the class away, or get more rows of it."
        )
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes, expected two or more.")
    return [np.flatnonzero(codes == c) for c in range(len(classes))]
