"""An ensemble that decides, and which of its models are worth keeping.

Models that fire vote for their class, each with its probability. The probability of a class is its
share of the votes, with one vote more that the classes share equally. A model is worth keeping if
it makes the classes of the training rows more probable. These models are found by coordinate
ascent: each in turn joins or leaves if the log-likelihood gains by it, until none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np

from .._arrays import Floats, Indices, as_indices
from ..native import FAST, f8, i8, indices, matrix, native, types, vector, vector_out
from .calibration import Calibration
from .linear_machines import Machines
from .members import by_blocks

JUST = np.finfo(np.float64).tiny
"""The decision value of a model that just fires."""

KEPT_BYTES = 1 << 28
"""How much of the votes is kept in memory; others are computed again in each pass."""

PASSES = 100

LEAST_GAIN = 1e-9
"""A gain that is not rounding."""

flags_out = types.Array(types.boolean, 1, "C")


@dataclass(frozen=True)
class Voters:
    """Models with calibrated votes."""

    weights: Floats  # (M, d)
    intercepts: Floats  # (M,)
    exemplars: Floats  # (M, d)
    label: Indices  # (M,): the class code that a model votes for
    calibration: Calibration
    curves: Floats  # (M, calibration.width)

    @classmethod
    def of(cls, machines: Machines, X: Floats, calibration: Calibration) -> Voters:
        """Return the voters that machines are before calibration; X is their training part."""
        planes, exemplars = (machines.weights, machines.intercepts), X[machines.exemplar]
        none = np.zeros((len(machines), calibration.width))
        return cls(*planes, exemplars, machines.label, calibration, none)

    def __len__(self) -> int:
        return len(self.label)

    def calibrate(
        self, X: Floats, codes: Indices, n_classes: int, models: Indices | None = None
    ) -> Voters:
        """Return voters with curves, of all models or of some, fitted to rows of known classes."""
        curves = self.curves.copy()
        some = np.arange(len(self)) if models is None else models
        prior = (np.bincount(codes, minlength=n_classes) / len(codes))[self.label]

        def fit(block: slice) -> None:
            chosen = some[block]
            own = self.label[chosen, None] == codes
            scores, distances = self._numbers(X, chosen)
            curves[chosen] = self.calibration.fit(scores, distances, own, prior[chosen])

        if curves.size:
            by_blocks(len(some), len(X), fit)
        return replace(self, curves=curves)

    def votes(self, X: Floats, models: Indices) -> Floats:
        """Return the votes of some models, an array (models, rows), zero where one is silent."""
        out = np.empty((len(models), len(X)))

        def vote(block: slice) -> None:
            chosen = models[block]
            numbers = self._numbers(X, chosen)
            out[block] = self.calibration.votes(*numbers, self.curves[chosen])

        by_blocks(len(models), len(X), vote)
        return out

    def totals(self, X: Floats, n_classes: int) -> Floats:
        """Return the votes for each class, an array (rows, classes).

        Where no model fires the one with the largest decision value votes as if it just did.
        """
        members = (self.label == np.arange(n_classes)[:, None]).astype(np.float64)
        out = np.empty((len(X), n_classes))

        def add(rows: slice) -> None:
            scores, distances = self._numbers(X[rows], slice(None))
            silent = np.flatnonzero(~(scores > 0.0).any(axis=0))
            scores[scores[:, silent].argmax(axis=0), silent] = JUST
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
        )

    def _numbers(self, X: Floats, models: Any) -> tuple[Floats, Floats]:
        """Return decision values and squared distances to the exemplars, where they are needed."""
        scores = self.weights[models] @ X.T + self.intercepts[models, None]
        if not self.calibration.needs_distances:
            return scores, scores
        exemplars = self.exemplars[models]
        distances = -2.0 * exemplars @ X.T
        distances += np.einsum("ij,ij->i", exemplars, exemplars)[:, None]
        distances += np.einsum("ij,ij->i", X, X)
        return scores, distances


def worth_keeping(
    voters: Voters, X: Floats, codes: Indices, n_classes: int, price: float
) -> Indices:
    """Return the models to keep; each has to raise the log-likelihood of the rows by its price.

    If none does, it is the best one of each class.
    """
    codes, label = as_indices(codes), as_indices(voters.label)
    mine, total = np.full(len(X), 1.0 / n_classes), np.ones(len(X))
    ballot = Ballot(voters, X, np.arange(len(voters)))
    first, member = np.empty(len(voters)), np.zeros(len(voters), bool)
    for models, _, votes in ballot.blocks():
        out = np.empty(len(models))
        gains(votes, label[models], codes, mine, total, out)
        first[models] = out
    order = np.argsort(-first, kind="stable")
    ballot = ballot.in_order(order)
    for _ in range(PASSES):
        changes = 0
        for models, places, votes in ballot.blocks():
            changes += join_or_leave(
                votes, places, models, label, codes, price, member, mine, total
            )
        if not changes:
            break
    if not member.any():
        member[order[np.unique(label[order], return_index=True)[1]]] = True
    return np.flatnonzero(member)


class Ballot:
    """The votes of all models on some rows, in some order; those of the first stay in memory."""

    def __init__(self, voters: Voters, X: Floats, order: Indices):
        self.voters, self.X, self.order = voters, X, order
        self._size = max(KEPT_BYTES // (8 * len(X)), 1)
        self._kept = voters.votes(X, order[: self._size])
        self._place = np.empty(len(order), np.intp)
        self._place[order] = np.arange(len(order))

    def in_order(self, order: Indices) -> Ballot:
        """Return the votes with the models in another order."""
        if len(order) > self._size:
            return Ballot(self.voters, self.X, order)
        self.order = order
        return self

    def blocks(self) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Yield some models at a time, with votes and the rows in which theirs are."""
        kept = self.order[: self._size]
        yield kept, self._place[kept], self._kept
        step = max(self._size // 8, 1)
        for start in range(self._size, len(self.order), step):
            models = self.order[start : start + step]
            yield models, np.arange(len(models)), self.voters.votes(self.X, models)


@native(types.void(matrix, indices, indices, vector, vector, vector_out))
def gains(votes, label, codes, mine, total, out):
    """Write what the log-likelihood gains by each model if it joins."""
    for i in range(len(votes)):
        out[i] = gain(votes[i], label[i], codes, 1.0, mine, total)


@native(i8(matrix, indices, indices, indices, indices, f8, flags_out, vector_out, vector_out))
def join_or_leave(votes, places, models, label, codes, price, member, mine, total):
    """Let models join or leave where the log-likelihood, less the price of members, gains.

    The votes of a model are in the row of its place. Return how many changed.
    """
    changes = 0
    for k in range(models.size):
        i, model = places[k], models[k]
        sign = -1.0 if member[model] else 1.0
        if gain(votes[i], label[model], codes, sign, mine, total) > sign * price + LEAST_GAIN:
            member[model] = not member[model]
            changes += 1
            for j in range(codes.size):
                total[j] += sign * votes[i, j]
                if codes[j] == label[model]:
                    mine[j] += sign * votes[i, j]
    return changes


@numba.njit(**FAST)
def gain(votes, label, codes, sign, mine, total):
    """Return what the log-likelihood gains if a model joins (+1) or leaves (-1).

    Ratios are multiplied, and few logarithms taken.
    """
    gained, product = 0.0, 1.0
    for j in range(votes.size):
        if votes[j] > 0.0:
            change = sign * votes[j]
            ratio = total[j] / (total[j] + change)
            if codes[j] == label:
                ratio *= (mine[j] + change) / mine[j]
            product *= ratio
            if product < 1e-200 or product > 1e200:
                gained += np.log(product)
                product = 1.0
    return gained + np.log(product)
