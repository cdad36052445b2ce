"""A ledger whose fits look up scores that somebody has given."""

from itertools import combinations

import numpy as np

from protolearn.selection.auto.budget import Budget
from protolearn.selection.auto.folds import Pair
from protolearn.selection.auto.ledger import Ledger, Task


class Stub:
    """A candidate and its model in one; its fits note where they were asked for."""

    classes_ = np.array([0, 1])

    def __init__(self, number, size, order, failing):
        self.number, self.order, self.failing = number, order, failing
        self.prototypes_ = np.zeros((1, size))

    def __str__(self):
        return f"number {self.number}"

    def pipeline(self, y, seed):
        return self

    def __getitem__(self, place):
        return self

    def fit(self, X, y):
        self.order.append((self.number, int(X[0]) // 2))
        if self.failing:
            raise ValueError("no")
        return self

    def decision_function(self, X):
        return np.zeros(len(X))


def pairs_of(n_splits, n_folds):
    """Give pairs of folds; those of a fit are scored on rows with numbers of their own."""
    folds = [
        (n_folds * split + i, n_folds * split + j)
        for split in range(n_splits)
        for i, j in combinations(range(n_folds), 2)
    ]
    return [
        Pair(np.array([2 * place]), (np.array([2 * place]), np.array([2 * place + 1])), two)
        for place, two in enumerate(folds)
    ]


def given_ledger(scores, n_splits, n_folds, max_fits=None, failing=(), sizes=None):
    """Give a ledger, and the list of its fits in their order.

    Scores have the shape (n_candidates, n_pairs, 2).
    """
    scores = np.asarray(scores, dtype=float)
    order = []
    sizes = np.ones(len(scores), int) if sizes is None else sizes
    stubs = [Stub(k, int(sizes[k]), order, k in failing) for k in range(len(scores))]
    rows = np.arange(scores[0].size)
    task = Task(rows, rows % 2, lambda model, X, y: scores[model.number].flat[X[0]], seed=0)
    pairs, budget = pairs_of(n_splits, n_folds), Budget(max_fits, None)
    return Ledger(stubs, task, pairs, budget, n_jobs=1, report=lambda ledger: None), order


def filled(scores, n_splits, n_folds, n_fits, **given):
    """Give a ledger with so many fits of each candidate."""
    ledger, _ = given_ledger(scores, n_splits, n_folds, **given)
    for number, wanted in enumerate(n_fits):
        ledger.fill([number], wanted)
    return ledger
