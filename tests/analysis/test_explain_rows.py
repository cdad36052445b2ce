"""What an explanation says: contributions beside formulas written by hand, and the rest of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    RSLVQ,
    KernelGLVQ,
    MeanOfClass,
    PrototypeSVM,
    Rosenblatt,
    SoftMarginSVM,
    explain,
    load,
    save,
)
from protolearn.analysis import find_exemplars
from protolearn.analysis.contributions import compare_rows
from protolearn.analysis.model_view import ModelView
from protolearn.tables import TableEncoder, table_pipeline

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
    """Add up what belongs to a column."""
    return np.stack([terms[:, places].sum(axis=1) for places in PLACES.values()], axis=1)


def lead(model, frame):
    """Give the lead of the predicted class over the second."""
    scores = model.decision_function(frame)
    if scores.ndim == 1:
        return np.abs(scores)
    second, best = np.sort(scores, axis=1)[:, -2:].T
    return best - second


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
    found = explain(pipeline, frame, n=0)
    assert found.columns == tuple(PLACES)
    Z = pipeline["table"].transform(frame)
    terms = quadratic_terms(pipeline["model"], Z, quadratic_of(pipeline["model"]))
    expected = by_column(terms)
    np.testing.assert_allclose(found.contributions, expected, atol=1e-9)
    np.testing.assert_allclose(found.contributions.sum(axis=1), lead(pipeline, frame), atol=1e-9)
    np.testing.assert_allclose(found.score_difference, lead(pipeline, frame), atol=1e-9)


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
    found = explain(pipeline, frame, n=0)
    Z = pipeline["table"].transform(frame)
    terms = linear_terms(Z, np.array([-w / 2, w / 2]), np.array([-b / 2, b / 2]))
    np.testing.assert_allclose(found.contributions, by_column(terms), atol=1e-9)
    np.testing.assert_allclose(found.score_difference, lead(pipeline, frame), atol=1e-9)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()])
def test_linear_models_of_three_classes(frame, model):
    pipeline = table_pipeline(model, frame).fit(frame, labels(frame, 3))
    found = explain(pipeline, frame, n=0)
    last = pipeline["model"]
    terms = linear_terms(pipeline["table"].transform(frame), last.coef_, last.intercept_)
    np.testing.assert_allclose(found.contributions, by_column(terms), atol=1e-9)
    np.testing.assert_allclose(found.score_difference, lead(pipeline, frame), atol=1e-9)


def test_steps_between_searches_and_new_rows(frame):
    y = labels(frame, 2)
    scaled = Pipeline(
        [("table", TableEncoder()), ("scale", MinMaxScaler()), ("model", GLVQ(random_state=0))]
    ).fit(frame, y)
    Z = scaled[:-1].transform(frame)
    terms = quadratic_terms(scaled["model"], Z, quadratic_of(scaled["model"]))
    expected = by_column(terms)
    np.testing.assert_allclose(explain(scaled, frame, n=0).contributions, expected, atol=1e-9)
    linear = Pipeline(
        [("table", TableEncoder()), ("scale", MinMaxScaler()), ("model", LogisticRegression())]
    ).fit(frame, y)
    w, b = linear["model"].coef_[0], linear["model"].intercept_[0]
    terms = linear_terms(linear[:-1].transform(frame), np.array([-w, w]) / 2, np.array([-b, b]) / 2)
    np.testing.assert_allclose(
        explain(linear, frame, n=0).contributions, by_column(terms), atol=1e-9
    )
    search = GridSearchCV(scaled, {"model__max_iter": [20]}, cv=2).fit(frame, y)
    best = explain(search.best_estimator_, frame, n=0).contributions
    np.testing.assert_array_equal(explain(search, frame, n=0).contributions, best)
    shuffled = frame.iloc[:5, ::-1].assign(more=1)
    again = explain(scaled, shuffled, n=0).contributions
    np.testing.assert_allclose(again, explain(scaled, frame, n=0).contributions[:5])


def test_where_nothing_speaks():
    rows = [[1.0, 5.0], [3.0, 5.0]]
    model = table_pipeline(GLVQ(init="means", max_iter=1)).fit(rows, ["a", "b"])
    np.testing.assert_array_equal(explain(model, [[2.0, 5.0]]).contributions, [[0.0, 0.0]])
    found = explain(model, [[1.5, 5.0]]).contributions
    assert found[0, 0] > 0.0
    assert found[0, 1] == 0.0
    model = table_pipeline(LogisticRegression()).fit([[1.0, "u"], [1.0, "u"]], ["a", "b"])
    assert not explain(model, [[1.0, "u"]]).contributions.any()


@pytest.mark.parametrize(
    "model",
    [
        KernelGLVQ(max_iter=5),
        PrototypeSVM(),
        RSLVQ(prototypes_per_class=2, random_state=0),
        SVC(),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(PCA(2), GLVQ(random_state=0)),
        make_pipeline(PolynomialFeatures(), LogisticRegression()),
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_that_are_no_sum_over_columns(frame, model):
    """Contributions add up, and what is equal in the row and the other one adds nothing."""
    pipeline = table_pipeline(model, frame).fit(frame, labels(frame, 3))
    found = explain(pipeline, frame[:5], data=frame, n=0)
    np.testing.assert_allclose(found.contributions.sum(axis=1), found.score_difference, atol=1e-9)
    assert found.compared_with == "the nearest row of the other class"
    if hasattr(pipeline[-1], "prototypes_") and pipeline[:-1].transform(frame[:1]).shape[1] == 7:
        alone = explain(pipeline, frame[:5], n=0)
        assert alone.compared_with == "the nearest prototype of the other class"
    view = ModelView.of(pipeline, frame[:5], frame)
    own, rival = (np.searchsorted(view.classes, part) for part in (found.label, found.rival))
    rows = view.take(frame)
    there = [rows[view.labels(rows) == label] for label in found.rival]
    for i in range(5):
        size = view.sizes(np.broadcast_to(view.plain[i], there[i].shape), there[i])
        (other,) = [there[i][size.sum(axis=1).argmin()]]
        alone = compare_rows(
            ModelView.of(pipeline, frame[i : i + 1]), own[i:], rival[i:], other[None], "row"
        )
        equal = size[size.sum(axis=1).argmin()] == 0.0
        assert (alone.values[0, equal] == 0.0).all()


def test_exemplars_and_examples(frame):
    y = labels(frame, 2)
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    found = explain(model, frame[:4], data=frame, y=y, n_exemplars=2)
    Z = model[0].transform(frame)
    for i in range(4):
        for one, label in zip(found.exemplars[i], (found.label[i], found.rival[i]), strict=True):
            assert one.name == label
            far = np.linalg.norm(Z - Z[i], axis=1)
            far[(y != label) | (np.arange(len(y)) == i)] = np.inf
            assert one.rows.tolist() == np.argsort(far, kind="stable")[:2].tolist()
            assert i not in one.rows
        names = [one.name for one in found.examples[i]]
        assert names == [f"prototype {found.label[i]}", f"prototype {found.rival[i]}"]
    for one, w, label in zip(
        find_exemplars(model, frame, y), model[-1].prototypes_, model[-1].prototype_labels_,
        strict=True,
    ):  # fmt: skip
        far = np.where(y == label, np.linalg.norm(Z - w, axis=1), np.inf)
        assert one.rows.tolist() == np.argsort(far, kind="stable")[:3].tolist()
    linear = table_pipeline(SoftMarginSVM()).fit(frame, y)
    found = explain(linear, frame[:1], data=frame, y=y)
    mean = frame["y"][y == found.label[0]].mean()
    assert found.examples[0][0].name == f"mean of {found.label[0]}"
    assert float(found.examples[0][0].texts[1]) == pytest.approx(mean, abs=0.02)
    assert explain(linear, frame[:1]).examples == ([],)


def test_what_is_shown(frame, tmp_path):
    y = labels(frame, 2)
    model = table_pipeline(GLVQ(random_state=0)).fit(frame, y)
    found = explain(model, frame[:5], data=frame)
    text = repr(found)
    assert text.startswith(f"Row 0: {found.label[0]}, with probability ")
    assert text.endswith("... and 2 rows more")
    assert "Nearest rows of the data, counted from 1: " in text
    assert f"The smallest change of all: {found.counterfactual.describe(0)}." in text
    assert "<table>" in found._repr_html_()
    with pytest.warns(UserWarning, match="<i>"):
        odd = explain(model, frame[:1].assign(colour="<i>"))
    assert "<i>" not in odd._repr_html_()
    table = found.to_frame()
    assert len(table) == 5 * len(PLACES)
    np.testing.assert_array_equal(table["contribution"], found.contributions.ravel())
    ax = found.plot(1)
    assert [bar.get_width() for bar in ax.patches] == sorted(
        found.contributions[1], key=lambda value: -abs(value)
    )
    ax.figure.clf()
    save(model, tmp_path / "model.protolearn")
    assert repr(explain(load(tmp_path / "model.protolearn"), frame[:5], data=frame)) == text


def test_models_of_arrays():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    found = explain(model, X[:3])
    assert found.counterfactual is None
    assert "give data" in found.reasons["counterfactual"]
    np.testing.assert_allclose(found.contributions.sum(axis=1), lead(model, X[:3]))
    assert found.certified_radius.shape == found.margin.shape == (3,)
    found = explain(model, X[:3], data=X, y=y)
    assert found.counterfactual.exact
    found = explain(GLVQ(random_state=0).fit(X, y), X[:3], data=X)
    assert found.counterfactual.feasible.all()
    with pytest.raises(ValueError, match="n_exemplars=0"):
        explain(model, X[:3], data=X, n_exemplars=0)
