"""Certificates, distances to the boundary and counterfactuals of linear classifiers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import reference
from given_model import assert_just_below
from protolearn import RejectClassifier, certified_radius, counterfactual, sample_margin
from protolearn.linear import (
    RVM,
    BoostedPrototypes,
    HardMarginSVM,
    LinearPrototypes,
    SoftMarginSVM,
)
from protolearn.linear.discriminants import FisherPrototypes, MeanOfClass

SEEDS = st.integers(0, 2**32 - 1)
NAMES = np.array(["b", "c", "a"])
MODELS = [
    LogisticRegression(),
    LogisticRegression(fit_intercept=False),
    LinearSVC(),
    LinearSVC(fit_intercept=False),
    RidgeClassifier(),
    Perceptron(),
    SGDClassifier(random_state=0),
    LinearDiscriminantAnalysis(),
    MeanOfClass(),
    FisherPrototypes(),
    SoftMarginSVM(),
    SoftMarginSVM(multi_class="crammer_singer"),
    SoftMarginSVM(multi_class="nearest"),
    BoostedPrototypes(C=1.0),
    RVM(),
]
PAIRS = [SVC(kernel="linear"), NuSVC(kernel="linear"), HardMarginSVM()]


def name_of(value):
    """Give a name that is the same in every process."""
    return repr(value) if isinstance(value, BaseEstimator) else str(value)


def given_linear(coef, intercept, labels=None):
    """Make a fitted classifier of numbers."""
    model = Perceptron()
    model.coef_, model.intercept_ = np.array(coef, dtype=float), np.array(intercept, dtype=float)
    model.n_features_in_ = model.coef_.shape[1]
    model.classes_ = np.arange(max(len(model.coef_), 2)) if labels is None else np.array(labels)
    return model


def given_by_chance(rng, n_classes, d):
    """Make a fitted classifier of random numbers."""
    rows = 1 if n_classes == 2 else n_classes
    return given_linear(rng.randn(rows, d), rng.randn(rows))


def scores_of(model):
    """Give a normal and an offset for each class."""
    W, b = np.atleast_2d(model.coef_), np.zeros(len(model.classes_)) + model.intercept_
    if len(W) == 1:
        return np.vstack([-W, W]) / 2.0, np.array([-0.5, 0.5]) * b
    return W, b


def closed_form(model, x):
    """Give the distance to the boundary: for two classes ``|w.x + b| / |w|``."""
    W, b = scores_of(model)
    s = W @ x + b
    c = int(s.argmax())
    return min((s[c] - s[k]) / np.linalg.norm(W[c] - W[k]) for k in range(len(s)) if k != c)


def shortest(model, x, target, movable, low, high):
    """Give the distance of the counterfactual by non-negative least squares, inf if none."""
    W, b = scores_of(model)
    s, lengths = W @ x + b, [np.inf]
    own, sides = int(s.argmax()), np.eye(movable.sum())
    for v in range(len(s)):
        if v == own or target not in (None, v):
            continue
        behind = [own] if target is None else [j for j in range(len(s)) if j != v]
        A = (W[behind] - W[v])[:, movable]
        size = np.linalg.norm(A, axis=1)
        A, limits = A / size[:, None], (s[v] - s[behind]) / size
        A = np.vstack([A, -sides, sides])
        limits = np.concatenate([limits, (x - low)[movable], (high - x)[movable]])
        way = reference.projection(A[np.isfinite(limits)], limits[np.isfinite(limits)])
        lengths += [] if way is None else [np.linalg.norm(way)]
    return min(lengths)


@pytest.fixture(scope="module")
def flowers(iris):
    """Iris with names of features and classes."""
    X, y = iris
    return pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"]), NAMES[y]


def fitted(estimator, n_classes, flowers):
    """Fit to as many classes; give the model and rows as an array."""
    X, y = flowers
    kept = y != "a" if n_classes == 2 else np.full(len(y), True)
    return estimator.fit(X[kept].to_numpy(), y[kept]), X.to_numpy()


CASES = [(m, k) for m in MODELS for k in (2, 3)] + [(m, 2) for m in PAIRS]


@pytest.mark.parametrize(("estimator", "n_classes"), CASES, ids=name_of)
def test_closed_forms(estimator, n_classes, flowers):
    model, X = fitted(estimator, n_classes, flowers)
    expected = [closed_form(model, x) for x in X]
    np.testing.assert_allclose(certified_radius(model, X), expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(sample_margin(model, X, n_jobs=2), expected, rtol=1e-9, atol=1e-13)
    found, predicted = counterfactual(model, X), model.predict(X)
    assert found.exact
    assert found.feasible.all()
    np.testing.assert_allclose(found.distance, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(found.original_label, predicted)
    np.testing.assert_array_equal(found.label, model.predict(found.points))
    assert (found.label != predicted).all()


@given(seed=SEEDS, n_classes=st.integers(2, 5), d=st.integers(1, 6))
def test_no_smaller_change_has_another_class_and_a_little_larger_one_has(seed, n_classes, d):
    rng = np.random.RandomState(seed)
    model, x = given_by_chance(rng, n_classes, d), 3.0 * rng.randn(d)
    (own,), (radius,) = model.predict([x]), certified_radius(model, [x])
    directions = rng.randn(2000, d)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    assert (model.predict(x + (1.0 - 1e-9) * radius * directions) == own).all()
    (point,) = counterfactual(model, [x]).points
    assert model.predict([x + (1.0 + 1e-6) * (point - x)]) != own
    assert model.predict([x + (1.0 - 1e-6) * (point - x)]) == own


@given(seed=SEEDS, n_classes=st.integers(2, 5), d=st.integers(1, 6), named=st.booleans())
def test_counterfactual_is_the_nearest_allowed_row(seed, n_classes, d, named):
    rng = np.random.RandomState(seed)
    model, X = given_by_chance(rng, n_classes, d), rng.randn(4, d)
    target = rng.randint(n_classes, size=4) if named else None
    movable = rng.rand(d) < 0.7
    movable[rng.randint(d)] = True
    low = np.where(rng.rand(d) < 0.5, X.min(axis=0) - rng.rand(d), -np.inf)
    high = np.where(rng.rand(d) < 0.5, X.max(axis=0) + rng.rand(d), np.inf)
    found = counterfactual(model, X, target, fixed=~movable, bounds=(low, high))
    np.testing.assert_array_equal(found.points[:, ~movable], X[:, ~movable])
    inside = (low <= found.points) & (found.points <= high)
    assert inside.all()
    np.testing.assert_array_equal(found.label, model.predict(found.points))
    for i, x in enumerate(X):
        sought = None if target is None else target[i]
        if sought == found.original_label[i]:
            assert found.distance[i] == 0.0
            continue
        expected = shortest(model, x, sought, movable, low, high)
        assert found.feasible[i] == (expected < 1e5)
        if found.feasible[i]:
            rounding = 1e-15 * expected**2  # the oracle sees a way y by its residual 1 / (1 + y^2)
            np.testing.assert_allclose(found.distance[i], expected, rtol=1e-6 + rounding)
            assert found.label[i] == sought if named else found.label[i] != found.original_label[i]


@given(seed=SEEDS, n_classes=st.integers(2, 4))
def test_ties_are_those_of_the_classifier(seed, n_classes):
    rng = np.random.RandomState(seed)
    rows = 1 if n_classes == 2 else n_classes
    model = given_linear(rng.randint(-2, 3, size=(rows, 2)), rng.randint(-1, 2, size=rows))
    assume(len(np.unique(np.column_stack([model.coef_, model.intercept_]), axis=0)) == rows)
    X = rng.randint(-3, 4, size=(50, 2)).astype(float)
    found = counterfactual(model, X)
    np.testing.assert_array_equal(found.original_label, model.predict(X))
    np.testing.assert_array_equal(found.label, model.predict(found.points))
    assert (found.feasible == (found.label != found.original_label)).all()
    margin = sample_margin(model, X)
    if not model.coef_.any() and not model.intercept_.any() and n_classes == 2:
        np.testing.assert_array_equal(margin, 0.0)  # always a draw
    else:
        np.testing.assert_allclose(found.distance, margin, atol=1e-10)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-8, 1e8, 1e160, 1e300])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_scale_of_the_scores_has_no_meaning(size, n_classes, rng):
    model = given_by_chance(rng, n_classes, 3)
    scaled = given_linear(size * model.coef_, size * model.intercept_)
    X = rng.randn(20, 3)
    np.testing.assert_allclose(certified_radius(scaled, X), certified_radius(model, X), rtol=1e-12)
    np.testing.assert_allclose(sample_margin(scaled, X), sample_margin(model, X), rtol=1e-12)
    for options in ({}, {"fixed": [0]}, {"bounds": (-3.0, 4.0)}, {"target": 1}):
        found, expected = counterfactual(scaled, X, **options), counterfactual(model, X, **options)
        np.testing.assert_array_equal(found.feasible, expected.feasible)
        np.testing.assert_allclose(found.points, expected.points, atol=1e-10)
        np.testing.assert_array_equal(found.label, scaled.predict(found.points))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_far_from_the_origin(n_classes, rng):
    near = given_by_chance(rng, n_classes, 3)
    far = given_linear(near.coef_, near.intercept_ - near.coef_.sum(axis=1) * 1e6)
    X = rng.randn(50, 3)
    margin = sample_margin(near, X)
    assert_just_below(certified_radius(far, X + 1e6), margin, 1e-7)
    found = counterfactual(far, X + 1e6)
    assert found.feasible.all()
    np.testing.assert_allclose(found.distance, margin, atol=1e-5)
    one_by_one = [far.predict([point])[0] for point in found.points]
    np.testing.assert_array_equal(one_by_one, found.label)


def test_rows_on_the_boundary_have_counterfactuals(rng):
    model = given_by_chance(rng, 2, 4)
    w = model.coef_[0]
    X = 10.0 * rng.randn(50, 4)
    X -= np.outer(model.decision_function(X) / (w @ w), w)
    np.testing.assert_allclose(certified_radius(model, X), 0.0, atol=1e-13)
    found = counterfactual(model, X)
    assert found.feasible.all()
    assert (found.distance < 1e-9).all()
    assert (model.predict(found.points) != model.predict(X)).all()


@pytest.mark.parametrize("offset", [0.0, 1e-17, 1e-13])
def test_the_origin_on_the_boundary_after_a_scaler(offset):
    X = np.array([[4.0, 1e4 - 1.0], [5.0, 1e4], [6.0, 1e4 + 1.0]])  # the second is the mean
    model = make_pipeline(StandardScaler().fit(X), given_linear([[1.0, 2.0]], [offset]))
    found = counterfactual(model, X)
    assert found.exact
    assert found.feasible.all()
    assert (found.label != model.predict(X)).all()
    assert found.distance[1] < 1e-10


def test_where_the_answer_never_changes():
    X = [[1.0, 2.0], [-3.0, 0.0]]
    constant = given_linear([[0.0, 0.0]], [-1.0])
    np.testing.assert_array_equal(certified_radius(constant, X), np.inf)
    np.testing.assert_array_equal(sample_margin(constant, X), np.inf)
    found = counterfactual(constant, X)
    assert not found.feasible.any()
    assert (found.distance == np.inf).all()
    one = given_linear([[1.0, 0.0]], [0.0])
    assert not counterfactual(one, X, fixed=[0]).feasible.any()
    assert counterfactual(one, X, bounds={0: (-0.5, None)}).feasible.tolist() == [True, True]
    assert counterfactual(one, X, bounds={0: (0.5, None)}).feasible.tolist() == [False, True]


def test_parallel_planes():
    model = given_linear([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [0.0, 1.0, 0.0])
    X = [[3.0, 0.0], [-2.0, 1.0]]  # class 0 never wins
    np.testing.assert_allclose(certified_radius(model, X), [3.5, 1.5])
    np.testing.assert_allclose(sample_margin(model, X), [3.5, 1.5])
    assert not counterfactual(model, X, target=0).feasible.any()
    assert counterfactual(model, X).label.tolist() == [2, 1]
    twice = given_linear([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(certified_radius(twice, [[3.0, 0.0]]), 0.0)  # always a draw
    np.testing.assert_allclose(certified_radius(twice, [[-3.0, 0.0]]), 3.0)


def test_pipeline_with_names_in_the_units_of_the_data():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    for last in (LogisticRegression(), FisherPrototypes(), SGDClassifier(random_state=0)):
        model = make_pipeline(StandardScaler(), last).fit(X, y)
        w, Z = model[-1].coef_[0], model[0].transform(X)
        expected = np.abs(Z @ w + model[-1].intercept_) / np.linalg.norm(w)
        np.testing.assert_allclose(certified_radius(model, X), expected, rtol=1e-9)
        fixed = [name for name in X if name.startswith("mean")]
        found = counterfactual(model, X, fixed=fixed, bounds={"worst area": (100.0, 5000.0)})
        assert found.exact
        assert found.feasible.all()
        frame = found.to_frame()[list(X)]
        np.testing.assert_array_equal(model.predict(frame), 1 - model.predict(X))
        np.testing.assert_array_equal(frame[fixed], X[fixed])
        free = w * ~np.isin(X.columns, fixed)
        without_bounds = np.abs(Z @ w + model[-1].intercept_) / np.linalg.norm(free)
        assert (found.distance >= (1.0 - 1e-9) * without_bounds).all()
        loose = counterfactual(model, X, fixed=fixed).distance
        np.testing.assert_allclose(loose, without_bounds, rtol=1e-7)
        with pytest.raises(ValueError, match="feature names should match"):
            certified_radius(model, X[X.columns[::-1]])


@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
def test_sparse_rows_and_coefficients(kind, iris):
    X, y = iris
    for labels in (y, y == 1):
        model = LogisticRegression().fit(kind(X), labels)
        expected = certified_radius(model, X)
        np.testing.assert_allclose(certified_radius(model, kind(X)), expected, atol=1e-13)
        np.testing.assert_allclose(sample_margin(model.sparsify(), kind(X)), expected, atol=1e-13)
    machine = SVC(kernel="linear").fit(kind(X), y == 1)  # has sparse coefficients
    expected = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.coef_.toarray())
    assert_just_below(certified_radius(machine, kind(X)), expected, 1e-10)
    means = MeanOfClass().fit(X, y)
    np.testing.assert_allclose(
        certified_radius(means, kind(X)), certified_radius(means, X), atol=1e-13
    )


def test_kinds_of_rows(flowers):
    X, y = flowers
    model = LogisticRegression().fit(X, y)
    margin = sample_margin(model, X)
    np.testing.assert_allclose(sample_margin(model, X[:1]), margin[:1], rtol=1e-12)
    np.testing.assert_allclose(sample_margin(model, X.astype(np.float32)), margin, atol=1e-5)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Logistic"):
        np.testing.assert_allclose(sample_margin(model, X.to_numpy().tolist()), margin)
    single = LogisticRegression().fit(X.astype(np.float32), y)
    single.coef_ = single.coef_.astype(np.float32)  # as some versions have it
    np.testing.assert_allclose(sample_margin(single, X.astype(np.float32)), margin, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_reject(n_classes, flowers):
    model, X = fitted(RVM(), n_classes, flowers)
    y = flowers[1]
    kept = np.isin(y, model.classes_)
    for measure in ("margin", "radius", "probability"):
        careful = RejectClassifier(RVM(), target_error=0.1, measure=measure)
        careful.fit(X[kept], y[kept])
        assert careful.accepted_error_ <= 0.1
    np.testing.assert_allclose(careful.confidence(X), model.predict_proba(X).max(axis=1))
    careful = RejectClassifier(model, threshold=0.3, measure="radius", cv="prefit")
    careful.fit(X[kept], y[kept])
    np.testing.assert_array_equal(careful.accepts(X), certified_radius(model, X) >= 0.3)
    kernel = RejectClassifier(RVM(kernel="rbf"), threshold=0.1).fit(X[kept], y[kept])
    scores = np.sort(kernel.decision_function(X).reshape(len(X), -1), axis=1)
    lead = np.abs(scores[:, 0]) if n_classes == 2 else scores[:, -1] - scores[:, -2]
    np.testing.assert_allclose(kernel.confidence(X), lead)


class Cautious(ClassifierMixin, BaseEstimator):
    """A linear model with a threshold that its scores do not show."""

    def fit(self, X, y):
        """Fit the inner model."""
        inner = LogisticRegression().fit(X, y)
        self.coef_, self.intercept_, self.classes_ = inner.coef_, inner.intercept_, inner.classes_
        return self

    def predict(self, X):
        """Say the second class only if that is rather sure."""
        return self.classes_[((X @ self.coef_.T + self.intercept_)[:, 0] > 1.0).astype(int)]


FUNCTIONS = [certified_radius, sample_margin, counterfactual]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_errors(function, iris):
    X, y = iris
    flawed = LogisticRegression().fit(X, y)
    flawed.coef_ = flawed.coef_[:2]
    search = GridSearchCV(LinearSVC(), {"C": [1.0]}).fit(X, y)
    if function is counterfactual:
        assert function(search, X[:2]).feasible.all()
    else:
        with pytest.raises(TypeError, match="give its best_estimator_"):
            function(search, X)
    for model, reason in [
        (SVC().fit(X, y), "SVC is neither .* nor a linear one: it has no coef_ with kernel='rbf'"),
        (RVM(kernel="rbf").fit(X, y), "RVM is neither .* it has no coef_ with kernel='rbf'"),
        (SVC(kernel="linear").fit(X, y), "SVC separates each pair of its 3 classes"),
        (NuSVC(kernel="linear").fit(X, y), "NuSVC separates each pair"),
        (Ridge().fit(X, y), "Ridge is neither .* it has no classes_"),
        (RidgeClassifier().fit(X, np.eye(3, dtype=int)[y]), "RidgeClassifier predicts several"),
        (Cautious().fit(X, y == 1), "Cautious does not predict the class with the largest score"),
        (flawed, r"coef_ of LogisticRegression has shape \(2, 4\) for 3 classes"),
    ]:
        with pytest.raises(TypeError, match=reason):
            function(model, X)
        with pytest.raises(TypeError, match=reason):
            function(make_pipeline(StandardScaler().fit(X), model), X)
    for model in (LogisticRegression(), MeanOfClass(), make_pipeline(StandardScaler(), RVM())):
        with pytest.raises(NotFittedError):
            function(model, X)
    model = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but LinearSVC is expecting 4"):
        function(model, X[:, :2])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        function(model, np.where(X > 2.0, np.nan, X))
    with pytest.raises(ValueError, match=r"target contains \[7\]"):
        counterfactual(model, X, target=7)
    plane = LinearPrototypes.from_prototypes(X[[0, 60]], 0.0, [0, 1])
    with pytest.raises(TypeError, match=r"LinearPrototypes is neither .*: it has no "):
        function(plane, X)
