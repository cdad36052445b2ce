"""Pictures of distances to a hyperplane."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import StepPatch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from given_path import given_path, random_path
from protolearn.datasets import make_neurons
from protolearn.linear import FisherPrototypes, MeanOfClass, generalized_prototypes
from protolearn.report import DistanceDistributionDisplay, DistancePathDisplay
from protolearn.report.style import colour


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def neurons():
    return make_neurons(random_state=0)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def outlines(ax):
    """Give values and edges of the histograms."""
    steps = [patch for patch in ax.patches if isinstance(patch, StepPatch) and not patch.get_fill()]
    return [patch.get_data()[:2] for patch in steps]


def upright(ax, shade):
    """Give where lines of a colour stand."""
    return [line.get_xdata()[0] for line in ax.lines if line.get_color() == shade]


def test_histograms_of_distances(neurons):
    X, y = neurons
    model = FisherPrototypes().fit(X, y)
    display = DistanceDistributionDisplay.from_estimator(model, X, y)
    distances = np.linalg.norm(X - foot(X, model), axis=1) * np.sign(model.decision_function(X))
    np.testing.assert_allclose(display.distances, distances, atol=1e-9)
    for code, (share, edges) in enumerate(outlines(display.ax_)):
        own = display.distances[y == 2 * code - 1]
        assert share.sum() == pytest.approx(1.0)
        expected = [np.mean((own >= a) & (own < b)) for a, b in pairwise(edges)]
        np.testing.assert_allclose(share, expected)
        wrong = np.mean(model.predict(X)[y == 2 * code - 1] != 2 * code - 1)
        assert legend(display.ax_)[code] == f"{2 * code - 1}: {100 * wrong:.1f} % wrong"
    expected = (model.prototypes_ - foot(model.prototypes_, model)) @ model.coef_[0]
    expected /= np.linalg.norm(model.coef_)
    for code in range(2):
        assert upright(display.ax_, colour(code)) == pytest.approx([expected[code]])
    assert legend(display.ax_)[2:] == ["hyperplane", "prototypes"]
    assert display.ax_.get_title() == "FisherPrototypes"
    assert display.ax_.get_xlabel() == "distance to the hyperplane"
    assert display.figure_ is display.ax_.figure


def foot(points, model):
    """Give the nearest points on the hyperplane."""
    w, b = model.coef_[0], model.intercept_[0]
    return points - np.outer(points @ w + b, np.linalg.pinv(w[None])[:, 0])


@pytest.mark.parametrize("bins", [1, 2, 7, 30])
def test_no_bin_is_on_both_sides(neurons, bins):
    X, y = neurons
    model = MeanOfClass().fit(X, y)
    display = DistanceDistributionDisplay.from_estimator(model, X, y, bins=bins)
    edges = display.edges
    assert 0.0 in edges
    np.testing.assert_allclose(np.diff(edges), np.ptp(display.distances) / bins)
    assert edges[0] <= display.distances.min()
    assert edges[-1] >= display.distances.max()
    for code, (share, _) in enumerate(outlines(display.ax_)):
        right = share[edges[:-1] >= 0.0].sum()
        assert right == pytest.approx(np.mean(model.predict(X)[y == 2 * code - 1] == 1))


def test_bins_of_numpy(neurons):
    X, y = neurons
    model = MeanOfClass().fit(X, y)
    for bins in ("sturges", [-20.0, 0.0, 5.0, 20.0], np.array([-30.0, 30.0])):
        display = DistanceDistributionDisplay.from_estimator(model, X, y, bins=bins)
        np.testing.assert_array_equal(
            display.edges, np.histogram_bin_edges(display.distances, bins)
        )


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(fit_intercept=False),
        RidgeClassifier(),
        SGDClassifier(random_state=0),
        LinearSVC(random_state=0),
        SVC(kernel="linear"),
        LinearDiscriminantAnalysis(),
    ],
    ids=["logistic", "no intercept", "ridge", "sgd", "linear svc", "svc", "lda"],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_any_linear_model(neurons, model, scaled):
    X, y = neurons
    labels = np.where(y == 1, "up", "down")
    pipe = make_pipeline(StandardScaler(), model) if scaled else model
    pipe.fit(X, labels)
    display = DistanceDistributionDisplay.from_estimator(pipe, X, labels)
    expected = pipe.decision_function(X) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(display.distances, expected, atol=1e-8)
    assert display.prototypes is None
    assert display.ax_.get_title() == type(model).__name__
    assert [text.split(":")[0] for text in legend(display.ax_)] == ["down", "up", "hyperplane"]


def test_sparse_coefficients(neurons):
    X, y = neurons
    model = SGDClassifier(random_state=0).fit(X, y)
    dense = DistanceDistributionDisplay.from_estimator(model, X, y).distances
    model.sparsify()
    sparse = DistanceDistributionDisplay.from_estimator(model, X, y).distances
    np.testing.assert_allclose(sparse, dense)


@pytest.mark.parametrize("scaled", [False, True])
def test_prototypes_of_other_classifiers(neurons, scaled):
    X, y = neurons
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")) if scaled else LinearSVC()
    found = generalized_prototypes(model.fit(X, y), X, y)
    display = DistanceDistributionDisplay.from_estimator(found, X, y, name="found", legend=False)
    same = DistanceDistributionDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.distances, same.distances, atol=1e-9)
    np.testing.assert_allclose(display.distances, found.project(X), atol=1e-9)
    np.testing.assert_allclose(display.prototypes, found.projected_prototypes)
    assert display.ax_.get_legend() is None
    assert display.ax_.get_title() == "found"


def test_path(neurons, rng):
    X, y = neurons
    path = random_path(rng, 5, 6, classes=(-1, 1))
    display = DistanceDistributionDisplay.from_path(path, X, y, bins=20)
    assert isinstance(display, DistancePathDisplay)
    assert display.shares.shape == (2, 5, len(display.edges) - 1)
    assert 0.0 in display.edges
    np.testing.assert_allclose(display.shares.sum(axis=2), 1.0)
    for t in range(5):
        w, b = path.coef[t], path.intercept[t]
        size = np.linalg.norm(w)
        for code in range(2):
            own = (X[y == 2 * code - 1] @ w + b) / size
            share = np.histogram(own, display.edges)[0] / len(own)
            np.testing.assert_allclose(display.shares[code, t], share)
            np.testing.assert_allclose(
                display.prototypes[t, code], (path.prototypes[t, code] @ w + b) / size
            )
    for code, ax in enumerate(display.ax_):
        image = ax.collections[0]
        np.testing.assert_array_equal(image.get_array().reshape(5, -1), display.shares[code])
        way = ax.lines[-1].get_xydata()
        np.testing.assert_array_equal(way, np.c_[display.prototypes[:, code], path.values])
        assert ax.get_title() == str(2 * code - 1)
        rows = image.get_coordinates()[:, 0, 1]
        np.testing.assert_allclose(rows, 10.0 ** (np.arange(6) - 2.5))  # halfway on a log axis
    assert display.ax_[0].get_yscale() == "log"
    assert display.ax_[0].get_ylabel() == "C"
    display.figure_.draw_without_rendering()


def test_path_of_many_rounds_is_thinned(neurons, rng):
    X, y = neurons
    rounds = np.arange(1, 3001)
    path = given_path(rng.randn(3000, 2, 6), rng.randn(3000), rounds, "round", (-1, 1))
    display = DistanceDistributionDisplay.from_path(path, X[:20], y[:20])
    assert 100 < len(display.values) <= 200
    assert (display.values[0], display.values[-1]) == (1.0, 3000.0)
    gaps = np.diff(np.log(display.values))
    assert gaps[-50:].max() < 2.0 * np.log(3000.0) / 199  # evenly on a log axis
    expected = np.linalg.norm(path.coef, axis=1)[display.values.astype(int) - 1]
    span = (display.prototypes[:, 1] - display.prototypes[:, 0]) / expected
    np.testing.assert_allclose(span, 1.0)  # w is the difference of the prototypes


@pytest.mark.parametrize("values", [[3.0], [0.0], [0, 1, 2], [100.0, 1.0, np.inf]])
def test_paths_of_other_values(neurons, rng, values):
    X, y = neurons
    path = given_path(rng.randn(len(values), 2, 6), rng.randn(len(values)), values, "C", (-1, 1))
    display = DistanceDistributionDisplay.from_path(path, X, y)
    display.figure_.draw_without_rendering()
    np.testing.assert_array_equal(display.values, np.sort(np.array(values)[np.isfinite(values)]))
    log = min(values) > 0
    assert display.ax_[0].get_yscale() == ("log" if log else "linear")


def test_a_step_without_hyperplane_is_left_out(neurons, rng):
    X, y = neurons
    P = rng.randn(3, 2, 6)
    P[1, 1] = P[1, 0]
    path = given_path(P, rng.randn(3), [1, 2, 3], classes=(-1, 1))
    display = DistanceDistributionDisplay.from_path(path, X, y)
    np.testing.assert_array_equal(display.values, [1, 3])


def test_errors(iris, neurons, rng):
    X, y = neurons
    with pytest.raises(ValueError, match=r"3 classes apart, expected 2: .* y == label"):
        DistanceDistributionDisplay.from_estimator(LogisticRegression().fit(*iris), *iris)
    with pytest.raises(TypeError, match="GaussianNB is not a fitted linear classifier"):
        DistanceDistributionDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    with pytest.raises(TypeError, match="SVC is not a fitted linear classifier"):
        DistanceDistributionDisplay.from_estimator(SVC().fit(X, y), X, y)
    model = MeanOfClass().fit(X, y)
    for bins in (0, 2.5, None):
        with pytest.raises(ValueError, match="bins="):
            DistanceDistributionDisplay.from_estimator(model, X, y, bins=bins)
    with pytest.raises(ValueError, match="contains NaN"):
        DistanceDistributionDisplay.from_estimator(model, np.full_like(X, np.nan), y)
    path = random_path(rng, 3, 6, classes=(-1, 1))
    with pytest.raises(ValueError, match=r"y contains \[0\]"):
        DistanceDistributionDisplay.from_path(path, X, 0 * y)
    assert not plt.get_fignums()
    with pytest.raises(ValueError, match="ax has 1 axes; this picture has 2"):
        DistanceDistributionDisplay.from_path(path, X, y, ax=plt.subplots()[1])
