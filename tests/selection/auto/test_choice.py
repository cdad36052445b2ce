"""Which candidate is chosen, also without one of the folds."""

from itertools import chain

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold

from given_ledger import filled, given_ledger, left_out
from protolearn.selection.auto.choice import (
    best,
    chosen_of,
    chosen_without,
    expected_score,
    held_out_answers,
    held_out_place,
    most_readable,
    search,
    simplest,
)
from protolearn.selection.auto.score_calibration import calibrate
from protolearn.selection.auto.trials import by_class

SIZES = np.array([50.0, 10.0, 5.0])


def test_best_takes_the_smaller_of_equals():
    scores = np.array([[0.9, 0.8], [0.8, 0.9], [0.7, 0.7]])
    assert best(scores, SIZES) == 1
    # The sums differ in their last digit.
    assert best(np.array([[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]), np.array([5.0, 50.0])) == 0


def test_simplest_is_within_one_standard_error_of_the_difference():
    top = np.array([0.90, 0.80, 0.95, 0.85])
    near = top - [0.03, -0.02, 0.03, -0.02]  # behind by 0.005, standard error 0.0144
    far = top - 0.02  # behind by 0.02 in every fold: no doubt
    assert simplest(np.array([top, near, far]), SIZES) == 1
    assert simplest(np.array([top, far, near]), SIZES) == 2
    assert best(np.array([top, near, far]), SIZES) == 0


def test_a_readable_model_is_a_point_behind_at_most():
    top = np.array([0.90, 0.80, 0.95, 0.85])
    near = top - [0.03, -0.02, 0.03, -0.02]  # behind by 0.005, standard error 0.0144
    wide = top - [0.08, -0.06, 0.10, -0.06]  # behind by 0.015, standard error 0.0435
    assert simplest(np.array([top, near, wide]), SIZES) == 2
    assert most_readable(np.array([top, near, wide]), SIZES) == 1


def test_the_best_of_the_kinds_that_can_be_looked_at_goes_on():
    means = np.linspace(0.9, 0.1, 40)
    scores = np.broadcast_to(means[:, None, None], (40, 6, 2))
    ledger, _ = given_ledger(scores, 3)
    ledger.handicaps[:] = 2.0
    ledger.handicaps[[30, 31]], ledger.handicaps[[20, 21]] = 0.0, 1.0
    assert search(ledger)
    complete = set(np.flatnonzero(ledger.is_complete()))
    assert {0, 1, 2, 3, 4, 20, 30} <= complete
    assert not {21, 31} & complete
    for fold in range(3):
        assert chosen_without(ledger, fold, lambda scores, sizes: int(np.argmin(sizes))) == 30


def test_one_fold_of_difference_is_one_standard_error():
    # As a share of test rows: mean 1/15 and standard error 1/15, whatever rounding says.
    scores = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.8]])
    assert simplest(scores, np.array([2.0, 1.0])) == 1


def test_one_fold_alone_has_no_error():
    assert simplest(np.array([[0.9], [0.8]]), np.array([2.0, 1.0])) == 0


def plain_without(scores, fold, n_folds, n_fits=None):
    """Give the scores of a candidate on other folds by fits that left out two, by plain loops."""
    every = [*chain(*left_out(n_folds))][:n_fits]
    pairs = [(k, out) for k, out in enumerate(every) if len(out) == 2 and fold in out]
    return [scores[k, 1 - out.index(fold)] for k, out in pairs]


def test_scores_on_folds_and_without_one():
    scores = np.random.RandomState(0).uniform(size=(2, 10, 2))
    ledger = filled(scores, 4, [10, 10])
    looks = ledger.first_scores([0, 1], 4)
    for number, own in enumerate(scores):
        assert ledger.on_folds([number])[0] == pytest.approx(own[6:, 0])
        assert looks[number] == pytest.approx(own[:4].mean(axis=1))
        for fold in range(4):
            assert ledger.without([number], fold)[0].tolist() == plain_without(own, fold, 4)
            assert len(plain_without(own, fold, 4)) == 3
            first = ledger.without([number], fold, 4)[0].tolist()
            assert first == plain_without(own, fold, 4, 4)
            assert len(first) == 2


def test_those_with_all_fits_are_compared_if_there_are_three():
    means = np.array([0.9, 0.6, 0.7, 0.8, 0.5])
    scores = np.broadcast_to(means[:, None, None], (5, 6, 2))
    assert chosen_of(filled(scores, 3, [3, 6, 6, 6, 3]), best) == 3  # not the first
    assert chosen_of(filled(scores, 3, [3, 6, 6, 5, 3]), best) == 0  # two are too few
    assert chosen_of(filled(scores, 3, [2, 2, 2, 3, 3]), best) == 3  # those with a first look


def test_one_fit_is_enough_for_a_choice():
    ledger = filled(np.full((3, 6, 2), 0.5), 3, [1, 0, 0])
    assert chosen_of(ledger, simplest) == 0
    assert chosen_without(ledger, 2, simplest) == 0
    assert expected_score(ledger, simplest) == 0.5


