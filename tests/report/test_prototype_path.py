"""Pictures of linear classifiers in the plane."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import AxLine
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_path import given_path, random_path
from protolearn import GLVQ
from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear import FisherPrototypes, MeanOfClass, generalized_prototypes
from protolearn.report import PrototypePathDisplay
from protolearn.report.style import colour


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def toy():
    return make_graf_toy(random_state=0)


@pytest.fixture(scope="module")
def neurons():
    return make_neurons(random_state=0)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def stars(ax, shade):
    """Give where stars of a colour with a black edge are."""
    return np.concatenate(
        [
            marks.get_offsets()
            for marks in ax.collections
            if len(marks.get_edgecolors())
            and to_hex(marks.get_edgecolors()[0]) == "#000000"
            and to_hex(marks.get_facecolors()[0]) == to_hex(shade)
            and len(marks.get_offsets())
        ]
    )


def points_on(ax):
    """Give two points on each hyperplane."""
    return [np.array([line.get_xy1(), line.get_xy2()]) for line in ax.lines if type(line) is AxLine]


@pytest.mark.parametrize("kind", [MeanOfClass, FisherPrototypes])
def test_two_features_are_the_axes(toy, kind):
    X, y = toy
    model = kind().fit(X, y)
    display = PrototypePathDisplay.from_estimator(model, X, y)
    ax = display.ax_
    np.testing.assert_array_equal(display.plane.points, X)
    np.testing.assert_array_equal(display.plane.codes, y == 1)
    for code in range(2):
        np.testing.assert_allclose(stars(ax, colour(code)), model.prototypes_[[code]])
    (line,) = points_on(ax)
    np.testing.assert_allclose(model.decision_function(line), 0.0, atol=1e-9)
    assert np.linalg.norm(line[1] - line[0]) > 0.1
    assert legend(ax) == ["-1", "1", "hyperplane", "prototype"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    shift = "" if kind is MeanOfClass else f", S = {model.shift_[0]:.2g}"
    assert ax.get_title() == kind.__name__ + shift
    assert ax.get_aspect() == 1.0
    assert display.figure_ is ax.figure


def test_sides_have_the_colours_of_the_classes(toy):
    X, y = toy
    model = FisherPrototypes().fit(X, y)
    ax = PrototypePathDisplay.from_estimator(model, X, y).ax_
    (sides,) = [part for part in ax.collections if type(part).__name__.endswith("ContourSet")]
    shades = [to_hex(shade[:3]) for shade in sides.get_facecolors()]
    assert shades == [colour(0).lower(), colour(1).lower()]
    places = np.random.RandomState(0).uniform(
        *np.transpose([ax.get_xlim(), ax.get_ylim()]), (50, 2)
    )
    inside = np.array([[path.contains_point(z) for z in places] for path in sides.get_paths()])
    np.testing.assert_array_equal(inside[1], model.predict(places) == 1)
    np.testing.assert_array_equal(inside[0], ~inside[1])


def test_more_features_are_seen_along_the_hyperplane(neurons):
    X, y = neurons
    model = FisherPrototypes().fit(X, y)
    display = PrototypePathDisplay.from_estimator(model, X, y)
    w, b = model.coef_[0], model.intercept_[0]
    size = np.linalg.norm(w)
    np.testing.assert_allclose(display.plane.points[:, 0], (X @ w + b) / size, atol=1e-9)
    np.testing.assert_allclose(
        display.plane.prototypes[0, :, 0], (model.prototypes_ @ w + b) / size, atol=1e-9
    )
    flat = X - X.mean(axis=0)
    flat = flat - np.outer(flat @ w, w) / size**2
    assert display.plane.points[:, 1].var() == pytest.approx(
        np.linalg.eigvalsh(flat.T @ flat / len(X))[-1]
    )
    (line,) = points_on(display.ax_)
    np.testing.assert_allclose(line[:, 0], 0.0, atol=1e-9)
    assert np.ptp(line[:, 1]) > 0.1
    assert display.ax_.get_xlabel() == "distance to the hyperplane"
    assert display.ax_.get_ylabel() == "direction along it in which the rows vary most"
    sparse = PrototypePathDisplay.from_estimator(model, csr_array(X), y)
    np.testing.assert_allclose(sparse.plane.points[:, 0], display.plane.points[:, 0], atol=1e-9)


def test_one_feature(toy):
    X, y = toy
    display = PrototypePathDisplay.from_estimator(MeanOfClass().fit(X[:, :1], y), X[:, :1], y)
    display.figure_.draw_without_rendering()
    assert np.isfinite(display.plane.points).all()
    assert not display.plane.points[:, 1].any()
    assert display.ax_.get_ylabel() == ""
    assert not len(display.ax_.get_yticks())


def test_pipeline_is_shown_in_the_space_of_its_last_step(toy):
    X, y = toy
    labels = np.where(y == 1, "on", "off")
    frame = pd.DataFrame(X, columns=["height", "width"])
    pipe = make_pipeline(StandardScaler(), MeanOfClass()).fit(frame, labels)
    display = PrototypePathDisplay.from_estimator(pipe, frame, labels)
    np.testing.assert_allclose(display.plane.points, pipe[0].transform(frame))
    assert legend(display.ax_)[:2] == ["off", "on"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "width")
    alone = PrototypePathDisplay.from_estimator(MeanOfClass().fit(X, y), frame, y)
    assert alone.ax_.get_ylabel() == "width"


def test_prototypes_of_other_classifiers(toy):
    X, y = toy
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = generalized_prototypes(pipe, X, y)
    display = PrototypePathDisplay.from_estimator(found, X, y, name="logistic")
    assert display.ax_.get_xlabel() == "x0"
    np.testing.assert_allclose(display.plane.points, pipe[0].transform(X))
    np.testing.assert_array_equal(display.plane.prototypes[0], found.inner_prototypes)
    (line,) = points_on(display.ax_)
    np.testing.assert_allclose(pipe[-1].decision_function(line), 0.0, atol=1e-9)
    frame = pd.DataFrame(X, columns=["height", "width"])
    found = generalized_prototypes(pipe.fit(frame, y), frame, y)
    assert PrototypePathDisplay.from_estimator(found, frame, y).ax_.get_xlabel() == "height"


def test_path_in_two_dimensions(toy, rng):
    X, y = toy
    path = random_path(rng, 7, 2, classes=(-1, 1))
    _, ax = plt.subplots()
    display = PrototypePathDisplay.from_path(path, X, y, ax=ax)
    assert display.ax_ is ax
    assert ax.get_title() == ""
    np.testing.assert_array_equal(display.plane.prototypes, path.prototypes)
    np.testing.assert_allclose(stars(ax, "w"), path.prototypes[0])
    ways = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 7]
    for code in range(2):
        np.testing.assert_allclose(stars(ax, colour(code)), path.prototypes[-1, [code]])
        assert any(np.array_equal(way, path.prototypes[:, code]) for way in ways)
    for line, step in zip(points_on(ax), (0, -1), strict=True):
        np.testing.assert_allclose(line @ path.coef[step] + path.intercept[step], 0.0, atol=1e-9)
    named = ["hyperplane, C = 0.01", "hyperplane, C = 10000"]
    named += ["prototype, C = 0.01", "prototype, C = 10000"]
    assert legend(ax) == ["-1", "1", *named]


def test_path_in_many_dimensions_shows_both_hyperplanes_exactly(neurons, rng):
    X, y = neurons
    path = random_path(rng, 3, 6, parameter="round", classes=(-1, 1))
    display = PrototypePathDisplay.from_path(path, X, y, name="boosted")
    for line, step in zip(display.plane.lines[[0, -1]], (0, -1), strict=True):
        seen = display.plane.points @ line[:2] + line[2]
        np.testing.assert_allclose(seen, X @ path.coef[step] + path.intercept[step], atol=1e-9)
    assert display.ax_.get_title() == "boosted"
    assert "hyperplane, round 0.01" in legend(display.ax_)
    assert display.ax_.get_xlabel() == "distance to the last hyperplane"
    still = given_path(
        np.repeat(path.prototypes[:1], 2, axis=0), [0.3, 0.3], [1, 2], classes=(-1, 1)
    )
    unturned = PrototypePathDisplay.from_path(still, X, y)
    assert unturned.plane.points[:, 1].std() > 0.1
    assert unturned.ax_.get_ylabel() == "direction along it in which the rows vary most"


def test_a_path_that_begins_without_hyperplane(toy, neurons, rng):
    for X, y in (toy, neurons):
        P = rng.randn(3, 2, X.shape[1])
        P[0, 1] = P[0, 0]
        path = given_path(P, rng.randn(3), [1, 2, 3], classes=(-1, 1))
        display = PrototypePathDisplay.from_path(path, X, y)
        assert len(points_on(display.ax_)) == 1
        assert np.isfinite(display.plane.points).all()


def test_model_with_a_path(toy, rng):
    X, y = toy
    model = MeanOfClass().fit(X, y)
    model.path_ = random_path(rng, 4, 2, parameter="round", classes=(-1, 1))
    display = PrototypePathDisplay.from_estimator(model, X, y, legend=False)
    np.testing.assert_array_equal(display.plane.prototypes, model.path_.prototypes)
    assert display.ax_.get_legend() is None
    assert display.ax_.get_title() == "MeanOfClass"


def test_one_class_against_the_rest(iris, rng):
    X, y = iris
    path = random_path(rng, 2, 4, classes=(None, 2))
    display = PrototypePathDisplay.from_path(path, X, y)
    np.testing.assert_array_equal(display.plane.codes, y == 2)
    assert legend(display.ax_)[:2] == ["not 2", "2"]
    with pytest.raises(ValueError, match="no label 2, the class that this path separates from the"):
        PrototypePathDisplay.from_path(path, X, np.where(y == 2, "yes", "no"))


def test_features_in_very_different_units(toy):
    X, y = toy
    X = X * (1.0, 1000.0)
    display = PrototypePathDisplay.from_estimator(FisherPrototypes().fit(X, y), X, y)
    assert display.stretch < 0.01
    assert display.ax_.get_ylabel() == f"x1\ndrawn {display.stretch:g} times as large"


def test_errors(iris, toy, rng):
    X, y = toy
    with pytest.raises(ValueError, match=r"3 classes apart, expected 2: .* y == label"):
        PrototypePathDisplay.from_estimator(MeanOfClass().fit(*iris), *iris)
    with pytest.raises(TypeError, match=r"LogisticRegression has no prototypes_; give generalized"):
        PrototypePathDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(TypeError, match="GLVQ is not a fitted linear classifier"):
        PrototypePathDisplay.from_estimator(GLVQ().fit(X, y), X, y)
    for unfitted in (MeanOfClass(), make_pipeline(StandardScaler(), MeanOfClass())):
        with pytest.raises(NotFittedError):
            PrototypePathDisplay.from_estimator(unfitted, X, y)
    model = MeanOfClass().fit(X, y)
    with pytest.raises(ValueError, match="X has 1 features; the hyperplane has 2"):
        PrototypePathDisplay.from_estimator(model, X[:, :1], y)
    with pytest.raises(ValueError, match=r"y contains \[7\]"):
        PrototypePathDisplay.from_estimator(model, X[:1], [7])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PrototypePathDisplay.from_estimator(model, X[:2], y)
    same = given_path(np.ones((1, 2, 2)), [0.0], [1.0], classes=(-1, 1))
    with pytest.raises(ValueError, match="all its coefficients are zero"):
        PrototypePathDisplay.from_path(same, X, y)
    with pytest.raises(TypeError, match=r"path must be a PrototypePath.*It is a list"):
        PrototypePathDisplay.from_path([random_path(rng, 2, 2)], X, y)
    assert not plt.get_fignums()  # an error leaves no empty figure behind
