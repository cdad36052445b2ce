"""Which candidate is chosen, also without one of the folds."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold

from given_ledger import filled
from protolearn.selection.auto.choice import (
    best,
    chosen_of,
    chosen_without,
    expected_score,
    simplest,
)

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


def test_one_fold_of_difference_is_one_standard_error():
    # As a share of test rows: mean 1/15 and standard error 1/15, whatever rounding says.
    scores = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.8]])
    assert simplest(scores, np.array([2.0, 1.0])) == 1


def test_one_fold_alone_has_no_error():
    assert simplest(np.array([[0.9], [0.8]]), np.array([2.0, 1.0])) == 0


def test_scores_by_fold_and_without_one():
    """By plain loops over the pairs (0, 1), (0, 2), (1, 2) of two splits."""
    scores = np.random.RandomState(0).uniform(size=(2, 6, 2))
    ledger = filled(scores, 2, 3, [6, 6])
    for number in range(2):
        s = scores[number]
        first = [s[0, 0] + s[1, 0], s[0, 1] + s[2, 0], s[1, 1] + s[2, 1]]
        second = [s[3, 0] + s[4, 0], s[3, 1] + s[5, 0], s[4, 1] + s[5, 1]]
        assert ledger.by_fold([number], 6)[0] == pytest.approx(np.array(first + second) / 2)
        assert ledger.by_fold([number], 3)[0] == pytest.approx(np.array(first) / 2)
        assert ledger.without([number], 1)[0] == pytest.approx([s[0, 0], s[2, 1]])
        assert ledger.without([number], 0)[0] == pytest.approx([s[0, 1], s[1, 1]])


def test_those_with_most_fits_are_compared_if_there_are_three():
    means = np.array([0.9, 0.6, 0.7, 0.8, 0.5])
    scores = np.broadcast_to(means[:, None, None], (5, 6, 2)).copy()
    scores[1:4, 3:] = 0.7
    assert chosen_of(filled(scores, 2, 3, [3, 6, 6, 6, 3]), 3, best) == 3  # not the first
    assert chosen_of(filled(scores, 2, 3, [3, 6, 6, 5, 3]), 3, best) == 3  # three have five fits
    assert chosen_of(filled(scores, 2, 3, [3, 6, 6, 3, 3]), 3, best) == 0  # two are too few


def test_one_fit_is_enough_for_a_choice():
    ledger = filled(np.full((3, 6, 2), 0.5), 2, 3, [1, 0, 0])
    assert chosen_of(ledger, 3, simplest) == 0
    assert chosen_without(ledger, 2, 3, simplest) == 0
    assert expected_score(ledger, 3, simplest) == 0.5


@pytest.mark.parametrize("choose", [best, simplest])
@pytest.mark.parametrize("n_fits", [(1, 1, 1), (2, 2, 1), (2, 2, 2), (4, 4, 4), (5, 5, 3)])
def test_a_split_that_nobody_has_finished(choose, n_fits):
    """By plain loops: pairs of four folds, of which some are missing."""
    scores = np.random.RandomState(1).uniform(size=(3, 6, 2))
    ledger = filled(scores, 1, 4, n_fits, sizes=[3, 2, 1])
    taking_part = [number for number in range(3) if n_fits[number] == max(n_fits)]
    pairs = list(combinations(range(4), 2))[: max(n_fits)]
    told = []
    for fold in range(4):
        here = [(place, pair.index(fold)) for place, pair in enumerate(pairs) if fold in pair]
        number = taking_part[-1]  # the smallest, if nothing is known
        if here:
            other = np.array([[scores[n, p, 1 - k] for p, k in here] for n in taking_part])
            number = taking_part[choose(other, np.array([3.0, 2.0, 1.0])[taking_part])]
            told.append(np.mean([scores[number, p, k] for p, k in here]))
        assert chosen_without(ledger, fold, 4, choose) == number
    assert expected_score(ledger, 4, choose) == pytest.approx(np.mean(told))


def test_what_is_expected_by_hand():
    """Pairs (0, 1), (0, 2), (1, 2): a fold is judged by what the others have chosen."""
    scores = np.array([[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.6, 0.4], [0.5, 0.5], [0.9, 0.1]]])
    ledger = filled(scores, 1, 3, [3, 3])
    # Without 0: on 1 and 2 by (0, 1), (0, 2): 0.9, 0.8 against 0.4, 0.5.
    # Without 1: on 0 and 2 by (0, 1), (1, 2): 0.1, 0.7 against 0.6, 0.1.
    # Without 2: on 0 and 1 by (0, 2), (1, 2): 0.2, 0.3 against 0.5, 0.9.
    assert [chosen_without(ledger, fold, 3, best) for fold in range(3)] == [0, 0, 1]
    judged = np.mean([0.1, 0.2]), np.mean([0.9, 0.3]), np.mean([0.5, 0.1])
    assert expected_score(ledger, 3, best) == pytest.approx(np.mean(judged))


def test_the_second_split_is_not_expected():
    scores = np.random.RandomState(0).uniform(size=(3, 12, 2))
    first = filled(scores[:, :6], 1, 4, [6, 6, 6])
    both = filled(scores, 2, 4, [12, 6, 12])
    assert expected_score(both, 4, best) == expected_score(first, 4, best)


def test_candidates_that_are_too_slow_have_no_part():
    scores = np.random.RandomState(0).uniform(size=(3, 6, 2))
    scores[1] += 1.0
    ledger = filled(scores, 1, 4, [6, 6, 6])
    ledger.too_slow = {1}
    others = filled(scores[[0, 2]], 1, 4, [6, 6])
    assert chosen_of(ledger, 4, best) == [0, 2][chosen_of(others, 4, best)]
    assert expected_score(ledger, 4, best) == expected_score(others, 4, best)


def test_no_score_at_all_names_the_reason():
    ledger = filled(np.zeros((2, 3, 2)), 1, 3, [1, 1], failing={0, 1})
    with pytest.raises(ValueError, match=r"None of the 2 .*number 0: ValueError: no"):
        chosen_of(ledger, 3, best)


def test_without_a_fold_neither_its_scores_nor_its_fits_decide():
    """The choice without a fold is the same whatever becomes of all else."""
    rng = np.random.RandomState(0)
    scores = rng.uniform(size=(6, 6, 2))
    ledger = filled(scores, 1, 4, [6] * 6)
    chosen = chosen_without(ledger, 2, 4, best)
    places = [place for place, pair in enumerate(ledger.pairs) if 2 in pair.folds]
    own = [ledger.pairs[place].folds.index(2) for place in places]
    changed = rng.uniform(size=scores.shape)
    changed[:, places] = scores[:, places]
    changed[:, places, own] = rng.uniform(size=(6, 3))
    assert chosen_without(filled(changed, 1, 4, [6] * 6), 2, 4, best) == chosen


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

        two = list(combinations(folds, 2))
        scores = [[[score(m, pair, test) for test in pair] for pair in two] for m in models]
        ledgers.append(filled(scores, 1, 4, [6] * 12, sizes=np.full(12, 3)))
    return ledgers


@pytest.mark.parametrize("choose", [best, simplest])
def test_luck_is_not_expected_to_last(lucky, choose):
    """The best is above chance, what is expected of the choice is not."""
    told = [expected_score(ledger, 4, choose) for ledger in lucky]
    top = [ledger.scores.mean(axis=(1, 2)).max() for ledger in lucky]
    assert np.mean(top) > 0.56
    assert abs(np.mean(told) - 0.5) < 3 * 0.5 / np.sqrt(60 * 60)
