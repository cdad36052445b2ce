"""Pictures of ROC curves."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ
from protolearn.report.performance_displays import RocDisplay, cut_at_ends, spread_along
from protolearn.selection.roc_curves import roc, roc_over_folds


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def hard():
    """Two classes that overlap."""
    return make_blobs(200, centers=[[0.0, 0.0], [2.0, 0.0]], cluster_std=1.3, random_state=1)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curve_of_a_model(hard):
    model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(*hard)
    display = RocDisplay.from_estimator(model, *hard)
    curve = roc(model, *hard)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.fpr)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.tpr)
    (x,), (y,) = display.mark_.get_data()
    assert (x, y) == curve.working_point
    assert display.bars_ is None
    assert legend(display.ax_) == [
        f"GLVQ, AUC {curve.auc:.3f}",
        r"working point, $\Theta = 0$",
    ]
    assert display.ax_.get_xlabel() == "false positive rate"
    assert display.ax_.get_ylabel() == "true positive rate (class 1)"
    assert display.ax_.get_aspect() == 1.0
    display.figure_.draw_without_rendering()
    assert all(text.get_text().endswith(" %") for text in display.ax_.get_xticklabels())


def test_curve_of_folds_has_bars(hard):
    display = RocDisplay.from_cv(GLVQ(random_state=0), *hard, cv=4, random_state=0, n_bars=6)
    averaged = roc_over_folds(GLVQ(random_state=0), *hard, cv=4, random_state=0)
    fpr, tpr, spread = averaged.mean_curve
    np.testing.assert_array_equal(display.line_.get_ydata(), tpr)
    assert np.isclose(auc(fpr, tpr), averaged.auc, rtol=0.0, atol=1e-12)
    low, high = averaged.interval()
    assert legend(display.ax_)[0] == f"GLVQ, mean AUC {averaged.auc:.3f} ({low:.3f} to {high:.3f})"
    (upright,) = (line.get_segments() for line in display.bars_.lines[2])
    assert len(upright) == 6
    for bottom, top in upright:
        at = np.flatnonzero(fpr == bottom[0])
        assert np.isclose(top[1], np.minimum(tpr[at] + spread[at], 1.0)).any()
        assert np.isclose(bottom[1], np.maximum(tpr[at] - spread[at], 0.0)).any()
    none = RocDisplay(curve=averaged, n_bars=0).plot()
    assert none.bars_ is None


def test_several_curves_on_one_axes(hard):
    first = RocDisplay.from_estimator(GLVQ(random_state=0).fit(*hard), *hard)
    lines = len(first.ax_.lines)
    other = LogisticRegression().fit(*hard)
    second = RocDisplay.from_estimator(other, *hard, ax=first.ax_, name="logistic")
    assert second.ax_ is first.ax_
    assert first.line_.get_color() != second.line_.get_color()
    assert second.line_.get_color() == second.mark_.get_color()
    assert len(first.ax_.lines) == lines + 2  # one diagonal
    assert legend(first.ax_)[2].startswith("logistic, AUC")
    assert len(legend(first.ax_)) == 3


def test_several_classes(iris):
    model = GLVQ(random_state=0).fit(*iris)
    display = RocDisplay.from_estimator(model, *iris, positive=2)
    assert display.ax_.get_ylabel() == "true positive rate (class 2)"
    with pytest.raises(ValueError, match="give positive="):
        RocDisplay.from_cv(model, *iris)
    with pytest.raises(ValueError, match="n_bars=-1"):
        RocDisplay.from_cv(model, *iris, positive=2, n_bars=-1)


def test_bars_are_spread_along_the_curve():
    rate = np.arange(129.0) / 128.0
    np.testing.assert_array_equal(spread_along(rate, 0.0 * rate, 3), [32, 64, 96])
    assert spread_along(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]), 5).tolist() == [1]
    np.testing.assert_allclose(
        cut_at_ends(np.array([0.05, 0.95]), np.array([0.1, 0.1])), [[0.05, 0.1], [0.1, 0.05]]
    )


def test_name_and_plain_curve(hard):
    curve = roc(GLVQ(random_state=0).fit(*hard), *hard)
    assert legend(RocDisplay(curve=curve).plot().ax_)[0] == f"AUC {curve.auc:.3f}"
    assert legend(RocDisplay(curve=curve).plot(name="mine").ax_)[0].startswith("mine, AUC")
