"""Pictures of learning show what the history and the examples say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from protolearn import GLVQ, LVQ1, AdaTron, KernelAdaTron, Rosenblatt, sample_version_space
from protolearn.datasets import make_teacher_student
from protolearn.report import TrajectoryDisplay, VersionSpaceDisplay

X = np.array([[0.4, 1.8], [-1.2, -0.6], [1.8, -0.9], [-1.6, -0.2], [0.9, -1.6], [1.5, 0.8]])
Y = np.array([1, -1, 1, -1, -1, 1])


@pytest.fixture(autouse=True)
def no_figures():
    yield
    plt.close("all")


def test_weights_are_drawn_state_by_state():
    model = Rosenblatt(order="cyclic", fit_intercept=False, history="step").fit(X, Y)
    for t in range(1, 7):
        shown = TrajectoryDisplay.from_estimator(model, X, Y, until=t + 1)
        np.testing.assert_array_equal(shown.ways[:, 0], model.history_[0]["coef"][: t + 1])
        assert shown.example == t - 1
    learned = [t for t in range(6) if np.any(np.diff(shown.ways[:, 0], axis=0)[t])]
    assert learned == [0, 2, 4]  # as in figure 3.4: every second example is a mistake
    dashed = [line for line in shown.ax_.lines if line.get_linestyle() == "--"]
    ends = dashed[0].get_transform().transform([[0.0, 0.0], [1.0, 1.0]])
    along = np.subtract(*shown.ax_.transData.inverted().transform(ends))
    assert along @ shown.ways[-1, 0] == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(along) > 1.0
    assert "presented" in {text.get_text() for text in shown.ax_.get_legend().texts}


@pytest.mark.parametrize("model", [LVQ1(max_iter=3), GLVQ(solver="sgd", max_iter=3)])
@pytest.mark.parametrize("d", [2, 4])
def test_prototypes_are_drawn_from_start_to_end(model, d, iris):
    rows, y = iris
    rows = rows[:, :d]
    model.set_params(history=True, random_state=0).fit(rows, y)
    shown = TrajectoryDisplay.from_estimator(model, rows, y)
    assert shown.ways.shape == (4, 3, 2)
    assert shown.points.shape == (150, 2)
    if d == 2:
        np.testing.assert_array_equal(shown.ways, model.history_["prototypes"])
    else:  # three prototypes: distances between states are kept as far as a plane allows
        whole = np.linalg.norm(np.diff(model.history_["prototypes"], axis=0), axis=-1)
        assert (np.linalg.norm(np.diff(shown.ways, axis=0), axis=-1) <= whole + 1e-12).all()


def test_weights_that_cannot_be_seen_are_drawn_longer():
    model = AdaTron(history=True).fit(100.0 * X, Y)
    shown = TrajectoryDisplay.from_estimator(model, 100.0 * X, Y)
    assert any("times as long" in text.get_text() for text in shown.ax_.get_legend().texts)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_version_space_is_where_all_examples_are_right(fit_intercept):
    rows, y = make_teacher_student(9, 3 - fit_intercept, random_state=3)
    model = AdaTron(fit_intercept="clamped" if fit_intercept else False).fit(rows, y)
    shown = VersionSpaceDisplay.from_examples(
        rows, y, {"AdaTron": model}, fit_intercept=fit_intercept
    )
    u, v, stability = shown.grid
    U, V = np.meshgrid(u, v)
    potentials = shown.lines @ np.stack([U.ravel(), V.ravel(), np.ones(U.size)])
    assert ((potentials > 0.0).all(axis=0) == np.isfinite(stability).ravel()).all()
    best = np.unravel_index(np.nanargmax(stability), stability.shape)
    place = np.array([u[best[1]], v[best[0]]])
    np.testing.assert_allclose(shown.marks["AdaTron"], place, atol=4.0 * (u[1] - u[0]))


def test_examples_without_which_the_version_space_is_larger_are_informative():
    rows, y = make_teacher_student(9, 3, random_state=5)
    shown = VersionSpaceDisplay.from_examples(rows, y)
    for k in range(9):
        others = np.arange(9) != k
        W = sample_version_space(rows[others], y[others], 3000, random_state=0)
        now_wrong = (np.sign(rows[k] @ W.T) != y[k]).mean()
        assert (now_wrong > 0.0) == shown.is_informative[k], k


def test_what_cannot_be_drawn(iris):
    with pytest.raises(ValueError, match="fit it with history=True"):
        TrajectoryDisplay.from_estimator(LVQ1(max_iter=1).fit(*iris), *iris)
    model = KernelAdaTron(history=True).fit(X, Y)
    with pytest.raises(ValueError, match="no weights in the space"):
        TrajectoryDisplay.from_estimator(model, X, Y)
    with pytest.raises(ValueError, match="three weights"):
        VersionSpaceDisplay.from_examples(X, Y)
    with pytest.raises(ValueError, match="other side"):
        VersionSpaceDisplay.from_examples(X, Y, {"w": [-1.0, -1.0, 0.0]}, fit_intercept=True)
