"""The reject option: thresholds, rates and weights."""

import os
import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_profile import THOROUGH, in_all
from protolearn import (
    GLVQ,
    GMLVQ,
    PrototypeClassifier,
    RejectClassifier,
    datasets,
    hypothesis_margin,
)

MODEL = GLVQ(random_state=0)


@pytest.fixture(scope="module")
def hard():
    """Three classes that overlap, 300 rows."""
    return make_blobs(300, centers=3, cluster_std=3.0, random_state=1)


def by_folds(model, X, y, measure, cv):
    """Give predictions and confidences of held-out rows, one fold after the other."""
    predicted, confidence = np.empty(len(y), dtype=y.dtype), np.empty(len(y))
    for train, test in cv.split(X, y):
        fitted = clone(model).fit(X[train], y[train])
        predicted[test], confidence[test] = fitted.predict(X[test]), measure(fitted, X[test])
    return predicted, confidence


def own_margin(model, X):
    return hypothesis_margin(model, X, model.predict(X))


def test_rejects_below_the_threshold(hard):
    X, y = hard
    model = RejectClassifier(MODEL, threshold=0.7).fit(X, y)
    inner = GLVQ(random_state=0).fit(X, y)
    margin = own_margin(inner, X)
    np.testing.assert_array_equal(model.confidence(X), margin)
    np.testing.assert_array_equal(model.accepts(X), margin >= 0.7)
    np.testing.assert_array_equal(model.predict(X), np.where(margin >= 0.7, inner.predict(X), -1))
    assert 0.1 < model.accepts(X).mean() < 0.9
    np.testing.assert_array_equal(model.thresholds_, [0.7] * 3)
    assert not hasattr(model, "reject_rate_")  # nothing was held out
    assert model.score(X, y) == accuracy_score(y, model.predict(X))


def test_threshold_by_label(iris):
    X, names = iris[0], np.array(["a", "b", "c"])[iris[1]]
    model = RejectClassifier(MODEL, threshold={"b": np.inf, "c": 0.2}).fit(X, names)
    np.testing.assert_array_equal(model.thresholds_, [-np.inf, np.inf, 0.2])
    inner = model.model_.predict(X)
    assert model.accepts(X)[inner == "a"].all()
    assert not model.accepts(X)[inner == "b"].any()
    np.testing.assert_array_equal(
        model.accepts(X)[inner == "c"], model.confidence(X)[inner == "c"] >= 0.2
    )


@pytest.mark.parametrize("per_class", [False, True])
def test_cost_is_the_smallest_on_held_out_rows(hard, per_class):
    X, y = hard
    model = RejectClassifier(MODEL, cost=0.3, per_class=per_class).fit(X, y)
    predicted, confidence = by_folds(MODEL, X, y, own_margin, StratifiedKFold(5))
    np.testing.assert_array_equal(predicted, cross_val_predict(MODEL, X, y))

    def price(rows, threshold):
        accepted = confidence[rows] >= threshold
        return (accepted & (predicted != y)[rows]).sum() + 0.3 * (~accepted).sum()

    groups = [predicted == c for c in range(3)] if per_class else [np.ones(300, dtype=bool)]
    for rows, threshold in zip(groups, model.thresholds_, strict=False):
        tried = [price(rows, t) for t in [-np.inf, *confidence[rows], np.inf]]
        assert price(rows, threshold) == pytest.approx(min(tried))
        assert np.abs(confidence[rows] - threshold).min() > 1e-6  # midway
    assert per_class or len(set(model.thresholds_)) == 1
    accepted = confidence >= model.thresholds_[predicted]
    assert model.reject_rate_ == pytest.approx(1.0 - accepted.mean())
    assert model.accepted_error_ == pytest.approx((predicted != y)[accepted].mean())
    assert 0.0 < model.reject_rate_ < 0.9
    assert model.accepted_error_ < (predicted != y).mean()


def test_thresholds_by_class_cost_no_more(hard):
    def price(model):
        return model.reject_rate_ * model.cost + model.accepted_error_ * (1 - model.reject_rate_)

    for cost in (0.1, 0.3, 0.45):
        alike, apart = (
            RejectClassifier(MODEL, cost=cost, per_class=per_class).fit(*hard)
            for per_class in (False, True)
        )
        assert price(apart) <= price(alike) + 1e-12


