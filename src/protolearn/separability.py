"""Whether a hyperplane separates two classes, and which samples are in its way."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from ._arrays import Floats, Indices

WRONG = 1.0 - 1e-6
"""Slack from which on a sample counts as lying on the wrong side, or on the hyperplane."""

FOUND, INFEASIBLE = 0, 2
"""What ``linprog`` says of a program that is solved, and of one that cannot be."""

ROUNDING = 2.0**-53
"""Part of the largest number of a row or column below which others are as good as zero."""

SHOWN = 10
"""Rows that a message names."""


class NotSeparableError(ValueError):
    """No hyperplane separates the classes.

    Parameters
    ----------
    rows : array of int
        The samples on the wrong side of the hyperplane with the least total slack; of very many
        samples, of a hyperplane that is nearly that one.
    problem : str
        What was to be separated.

    Attributes
    ----------
    rows : array of int
        The same; without these samples a hyperplane separates the classes.

    Examples
    --------
    >>> from protolearn import HardMarginSVM, NotSeparableError
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0], [1.5]], [0, 0, 0, 1, 1, 1, 1]
    >>> try:
    ...     HardMarginSVM().fit(X, y)
    ... except NotSeparableError as error:
    ...     print(error.rows)
    [6]
    """

    def __init__(self, rows: Indices, problem: str = "the two classes"):
        self.rows = rows
        self.problem = problem
        shown = ", ".join(map(str, rows[:SHOWN]))
        more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        super().__init__(
            f"No hyperplane separates {problem}. Without row{'s' * (len(rows) > 1)} {shown}{more} "
            f"there would be one: look whether {'they are' if len(rows) > 1 else 'it is'} "
            "mislabelled, or use SoftMarginSVM."
        )

    def __reduce__(self) -> tuple[type, tuple[Indices, str]]:
        return type(self), (self.rows, self.problem)


def is_separable(X: Any, y: Any, fit_intercept: bool = True) -> bool:
    """Whether a hyperplane separates the classes.

    Decided by linear programming: are there weights with ``y_i (w.x_i + b) >= 1`` for all rows? A
    row on the hyperplane is not separated, and classes that only rounding keeps apart are not.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels. Of more than two classes each has to be separable from the rest.
    fit_intercept : bool, default=True
        Whether the hyperplane may be off the origin.

    Returns
    -------
    separable : bool
        True if a hyperplane has all rows of a class on one side and all others on the other.

    Examples
    --------
    >>> from protolearn import is_separable
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> is_separable(X, [0, 1, 1, 1]), is_separable(X, [0, 0, 1, 1])
    (True, False)
    """
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept={fit_intercept!r} must be True or False.")
    X, y = check_X_y(X, y, dtype=np.float64, ensure_min_samples=1)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    columns = balance_entries(scale_columns(X, bool(fit_intercept)))
    apart = range(1, 2) if len(classes) < 3 else range(len(classes))
    return all(_feasible(columns, np.where(codes == code, 1.0, -1.0)) for code in apart)


def scale_columns(rows: Floats, fit_intercept: bool) -> Floats:
    """Return columns of unit size, and one of ones: separable whatever the units are.

    With the ones the columns may be moved too: small differences of large numbers count.
    """
    columns = divide_by_size(rows)
    if not fit_intercept:
        return columns
    columns = columns - np.quantile(columns, 0.5, axis=0, method="lower")
    return np.column_stack([divide_by_size(columns), np.ones(len(rows))])


def divide_by_size(columns: Floats) -> Floats:
    """Return columns divided by about their largest entry, a power of two: no digit is lost."""
    _, powers = np.frexp(np.abs(columns).max(axis=0, initial=0.0))
    return np.ldexp(columns, -powers)


def balance_entries(columns: Floats) -> Floats:
    """Return columns with the entries of each row, and of each column, of about unit size.

    A positive factor of a row or of a column does not matter, and large rows do not make others
    vanish: the solver takes entries below 1e-9 for zero.
    """
    for axis in (1, 0):
        sizes = np.abs(columns)
        largest = sizes.max(axis=axis, keepdims=True)
        least = np.where(sizes > ROUNDING * largest, sizes, largest).min(axis=axis, keepdims=True)
        middle = np.sqrt(largest) * np.sqrt(least)
        columns = columns / np.where(largest > 0.0, middle, 1.0)
    largest = np.abs(columns).max(axis=1, keepdims=True)
    return columns / np.where(largest > 0.0, largest, 1.0)


def separates(rows: Floats, signs: Floats) -> bool:
    """Whether a hyperplane separates two classes; much sooner known than which samples do not."""
    return _feasible(balance_entries(scale_columns(rows, True)), signs)


def _feasible(columns: Floats, signs: Floats) -> bool:
    """Whether there are weights with ``y_i w.x_i >= 1``."""
    d = columns.shape[1]
    solved = linprog(
        np.zeros(d),
        A_ub=-signs[:, None] * columns,
        b_ub=-np.ones(len(signs)),
        bounds=[(None, None)] * d,
        method="highs",
    )
    if solved.status in (FOUND, INFEASIBLE):
        return solved.status == FOUND
    return not _wrong(columns, signs).size  # slower, and never undecided


def samples_in_the_way(rows: Floats, signs: Floats) -> Indices:
    """Return the samples that lie wrong for the hyperplane with the least total slack.

    Exact, by linear programming: ``min sum xi`` over hyperplanes with ``y f(x) >= 1 - xi``. There
    are none if and only if a hyperplane separates the classes; without those given one does.
    """
    return _wrong(scale_columns(rows, True), signs)


def _wrong(columns: Floats, signs: Floats) -> Indices:
    """Return the rows that have ``y_i w.x_i`` of zero or less where the total slack is least."""
    n, d = columns.shape
    constraints = hstack([csr_array(-signs[:, None] * columns), -identity(n, format="csr")])
    solved = linprog(
        np.concatenate([np.zeros(d), np.ones(n)]),
        A_ub=constraints,
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0.0, None)] * n,
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"The linear program was not solved: {solved.message}")
    return np.flatnonzero(signs * (columns @ solved.x[:d]) <= 1.0 - WRONG)
