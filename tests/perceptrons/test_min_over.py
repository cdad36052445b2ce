"""MinOver: the rule itself, the largest stability, and how sure it is of it."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import reference
from given_examples import INSEPARABLE
from protolearn import AdaTron, MinOver
from protolearn.datasets import make_random_patterns
from protolearn.perceptrons import embedding_steps
from protolearn.perceptrons.embedding_steps import LeastPotentialLearner
from protolearn.perceptrons.examples import Examples, Inputs

THRESHOLDS = ["free", "clamped", False]


def separable(seed, n=60, d=5, gap=0.2):
    """Give rows at some distance from a random hyperplane through the origin."""
    rng = np.random.RandomState(seed)
    w = rng.randn(d)
    w /= np.linalg.norm(w)
    X = rng.randn(n, d)
    y = np.sign(X @ w)
    return X + gap * np.outer(y, w), y


def whole_numbers(seed, n=16, d=3):
    """Give rows with many ties; the mean is a whole number too, so that all sums are exact."""
    rng = np.random.RandomState(seed)
    X = n * rng.randint(-2, 3, (n, d)).astype(float)
    y = np.where(X @ [1.0, 2.0, -1.0] + rng.randint(-8, 9) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def inputs(X, threshold):
    """Give the rows as the literal transcription takes them."""
    moved = X - np.sort(X, axis=0)[(len(X) - 1) // 2]  # by the lower median
    return moved if threshold == "free" else reference.lengthened(X, bool(threshold))


def best_weights(X, y, threshold):
    """Give the weights of largest stability, by least squares or LIBSVM."""
    if threshold != "free":
        return reference.largest_stability(reference.lengthened(X, bool(threshold)), y)
    return SVC(kernel="linear", C=1e6, tol=1e-8, max_iter=10**6).fit(X, y).coef_[0]


def weights(model):
    """Give the weights, with a clamped threshold among them."""
    clamped = model.fit_intercept == "clamped"
    return np.append(model.coef_, -model.intercept_) if clamped else model.coef_[0]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@given(seed=st.integers(0, 10**6), updates=st.integers(1, 200))
def test_updates_are_those_of_the_book(threshold, seed, updates):
    X, y = whole_numbers(seed)
    examples = Examples(Inputs.of(X, threshold), y, "")
    learned = LeastPotentialLearner(examples)
    made, closed, _ = learned.learn(updates, 1e-3)
    u, expected_made, expected_closed = reference.min_over(
        inputs(X, threshold), y, 1e-3, updates, threshold == "free"
    )
    assert (made, closed) == (expected_made, expected_closed)
    assert_array_equal(learned.u, u)
    assert_allclose(learned.fields, inputs(X, threshold) @ ((u * y) @ inputs(X, threshold)))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_weights_are_of_largest_stability(threshold):
    for seed in range(3):
        X, y = separable(seed)
        model = MinOver(fit_intercept=threshold).fit(X, y)
        w, best = weights(model), best_weights(X, y, threshold)
        assert w @ best > 0.99999 * np.linalg.norm(w) * np.linalg.norm(best)
        assert model.stability_ == pytest.approx(1.0 / np.linalg.norm(best), rel=2e-4)
        reference_model = AdaTron(fit_intercept=threshold).fit(X, y)
        assert model.stability_ == pytest.approx(reference_model.stability_, rel=2e-4)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@given(seed=st.integers(0, 10**6), updates=st.integers(1, 300))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_is_true(threshold, seed, updates):
    X, y = separable(seed, n=20, d=3)
    model = MinOver(fit_intercept=threshold, max_iter=updates, tol=1e-3).fit(X, y)
    best = 1.0 / np.linalg.norm(best_weights(X, y, threshold))
    assert model.stability_ <= best * (1 + 1e-6)
    if model.stability_ > 0.0:
        assert model.stability_ >= (1.0 - model.gap_) * best * (1 - 1e-6)
    else:
        assert model.gap_ >= 1.0


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_strengths_embed_whole_examples(threshold):
    X, y = separable(4)
    model = MinOver(fit_intercept=threshold).fit(X, y)
    u = model.embedding_strengths_[0]
    Z = reference.lengthened(X, threshold == "clamped")
    assert_array_equal(u, np.round(u))
    assert u.sum() == model.n_updates_ * (2 if threshold == "free" else 1)
    assert_allclose(weights(model), (u * y) @ Z / Z.shape[1], rtol=1e-9)
    assert_array_equal(model.support_, np.flatnonzero(u))
    assert model.gap_ <= model.tol
    assert model.stability_ == model.stabilities(X, y).min()
    if threshold == "free":
        assert u @ y == 0.0  # one of each class
    assert model.n_iter_ == -(-model.n_updates_ // len(X))


def test_more_than_two_classes_are_told_one_versus_rest():
    rng = np.random.RandomState(0)
    y = np.repeat(["a", "b", "c"], 15)
    X = rng.randn(45, 2) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat([0, 1, 2], 15)]
    model = MinOver().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.coef_.shape == (3, 2)
    parts = [MinOver().fit(X, y == label) for label in "abc"]
    assert_array_equal(model.coef_, np.vstack([part.coef_ for part in parts]))
    assert model.stability_ == pytest.approx(min(part.stability_ for part in parts), rel=1e-12)
    assert model.gap_ == max(part.gap_ for part in parts)
    assert model.n_updates_ == sum(part.n_updates_ for part in parts)


@pytest.mark.parametrize("threshold", ["free", False])
@pytest.mark.parametrize("power", [-300, -100, 100, 300])
def test_units_of_two_to_a_power_change_nothing(threshold, power):
    X, y = separable(1)
    plain, scaled = (MinOver(fit_intercept=threshold).fit(X * s, y) for s in (1.0, 2.0**power))
    assert_array_equal(scaled.embedding_strengths_, plain.embedding_strengths_)
    assert scaled.stability_ == plain.stability_ * 2.0**power


def test_a_common_offset_leaves_a_free_threshold_alone():
    X, y = separable(2)
    near, far = MinOver().fit(X, y), MinOver().fit(X + 1e6, y)
    cosine = near.coef_[0] @ far.coef_[0]
    assert cosine > 0.99999 * np.linalg.norm(near.coef_) * np.linalg.norm(far.coef_)
    assert far.score(X + 1e6, y) == 1.0


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("name", INSEPARABLE)
def test_what_nothing_separates_is_told(name, threshold):
    X, y = INSEPARABLE[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = MinOver(fit_intercept=threshold).fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__
    assert "MinOver found that nothing separates the two classes" in str(warning.message)
    assert "AdaTron with a finite gamma" in str(warning.message)
    assert model.score(X, y) >= 0.5
    assert model.stability_ <= 0.0
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.embedding_strengths_).all()
    assert model.n_updates_ < model.max_iter


def test_a_free_threshold_never_does_worse_than_one_class():
    X = np.random.RandomState(1).randn(50, 3)
    y = np.arange(50) < 8
    with pytest.warns(ConvergenceWarning):
        assert MinOver().fit(X, y).score(X, y) >= 42 / 50


def test_running_out_of_updates_is_told():
    X, y = separable(0)
    with pytest.warns(ConvergenceWarning, match=r"after 10 updates: the gap is .* Raise max_iter"):
        MinOver(max_iter=10).fit(X, y)


def test_the_row_at_the_origin_is_never_learned_without_threshold():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [-1.0, -1.0]]), [1, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="nothing separates"):
        model = MinOver(fit_intercept=False).fit(X, y)
    assert_array_equal(model.predict(X)[1:], y[1:])
    assert MinOver().fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("tol", [0.0, -1.0, np.nan, "small"])
def test_wrong_tolerances_are_refused(tol):
    with pytest.raises((ValueError, TypeError), match="tol"):
        MinOver(tol=tol).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("threshold", ["none", 1, None])
def test_wrong_thresholds_are_refused(threshold):
    with pytest.raises(ValueError, match="must be 'clamped'"):
        MinOver(fit_intercept=threshold).fit([[0.0], [1.0]], [0, 1])


def test_labels_that_were_not_learned_are_refused():
    model = MinOver().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="has the label 'c'"):
        model.stabilities([[0.0]], ["c"])


def test_many_updates_do_not_drift():
    """The sums of many large examples are made anew: squares of lengths stay positive."""
    X, y = separable(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MinOver(fit_intercept="clamped", max_iter=20000).fit(X + 1e8, y)
    assert np.isfinite(model.gap_)


def test_products_that_there_is_no_room_for_are_forgotten(monkeypatch):
    X, y = make_random_patterns(400, 3, inputs="normal", random_state=0)
    model = MinOver(max_iter=3000)
    with pytest.warns(ConvergenceWarning):
        whole = clone(model).fit(X, y)
    monkeypatch.setattr(embedding_steps, "KEPT", 0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert_array_equal(model.embedding_strengths_, whole.embedding_strengths_)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = separable(0)
    model = MinOver().fit(X, y)
    before = model.gap_, model.coef_
    with pytest.raises(ValueError, match="max_iter"):
        model.set_params(max_iter=0).fit(X, y)
    assert (model.gap_, model.coef_) == before