def test_chow_with_true_posteriors():
    # Two Gaussians at -1 and 1: the posterior is 1 / (1 + exp(-2x)), and Chow rejects where its
    # maximum is below 1 - cost. With prototypes in -1 and 1 the radius is |x|.
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 100_000)
    X = rng.normal(size=(len(y), 1)) + np.where(y == 1, 1.0, -1.0)[:, None]
    fixed = PrototypeClassifier(init=[[-1.0], [1.0]], solver="sgd", max_iter=1).fit(X, y)
    fixed.prototypes_ = np.array([[-1.0], [1.0]])
    for cost in (0.1, 0.3):
        model = RejectClassifier(fixed, cost=cost, cv="prefit", measure="radius").fit(X, y)
        expected = 0.5 * np.log((1.0 - cost) / cost)
        np.testing.assert_allclose(model.thresholds_, expected, atol=0.05)


def flipped(rng, n, noise):
    """Two Gaussians that hardly overlap, and labels some of which are wrong."""
    y = rng.randint(2, size=n)
    X = rng.randn(n, 3) + 3.0 * y[:, None] * [1.0, 0.0, 0.0]
    return X, np.where(rng.rand(n) < noise, 1 - y, y)


@pytest.mark.parametrize("cv", [5, "prefit"])
@pytest.mark.parametrize(
    ("n", "noise", "target"),
    in_all((300, 0.03, 0.06), thorough=((80, 0.0, 0.08), (300, 0.1, 0.15), (1000, 0.03, 0.05))),
)
@pytest.mark.filterwarnings("ignore:target_error")
def test_target_error_is_kept_on_fresh_rows(cv, n, noise, target):
    """In nine of ten draws, which a tenth of the draws may fail by chance."""
    rng, n_draws, kept, accepted = np.random.RandomState(0), 200 if THOROUGH else 40, 0, 0.0
    fresh, labels = flipped(rng, 20_000, noise)
    for _ in range(n_draws):
        X, y = flipped(rng, n, noise)
        inner = LinearDiscriminantAnalysis()
        if cv == "prefit":
            inner.fit(*flipped(rng, n, noise))
        model = RejectClassifier(inner, target_error=target, cv=cv).fit(X, y)
        sure = model.accepts(fresh)
        accepted += sure.mean() / n_draws
        wrong = (model.model_.predict(fresh) != labels)[sure]
        kept += not sure.any() or wrong.mean() <= target
    assert kept >= binom.ppf(0.01, n_draws, 0.9)
    assert accepted > 0.1


def test_confidence_is_a_parameter_and_a_method(hard):
    X, y = hard
    rates = []
    for level in (0.5, 0.9, 0.99):
        model = clone(RejectClassifier(MODEL, target_error=0.2, confidence=level)).fit(X, y)
        assert model.get_params()["confidence"] == level
        assert model.confidence(X).shape == (300,)
        rates.append(model.reject_rate_)
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]
    assert f"confidence={level}" in repr(model)
    assert model.set_params(confidence=0.5).fit(X, y).reject_rate_ == rates[0]


@pytest.mark.filterwarnings("ignore")
def test_impossible_target_rejects_all_there(rng):
    X = np.r_[rng.normal(size=(40, 1)), rng.normal(size=(80, 1)) + 100.0]
    y = np.repeat([0, 2], [40, 80])
    y[:40:2] = 1  # nobody can tell 0 from 1
    inner = GLVQ(init=[[-0.5], [0.5], [100.0]], max_iter=1).fit(X, y)
    wanted = RejectClassifier(
        inner, target_error=0.05, cv="prefit", per_class=True, measure=constant
    )
    with pytest.warns(UserWarning, match=r"target_error=0.05 cannot be guaranteed for .* of 0"):
        model = wanted.fit(X, y)
    assert np.isposinf(model.thresholds_[:2]).all()
    assert np.isneginf(model.thresholds_[2])
    assert model.reject_rate_ == pytest.approx(1 / 3)
    assert model.accepted_error_ == 0.0
    with pytest.warns(UserWarning, match="of any class: all are rejected") as caught:
        model = wanted.set_params(per_class=False).fit(X, y)
    assert model.reject_rate_ == 1.0
    assert np.isnan(model.accepted_error_)
    assert (model.predict(X) == -1).all()
    said = str(caught[0].message)
    assert "the 120 held-out rows can guarantee is about 0." in said
    reachable = float(said.partition("is about ")[2].partition(". ")[0])
    wanted.set_params(target_error=reachable).fit(X, y)
    assert wanted.reject_rate_ < 1.0


