"""The reject option: measures of confidence, labels, and the models that it takes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

import custom_axes
from protolearn import (
    GLVQ,
    GMLVQ,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    RejectClassifier,
    hypothesis_margin,
)
from protolearn.analysis.confidence import confidence_of

MODEL = GLVQ(random_state=0)


@pytest.fixture(scope="module")
def hard():
    """Three classes that overlap, 300 rows."""
    return make_blobs(300, centers=3, cluster_std=3.0, random_state=1)


def test_margin_of_other_classifiers(iris):
    X, y = iris
    three = LogisticRegression().fit(X, y)
    ordered = np.sort(three.decision_function(X), axis=1)
    np.testing.assert_allclose(confidence_of(three, X, "margin"), ordered[:, 2] - ordered[:, 1])
    two = LinearSVC().fit(X, y == 1)
    np.testing.assert_allclose(confidence_of(two, X, "margin"), np.abs(two.decision_function(X)))
    with pytest.raises(ValueError, match=r"GaussianNB has no decision_function.*another measure"):
        confidence_of(GaussianNB().fit(X, y), X, "margin")
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        confidence_of(two, X, "probability")
    digits = make_blobs(60, centers=4, random_state=0)
    with pytest.raises(ValueError, match=r"6.* for 4 classes.*is not one score a class"):
        confidence_of(SVC(decision_function_shape="ovo").fit(*digits), digits[0], "margin")


def test_margin_is_never_negative_unless_soft(hard):
    X, y = hard
    assert confidence_of(GLVQ(random_state=0).fit(X, y), X, "margin").min() >= 0.0
    soft = RSLVQ(xi=0.1, prototypes_per_class=4, random_state=0).fit(X, y)
    expected = hypothesis_margin(soft, X, soft.predict(X))
    np.testing.assert_array_equal(confidence_of(soft, X, "margin"), expected)
    assert expected.min() < 0.0  # the nearest prototype does not decide alone


def test_radius_is_the_distance_to_the_border(iris):
    X, y = iris
    scaled = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y == 0)
    model = RejectClassifier(scaled, threshold=0.5, measure="radius", cv="prefit").fit(X, y == 0)
    Z, (a, b) = scaled[0].transform(X), scaled[-1].prototypes_
    distance = np.abs(Z @ (b - a) - 0.5 * (b @ b - a @ a)) / np.linalg.norm(b - a)
    np.testing.assert_allclose(model.confidence(X), distance, atol=1e-9)
    with pytest.raises(TypeError, match="GaussianNB is neither a nearest-prototype"):
        confidence_of(GaussianNB().fit(X, y), X, "radius")


def test_probability_and_function(iris):
    X, y = iris
    fitted = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    for model in (fitted, GaussianNB().fit(X, y)):
        np.testing.assert_array_equal(
            confidence_of(model, X, "probability"), model.predict_proba(X).max(axis=1)
        )
    model = RejectClassifier(MODEL, threshold=1.0, measure=first_column).fit(X, y)
    np.testing.assert_array_equal(model.accepts(X), X[:, 0] >= 1.0)
    for bad, shown in [
        (two_columns, r"shape \(150, 2\), expected one number a row: \(150,\)"),
        (missing, "The confidence of 150 rows is NaN"),
    ]:
        with pytest.raises(ValueError, match=shown):
            RejectClassifier(MODEL, cost=0.5, measure=bad, cv=[(np.arange(150),) * 2]).fit(X, y)
    divergent = PrototypeClassifier(distance=custom_axes.LogCosh()).fit(X, y)
    with pytest.raises(ValueError, match=r"LogCosh is not a metric.*measure='probability'"):
        confidence_of(divergent, X, "margin")


def first_column(model, X):
    return X[:, 0]


def two_columns(model, X):
    return X[:, :2]


def missing(model, X):
    return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("classes", "label", "expected", "dtype"),
    [
        ([0, 1], None, -1, "int64"),
        ([-1, 1], None, -2, "int64"),
        ([-2.0, 1.0], None, -3.0, "float64"),
        (np.array([0, 1], dtype="int32"), None, -1, "int32"),
        (np.array([0, 1], dtype="uint8"), None, -1, "int64"),
        (np.array([0, 2**63 + 5], dtype="uint64"), None, -1, "object"),
        (np.array([0, 1], dtype="float32"), 0.1, 0.1, "float64"),
        ([0, 1], 0.5, 0.5, "float64"),
        ([0, 1], np.inf, np.inf, "float64"),
        ([False, True], None, -1, "int64"),
        (["a", "b"], None, "reject", "<U6"),
        (["a", "b"], "nobody can tell", "nobody can tell", "<U15"),
        (["far longer", "b"], "?", "?", "<U10"),
        (np.array(["a", "b"], dtype=object), None, "reject", "object"),
        ([0, 1], "reject", "reject", "object"),
        (["a", "b"], -1, -1, "object"),
    ],
)
def test_reject_label(classes, label, expected, dtype):
    X, y = np.array([[0.0], [1.0], [9.0], [10.0]]), np.asarray(classes)[[0, 0, 1, 1]]
    model = RejectClassifier(KNeighborsClassifier(1), threshold=0.5, reject_label=label)
    model.set_params(measure=near_the_ends).fit(X, y)
    predicted = model.predict([[0.0], [5.0], [10.0]])
    assert predicted.dtype == np.dtype(dtype)
    assert predicted.tolist() == [
        y[0].item() if hasattr(y[0], "item") else y[0],
        expected,
        y[3].item() if hasattr(y[3], "item") else y[3],
    ]
    assert model.reject_label_ == expected
    assert model.score([[0.0], [5.0], [10.0], [10.0]], y[[0, 0, 3, 0]]) == 0.5


def near_the_ends(model, X):
    return np.abs(np.asarray(X)[:, 0] - 5.0)


@pytest.mark.parametrize("label", [1, "a", [1], np.nan, 1j])
def test_bad_reject_label(label):
    X, y = [[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]
    if label == "a":
        y = ["a", "a", "b", "b"]
    model = RejectClassifier(KNeighborsClassifier(1), threshold=0.5, measure=near_the_ends)
    with pytest.raises(ValueError, match=r"reject_label=.* (is one of the classes|must be a)"):
        model.set_params(reject_label=label).fit(X, y)


def test_model_must_be_a_classifier(iris):
    with pytest.raises(TypeError, match="is not a classifier"):
        RejectClassifier(LinearRegression(), threshold=0.1).fit(*iris)
    model = RejectClassifier(model=MODEL, threshold=0.1)
    for method in (model.predict, model.confidence, model.accepts, model.predict_proba):
        with pytest.raises(NotFittedError):
            method(iris[0])


def test_takes_what_the_model_takes(iris):
    X, y = iris
    holes = X.copy()
    holes[::7, 1] = np.nan
    frame = load_iris(as_frame=True).data
    for rows in (csr_array(X), holes, frame, X.tolist(), X.astype(np.float32)):
        model = RejectClassifier(MODEL, cost=0.3, cv=3).fit(rows, y)
        inner = GLVQ(random_state=0).fit(rows, y)
        np.testing.assert_array_equal(model.predict_proba(rows), inner.predict_proba(rows))
        assert (model.predict(rows)[model.accepts(rows)] >= 0).all()
        assert model.n_features_in_ == 4
    named = RejectClassifier(MODEL, cost=0.3, cv=3).fit(frame, pd.Series(y))
    assert named.feature_names_in_.tolist() == frame.columns.tolist()
    assert not hasattr(named.fit(X, y), "feature_names_in_")


def test_gram_matrix_is_split_both_ways(hard):
    X, y = hard
    rule = {"cost": 0.3, "cv": 3, "measure": "probability"}
    inner = KernelGLVQ(kernel="precomputed", random_state=0)
    precomputed = RejectClassifier(inner, **rule).fit(X @ X.T, y)
    linear = KernelGLVQ(kernel="linear", random_state=0)
    rows = RejectClassifier(linear, **rule).fit(X, y)
    assert 0.0 < rows.reject_rate_ < 0.9
    np.testing.assert_allclose(precomputed.thresholds_, rows.thresholds_, rtol=1e-4)


def test_tags_are_those_of_the_model():
    for inner in (GLVQ(), GMLVQ(), KernelGLVQ(kernel="precomputed"), GaussianProcessClassifier()):
        tags = get_tags(RejectClassifier(inner, cost=0.1))
        assert tags.input_tags == get_tags(inner).input_tags
        assert tags.classifier_tags == get_tags(inner).classifier_tags
        assert tags.estimator_type == "classifier"
    assert is_classifier(RejectClassifier(GLVQ()))


def test_methods_are_those_of_the_model(iris):
    assert not hasattr(RejectClassifier(LinearSVC()), "predict_proba")
    assert not hasattr(RejectClassifier(GaussianNB()), "decision_function")
    model = RejectClassifier(LinearSVC(), cost=0.2).fit(*iris)
    scores = LinearSVC().fit(*iris).decision_function(iris[0])
    np.testing.assert_allclose(model.decision_function(iris[0]), scores)


def test_inside_and_around_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    inside = make_pipeline(StandardScaler(), RejectClassifier(MODEL, target_error=0.03)).fit(X, y)
    around = RejectClassifier(make_pipeline(StandardScaler(), MODEL), target_error=0.03).fit(X, y)
    assert inside[-1].accepted_error_ <= 0.03
    assert around.accepted_error_ <= 0.03
    # The scaler sees all rows in one case and those of the folds in the other.
    np.testing.assert_allclose(inside[-1].thresholds_, around.thresholds_, rtol=0.5)
    assert 0.0 < (inside.predict(X) == -1).mean() < 0.2
    for measure in ("margin", "radius", "probability"):
        model = clone(around).set_params(measure=measure).fit(X, y)
        assert model.accepted_error_ <= 0.03


def test_model_selection_and_pickle(hard):
    X, y = hard
    model = RejectClassifier(model=MODEL, threshold=0.3)
    scores = cross_val_score(model, X, y, cv=3)
    expected = [
        clone(model).fit(X[a], y[a]).score(X[b], y[b]) for a, b in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(scores, expected)
    grid = GridSearchCV(model, {"model__beta": [1.0, 5.0], "threshold": [0.0, 1.0]}, cv=3)
    grid.fit(X, y)
    assert grid.best_params_["threshold"] == 0.0  # by accuracy over all rows
    assert grid.best_estimator_.model_.beta == grid.best_params_["model__beta"]
    again = pickle.loads(pickle.dumps(grid.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), grid.predict(X))
