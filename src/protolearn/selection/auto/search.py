"""Successive halving: all candidates on one split of the rows, the better half on another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV

from ..._arrays import Floats
from .choice import DIGITS
from .ledger import BudgetSpent, Ledger

FACTOR = 2
"""One candidate in so many goes on."""

FIRST = 8
"""Candidates of the first round."""


class Entry(BaseEstimator):
    """A candidate as scikit-learn's halving search sees it: two numbers.

    Parameters
    ----------
    number : int
        Its place in the ledger.
    n_fits : int
        The resource: how many fits it is given.
    """

    def __init__(self, number: int = 0, n_fits: int = 1):
        self.number = number
        self.n_fits = n_fits

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: the ledger has the fits."""
        return self


def search(ledger: Ledger, n_first: int) -> bool:
    """Go through all candidates in rounds, as far as the budget lasts; tell whether it did.

    Each round halves the first candidates, twice as many as the one before. What earlier rounds
    have found out is in the ledger, so that a longer search has made the fits of a shorter one, in
    the same order. ``n_first`` fits are those of the first split: so many has a candidate at least.
    """
    try:
        go_round(ledger, n_first)
        if ledger.passed_over:  # for what was too slow to come first there may be time now
            ledger.be_patient()
            go_round(ledger, n_first)
    except BudgetSpent:
        return False
    return not ledger.passed_over


def go_round(ledger: Ledger, n_first: int) -> None:
    """Make the fits of all rounds that have not been made."""
    for n_candidates in rounds(len(ledger.candidates)):
        ledger.fill(range(n_candidates), n_first)
        halve(ledger, n_candidates, n_first)


def rounds(n_candidates: int) -> Iterator[int]:
    """Return how many candidates take part in each round."""
    taking_part = FIRST
    while taking_part < n_candidates:
        yield taking_part
        taking_part *= FACTOR
    yield n_candidates


def halve(ledger: Ledger, n_candidates: int, n_first: int) -> None:
    """Run more fits of the better half of the first candidates, the best of them first."""
    place = places(ledger, n_candidates, n_first)
    halving = HalvingGridSearchCV(
        Entry(),
        {"number": list(range(n_candidates))},
        resource="n_fits",
        min_resources=n_first,
        max_resources=len(ledger.pairs),
        factor=FACTOR,
        scoring=lambda entry, X, y: place[entry.number],
        cv=[([0], [0])],
        refit=False,
        return_train_score=False,
        error_score="raise",
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        found = halving.fit(np.zeros((1, 1)), np.zeros(1)).cv_results_
    better = found["param_number"][found["n_resources"] == len(ledger.pairs)]
    go_on = [int(number) for number in better if np.isfinite(place[number])]
    ledger.fill(sorted(go_on, key=lambda number: -place[number]), len(ledger.pairs))


def places(ledger: Ledger, n_candidates: int, n_first: int) -> Floats:
    """Return each of the first candidates its place by the first split, the best the largest.

    Of equals the smaller model is ahead. NaN where a fit failed, or there was no time for it.
    """
    numbers = np.arange(n_candidates)
    done = numbers[ledger.n_fits()[numbers] >= n_first]
    means = np.round(ledger.scores[done, :n_first].mean(axis=(1, 2)), DIGITS)
    place = np.full(n_candidates, np.nan)
    place[done[np.lexsort((-ledger.sizes(done), means))]] = np.arange(len(done))
    return place
