"""The number of prototypes: split where the errors are, prune what is not needed.

Forward: in each round the prototypes whose own samples are most often misclassified after training
are each replaced, in the start, by two, the centres of two clusters of these samples. It goes on
for some rounds without success, since a split may help only together with the next. Held-out
samples decide: of all rounds the first whose errors are within some standard errors of the best.
Where most errors are left, all prototypes are split at once as well, some times: a few more may be
worse than none where many are better.
Backward: one prototype after the other is left out, and stays out if errors do not become more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats, as_indices, middle
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..distances import Distance
from ..objective import ErrorCount, nearest_prototypes
from ..solvers import Memory
from .initial import first_codebook, initial_prototypes, settle

PATIENCE = 3
"""Rounds without fewer errors after which growth ends."""

STANDARD_ERRORS = 2.0
"""By how many a smaller start may be worse than the best."""

LEFT = 0.3
"""Share of the first errors above which splitting one after the other has not helped."""

DOUBLINGS = 3
"""How often all prototypes are split then."""

ROWS_TO_SPLIT = 4
"""Samples that a prototype needs to be split."""

MOST_REMOVALS = 40
"""Prototypes of which it is tried whether they are needed."""


@dataclass(frozen=True)
class Growth:
    """How a codebook grows.

    Attributes
    ----------
    distance : Distance
        In the form that suits the data.
    train : callable
        Gives the trained form of a start.
    taught : Block
        The samples that ``train`` learns from.
    judged : Block
        The samples that decide.
    rng : RandomState
        Source of randomness.
    tell : callable
        Receives the number of prototypes and the share of held-out errors after each round.
    """

    distance: Distance
    train: Callable[[Codebook], Codebook]
    taught: Block
    judged: Block
    rng: np.random.RandomState
    tell: Callable[[int, float], None]

    @property
    def _errors(self) -> ErrorCount:
        return ErrorCount(self.distance, 0)

    def grow(self, start: Codebook) -> Codebook:
        """Return a start with as many prototypes as help on the held-out samples."""
        rounds = self._forward(start)
        found = self._first_good(rounds)
        if self._mean(found[1]) > LEFT * self._mean(rounds[0][1]):
            found = self._first_good([found, *self._split_all(start)])
        return self._backward(*found)

    def _first_good(self, rounds: list[tuple[Codebook, Floats]]) -> tuple[Codebook, Floats]:
        """Return the first round that is as good as the best."""
        best = min((errors for _, errors in rounds), key=self._mean)
        return next(found for found in rounds if self._as_good(found[1], best))

    def _split_all(self, start: Codebook) -> list[tuple[Codebook, Floats]]:
        """Return starts with all prototypes split, and again, and the held-out errors of each."""
        rounds: list[tuple[Codebook, Floats]] = []
        for _ in range(DOUBLINGS):
            members = self._members(start)
            counts = np.bincount(members, minlength=len(start.labels))
            chosen = np.flatnonzero(counts >= ROWS_TO_SPLIT)
            if not len(chosen):
                break
            start = self._split(start, chosen, members)
            rounds.append((start, self._judge(self.train(start))))
            self.tell(len(start.labels), self._mean(rounds[-1][1]))
        return rounds

    def _forward(self, start: Codebook) -> list[tuple[Codebook, Floats]]:
        """Return each start of splits, until they help no more, and its held-out errors."""
        rounds: list[tuple[Codebook, Floats]] = []
        least, waited = np.inf, 0
        while waited <= PATIENCE:
            trained = self.train(start)
            errors = self._judge(trained)
            rounds.append((start, errors))
            share = self._mean(errors)
            self.tell(len(start.labels), share)
            least, waited = (share, 0) if share < least else (least, waited + 1)
            chosen, members = self._most_wrong(start, trained)
            if share == 0.0 or not len(chosen):
                break
            start = self._split(start, chosen, members)
        return rounds

    def _backward(self, start: Codebook, errors: Floats) -> Codebook:
        """Leave out what is not needed, the prototypes of fewest samples first."""
        counts = np.bincount(self._members(start), minlength=len(start.labels))
        present = np.arange(len(start.labels))
        for k in np.argsort(counts, kind="stable")[:MOST_REMOVALS]:
            rest = np.setdiff1d(present, k)
            if start.labels[k] not in start.labels[rest]:
                continue
            trial = self._judge(self.train(only(start, self.distance, rest)[0]))
            if self._mean(trial) <= self._mean(errors):
                present, errors = rest, trial
        return only(start, self.distance, present)[0]

    def _judge(self, trained: Codebook) -> Floats:
        """Return 1 for each held-out sample that is classified wrongly, else 0."""
        return self._errors.costs(trained, self.judged)

    def _mean(self, errors: Floats) -> float:
        """Return the weighted share of errors."""
        return float(errors @ self.judged.weights / self.judged.total_weight)

    def _as_good(self, errors: Floats, best: Floats) -> bool:
        """Whether errors exceed the best by no more than chance might make them."""
        share = self.judged.weights / self.judged.total_weight
        excess = errors - best
        mean = float(excess @ share)
        return mean <= STANDARD_ERRORS * float(np.sqrt(np.square(share * (excess - mean)).sum()))

    def _members(self, start: Codebook) -> Indices:
        """Return the nearest own prototype of each sample."""
        parts = []
        for chunk in self.taught.chunks(self.distance.effort(start)):
            D = self.distance.pairwise(chunk.X, start)
            parts.append(np.where(start.labels == chunk.codes[:, None], D, np.inf).argmin(axis=1))
        return np.concatenate(parts)

    def _most_wrong(self, start: Codebook, trained: Codebook) -> tuple[Indices, Indices]:
        """Return the prototypes with at least half the most errors, and whose each sample is."""
        wrong = self._errors.costs(trained, self.taught)
        own, K = self._members(start), len(start.labels)
        errors = np.bincount(own, wrong * self.taught.weights, minlength=K)
        errors[np.bincount(own, minlength=K) < ROWS_TO_SPLIT] = 0.0
        return np.flatnonzero((errors > 0.0) & (errors >= 0.5 * errors.max())), own

    def _split(self, start: Codebook, chosen: Indices, members: Indices) -> Codebook:
        """Replace some prototypes by the centres of two clusters of their samples."""
        K = len(start.labels)
        parents = np.concatenate([np.arange(K), chosen])
        prototypes = start.prototypes[parents]
        for row, k in enumerate(chosen):
            block = self.taught.rows(np.flatnonzero(members == k))
            block = Block(block.X, np.zeros(len(block), dtype=np.uint8), block.weight)
            here = start.prototypes[k]
            halves = initial_prototypes("kmeans", block, np.array([2]), self.rng, here)
            prototypes[[k, K + row]] = halves
        labels = start.labels[parents]
        order = np.argsort(labels, kind="stable")
        return rearrange(start, self.distance, parents[order], prototypes[order], labels[order])[0]


def rearrange(
    codebook: Codebook, distance: Distance, parents: Indices, prototypes: Floats, labels: Indices
) -> tuple[Codebook, Indices]:
    """Return a codebook of other prototypes, each with the metric of its parent in the old one.

    Where prototypes share a row of the metric, that of the foremost old row is taken; the second
    result tells which.
    """
    group = as_indices(distance.groups(labels))
    heirs = np.full(int(group.max()) + 1, len(codebook.metric), dtype=np.intp)
    np.minimum.at(heirs, group, codebook.group[parents])
    heirs[heirs == len(codebook.metric)] = 0  # rows that no prototype uses
    metric = as_floats(codebook.metric[heirs])
    found = Codebook(prototypes, labels, metric, group, middle(prototypes))
    return settle(found, distance), heirs


def winning(distance: Distance, codebook: Codebook, blocks: Blocks) -> Indices:
    """Return the prototypes that are nearest to some sample; at least one of each class."""
    won = blocks.reduce(wins, distance, codebook) > 0
    for code in np.setdiff1d(codebook.labels, codebook.labels[won]):
        won[np.flatnonzero(codebook.labels == code)[0]] = True
    return np.flatnonzero(won)


def wins(distance: Distance, codebook: Codebook, block: Block) -> Indices:
    """Count the samples to which each prototype is nearest."""
    nearest = nearest_prototypes(distance, codebook, block)
    return np.bincount(nearest, minlength=len(codebook.labels))


def only(codebook: Codebook, distance: Distance, rows: Indices) -> tuple[Codebook, Indices]:
    """Return some prototypes of a codebook, and the rows of the metric that they use."""
    return rearrange(codebook, distance, rows, codebook.prototypes[rows], codebook.labels[rows])


def add_prototypes(
    old: tuple[Codebook, Memory] | None,
    distance: Distance,
    init: Any,
    block: Block,
    counts: Indices,
    rng: np.random.RandomState,
) -> tuple[Codebook, Memory]:
    """Return a codebook with the prototypes that classes lack, as far as the block has rows.

    Given prototypes are there from the beginning, for all classes.
    """
    if old is None and not isinstance(init, str):
        prototypes = initial_prototypes(init, block, counts, rng)
        labels = np.repeat(np.arange(len(counts)), counts)
        return first_codebook(distance, prototypes, labels, lambda: block, stream=True), Memory()
    labels = np.empty(0, dtype=np.intp) if old is None else old[0].labels
    lacking = np.maximum(counts - np.bincount(labels, minlength=len(counts)), 0)
    added = np.minimum(lacking, _places(block, lacking, None if old is None else old[0]))
    if old is not None and not added.any():
        return old[0].copy(), old[1].copy()
    fallback = None if old is None else old[0].prototypes.mean(axis=0)
    new = initial_prototypes(init, block, added, rng, fallback)
    new_labels = np.repeat(np.arange(len(counts)), added)
    start = first_codebook(distance, new, new_labels, lambda: block, stream=True)
    return (start, Memory()) if old is None else _join(*old, start, distance)


def _places(block: Block, lacking: Indices, old: Codebook | None) -> Indices:
    """Count the rows of each class at which a new prototype could begin.

    Equal rows, and rows on a prototype of the class, are no place: equal prototypes stay equal.
    """
    places = np.bincount(block.y, minlength=len(lacking))
    if issparse(block.X):
        return places
    for code in np.flatnonzero((lacking > 0) & (places > 0)):
        rows = np.unique(block.X[block.y == code], axis=0)
        there = rows[:0] if old is None else old.prototypes[old.labels == code]
        taken = (rows[:, None] == there).all(axis=2).any(axis=1)
        places[code] = len(rows) - int(taken.sum())
    return places


def _join(
    old: Codebook, memory: Memory, new: Codebook, distance: Distance
) -> tuple[Codebook, Memory]:
    """Return two codebooks together, sorted by class; new prototypes have nothing to remember."""
    both = Codebook(
        np.vstack([old.prototypes, new.prototypes]),
        np.concatenate([old.labels, new.labels]),
        np.vstack([old.metric, new.metric]),
        np.concatenate([old.group, len(old.metric) + new.group]),
        old.center,
    )
    order = np.argsort(both.labels, kind="stable")
    joined, heirs = rearrange(both, distance, order, both.prototypes[order], both.labels[order])
    remembered = memory.rearrange(
        np.where(order < len(old.labels), order, -1), np.where(heirs < len(old.metric), heirs, -1)
    )
    return joined, remembered
