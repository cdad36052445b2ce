"""Bars of relevance."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, relevance_profile
from protolearn.report import RelevanceDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frame(iris):
    X, y = iris
    return pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"]), y


def widths(ax):
    return np.array([bar.get_width() for bar in ax.patches])


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_are_the_relevances_largest_first(frame):
    pipe = make_pipeline(StandardScaler(), GRLVQ(random_state=0)).fit(*frame)
    display = RelevanceDisplay.from_estimator(pipe)
    relevances = pipe[-1].relevances_
    order = np.argsort(-relevances)
    np.testing.assert_allclose(widths(display.ax_), relevances[order])
    assert names(display.ax_) == [frame[0].columns[j] for j in order]
    low, high = display.ax_.get_ylim()
    assert low > high  # the first bar is on top
    assert display.ax_.get_legend() is None
    display.figure_.draw_without_rendering()
    assert all(text.get_text().endswith(" %") for text in display.ax_.get_xticklabels())


def test_few_of_many_features(frame):
    display = RelevanceDisplay.from_estimator(GMLVQ(random_state=0).fit(*frame), max_features=2)
    assert len(widths(display.ax_)) == 2
    assert display.ax_.get_xlabel() == "relevance, 2 of 4"


def test_profile_has_intervals_and_dots(frame):
    profile = relevance_profile(GRLVQ(), *frame, n_resamples=5, random_state=0)
    _, ax = plt.subplots()
    display = RelevanceDisplay.from_profile(profile, ax=ax)
    assert display.ax_ is ax
    order = np.argsort(-profile.mean)
    np.testing.assert_allclose(widths(ax), profile.mean[order])
    lines = np.array([[line[0][0], line[1][0]] for line in ax.collections[0].get_segments()])
    np.testing.assert_allclose(lines, np.c_[profile.low, profile.high][order])
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), profile.relevances[order])
    assert ax.get_xlim()[1] > profile.high.max()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["95 % of 5 refits", "fit on all rows"]


def test_local_metrics_have_panels_with_the_same_order(frame):
    X, y = frame
    model = LGMLVQ(localized="prototype", prototypes_per_class=2, random_state=0).fit(X, y)
    display = RelevanceDisplay.from_estimator(model)
    assert [ax.get_title() for ax in display.ax_] == [
        "0, 1",
        "0, 2",
        "1, 1",
        "1, 2",
        "2, 1",
        "2, 2",
    ]
    order = np.argsort(-model.relevances_.mean(axis=0))
    for g, ax in enumerate(display.ax_):
        np.testing.assert_allclose(widths(ax), model.relevances_[g, order])
        assert ax.get_xlabel() == ("" if g < 2 else "relevance")  # the lowest of each column
    with pytest.raises(ValueError, match="ax has 1 axes; this picture has 6"):
        RelevanceDisplay.from_estimator(model, ax=display.ax_[0])
    again = RelevanceDisplay.from_estimator(model, ax=plt.subplots(2, 3)[1])
    assert again.ax_.shape == (6,)


def test_given_names(iris):
    model = GRLVQ(random_state=0).fit(*iris)
    assert set(names(RelevanceDisplay.from_estimator(model).ax_)) == {"x0", "x1", "x2", "x3"}
    display = RelevanceDisplay.from_estimator(model, feature_names=list("abcd"))
    assert set(names(display.ax_)) == set("abcd")
    with pytest.raises(ValueError, match="feature_names has 2 names; the model sees 4 features"):
        RelevanceDisplay.from_estimator(model, feature_names=["a", "b"])


def test_errors(iris):
    with pytest.raises(ValueError, match=r"GLVQ with .* learns no relevances; give GRLVQ"):
        RelevanceDisplay.from_estimator(GLVQ().fit(*iris))
    for model in (GRLVQ(), make_pipeline(StandardScaler(), GRLVQ())):
        with pytest.raises(NotFittedError):
            RelevanceDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="max_features=0 must be an integer of at least 1"):
        RelevanceDisplay.from_estimator(GRLVQ().fit(*iris), max_features=0)
