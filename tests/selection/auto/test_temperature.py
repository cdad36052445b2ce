"""Probabilities from scores, by one number."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from sklearn.linear_model import LogisticRegression

from protolearn.selection.auto.trials import by_class, probabilities, steepness


def test_two_classes_are_a_logistic_regression_without_offset():
    rng = np.random.RandomState(0)
    scores = rng.normal(size=4000)
    codes = (rng.uniform(size=4000) < expit(3.0 * scores)).astype(int)
    given = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-8)
    slope = given.fit(scores[:, None], codes).coef_.item()
    assert steepness(by_class(scores), codes) == pytest.approx(slope, rel=0.01)


def test_the_factor_of_several_classes_is_found_again():
    rng = np.random.RandomState(0)
    scores = rng.normal(size=(6000, 4))
    codes = np.argmax(0.7 * scores + rng.gumbel(size=scores.shape), axis=1)  # softmax of 0.7 scores
    assert steepness(scores, codes) == pytest.approx(0.7, rel=0.1)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_unit_of_the_scores_does_not_matter(unit):
    rng = np.random.RandomState(0)
    scores = rng.normal(size=(300, 3))
    codes = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    factor = steepness(unit * scores, codes)
    assert factor * unit == pytest.approx(steepness(scores, codes), rel=1e-3)


def test_scores_that_are_always_right_do_not_promise_certainty():
    scores = np.random.RandomState(0).normal(size=50)
    factor = steepness(by_class(scores), (scores > 0).astype(int))
    assert np.isfinite(factor)
    shares = probabilities(scores, factor)
    assert log_softmax(factor * by_class(scores), axis=1).min() > -1e3
    assert shares.max() > 0.99


def test_scores_that_know_nothing_give_even_shares():
    rng = np.random.RandomState(0)
    scores, codes = rng.normal(size=(2000, 2)), rng.randint(2, size=2000)
    assert np.abs(probabilities(scores, steepness(scores, codes)) - 0.5).max() < 0.1


def test_no_score_at_all():
    assert steepness(np.zeros((0, 2)), np.zeros(0, int)) == 1.0
    assert steepness(np.zeros((5, 3)), np.arange(5) % 3) == 1.0