def test_models_of_folds_on_other_scales_are_compared_by_ranks(rng):
    """The margin of one model is a hundred times that of the next."""
    X, y = flipped(rng, 300, 0.05)

    def margin(model, rows):
        return 10.0 ** (len(model.seen_) % 7) * np.abs(model.decision_function(rows))

    class Remembers(LinearDiscriminantAnalysis):
        def fit(self, X, y):
            self.seen_ = X
            return super().fit(X, y)

    folds = list(ShuffleSplit(4, random_state=0).split(X))
    folds = [(train[i:], test) for i, (train, test) in enumerate(folds)]
    scaled, plain = (
        RejectClassifier(Remembers(), cost=0.2, cv=folds, measure=measure).fit(X, y)
        for measure in (margin, "margin")
    )
    assert plain.reject_rate_ > 0.0
    assert scaled.accepts(X).mean() == pytest.approx(plain.accepts(X).mean(), abs=0.1)


@pytest.mark.skipif("PROTOLEARN_DATA" not in os.environ, reason="needs the benchmark data")
def test_margins_of_raw_columns_reject_not_all():
    X, y = datasets.load("diabetes")
    model = RejectClassifier(GMLVQ(random_state=0), target_error=0.25).fit(X, y)
    assert 0.2 < model.accepts(X).mean() < 0.95
    assert model.accepts(X).mean() == pytest.approx(1.0 - model.reject_rate_, abs=0.1)


def constant(model, X):
    return np.full(len(X), np.inf)


def test_a_class_never_predicted_has_the_threshold_of_all(hard):
    X, y = hard
    fitted = GLVQ(random_state=0).fit(X, y)
    rows = fitted.predict(X) != 1
    model = RejectClassifier(fitted, cost=0.3, cv="prefit", per_class=True).fit(X[rows], y[rows])
    alike = clone(model).set_params(model=fitted, per_class=False).fit(X[rows], y[rows])
    assert model.thresholds_[1] == alike.thresholds_[1] > -np.inf


def test_prefit_leaves_the_model_alone(hard):
    X, y = hard
    fitted = GLVQ(random_state=0).fit(X[:150], y[:150])
    before = fitted.prototypes_.copy()
    model = RejectClassifier(fitted, target_error=0.2, cv="prefit").fit(X[150:], y[150:])
    assert model.model_ is fitted
    np.testing.assert_array_equal(fitted.prototypes_, before)
    accepted = model.accepts(X[150:])
    assert model.reject_rate_ == pytest.approx(1.0 - accepted.mean())
    assert model.accepted_error_ == np.mean((fitted.predict(X) != y)[150:][accepted])
    given = RejectClassifier(fitted, threshold=0.5, cv="prefit").fit(X[150:], y[150:])
    assert given.reject_rate_ == pytest.approx(1.0 - given.accepts(X[150:]).mean())
    with pytest.raises(NotFittedError):
        RejectClassifier(GLVQ(), threshold=0.5, cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match=r"y contains \[7\]"):
        RejectClassifier(fitted, threshold=0.5, cv="prefit").fit(X, np.full(300, 7))


@pytest.mark.parametrize("cv", [3, StratifiedKFold(4, shuffle=True, random_state=1)])
def test_splits(hard, cv):
    X, y = hard
    model = RejectClassifier(MODEL, cost=0.2, cv=cv).fit(X, y)
    splitter = StratifiedKFold(cv) if isinstance(cv, int) else cv
    again = RejectClassifier(MODEL, cost=0.2, cv=list(splitter.split(X, y))).fit(X, y)
    np.testing.assert_array_equal(model.thresholds_, again.thresholds_)
    other = RejectClassifier(MODEL, cost=0.2, cv=ShuffleSplit(2, random_state=0)).fit(X, y)
    assert 0.0 <= other.reject_rate_ <= 1.0


