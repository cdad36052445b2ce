"""Tiling-like growth: each unit of a product learns where the units before it are wrong.

A unit is positive or negative, and negative on its border. The machine without units is positive.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats
from .grandmother import Frame, Grandmother, lengths


class Part:
    """Some of the rows, and what the machine says of them so far.

    Attributes
    ----------
    rows : array (n, d)
    signs : array (n,)
        What it should say, +1 or -1.
    outputs : array (n,)
        What it says.
    curve : list of int
        Number of errors after each unit.
    """

    def __init__(self, rows: Floats, signs: Floats):
        self.rows = rows
        self.signs = signs
        self.outputs = np.ones(len(rows))
        self.curve: list[int] = []

    @property
    def errors(self) -> int:
        """How many rows the machine has wrong."""
        return int(np.count_nonzero(self.outputs != self.signs))

    def errors_with(self, unit: Any) -> int:
        """Return how many it would have wrong with one more unit."""
        return int(np.count_nonzero(self.outputs * states(unit, self.rows) != self.signs))

    def add(self, unit: Any) -> None:
        """Multiply a unit to the machine."""
        self.outputs *= states(unit, self.rows)
        self.curve.append(self.errors)


def next_unit(part: Part, estimator: Any, frame: Frame, rng: np.random.RandomState) -> Any:
    """Return a unit that lowers the number of errors: one that learns, or a grandmother unit."""
    right = part.outputs * part.signs
    unit = learned(estimator, part.rows, right, rng)
    if part.errors_with(unit) < part.errors:
        return unit
    return Grandmother.isolate(part.rows, int(right.argmin()), frame)


def learned(estimator: Any, rows: Floats, signs: Floats, rng: np.random.RandomState) -> Any:
    """Train a copy of an estimator, with seeds from ours."""
    unit = clone(estimator)
    seeds = {
        name: rng.randint(np.iinfo(np.int32).max)
        for name in sorted(unit.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    unit.set_params(**seeds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return unit.fit(rows, signs.astype(np.intp))


def states(unit: Any, X: Floats) -> Floats:
    """Return where a unit is positive: +1 or -1."""
    return np.where(distances(unit, X) > 0.0, 1.0, -1.0)


def distances(unit: Any, X: Floats) -> Floats:
    """Return the distance to the border of a unit, negative where the unit is, else infinite.

    The products are not those of a matrix, whose last digits depend on how many rows there are: a
    row on the border would change its side.
    """
    w = np.ravel(getattr(unit, "coef_", ()))
    if w.shape != X.shape[1:] or not hasattr(unit, "intercept_"):
        values = np.asarray(unit.decision_function(X), dtype=np.float64).reshape(len(X))
        if np.isnan(values).any():
            raise ValueError(f"The decision_function of {unit!r} is not a number for some rows.")
        return values
    fields = np.einsum("ij,j->i", X, w) + np.ravel(unit.intercept_)[0]
    length = lengths(w[None])[0]
    return fields / length if length > 0.0 else np.where(fields > 0.0, np.inf, -np.inf)


def score(units: list[Any], X: Floats) -> Floats:
    """Return the product of the signs times the least distance to a border, or 1 without one."""
    outputs, nearest = np.ones(len(X)), np.full(len(X), np.inf)
    for unit in units:
        values = distances(unit, X)
        outputs *= np.where(values > 0.0, 1.0, -1.0)
        np.minimum(nearest, np.abs(values), out=nearest)
    nearest[np.isinf(nearest)] = 1.0
    return outputs * np.maximum(nearest, np.finfo(float).tiny)  # its sign is the product everywhere
