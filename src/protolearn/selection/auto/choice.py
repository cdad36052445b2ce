"""In which order candidates are tried, which of them is taken, and what to expect of it.

All candidates have a first look: fits that leave out each fold and the next one. The better ones
have further fits, without the other pairs of folds and without single folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats, Indices
from ..scorers import label_score_of, raise_of_scores
from .ledger import BudgetSpent, Ledger
from .score_calibration import ScoreCalibration, calibrate, fit_sigmoid

Choice = Callable[[Floats, Floats], int]

DIGITS = 12
"""Decimals beyond which mean scores differ by rounding alone."""

FEWEST = 3
"""Candidates that are compared at least, where there are so many."""

KEPT = 8
"""One candidate in so many goes on."""

PREFERRED = 2
"""Kinds of models that are easiest to look at, of which the best goes on in any case."""

ONE_POINT = 0.01
"""Score that is given up at most for a model that is easier to look at."""

FURTHER_SECONDS = 40.0
"""Time that the further fits of the last round are expected to take at most."""

FACTOR, FIRST = 2, 8
"""Candidates of the first round, and how many times as many the next one has."""


def search(ledger: Ledger) -> bool:
    """Try all candidates in rounds, as far as the budget lasts; return whether it did.

    Each round looks at the first candidates, twice as many as the one before. What earlier rounds
    have found out is in the ledger, so that a longer search has made the fits of a shorter one, in
    the same order.
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
        ledger.fill(range(n_candidates), ledger.n_looks)
        ledger.fill(better_ones(ledger, n_candidates), len(ledger.parts))


def rounds(n_candidates: int) -> Iterator[int]:
    """Return how many candidates take part in each round."""
    taking_part = FIRST
    while taking_part < n_candidates:
        yield taking_part
        taking_part *= FACTOR
    yield n_candidates


def better_ones(ledger: Ledger, n_candidates: int) -> list[int]:
    """Return those of the first candidates that go on, the best of them first.

    Those that would go on without one of the folds are among them, so that each choice without a
    fold knows all of its candidates. Those whose fits failed, or had no time, are not.
    """
    seen = np.flatnonzero(ledger.n_fits()[:n_candidates] >= ledger.n_looks)
    scores, n_kept = ledger.first_scores(seen, ledger.n_looks), n_going_on(n_candidates)
    better = first_of(ledger, seen, ranking(scores, ledger.sizes(seen)), n_kept)
    for fold in ledger.replayed:
        better += first_of(ledger, seen, ranking_without(ledger, seen, fold), n_kept)
    going_on = seen[list(dict.fromkeys(better))]
    share = n_candidates / len(ledger.candidates)
    in_time = np.cumsum(ledger.further_seconds[going_on]) <= share * FURTHER_SECONDS
    in_time[:1] = True
    return going_on[in_time].tolist()


def first_of(ledger: Ledger, seen: Indices, order: Indices, n_kept: int) -> list[int]:
    """Return the first places of an order, and the first of each of the two preferred kinds."""
    found, handicaps = order[:n_kept].tolist(), ledger.handicaps[seen[order]]
    kinds = np.unique(ledger.handicaps)
    for kind in kinds[:PREFERRED] if len(kinds) > 1 else ():
        found += order[handicaps == kind][:1].tolist()
    return list(dict.fromkeys(found))


def n_going_on(n_candidates: int) -> int:
    """Return how many of some candidates have further fits."""
    return max(FEWEST, ceil(n_candidates / KEPT))


def ranking(scores: Floats, sizes: Floats) -> Indices:
    """Return the rows from the best mean score to the worst; of equals the smaller model first."""
    return np.lexsort((-sizes, np.round(scores.mean(axis=1), DIGITS)))[::-1]


def ranking_without(ledger: Ledger, seen: Indices, fold: int) -> Indices:
    """Return the same by the first look, as if the rows of a fold had not been there."""
    scores = ledger.without(seen, fold, ledger.n_looks)
    if not scores.shape[1]:  # two folds: the other one
        scores = np.delete(ledger.first_scores(seen, ledger.n_looks), fold, axis=1)
    return ranking(scores, ledger.sizes(seen))


def best(scores: Floats, sizes: Floats) -> int:
    """Return the row with the best mean score; of several the smallest."""
    means = np.round(scores.mean(axis=1), DIGITS)
    return int(np.lexsort((sizes, -means))[0])


def simplest(scores: Floats, sizes: Floats, most: float = np.inf) -> int:
    """Return the smallest within one standard error of the best; of several the better one.

    It is behind the best by ``most`` at most. The error is that of the mean difference to the best
    one, fold by fold: what makes a fold difficult for both does not count.
    """
    behind = scores[best(scores, sizes)] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    near = np.round(behind.mean(axis=1) - np.minimum(error, most), DIGITS) <= 0.0
    near = np.flatnonzero(near)
    return int(near[np.lexsort((behind[near].mean(axis=1), sizes[near]))[0]])


def most_readable(scores: Floats, sizes: Floats) -> int:
    """Return the same, at most one point behind the best."""
    return simplest(scores, sizes, ONE_POINT)


CHOICES: dict[str, Choice] = {"readable": most_readable, "accurate": best, "small": simplest}
"""How a model is chosen, by what is preferred."""


