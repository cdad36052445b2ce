"""The algorithm with scikit-learn's machines, fitted in a Python loop.

Negatives, sets, distances and votes are computed for all models at once, as in protolearn; only
the machines are fitted and give their decision values one by one, and so are the sigmoids if there
are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from protolearn.ensemble.linear_machines import Machines, shift
from protolearn.ensemble.members import Members, choose_negatives

Floats = NDArray[np.float64]

NEGATIVES, PROBABILITY = 7, 0.005
"""Those of the paper."""


@dataclass(frozen=True)
class Trial:
    """What an ensemble took, the sigmoids apart, and its accuracy on the held-out rows.

    ``plain`` is the accuracy if each model that fires has one vote.
    """

    seconds: float
    sigmoid_seconds: float
    accuracy: float
    plain: float


def exemplar_models(X: Floats, codes: Any) -> Machines:
    """Give the sets of all models before the first shift."""
    exemplar, negative = choose_negatives(X, codes, NEGATIVES)
    own = np.arange(len(X))
    members = Members.empty().with_rows(own, own, 1.0).with_rows(exemplar, negative, -1.0)
    return Machines.one_a_row(X, codes, members)


def trained(
    machines: Machines, X: Floats, svm: Any, *others: Floats
) -> tuple[Machines, list[Floats]]:
    """Fit one model after the other; give also its decision values for other rows."""
    start, rows, signs, _ = machines.members.problems(machines.exemplar)
    weights, intercepts = np.empty_like(machines.weights), np.empty_like(machines.intercepts)
    scores = [np.empty((len(machines), len(each))) for each in others]
    for i in range(len(machines)):
        mine = slice(start[i], start[i + 1])
        svm.fit(X[rows[mine]], signs[mine])
        weights[i], intercepts[i] = svm.coef_[0], svm.intercept_[0]
        for values, each in zip(scores, others, strict=True):
            values[i] = svm.decision_function(each)
    return replace(machines, weights=weights, intercepts=intercepts), scores


def sigmoid(scores: Floats, own: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit Platt's slope and offset by SciPy."""
    positives, unit = own.sum(), np.abs(scores).max()
    high, low = (positives + 1.0) / (positives + 2.0), 1.0 / (len(own) - positives + 2.0)
    targets, scaled = np.where(own, high, low), scores / unit

    def loss(curve: Floats) -> tuple[float, Floats]:
        z = curve[0] * scaled + curve[1]
        rest = expit(z) - targets
        cost = np.logaddexp(0.0, z) - targets * z
        return float(cost.sum()), np.array([rest @ scaled, rest.sum()])

    begin = np.array([0.0, np.log((positives + 1.0) / (len(own) - positives + 1.0))])
    slope, offset = minimize(loss, begin, jac=True, method="L-BFGS-B").x
    return slope / unit, offset


def ensembles(
    X: Floats, codes: Any, held: Floats, held_codes: Any, svm: Any, n_shifts: int
) -> Iterator[Trial]:
    """Train the exemplar SVMs, then shift; X is the training part, ``held`` the held-out one."""
    rng = np.random.RandomState(0)
    start, machines = perf_counter(), exemplar_models(X, codes)
    for number in range(n_shifts + 1):
        if number:
            start = perf_counter()
            machines = shift(machines, X, codes, PROBABILITY, rng)
        machines, (scores, found) = trained(machines, X, svm, X, held)
        fire = np.flatnonzero((scores > 0.0).any(axis=1))
        machines, scores, found = machines.some(fire), scores[fire], found[fire]
        middle = perf_counter()
        own = machines.label[:, None] == codes
        curves = np.array([sigmoid(*pair) for pair in zip(scores, own, strict=True)])
        end = perf_counter()
        votes = expit(curves[:, :1] * found + curves[:, 1:])
        right = accuracy(found, votes, machines.label, held_codes)
        seconds = middle - start + perf_counter() - end
        plain = accuracy(found, np.ones_like(votes), machines.label, held_codes)
        yield Trial(seconds, end - middle, right, plain)


def accuracy(scores: Floats, votes: Floats, label: Any, codes: Any) -> float:
    """Let the models that fire vote; where none does, the one with the largest decision value."""
    silent = np.flatnonzero(~(scores > 0.0).any(axis=0))
    fires = scores > 0.0
    fires[scores[:, silent].argmax(axis=0), silent] = True
    members = (label == np.arange(codes.max() + 1)[:, None]).astype(np.float64)
    return float(((members @ (votes * fires)).argmax(axis=0) == codes).mean())
