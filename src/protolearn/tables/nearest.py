"""The nearest rows of another class, where categories jump and numbers move."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Floats, Indices
from ..analysis import Units, counterfactual
from .jumps import Jumps
from .limits import Limits

NO_NAMES = "X does not have valid feature names"
"""A warning about rows that have lost the names of their columns on the way."""

BATCH = 20_000
"""Rows, each with a jump, that are given to ``counterfactual`` at a time."""


@dataclass
class Nearest:
    """The nearest rows that were found so far; all in the user's units, categories by entries.

    Attributes
    ----------
    model : Pipeline
        From the user's units to the answer.
    rows : array (n, d)
        The rows.
    label : array (n,)
        What the model says about them.
    target : array (n,) or None
        What it is to say, or None: anything else.
    limits : Limits
        What may change.
    """

    model: Pipeline
    rows: Floats
    label: NDArray[Any]
    target: NDArray[Any] | None
    limits: Limits

    def __post_init__(self) -> None:
        self.units = Units(self.model)
        self.seen = np.asarray(self.units.inner(self.rows))
        self.points, self.exact = self.rows.copy(), True
        self.reach = np.full(len(self.rows), np.inf)

    def look(self, jumps: Jumps, most: int) -> None:
        """Try all jumps of categories, or those of at most two columns if there are too many.

        What is left out then is farther than what was found, or ``exact`` becomes False.
        """
        n_columns = len(jumps.allowed)
        every = jumps.number <= most
        for size in range(n_columns + 1):
            if size > 2 and not every:
                self.exact &= bool((self.reach <= jumps.least(size)).all())
                break
            waiting: list[tuple[Indices, dict[int, int]]] = []
            for rows, jump in jumps.of_size(size, self.reach):
                waiting.append((rows, jump))
                if sum(len(rows) for rows, _ in waiting) >= BATCH:
                    self._try(jumps, waiting)
                    waiting = []
            if waiting:
                self._try(jumps, waiting)

    def _try(self, jumps: Jumps, waiting: list[tuple[Indices, dict[int, int]]]) -> None:
        """Move the numbers of rows that have jumped, and keep what is nearer than before."""
        rows = np.concatenate([rows for rows, _ in waiting])
        starts = np.concatenate([jumps.made(self.rows[rows], jump) for rows, jump in waiting])
        points, found = self._moved(starts, rows)
        rows, points = rows[found], points[found]
        length = self.squared(points, rows)
        order = np.argsort(-length, kind="stable")  # of several for one row the nearest is last
        rows, points, length = rows[order], points[order], length[order]
        nearer = length < self.reach[rows]
        self.points[rows[nearer]] = points[nearer]
        self.reach[rows[nearer]] = length[nearer]

    def _moved(self, starts: Floats, rows: Indices) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the nearest rows that have the answer, and which of them are there."""
        if self.target is not None:
            return self._ask(starts, self.target[rows])
        label, points = self.label[rows], starts.copy()
        same = self.predict(starts) == label
        found = ~same & self.limits.hold(starts)
        outside = ~same & ~found
        if same.any():
            points[same], found[same] = self._ask(starts[same], None)
        if outside.any():
            points[outside], found[outside] = self._any_other(
                starts[outside], rows[outside], label[outside]
            )
        return points, found

    def _any_other(
        self, starts: Floats, rows: Indices, label: NDArray[Any]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Bring rows into their ranges, with any label but the one that the row had."""
        best, reach = starts.copy(), np.full(len(rows), np.inf)
        for target in self.model.classes_:
            other = np.flatnonzero(label != target)
            if not len(other):
                continue
            points, found = self._ask(starts[other], np.full(len(other), target))
            length = np.where(found, self.squared(points, rows[other]), np.inf)
            nearer = length < reach[other]
            best[other[nearer]], reach[other[nearer]] = points[nearer], length[nearer]
        return best, np.isfinite(reach)

    def _ask(self, starts: Floats, target: NDArray[Any] | None) -> tuple[Floats, NDArray[np.bool_]]:
        """Ask for counterfactuals in which no category changes."""
        fixed, bounds = self.limits.by_place()
        with without_name_warnings(NO_NAMES):
            found = counterfactual(self.model, starts, target, fixed, bounds)
        self.exact &= found.exact
        return found.points, found.feasible

    def predict(self, rows: Floats) -> NDArray[Any]:
        """Return the answers for rows."""
        with without_name_warnings(NO_NAMES):
            return np.asarray(self.model.predict(rows))

    def squared(self, points: Floats, rows: Indices) -> Floats:
        """Return the squared length of changes, as the model sees them."""
        if not len(points):
            return np.zeros(0)
        return np.square(np.asarray(self.units.inner(points)) - self.seen[rows]).sum(axis=1)


@contextmanager
def without_name_warnings(*messages: str) -> Iterator[None]:
    """Ignore some warnings for a while."""
    with warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", message)
        yield
