"""The smallest change of a row, by its columns, that changes the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats
from .._names import count
from .._validation import integer_in
from ..tables import change_texts, quote_text
from .change_search import ChangeSearch, search_candidates
from .flat_changes import INSETS, FlatChanges, Found
from .hypothesis_margins import known_labels
from .limits import Limits
from .model_view import ModelView
from .result_tables import DescribedRows, import_pandas

MOST_CHANGES = 5
"""How many changes of a row the text tells."""


class Change(NamedTuple):
    """A change of one value.

    Attributes
    ----------
    column : str or other
        The column.
    old, new : str
        What was there and what is to be, a number with the digits of its column: read back from
        these texts it is the number of ``points``.
    size : float
        How large it is, in standard deviations, or distances of categories.
    """

    column: Any
    old: str
    new: str
    size: float

    def __str__(self) -> str:
        return f"{self.column} were {self.new} instead of {self.old}"


@dataclass(frozen=True, eq=False, repr=False)
class TableCounterfactuals(DescribedRows):
    """Rows of a table, changed as little as possible so that they get another class.

    Attributes
    ----------
    points : DataFrame, or array if the rows were one
        The changed rows, with the columns that the model uses and their types. A missing value that
        does not change is missing still. Rows without a counterfactual are as they were.
    distance : array of shape (n_samples,)
        Size of the change: the sum over columns of standard deviations, and of category distances
        (1 by default) for categories; infinite where there is no counterfactual.
    label : array of shape (n_samples,)
        What the model predicts for ``points``.
    feasible : array of bool of shape (n_samples,)
        Whether there is a counterfactual.
    optimal : array of bool of shape (n_samples,)
        Whether it is proved that no allowed change is better, or that there is none. Otherwise it
        is the best that was found.
    original : DataFrame or array
        The rows that were given, with the columns that the model uses.
    original_label : array of shape (n_samples,)
        What the model predicts for them.
    changes : tuple of tuple of Change
        What changes in each row, the largest change first.
    others : tuple of TableCounterfactuals
        Further proposals for the same rows, each of other columns, if ``n`` is above one.
    """

    points: Any
    distance: Floats
    label: NDArray[Any]
    feasible: NDArray[np.bool_]
    optimal: NDArray[np.bool_]
    original: Any
    original_label: NDArray[Any]
    changes: tuple[tuple[Change, ...], ...]
    others: tuple[TableCounterfactuals, ...] = ()

    inexact = "best found"

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether all are proved to be optimal."""
        return bool(self.optimal.all())

    def to_frame(self) -> Any:
        """Return all changes as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            One line a change: ``row``, ``proposal`` (0 is the best), ``column``, ``old``, ``new``,
            ``size`` and ``label``.
        """
        lines = [
            (i, k, change.column, change.old, change.new, change.size, one.label[i])
            for i in range(len(self))
            for k, one in enumerate((self, *self.others))
            if one.feasible[i]
            for change in one.changes[i]
        ]
        names = ["row", "proposal", "column", "old", "new", "size", "label"]
        return import_pandas().DataFrame(lines, columns=names)

    def describe(self, row: int) -> str:
        """Return in words what would change the answer about a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            A sentence.
        """
        if not self.feasible[row]:
            found = (
                "no allowed change gives" if self.optimal[row] else "no change was found that gives"
            )
            return f"is {self.original_label[row]}, and {found} the answer sought"
        changes = self.changes[row]
        if not changes:
            return f"is {self.label[row]} as it is"
        parts = [str(change) for change in changes[:MOST_CHANGES]]
        more = len(changes) - len(parts)
        if more:
            parts.append(f"{count(more, 'more column')} changed by less")
        text = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
        if self.label[row] == self.original_label[row]:  # bounds have moved it
            return f"is {self.label[row]}, and would still be if {text}"
        return f"would be {self.label[row]} instead of {self.original_label[row]} if {text}"

    def assignments(self, row: int) -> str:
        """Return all new values of a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            ``NAME to VALUE, NAME to VALUE``; "" for a row that stays as it is. A name or a value is
            in double quotes, written as JSON, if it is empty, holds a comma, a double quote, the
            word "to" or a character that cannot be printed, or begins or ends with a space.
        """
        pairs = ((str(change.column), change.new) for change in self.changes[row])
        return ", ".join(f"{quote_text(name)} to {quote_text(value)}" for name, value in pairs)

    def sentences(self) -> list[str]:
        """Return for each row in words what would change the answer.

        Returns
        -------
        texts : list of str
            A sentence for each row.
        """
        return [self.describe(row) for row in range(len(self))]


