"""Prototypes of rows on stairs, for errors of every feature.

A feature is replaced by which of its thresholds it exceeds. An error of a feature then changes the
steps between its two ends and no others. The lead of a prototype over another is a sum over the
features, so its least value while every feature errs at once is exact, feature by feature; it is
what is trained, and what is certified.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from protolearn._arrays import Floats, Indices

OWNS, RIVALS = 3, 12
"""Prototypes of each side that a step of training compares."""


class Rows(NamedTuple):
    """How many thresholds each feature exceeds: as it is, at least and at most."""

    level: Any
    least: Any
    most: Any

    def __getitem__(self, some: Any) -> Rows:  # type: ignore[override]
        return Rows(self.level[some], self.least[some], self.most[some])


class Stairs(NamedTuple):
    """Prototypes of rows on stairs.

    Attributes
    ----------
    thresholds : array (t,)
        Of every feature, between 0 and 1.
    radius : float
        How far every feature may err.
    prototypes : array (K, d, t)
        A number for each step.
    labels : array (K,)
        The class of each prototype.
    """

    thresholds: Floats
    radius: float
    prototypes: Any
    labels: Indices

    def climb(self, X: Floats) -> Rows:
        """Return rows on stairs."""
        ends = np.clip(X - self.radius, 0.0, 1.0), np.clip(X + self.radius, 0.0, 1.0)
        return Rows(*(levels(one, self.thresholds) for one in (X, *ends)))

    def predict(self, X: Floats) -> Indices:
        """Return the class of the nearest prototype."""
        D = distances(levels(X, self.thresholds), self.prototypes)
        return np.asarray(self.labels[D.argmin(axis=1)])

    def leads(self, X: Floats, y: Indices) -> Floats:
        """Return how far, at least, the own class leads while features err; wrong if negative."""
        rows = self.climb(X)
        D, found = distances(rows.level, self.prototypes), np.empty(len(X))
        order = np.where(self.labels == y[:, None], D, np.inf).argsort(axis=1)
        owns = (self.labels == y[:, None]).sum(axis=1).min()
        all_leads(*rows, y, self.labels, self.prototypes, order[:, : min(owns, 8)], found)
        return found


def levels(X: Floats, thresholds: Floats) -> Any:
    """Return how many thresholds are below each number."""
    return np.searchsorted(thresholds, X).astype(np.int16)


def steps(level: Any, t: int) -> Any:
    """Return rows as zeros and ones, an array (n, d t)."""
    return (np.arange(t) < level[:, :, None]).reshape(len(level), -1).astype(np.float32)


def distances(level: Any, W: Any) -> Floats:
    """Return all squared distances on the stairs."""
    flat, X = W.reshape(len(W), -1), steps(level, W.shape[2])
    return np.asarray(X.sum(axis=1)[:, None] - 2.0 * X @ flat.T + np.square(flat).sum(axis=1))


@numba.njit
def least_lead(least, most, own, rival, at):
    """Return how far an own prototype leads at least; write the levels at which it does."""
    total = 0.0
    for f in range(own.shape[0]):
        here, lowest, where = 0.0, np.inf, 0
        for t in range(own.shape[1]):
            total += rival[f, t] * rival[f, t] - own[f, t] * own[f, t]
        for t in range(own.shape[1] + 1):
            if t >= least[f] and here < lowest:
                lowest, where = here, t
            if t == most[f]:
                break
            here += 2.0 * (own[f, t] - rival[f, t])
        total += lowest
        at[f] = where
    return total


@numba.njit
def all_leads(level, least, most, y, labels, W, owns, found):
    """Write the least lead over all rivals, of the best of some own prototypes."""
    at = np.empty(W.shape[1], dtype=np.int16)
    for i in range(len(y)):
        found[i] = np.inf
        for j in range(len(labels)):
            if labels[j] == y[i]:
                continue
            best = -np.inf
            for k in owns[i]:
                best = max(best, least_lead(least[i], most[i], W[k], W[j], at))
                if best >= found[i]:
                    break
            found[i] = min(found[i], best)


@numba.njit
def pull(level, least, most, owns, rivals, W, target, lost, G):
    """Add the gradient of the hinge of the least lead of rows that are not lost; return the cost."""
    d, t = W.shape[1:]
    at, kept, worst = np.empty(d, np.int16), np.empty(d, np.int16), np.empty(d, np.int16)
    cost = 0.0
    for i in range(len(level)):
        least_of_all, own, rival = np.inf, 0, 0
        for j in rivals[i]:
            best, first = -np.inf, 0
            for k in owns[i]:
                lead = least_lead(least[i], most[i], W[k], W[j], at)
                if lead > best:
                    best, first = lead, k
                    kept[:] = at
            if best < least_of_all:
                least_of_all, own, rival = best, first, j
                worst[:] = kept
        cost += min(max(target - least_of_all, 0.0), target - lost)
        if lost < least_of_all < target:
            for f in range(d):
                for s in range(t):
                    step = 1.0 if s < worst[f] else 0.0
                    G[own, f, s] += 2.0 * (W[own, f, s] - step)
                    G[rival, f, s] -= 2.0 * (W[rival, f, s] - step)
    return cost


class Plan(NamedTuple):
    """How stairs are trained."""

    per_class: int
    target: float
    epochs: int
    rate: float
    batch: int
    decay: float = 0.0
    lost: float = -np.inf


def first_prototypes(
    X: Any, y: Indices, per_class: int, rng: np.random.RandomState
) -> tuple[Any, Indices]:
    """Return the mean of each class, or its rows next to random ones, by one step of k-means."""
    W, labels = [], []
    for label in np.unique(y):
        own = X[y == label]
        k = min(per_class, len(own))
        seeds = own[rng.permutation(len(own))[:k]] if k > 1 else own.mean(axis=0)[None]
        D = np.square(seeds).sum(axis=1) - 2.0 * own @ seeds.T
        place = D.argmin(axis=1)
        W += [own[place == c].mean(axis=0) if (place == c).any() else seeds[c] for c in range(k)]
        labels += [label] * k
    return np.array(W), np.array(labels)


def train_stairs(
    X: Floats, y: Indices, thresholds: Floats, radius: float, plan: Plan, seed: int
) -> Stairs:
    """Return prototypes trained by Adam on the hinge of the least lead."""
    rng, t = np.random.RandomState(seed), len(thresholds)
    few = rng.permutation(len(X))[:10_000]
    W, labels = first_prototypes(steps(levels(X[few], thresholds), t), y[few], plan.per_class, rng)
    W = np.ascontiguousarray(W.reshape(len(W), -1, t), dtype=np.float32)
    rows = Stairs(thresholds, radius, W, labels).climb(X)
    mean, square, start = np.zeros_like(W), np.zeros_like(W), W.copy()
    total, done = plan.epochs * -(-len(X) // plan.batch), 0
    for _ in range(plan.epochs):
        order = rng.permutation(len(X))
        for first in range(0, len(X), plan.batch):
            some = order[first : first + plan.batch]
            D, own = distances(rows.level[some], W), labels == y[some][:, None]
            owns = np.where(own, D, np.inf).argsort(axis=1)[:, : min(OWNS, own.sum(axis=1).min())]
            most = min(RIVALS, (~own).sum(axis=1).min())
            rivals = np.where(own, np.inf, D).argsort(axis=1)[:, :most]
            G = plan.decay * len(some) * (W - start)
            lost = plan.lost if done > total // 3 else -np.inf
            pull(*rows[some], owns, rivals, W, plan.target, lost, G)
            G /= len(some)
            done += 1
            mean += 0.1 * (G - mean)
            square += 0.001 * (G * G - square)
            rate = plan.rate * (1.0 - done / total) / (1.0 - 0.9**done)
            W -= rate * mean / (np.sqrt(square / (1.0 - 0.999**done)) + 1e-8)
    return Stairs(thresholds, radius, W, labels)