def test_weights_count_as_rows(hard):
    X, y = hard
    fitted = GLVQ(random_state=0).fit(X, y)
    weight = np.random.RandomState(0).randint(0, 4, len(y))
    for rule in ({"cost": 0.3}, {"target_error": 0.25}, {"threshold": 0.5}):
        weighted = RejectClassifier(fitted, cv="prefit", **rule).fit(X, y, sample_weight=weight)
        rows = np.repeat(np.arange(len(y)), weight)
        repeated = RejectClassifier(fitted, cv="prefit", **rule).fit(X[rows], y[rows])
        np.testing.assert_array_equal(weighted.thresholds_, repeated.thresholds_)
        assert weighted.reject_rate_ == pytest.approx(repeated.reject_rate_)
        assert weighted.accepted_error_ == pytest.approx(repeated.accepted_error_)


def test_weights_reach_the_model(hard):
    X, y = hard
    weight = 1.0 + y
    plain = GLVQ(random_state=0).fit(X, y, sample_weight=weight)
    for model in (MODEL, make_pipeline("passthrough", MODEL)):
        rejecting = RejectClassifier(model, cost=0.3, cv=2).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(rejecting.decision_function(X), plain.decision_function(X))
    for model in (KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())):
        with pytest.raises(ValueError, match="fit of KNeighborsClassifier takes none"):
            RejectClassifier(model, threshold=0.1).fit(X, y, sample_weight=weight)
        RejectClassifier(model, threshold=0.1).fit(X, y)


def test_metadata_routing(hard):
    X, y = hard
    weight = 1.0 + y
    plain = GLVQ(random_state=0).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        asks = GLVQ(random_state=0).set_fit_request(sample_weight=True)
        for inner in (asks, make_pipeline("passthrough", asks)):
            model = RejectClassifier(inner, cost=0.3, cv=2).set_fit_request(sample_weight=True)
            model.fit(X, y, sample_weight=weight)
            np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
            model.set_score_request(sample_weight=False)
            cross_val_score(model, X, y, params={"sample_weight": weight}, cv=2)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, "exactly one of threshold, cost, target_error and class_coverage; none is given"),
        ({"threshold": 0.1, "cost": 0.1}, "threshold and cost are given"),
        ({"cost": 0.1, "target_error": 0.1}, "cost and target_error are given"),
        ({"cost": 0.0}, r"cost=0.0 of RejectClassifier must be a finite number in \(0, 1\)"),
        ({"cost": 1}, "cost=1 of"),
        ({"cost": "a"}, "cost='a' of"),
        ({"target_error": -0.1}, r"target_error=-0.1 .* in \[0, 1\)"),
        ({"target_error": 1.0}, "target_error=1.0 of"),
        ({"target_error": 0.1, "confidence": 1}, r"confidence=1 of .* in \(0, 1\)"),
        ({"threshold": np.nan}, "threshold=nan must be a number"),
        ({"threshold": True}, "threshold=True must be a number"),
        ({"threshold": "a"}, "threshold='a' must be a number"),
        ({"threshold": {0: None}}, "got None for class 0"),
        ({"threshold": {0: 0.5, 5: 0.5}}, r"threshold names \[5\], .* classes are \[0, 1, 2\]"),
        ({"cost": 0.1, "measure": "margins"}, "measure='margins' must be one of 'margin', 'rad"),
        ({"cost": 0.1, "per_class": "yes"}, "per_class='yes'"),
        ({"threshold": 0.1, "per_class": True}, "per_class=True has no meaning with threshold"),
        ({"cost": 0.1, "cv": "pre"}, "cv"),
    ],
)
def test_bad_settings(iris, settings, shown):
    with pytest.raises(ValueError, match=shown):
        RejectClassifier(MODEL, **settings).fit(*iris)


def test_a_new_fit_forgets_old_rates(hard):
    model = RejectClassifier(MODEL, cost=0.3).fit(*hard)
    assert model.reject_rate_ >= 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(cost=None, threshold=0.0).fit(*hard)
    assert not hasattr(model, "reject_rate_")
    assert not hasattr(model, "accepted_error_")
    assert model.accepts(hard[0]).all()
