"""Pictures of margins."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import ecdf
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, MCE, hypothesis_margin
from protolearn.analysis import MarginHistory
from protolearn.analysis.certificates import certified_radius, sample_margin
from protolearn.report import MarginDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model(iris):
    return GLVQ(random_state=0).fit(*iris)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def curves(ax):
    """Give the lines with more than two points: not that at zero, and not the dots on it."""
    return [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 2]


def test_the_line_is_the_cumulative_distribution(iris, model):
    X, y = iris
    display = MarginDisplay.from_estimator(model, X, y)
    (curve,) = curves(display.ax_)
    margin = hypothesis_margin(model, X, y)
    np.testing.assert_array_equal(display.margins["GLVQ"], margin)
    expected = ecdf(margin).cdf
    for x, share in zip(expected.quantiles, expected.probabilities, strict=True):
        assert curve[curve[:, 0] == x, 1].max() == pytest.approx(share)
    assert set(curve[:, 0]) == set(expected.quantiles)
    wrong = 1 - model.score(X, y)
    assert legend(display.ax_) == [f"GLVQ: {100 * wrong:.1f} % below zero"]
    dot = display.ax_.lines[-1].get_xydata()
    np.testing.assert_allclose(dot, [[0.0, wrong]])
    assert display.ax_.get_xlabel() == "hypothesis margin"
    assert display.figure_ is display.ax_.figure
    display.figure_.draw_without_rendering()
    assert display.ax_.get_yticklabels()[-1].get_text() == "100 %"


@pytest.mark.parametrize(
    ("kind", "function"), [("certified", certified_radius), ("sample", sample_margin)]
)
def test_distances_to_the_boundary_have_the_sign_of_the_prediction(iris, kind, function):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    display = MarginDisplay.from_estimator(pipe, X, y, kind=kind)
    margin = display.margins["GLVQ"]
    np.testing.assert_array_equal(np.abs(margin), function(pipe, X))
    np.testing.assert_array_equal(margin < 0, pipe.predict(X) != y)
    assert "negative where wrong" in display.ax_.get_xlabel()


def test_several_models(iris, model):
    X, y = iris
    other = MCE(random_state=0).fit(X, y)
    pipe = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    _, ax = plt.subplots()
    display = MarginDisplay.from_estimator([model, other, pipe], X, y, ax=ax)
    assert display.ax_ is ax
    assert list(display.margins) == ["GLVQ 1", "MCE", "GLVQ 2"]
    assert len(curves(ax)) == 3
    assert len({line.get_color() for line in ax.lines}) == 4  # and the line at zero
    by_name = MarginDisplay.from_estimator({"a": model, 2: other}, X, y)
    assert list(by_name.margins) == ["a", "2"]
    given = MarginDisplay.from_estimator([model, other], X, y, name=["p", "q"])
    assert list(given.margins) == ["p", "q"]
    assert list(MarginDisplay.from_estimator(model, X, y, name="one").margins) == ["one"]


def test_lines_on_the_same_axes_differ_in_colour(iris, model):
    X, y = iris
    first = MarginDisplay.from_estimator({"a": model, "b": model}, X, y)
    MarginDisplay.from_predictions(y, model.decision_function(X), name="c", ax=first.ax_)
    lines = [line for line in first.ax_.lines if line.get_drawstyle() == "steps-post"]
    assert len({line.get_color() for line in lines}) == len(lines) == 3
    assert len(legend(first.ax_)) == 3
    history = MarginHistory(X, y)
    GLVQ(callback=history, random_state=0).fit(X, y)
    ax = MarginDisplay.from_history(history, name="a").ax_
    MarginDisplay.from_history(history, name="b", ax=ax)
    assert len({line.get_color() for line in ax.lines}) == 2
    assert legend(ax) == ["a", "b"]


def test_more_lines_than_colours_differ_by_style():
    display = MarginDisplay(margins={str(i): np.array([-1.0, i]) for i in range(20)}).plot()
    lines = [line for line in display.ax_.lines if line.get_drawstyle() == "steps-post"]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 20


def test_a_class_without_prototypes_counts_as_wrong(iris):
    X, y = iris
    model = GLVQ(random_state=0).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    display = MarginDisplay.from_estimator(model, X, y)
    assert np.isneginf(display.margins["GLVQ"][100:]).all()
    display.figure_.draw_without_rendering()
    assert np.isfinite(display.ax_.get_xlim()).all()


@pytest.mark.parametrize(("late", "where"), [(False, "right"), (True, "left")])
def test_the_legend_is_where_the_lines_are_not(late, where):
    margin = np.linspace(0.0, 1.0, 200) ** (0.2 if late else 3.0)
    display = MarginDisplay(margins={"a": margin}).plot()
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent().transformed(display.ax_.transAxes.inverted())
    assert (box.x0 > 0.3) == (where == "right")
    line = display.ax_.transAxes.inverted().transform(
        display.ax_.transData.transform(curves(display.ax_)[0])
    )
    assert not (
        (box.x0 < line[:, 0])
        & (line[:, 0] < box.x1)
        & (box.y0 < line[:, 1])
        & (line[:, 1] < box.y1)
    ).any()


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_any_classifier(iris, method, n_classes):
    X, y = iris[0][:, :2], np.array(["c", "a", "b"])[iris[1]]
    keep = iris[1] < n_classes
    X, y = X[keep], y[keep]
    other = LogisticRegression().fit(X, y)
    scores = getattr(other, method)(X)
    display = MarginDisplay.from_predictions(y, scores, name="logistic")
    if scores.ndim == 1:
        expected = np.where(y == other.classes_[1], scores, -scores)
    else:
        expected = [
            row[other.classes_ == label][0] - row[other.classes_ != label].max()
            for row, label in zip(scores, y, strict=True)
        ]
    np.testing.assert_allclose(display.margins["logistic"], expected)
    wrong = 100 * (1 - other.score(X, y))
    assert legend(display.ax_) == [f"logistic: {wrong:.1f} % below zero"]
    if scores.ndim == 2:
        order = np.arange(n_classes)[::-1]
        mixed = MarginDisplay.from_predictions(y, scores[:, order], classes=other.classes_[order])
        np.testing.assert_allclose(mixed.margins["Classifier"], expected)
        some = y != "a"
        part = MarginDisplay.from_predictions(y[some], scores[some], classes=other.classes_)
        np.testing.assert_allclose(part.margins["Classifier"], np.array(expected)[some])


def test_histories(iris):
    X, y = iris
    histories = {}
    for name, kind in {"GLVQ": GLVQ, "MCE": MCE}.items():
        histories[name] = MarginHistory(X, y)
        kind(callback=histories[name], solver="sgd", max_iter=4, random_state=0).fit(X, y)
    display = MarginDisplay.from_history(histories)
    assert legend(display.ax_) == ["GLVQ", "MCE"]
    for line, history in zip(display.ax_.lines, histories.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
        np.testing.assert_array_equal(line.get_ydata(), history.mean_margin)
    assert legend(MarginDisplay.from_history(list(histories.values())).ax_) == ["fit 1", "fit 2"]
    _, ax = plt.subplots()
    single = MarginDisplay.from_history(histories["MCE"], name="MCE", ax=ax)
    assert single.ax_ is ax
    assert ax.get_legend() is None
    assert ax.get_ylabel() == "mean hypothesis margin"


def test_errors(iris, model):
    X, y = iris
    with pytest.raises(ValueError, match="kind='exact' must be one of 'hypothesis', 'certified'"):
        MarginDisplay.from_estimator(model, X, y, kind="exact")
    with pytest.raises(ValueError, match="2 different names"):
        MarginDisplay.from_estimator([model, model], X, y, name=["a", "a"])
    with pytest.raises(ValueError, match="2 different names"):
        MarginDisplay.from_estimator([model, model], X, y, name="a")
    with pytest.raises(ValueError, match="a dict, which has names already"):
        MarginDisplay.from_estimator({"a": model}, X, y, name="b")
    for nothing in [[], {}]:
        with pytest.raises(ValueError, match="nothing to show"):
            MarginDisplay.from_estimator(nothing, X, y)
    for kind in ["hypothesis", "certified"]:
        with pytest.raises(ValueError, match=r"y contains \[9\]"):
            MarginDisplay.from_estimator(model, X[:1], [9], kind=kind)
        with pytest.raises(ValueError, match=r"X has 2 rows and y has 1|inconsistent numbers"):
            MarginDisplay.from_estimator(model, X[:2], [0], kind=kind)
    scores = model.decision_function(X)
    with pytest.raises(ValueError, match=r"shape \(100, 3\); 100 labels of 2 .* give classes="):
        MarginDisplay.from_predictions(y[:100], scores[:100])
    with pytest.raises(ValueError, match=r"shape \(150,\); 150 labels of 3 classes"):
        MarginDisplay.from_predictions(y, scores[:, 0])
    with pytest.raises(ValueError, match=r"y_true contains \[2\]"):
        MarginDisplay.from_predictions(y, scores, classes=[0, 1, 7])
    with pytest.raises(ValueError, match="contains NaN"):
        MarginDisplay.from_predictions(y, np.full_like(scores, np.nan))
    with pytest.raises(ValueError, match="has recorded nothing"):
        MarginDisplay.from_history(MarginHistory(X, y))
    with pytest.raises(TypeError, match="there is a GLVQ"):
        MarginDisplay.from_history(model)