@pytest.mark.parametrize("choose", [best, simplest])
@pytest.mark.parametrize("n_fits", [(1, 1), (2, 1), (2, 2), (4, 4), (4, 3), (6, 4)])
def test_folds_that_nobody_has_finished(choose, n_fits):
    """Fits that left out the fold and another one decide; those without it, if there is none."""
    scores = np.random.RandomState(1).uniform(size=(2, 10, 2))
    ledger = filled(scores, 4, n_fits, sizes=[2, 1])
    n_scored = min(4, max(n_fits))
    taking_part = np.array([number for number in range(2) if n_fits[number] >= n_scored])
    told = []
    for fold in range(4):
        known = np.array([plain_without(scores[n], fold, 4, n_scored) for n in taking_part])
        if not known.size:
            known = scores[taking_part][:, :n_scored].mean(axis=2)
        number = taking_part[choose(known, np.array([2.0, 1.0])[taking_part])]
        assert chosen_without(ledger, fold, choose) == number
        held = [k for k, out in enumerate(left_out(4)[0][:n_scored]) if fold in out]
        if held:
            told.append(scores[number, held[0], left_out(4)[0][held[0]].index(fold)])
    assert expected_score(ledger, choose) == pytest.approx(np.mean(told))


@pytest.mark.parametrize("choose", [best, simplest])
def test_what_is_chosen_without_a_fold(choose):
    """The three best by the first look without it, then by all pairs with it; plain loops."""
    rng = np.random.RandomState(0)
    scores, sizes = rng.uniform(size=(8, 10, 2)), np.arange(8, 0, -1)
    ledger, told = filled(scores, 4, [10] * 8, sizes=sizes), []
    for fold in range(4):
        first = [np.mean(plain_without(own, fold, 4, 4)) for own in scores]
        better = np.argsort(first)[::-1][:3]
        rest = np.array([plain_without(scores[n], fold, 4) for n in better])
        number = better[choose(rest, sizes[better].astype(float))]
        assert chosen_without(ledger, fold, choose) == number
        told.append(scores[number, 6 + fold, 0])
    assert expected_score(ledger, choose) == pytest.approx(np.mean(told))


def test_no_score_at_all_names_the_reason():
    ledger = filled(np.zeros((2, 6, 2)), 3, [1, 1], failing={0, 1})
    with pytest.raises(ValueError, match=r"None of the 2 .*number 0: ValueError: no"):
        chosen_of(ledger, best)


def test_scores_on_a_fold_have_no_part_in_the_choice_without_it():
    rng = np.random.RandomState(0)
    scores = rng.uniform(size=(6, 10, 2))
    chosen = chosen_without(filled(scores, 4, [10] * 6), 2, best)
    for place, out in enumerate(chain(*left_out(4))):
        if 2 in out:
            scores[:, place, out.index(2)] = rng.uniform(size=6)
        else:  # by a model that has learned from the fold
            scores[:, place] = rng.uniform(size=(6, 2))
    assert chosen_without(filled(scores, 4, [10] * 6), 2, best) == chosen


def test_probabilities_of_a_fold_are_calibrated_by_the_others():
    ledger = filled(np.full((1, 6, 2), 0.5), 3, [6])
    rng = np.random.RandomState(0)
    rows, codes = rng.permutation(150).reshape(3, 50), rng.randint(2, size=150)
    ledger.task.y, answers = codes, []
    for fold, test in enumerate(rows):
        place = ledger.single[fold]
        answers.append(by_class((2.0 * codes[test] - 1.0 + rng.normal(size=50)) * 1.2**fold))
        ledger.parts[place] = ledger.parts[place]._replace(tests=(test,))
        ledger.trials[0, place] = ledger.trials[0, place]._replace(decisions=answers[-1])
    for fold, test in enumerate(rows):
        others = [k for k in range(3) if k != fold]
        known = calibrate([answers[k] for k in others], [codes[rows[k]] for k in others])
        found, shares, _ = held_out_answers(ledger, 0, fold)
        assert found.tolist() == test.tolist()
        assert shares == pytest.approx(known.probabilities(answers[fold]))


def test_a_fit_without_two_folds_tells_about_each_until_there_is_a_better_one():
    ledger = filled(np.full((1, 6, 2), 0.5), 3, [2])  # without 0 and 1, without 1 and 2
    assert [held_out_place(ledger, 0, fold) for fold in range(3)] == [0, 0, 1]
    ledger.fill([0], 6)
    assert [held_out_place(ledger, 0, fold) for fold in range(3)] == ledger.single
    assert held_out_answers(filled(np.ones((2, 6, 2)), 3, [1, 0]), 1, 2) is None


@pytest.fixture(scope="module")
def lucky():
    """Give ledgers of nearest means of some features, that learned from a coin."""
    rng, ledgers = np.random.RandomState(0), []
    for _ in range(60):
        X, y = rng.normal(size=(60, 8)), rng.permutation(np.repeat([0, 1], 30))
        models = [rng.permutation(8)[:3] for _ in range(12)]
        folds = [test for _, test in StratifiedKFold(4, shuffle=True, random_state=rng).split(X, y)]

        def score(features, out, test, X=X, y=y):
            kept = np.setdiff1d(np.arange(60), np.concatenate(out))
            means = [X[kept][y[kept] == label][:, features].mean(axis=0) for label in (0, 1)]
            return np.mean(cdist(X[test][:, features], means).argmin(axis=1) == y[test])

        every = [tuple(folds[k] for k in out) for out in chain(*left_out(4))]
        scores = [[[score(m, out, t) for t in (out * 2)[:2]] for out in every] for m in models]
        ledgers.append(filled(scores, 4, [10] * 12, sizes=np.full(12, 3)))
    return ledgers


@pytest.mark.parametrize("choose", [best, simplest])
def test_luck_is_not_expected_to_last(lucky, choose):
    """The best is above chance, what is expected of the choice is not."""
    told = [expected_score(ledger, choose) for ledger in lucky]
    top = [ledger.on_folds(range(12)).mean(axis=1).max() for ledger in lucky]
    assert np.mean(top) > 0.56
    assert abs(np.mean(told) - 0.5) < 3 * 0.5 / np.sqrt(60 * 60)
