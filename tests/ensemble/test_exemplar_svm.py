"""Exemplar SVMs: what users see of them, and hard data."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from protolearn.ensemble.exemplar import ExemplarSVM

CALIBRATIONS = ["local", "binning", "platt", None]
PENALTIES = ["l2", "l1"]


@pytest.fixture(scope="module")
def flowers(flowers):
    """Half of iris, moved a little: no row is equally near to two others."""
    X, y = flowers[0][::2], flowers[1][::2]
    return X + 1e-3 * np.random.RandomState(0).normal(size=X.shape), y


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_models_votes_and_probabilities_agree(flowers, calibration, penalty):
    X, y = flowers
    model = ExemplarSVM(calibration=calibration, penalty=penalty).fit(X, y)
    values = X @ model.hyperplanes_.T + model.offsets_
    clear = np.abs(values) > 1e-9
    votes = model.votes(X)
    assert_array_equal((votes > 0)[clear], (values > 0)[clear])
    assert clear.mean() > 0.99
    assert (votes > 0).any(axis=0).all()  # all survivors fire on something
    assert (votes <= 1).all()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), 3)
    assert (probabilities > 0).all()
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))
    assert model.score(X, y) > 0.9


def test_two_classes_have_one_score(flowers):
    X, y = flowers
    two = y != "setosa"
    model = ExemplarSVM().fit(X[two], y[two])
    scores = model.decision_function(X)
    assert scores.shape == (len(X),)
    assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    probabilities = model.predict_proba(X)
    assert_array_equal(scores, probabilities[:, 1] - probabilities[:, 0])


def test_what_is_shown_of_the_models(flowers):
    X, y = flowers
    model = ExemplarSVM(n_negatives=4).fit(X, y)
    n = len(model.exemplar_indices_)
    assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    assert_array_equal(model.prototypes_, model.exemplars_)
    assert_array_equal(model.prototype_labels_, y[model.exemplar_indices_])
    assert model.hyperplanes_.shape == (n, 4)
    assert model.offsets_.shape == (n,)
    assert len(model.positive_sets_) == len(model.negative_sets_) == n
    for i in range(n):
        assert model.positive_sets_[i].tolist() == [model.exemplar_indices_[i]]
        assert 1 <= len(model.negative_sets_[i]) <= 4
        assert (y[model.negative_sets_[i]] != model.prototype_labels_[i]).all()


def test_with_l1_each_model_selects_its_features(flowers):
    X, y = flowers
    noise = np.random.RandomState(0).normal(size=(len(X), 6))
    sparse = ExemplarSVM(penalty="l1").fit(np.hstack([X, noise]), y)
    dense = ExemplarSVM().fit(np.hstack([X, noise]), y)
    assert (sparse.hyperplanes_ == 0).mean() > 0.4
    assert (dense.hyperplanes_ == 0).mean() < 0.05
    assert len({tuple(row) for row in (sparse.hyperplanes_ != 0).tolist()}) > 5


def test_with_raw_features_units_matter_and_without_they_do_not(flowers):
    X, y = flowers
    units = np.array([1e-3, 1.0, 1e4, 10.0])
    scaled = ExemplarSVM().fit(X, y), ExemplarSVM().fit(X * units + 7.0, y)
    assert_array_equal(scaled[0].predict(X), scaled[1].predict(X * units + 7.0))
    assert_allclose(scaled[0].hyperplanes_, scaled[1].hyperplanes_ * units, rtol=1e-3, atol=1e-6)
    raw = ExemplarSVM(standardize=False).fit(X, y)
    other = ExemplarSVM(standardize=False, max_iter=10**5, tol=0.01).fit(X * units, y)
    assert [set(a) for a in raw.negative_sets_] != [set(a) for a in other.negative_sets_]
    moved = ExemplarSVM(standardize=False).fit(X + 100.0, y)
    assert_array_equal(raw.predict(X), moved.predict(X + 100.0))


def test_duplicates_with_conflicting_labels(flowers):
    X, y = flowers
    X, y = np.vstack([X, X[:10]]), np.append(y, ["virginica"] * 10)
    model = ExemplarSVM().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.hyperplanes_).all()
    with pytest.warns(ConvergenceWarning, match="No model of ExemplarSVM fires"):
        nothing_but = ExemplarSVM().fit(np.repeat(X[:1], 4, axis=0), ["a", "b", "a", "a"])
    assert_allclose(nothing_but.predict_proba(X[:1]).sum(axis=1), 1.0)
    assert nothing_but.predict(X[:1])[0] in ("a", "b")


def test_constant_columns_get_no_weight(flowers):
    X, y = flowers
    wide = np.column_stack([X, np.full(len(X), 1e6), np.zeros(len(X))])
    model = ExemplarSVM().fit(wide, y)
    assert_array_equal(model.hyperplanes_[:, 4:], 0.0)
    assert_array_equal(model.predict(wide), ExemplarSVM().fit(X, y).predict(X))


def test_two_rows_are_enough():
    X = np.array([[0.0, 1.0], [2.0, 5.0]])
    model = ExemplarSVM().fit(X, ["left", "right"])
    assert model.predict([[-1.0, 0.0], [0.0, 1.0], [2.0, 5.0], [9.0, 9.0]]).tolist() == [
        "left",
        "left",
        "right",
        "right",
    ]


def test_if_nothing_fires_it_warns_and_still_predicts():
    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 2, (60, 2)) + 0.03 * rng.normal(size=(60, 2)), np.arange(60) % 3
    for calibration in CALIBRATIONS:
        with pytest.warns(ConvergenceWarning, match="C=0.01.*Raise C") as caught:
            model = ExemplarSVM(C=0.01, calibration=calibration).fit(X, y)
        assert caught[0].filename == __file__
        assert len(model.exemplars_) == len(X)
        assert not model.votes(X).any()
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        values = X @ model.hyperplanes_.T + model.offsets_
        assert_array_equal(model.predict(X), model.prototype_labels_[values.argmax(axis=1)])


def test_models_that_are_not_solved_are_counted(flowers):
    X, y = flowers
    with pytest.warns(
        ConvergenceWarning, match="have not reached tol=1e-12 after 1 sweep"
    ) as caught:
        ExemplarSVM(max_iter=1, tol=1e-12, C=1e6).fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ExemplarSVM().fit(X, y)


def test_it_is_pickled_cloned_and_fitted_again(flowers):
    X, y = flowers
    model = ExemplarSVM(C=10.0, n_negatives=3, calibration=None).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
    again = clone(model).fit(X[::2], y[::2]).fit(X, y)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(NotFittedError):
        clone(model).votes(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_negatives": 0}, "n_negatives=0 of ExemplarSVM must be an integer of at least 1"),
        ({"n_negatives": 7.0}, "n_negatives=7.0 of ExemplarSVM must be an integer"),
        ({"n_negatives": True}, "n_negatives=True of ExemplarSVM"),
        ({"C": 0.0}, "C=0.0 of ExemplarSVM must be a finite number greater than 0"),
        ({"C": np.inf}, "C=inf of ExemplarSVM"),
        ({"C": "1"}, "C='1' of ExemplarSVM"),
        ({"penalty": "L1"}, "penalty='L1' of ExemplarSVM must be one of 'l2', 'l1'"),
        ({"penalty": None}, "penalty=None of ExemplarSVM"),
        ({"calibration": "plat"}, "calibration='plat' of ExemplarSVM.*Did you mean 'platt'"),
        ({"calibration": False}, "calibration=False of ExemplarSVM must be one of 'local'"),
        ({"calibration": ["platt"]}, r"calibration=\['platt'\] of ExemplarSVM"),
        ({"standardize": 1}, "standardize=1 of ExemplarSVM must be True or False"),
        ({"tol": 0.0}, r"tol=0.0 of ExemplarSVM must be a finite number in \(0, 1\)"),
        ({"max_iter": 0}, "max_iter=0 of ExemplarSVM must be an integer of at least 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_parameters(flowers, parameters, message):
    with pytest.raises(ValueError, match=message):
        ExemplarSVM(**parameters).fit(*flowers)