def change_columns(
    view: ModelView, target: Any, limits: Limits, data: Any, fewest: bool, n: int
) -> TableCounterfactuals:
    """Return the smallest changes of the rows of a view."""
    n = integer_in(n, "n={value!r}", 1)
    own, goal = view.predict(view.table.data), target_labels(view.model, target, len(view.plain))
    found: list[list[Found]] = [[] for _ in view.plain]
    is_proved = np.zeros(len(found), dtype=bool)
    if view.directions is not None:
        is_proved = change_by_programs(FlatChanges(view, limits, fewest, n), own, goal, found)
    waiting = np.flatnonzero([not some for some in found] & ~is_proved)
    if len(waiting):
        candidates = search_candidates(view, data)
        search = (
            ChangeSearch(view, limits, candidates, view.labels(candidates))
            if len(candidates)
            else None
        )
        if search is not None:
            goals = None if goal is None else goal[waiting]
            for i, some in zip(waiting, search.find(waiting, own[waiting], goals), strict=True):
                rank = (lambda f: (len(f.changed), f.cost)) if fewest else (lambda f: f.cost)
                found[i] = sorted(some, key=rank)[:n]
    parts = [build_result(view, own, found, is_proved, k) for k in range(n)]
    return replace(parts[0], others=tuple(parts[1:]))


def change_by_programs(
    programs: FlatChanges, own: NDArray[Any], goal: NDArray[Any] | None, found: list[list[Found]]
) -> NDArray[np.bool_]:
    """Write proved changes into ``found``; return of which rows the result is certain."""
    view, rule = programs.view, programs.view.rule
    assert rule is not None
    leave = np.searchsorted(rule.classes, own)
    enter = np.full(len(own), -1) if goal is None else np.searchsorted(rule.classes, goal)
    is_proved, waiting = np.zeros(len(own), dtype=bool), np.arange(len(own))
    for inset in INSETS:
        for i in waiting.tolist():
            found[i] = programs.find(i, int(leave[i]), int(enter[i]), inset)
            if leave[i] == enter[i] and found[i] and found[i][0].changed:
                stays = Found(view.plain[i], 0.0, frozenset(), True)
                if programs.limits.hold(view.plain[i : i + 1], view.plain[i : i + 1])[0]:
                    found[i] = [stays]
        wrong = []
        for i in waiting.tolist():
            points = np.array([one.point for one in found[i]])
            if len(points):
                label = view.labels(points)
                right = label != own[i] if goal is None else label == goal[i]
                if not right.all():
                    wrong.append(i)
            is_proved[i] = i not in wrong
        waiting = np.array(wrong, dtype=np.intp)
        if not len(waiting):
            break
    for i in waiting.tolist():
        found[i] = []
    return is_proved


def target_labels(model: Any, target: Any, n_rows: int) -> Any:
    """Return the label that each row is to get, None for any other."""
    if target is None:
        return None
    labels = np.full(n_rows, target) if np.ndim(target) == 0 else np.asarray(target)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"target has shape {labels.shape}, expected one label, or one for each of the "
            f"{n_rows} rows."
        )
    return np.asarray(known_labels(model, labels, "target"))


def build_result(
    view: ModelView,
    own: NDArray[Any],
    found: list[list[Found]],
    is_proved: NDArray[np.bool_],
    place: int,
) -> TableCounterfactuals:
    """Return one proposal for each row, with the labels that the whole model gives."""
    points, feasible = view.plain.copy(), np.zeros(len(found), dtype=bool)
    distance, optimal = np.full(len(found), np.inf), is_proved.copy()
    for i, some in enumerate(found):
        if len(some) > place:
            points[i], feasible[i], distance[i] = some[place].point, True, some[place].cost
            optimal[i] &= some[place].is_optimal
    frame = view.frame(points)
    return TableCounterfactuals(
        points=frame,
        distance=distance,
        label=view.predict(frame),
        feasible=feasible,
        optimal=optimal,
        original=view.table.data,
        original_label=own,
        changes=list_changes(view, points),
    )


def list_changes(view: ModelView, points: Floats) -> tuple[tuple[Change, ...], ...]:
    """Return what changes in each row, the largest change first."""
    found: list[list[Change]] = [[] for _ in points]
    sizes = view.sizes(view.plain, points)
    for j, places in enumerate(view.places):
        given = view.table.read(view.table.names[j]).data
        for i in np.flatnonzero(sizes[:, j]):
            pair = view.plain[i, places], points[i, places]
            told = change_texts(view.columns[j], given[i], *pair)
            found[i].append(Change(view.columns[j].name, *told, float(sizes[i, j])))
    return tuple(tuple(sorted(part, key=lambda c: -c.size)) for part in found)
