"""Pictures of how paths of prototypes converge."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_path import given_path, random_path
from protolearn.datasets import make_neurons
from protolearn.linear import FisherPrototypes, MeanOfClass
from protolearn.report import ConvergenceDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def neurons():
    return make_neurons(random_state=0)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_differences(neurons, rng):
    mean, fisher = (kind().fit(*neurons) for kind in (MeanOfClass, FisherPrototypes))
    path = random_path(rng, 5, 6, classes=(-1, 1))
    display = ConvergenceDisplay.from_path(path, start=mean, end=fisher)
    assert legend(display.ax_[0]) == ["to MeanOfClass", "to FisherPrototypes"]
    for number, model in enumerate((mean, fisher)):
        drawn = np.array([ax.lines[number].get_ydata() for ax in display.ax_])
        w, b = model.coef_[0], model.intercept_[0]
        for t in range(5):
            apart = np.linalg.norm(path.prototypes[t] - model.prototypes_)  # of both together
            cosine = path.coef[t] @ w / np.linalg.norm(path.coef[t]) / np.linalg.norm(w)
            chord = 2.0 * np.sin(np.arccos(cosine) / 2.0)
            foot = -path.intercept[t] * path.coef[t] / (path.coef[t] @ path.coef[t])
            away = -foot @ path.coef[t] / np.linalg.norm(path.coef[t])  # signed, to the origin
            offset = abs(away - b / np.linalg.norm(w))
            np.testing.assert_allclose(drawn[:, t], [apart, chord, offset])
            np.testing.assert_array_equal(display.ax_[0].lines[number].get_xdata(), path.values)


def test_axes_and_scales(rng):
    display = ConvergenceDisplay.from_path(random_path(rng, 5, 3))
    assert len(display.ax_) == 3
    assert display.ax_[2].get_xlabel() == "C"
    labels = [ax.get_ylabel().split("\n")[1] for ax in display.ax_]
    assert labels == ["of the prototypes", "of the unit normal", "of the offset $b/|w|$"]
    assert {ax.get_xscale() for ax in display.ax_} == {ax.get_yscale() for ax in display.ax_}
    assert display.ax_[0].get_xscale() == "log"
    assert display.figure_ is display.ax_[0].figure
    _, axes = plt.subplots(1, 3)
    again = display.plot(ax=axes)
    assert again.ax_[0] is axes[0]
    rounds = given_path(rng.randn(3, 2, 2), rng.randn(3), [0, 1, 2], parameter="round")
    assert ConvergenceDisplay.from_path(rounds).ax_[0].get_xscale() == "linear"


def test_without_models_the_path_is_compared_with_its_ends(rng):
    path = random_path(rng, 4, 3)
    display = ConvergenceDisplay.from_path(path)
    assert list(display.differences) == ["C = 0.01", "C = 10"]
    first, last = display.differences.values()
    np.testing.assert_array_equal(first[:, 0], 0.0)
    np.testing.assert_array_equal(last[:, -1], 0.0)
    display.figure_.draw_without_rendering()
    assert all(ax.get_ylim()[0] > 0.0 for ax in display.ax_)  # zeros are not on a log axis


def test_values_in_any_order(rng):
    path = random_path(rng, 4, 3)
    mixed = given_path(path.prototypes[::-1], path.intercept[::-1], path.values[::-1])
    display = ConvergenceDisplay.from_path(mixed)
    np.testing.assert_array_equal(display.values, path.values)
    assert list(display.differences) == ["C = 10", "C = 0.01"]
    np.testing.assert_array_equal(display.differences["C = 10"][:, -1], 0.0)


def test_what_is_rounding_does_not_stretch_the_axis(rng):
    path = random_path(rng, 3, 2)
    values = np.array([[1e-17, 0.5, 1.0]] * 3)
    ax = ConvergenceDisplay(values=path.values, differences={"a": values}).plot().ax_[0]
    assert 0.1 < ax.get_ylim()[0] < 0.5
    nothing = ConvergenceDisplay(values=path.values, differences={"a": 0.0 * values}).plot()
    assert nothing.ax_[0].get_yscale() == "linear"


def test_a_step_without_hyperplane_is_a_gap(rng):
    P = rng.randn(3, 2, 2)
    P[1, 1] = P[1, 0]
    first, _ = ConvergenceDisplay.from_path(
        given_path(P, rng.randn(3), [1, 2, 3])
    ).differences.values()
    np.testing.assert_array_equal(np.isnan(first), [[False] * 3] + 2 * [[False, True, False]])


def test_names_and_pipelines(neurons, rng):
    X, y = neurons
    path = random_path(rng, 3, 6, classes=(-1, 1))
    pipe = make_pipeline(StandardScaler(), MeanOfClass()).fit(X, y)
    same = ConvergenceDisplay.from_path(path, start=pipe, end=pipe[-1])
    assert list(same.differences) == ["MeanOfClass 1", "MeanOfClass 2"]
    np.testing.assert_array_equal(*same.differences.values())
    named = ConvergenceDisplay.from_path(path, start=pipe, name=("begin", "end"))
    assert legend(named.ax_[0]) == ["to begin", "to end"]
    rest = random_path(rng, 3, 6, classes=(None, "a"))
    assert len(ConvergenceDisplay.from_path(rest, start=pipe).differences) == 2


def test_errors(neurons, rng):
    X, y = neurons
    path = random_path(rng, 3, 6, classes=(-1, 1))
    model = MeanOfClass().fit(X, y)
    with pytest.raises(ValueError, match="MeanOfClass has 2 features, the path 6"):
        ConvergenceDisplay.from_path(path, start=MeanOfClass().fit(X[:, :2], y))
    with pytest.raises(
        ValueError, match=r"MeanOfClass has the classes \[0, 2\], the path \[-1, 1\]"
    ):
        ConvergenceDisplay.from_path(path, end=MeanOfClass().fit(X, y + 1))
    with pytest.raises(TypeError, match=r"LogisticRegression has no prototypes_"):
        ConvergenceDisplay.from_path(path, end=LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="3 classes apart"):
        ConvergenceDisplay.from_path(path, end=MeanOfClass().fit(X, np.arange(len(X)) % 3))
    for name in ("ab", ("a", "a"), ("a", "b", "c")):
        with pytest.raises(ValueError, match="two different names"):
            ConvergenceDisplay.from_path(path, start=model, name=name)
    with pytest.raises(TypeError, match="It is a MeanOfClass"):
        ConvergenceDisplay.from_path(model)
    assert not plt.get_fignums()
    with pytest.raises(ValueError, match="ax has 2 axes; this picture has 3"):
        ConvergenceDisplay.from_path(path, ax=plt.subplots(2)[1])
