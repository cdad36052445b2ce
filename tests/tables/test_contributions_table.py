"""The share of each column in a decision, beside formulas written by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures
from sklearn.svm import SVC, LinearSVC

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    CommitteeMachine,
    KernelGLVQ,
    MeanOfClass,
    PrototypeSVM,
    Rosenblatt,
    SoftMarginSVM,
)
from protolearn.tables import Contributions, TableEncoder, contributions_table, table_pipeline

N_ROWS = 90
PLACES = {"x": [0], "y": [1], "colour": [2, 3, 4], "side": [5], "day": [6]}
"""Where the encoder puts the columns: three colours, two sides."""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    day = np.datetime64("2020-01-01") + rng.randint(0, 400, N_ROWS)
    x = rng.normal(size=N_ROWS) * 7 + 3
    return pd.DataFrame(
        {
            "x": np.where(rng.rand(N_ROWS) < 0.1, np.nan, x),
            "y": rng.lognormal(size=N_ROWS),
            "colour": rng.choice(["red", "green", "blue"], N_ROWS),
            "side": rng.choice(["left", "right"], N_ROWS),
            "day": day.astype("datetime64[us]"),
        }
    )


def labels(frame, n_classes):
    score = frame["x"].fillna(3.0) / 7 + frame["y"] + 2.0 * (frame["colour"] == "red")
    return np.array(["a", "b", "c"])[pd.qcut(score, n_classes, labels=False)]


def by_column(terms):
    """Add up what belongs to a column, and let absolute values sum to one."""
    speaks = np.stack([terms[:, places].sum(axis=1) for places in PLACES.values()], axis=1)
    return speaks / np.abs(speaks).sum(axis=1, keepdims=True)


def nearest(model, Z, quadratic):
    """Give the rows' differences from the nearest prototype of the predicted class and another's.

    ``quadratic`` gives the matrix of the distance of each prototype.
    """
    W, of = model.prototypes_, model.prototype_labels_
    D = np.array([[(z - w) @ quadratic(k) @ (z - w) for k, w in enumerate(W)] for z in Z])
    predicted = of[D.argmin(axis=1)]
    own = predicted[:, None] == of
    return np.where(own, D, np.inf).argmin(axis=1), np.where(own, np.inf, D).argmin(axis=1)


def quadratic_terms(model, Z, quadratic):
    """Write the difference of two squared distances as a sum over features."""
    winner, rival = nearest(model, Z, quadratic)
    found = []
    for z, a, b in zip(Z, winner, rival, strict=True):
        near, far = z - model.prototypes_[a], z - model.prototypes_[b]
        found.append(far * (quadratic(b) @ far) - near * (quadratic(a) @ near))
    return np.array(found)


def quadratic_of(model):
    if hasattr(model, "omega_"):
        omega = np.asarray(model.omega_)
        if omega.ndim == 3:
            groups = np.searchsorted(model.classes_, model.prototype_labels_)
            return lambda k: omega[groups[k]].T @ omega[groups[k]]
        return lambda k: omega.T @ omega
    weights = getattr(model, "relevances_", np.ones(model.n_features_in_))
    return lambda k: np.diag(weights)


@pytest.mark.parametrize("model", [GLVQ, GRLVQ, GMLVQ, LGMLVQ])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_nearest_prototypes(frame, model, n_classes):
    pipeline = table_pipeline(model(prototypes_per_class=2, max_iter=20, random_state=0), frame)
    pipeline.fit(frame, labels(frame, n_classes))
    found = contributions_table(pipeline, frame)
    assert isinstance(found, Contributions)
    assert found.columns == tuple(PLACES)
    assert found.reason == ""
    Z = pipeline["table"].transform(frame)
    terms = quadratic_terms(pipeline["model"], Z, quadratic_of(pipeline["model"]))
    np.testing.assert_allclose(found.shares, by_column(terms), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.shares).sum(axis=1), 1.0)
    assert (found.shares.sum(axis=1) > -1e-12).all()  # the predicted class is the nearest one


def linear_terms(Z, coef, intercept):
    """Give the terms of the lead over the second class, from the boundary nearest to the mean."""
    mean = Z.mean(axis=0)
    terms = []
    for z in Z:
        first, second = np.argsort(-(coef @ z + intercept))[:2]
        w, b = coef[first] - coef[second], intercept[first] - intercept[second]
        on_boundary = mean - (w @ mean + b) / (w @ w) * w
        assert abs(w @ on_boundary + b) < 1e-9 * (1 + abs(b))
        terms.append(w * (z - on_boundary))
        assert terms[-1].sum() == pytest.approx(w @ z + b)
    return np.array(terms)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearSVC(),
        LinearDiscriminantAnalysis(),
        MeanOfClass(),
        SoftMarginSVM(),
        Rosenblatt(max_iter=50),
        SVC(kernel="linear"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_linear_models_of_two_classes(frame, model):
    pipeline = table_pipeline(model, frame).fit(frame, labels(frame, 2))
    w, b = pipeline["model"].coef_[0], pipeline["model"].intercept_[0]
    found = contributions_table(pipeline, frame)
    Z = pipeline["table"].transform(frame)
    terms = linear_terms(Z, np.array([-w / 2, w / 2]), np.array([-b / 2, b / 2]))
    np.testing.assert_allclose(found.shares, by_column(terms), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.shares).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()])
def test_linear_models_of_three_classes(frame, model):
    pipeline = table_pipeline(model, frame).fit(frame, labels(frame, 3))
    found = contributions_table(pipeline, frame)
    last = pipeline["model"]
    terms = linear_terms(pipeline["table"].transform(frame), last.coef_, last.intercept_)
    np.testing.assert_allclose(found.shares, by_column(terms), atol=1e-9)
    assert (found.shares.sum(axis=1) > -1e-12).all()


def test_means_of_classes_as_prototypes_and_as_a_linear_model():
    """Both definitions agree where the boundary is halfway, and the mean on the line."""
    rng = np.random.RandomState(1)
    y = np.repeat(["a", "b"], 30)
    rows = rng.normal(size=(60, 3)) + 2.0 * (y == "b")[:, None] * [1.0, 0.5, 0.0]
    means = np.stack([rows[y == c].mean(axis=0) for c in "ab"])
    linear = table_pipeline(MeanOfClass()).fit(rows, y)
    shares = contributions_table(linear, rows).shares
    Z = linear["table"].transform(rows)
    means = linear["table"].transform(means)
    near = ((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    terms = (Z - means[1 - near]) ** 2 - (Z - means[near]) ** 2
    expected = terms / np.abs(terms).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, atol=1e-9)


def test_steps_between_searches_and_new_rows(frame):
    y = labels(frame, 2)
    scaled = Pipeline(
        [("table", TableEncoder()), ("scale", MinMaxScaler()), ("model", GLVQ(random_state=0))]
    ).fit(frame, y)
    Z = scaled[:-1].transform(frame)
    terms = quadratic_terms(scaled["model"], Z, quadratic_of(scaled["model"]))
    np.testing.assert_allclose(
        contributions_table(scaled, frame).shares, by_column(terms), atol=1e-9
    )
    linear = Pipeline(
        [("table", TableEncoder()), ("scale", MinMaxScaler()), ("model", LogisticRegression())]
    ).fit(frame, y)
    w, b = linear["model"].coef_[0], linear["model"].intercept_[0]
    terms = linear_terms(linear[:-1].transform(frame), np.array([-w, w]) / 2, np.array([-b, b]) / 2)
    np.testing.assert_allclose(
        contributions_table(linear, frame).shares, by_column(terms), atol=1e-9
    )
    search = GridSearchCV(scaled, {"model__max_iter": [20]}, cv=2).fit(frame, y)
    best = contributions_table(search.best_estimator_, frame).shares
    np.testing.assert_array_equal(contributions_table(search, frame).shares, best)
    shuffled = frame.iloc[:5, ::-1].assign(more=1)
    again = contributions_table(scaled, shuffled).shares
    np.testing.assert_allclose(again, contributions_table(scaled, frame).shares[:5])


def test_where_nothing_speaks():
    rows = [[1.0, 5.0], [3.0, 5.0]]
    model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(rows, ["a", "b"])
    np.testing.assert_array_equal(contributions_table(model, [[2.0, 5.0]]).shares, [[0.0, 0.0]])
    np.testing.assert_allclose(contributions_table(model, [[1.5, 5.0]]).shares, [[1.0, 0.0]])
    model = table_pipeline(LogisticRegression()).fit([[1.0, "u"], [1.0, "u"]], ["a", "b"])
    assert not contributions_table(model, [[1.0, "u"]]).shares.any()


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (KernelGLVQ(max_iter=5), "KernelGLVQ"),
        (PrototypeSVM(), "PrototypeSVM"),
        (CommitteeMachine(random_state=0, max_iter=5), "CommitteeMachine"),
        (SVC(), "SVC decides neither by distances of rows nor by linear scores"),
        (RandomForestClassifier(5), "RandomForestClassifier decides neither"),
        (Pipeline([("pca", PCA(2)), ("m", GLVQ())]), "PCA before the model is not known to change"),
        (
            Pipeline([("p", PolynomialFeatures()), ("m", LogisticRegression())]),
            "PolynomialFeatures",
        ),
        (SVC(kernel="linear"), "SVC"),  # of three classes: pairs of them vote
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_reasons_why_there_are_none(frame, model, reason):
    pipeline = table_pipeline(model, frame).fit(frame, labels(frame, 3))
    found = contributions_table(pipeline, frame)
    assert found.shares is None
    assert reason in found.reason
    assert found.columns == tuple(PLACES)


def test_what_is_no_pipeline(frame):
    with pytest.raises(TypeError, match="does not begin with a TableEncoder"):
        contributions_table(GLVQ().fit([[0.0], [1.0]], [0, 1]), frame)
