"""Whether a hyperplane separates two classes, and which samples are in its way."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from ._parameters import Floats, Indices

WRONG = 1.0 - 1e-6
"""Slack from which on a sample counts as lying on the wrong side, or on the hyperplane."""

SHOWN = 10
"""Rows that a message names."""


class NotSeparableError(ValueError):
    """No hyperplane separates the classes.

    Parameters
    ----------
    rows : array of int
        The samples on the wrong side of the hyperplane with the least total slack.
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


def samples_in_the_way(rows: Floats, signs: Floats) -> Indices:
    """Give the samples that lie wrong for the hyperplane with the least total slack.

    Exact, by linear programming: ``min sum xi`` over hyperplanes with ``y f(x) >= 1 - xi``. There
    are none if and only if a hyperplane separates the classes; without those given one does.
    """
    n = len(rows)
    size = np.abs(rows).max(axis=0, initial=0.0)
    scaled = rows / np.where(size > 0.0, size, 1.0)  # separable whatever the units are
    columns = np.column_stack([scaled, np.ones(n)])
    d = columns.shape[1]
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
