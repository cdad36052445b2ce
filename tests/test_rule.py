"""The rule of a fitted model: what it holds, what follows from it, and linear classifiers."""

import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    RSLVQ,
    FisherPrototypes,
    KernelGLVQ,
    MeanOfClass,
    PrototypeClassifier,
    PrototypeSVM,
    SoftMarginSVM,
    _arrays,
    certified_radius,
    counterfactual,
    generalization_bound,
    hypothesis_margin,
    load,
    sample_margin,
    save,
    to_onnx,
)
from protolearn.analysis import MarginHistory
from protolearn.distances import SquaredEuclidean, linear_metric, sqeuclidean
from protolearn.perceptrons import CommitteeMachine, KernelAdaTron
from protolearn.rule import DecisionRule, LinearRule, as_rule, with_raised_scores
from protolearn.solvers import State

LINEAR = [LogisticRegression(max_iter=1000), RidgeClassifier(), LinearDiscriminantAnalysis()]


class Duck:
    """A linear classifier that knows nothing of scikit-learn."""

    classes_ = np.array(["no", "yes"])
    coef_, intercept_ = np.array([[1.0, -2.0, 0.5]]), np.array([0.25])

    def predict(self, X):
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        return self.classes_[(X @ self.coef_[0] + self.intercept_[0] > 0.0).astype(int)]


@pytest.mark.parametrize("cls", [GLVQ, GMLVQ, RSLVQ])
def test_a_model_answers_as_its_rule(cls, iris):
    X, y = iris
    model = cls(prototypes_per_class=2, random_state=0).fit(X, y)
    rule = as_rule(model)
    assert rule is model.rule_
    rows = rule.read_rows(model, X)
    np.testing.assert_array_equal(rule.classes[rule.codes(rows)], model.predict(X))
    np.testing.assert_array_equal(rule.probabilities(rows), model.predict_proba(X))
    np.testing.assert_array_equal(rule.distances(rows), model.distances(X))
    np.testing.assert_array_equal(rule.nearest(rows), model.nearest_prototypes(X)[1][:, 0])
    np.testing.assert_array_equal(rule.labels, model.prototype_labels_)
    np.testing.assert_array_equal(rule.contributions(rows), model.contributions(X))
    assert rule.is_soft == (cls is RSLVQ)
    decides = "all decide" if cls is RSLVQ else "the nearest decides"
    assert f"of {cls.__name__}: 6 prototypes of 3 classes" in repr(rule)
    assert repr(rule).endswith(f"{decides}>")


def test_a_rule_is_an_object_of_its_own(iris):
    model = GLVQ().fit(*iris)
    other = pickle.loads(pickle.dumps(model.rule_))
    assert model.rule_ == model.rule_
    assert other != model.rule_
    assert len({model.rule_, other}) == 2
    with pytest.raises(FrozenInstanceError):
        model.rule_.scale = 2.0


def test_attributes_before_the_fit():
    for name in ("prototypes_", "prototype_labels_", "classes_", "scale_"):
        with pytest.raises(AttributeError, match=f"GLVQ has no {name}: it is not fitted"):
            getattr(GLVQ(), name)


@pytest.mark.parametrize("cls", [GLVQ, GMLVQ])
def test_prototypes_that_are_moved_in_place(cls, iris):
    """Nothing that was computed before may be believed afterwards."""
    X, y = iris
    model = cls(random_state=0).fit(X, y)
    certified_radius(model, X), sample_margin(model, X)
    model.prototypes_[...] = X.mean(axis=0) + 6.0 * (model.prototypes_ - X.mean(axis=0))
    radius, margin = certified_radius(model, X), sample_margin(model, X)
    fresh = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(radius, certified_radius(fresh, X), rtol=1e-9)
    np.testing.assert_allclose(margin, sample_margin(fresh, X), rtol=1e-9)


