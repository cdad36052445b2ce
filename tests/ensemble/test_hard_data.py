"""Data that are hard for prototype SVMs: duplicates, few rows, and costs at which nothing fires."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from protolearn.datasets import make_striated
from protolearn.ensemble.prototype import PrototypeSVM

CALIBRATIONS = ["local", "binning", "platt", None]


def test_constant_columns_get_no_weight(stripes):
    X, y = stripes
    wide = np.column_stack([X, np.full(len(X), 0.1), np.full(len(X), 1e9)])
    model = PrototypeSVM(random_state=0).fit(wide, y)
    assert_array_equal(model.hyperplanes_[:, 2:], 0.0)
    plain = PrototypeSVM(random_state=0).fit(X, y)
    assert_array_equal(model.predict(wide), plain.predict(X))


def test_conflicting_duplicates(stripes):
    X, y = stripes
    X, y = np.vstack([X, X[::3]]), np.append(y, 1 - y[::3])
    for calibration in CALIBRATIONS:
        model = PrototypeSVM(n_shifts=2, calibration=calibration, random_state=0).fit(X, y)
        assert np.isfinite(model.hyperplanes_).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 0.5


def test_nothing_but_conflicting_duplicates():
    X, y = np.ones((12, 3)), np.arange(12) % 2
    with pytest.warns(ConvergenceWarning, match="No model of PrototypeSVM fires"):
        model = PrototypeSVM(random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_class_of_one_row(flowers):
    X, y = flowers
    rows = np.append(np.flatnonzero(y != "setosa"), 0)
    model = PrototypeSVM(random_state=0, pruning=None).fit(X[rows], y[rows])
    assert "setosa" in model.prototype_labels_
    assert len(rows) - 1 not in model.validation_indices_
    assert model.predict_proba(X[:1])[0, 0] > model.predict_proba(X[60:61])[0, 0]


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_two_rows_are_enough(calibration):
    X, y = np.array([[0.0], [1.0]]), ["left", "right"]
    model = PrototypeSVM(pruning=None, calibration=calibration, random_state=0).fit(X, y)
    assert len(model.validation_indices_) == 0
    assert model.predict(np.array([[-3.0], [0.2], [0.8], [5.0]])).tolist() == [
        "left",
        "left",
        "right",
        "right",
    ]


def test_pruning_does_not_leave_two_rows_without_an_answer():
    model = PrototypeSVM(random_state=0).fit([[0.0], [1.0]], ["left", "right"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["left", "right"]


@pytest.mark.parametrize("fraction", [0.0, 0.1])
def test_without_held_out_rows_the_training_rows_choose(fraction):
    X, y = make_striated(9, n_stripes=3, random_state=0)
    model = PrototypeSVM(validation_fraction=fraction, n_shifts=2, random_state=0).fit(X, y)
    assert len(model.validation_indices_) == 0
    assert model.validation_scores_[model.best_shift_] == model.score(X, y)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("pruning", [None, 0.1])
def test_if_nothing_fires_it_warns_and_still_predicts(calibration, pruning):
    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 2, (60, 2)) + 0.03 * rng.normal(size=(60, 2)), np.arange(60) % 3
    model = PrototypeSVM(C=0.01, pruning=pruning, calibration=calibration, random_state=0)
    with pytest.warns(ConvergenceWarning, match="No model.*C=0.01.*Raise C") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert not model.votes(X)[np.setdiff1d(np.arange(60), model.validation_indices_)].any()
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    values = X @ model.hyperplanes_.T + model.offsets_
    silent = (values <= 0).all(axis=1)
    expected = model.prototype_labels_[values.argmax(axis=1)]
    assert_array_equal(model.predict(X)[silent], expected[silent])


def test_predictions_are_the_most_probable_classes_even_in_ties():
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X, y = rng.randint(0, 2, (60, 2)).astype(float), rng.randint(0, 5, 60)
        model = PrototypeSVM(n_shifts=1, random_state=seed).fit(X, y)
        most = model.classes_[model.predict_proba(X).argmax(axis=1)]
        assert_array_equal(model.predict(X), most)


def test_frames_as_output_of_transformers_do_no_harm(flowers):
    X, y = flowers
    expected = PrototypeSVM(n_shifts=1, random_state=0).fit(X, y).predict_proba(X)
    with config_context(transform_output="pandas"):
        model = PrototypeSVM(n_shifts=1, random_state=0).fit(X, y)
        assert_array_equal(model.predict_proba(X), expected)


def test_a_row_alone_has_the_probabilities_that_it_has_among_others(flowers):
    X, y = flowers
    model = PrototypeSVM(n_shifts=2, random_state=0).fit(X, y)
    alone = np.vstack([model.predict_proba(row[None]) for row in X])
    assert_allclose(alone, model.predict_proba(X), rtol=1e-9)
