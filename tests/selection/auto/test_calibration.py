"""Probabilities from scores."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from protolearn.selection.auto.score_calibration import (
    ScoreCalibration,
    by_class,
    calibrate,
    fit_isotonic,
    fit_sigmoid,
    fit_temperature,
    steepness,
)


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
    shares = ScoreCalibration(factor=factor).probabilities(scores)
    assert log_softmax(factor * by_class(scores), axis=1).min() > -1e3
    assert shares.max() > 0.99


def test_scores_that_know_nothing_give_even_shares():
    rng = np.random.RandomState(0)
    scores, codes = rng.normal(size=(2000, 2)), rng.randint(2, size=2000)
    assert (
        np.abs(ScoreCalibration(factor=steepness(scores, codes)).probabilities(scores) - 0.5).max()
        < 0.1
    )


def test_no_score_at_all():
    assert steepness(np.zeros((0, 2)), np.zeros(0, int)) == 1.0
    assert steepness(np.zeros((5, 3)), np.arange(5) % 3) == 1.0


def held_out(n, slope, shift=0.0, n_classes=2, seed=0, n_folds=5):
    """Return folds of scores, and labels drawn with the probabilities softmax(slope * s + b)."""
    rng = np.random.RandomState(seed)
    scores = rng.randn(n, n_classes)
    offsets = shift * np.arange(n_classes)
    shares = softmax(slope * scores + offsets, axis=1)
    codes = (rng.rand(n, 1) > shares.cumsum(axis=1)).sum(axis=1)
    folds = np.array_split(np.arange(n), n_folds)
    return [scores[k] for k in folds], [codes[k] for k in folds], offsets


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_factor_is_enough_where_scores_are_logits(n_classes):
    found = calibrate(*held_out(3000, 1.7, n_classes=n_classes)[:2])
    assert found.method == "temperature"
    assert found.factor == pytest.approx(1.7, rel=0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_offsets_are_found_where_scores_lack_them(n_classes):
    scores, codes, offsets = held_out(4000, 2.0, shift=-1.5, n_classes=n_classes)
    found = calibrate(scores, codes)
    assert found.method == "sigmoid"
    assert found.factor == pytest.approx(2.0, rel=0.1)
    assert np.diff(found.offsets) == pytest.approx(np.diff(offsets), abs=0.2)


def test_steps_are_found_where_probabilities_are_no_sigmoid():
    rng = np.random.RandomState(0)
    d = rng.uniform(-3.0, 3.0, 6000)
    p = np.where(np.abs(d) < 1.5, 0.5 + 0.05 * np.sign(d), 0.5 + 0.48 * np.sign(d))
    codes = (rng.rand(len(d)) < p).astype(int)
    folds = np.array_split(np.arange(len(d)), 5)
    scores = by_class(d)
    found = calibrate([scores[k] for k in folds], [codes[k] for k in folds])
    assert found.method == "isotonic"
    away = np.abs(np.abs(d) - 1.5) > 0.1
    assert np.abs(found.probabilities(scores)[away, 1] - p[away]).max() < 0.12
    assert np.abs(found.probabilities(scores)[away, 1] - p[away]).mean() < 0.02


def test_few_rows_do_not_buy_a_complicated_calibration():
    scores, codes, _ = held_out(100, 1.0, seed=3)
    assert calibrate(scores, codes).method == "temperature"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_largest_score_has_the_largest_probability(seed, n_classes):
    scores, codes, _ = held_out(1500, 1.0, shift=-2.0, n_classes=n_classes, seed=seed)
    new = np.random.RandomState(seed).randn(500, n_classes) * 2.0
    for fit in (fit_temperature, fit_sigmoid, fit_isotonic):
        shares = fit(scores, codes).probabilities(new)
        assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert (shares > 0.0).all()
        assert (shares.argmax(axis=1) == new.argmax(axis=1)).all()


def test_log_loss_follows_scikit_learn_where_the_decision_agrees():
    """The sigmoid of two classes is that of Platt, as scikit-learn has it."""
    scores, codes, _ = held_out(3000, 1.3, shift=0.0)
    d, own = np.vstack(scores), np.concatenate(codes)
    lead = d[:, 1] - d[:, 0]
    oracle = LogisticRegression(C=1e6).fit(lead[:, None], own).predict_proba(lead[:, None])
    ours = fit_sigmoid(scores, codes).probabilities(d)
    assert log_loss(own, ours) == pytest.approx(log_loss(own, oracle), abs=1e-3)
