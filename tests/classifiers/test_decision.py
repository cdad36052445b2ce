"""Predictions, scores and probabilities against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.neighbors import KernelDensity

import reference
from protolearn import (
    GLVQ,
    LOGM,
    MCE,
    MRSLVQ,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
    _arrays,
)
from protolearn.losses import Logistic
from protolearn.margins import Difference, LogOdds

PRESETS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ]


@pytest.fixture(params=PRESETS, ids=lambda c: c.__name__)
def fitted(request, iris):
    X, y = iris
    return request.param(prototypes_per_class=2, random_state=0, solver="sgd", max_iter=9).fit(X, y)


def test_scores(fitted, iris):
    X, _ = iris
    D = reference.squared_euclidean(X, fitted.prototypes_)
    codes = fitted.prototype_labels_
    if isinstance(fitted, RSLVQ):
        expected = reference.class_scores_soft(D, codes, 3, fitted.xi, fitted.scale_)
    else:
        expected = reference.class_scores_nearest(D, codes, 3)
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-10)
    assert (fitted.predict(X) == expected.argmax(axis=1)).all()
    decision, scale = fitted.rule_.decision, fitted.scale_
    if isinstance(fitted, RSLVQ):
        wanted = softmax(fitted.xi * expected / scale, axis=1)
    else:
        kind = {GLVQ: "relative", MarginLVQ: "root"}.get(type(fitted), "difference")
        given = kind, decision.sharpness, decision.floor
        wanted = reference.probabilities_of_margins(-expected / scale, *given)
    np.testing.assert_allclose(fitted.predict_proba(X), wanted, atol=1e-9)


def test_scores_as_they_are(fitted, iris):
    X, y = iris
    raw = clone(fitted).set_params(calibrate=None).fit(X, y)
    np.testing.assert_array_equal(raw.prototypes_, fitted.prototypes_)
    slopes = {GLVQ: 15.0, MCE: 2.0, LOGM: 1.0, SNPC: 2.0, RSLVQ: 2.0, MarginLVQ: 4.0}
    sharpness = slopes[type(raw)]
    wanted = softmax(sharpness * raw.decision_function(X) / raw.scale_, axis=1)
    np.testing.assert_allclose(raw.predict_proba(X), wanted, atol=1e-9)


def test_probabilities_agree_with_predictions_for_odd_labels(iris):
    X, y = iris
    labels = np.array([0, 5, 9])[y]
    for cls in PRESETS:
        model = cls(random_state=0).fit(X, labels)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()


def test_two_classes(iris):
    X, y = iris
    names = np.array(["no", "yes", "yes"])[y]
    model = LOGM(prototypes_per_class={"yes": 2}, random_state=0).fit(X, names)
    decision = model.decision_function(X)
    assert decision.shape == (150,)
    assert (model.predict(X) == np.where(decision > 0, "yes", "no")).all()


def test_rslvq_probability_is_the_posterior(iris):
    X, y = iris
    model = RSLVQ(prototypes_per_class=2, xi=1.3, random_state=0).fit(X, y)
    D = reference.squared_euclidean(X, model.prototypes_) / model.scale_
    density = np.exp(-1.3 * (D - D.min(axis=1, keepdims=True)))
    posterior = density.reshape(150, 3, 2).sum(axis=2)
    np.testing.assert_allclose(
        model.predict_proba(X), posterior / posterior.sum(axis=1, keepdims=True), atol=1e-9
    )


@pytest.mark.parametrize("kind", [RSLVQ, MRSLVQ])
def test_a_soft_decision_is_a_parzen_window_over_prototypes(iris, kind):
    """The posterior of Gaussians on the prototypes, by densities of SciPy and scikit-learn."""
    X, y = iris
    model = kind(prototypes_per_class={0: 1, 1: 3, 2: 2}, random_state=0).fit(X, y)
    W, labels = model.prototypes_, model.prototype_labels_
    variance = model.scale_ / (2.0 * model.rule_.decision.xi)
    shape = model.metric_ if kind is MRSLVQ else np.eye(X.shape[1])
    # a flat direction of the metric would need an infinite variance: as good as that
    covariance = variance * np.linalg.inv(shape + 1e-9 * np.eye(len(shape)))
    each = np.array([multivariate_normal(w, covariance).logpdf(X) for w in W])
    joint = np.array([logsumexp(each[labels == c], axis=0) for c in model.classes_]).T
    np.testing.assert_allclose(model.predict_proba(X), softmax(joint, axis=1), atol=1e-6)
    if kind is RSLVQ:
        width = np.sqrt(variance)
        windows = [KernelDensity(bandwidth=width).fit(W[labels == c]) for c in model.classes_]
        prior = [np.mean(labels == c) for c in model.classes_]
        joint = np.array([d.score_samples(X) for d in windows]).T + np.log(prior)
        np.testing.assert_allclose(model.predict_proba(X), softmax(joint, axis=1), atol=1e-12)


def test_log_odds_become_the_difference_of_the_nearest():
    rng = np.random.RandomState(0)
    D, same = (
        rng.uniform(1.0, 2.0, (50, 6)),
        np.tile([True, False, True, False, False, True], (50, 1)),
    )
    sharp, nearest = LogOdds(1e4)(D, same)[0] / 1e4, Difference()(D, same)[0]
    np.testing.assert_allclose(sharp, nearest, atol=np.log(3) / 1e4)


def test_soft_decision_differs_from_the_nearest():
    X = np.array([[0.0], [0.2], [1.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    W = np.array([[0.0], [0.4], [-0.38], [9.0]])  # two prototypes of class 0 near 0.1
    common = {"init": W, "prototypes_per_class": 2, "margin": "log_odds", "loss": "logistic"}
    models = [
        PrototypeClassifier(decision=d, solver="sgd", max_iter=1, scale=1.0, **common).fit(X, y)
        for d in ("nearest", "soft")
    ]
    for model in models:
        model.prototypes_ = W
    x = [[-0.2]]
    assert models[0].predict(x) == [1]
    assert models[1].predict(x) == [0]


def test_nearest_prototypes(fitted, iris):
    X, _ = iris
    D = fitted.distances(X)
    values, index = fitted.nearest_prototypes(X, k=3)
    np.testing.assert_array_equal(values, np.sort(D, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(D, index, axis=1), values)
    for k, advice in ((0, "k=0 must be an integer of at least 1"), (70, "at most 6")):
        with pytest.raises(ValueError, match=advice):
            fitted.nearest_prototypes(X, k=k)


def test_contributions(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    shares = model.contributions(X)
    np.testing.assert_allclose(np.abs(shares).sum(axis=1), 1.0)
    D = model.distances(X)
    order = np.argsort(D, axis=1)
    gap = np.take_along_axis(D, order, axis=1)
    nearer = (X - model.prototypes_[order[:, 1]]) ** 2 - (X - model.prototypes_[order[:, 0]]) ** 2
    np.testing.assert_allclose(
        shares.sum(axis=1), (gap[:, 1] - gap[:, 0]) / np.abs(nearer).sum(axis=1), atol=1e-9
    )
    assert (shares.sum(axis=1) >= -1e-12).all()


@given(rows=st.integers(1, 70), size=st.integers(1, 4000), seed=st.integers(0, 9))
def test_parts_make_no_difference(rows, size, seed):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((80, 3)), np.arange(80) % 4
    model = GLVQ(max_iter=1, solver="sgd", random_state=0).fit(X, y)
    expected = reference.squared_euclidean(X[:rows], model.prototypes_)
    before, _arrays.CHUNK_BYTES = _arrays.CHUNK_BYTES, size
    try:
        np.testing.assert_allclose(model.distances(X[:rows]), expected, atol=1e-12)
        assert (model.predict(X[:rows]) == expected.argmin(axis=1)).all()
    finally:
        _arrays.CHUNK_BYTES = before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_rows_that_are_not_finite(fitted, iris, dtype, bad):
    X = iris[0].astype(dtype)
    X[77, 2] = bad
    for method in (fitted.predict, fitted.predict_proba, fitted.decision_function):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            method(X)


METHODS = ["predict", "predict_proba", "decision_function", "distances"]


@pytest.mark.parametrize("cls", [GLVQ, RSLVQ])
@pytest.mark.parametrize("factor", [1e-30, 1e-23, 1e-20, 1e10, 1e20, 1e25])
def test_single_precision_that_does_not_suffice_is_left(cls, factor, iris):
    X, y = iris
    model = cls(solver="sgd", random_state=0).fit(X * factor, y)
    single = (X * factor).astype(np.float32)
    assert model.score(single, y) > 0.93
    for method in METHODS[:2]:
        a, b = getattr(model, method)(single), getattr(model, method)(single.astype(np.float64))
        np.testing.assert_allclose(a, b, atol=1e-3)


def test_single_rows_far_away_are_computed_in_double(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    far = np.full((1, 4), 1e25, dtype=np.float32)
    expected = model.distances(far.astype(np.float64))
    np.testing.assert_allclose(model.distances(far), expected)
    assert model.predict(far) == model.predict(far.astype(np.float64))


@pytest.mark.parametrize("cls", [GLVQ, RSLVQ])
@pytest.mark.parametrize("method", METHODS)
def test_overflow_in_double_is_an_error(cls, method, iris):
    X, y = iris
    model = cls().fit(X * 1e100, y)
    with pytest.raises(ValueError, match="rescale X"):
        getattr(model, method)(X * 1e290)


def test_soft_decision_has_the_sharpness_of_the_margin():
    """The slope of the loss changes probabilities, not decisions."""
    X, y = np.array([[0.0], [0.4], [-0.38], [9.0]]), np.array([0, 0, 1, 1])
    for beta in (1.0, 50.0):
        model = PrototypeClassifier(
            margin=LogOdds(1.0),
            loss=Logistic(beta),
            decision="soft",
            init=X,
            prototypes_per_class=2,
            scale=1.0,
            solver="sgd",
            max_iter=1,
        ).fit(X, y)
        model.prototypes_ = X
        assert model.predict([[-0.2]]) == [0]


def test_replaced_prototypes_of_any_layout(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    before = model.predict(X)
    model.prototypes_ = np.asfortranarray(model.prototypes_)
    assert (model.predict(X) == before).all()
