"""An ensemble that decides, and which of its models are worth keeping.

Models that fire vote for their class, each with its probability. The probability of a class is its
share of the votes, with one vote more that the classes share equally. A model is worth keeping if
it makes the classes of the training rows more probable. These models are found by coordinate
ascent: each in turn joins or leaves if the log-likelihood gains by it, until none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numba
import numpy as np

from .._arrays import Floats, Indices, as_indices
from ..native import (
    FAST,
    f8,
    i8,
    indices,
    indices_out,
    matrix,
    native,
    types,
    vector,
    vector_out,
)
from .calibration import Calibration
from .linear_machines import Machines
from .members import by_blocks
from .neighbourhoods import View, decision_values, rows_seen, squared_distances

JUST = np.finfo(np.float64).tiny
"""The decision value of a model that just fires."""

KEPT_BYTES = 1 << 28
"""How much of the votes is kept in memory; others are computed again in each pass."""

PASSES = 100

LEAST_GAIN = 1e-9
"""A gain that is not rounding."""

flags_out = types.Array(types.boolean, 1, "C")
small_indices_matrix = types.Array(types.int32, 2, "C", readonly=True)


@dataclass(frozen=True)
class Voters:
    """Models with calibrated votes."""

    weights: Floats  # (M, d)
    intercepts: Floats  # (M,)
    exemplars: Floats  # (M, d)
    label: Indices  # (M,): the class code that a model votes for
    calibration: Calibration
    curves: Floats  # (M, calibration.width)
    reach: Floats | None = None  # (M,): squared distance up to which a model votes; None: anywhere

    @classmethod
    def of(
        cls,
        machines: Machines,
        X: Floats,
        calibration: Calibration,
        reach: Floats | None = None,
    ) -> Voters:
        """Return the voters that machines are before calibration; X is their training part."""
        planes, exemplars = (machines.weights, machines.intercepts), X[machines.exemplar]
        none = np.zeros((len(machines), calibration.width))
        return cls(*planes, exemplars, machines.label, calibration, none, reach)

    def __len__(self) -> int:
        return len(self.label)

    def calibrate(
        self,
        X: Floats,
        codes: Indices,
        n_classes: int,
        models: Indices | None = None,
        view: View | None = None,
    ) -> Voters:
        """Return voters with curves, of all models or of some, fitted to rows of known classes."""
        curves = self.curves.copy()
        some = np.arange(len(self)) if models is None else models
        prior = (np.bincount(codes, minlength=n_classes) / len(codes))[self.label]

        def fit(block: slice) -> None:
            chosen = some[block]
            seen = rows_seen(view, chosen)
            own = self.label[chosen, None] == (codes if seen is None else codes[seen])
            scores, distances = self._numbers(X, chosen, seen)
            curves[chosen] = self.calibration.fit(scores, distances, own, prior[chosen])

        if curves.size:
            by_blocks(len(some), len(X) if view is None else view.width, fit)
        return replace(self, curves=curves)

    def votes(self, X: Floats, models: Indices, view: View | None = None) -> Floats:
        """Return the votes of some models, an array (models, rows), zero where one is silent.

        With a view, the rows are those that the models look at.
        """
        out = np.empty((len(models), len(X) if view is None else view.width))

        def vote(block: slice) -> None:
            chosen = models[block]
            numbers = self._numbers(X, chosen, rows_seen(view, chosen))
            out[block] = self.calibration.votes(*numbers, self.curves[chosen])

        by_blocks(*out.shape, vote)
        return out

    def totals(self, X: Floats, n_classes: int) -> Floats:
        """Return the votes for each class, an array (rows, classes).

        Where no model fires the one with the largest decision value votes as if it just did; beyond
        the reach of all models, the one with the nearest exemplar.
        """
        members = (self.label == np.arange(n_classes)[:, None]).astype(np.float64)
        out = np.empty((len(X), n_classes))

        def add(rows: slice) -> None:
            scores, distances = self._numbers(X[rows], slice(None))
            silent = np.flatnonzero(~(scores > 0.0).any(axis=0))
            loudest = scores[:, silent].argmax(axis=0)
            if self.reach is not None:
                alone = np.isneginf(scores[:, silent].max(axis=0, initial=-np.inf))
                loudest[alone] = distances[:, silent[alone]].argmin(axis=0)
            scores[loudest, silent] = JUST
            out[rows] = (members @ self.calibration.votes(scores, distances, self.curves)).T

        by_blocks(len(X), len(self), add)
        return out

    def with_hyperplanes(self, machines: Machines) -> Voters:
        """Return the same models with their new hyperplanes, and the curves that they had."""
        return replace(self, weights=machines.weights, intercepts=machines.intercepts)

    def some(self, models: Indices) -> Voters:
        """Return some models."""
        return Voters(
            self.weights[models],
            self.intercepts[models],
            self.exemplars[models],
            self.label[models],
            self.calibration,
            self.curves[models],
            None if self.reach is None else self.reach[models],
        )

    def _numbers(
        self, X: Floats, models: Any, seen: Indices | None = None
    ) -> tuple[Floats, Floats]:
        """Return decision values and squared distances to the exemplars, where they are needed.

        Beyond the reach of a model its decision value is minus infinity.
        """
        scores = decision_values(self.weights[models], self.intercepts[models], X, seen)
        beyond = None if seen is not None or self.reach is None else self.reach[models, None]
        if beyond is None and not self.calibration.needs_distances:
            return scores, scores
        distances = squared_distances(self.exemplars[models], X, seen)
        if beyond is not None:
            scores[distances > beyond] = -np.inf
        return scores, distances


def worth_keeping(
    voters: Voters,
    X: Floats,
    codes: Indices,
    n_classes: int,
    price: float,
    view: View | None = None,
) -> Indices:
    """Return the models to keep; each has to raise the log-likelihood of the rows by its price.

    If none does, it is the best one of each class.
    """
    codes, label = as_indices(codes), as_indices(voters.label)
    mine, total = np.full(len(X), 1.0 / n_classes), np.ones(len(X))
    ballot = Ballot(voters, X, view)
    first, member = np.empty(len(voters)), np.zeros(len(voters), bool)
    for papers in ballot.papers():
        write_gains(*papers, *ballot.seen, label, codes, mine, total, first)
    order = np.argsort(-first, kind="stable")
    ballot.put_in_order(order)
    asked, changed = np.full(len(voters), -1, np.intp), np.zeros(len(X), np.intp)
    state = price, member, mine, total, asked, changed
    for number in range(PASSES):
        changes, now = 0, number * len(voters)
        for papers in ballot.papers():
            changes += join_or_leave(*papers, *ballot.seen, label, codes, *state, now)
            now += len(papers.models)
        if not changes:
            break
    if not member.any():
        member[order[np.unique(label[order], return_index=True)[1]]] = True
    return np.flatnonzero(member)


class Papers(NamedTuple):
    """The votes of some models; one line of votes may belong to any of them."""

    votes: Floats  # (lines, rows that a model looks at)
    lines: Indices  # (models,): which line of the votes is theirs
    models: Indices  # (models,)


class Ballot:
    """The votes of all models on some rows, in some order; those of the first stay in memory."""

    def __init__(self, voters: Voters, X: Floats, view: View | None):
        self.voters, self.X, self.view = voters, X, view
        self._kept: Floats
        self.seen = View.of_all(len(X), len(voters)) if view is None else view
        self._size = max(KEPT_BYTES // (8 * self.seen.width), 1)
        self._count(np.arange(len(voters)))

    def put_in_order(self, order: Indices) -> None:
        """Go through the models in another order from now on."""
        if len(order) > self._size:
            del self._kept  # before the others are computed: there is room for one of both
            self._count(order)
        self.order = order

    def _count(self, order: Indices) -> None:
        self.order, self._line = order, np.empty(len(order), np.intp)
        self._line[order] = np.arange(len(order))
        self._kept = self.voters.votes(self.X, order[: self._size], self.view)

    def papers(self) -> Iterator[Papers]:
        """Yield the votes of some models at a time."""
        kept, step = self.order[: self._size], max(self._size // 8, 1)
        yield Papers(self._kept, self._line[kept], kept)
        for start in range(self._size, len(self.order), step):
            models = self.order[start : start + step]
            votes = self.voters.votes(self.X, models, self.view)
            yield Papers(votes, np.arange(len(models)), models)


@native(
    types.void(
        *(matrix, indices, indices, small_indices_matrix, indices, indices, indices, indices),
        *(vector, vector, vector_out),
    )
)
def write_gains(votes, lines, models, near, place, exemplar, label, codes, mine, total, out):
    """Write what the log-likelihood gains by each model if it joins."""
    for k in range(models.size):
        model = models[k]
        rows = near[exemplar[model]]
        out[model] = gain(votes[lines[k]], rows, place, label[model], codes, 1.0, mine, total)


@native(
    i8(
        *(matrix, indices, indices, small_indices_matrix, indices, indices, indices, indices),
        *(f8, flags_out, vector_out, vector_out, indices_out, indices_out, i8),
    )
)
def join_or_leave(
    votes,
    lines,
    models,
    near,
    place,
    exemplar,
    label,
    codes,
    price,
    member,
    mine,
    total,
    asked,
    changed,
    now,
):
    """Let models join or leave where the log-likelihood, less the price of members, gains.

    A model that was asked before is asked again where a row that it votes on has changed since.
    Return how many changed.
    """
    changes = 0
    for k in range(models.size):
        model, vote = models[k], votes[lines[k]]
        rows, sign = near[exemplar[model]], -1.0 if member[model] else 1.0
        if is_as_before(vote, rows, place, changed, asked[model]):
            continue
        asked[model] = now + k
        gained = gain(vote, rows, place, label[model], codes, sign, mine, total)
        if gained > sign * price + LEAST_GAIN:
            member[model] = not member[model]
            changes += 1
            for q in range(vote.size):
                if vote[q] > 0.0:
                    j = place[rows[q]]
                    changed[j] = now + k + 1
                    total[j] += sign * vote[q]
                    if codes[j] == label[model]:
                        mine[j] += sign * vote[q]
    return changes


@numba.njit(**FAST)
def is_as_before(votes, rows, place, changed, since):
    """Whether no row that a model votes on has changed."""
    for q in range(votes.size):  # noqa: SIM110 (numba has no generators)
        if votes[q] > 0.0 and changed[place[rows[q]]] > since:
            return False
    return True


@numba.njit(**FAST)
def gain(votes, rows, place, label, codes, sign, mine, total):
    """Return what the log-likelihood gains if a model joins (+1) or leaves (-1).

    Ratios are multiplied, and few logarithms taken.
    """
    gained, product = 0.0, 1.0
    for q in range(votes.size):
        if votes[q] > 0.0:
            j, change = place[rows[q]], sign * votes[q]
            ratio = total[j] / (total[j] + change)
            if codes[j] == label:
                ratio *= (mine[j] + change) / mine[j]
            product *= ratio
            if product < 1e-200 or product > 1e200:
                gained += np.log(product)
                product = 1.0
    return gained + np.log(product)
