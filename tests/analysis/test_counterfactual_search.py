"""Counterfactuals where boundaries are curved: found by search, near but not surely nearest."""

import numpy as np
import pytest
from scipy.optimize import minimize

import custom_axes
from given_model import given_model, random_prototypes
from protolearn import (
    LGMLVQ,
    MRSLVQ,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    certified_radius,
    counterfactual,
)
from protolearn.distances import (
    CauchySchwarz,
    Kernel,
    KullbackLeibler,
    LocalMatrix,
    Matrix,
    Minkowski,
    Renyi,
    SquaredEuclidean,
    Tangent,
)


def local_matrices(rng, labels, d, localized):
    """Give a distance with a matrix for each class or prototype, and the matrices."""
    groups = len(labels) if localized == "prototype" else labels.max() + 1
    maps = rng.randn(groups, d, d)
    maps /= np.linalg.norm(maps, axis=(1, 2))[:, None, None]
    return LocalMatrix(localized=localized), maps.reshape(groups, -1)


def tangents(rng, labels, d):
    """Give a distance with one tangent for each prototype, and the tangents."""
    T = rng.randn(len(labels), d)
    return Tangent(learned=True, n_tangents=1), T / np.linalg.norm(T, axis=1)[:, None]


def rbf(rng, labels, d):
    """Give a Gaussian kernel of width one, and its numbers."""
    return Kernel("rbf", gamma=0.5), [[0.0, 0.5, 0.0, 0.0]]


MODELS = {
    "class": lambda rng, c, d: (*local_matrices(rng, c, d, "class"), None),
    "prototype": lambda rng, c, d: (*local_matrices(rng, c, d, "prototype"), None),
    "soft": lambda rng, c, d: (SquaredEuclidean(), None, 2.0),
    "city": lambda rng, c, d: (Minkowski(1.0), [[1.0]], None),
    "p3": lambda rng, c, d: (Minkowski(3.0), [[3.0]], None),
    "largest": lambda rng, c, d: (Minkowski(np.inf), [[np.inf]], None),
    "tangent": lambda rng, c, d: (*tangents(rng, c, d), None),
    "rbf": lambda rng, c, d: (*rbf(rng, c, d), None),
}


def random_model(rng, kind, d, n_classes=3, most=3):
    W, labels = random_prototypes(rng, n_classes, most, d)
    labels[0] = 0
    if kind == "soft":  # otherwise the decision is that of the nearest
        W, labels = np.vstack([W, rng.randn(1, d)]), np.append(labels, 0)
    distance, metric, xi = MODELS[kind](rng, labels, d)
    return given_model(W, labels, distance, metric, xi=xi)


@pytest.mark.parametrize("kind", MODELS)
def test_class_changes_and_nothing_else_is_broken(kind, rng):
    model = random_model(rng, kind, 4)
    X = 1.5 * rng.randn(12, 4)
    free = counterfactual(model, X)
    assert not free.exact
    assert repr(free) == "<Counterfactuals: 12 of 12 rows, found by search>"
    assert (free.label != model.predict(X)).all()
    assert (certified_radius(model, X) <= free.distance).all()
    held = counterfactual(model, X, target=1, fixed=[1], bounds={0: (-1.0, 1.0), 2: (None, 0.5)})
    yes = held.feasible
    assert yes.mean() >= 0.5
    assert (held.label[yes] == 1).all()
    np.testing.assert_array_equal(held.points[:, 1], X[:, 1])
    assert (np.abs(held.points[yes, 0]) <= 1.0).all()
    assert (held.points[yes, 2] <= 0.5).all()
    np.testing.assert_array_equal(held.points[~yes], X[~yes])
    for found in (free, held):
        alone = np.concatenate([model.predict(row[None]) for row in found.points])
        np.testing.assert_array_equal(found.label, alone)


def test_same_rows_same_answer(rng):
    model, X = random_model(rng, "city", 3), rng.randn(5, 3)
    one, two = (counterfactual(model, X).points for _ in range(2))
    np.testing.assert_array_equal(one, two)


def scanned(model, x, reach):
    """Give the distance to another class on a fine polar grid, and its step."""
    angles, radii = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False), np.linspace(0, reach, 200)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    points = x + radii[:, None, None] * directions
    labels = model.predict(points.reshape(-1, 2)).reshape(len(radii), -1)
    other = (labels != labels[0, 0]).any(axis=1)
    return radii[other.argmax()] if other.any() else np.inf, radii[1]