def chosen_of(ledger: Ledger, choose: Choice) -> int:
    """Return the choice among the candidates with all fits, by their scores on single folds.

    If fewer than three have them, those with the fits of the first look take part, and if there is
    none such, those with most fits.
    """
    n_fits = ledger.n_fits()
    if not n_fits.any():
        raise no_fit_error(ledger)
    numbers = np.flatnonzero(ledger.is_complete())
    if len(numbers) >= min(FEWEST, int((n_fits > 0).sum())):
        scores = ledger.on_folds(numbers)
    else:
        common = min(ledger.n_looks, int(n_fits.max()))
        numbers = np.flatnonzero(n_fits >= common)
        scores = ledger.first_scores(numbers, common)
    return int(numbers[choose(scores, ledger.sizes(numbers))])


def chosen_without(ledger: Ledger, fold: int, choose: Choice) -> int:
    """Return the choice as if the rows of a fold had not been there.

    The best of many candidates owes part of its score to luck. A fold that had no part in the
    choice, and in no model that was scored for it, does not know of that luck: who goes on, and
    who of these is chosen, is decided by fits that left out this fold and another one, on which
    they are scored.
    """
    n_fits = ledger.n_fits()
    common = min(ledger.n_looks, int(n_fits.max()))
    numbers = np.flatnonzero(n_fits >= common)
    if common == ledger.n_looks:
        n_kept, order = n_going_on(len(ledger.candidates)), ranking_without(ledger, numbers, fold)
        numbers = numbers[first_of(ledger, numbers, order, n_kept)]
    complete = numbers[ledger.is_complete()[numbers]]
    if len(complete):
        numbers, common = complete, len(ledger.parts)
    scores = ledger.without(numbers, fold, common)
    if not scores.shape[1]:
        here = [fold in part.folds for part in ledger.parts[:common]]
        scores = ledger.first_scores(numbers, common)[:, ~np.array(here)]
    sizes = ledger.sizes(numbers)
    return int(numbers[choose(scores, sizes) if scores.shape[1] else sizes.argmin()])


def expected_score(ledger: Ledger, choose: Choice) -> float:
    """Return the mean score on the folds, each by what is chosen without it."""
    scores = []
    for fold in range(ledger.n_folds):
        number = chosen_without(ledger, fold, choose)
        place = held_out_place(ledger, number, fold)
        if place is not None:
            scores.append(ledger.scores[number, place, ledger.parts[place].folds.index(fold)])
    return float(np.mean(scores))


def held_out_place(ledger: Ledger, number: int, fold: int) -> int | None:
    """Return the part of a fit that shows what a candidate says about a fold; None: there is none.

    The fit without that fold alone, or else the first that left out another one too.
    """
    places = [ledger.single[fold], *range(len(ledger.parts))]
    fitting = (place for place in places if fold in ledger.parts[place].folds)
    return next((p for p in fitting if ledger.decisions(number, p) is not None), None)


class HeldOutAnswers(NamedTuple):
    """What a candidate says about rows of a fold that it was fitted without."""

    rows: Indices
    shares: Floats
    codes: Indices  # of the predicted classes


def held_out_answers(
    ledger: Ledger, number: int, fold: int, scoring: Any = None
) -> HeldOutAnswers | None:
    """Return rows of a fold, and what a candidate says that was fitted without it; None: no fit.

    Its probabilities are calibrated by its fits without the other folds, if there are any, and so
    is the threshold for a score of labels.
    """
    place = held_out_place(ledger, number, fold)
    if place is None:
        return None
    others = [k for k in range(ledger.n_folds) if k != fold]
    calibration = calibration_of(ledger, number, others) or calibration_of(ledger, number, [fold])
    rows, decisions = ledger.answers(number, place, fold)
    raised = raise_of(ledger, number, others, scoring)
    shares = (calibration or ScoreCalibration()).probabilities(decisions, agree=raised is None)
    codes = shares if raised is None else decisions + raised
    return HeldOutAnswers(rows, shares, codes.argmax(axis=1))


def calibration_of(ledger: Ledger, number: int, folds: list[int]) -> ScoreCalibration | None:
    """Return how scores of a candidate become probabilities, by its answers about some folds.

    None: it has none. Scores of models that learned from other rows have about the same size.
    """
    scores, codes = answers_on(ledger, number, folds)
    return calibrate(scores, codes) if scores else None


def raise_of(ledger: Ledger, number: int, folds: list[int], scoring: Any) -> Floats | None:
    """Return what is added to the scores of a candidate, by its answers about some folds.

    None if the most probable class wins.
    """
    classes = np.unique(ledger.task.y)
    if label_score_of(scoring, classes) is None:
        return None
    scores, codes = answers_on(ledger, number, folds)
    return raise_of_scores(scores, codes, classes, scoring, fit_sigmoid) if scores else None


def answers_on(ledger: Ledger, number: int, folds: list[int]) -> tuple[list[Floats], list[Indices]]:
    """Return the scores of a candidate on some folds, and the places of the true classes."""
    scores, codes = [], []
    for fold in folds:
        place = held_out_place(ledger, number, fold)
        if place is not None:
            rows, decisions = ledger.answers(number, place, fold)
            scores.append(decisions)
            codes.append(np.searchsorted(np.unique(ledger.task.y), ledger.task.y[rows]))
    return scores, codes


def no_fit_error(ledger: Ledger) -> ValueError:
    """Return an error that says that no candidate could be fitted, and why the first could not."""
    number, reason = next(iter(ledger.failures().items()))
    return ValueError(
        f"None of the {len(ledger.failures())} candidates that were tried could be fitted and "
        f"scored. {ledger.candidates[number]}: {reason}"
    )
