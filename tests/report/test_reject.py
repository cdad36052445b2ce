"""Curves of the reject option."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, RejectClassifier
from protolearn.analysis import accuracy_reject_curve
from protolearn.report import RejectDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def hard():
    """Two classes that overlap."""
    return make_blobs(300, centers=[[0.0, 0.0], [2.0, 0.0]], random_state=1)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curve_of_a_model(hard):
    X, y = hard
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    display = RejectDisplay.from_estimator(model, X, y, measure="radius")
    confidence = RejectClassifier(model, threshold=0.0, cv="prefit", measure="radius").fit(X, y)
    curve = accuracy_reject_curve(y, model.predict(X), confidence.confidence(X))
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.reject_rate)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.accuracy)
    assert display.curve.accuracy[0] == model.score(X, y)
    assert display.mark_ is None
    assert legend(display.ax_) == ["GLVQ"]
    assert display.ax_.get_xlabel() == "share rejected"
    assert display.ax_.get_ylabel() == "accuracy of the accepted"
    display.figure_.draw_without_rendering()
    assert all(text.get_text().endswith(" %") for text in display.ax_.get_xticklabels())


@pytest.mark.parametrize("measure", ["margin", "probability"])
def test_reject_classifier_has_a_mark(hard, measure):
    X, y = hard
    model = RejectClassifier(GLVQ(random_state=0), cost=0.2, measure=measure).fit(X, y)
    display = RejectDisplay.from_estimator(model, X, y)
    accepted = model.accepts(X)
    (rate,), (accuracy,) = display.mark_.get_data()
    assert rate == pytest.approx(1.0 - accepted.mean())
    assert accuracy == pytest.approx(model.score(X[accepted], y[accepted]))
    there = np.isclose(display.curve.reject_rate, rate)
    assert display.curve.accuracy[there] == pytest.approx(accuracy)  # on the curve
    assert legend(display.ax_) == ["GLVQ", "GLVQ, working point"]
    RejectDisplay.from_estimator(model, X, y, measure=measure)
    for other in {"margin", "radius", "probability"} - {measure}:
        with pytest.raises(ValueError, match=f"measure='{other}' is given.*leave it out"):
            RejectDisplay.from_estimator(model, X, y, measure=other)


def test_reject_classifier_at_the_end_of_a_pipeline(hard):
    X, y = hard
    pipe = make_pipeline(StandardScaler(), RejectClassifier(GLVQ(random_state=0), cost=0.1))
    display = RejectDisplay.from_estimator(pipe.fit(X, y), X, y)
    alone = RejectDisplay.from_estimator(pipe[-1], pipe[0].transform(X), y)
    np.testing.assert_array_equal(display.curve.accuracy, alone.curve.accuracy)
    assert display.curve.accuracy[0] == pipe[-1].model_.score(pipe[0].transform(X), y)
    assert display.working_point == alone.working_point
    assert legend(display.ax_) == ["GLVQ", "GLVQ, working point"]


def test_labels_may_be_a_column(hard):
    X, y = hard
    model = RejectClassifier(GLVQ(random_state=0), cost=0.1).fit(X, y)
    column = RejectDisplay.from_estimator(model, X, y[:, None])
    assert column.working_point == RejectDisplay.from_estimator(model, X, y).working_point


def test_several_curves_on_one_axes(hard):
    X, y = hard
    model = RejectClassifier(GLVQ(random_state=0), threshold=0.2).fit(X, y)
    first = RejectDisplay.from_estimator(model, X, y)
    other = LogisticRegression().fit(X, y)
    second = RejectDisplay.from_estimator(other, X, y, ax=first.ax_, name="logistic")
    assert second.ax_ is first.ax_
    assert first.line_.get_color() != second.line_.get_color()
    assert first.line_.get_color() == first.mark_.get_color()
    assert legend(first.ax_) == ["GLVQ", "GLVQ, working point", "logistic"]


def test_predictions(hard):
    y = hard[1]
    predicted, confidence = np.where(np.arange(300) < 30, 1 - y, y), np.arange(300.0)
    display = RejectDisplay.from_predictions(y, predicted, confidence)
    assert display.curve.accuracy[0] == 0.9
    assert display.curve.accuracy[30] == 1.0
    assert display.ax_.get_legend() is None
    again = display.plot(name="mine")
    assert legend(again.ax_) == ["mine"]


def test_no_mark_where_all_is_rejected(hard):
    model = RejectClassifier(GLVQ(), threshold=np.inf).fit(*hard)
    display = RejectDisplay.from_estimator(model, *hard)
    assert display.mark_ is None
    assert display.working_point[0] == 1.0


def test_errors(hard):
    with pytest.raises(NotFittedError):
        RejectDisplay.from_estimator(GLVQ(), *hard)
    with pytest.raises(ValueError, match="measure='wide' must be one of"):
        RejectDisplay.from_estimator(GLVQ().fit(*hard), *hard, measure="wide")
