"""Which models of an ensemble are worth keeping.

The probability of a class is its share of the votes, with one vote more that the classes share
equally. A model is worth keeping if it makes the classes of the training rows more probable. The
members are found by coordinate ascent: each model in turn joins or leaves if the log-likelihood
gains by it, until none does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from .._arrays import Floats, Indices, as_indices
from ..native import FAST, f8, i8, indices, matrix, native, types, vector, vector_out
from .voters import Voters

KEPT_BYTES = 1 << 28
"""How much of the votes is kept in memory; others are computed again in each pass."""

PASSES = 100

LEAST = 1e-9
"""A gain that is not rounding."""

flags_out = types.Array(types.boolean, 1, "C")


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


@native(types.void(matrix, indices, indices, vector, vector, vector_out))
def gains(votes, label, codes, mine, total, out):
    """Write what the log-likelihood gains by each model if it joins."""
    for i in range(len(votes)):
        out[i] = gain(votes[i], label[i], codes, 1.0, mine, total)


@native(i8(matrix, indices, indices, indices, indices, f8, flags_out, vector_out, vector_out))
def join_or_leave(votes, places, models, label, codes, price, member, mine, total):
    """Let models join or leave where the log-likelihood, less the price of members, gains.

    The votes of a model are in the row of its place. Give how many changed.
    """
    changes = 0
    for k in range(models.size):
        i, model = places[k], models[k]
        sign = -1.0 if member[model] else 1.0
        if gain(votes[i], label[model], codes, sign, mine, total) > sign * price + LEAST:
            member[model] = not member[model]
            changes += 1
            for j in range(codes.size):
                total[j] += sign * votes[i, j]
                if codes[j] == label[model]:
                    mine[j] += sign * votes[i, j]
    return changes


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
    ballot = ballot.sorted(order)
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
    """The votes of all models on some rows; as many as may be are kept in memory.

    Parameters
    ----------
    voters : Voters
    X : array (n, d)
    order : array (M,)
        The models; votes of the first are kept.
    """

    def __init__(self, voters: Voters, X: Floats, order: Indices):
        self.voters, self.X, self.order = voters, X, order
        self._size = max(KEPT_BYTES // (8 * len(X)), 1)
        self._kept = voters.votes(X, order[: self._size])
        self._place = np.empty(len(order), np.intp)
        self._place[order] = np.arange(len(order))

    def sorted(self, order: Indices) -> Ballot:
        """Return the models in another order."""
        if len(order) > self._size:
            return Ballot(self.voters, self.X, order)
        self.order = order
        return self

    def blocks(self) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Return some models at a time, with votes and the rows in which theirs are."""
        kept = self.order[: self._size]
        yield kept, self._place[kept], self._kept
        step = max(self._size // 8, 1)
        for start in range(self._size, len(self.order), step):
            models = self.order[start : start + step]
            yield models, np.arange(len(models)), self.voters.votes(self.X, models)
