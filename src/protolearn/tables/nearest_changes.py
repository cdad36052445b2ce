"""The nearest rows of another class, where categories jump and numbers move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Floats, Indices
from ..analysis import Units, counterfactual
from .columns import CategoryColumn, column_places
from .encoder import TableEncoder
from .limits import Limits
from .table import Table
from .table_checks import NO_FEATURE_NAMES, ignore_warnings

BATCH = 20_000
"""Rows, each with a jump, that are given to ``counterfactual`` at a time."""


@dataclass
class NearestRows:
    """The nearest rows that were found so far; all in the user's units, categories by entries."""

    model: Pipeline  # from the user's units to the answer
    rows: Floats
    label: NDArray[Any]  # what the model says about the rows
    target: NDArray[Any] | None  # what it is to say; None: anything else
    limits: Limits

    def __post_init__(self) -> None:
        self.units = Units(self.model)
        self.seen = np.asarray(self.units.inner(self.rows))
        self.points, self.exact = self.rows.copy(), True
        self.reach = np.full(len(self.rows), np.inf)

    def search(self, jumps: Jumps, most: int) -> None:
        """Try all jumps of categories, or those of at most two columns if there are too many.

        What is left out then is farther than what was found, or ``exact`` becomes False.
        """
        too_many = prod(len(codes) for codes in jumps.allowed) > most
        for size in range(len(jumps.allowed) + 1):
            if size > 2 and too_many:
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
        starts = np.concatenate([jumps.apply(self.rows[rows], jump) for rows, jump in waiting])
        points, found = self._move(starts, rows)
        rows, points = rows[found], points[found]
        length = self.squared_length(points, rows)
        order = np.argsort(-length, kind="stable")  # of several for one row the nearest is last
        rows, points, length = rows[order], points[order], length[order]
        nearer = length < self.reach[rows]
        self.points[rows[nearer]] = points[nearer]
        self.reach[rows[nearer]] = length[nearer]

    def _move(self, starts: Floats, rows: Indices) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the nearest rows that have the answer, and which of them are there."""
        if self.target is not None:
            return self._ask(starts, self.target[rows])
        label, points = self.label[rows], starts.copy()
        with ignore_warnings(NO_FEATURE_NAMES):
            same = np.asarray(self.model.predict(starts)) == label
        found = ~same & self.limits.hold(starts)
        outside = ~same & ~found
        if same.any():
            points[same], found[same] = self._ask(starts[same], None)
        if outside.any():
            parts = starts[outside], rows[outside], label[outside]
            points[outside], found[outside] = self._any_other(*parts)
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
            length = np.where(found, self.squared_length(points, rows[other]), np.inf)
            nearer = length < reach[other]
            best[other[nearer]], reach[other[nearer]] = points[nearer], length[nearer]
        return best, np.isfinite(reach)

    def _ask(self, starts: Floats, target: NDArray[Any] | None) -> tuple[Floats, NDArray[np.bool_]]:
        """Ask for counterfactuals in which no category changes."""
        fixed, bounds = self.limits.by_place()
        with ignore_warnings(NO_FEATURE_NAMES):
            found = counterfactual(self.model, starts, target, fixed, bounds)
        self.exact &= found.exact
        return found.points, found.feasible

    def has_target(self, label: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which labels are those that were asked for."""
        return label != self.label if self.target is None else label == self.target

    def push_farther(self, rows: Indices, farther: float) -> Floats:
        """Return points a little farther on their way, but for categories and ends of ranges."""
        way = np.where(self.limits.fixed, 0.0, self.points[rows] - self.rows[rows])
        return np.clip(self.points[rows] + farther * way, self.limits.low, self.limits.high)

    def squared_length(self, points: Floats, rows: Indices) -> Floats:
        """Return the squared length of changes, as the model sees them."""
        if not len(points):
            return np.zeros(0)
        return np.square(np.asarray(self.units.inner(points)) - self.seen[rows]).sum(axis=1)


@dataclass(frozen=True)
class Jumps:
    """What rows may jump to, for each column of categories."""

    places: list[slice]  # where the entries of the column are
    entries: list[Floats]  # (k, width), those of each category
    allowed: list[Indices]  # the codes of the categories to jump to
    own: list[Indices]  # (n,), the code that each row has
    stays: list[NDArray[np.bool_]]  # (n,), whether a row may keep it
    cost: list[Floats]  # (n, k), the squared length of a jump, as the model sees it

    @classmethod
    def of(cls, encoder: TableEncoder, table: Table, nearest: NearestRows) -> Jumps:
        """Return the jumps that categories may make."""
        jumps, limits, rows = cls([], [], [], [], [], []), nearest.limits, nearest.rows
        places = column_places(encoder.columns_)
        for j, codes in limits.allowed.items():
            column = encoder.columns_[j]
            assert isinstance(column, CategoryColumn)
            own = column.codes(table.read(table.names[j]))
            jumps.places.append(places[j])
            jumps.entries.append(column.entries)
            jumps.allowed.append(codes)
            jumps.own.append(own)
            jumps.stays.append(np.isin(own, codes) | (j not in limits.bounded))
            cost = np.empty((len(rows), len(column.categories)))
            for code, entry in enumerate(column.entries):
                moved = rows.copy()
                moved[:, places[j]] = entry
                cost[:, code] = nearest.squared_length(moved, np.arange(len(rows)))
            jumps.cost.append(cost)
        return jumps

    def of_size(self, size: int, reach: Floats) -> Iterator[tuple[Indices, dict[int, int]]]:
        """Return rows, and the codes to which so many columns jump, where that is within reach.

        ``reach`` is the squared length within which something new may be found, and may shrink
        meanwhile.
        """
        every = range(len(self.allowed))
        for chosen in combinations(every, size):
            fits = np.ones(len(reach), dtype=bool)
            for j in every:
                if j not in chosen:
                    fits &= self.stays[j]
            for codes in product(*(self.allowed[j].tolist() for j in chosen)):
                jump = dict(zip(chosen, codes, strict=True))
                rows = np.flatnonzero(fits & self._possible(jump, reach))
                if len(rows):
                    yield rows, jump

    def _possible(self, jump: dict[int, int], reach: Floats) -> NDArray[np.bool_]:
        """Return for which rows a jump changes all its columns, and is within reach."""
        cost = np.zeros(len(reach))
        possible = np.ones(len(reach), dtype=bool)
        for j, code in jump.items():
            possible &= self.own[j] != code
            cost += self.cost[j][:, code]
        return possible & (cost < reach)

    def apply(self, rows: Floats, jump: dict[int, int]) -> Floats:
        """Return rows after a jump."""
        rows = rows.copy()
        for j, code in jump.items():
            rows[:, self.places[j]] = self.entries[j][code]
        return rows

    def least(self, size: int) -> Floats:
        """Return the least squared length of jumps of so many columns, for each row."""
        shortest = []
        for own, codes, cost in zip(self.own, self.allowed, self.cost, strict=True):
            other = np.where(own[:, None] == codes, np.inf, cost[:, codes])
            shortest.append(other.min(axis=1, initial=np.inf))
        return np.sort(np.stack(shortest), axis=0)[:size].sum(axis=0)
