"""The models of an ensemble: one hyperplane a model, who it was learned from, and its shifts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices, as_indices, rows_at_a_time
from ..native import (
    i8,
    indices,
    indices_matrix,
    indices_out,
    matrix,
    native,
    types,
    vector_out,
)
from .hyperplane_solver import solve
from .members import Members, by_blocks
from .neighbourhoods import View, as_table, decision_values, rows_seen, squared_distances


class SolverSettings(NamedTuple):
    """How a small problem is solved."""

    C: float
    penalty: str
    tol: float
    max_iter: int


@dataclass(frozen=True)
class Machines:
    """Linear support vector machines, each for the class of its exemplar.

    A model fires on x if ``weights . x + intercept`` is positive.
    """

    exemplar: Indices  # (M,): the row of the training part that a model was made for
    label: Indices  # (M,): its class code
    weights: Floats  # (M, d)
    intercepts: Floats  # (M,)
    members: Members  # the positive and negative sets
    solved: NDArray[np.bool_]  # (M,): whether the problem was solved to the tolerance
    changed: NDArray[np.bool_]  # (M,): has to be trained: its sets have grown, or was not solved
    silent: bool = False  # whether no model fires on any row of the training part

    def __len__(self) -> int:
        return len(self.exemplar)

    @classmethod
    def one_a_row(cls, X: Floats, codes: Indices, members: Members) -> Machines:
        """Return one model a row, which fires on nothing yet."""
        n = len(X)
        no, yes = np.zeros(n, bool), np.ones(n, bool)
        return cls(
            np.arange(n, dtype=np.intp), codes, np.zeros(X.shape), np.zeros(n), members, no, yes
        )

    def train(self, X: Floats, settings: SolverSettings) -> Machines:
        """Return the models, trained anew where sets have grown; X is the training part."""
        models = np.flatnonzero(self.changed)
        if not len(models):
            return self
        some = self.some(models)
        warm: Any = some.members.strength
        if settings.penalty == "l1":
            warm = some.weights, some.intercepts + some._at(X, some.weights)
        problems = some.members.problems(some.exemplar)
        found = solve(X, problems, warm=warm, **settings._asdict())
        strength = self.members.strength.copy()
        strength[self.changed[self.members.model]] = found.strengths
        return replace(
            self,
            weights=_with(self.weights, models, found.weights),
            intercepts=_with(self.intercepts, models, found.offsets - some._at(X, found.weights)),
            members=replace(self.members, strength=strength),
            solved=_with(self.solved, models, found.converged),
        )

    def that_fire(self, X: Floats, view: View | None = None) -> Machines:
        """Return the models that fire on a row that they look at; all, if none does.

        Without weights a model fires on everything or on nothing, and is of no use.
        """
        fires = np.ones(len(self), bool)  # as before, where nothing has changed
        new = np.flatnonzero(self.changed | self.silent)

        def look(block: slice) -> None:
            models = new[block]
            planes = self.weights[models], self.intercepts[models]
            scores = decision_values(*planes, X, rows_seen(view, models))
            fires[models] = (scores > 0.0).any(axis=1) & self.weights[models].any(axis=1)

        by_blocks(len(new), len(X) if view is None else view.width, look)
        if not fires.any():
            return replace(self, silent=True)
        return replace(self.some(np.flatnonzero(fires)), silent=False)

    def some(self, models: Indices) -> Machines:
        """Return some models, given in ascending order."""
        return replace(
            self,
            exemplar=self.exemplar[models],
            label=self.label[models],
            weights=self.weights[models],
            intercepts=self.intercepts[models],
            members=self.members.of_models(models),
            solved=self.solved[models],
            changed=self.changed[models],
        )

    def _at(self, X: Floats, weights: Floats) -> Floats:
        """Return the products of weights with the exemplars."""
        return np.einsum("ij,ij->i", weights, X[self.exemplar])


def _with(values: Any, places: Indices, new: Any) -> Any:
    """Return a copy with some values replaced."""
    values = values.copy()
    values[places] = new
    return values


def shift(
    machines: Machines,
    X: Floats,
    codes: Indices,
    probability: float,
    rng: np.random.RandomState,
    view: View | None = None,
) -> Machines:
    """Return the models with more rows in their sets (algorithm 3 of Shen and Danyluk).

    A row joins the positives of that model of its class that fires on it and has the nearest
    exemplar. Of the rows of other classes that a model fires on, its hard negatives, each joins its
    negatives with the given probability.
    """
    codes, width = as_indices(codes), len(X) if view is None else view.width
    least, nearest = np.full(len(X), np.inf), np.full(len(X), -1, np.intp)
    hard: list[tuple[Indices, Indices]] = []
    for start in range(0, len(machines), size := rows_at_a_time(width)):
        seen: dict[int, FiredRows] = {}

        def see(block: slice, start: int = start, seen: dict[int, FiredRows] = seen) -> None:
            models = slice(start + block.start, start + block.stop)
            seen[models.start] = find_fired_rows(machines, X, codes, models, view)

        by_blocks(min(size, len(machines) - start), width, see)
        for each in (seen[first] for first in sorted(seen)):
            closer = each.least < least
            least[closer], nearest[closer] = each.least[closer], each.nearest[closer]
            drawn = rng.random_sample(len(each.row)) < probability
            hard.append((each.model[drawn], each.row[drawn]))
    captured = np.flatnonzero(nearest >= 0)
    members = machines.members.with_rows(nearest[captured], captured, 1.0)
    model, row = (np.concatenate(part) for part in zip(*hard, strict=True))
    members = members.with_rows(model, row, -1.0)
    before, after = (each.sizes(len(machines)) for each in (machines.members, members))
    return replace(machines, members=members, changed=(after > before) | ~machines.solved)


class FiredRows(NamedTuple):
    """What some models fire on."""

    least: Floats  # (n,): how near the nearest model of its class is to each row
    nearest: Indices  # (n,): which it is
    model: Indices  # pairs of models and rows of other classes that they fire on, model by model
    row: Indices


def find_fired_rows(
    machines: Machines, X: Floats, codes: Indices, models: slice, view: View | None
) -> FiredRows:
    """Return what some models fire on."""
    exemplar, label = machines.exemplar[models], machines.label[models]
    seen = rows_seen(view, models)
    scores = decision_values(machines.weights[models], machines.intercepts[models], X, seen)
    distances, table = squared_distances(X[exemplar], X, seen), as_table(seen, len(X))
    model, row = np.empty((2, count_foreign(scores, label, codes, table)), np.intp)
    found = FiredRows(np.full(len(X), np.inf), np.full(len(X), -1, np.intp), model, row)
    find_nearest(scores, distances, exemplar, label, codes, table, *found)
    return FiredRows(found.least, models.start + found.nearest, models.start + model, row)


@native(i8(matrix, indices, indices, indices_matrix))
def count_foreign(scores, label, codes, table):
    """Count the rows of other classes that models fire on."""
    count = 0
    for i in range(len(scores)):
        rows = table[min(i, len(table) - 1)]
        for q in range(rows.size):
            count += scores[i, q] > 0.0 and codes[rows[q]] != label[i]
    return count


@native(
    types.void(
        *(matrix, matrix, indices, indices, indices, indices_matrix),
        *(vector_out, indices_out, indices_out, indices_out),
    )
)
def find_nearest(scores, distances, exemplar, label, codes, table, least, nearest, model, row):
    """Find the nearest of the models that fire on a row and are of its class.

    ``least`` is the squared distance to its exemplar; row ``q`` of a model is ``table[q]``, of one
    line or one a model. Write also the pairs of models and rows of other classes.
    """
    place = 0
    for i in range(len(scores)):
        rows = table[min(i, len(table) - 1)]
        for q in range(rows.size):
            if scores[i, q] > 0.0:
                j = rows[q]
                if codes[j] != label[i]:
                    model[place], row[place] = i, j
                    place += 1
                    continue
                distance = distances[i, q]
                if exemplar[i] == j:
                    distance = -np.inf  # to itself, whatever the rounding
                if distance < least[j]:
                    least[j], nearest[j] = distance, i
