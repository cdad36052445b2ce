"""Prototype SVMs: what users see of them, and what scikit-learn wants of them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from protolearn.datasets import make_isolated, make_striated
from protolearn.ensemble.exemplar import ExemplarSVM
from protolearn.ensemble.prototype import PrototypeSVM

CALIBRATIONS = ["local", "binning", "platt", None]


# What is shown of the models ---------------------------------------------------------------------


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("pruning", [None, 0.1])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_models_votes_and_probabilities_agree(flowers, calibration, pruning, penalty):
    X, y = flowers
    model = PrototypeSVM(
        n_shifts=3, calibration=calibration, pruning=pruning, penalty=penalty, random_state=0
    ).fit(X, y)
    values = X @ model.hyperplanes_.T + model.offsets_
    clear = np.abs(values) > 1e-9
    votes = model.votes(X)
    assert_array_equal((votes > 0)[clear], (values > 0)[clear])
    assert clear.mean() > 0.99
    train = np.setdiff1d(np.arange(len(X)), model.validation_indices_)
    assert (votes[train] > 0).any(axis=0).all()  # all survivors fire on something
    probabilities = model.predict_proba(X)
    assert (probabilities > 0).all()
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    predicted = model.predict(X)
    assert_array_equal(model.classes_[probabilities.argmax(axis=1)], predicted)
    assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], predicted)
    heard = votes.any(axis=1)
    totals = np.array(
        [votes[:, model.prototype_labels_ == label].sum(axis=1) for label in model.classes_]
    )
    shares = (totals + 1 / 3) / (totals.sum(axis=0) + 1)
    assert_allclose(probabilities[heard], shares.T[heard], rtol=1e-9)
    assert model.score(X, y) > 0.9


def test_clusters_and_prototypes(stripes):
    X, y = stripes
    model = PrototypeSVM(hard_negative_probability=0.02, random_state=0).fit(X, y)
    n = len(model.exemplars_)
    assert model.best_shift_ > 0
    assert model.hyperplanes_.shape == (n, 2)
    assert model.offsets_.shape == model.prototype_labels_.shape == (n,)
    assert len(model.positive_sets_) == len(model.negative_sets_) == n
    assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    for i in range(n):
        positive, negative = model.positive_sets_[i], model.negative_sets_[i]
        assert model.exemplar_indices_[i] in positive
        assert (y[positive] == model.prototype_labels_[i]).all()
        assert (y[negative] != model.prototype_labels_[i]).all()
        assert_allclose(model.prototypes_[i], X[positive].mean(axis=0), rtol=1e-12)
        assert not np.isin(np.append(positive, negative), model.validation_indices_).any()
    assert max(map(len, model.positive_sets_)) > 3  # they did generalise
    assert n < len(X) / 3


def test_the_story_is_told_and_the_best_is_kept(stripes):
    X, y = stripes
    model = PrototypeSVM(n_shifts=5, random_state=0).fit(X, y)
    scores, sizes = model.validation_scores_, model.ensemble_sizes_
    assert scores.shape == sizes.shape == model.n_firing_.shape == (6,)
    assert (np.diff(model.n_firing_) <= 0).all()
    assert (sizes <= model.n_firing_).all()
    best = scores == scores.max()
    assert sizes[model.best_shift_] == sizes[best].min()
    assert len(model.exemplars_) <= model.n_firing_[model.best_shift_]
    assert model.best_shift_ == np.flatnonzero(best & (sizes == sizes[best].min()))[0]
    held = np.bincount(y[model.validation_indices_])
    assert_array_equal(held, np.bincount(y) // 4)
    plain = PrototypeSVM(n_shifts=5, pruning=None, random_state=0).fit(X, y)
    assert len(plain.exemplars_) == plain.ensemble_sizes_[plain.best_shift_]


def test_the_algorithm_without_shifts_is_that_of_exemplar_svms(flowers):
    X, y = flowers
    for calibration in CALIBRATIONS:
        model = PrototypeSVM(
            n_shifts=0, validation_fraction=0.0, pruning=None, calibration=calibration
        ).fit(X, y)
        exemplars = ExemplarSVM(calibration=calibration).fit(X, y)
        assert_array_equal(model.hyperplanes_, exemplars.hyperplanes_)
        assert_array_equal(model.predict_proba(X), exemplars.predict_proba(X))
        assert model.validation_scores_[0] == exemplars.score(X, y)
        assert len(model.validation_indices_) == 0


def test_two_classes_have_one_score(stripes):
    X, y = stripes
    model = PrototypeSVM(random_state=0).fit(X, np.array(["no", "yes"])[y])
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == (len(X),)
    assert_array_equal(model.predict(X), np.array(["no", "yes"])[(scores > 0).astype(int)])
    assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    assert_array_equal(scores, probabilities[:, 1] - probabilities[:, 0])


def test_it_learns_what_no_line_separates():
    X, y = make_isolated(200, 150, n_clusters=3, random_state=0)
    model = PrototypeSVM(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.85
    assert len(model.exemplars_) < 60


def test_with_l1_each_model_selects_its_features(flowers):
    X, y = flowers
    X = np.hstack([X, np.random.RandomState(0).normal(size=(len(X), 6))])
    sparse = PrototypeSVM(penalty="l1", random_state=0).fit(X, y)
    assert (sparse.hyperplanes_ == 0).mean() > 0.3
    assert np.isfinite(sparse.offsets_).all()
    dense = PrototypeSVM(random_state=0).fit(X, y)
    assert (dense.hyperplanes_ == 0).mean() < 0.05


# As scikit-learn wants it ------------------------------------------------------------------------


def test_verbose_tells_of_every_shift(flowers, capsys):
    X, y = flowers
    model = PrototypeSVM(n_shifts=2, random_state=0)
    model.fit(X, y)
    assert capsys.readouterr().out == ""
    model.set_params(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for number, line in enumerate(lines):
        assert line.startswith(f"Shift {number}: {model.n_firing_[number]} models fire")
        assert f"{model.ensemble_sizes_[number]} are kept" in line
        assert line.endswith(f"{model.validation_scores_[number]:.3f}")


def test_it_is_pickled_cloned_and_fitted_again(flowers):
    X, y = flowers
    for calibration in CALIBRATIONS:
        model = PrototypeSVM(n_shifts=1, calibration=calibration, random_state=0).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert_array_equal(copy.votes(X), model.votes(X))
        assert clone(model).get_params() == model.get_params()
        again = clone(model).fit(X[50:], y[50:]).fit(X, y)
        assert_array_equal(again.hyperplanes_, model.hyperplanes_)
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_it_works_in_a_pipeline_and_a_search(flowers):
    X, y = flowers
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), PrototypeSVM(n_shifts=1, random_state=0)),
        {"prototypesvm__C": [1.0, 100.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_the_data_are_left_alone(flowers):
    X, y = flowers[0].copy(), flowers[1].copy()
    X.setflags(write=False)
    model = PrototypeSVM(n_shifts=1, random_state=0).fit(X, y)
    before = model.predict_proba(flowers[0])
    model.exemplars_[:], model.prototypes_[:] = np.nan, np.nan
    assert_array_equal(X, flowers[0])
    assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_shifts": -1}, "n_shifts=-1 of PrototypeSVM must be an integer of at least 0"),
        ({"n_shifts": 2.5}, "n_shifts=2.5 of PrototypeSVM must be an integer"),
        ({"n_negatives": 0}, "n_negatives=0 of PrototypeSVM must be an integer of at least 1"),
        ({"hard_negative_probability": 1.1}, r"hard_negative_probability=1.1 .*in \[0, 1\]"),
        ({"hard_negative_probability": "0.1"}, "hard_negative_probability='0.1' of PrototypeSVM"),
        ({"validation_fraction": 1.0}, r"validation_fraction=1.0 .*in \[0, 1\)"),
        ({"validation_fraction": -0.1}, "validation_fraction=-0.1 of PrototypeSVM"),
        ({"validation_fraction": None}, "validation_fraction=None of PrototypeSVM"),
        ({"pruning": -1.0}, "pruning=-1.0 of PrototypeSVM must be a finite number of at least 0"),
        ({"pruning": True}, "pruning=True of PrototypeSVM"),
        ({"pruning": np.nan}, "pruning=nan of PrototypeSVM"),
        ({"C": -1.0}, "C=-1.0 of PrototypeSVM must be a finite number greater than 0"),
        ({"penalty": "elastic"}, "penalty='elastic' of PrototypeSVM must be one of 'l2', 'l1'"),
        ({"calibration": "isotonic"}, "calibration='isotonic' of PrototypeSVM must be one of"),
        ({"standardize": "yes"}, "standardize='yes' of PrototypeSVM must be True or False"),
        ({"tol": -1e-4}, "tol=-0.0001 of PrototypeSVM"),
        ({"max_iter": 1.5}, "max_iter=1.5 of PrototypeSVM must be an integer"),
        ({"verbose": "loud"}, "verbose='loud' of PrototypeSVM"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_parameters(flowers, parameters, message):
    with pytest.raises(ValueError, match=message):
        PrototypeSVM(**parameters).fit(*flowers)


def test_bad_data(flowers):
    X, y = flowers
    with pytest.raises(ValueError, match="only one class: 'setosa'"):
        PrototypeSVM().fit(X[:20], y[:20])
    with pytest.raises(ValueError, match="NaN"):
        PrototypeSVM().fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="rescale X"):
        PrototypeSVM().fit(X * 1e160, y)
    with pytest.raises(ValueError, match="features"):
        PrototypeSVM(n_shifts=0).fit(X, y).predict(X[:, :2])


def test_rows_of_pruned_models_join_the_clusters_of_the_others(stripes):
    X, y = stripes
    model = PrototypeSVM(random_state=0).fit(X, y)
    left_out = np.append(model.validation_indices_, model.edited_indices_)
    train = np.setdiff1d(np.arange(len(X)), left_out)
    fires = X[train] @ model.hyperplanes_.T + model.offsets_ > 0.0
    own = y[train][:, None] == model.prototype_labels_
    distances = np.linalg.norm((X[train][:, None] - model.exemplars_) / X.std(axis=0), axis=2)
    nearest = np.where(fires & own, distances, np.inf)
    for row, to_each in zip(train, nearest, strict=True):
        if np.isfinite(to_each).any():
            assert row in model.positive_sets_[to_each.argmin()]
    assert np.mean([len(rows) for rows in model.positive_sets_]) > 2


def test_half_of_the_models_fall_silent_on_stripes():
    X, y = make_striated(random_state=0)
    model = PrototypeSVM(pruning=None, calibration="platt", random_state=0).fit(X, y)
    assert model.n_firing_[0] == 600
    assert model.n_firing_[-1] < 0.55 * model.n_firing_[0]
    assert (np.diff(model.n_firing_) <= 0).all()