def test_prototypes_that_are_assigned(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    W = X[[0, 60, 120]]
    model.prototypes_ = W
    W[:] = 0.0
    np.testing.assert_array_equal(model.prototypes_, X[[0, 60, 120]])
    assert hypothesis_margin(model, X[[0, 60, 120]], y[[0, 60, 120]]).min() > 0.0
    with pytest.raises(ValueError, match=r"shape \(2, 4\), expected \(3, 4\)"):
        model.prototypes_ = X[:2]
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.prototypes_ = np.full((3, 4), np.nan)


@pytest.mark.parametrize("estimator", LINEAR, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_classifiers_have_a_rule(estimator, n_classes, iris):
    X, y = iris
    X, y = X[y < n_classes], np.array(["c", "a", "b"])[y[y < n_classes]]
    model = estimator.fit(X, y)
    rule = as_rule(model)
    assert isinstance(rule, LinearRule)
    assert isinstance(rule, DecisionRule)
    assert repr(rule).endswith(f": linear scores of {n_classes} classes>")
    rows = rule.read_rows(model, X)
    scores = rule.scores(rows)
    lead = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    np.testing.assert_allclose(lead, model.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(rule.classes[rule.codes(rows)], model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(rule.probabilities(rows), model.predict_proba(X))
    else:
        with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba"):
            rule.probabilities(rows)


def test_a_linear_classifier_of_another_library(rng):
    X = rng.randn(20, 3)
    rule = as_rule(Duck())
    rows = rule.read_rows(Duck(), X)
    np.testing.assert_allclose(rule.scores(rows)[:, 1], X @ Duck.coef_[0] + 0.25)
    lengths = np.abs(rule.scores(rows)[:, 1]) / np.linalg.norm(Duck.coef_)
    np.testing.assert_allclose(certified_radius(Duck(), X), lengths)
    np.testing.assert_allclose(sample_margin(Duck(), csr_array(X)), lengths)
    with pytest.raises(ValueError, match="X has 2 features, but Duck is expecting 3"):
        certified_radius(Duck(), X[:, :2])


def test_a_pipeline_is_not_a_rule(iris):
    model = make_pipeline(StandardScaler(), GLVQ()).fit(*iris)
    with pytest.raises(TypeError, match=r"give the last step, model\[-1\]"):
        as_rule(model)


def many_prototypes(n_rows, rng):
    """Return a model with 1,000 prototypes, and rows with labels."""
    X, y = rng.standard_normal((n_rows, 5)), np.arange(n_rows) % 10
    fit = {"solver": "sgd", "max_iter": 1, "init": rng.standard_normal((1000, 5))}
    return GLVQ(prototypes_per_class=100, random_state=0, **fit).fit(X, y), X, y


ANSWERS = {
    "hypothesis_margin": hypothesis_margin,
    "generalization_bound": generalization_bound,
    "nearest_prototypes": lambda model, X, y: model.nearest_prototypes(X),
    "three nearest_prototypes": lambda model, X, y: model.nearest_prototypes(X, k=3),
    "MarginHistory": lambda model, X, y: MarginHistory(X, y)(
        State(1, 0.0, model.rule_.codebook, 0.0, model.rule_.distance)
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_need_memory_for_some_rows_at_a_time(name, rng):
    """Distances of all rows to all prototypes would be 80 MB, twice as many for twice the rows."""
    model, X, y = many_prototypes(10_000, rng)
    ANSWERS[name](model, X[:100], y[:100])
    peaks = []
    for n_rows in (5_000, 10_000):
        tracemalloc.start()
        try:
            ANSWERS[name](model, X[:n_rows], y[:n_rows])
            peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        finally:
            tracemalloc.stop()
    assert peaks[1] < 40.0
    assert peaks[1] - peaks[0] < 8.0  # the answers themselves


def test_answers_of_some_rows_at_a_time_are_those_of_all(rng, monkeypatch):
    monkeypatch.setattr(_arrays, "CHUNK_BYTES", 1 << 17)
    model, X, y = many_prototypes(1_500, rng)
    for rows in (X, X.astype(np.float32)):
        D, labels = model.distances(rows), model.prototype_labels_
        order = np.argsort(D, axis=1, kind="stable")
        for k in (1, 4):
            near, index = model.nearest_prototypes(rows, k=k)
            np.testing.assert_array_equal(index, order[:, :k])
            np.testing.assert_array_equal(near, np.take_along_axis(D, order[:, :k], axis=1))
            assert near.dtype == rows.dtype
        own = np.where(labels == y[:, None], np.sqrt(D), np.inf).min(axis=1)
        rival = np.where(labels == y[:, None], np.inf, np.sqrt(D)).min(axis=1)
        np.testing.assert_array_equal(hypothesis_margin(model, rows, y), 0.5 * (rival - own))


def test_linear_margins_need_memory_for_some_rows_at_a_time(rng):
    """The pairs of two prototypes of all rows and 200 classes would be 128 MB an array."""
    y = np.arange(20_000) % 200
    X = rng.standard_normal((200, 5))[y] + rng.standard_normal((20_000, 5))
    model = MeanOfClass().fit(X, y)
    part = hypothesis_margin(model, X[:300], y[:300])
    tracemalloc.start()
    try:
        margin = hypothesis_margin(model, X, y)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(margin[:300], part)
    assert peak < 150.0  # four times the scores


@pytest.mark.parametrize("cls", [GLVQ, GMLVQ])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_prototypes_are_prepared_once_for_all_rows(cls, dtype, rng, monkeypatch):
    """Before the first part, and before the last, which is shorter; rounded to the rows' type."""
    monkeypatch.setattr(_arrays, "CHUNK_BYTES", 1 << 17)
    X = rng.standard_normal((10_000, 8))
    y = (X[:, 0] + X[:, 1] > 0.0).astype(int)
    model = cls(random_state=0).fit(X, y)
    made, products = [], []
    finder, relative = type(model.rule_.distance).finder, sqeuclidean.relative

    def noted_finder(self, codebook, kind, n_rows):
        made.append(kind)
        return finder(self, codebook, kind, n_rows)

    def noted_product(rows, columns, norms):
        products.append({rows.dtype, columns.dtype, norms.dtype})
        return relative(rows, columns, norms)

    monkeypatch.setattr(type(model.rule_.distance), "finder", noted_finder)
    for module in (sqeuclidean, linear_metric):
        monkeypatch.setattr(module, "relative", noted_product)
    found = model.predict(X.astype(dtype))
    assert len(made) <= 2
    assert len(products) > 3
    assert {frozenset(kinds) for kinds in products} == {frozenset({np.dtype(dtype)})}
    D = model.distances(X)
    nearly = np.abs(D[:, 0] - D[:, 1]) < 1e-5 * D.max(axis=1)
    assert ((found == model.predict(X)) | nearly).all()


def test_a_distance_with_its_own_nearest_is_asked(rng):
    class Last(SquaredEuclidean):
        def nearest(self, X, codebook):
            return np.full(len(X), len(codebook.labels) - 1), np.zeros(len(X))

    X, y = rng.standard_normal((50, 2)), np.arange(50) % 2
    model = PrototypeClassifier(distance=Last(), random_state=0, max_iter=2).fit(X, y)
    assert (model.predict(X) == 1).all()


RAISED = [
    GLVQ(prototypes_per_class=2, random_state=0),
    GMLVQ(random_state=0),
    LGMLVQ(random_state=0),
    RSLVQ(prototypes_per_class=2, random_state=0),
    KernelGLVQ(gamma=0.01, random_state=0),
    MeanOfClass(),
    FisherPrototypes(),
    SoftMarginSVM(),
    SoftMarginSVM(multi_class="ovr"),
    LogisticRegression(),
    PrototypeSVM(random_state=0),
    CommitteeMachine(random_state=0),
    KernelAdaTron(gamma=0.01),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", RAISED, ids=lambda m: type(m).__name__)
def test_raised_scores_decide(model, n_classes, tmp_path):
    X, y = make_blobs(150, centers=n_classes, n_features=4, cluster_std=6.0, random_state=0)

    def scores(one):
        found = one.decision_function(X)
        return np.stack([0.0 * found, found], axis=1) if found.ndim == 1 else found

    model.fit(X, y)
    more = np.r_[np.zeros(n_classes - 1), 0.3 * scores(model).std()]
    raised = with_raised_scores(model, more)
    says = raised.predict(X)
    assert (says == (scores(model) + more).argmax(axis=1)).all()
    assert (says != model.predict(X)).any()
    found = scores(raised) - scores(model)
    np.testing.assert_allclose(found - found[:, :1], (more - more[0]) + 0.0 * found, atol=1e-8)
    twice = with_raised_scores(raised, -more)
    assert (twice.predict(X) == model.predict(X)).all()
    if isinstance(model, LogisticRegression):
        return
    save(raised, tmp_path / "model")
    assert (load(tmp_path / "model").predict(X) == says).all()
    if isinstance(model, CommitteeMachine | PrototypeSVM):  # which cannot be exported
        return
    session = pytest.importorskip("onnxruntime").InferenceSession(
        to_onnx(raised).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    told = session.run(["label"], {"X": X.astype(np.float32)})[0]
    assert np.mean(told == says) > 0.98  # in single precision


@pytest.mark.parametrize("model", RAISED[:4], ids=lambda m: type(m).__name__)
def test_certificates_of_raised_scores(model):
    X, y = make_blobs(150, centers=3, n_features=4, cluster_std=6.0, random_state=0)
    raised = with_raised_scores(model.fit(X, y), [0.0, 0.0, 0.3 * model.decision_function(X).std()])
    radius, rng = certified_radius(raised, X), np.random.RandomState(0)
    for _ in range(20):
        ways = rng.normal(size=X.shape)
        ways *= (radius / np.linalg.norm(ways, axis=1))[:, None]
        assert (raised.predict(X + 0.9999 * ways) == raised.predict(X)).all()
    found = counterfactual(raised, X[:20])
    assert (raised.predict(found.points) == found.label).all()
    assert (found.label != raised.predict(X[:20])).all()
    assert (found.distance >= radius[:20] - 1e-9).all()
    if isinstance(model, GLVQ) and type(model) in (GLVQ, GMLVQ):
        np.testing.assert_allclose(found.distance, sample_margin(raised, X[:20]), rtol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", RAISED[5:9], ids=lambda m: type(m).__name__)
def test_shifts_follow_raised_scores(model, n_classes):
    X, y = make_blobs(90, centers=n_classes, n_features=4, cluster_std=3.0, random_state=0)
    raised = with_raised_scores(model.fit(X, y), np.arange(n_classes) - 0.5)

    def by_prototypes(one):
        near = np.square(X[:, None] - one.prototypes_).sum(axis=2)
        if n_classes == 2:
            return (near[:, 0] - near[:, 1] + one.shift_[0])[:, None]
        rest = getattr(one, "rest_prototypes_", np.zeros((1, 4)))
        return np.square(X[:, None] - rest).sum(axis=2) - near + one.shift_

    before, after = by_prototypes(model), by_prototypes(raised)
    scores = model.decision_function(X).reshape(len(X), -1)
    now = raised.decision_function(X).reshape(len(X), -1)
    if hasattr(model, "rest_prototypes_") or n_classes == 2:
        ratio = np.median(before / scores, axis=0)
        np.testing.assert_allclose(after, ratio * now, atol=1e-6)
    else:
        ratio = np.ptp(before - before[:, :1]) / np.ptp(scores - scores[:, :1])
        np.testing.assert_allclose(after - after[:, :1], ratio * (now - now[:, :1]), atol=1e-6)


def test_models_without_scores_to_raise():
    with pytest.raises(TypeError, match="no scores that could be raised"):
        with_raised_scores(DummyClassifier().fit([[0.0], [1.0]], [0, 1]), [0.0, 1.0])
