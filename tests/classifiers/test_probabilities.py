"""Probabilities: better than the class prior on rows that were held out, and true to predict."""

import gzip
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import reference
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LOGM,
    LVQ1,
    MCE,
    OLVQ1,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    MarginLVQ,
    PrototypeClassifier,
)
from protolearn.classifiers.probabilities import fit_factor, follow_factor, rows_by_weight
from protolearn.margins import class_margins, class_minima
from protolearn.rule import Decision

FOLDER = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")
BENCHMARKS = ("heart", "diabetes", "sonar", "iris", "ionosphere", "glass2", "vehicle", "glass")
MODELS = [GLVQ, MCE, LOGM, SNPC, MarginLVQ, GRLVQ, GMLVQ, LVQ1, KernelGLVQ]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(name):
    """Give the rows of a set and their labels."""
    if name in ("breast cancer", "wine"):
        return (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
    path = FOLDER / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip(f"set PROTOLEARN_DATA to the folder of benchmark data, with {path.name}")
    with gzip.open(path, "rt") as file:
        table = np.array([line.strip().split(",") for line in file][1:])
    return table[:, :-1].astype(float), table[:, -1]


def held_out_losses(models, X, y):
    """Give the log loss of each model, and that of the class prior, on three folds."""
    losses, priors = np.zeros(len(models)), 0.0
    for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        scaler = StandardScaler().fit(X[train])
        classes, counts = np.unique(y[train], return_counts=True)
        prior = np.tile(counts / counts.sum(), (len(test), 1))
        priors += log_loss(y[test], prior, labels=classes) / 3.0
        for place, model in enumerate(models):
            model = clone(model).fit(scaler.transform(X[train]), y[train])
            P = model.predict_proba(scaler.transform(X[test]))
            losses[place] += log_loss(y[test], P, labels=classes) / 3.0
    return losses, priors


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("name", ["breast cancer", "wine", *BENCHMARKS])
def test_held_out_rows_are_less_surprising_than_by_the_prior(name, cls):
    """And hardly more than with a temperature that refits have found."""
    model = cls(random_state=0)
    (train, refit), prior = held_out_losses(
        [model, clone(model).set_params(calibrate="cv")], *data(name)
    )
    assert train < prior
    assert train < 1.2 * refit + 0.06


def test_heart_and_the_raw_softmax():
    """The slope of the loss of relative margins is none of differences of distances."""
    X, y = data("heart")
    (raw, train), prior = held_out_losses([GLVQ(calibrate=None), GLVQ()], X, y)
    assert raw > 3.0 * prior
    assert train < 0.6 * prior


def surprise(log_factor, margins, codes, floor):
    """Give the mean surprise of probabilities with a floor."""
    P = (1.0 - floor) * softmax(np.exp(log_factor) * margins, axis=1) + floor / margins.shape[1]
    return -np.log(P[np.arange(len(codes)), codes]).mean()


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_learned", [0.0, 4.0, 300.0])
def test_the_factor_is_the_best_for_its_price(n_classes, n_learned, rng):
    codes = rng.randint(n_classes, size=200)
    margins = rng.randn(200, n_classes)
    margins[np.arange(200), codes] += 1.5
    factor, floor = fit_factor(margins, codes, np.ones(200), 200, n_learned)
    assert floor == n_classes / (200 + n_classes)
    smooth = np.full((200, n_classes), floor / n_classes)
    smooth[np.arange(200), codes] += 1.0 - floor

    def smoothed(log_factor):
        return -(smooth * log_softmax(np.exp(log_factor) * margins, axis=1)).sum(axis=1).mean()

    start = np.exp(minimize_scalar(smoothed, bounds=(-9, 9), method="bounded").x)
    price = (1.0 + n_learned) / (201.0 + n_learned) / start
    grid = np.linspace(-6.0, 6.0, 4001)
    costs = [surprise(place, margins, codes, floor) + price * np.exp(place) for place in grid]
    np.testing.assert_allclose(np.log(factor), grid[np.argmin(costs)], atol=0.004)


def test_the_factor_knows_few_rows_and_many_parameters(rng):
    codes = np.arange(60) % 2
    margins = np.eye(2)[codes] * rng.uniform(1.0, 2.0, 60)[:, None]  # all of them right
    ones = np.ones(60)
    factors = [fit_factor(margins, codes, ones, n, p)[0] for n, p in ((60, 9), (60, 0), (6000, 0))]
    assert np.all(np.diff(factors) > 0.0)
    assert np.isfinite(factors).all()
    longer = fit_factor(1000.0 * margins, codes, ones, 60, 9)[0]
    np.testing.assert_allclose(1000.0 * longer, factors[0], rtol=1e-6)
    assert fit_factor(np.zeros((60, 2)), codes, ones, 60, 9)[0] == 1.0


@pytest.mark.parametrize("calibrate", ["train", "cv"])
@pytest.mark.parametrize("cls", [GLVQ, GRLVQ, GMLVQ, MarginLVQ])
def test_two_classes_are_ranked_as_by_the_decision_function(cls, calibrate):
    """Their own margins rank otherwise; more classes than two have no such order."""
    X, y = data("breast cancer")
    X = StandardScaler().fit_transform(X)
    for count in (1, 3):
        model = cls(prototypes_per_class=count, calibrate=calibrate, random_state=0).fit(X, y)
        order = np.argsort(model.decision_function(X), kind="stable")
        P = model.predict_proba(X)[order, 1]
        assert (np.diff(P) >= -1e-12).all()
        assert P[0] < 0.05 < 0.95 < P[-1]
    assert cls().fit(*load_iris(return_X_y=True)).rule_.decision.margin != "difference"


def test_weights_count_as_rows():
    assert rows_by_weight(4, np.array([0.5, 1.0, 0.5, 1.5])) == 7.0
    assert rows_by_weight(4, np.array([0.5, 1.2, 0.5, 1.5])) == 4.0
    assert rows_by_weight(2, np.array([1e-200, 1e200])) == 2.0


@pytest.mark.parametrize("kind", ["difference", "relative", "root"])
def test_margins_of_the_classes(kind, rng):
    D = rng.exponential(size=(40, 4))
    D[0, :2] = 0.0
    D[1] = 2.0
    P = softmax(3.0 * class_margins(-D, kind), axis=1)
    np.testing.assert_allclose(P, reference.probabilities_of_margins(D, kind, 3.0, 0.0), atol=1e-12)
    assert (class_margins(-D, kind).argmax(axis=1) == D.argmin(axis=1)).all()
    D[:, 2] = np.inf  # a class without prototypes
    assert (Decision(margin=kind, floor=0.1).probabilities(-D)[:, 2] == 0.0).all()


def test_distances_to_classes_in_any_order(rng):
    D, codes = rng.exponential(size=(7, 6)), np.array([2, 0, 4, 0, 2, 2])
    found = class_minima(D, codes, 5)
    for c in (0, 2, 4):
        np.testing.assert_array_equal(found[:, c], D[:, codes == c].min(axis=1))
    assert np.isinf(found[:, [1, 3]]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("calibrate", ["train", None])
@given(seed=st.integers(0, 10**6))
def test_the_most_probable_class_is_the_prediction(dtype, calibrate, seed):
    """Also of rows half-way between prototypes, which stand in any order."""
    rng = np.random.RandomState(seed)
    X = rng.randint(0, 3, size=(30, 2)).astype(dtype)
    y = np.arange(30) % 3
    cls = (GLVQ, MarginLVQ, LVQ1, LOGM)[seed % 4]
    model = cls(random_state=0, calibrate=calibrate, max_iter=1)
    order = [np.flatnonzero(y == c) for c in rng.permutation(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for rows in order:
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    model.prototypes_ = rng.randint(0, 3, size=model.prototypes_.shape)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("prototypes_per_class", [1, 3])
def test_snpc_by_its_posterior(prototypes_per_class, iris):
    """P_l(x) = sum_s P_ls(x) of Jin et al. (2008), below equation 16."""
    X, y = iris
    given = {"prototypes_per_class": prototypes_per_class, "xi": 1.5, "random_state": 0}
    model = SNPC(decision="soft", **given).fit(X, y)
    weights = np.exp(-1.5 * reference.squared_euclidean(X, model.prototypes_) / model.scale_)
    own = model.prototype_labels_[:, None] == model.classes_
    posterior = weights @ own / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), posterior.argmax(axis=1))
    nearest = SNPC(**given).fit(X, y)
    np.testing.assert_array_equal(nearest.prototypes_, model.prototypes_)
    D = nearest.distances(X)
    np.testing.assert_array_equal(nearest.predict(X), nearest.prototype_labels_[D.argmin(axis=1)])
    np.testing.assert_array_equal(nearest.predict_proba(X).argmax(axis=1), nearest.predict(X))
    with pytest.raises(ValueError, match="decision='hard'"):
        SNPC(decision="hard").fit(X, y)


@pytest.mark.parametrize("model", [GLVQ(), RSLVQ(), OLVQ1(), KernelGLVQ(max_support=None)], ids=str)
def test_refits_on_folds(model, iris):
    X, y = iris
    model = clone(model).set_params(random_state=0, calibrate="cv").fit(X[::2], y[::2])
    assert 0.0 < model.rule_.decision.floor < 0.1
    plain = clone(model).set_params(calibrate=None).fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.3


def test_the_temperature_of_refits_is_that_of_held_out_rows(iris):
    X, y = (np.delete(part, 142, axis=0) for part in iris)  # without the copy of a row
    model = GLVQ(random_state=0, calibrate="cv").fit(X, y)
    margins = np.empty((149, 3))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        part = GLVQ(random_state=0).fit(X[train], y[train])
        scores = part.decision_function(X[test]) / part.scale_
        margins[test] = class_margins(scores, "relative")
    factor, floor = fit_factor(margins, y, np.ones(149), 149)
    np.testing.assert_allclose(model.rule_.decision.sharpness, factor, rtol=1e-9)
    assert model.rule_.decision.floor == floor


def test_what_refits_cannot_do(iris):
    X, y = iris
    model = GLVQ(calibrate="cv")
    with pytest.raises(ValueError, match="Class 2 has one row"):
        model.fit(X[:101], y[:101])
    with pytest.raises(ValueError, match="needs all rows in one array"):
        model.fit(lambda: iter([(X, y)]))
    with pytest.raises(ValueError, match="calibrate='cv' needs all the data"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="calibrate='platt'"):
        GLVQ(calibrate="platt").fit(X, y)
    assert not hasattr(model, "rule_")


def test_data_in_parts_have_the_same_probabilities(iris):
    X, y = iris
    given = {"solver": "lbfgs", "init": X[[0, 60, 120]], "scale": 1.0}
    whole = GLVQ(**given).fit(X, y)
    parts = GLVQ(**given).fit(lambda: iter([(X[::2], y[::2]), (X[1::2], y[1::2])]))
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_some_rows_of_many_tell_the_temperature(rng):
    """The labels may have any order, also one that a fixed stride would meet again and again."""
    X, y = make_blobs(20_000, centers=5, n_features=4, cluster_std=3.0, random_state=0)
    order = np.argsort(y, kind="stable").reshape(5, -1).T.ravel()  # 0, 1, 2, 3, 4, 0, 1, ...
    model = GLVQ(random_state=0).fit(X[order], y[order])
    scores = model.decision_function(X) / model.scale_
    margins = class_margins(scores, "relative")
    factor, floor = fit_factor(margins, y, np.ones(len(y)), len(y), 2.0)
    np.testing.assert_allclose(model.rule_.decision.sharpness, factor, rtol=0.1)
    assert model.rule_.decision.floor == floor


@pytest.mark.parametrize("cls", [GLVQ, LOGM, LVQ1])
@pytest.mark.parametrize("size", [1, 50])
def test_a_stream_learns_its_temperature(cls, size):
    X, y = make_blobs(4_000, centers=3, n_features=5, cluster_std=4.0, random_state=3)
    model = cls(random_state=0)
    for start in range(0, 2_000, size):
        rows = slice(start, start + size)
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    streamed = log_loss(y[2_000:], model.predict_proba(X[2_000:]))
    scores = model.rule_.scores(X[2_000:])
    margins = class_margins(scores, model.rule_.decision.margin)
    best = minimize_scalar(
        surprise, bounds=(-9, 9), method="bounded", args=(margins, y[2_000:], 1e-9)
    )
    assert streamed < 1.05 * best.fun + 0.005
    assert model.rule_.decision.floor == pytest.approx(3 / 2_003, rel=0.01)


def test_a_stream_goes_on_with_the_temperature_of_fit(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    before = model.rule_.decision.sharpness
    model.partial_fit(X[:1], y[:1])
    assert model.rule_.decision.sharpness == pytest.approx(before, rel=0.2)
    raw = GLVQ(random_state=0, calibrate=None).fit(X, y).partial_fit(X[:1], y[:1])
    assert raw.rule_.decision == Decision(sharpness=15.0)


def test_a_step_of_a_stream_is_along_the_slope(rng):
    margins, codes = rng.randn(1, 3), np.array([1])
    factor, slopes, rows = follow_factor(margins, codes, np.ones(1), (2.0, 50.0, 100.0))
    floor, step = 3.0 / 104.0, 1e-6
    slope = (
        surprise(np.log(2.0) + step, margins, codes, floor)
        - surprise(np.log(2.0) - step, margins, codes, floor)
    ) / (2.0 * step)
    np.testing.assert_allclose(slopes, 50.0 + slope**2, rtol=1e-6)
    np.testing.assert_allclose(np.log(factor / 2.0), -slope / np.sqrt(slopes), rtol=1e-5)
    assert rows == 101.0


def test_a_model_of_an_earlier_version_has_its_probabilities(iris):
    """It was saved without margin and floor."""
    X, y = iris
    model = GLVQ(random_state=0, calibrate=None).fit(X, y)
    old = Decision(sharpness=15.0)
    for name in ("margin", "floor"):
        del old.__dict__[name]
    before = model.predict_proba(X)
    model.rule_ = replace(model.rule_, decision=old)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_no_class_is_impossible(iris):
    """Few rows cannot tell that a class has the probability 1e-33."""
    X, y = iris
    model = GMLVQ(random_state=0).fit(X, y)
    assert model.predict_proba(1e3 * X).min() > 1e-3


def test_your_own_margin_has_probabilities_of_differences(iris):
    model = PrototypeClassifier(margin="difference", loss="logistic", random_state=0).fit(*iris)
    assert model.rule_.decision.margin == "difference"
    assert model.rule_.decision.sharpness != 1.0


def test_copies_of_rows_make_no_probability_surer():
    """Labels of a coin, each row five times: known by heart, held-out copies would be certain."""
    rng = np.random.RandomState(0)
    X, y = np.tile(rng.normal(size=(60, 3)), (5, 1)), np.tile(rng.permutation([0, 1] * 30), 5)
    model = GLVQ(prototypes_per_class=20, calibrate="cv", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.predict_proba(X).max(axis=1).mean() < 0.7
