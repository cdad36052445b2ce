"""Leave one row of every class out: folds for few rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._arrays import Indices
from .._validation import check_integer


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
    Biehl (2023), *The Shallow and the Deep*, section 6.2.1.

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
        members = members_of(y)
        if self.random_state is not None:
            rng = check_random_state(self.random_state)
            members = [rng.permutation(rows) for rows in members]
        for i in range(self._number(members)):
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
        return self._number(members_of(y) if self.n_splits is None else [])

    def _number(self, members: list[Indices]) -> int:
        if self.n_splits is not None:
            return check_integer(self, "n_splits", low=1)
        return max(map(len, members))


def members_of(y: Any) -> list[Indices]:
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
