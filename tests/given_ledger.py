"""A ledger whose fits look up scores that somebody has given, and a clock that they move."""

from itertools import combinations

import numpy as np

from protolearn.selection.auto.ledger import Ledger, SearchedData
from protolearn.selection.auto.pace import Budget
from protolearn.selection.auto.search_data import LeftOut, SearchPlan


class Clock:
    """Tells the time that somebody has set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def rules(self, monkeypatch):
        """Let budgets and fits take their time from here."""
        monkeypatch.setattr("protolearn.selection.auto.pace.monotonic", self)
        monkeypatch.setattr("protolearn.selection.auto.trials.perf_counter", self)
        return self


class Stub:
    """A candidate and its model in one; its fits note where they were asked for."""

    classes_ = np.array([0, 1])
    all_pairs = scaled = False
    n_features = None

    def __init__(self, number, size, order, failing, clock=None, cost=0.0):
        self.number, self.order, self.failing = number, order, failing
        self.clock, self.cost = clock, cost
        self.prototypes_ = np.zeros((1, size))

    @property
    def model(self):
        return self.number  # no two are of one kind

    def __str__(self):
        return f"number {self.number}"

    def model_for(self, y, seed):
        return self

    def steps(self):
        return []

    def expected_seconds(self, n_rows, n_features, n_classes):
        return 0.0

    def fit(self, X, y):
        self.order.append((self.number, int(X[0, 0]) // 2))
        if self.clock is not None:
            self.clock.now += self.cost
        if self.failing:
            raise ValueError("no")
        return self

    def decision_function(self, X):
        return np.zeros(len(X))


def left_out(n_folds):
    """Give the folds that fits leave out: those of the first look, and of the others."""
    looks = [tuple(sorted((k, (k + 1) % n_folds))) for k in range(n_folds)]
    pairs = [out for out in combinations(range(n_folds), 2) if out not in looks]
    return looks, [*pairs, *combinations(range(n_folds), 1)]


def parts_of(n_folds):
    """Give what fits leave out; a fit is scored on rows with numbers of their own."""
    looks, others = left_out(n_folds)
    rows = np.arange(2 * len(looks + others)).reshape(-1, 2, 1)
    parts = [
        LeftOut(own[0], tuple(own[: len(out)]), out)
        for own, out in zip(rows, looks + others, strict=True)
    ]
    return parts[: len(looks)], parts[len(looks) :]


def given_ledger(scores, n_folds, max_fits=None, failing=(), sizes=None, clock=None, costs=None):
    """Give a ledger, and the list of its fits in their order.

    Scores have the shape (n_candidates, n_parts, 2); costs are what a fit of each takes.
    """
    scores = np.asarray(scores, dtype=float)
    order = []
    sizes = np.ones(len(scores), int) if sizes is None else sizes
    costs = np.zeros(len(scores)) if costs is None else costs
    stubs = [
        Stub(k, int(sizes[k]), order, k in failing, clock, costs[k]) for k in range(len(scores))
    ]
    rows = np.arange(scores[0].size)[:, None]

    def look_up(model, X, y):
        return scores[model[-1].number].flat[X[0, 0]]

    task, budget = SearchedData(rows, rows[:, 0] % 2, look_up, seed=0), Budget(max_fits, None)
    plan = SearchPlan(*parts_of(n_folds), rows=rows[:, 0], test=None)
    return Ledger(stubs, task, plan, budget, n_jobs=1), order


def filled(scores, n_folds, n_fits, **given):
    """Give a ledger with so many fits of each candidate."""
    ledger, _ = given_ledger(scores, n_folds, **given)
    for number, wanted in enumerate(n_fits):
        ledger.fill([number], wanted)
    return ledger
