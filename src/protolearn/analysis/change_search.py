"""Changes by search, for any model: begin at a row with the label sought, and take changes back.

Rows of the training data that have the label, or prototypes, are certain to be somewhere on the
other side. From each, columns are given back their old values as long as the label stays, the
largest changes first, and then numbers go back on their grid as far as they can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from ..tables import CategoryColumn, labelled_prototypes, undo_step
from .flat_changes import Found
from .limits import Limits
from .model_view import ModelView

Test = Callable[[Floats, Indices], NDArray[np.bool_]]
"""Returns which points, given with their places, are allowed and have the label sought."""

HALVINGS = 64
"""Of the way back of a number, at most: enough for any grid."""

STARTS = 8
"""Rows from which to begin, the nearest ones; and as many of those that are allowed as they are."""


@dataclass
class ChangeSearch:
    """Good changes of rows of a view, from candidates that are plain rows with known labels."""

    view: ModelView
    limits: Limits
    candidates: Floats
    labels: NDArray[np.object_]

    def __post_init__(self) -> None:
        self.free = replace(self.limits, max_changes=len(self.view.columns))

    def find(
        self, rows: Indices, own: NDArray[np.object_], target: NDArray[np.object_] | None
    ) -> list[list[Found]]:
        """Return the changes that were found for each row, the smallest first."""
        owner, points = self._starts(rows, own, target)
        sought = None if target is None else target[owner]

        def is_good(points: Floats, some: Indices) -> NDArray[np.bool_]:
            places = rows[owner[some]]
            good = self.free.hold(self.view.plain[places], points)
            if good.any():
                label = self.view.labels_of_changes(points[good], places[good])
                which = some[good]
                good[good] = (
                    label != own[owner[which]] if sought is None else label == sought[which]
                )
            return good

        there = np.flatnonzero(is_good(points, np.arange(len(points)))) if len(points) else owner
        points, start = points[there], self.view.plain[rows[owner[there]]]
        points = self._give_back(points, start, there, is_good)
        points = self._go_back(points, start, there, is_good)
        found: list[list[Found]] = [[] for _ in rows]
        fits = self.limits.hold(start, points)
        sizes = self.view.sizes(start, points)
        for k in np.argsort(sizes.sum(axis=1), kind="stable").tolist():
            changed = frozenset(np.flatnonzero(sizes[k]).tolist())
            one = Found(points[k], float(sizes[k].sum()), changed, False)
            others = found[owner[there[k]]]
            if fits[k] and all(changed != other.changed for other in others):
                others.append(one)
        return found

    def _starts(
        self, rows: Indices, own: NDArray[np.object_], target: NDArray[np.object_] | None
    ) -> tuple[Indices, Floats]:
        """Return points to begin at, and which of the rows each is for."""
        owner, points = [np.zeros(0, dtype=np.intp)], [self.view.plain[:0]]
        for k, i in enumerate(rows.tolist()):
            right = self.labels != own[k] if target is None else self.labels == target[k]
            if not right.any():
                continue
            there = self.candidates[right]
            row = np.broadcast_to(self.view.plain[i], there.shape)
            near = self._allow(row, there)
            whole = near[self.limits.hold(row, there)]  # rows of the data that would do
            near = np.concatenate([self._nearest(i, near), self._nearest(i, whole)])
            near = np.unique(near, axis=0)
            owner.append(np.full(len(near), k))
            points.append(near)
        return np.concatenate(owner), np.concatenate(points)

    def _nearest(self, i: int, points: Floats) -> Floats:
        """Return the points that are nearest to a row, each once."""
        points = np.unique(points, axis=0)
        size = self.view.sizes(self.view.plain[i : i + 1], points).sum(axis=1)
        return points[np.argsort(size, kind="stable")[:STARTS]]

    def _allow(self, rows: Floats, points: Floats) -> Floats:
        """Return points with what may not change as it is in the rows, and numbers on the grid."""
        points, limits = points.copy(), self.limits
        for j, places in enumerate(self.view.places):
            column, old, new = self.view.columns[j], rows[:, places], points[:, places]
            if isinstance(column, CategoryColumn):
                code = column.nearest(new)
                fits = np.isin(code, limits.allowed.get(j, []))
                snapped = column.entries[np.where(fits, code, 0)]
            else:
                low, high = limits.grid_ends(j)
                snapped = np.zeros_like(new)  # what follows a number says that it is missing
                snapped[:, :1] = column.on_grid(column.grid_places(new[:, :1]).clip(low, high))
                way = (snapped - old)[:, 0]
                fits = (low <= high) & np.where(way > 0.0, limits.up[j], limits.down[j])
            points[:, places] = np.where((fits & limits.movable[j])[:, None], snapped, old)
        return points

    def _give_back(self, points: Floats, start: Floats, which: Indices, is_good: Test) -> Floats:
        """Return points in which no column can be given its old value alone."""
        points, going = points.copy(), np.arange(len(points))
        while len(going):
            size = self.view.sizes(start[going], points[going])
            best, gain = points[going].copy(), np.zeros(len(going))
            for j, places in enumerate(self.view.places):
                tried = np.flatnonzero(size[:, j] > gain)
                if not len(tried):
                    continue
                back = points[going[tried]].copy()
                back[:, places] = start[going[tried], places]
                good = is_good(back, which[going[tried]])
                best[tried[good]], gain[tried[good]] = back[good], size[tried[good], j]
            points[going] = best
            going = going[gain > 0.0]
        return points

    def _go_back(self, points: Floats, start: Floats, which: Indices, is_good: Test) -> Floats:
        """Return points whose numbers have gone back on their grid, by halving, one by one."""
        points = points.copy()
        sizes = self.view.sizes(start, points)
        order = np.argsort(-sizes, axis=1, kind="stable")
        for rank in range(sizes.shape[1]):
            for j in np.unique(order[:, rank]).tolist():
                column, places = self.view.columns[j], self.view.places[j]
                some = np.flatnonzero((order[:, rank] == j) & (sizes[:, j] > 0.0))
                if isinstance(column, CategoryColumn) or not len(some):
                    continue
                place = places.start
                far = np.rint(column.grid_places(points[some, place]))
                near = column.grid_places(start[some, place])
                near = np.where(far > near, np.floor(near + 1e-9), np.ceil(near - 1e-9))
                for _ in range(HALVINGS):
                    going = np.abs(far - near) > 1.0
                    some, far, near = some[going], far[going], near[going]
                    if not len(some):
                        break
                    middle = np.trunc((far + near) / 2.0)
                    tried = points[some].copy()
                    tried[:, places] = 0.0
                    tried[:, place] = column.on_grid(middle)
                    good = is_good(tried, which[some]) & (middle != far)
                    points[some[good]] = tried[good]
                    far, near = np.where(good, middle, far), np.where(good, near, middle)
        return points


def search_candidates(view: ModelView, data: Any) -> Floats:
    """Return plain rows to begin a search at: the data, and the prototypes if there are any."""
    parts = [view.plain[:0]] if data is None else [view.take(data)]
    try:
        rows = plain_prototypes(view, labelled_prototypes(view.last)[0])
        if rows.ndim == 2 and rows.shape[1] == view.plain.shape[1]:
            parts.append(rows)
    except (TypeError, ValueError, AttributeError):
        pass
    return np.concatenate(parts)


def plain_prototypes(view: ModelView, rows: Floats) -> Floats:
    """Return prototypes in the user's units."""
    for name, step in reversed(view.between):
        rows = undo_step(name, step, rows)
    return view.encoder.units_.inverse_transform(rows) if view.begins_with_table else rows