@pytest.mark.parametrize("kind", ["class", "prototype", "soft", "city", "tangent"])
def test_nearly_the_nearest_in_the_plane(kind, rng):
    model, X, ratios = random_model(rng, kind, 2), 1.5 * rng.randn(12, 2), []
    for x, distance in zip(X, counterfactual(model, X).distance, strict=True):
        nearest, step = scanned(model, x, 1.02 * distance)
        assert distance >= nearest - step
        ratios.append(distance / nearest)
    assert np.median(ratios) < 1.005
    assert np.mean(np.array(ratios) > 1.02) <= 0.1


def best_of_many_starts(model, x, own):
    """Give the distance to another class by sequential quadratic programming."""
    best = np.inf
    for code in np.setdiff1d(model.classes_, own):

        def lead(z, code=code):
            scores = model.decision_function(z[None])[0]
            return scores[code] - scores[own]

        for start in model.prototypes_[model.prototype_labels_ == code]:
            found = minimize(
                lambda z: np.square(z - x).sum(),
                start,
                method="SLSQP",
                constraints={"type": "ineq", "fun": lead},
                options={"ftol": 1e-10},
            )
            if lead(found.x) > -1e-6:
                best = min(best, np.linalg.norm(found.x - x))
    return best


@pytest.mark.parametrize("kind", ["prototype", "p3"])
def test_as_near_as_sequential_quadratic_programming(kind, rng):
    model, X = random_model(rng, kind, 6, most=1), rng.randn(3, 6)
    found = counterfactual(model, X)
    both = zip(X, found.original_label, strict=True)
    expected = np.array([best_of_many_starts(model, x, own) for x, own in both])
    assert (found.distance <= 1.02 * expected).all()


@pytest.mark.parametrize("localized", ["class", "prototype"])
def test_finds_what_the_exact_method_finds(localized, rng):
    # The same matrix for every class or prototype is one for all.
    W, labels = random_prototypes(rng, 3, 2, 4)
    omega = rng.randn(4, 4) / 4.0
    curved = LocalMatrix(localized=localized)
    maps = np.tile(omega.ravel(), (curved.groups(labels).max() + 1, 1))
    X = rng.randn(12, 4)
    nearest = counterfactual(given_model(W, labels, Matrix(), [omega.ravel()]), X)
    found = counterfactual(given_model(W, labels, curved, maps), X)
    assert nearest.exact
    assert not found.exact
    assert (found.distance >= (1.0 - 1e-9) * nearest.distance).all()
    assert np.mean(found.distance > (1.0 + 1e-3) * nearest.distance) <= 0.1


def test_fitted_models(iris):
    X, y = iris
    for model in (LGMLVQ(random_state=0), MRSLVQ(prototypes_per_class=2, random_state=0)):
        model.fit(X, y)
        found = counterfactual(model, X[[0, 149]], target=1)
        assert not found.exact
        assert (model.predict(found.points) == 1).all()


def test_soft_decision_with_one_prototype_a_class_is_exact(iris):
    X, y = iris
    model = RSLVQ(random_state=0).fit(X, y)
    found = counterfactual(model, X[::10])
    assert found.exact
    assert (model.predict(found.points) != model.predict(X[::10])).all()


def test_class_without_prototypes(iris):
    X, y = iris
    model = RSLVQ(prototypes_per_class=2, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    found = counterfactual(model, X[:3], target=2)
    assert not found.feasible.any()
    assert found.describe(0) == "0; no change was found that gives the answer sought"


@pytest.mark.parametrize(
    "distance", [KullbackLeibler(), CauchySchwarz(), Renyi(), Kernel("polynomial")]
)
def test_distances_that_are_no_metrics(distance, iris):
    X, y = np.abs(iris[0][::10]) + 0.1, iris[1][::10]
    model = PrototypeClassifier(distance=distance, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="counterfactual needs a metric that depends on the"):
        counterfactual(model, X)


def test_models_that_are_no_metrics(iris):
    X, y = iris
    with pytest.raises(ValueError, match="KernelGLVQ: counterfactual needs a metric"):
        counterfactual(KernelGLVQ(random_state=0).fit(X, y), X)
    own = PrototypeClassifier(distance=custom_axes.LogCosh(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"LogCosh\(\): counterfactual needs a metric"):
        counterfactual(own, X)
