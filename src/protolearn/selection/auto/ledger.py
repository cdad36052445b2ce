"""What is known of the candidates: the scores of those fits that have been made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from ..._parameters import Floats, Indices
from ..._threads import one_blas_thread
from .budget import Budget
from .candidates import Candidate
from .folds import Pair
from .size import n_numbers, n_prototypes
from .temperature import steepness

AHEAD = 2
"""Fits for each worker that begin together: the clock is read in between."""


class BudgetSpent(Exception):
    """There is no budget left for the fits that were asked for."""


class Task(NamedTuple):
    """What the candidates are to learn, and how their answers are scored."""

    X: Floats
    y: NDArray[Any]
    scorer: Callable[[Any, Any, Any], float]
    seed: int


class Trial(NamedTuple):
    """What came of a fit: NaN, and the reason, if nothing did."""

    scores: tuple[float, ...]
    seconds: float
    n_numbers: float = np.nan
    n_prototypes: float = np.nan
    steepness: float = np.nan
    failure: str = ""


class Ledger:
    """Cross-validation of candidates, fit by fit, as far as it is asked for.

    Parameters
    ----------
    candidates : sequence of Candidate
        What may be tried.
    task : Task
        The rows, their labels and the scorer.
    pairs : sequence of Pair
        The folds that each fit leaves out.
    budget : Budget
        What may be spent.
    n_jobs : int or None
        Fits at a time.
    report : callable
        Is called with the ledger when fits are done.

    Attributes
    ----------
    scores : array of shape (n_candidates, n_pairs, 2)
        On each fold of a pair; NaN where there is no fit yet, or it failed.
    trials : dict of (candidate, pair) to Trial
        All fits that have been made.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        task: Task,
        pairs: Sequence[Pair],
        budget: Budget,
        *,
        n_jobs: int | None,
        report: Callable[[Ledger], None],
    ):
        self.candidates, self.task, self.pairs = candidates, task, pairs
        self.budget, self.report = budget, report
        self.scores = np.full((len(candidates), len(pairs), 2), np.nan)
        self.trials: dict[tuple[int, int], Trial] = {}
        self._workers = Parallel(n_jobs=n_jobs)
        self._chunk = AHEAD * effective_n_jobs(n_jobs) if effective_n_jobs(n_jobs) > 1 else 1

    def fill(self, numbers: Sequence[int], n_fits: int) -> None:
        """Make those of the first fits of some candidates that have not been made.

        A candidate that has failed is not tried again.
        """
        failed = self.failures()
        places = ((number, pair) for number in numbers for pair in range(n_fits))
        missing = [place for place in places if place not in self.trials and place[0] not in failed]
        while missing:
            n_now = self.budget.left(min(self._chunk, len(missing)))
            if not n_now:
                raise BudgetSpent
            self._make(missing[:n_now])
            missing = missing[n_now:]

    def n_fits(self) -> Indices:
        """Give how many of its first fits each candidate has; 0 if it has failed."""
        number = np.isfinite(self.scores).all(axis=2).cumprod(axis=1).sum(axis=1)
        number[list(self.failures())] = 0
        return number

    def by_fold(self, numbers: Any, n_fits: int) -> Floats:
        """Give the mean score of candidates on each fold that their first fits left out."""
        folds = np.array([pair.folds for pair in self.pairs[:n_fits]])
        left_out = np.unique(folds)
        here = folds[..., None] == left_out  # fit, place in the pair, fold
        total = np.einsum("cpk,pkf->cf", self.scores[numbers, :n_fits], here)
        return np.asarray(total / here.sum(axis=(0, 1)))

    def without(self, numbers: Any, fold: int) -> Floats:
        """Give the scores on each other fold of a split by fits that left this one out too."""
        scores = [
            self.scores[numbers, place, 1 - pair.folds.index(fold)]
            for place, pair in enumerate(self.pairs)
            if fold in pair.folds
        ]
        return np.stack(scores, axis=1)

    def failures(self) -> dict[int, str]:
        """Give the reason for each candidate that failed."""
        return {number: t.failure for (number, _), t in self.trials.items() if t.failure}

    def of(self, number: int, what: str) -> Floats:
        """Give something that is known of each fit of a candidate."""
        made = [trial for (other, _), trial in self.trials.items() if other == number]
        return np.array([getattr(trial, what) for trial in made])

    def sizes(self, numbers: Any) -> Floats:
        """Give how many numbers candidates take, mean over their fits."""
        return np.array([self.of(number, "n_numbers").mean() for number in numbers])

    def _make(self, places: Sequence[tuple[int, int]]) -> None:
        """Fit and score, several at a time."""
        done = self._workers(
            delayed(trial)(
                self.candidates[number], self.task, self.pairs[pair].train, *self.pairs[pair].tests
            )
            for number, pair in places
        )
        for place, result in zip(places, done, strict=True):
            self.trials[place], self.scores[place] = result, result.scores
        self.budget.n_fits += len(places)
        self.report(self)


def trial(candidate: Candidate, task: Task, train: Indices, *tests: Indices) -> Trial:
    """Fit a candidate on some rows, and score it on others, part by part."""
    X, y, scorer, seed = task
    start, nothing = perf_counter(), (np.nan,) * len(tests)
    held_out = np.concatenate(tests)
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a candidate; those of the chosen model are shown
        try:
            model = candidate.pipeline(y[train], seed).fit(X[train], y[train])
            scores = tuple(float(scorer(model, X[test], y[test])) for test in tests)
            leads = np.asarray(model.decision_function(X[held_out]))
        except Exception as error:
            failure = f"{type(error).__name__}: {error}{lacking(y, tests)}"
            return Trial(nothing, perf_counter() - start, failure=failure)
    seconds = perf_counter() - start
    if not np.isfinite(scores).all():
        return Trial(nothing, seconds, failure=f"the scores are {scores}{lacking(y, tests)}")
    codes = np.searchsorted(model.classes_, y[held_out])
    size = n_numbers(model[-1]), n_prototypes(model[-1])
    # All fits of a split together doubt one row, which as many of them hold out as any other.
    return Trial(scores, seconds, *size, steepness(leads, codes, len(held_out) / len(y)))


def lacking(y: NDArray[Any], tests: Sequence[Indices]) -> str:
    """Name a class that held-out rows do not have: some scores need all classes."""
    absent = [label for test in tests for label in np.setdiff1d(y, y[test]).tolist()]
    return f" (no row of class {absent[0]!r} was held out here)" if absent else ""
