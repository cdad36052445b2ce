"""In which order candidates are tried, which of them is taken, and what to expect of it.

The order is that of successive halving: all are fitted without each fold, the better half also
without each pair of folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

import numpy as np

from ..._arrays import Floats, Indices
from .ledger import BudgetSpent, Ledger
from .trials import probabilities

Choice = Callable[[Floats, Floats], int]

DIGITS = 12
"""Decimals beyond which mean scores differ by rounding alone."""

FEWEST = 3
"""Candidates that are compared at least, where there are so many."""

FACTOR = 2
"""One candidate in so many goes on."""

FIRST = 8
"""Candidates of the first round."""


def search(ledger: Ledger) -> bool:
    """Try all candidates in rounds, as far as the budget lasts; return whether it did.

    Each round halves the first candidates, twice as many as the one before. What earlier rounds
    have found out is in the ledger, so that a longer search has made the fits of a shorter one, in
    the same order. Each candidate is scored on all folds at least.
    """
    try:
        go_round(ledger)
        if ledger.passed_over:  # for what was too slow to come first there may be time now
            ledger.be_patient()
            go_round(ledger)
    except BudgetSpent:
        return False
    return not ledger.passed_over


def go_round(ledger: Ledger) -> None:
    """Make the fits of all rounds that have not been made."""
    for n_candidates in rounds(len(ledger.candidates)):
        ledger.fill(range(n_candidates), ledger.n_folds)
        halve(ledger, n_candidates)


def rounds(n_candidates: int) -> Iterator[int]:
    """Return how many candidates take part in each round."""
    taking_part = FIRST
    while taking_part < n_candidates:
        yield taking_part
        taking_part *= FACTOR
    yield n_candidates


def halve(ledger: Ledger, n_candidates: int) -> None:
    """Fit the better half of the first candidates without pairs of folds, the best of them first.

    Those that would be in the better half without one of the folds are fitted too, so that each
    choice without a fold knows all of its candidates. Those whose fits failed, or had no time, are
    not.
    """
    if n_candidates < FACTOR:
        return
    done = np.flatnonzero(ledger.n_fits()[:n_candidates] >= ledger.n_folds)
    sizes, scores, n_kept = ledger.sizes(done), ledger.on_folds(done), ceil(n_candidates / FACTOR)
    better = ranking(scores, sizes)[:n_kept].tolist()
    for fold in range(ledger.n_folds):
        better += ranking(np.delete(scores, fold, axis=1), sizes)[:n_kept].tolist()
    ledger.fill(done[list(dict.fromkeys(better))].tolist(), len(ledger.parts))


def ranking(scores: Floats, sizes: Floats) -> Indices:
    """Return the rows from the best mean score to the worst; of equals the smaller model first."""
    return np.lexsort((-sizes, np.round(scores.mean(axis=1), DIGITS)))[::-1]


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


def chosen_of(ledger: Ledger, choose: Choice) -> int:
    """Return the choice among the candidates with most fits, by their scores on the folds.

    If there are few such, those with fewer fits take part, but all of them have been scored on all
    folds, if any has been: so the choice is one that may be expected.
    """
    n_fits = ledger.n_fits()
    most = int(n_fits.max())
    if not most:
        raise no_fit_error(ledger)
    shared = int(np.sort(n_fits)[::-1][: min(FEWEST, int((n_fits > 0).sum()))][-1])
    common = max(shared, min(ledger.n_folds, most))
    numbers = np.flatnonzero(n_fits >= common)
    return int(numbers[choose(ledger.on_folds(numbers)[:, :common], ledger.sizes(numbers))])


def chosen_without(ledger: Ledger, fold: int, choose: Choice) -> int:
    """Return the choice as if the rows of a fold had not been there.

    The best of many candidates owes part of its score to luck. A fold that had no part in the
    choice, and in no model that was scored for it, does not know of that luck: the better half is
    found by the scores on the other folds, and the choice among it is made by fits that left out
    this fold too. Where there was no time for these, the scores on the other folds decide alone.
    """
    n_fits = ledger.n_fits()
    n_shared = min(ledger.n_folds, int(n_fits.max()))
    numbers = np.flatnonzero(n_fits >= n_shared)
    sizes = ledger.sizes(numbers)
    others = np.delete(np.arange(n_shared), [fold] if fold < n_shared else [])
    if not len(others):
        return int(numbers[sizes.argmin()])
    scores = ledger.on_folds(numbers)[:, others]
    better = ranking(scores, sizes)[: max(1, ceil(len(numbers) / FACTOR))]
    scores, complete = scores[better], n_fits[numbers[better]] == len(ledger.parts)
    if complete.any() and len(ledger.parts) > ledger.n_folds:
        better = better[complete]
        scores = ledger.without(numbers[better], fold)
    return int(numbers[better[choose(scores, sizes[better])]])


def expected_score(ledger: Ledger, choose: Choice) -> float:
    """Return the mean score on the folds, each by what is chosen without it."""
    numbers = [chosen_without(ledger, fold, choose) for fold in range(ledger.n_folds)]
    scores = ledger.on_folds(numbers).diagonal()
    return float(scores[np.isfinite(scores)].mean())


def held_out_probabilities(ledger: Ledger, number: int, fold: int) -> Floats | None:
    """Return what a candidate says about a fold that it was fitted without; None: there is no fit.

    What its scores are worth is told by its fits to the other folds, if there are any.
    """
    trial = ledger.trials.get((number, fold))
    if trial is None or trial.decisions is None:
        return None
    others = [ledger.trials.get((number, k)) for k in range(ledger.n_folds) if k != fold]
    factors = [other.steepness for other in others if other is not None]
    return probabilities(trial.decisions, float(np.median(factors or [trial.steepness])))


def no_fit_error(ledger: Ledger) -> ValueError:
    """Return an error that says that no candidate could be fitted, and why the first could not."""
    number, reason = next(iter(ledger.failures().items()))
    return ValueError(
        f"None of the {len(ledger.failures())} candidates that were tried could be fitted and "
        f"scored. {ledger.candidates[number]}: {reason}"
    )
