"""Seeds, threads, memory and units: when prototype SVMs are the same, and when they differ."""

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from protolearn import _threads
from protolearn.ensemble import linear_machines, members
from protolearn.ensemble import voters as voters_module
from protolearn.ensemble.prototype import PrototypeSVM


def numbers(model, X):
    """Give what must be the same if anything is."""
    return (
        model.predict_proba(X),
        model.hyperplanes_,
        model.offsets_,
        model.exemplar_indices_,
        model.validation_scores_,
        model.ensemble_sizes_,
        model.n_firing_,
        model.validation_indices_,
        *model.positive_sets_,
        *model.negative_sets_,
    )


def assert_same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("calibration", ["local", "platt"])
def test_a_seed_gives_the_same_numbers_however_many_threads_there_are(
    stripes, monkeypatch, calibration
):
    X, y = stripes
    base = PrototypeSVM(
        n_shifts=3, hard_negative_probability=0.05, calibration=calibration, random_state=3
    )
    expected = numbers(clone(base).fit(X, y), X)
    assert_same(numbers(clone(base).fit(X, y), X), expected)
    assert_same(
        numbers(clone(base).set_params(random_state=np.random.RandomState(3)).fit(X, y), X),
        expected,
    )
    for n_threads in (1, 3):
        monkeypatch.setattr(_threads, "_n_threads", lambda n=n_threads: n)
        with threadpool_limits(n_threads, user_api="blas"):
            assert_same(numbers(clone(base).fit(X, y), X), expected)


def test_a_seed_gives_the_same_numbers_in_threads_of_joblib(stripes):
    X, y = stripes
    base = PrototypeSVM(n_shifts=2, hard_negative_probability=0.05, random_state=3)
    expected = numbers(clone(base).fit(X, y), X)
    with parallel_config("threading", n_jobs=2):
        models = Parallel()(delayed(clone(base).fit)(X, y) for _ in range(3))
    for model in models:
        assert_same(numbers(model, X), expected)


def test_seeds_differ(stripes):
    X, y = stripes
    models = [PrototypeSVM(n_shifts=1, random_state=seed).fit(X, y) for seed in range(3)]
    assert len({tuple(model.validation_indices_) for model in models}) == 3
    assert not np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_little_memory_gives_the_same_models(stripes, monkeypatch):
    X, y = stripes
    base = PrototypeSVM(n_shifts=3, hard_negative_probability=0.05, random_state=0)
    expected = clone(base).fit(X, y)
    for module in (members, linear_machines):
        monkeypatch.setattr(module, "rows_at_a_time", lambda width: 7)
    monkeypatch.setattr(voters_module, "KEPT_BYTES", 8 * len(X) * 11)
    model = clone(base).fit(X, y)
    assert_array_equal(model.exemplar_indices_, expected.exemplar_indices_)
    assert_array_equal(model.ensemble_sizes_, expected.ensemble_sizes_)
    for name in ("positive_sets_", "negative_sets_"):
        assert_same(getattr(model, name), getattr(expected, name))
    assert_allclose(model.hyperplanes_, expected.hyperplanes_, rtol=1e-9)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", ["flowers", "stripes"])
def test_units_and_origin_do_not_matter(name, request):
    X, y = request.getfixturevalue(name)
    rng = np.random.RandomState(0)
    X = X + 1e-3 * rng.normal(size=X.shape)  # flowers are equally near to others: rounding decides
    units, origin = 10.0 ** rng.uniform(-6, 6, X.shape[1]), rng.choice([-1e4, 1e4], X.shape[1])
    model = PrototypeSVM(n_shifts=4, random_state=0).fit(X, y)
    for scale, move in ((units, 0.0), (1.0, origin), (units, units * origin)):
        other = PrototypeSVM(n_shifts=4, random_state=0).fit(X * scale + move, y)
        assert_array_equal(other.predict(X * scale + move), model.predict(X))
        assert_array_equal(other.exemplar_indices_, model.exemplar_indices_)
        assert_allclose(other.hyperplanes_ * scale, model.hyperplanes_, rtol=1e-4, atol=1e-6)
        assert_allclose((other.prototypes_ - move) / scale, model.prototypes_, rtol=1e-6, atol=1e-6)


def test_raw_features_are_taken_as_they_are(flowers):
    X, y = flowers[0] + 1e-3 * np.random.RandomState(0).normal(size=(150, 4)), flowers[1]
    raw = PrototypeSVM(standardize=False, random_state=0).fit(X, y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled = PrototypeSVM(random_state=0).fit(X, y)
    by_hand = PrototypeSVM(standardize=False, random_state=0).fit(z, y)
    assert_allclose(by_hand.predict_proba(z), scaled.predict_proba(X), atol=1e-6)
    assert raw.score(X, y) > 0.9
    assert not np.allclose(raw.predict_proba(X), scaled.predict_proba(X), atol=1e-2)


def test_the_origin_of_raw_features_does_not_matter(stripes):
    X, y = stripes
    raw = PrototypeSVM(standardize=False, random_state=0).fit(X, y)
    moved = PrototypeSVM(standardize=False, random_state=0).fit(X + 1e4, y)
    assert_array_equal(moved.predict(X + 1e4), raw.predict(X))
