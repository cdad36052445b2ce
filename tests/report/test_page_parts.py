"""The parts of the report: numbers, texts and pictures that it shows."""

import base64
import io
import json
from html.parser import HTMLParser
from itertools import pairwise
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    FisherPrototypes,
    certified_radius,
    hypothesis_margin,
    relevance_profile,
)
from protolearn.datasets import flip_labels
from protolearn.report.page.chart import Axis, Chart, as_json, every, grey_image, palette_image
from protolearn.report.page.column_importance import relevances_of
from protolearn.report.page.contents import sample_rows
from protolearn.report.page.evidence import by_folds, by_given_rows
from protolearn.report.page.margin_charts import certificates_chart, distance_unit, margins_chart
from protolearn.report.page.performance import (
    Group,
    calibration_chart,
    calibration_text,
    curves_of,
    equal_bins,
)
from protolearn.report.page.rendering import page_templates
from protolearn.report.page.suspect_rows import find_mislabelled, find_wrong
from protolearn.report.subject import Subject
from protolearn.tables import table_pipeline


class Reader(HTMLParser):
    """What a browser reads: tags, their attributes, and texts."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1))
def test_any_text_is_shown_as_it_is(text):
    reader = Reader()
    page = '<p title="{{ text }}" data-x="{{ text }}">{{ text }}</p>'
    reader.feed(page_templates().from_string(page).render(text=text))
    reader.close()
    assert reader.tags == [("p", {"title": text, "data-x": text})]
    assert "".join(reader.texts) == text


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=10))
def test_data_cannot_end_a_script(value):
    text = as_json(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_some_of_many_with_both_ends():
    assert list(every(5, 10)) == [0, 1, 2, 3, 4]
    places = every(1000, 50)
    assert len(places) <= 50
    assert (places[0], places[-1]) == (0, 999)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_round_and_within_the_axis(low, width):
    axis = Axis("", low, low + width)
    values = [value for value, _ in axis.ticks]
    assert 2 <= len(values) <= 7
    step = (values[-1] - values[0]) / (len(values) - 1)
    np.testing.assert_allclose(np.diff(values), step, rtol=1e-6, atol=1e-9 * abs(low))
    assert low - 1e-6 * width <= values[0]
    assert values[-1] <= low + (1 + 1e-6) * width
    assert any(np.isclose(step / 10 ** np.floor(np.log10(step * 1.001)), [1.0, 2.0, 2.5, 5.0]))


def test_values_are_drawn_where_their_axis_has_them():
    chart = Chart("", "", "", Axis("", -1.0, 3.0), Axis("", 0.0, 10.0))
    left, middle, right = chart.across([-1.0, 1.0, 3.0])
    assert middle == (left + right) / 2.0
    low, high = chart.up([0.0, 10.0])
    assert chart.up(2.5) == low + (high - low) / 4.0


def read_back(address):
    data = base64.b64decode(address.partition(",")[2])
    return matplotlib.image.imread(io.BytesIO(data), format="png")


def test_pictures_can_be_read():
    values = np.arange(12.0).reshape(3, 4)
    found = read_back(grey_image(values, 0.0, 11.0))
    np.testing.assert_allclose(found, values / 11.0, atol=1 / 255)
    colours = [(255, 0, 0, 255), (0, 128, 0, 64)]
    found = read_back(palette_image(np.array([[0, 1], [1, 0]]), colours))
    expected = np.array(colours)[[[0, 1], [1, 0]]] / 255
    np.testing.assert_allclose(found, expected, atol=1 / 255)
    rgb = np.random.RandomState(0).uniform(size=(2, 3, 3))
    np.testing.assert_allclose(read_back(grey_image(rgb, 0.0, 1.0)), rgb, atol=1 / 255)
    assert (read_back(grey_image(np.ones((2, 2)), 1.0, 1.0)) == 0.0).all()


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def judged(cancer):
    X, y = cancer
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    return Subject.of(model, X, y), by_folds(model, X, y, 4, 0, None)


def test_rows_are_judged_by_models_that_have_not_seen_them(cancer, judged):
    X, y = cancer
    subject, evidence = judged
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    expected = cross_val_predict(subject.model, X, y, cv=folds)
    found = np.empty_like(expected)
    found[evidence.rows] = evidence.answers.y_pred
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(y[evidence.rows], evidence.answers.y_true)
    assert "4 folds" in evidence.how


def test_given_rows_are_judged_by_the_model_itself(cancer):
    X, y = cancer
    model = table_pipeline(GLVQ(random_state=0)).fit(X[:300], y[:300])
    evidence = by_given_rows(model, X[300:], y[300:], 0)
    expected = accuracy_score(y[300:], model.predict(X[300:]))
    assert evidence.evaluation.accuracy.value == expected
    assert "too good" in evidence.how


def test_small_classes_have_fewer_folds():
    X, y = make_blobs([30, 3], 2, random_state=0)
    model = GLVQ(random_state=0).fit(X, y)
    assert by_folds(model, X, y, 5, 0, None).evaluation.n_folds == 3
    with pytest.raises(ValueError, match="The class 1 has one row"):
        by_folds(model, X[:31], np.r_[np.zeros(30, int), 1], 5, 0, None)


def test_roc_and_calibration_are_those_of_scikit_learn(judged):
    subject, evidence = judged
    answers = evidence.answers
    (curve,) = curves_of(evidence).values()
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    parts = cross_val_score(subject.model, subject.X, subject.y, cv=folds, scoring="roc_auc")
    np.testing.assert_allclose(curve[2], parts.mean())
    probability = answers.probabilities.max(axis=1)
    drawn = calibration_chart(SimpleNamespace(evidence=evidence)).layers[2]
    parts = equal_bins(probability)
    assert sum(map(len, parts)) == len(probability)
    edges = [-1.0, *(probability[rows].max() for rows in parts)]
    for k, rows in enumerate(parts):
        inside = (probability > edges[k]) & (probability <= edges[k + 1])
        assert inside.sum() == len(rows)
        right = (answers.y_true == answers.y_pred)[inside]
        share, mean = calibration_curve(right, probability[inside], n_bins=1)
        np.testing.assert_allclose([drawn.y[k], drawn.x[k]], [share[0], mean[0]])


def test_roc_of_many_classes_is_that_of_each_against_the_others():
    X, y = load_iris(return_X_y=True)
    evidence = by_folds(GLVQ(random_state=0), X[:, :2], y, 3, 0, None)
    curves = curves_of(evidence)
    assert list(curves) == [0, 1, 2]
    P, own = evidence.answers.probabilities, evidence.answers.y_true == 1
    lead = P[:, 1] - np.delete(P, 1, axis=1).max(axis=1)
    np.testing.assert_allclose(curves[1][2], roc_auc_score(own, lead))


def test_the_probability_is_that_of_the_answer():
    X, y = make_classification(400, 5, weights=[0.9], flip_y=0.1, random_state=0)
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring="balanced_accuracy", cv=2)
    evidence = by_given_rows(model.fit(X, y), X, y, 0)
    answers = evidence.answers
    assert (answers.probabilities.argmax(axis=1) != answers.y_pred).any()
    expected = np.where(answers.y_pred == 1, *answers.probabilities[:, ::-1].T)
    np.testing.assert_array_equal(evidence.probability, expected)


def test_errors_in_both_directions_do_not_cancel():
    right = np.arange(100) < 77
    groups = [Group.of(np.full(100, p), right) for p in (0.55, 0.95)]
    text = calibration_text(groups, 0.75, 0.77)
    assert "2 of 2 groups predictions are correct more or less often" in text
    text = calibration_text([Group.of(np.full(100, 0.8), right)], 0.8, 0.77)
    assert "No group deviates" in text


@pytest.mark.parametrize(
    ("cv", "text"),
    [
        (3, "a model that was fitted without it: cross-validation with 3 folds"),
        (np.int64(3), "a model that was fitted without it: cross-validation with 3 folds"),
        (
            ShuffleSplit(2, test_size=0.2, random_state=0),
            "of 150 rows were predicted by models that were fitted without",
        ),
        (
            RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
            "300 predictions in all",
        ),
    ],
    ids=["number", "of numpy", "some rows", "several times"],
)
def test_splits_are_told_as_they_are(cv, text):
    X, y = load_iris(return_X_y=True)
    evidence = by_folds(GLVQ(random_state=0, max_iter=5), X, y, cv, 0, None)
    assert text in evidence.how
    np.testing.assert_array_equal(evidence.answers.y_true, y[evidence.rows])


UNITS = {
    "table": (table_pipeline(GLVQ(random_state=0)), "standard deviations of the columns"),
    "scaler": (
        make_pipeline(StandardScaler(), GLVQ(random_state=0)),
        "standard deviations of the columns",
    ),
    "none": (GLVQ(random_state=0), "units of the model's input"),
    "whitened": (
        make_pipeline(StandardScaler(), PCA(4, whiten=True), GLVQ(random_state=0)),
        "units of the model's input",
    ),
    "robust": (
        make_pipeline(RobustScaler(), GLVQ(random_state=0)),
        "units of the model's input",
    ),
}


@pytest.mark.parametrize("name", UNITS)
def test_certificates_hold_in_the_unit_that_is_told(name):
    model, text = UNITS[name]
    X, y = load_iris(return_X_y=True)
    subject = Subject.of(model.fit(X, y), X, y)
    assert distance_unit(subject) == text
    if text.startswith("standard"):
        radius = certified_radius(subject.last, subject.inner)
        rng = np.random.RandomState(0)
        for _ in range(50):
            way = rng.normal(size=X.shape)
            way *= (0.99 * radius / np.linalg.norm(way, axis=1))[:, None] * X.std(axis=0)
            np.testing.assert_array_equal(model.predict(X + way), model.predict(X))


def test_flipped_labels_are_found():
    X, y = make_blobs(300, 4, centers=3, cluster_std=1.5, random_state=0)
    noisy = flip_labels(y, 0.05, random_state=0)
    flipped = set(np.flatnonzero(noisy != y).tolist())
    evidence = by_folds(GLVQ(random_state=0), X, noisy, 5, 0, None)
    found = [row for row, _ in find_mislabelled(evidence)]
    assert len(flipped & set(found)) >= 0.9 * len(flipped)
    assert len(flipped & set(found[:10])) >= 9
    assert {row for row, _ in find_wrong(evidence)} == set(evidence.rows[evidence.wrong].tolist())


def test_certificates_and_margins_are_those_of_the_library(judged):
    subject, _ = judged
    radius = certified_radius(subject.last, subject.inner)
    chart = certificates_chart(subject, radius)
    (area,) = chart.layers
    right = subject.predicted_codes == subject.codes
    for x, share in zip(area.x[::20], area.y[::20], strict=True):
        low, high = (np.mean(right & (radius >= x * f)) for f in (1.0 + 1e-4, 1.0 - 1e-4))
        assert low - 1e-4 <= share <= high + 1e-4
    margin = hypothesis_margin(subject.last, subject.inner, subject.y)
    # What is drawn falls at once to its next point, so that it is nowhere too high.
    corners = [tuple(map(float, pair.split(","))) for pair in chart.steps(area).split()]
    for (x0, y0), (x1, y1) in pairwise(corners):
        assert x0 == x1 or y0 == y1
    margin = hypothesis_margin(subject.last, subject.inner, subject.y)
    bars = [layer for layer in margins_chart(subject, margin).layers if layer.kind == "bars"]
    assert sum(np.sum(bar.y - bar.base) for bar in bars) == len(margin)
    below = sum(np.sum((bar.y - bar.base)[bar.x < 0]) for bar in bars)
    assert below == (margin < 0).sum()


def test_relevances_of_a_metric_are_those_of_its_profile():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X["colour"] = np.where(np.arange(150) % 3, "red", np.where(np.arange(150) % 2, "blue", "green"))
    model = table_pipeline(GRLVQ(random_state=0)).fit(X, y)
    subject = Subject.of(model, X, y)
    found = relevances_of(subject, np.arange(150), 12)
    profile = relevance_profile(subject.last, subject.inner, y, n_resamples=12, random_state=0)
    by_column = np.hstack([profile.samples[:, :4], profile.samples[:, 4:].sum(1, keepdims=True)])
    np.testing.assert_allclose(found.low[0], np.quantile(by_column, 0.025, axis=0))
    np.testing.assert_allclose(found.high[0], np.quantile(by_column, 0.975, axis=0))
    np.testing.assert_allclose(found.values.sum(), 1.0)
    assert found.names == list(X.columns)
    short = relevances_of(subject, np.arange(150), 3)
    assert np.isnan(short.low).all()
    assert "no intervals" in short.meaning


def test_there_are_no_more_refits_than_there_is_time_for():
    X, y = load_iris(return_X_y=True)
    subject = Subject.of(GMLVQ(random_state=0).fit(X, y), X, y)
    assert "no intervals" in relevances_of(subject, np.arange(150), 20, seconds=1e-9).meaning


@pytest.mark.parametrize("model", [GLVQ(random_state=0), FisherPrototypes()], ids=["near", "line"])
def test_relevances_of_other_models_are_those_of_their_decisions(cancer, model):
    X, y = cancer
    subject = Subject.of(table_pipeline(model).fit(X, y), X, y)
    found = relevances_of(subject, np.arange(len(y)), 0)
    np.testing.assert_allclose(found.values.sum(), 1.0)
    assert ((found.low <= found.values) & (found.values <= found.high)).all()
    if isinstance(model, GLVQ):
        shares = np.abs(subject.last.contributions(subject.inner))
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.values[0], shares.mean(axis=0))


def test_rows_are_drawn_at_random():
    drawn = sample_rows(100_000, 500, 0)
    assert len(set(drawn.tolist())) == 500
    assert drawn.max() > 50_000
    np.testing.assert_array_equal(sample_rows(100_000, 500, 0), drawn)
    assert sample_rows(100, 500, 0).tolist() == list(range(100))
