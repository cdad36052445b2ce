"""Which candidate is chosen, also without one of the folds."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold

from given_ledger import filled
from protolearn.selection.auto.choice import best, chosen_of, chosen_without, simplest

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


@pytest.mark.parametrize("choose", [best, simplest])
def test_luck_is_not_expected_to_last(choose):
    """Coin labels, nearest means of some features: the best is above chance, the choice is not."""
    rng, told, top = np.random.RandomState(0), [], []
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
        ledger = filled(scores, 1, 4, [6] * 12, sizes=np.full(12, 3))
        chosen = [chosen_without(ledger, fold, 4, choose) for fold in range(4)]
        told += [score(models[c], (fold,), fold) for c, fold in zip(chosen, folds, strict=True)]
        top.append(ledger.scores.mean(axis=(1, 2)).max())
    assert np.mean(top) > 0.56
    assert abs(np.mean(told) - 0.5) < 3 * 0.5 / np.sqrt(60 * 60)
