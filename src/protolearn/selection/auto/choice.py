"""In which order candidates are tried, which of them is taken, and what to expect of it.

The order is that of successive halving: all on one split of the rows, the better half on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, comb

import numpy as np

from ..._arrays import Floats
from .ledger import BudgetSpent, Ledger

Choice = Callable[[Floats, Floats], int]

DIGITS = 12
"""Decimals beyond which mean scores differ by rounding alone."""

FEWEST = 3
"""Candidates that are compared at least, where there are so many."""

FACTOR = 2
"""One candidate in so many goes on."""

FIRST = 8
"""Candidates of the first round."""


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
    """Run more fits of the better half of the first candidates, the best of them first.

    They are compared by the first split; of equals the smaller model is ahead. Those whose fits
    failed, or had no time, do not go on.
    """
    if n_candidates < FACTOR:
        return
    done = np.flatnonzero(ledger.n_fits()[:n_candidates] >= n_first)
    means = np.round(ledger.scores[done, :n_first].mean(axis=(1, 2)), DIGITS)
    better = done[np.lexsort((-ledger.sizes(done), means))][::-1][: ceil(n_candidates / FACTOR)]
    ledger.fill(better.tolist(), len(ledger.pairs))


def best(scores: Floats, sizes: Floats) -> int:
    """Return the row with the best mean score; of several the smallest."""
    means = np.round(scores.mean(axis=1), DIGITS)
    return int(np.lexsort((sizes, -means))[0])


def simplest(scores: Floats, sizes: Floats) -> int:
    """Return the smallest within one standard error of the best; of several the better one.

    The error is that of the mean difference to the best one, fold by fold: what makes a fold
    difficult for both does not count.
    """
    behind = scores[best(scores, sizes)] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    near = np.flatnonzero(np.round(behind.mean(axis=1) - error, DIGITS) <= 0.0)
    return int(near[np.lexsort((behind[near].mean(axis=1), sizes[near]))[0]])


def chosen_of(ledger: Ledger, n_folds: int, choose: Choice) -> int:
    """Choose among the candidates with most fits; if there are few such, by fewer fits.

    But by all of the first split, if any has them: so the choice is one that may be expected.
    """
    n_fits = ledger.n_fits()
    most = int(n_fits.max())
    if not most:
        raise no_fit_error(ledger)
    shared = int(np.sort(n_fits)[::-1][: min(FEWEST, int((n_fits > 0).sum()))][-1])
    common = max(shared, min(comb(n_folds, 2), most))
    numbers = np.flatnonzero(n_fits >= common)
    return int(numbers[choose(ledger.by_fold(numbers, common), ledger.sizes(numbers))])


def chosen_without(ledger: Ledger, fold: int, n_folds: int, choose: Choice) -> int:
    """Choose as if a fold of the first split had never been seen, to learn from or to score by.

    The best of many candidates owes part of its score to luck. A fold that had no part in the
    choice, and in no model that was scored for it, does not know of that luck.
    """
    n_fits = ledger.n_fits()
    numbers = np.flatnonzero(n_fits >= min(comb(n_folds, 2), int(n_fits.max())))
    scores, sizes = ledger.without(numbers, fold), ledger.sizes(numbers)
    made = np.isfinite(scores).all(axis=0)  # not all, if time was over in the first split
    return int(numbers[choose(scores[:, made], sizes) if made.any() else sizes.argmin()])


def expected_score(ledger: Ledger, n_folds: int, choose: Choice) -> float:
    """Return the mean score on the folds of the first split, each by what is chosen without it.

    The scores are those of the search: its fits leave out two folds, one of which is this one.
    """
    scores = []
    for fold in range(n_folds):
        number = chosen_without(ledger, fold, n_folds, choose)
        made = ledger.on(number, fold)
        scores += [made.mean()] if len(made) else []
    return float(np.mean(scores))


def no_fit_error(ledger: Ledger) -> ValueError:
    """Return an error that says that no candidate could be fitted, and why the first could not."""
    number, reason = next(iter(ledger.failures().items()))
    return ValueError(
        f"None of the {len(ledger.failures())} candidates that were tried could be fitted and "
        f"scored. {ledger.candidates[number]}: {reason}"
    )
