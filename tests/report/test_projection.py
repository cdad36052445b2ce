"""The plane of the prototypes, and that of a learned metric."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    MRSLVQ,
    FisherPrototypes,
    KernelGLVQ,
    PrototypeClassifier,
    SoftMarginSVM,
)
from protolearn.report import ProjectionDisplay
from protolearn.report.projection_display import plane_map, plane_of_model


def test_three_prototypes_lose_nothing(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=20)
    D = ((display.plane.points[:, None] - display.plane.prototypes) ** 2).sum(axis=2)
    assert (D.argmin(axis=1) == model.predict(X)).all()
    assert display.wrong.sum() == (model.predict(X) != y).sum()
    across, up, regions = display.plane.grid
    nodes = np.stack(np.meshgrid(across, up), axis=2)
    nearest = ((nodes[:, :, None] - display.plane.prototypes) ** 2).sum(axis=3).argmin(axis=2)
    assert (nearest == regions).all()
    assert display.figure_ is display.ax_.figure
    plt.close("all")


@pytest.mark.parametrize(("classes", "d"), [(2, 4), (2, 1), (3, 2)])
def test_few_prototypes_or_features(iris, classes, d):
    X, y = iris
    keep = y < classes
    pipe = make_pipeline(StandardScaler(), GLVQ()).fit(X[keep, :d], y[keep])
    display = ProjectionDisplay.from_estimator(pipe, X[keep, :d], y[keep], resolution=10)
    assert np.isfinite(display.plane.points).all()
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:classes] == [str(c) for c in range(classes)]
    plt.close("all")


def test_given_axes(iris):
    X, y = iris
    _, ax = plt.subplots()
    display = ProjectionDisplay.from_estimator(GLVQ().fit(X, y), X, y, ax=ax, resolution=5)
    assert display.ax_ is ax
    plt.close("all")


def test_unknown_label(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"y contains \[9\]"):
        ProjectionDisplay.from_estimator(GLVQ().fit(X, y), X[:1], [9])


def test_named_features_bring_no_warning(iris, recwarn):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    ProjectionDisplay.from_estimator(GLVQ().fit(frame, y), frame, y, resolution=5)
    assert not [w for w in recwarn if "feature names" in str(w.message)]
    plt.close("all")


@pytest.mark.parametrize(
    "model",
    [GMLVQ(rank=2, regularization=0.01), GMLVQ(rank=2), GRLVQ()],
    ids=["regularized", "rank 2", "relevance"],
)
def test_two_directions_of_the_metric_lose_nothing(iris, model):
    X, y = iris
    X = X[:, 2:] if isinstance(model, GRLVQ) else X
    model.set_params(random_state=0).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=20)
    D = ((display.plane.points[:, None] - display.plane.prototypes) ** 2).sum(axis=2)
    np.testing.assert_allclose(D, model.distances(X), atol=1e-9)
    across, up, regions = display.plane.grid
    nodes = np.stack(np.meshgrid(across, up), axis=2)
    D = ((nodes[:, :, None] - display.plane.prototypes) ** 2).sum(axis=3)
    first, second = np.sort(D, axis=2)[:, :, :2].T
    clear = (second - first > 1e-9).T
    assert clear.mean() > 0.99
    assert (D.argmin(axis=2) == regions)[clear].all()
    plt.close("all")


def test_regions_are_a_cut_at_the_mean_of_the_prototypes(iris):
    X, y = iris
    model = MRSLVQ(random_state=0).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=15)
    shift = model.project(X) - display.plane.points
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-12)
    view = plane_of_model(model, X, list("abcd"))
    nodes = np.stack([z.ravel() for z in np.meshgrid(*display.plane.grid[:2])], axis=1)
    rows = view.rows(nodes)
    np.testing.assert_allclose(view.places(rows), nodes, atol=1e-9)
    rest = np.linalg.svd(model.omega_)[2][2:]  # the other directions of the metric
    np.testing.assert_allclose(
        rows @ rest.T, np.tile(rest @ model.prototypes_.mean(axis=0), (225, 1)), atol=1e-9
    )
    assert (model.predict(rows) == display.plane.grid[2].ravel()).all()
    plt.close("all")


def test_axes_of_the_metric_say_what_they_are(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"])
    pipe = make_pipeline(StandardScaler(), GRLVQ(random_state=0)).fit(frame, y)
    ax = ProjectionDisplay.from_estimator(pipe, frame, y, resolution=5).ax_
    top = np.argsort(-pipe[-1].relevances_)[:2]
    expected = [
        f"{frame.columns[j]}, {100 * pipe[-1].relevances_[j]:.1f} % of the metric" for j in top
    ]
    assert [ax.get_xlabel(), ax.get_ylabel().split("\n")[0]] == expected
    flat = GMLVQ(rank=2, random_state=0).fit(X * [1.0, 1.0, 30.0, 1.0], y)
    display = ProjectionDisplay.from_estimator(flat, X * [1.0, 1.0, 30.0, 1.0], y, resolution=5)
    assert display.plane.stretch != 1.0
    assert display.ax_.get_ylabel().endswith(f"drawn {display.plane.stretch:g} times as large")
    assert display.ax_.get_aspect() == display.plane.stretch
    plt.close("all")


@pytest.mark.parametrize("d", [1, 4])
def test_metric_with_one_direction(iris, d):
    X, y = iris
    model = GMLVQ(rank=1, random_state=0).fit(X[:, :d], y)
    display = ProjectionDisplay.from_estimator(model, X[:, :d], y, resolution=9)
    assert np.isfinite(display.plane.points).all()
    assert (
        display.plane.grid[2] == display.plane.grid[2][0]
    ).all()  # the second axis decides nothing
    assert "no part in the metric" in display.ax_.get_ylabel()
    plt.close("all")


@pytest.mark.parametrize("model", [GLVQ(), GRLVQ()], ids=["GLVQ", "GRLVQ"])
@pytest.mark.parametrize("classes", [2, 3])
def test_missing_and_sparse_rows(iris, model, classes):
    X, y = iris
    X, y = X[y < classes], y[y < classes]
    model = clone(model).set_params(random_state=0)
    complete = ProjectionDisplay.from_estimator(model.fit(X, y), X, y, resolution=5)
    sparse = ProjectionDisplay.from_estimator(model, csr_array(X), y, resolution=5)
    np.testing.assert_allclose(
        np.abs(sparse.plane.points), np.abs(complete.plane.points), atol=1e-9
    )
    holes = X.copy()
    holes[3, 1] = np.nan
    display = ProjectionDisplay.from_estimator(model.fit(holes, y), holes, y, resolution=5)
    assert np.isfinite(display.plane.points).all()
    plt.close("all")


def test_rows_without_a_divergence_have_no_region(iris):
    X, y = iris
    X = X - X.min(axis=0)
    model = PrototypeClassifier(distance="kl", random_state=0).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=60)
    regions = display.plane.grid[2]
    assert (regions == -1).any()
    assert {0, 1, 2} <= set(regions.ravel().tolist())


def test_prototypes_of_a_feature_space_are_not_among_the_samples(iris):
    X, y = iris
    model = KernelGLVQ().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=60)
    assert display.plane.prototypes.shape == (0, 2)
    said = model.predict(X)
    means = np.stack([X[said == label].mean(axis=0) for label in np.unique(said)])
    apart = np.linalg.norm(
        display.plane.points[y == 0].mean(0) - display.plane.points[y == 2].mean(0)
    )
    assert apart > 0.8 * np.linalg.norm(means[0] - means[-1])


@pytest.mark.parametrize("model", [FisherPrototypes(), LogisticRegression()], ids=["own", "other"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_regions_of_linear_models_are_no_approximation(iris, model, n_classes):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    said = model.fit(X, y).predict(X)
    found = plane_map(model, X, list("abcd"), 400)
    there = found.regions_at_points == said
    assert there.all()


def test_two_features_are_the_plane(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X[:, :2], y)
    display = ProjectionDisplay.from_estimator(model, X[:, :2], y, resolution=60)
    np.testing.assert_array_equal(display.plane.points, X[:, :2])
    assert display.plane.axis_names == ("x0", "x1")


def test_what_is_no_classifier_has_no_map(iris):
    with pytest.raises(TypeError, match="StandardScaler is neither a classifier"):
        ProjectionDisplay.from_estimator(StandardScaler().fit(iris[0]), *iris)


def test_linear_models_are_shown_with_the_means_of_their_classes():
    """Their prototypes lie anywhere along a normal, one over the other."""
    rng = np.random.RandomState(0)
    y = np.repeat(["a", "b"], 60)
    X = rng.randn(120, 4) + 3.0 * (y == "b")[:, None]
    model = SoftMarginSVM().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, resolution=30)
    means = [display.plane.points[y == label].mean(axis=0) for label in ("a", "b")]
    np.testing.assert_allclose(display.plane.prototypes, means, atol=1e-9)
    assert np.linalg.norm(display.plane.prototypes[0] - display.plane.prototypes[1]) > 2.0
    assert "mean of the class" in display.ax_.get_legend_handles_labels()[1]
