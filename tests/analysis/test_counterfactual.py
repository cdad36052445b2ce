"""Counterfactuals: the nearest row of another class, where boundaries are flat."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

import reference
from given_model import given_model, random_prototypes
from protolearn import GLVQ, GMLVQ, PrototypeClassifier, counterfactual, sample_margin
from protolearn.distances import Kernel, Mahalanobis, Matrix, Relevance

SEEDS = st.integers(0, 2**32 - 1)


def random_model(rng, kind):
    """Give a model with Gaussian prototypes and any linear metric, and its map."""
    d = rng.randint(1, 21)
    W, labels = random_prototypes(rng, rng.randint(2, 5), 10, d)
    if kind == "sqeuclidean":
        return given_model(W, labels), np.eye(d)
    if kind == "relevance":
        roots = rng.randn(d) * (rng.rand(d) < 0.8)
        roots[0] = 1.0
        return given_model(W, labels, Relevance(), [roots]), np.diag(roots)
    rank = d if kind == "mahalanobis" else rng.randint(1, d + 1)
    omega = rng.randn(rank, d) / d
    distance = Matrix(rank) if kind == "matrix" else Mahalanobis()
    return given_model(W, labels, distance, [omega.ravel()]), omega


def random_question(rng, model):
    """Give rows, and by chance a target, fixed features and bounds."""
    n, d = 3, model.n_features_in_
    X = rng.choice([0.3, 1.0, 3.0]) * rng.randn(n, d)
    target = rng.choice(model.classes_, n) if rng.rand() < 0.5 else None
    movable = rng.rand(d) < rng.choice([0.6, 1.1])
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    if rng.rand() < 0.7:
        low = np.where(rng.rand(d) < 0.7, -rng.rand(d), low)
        high = np.where(rng.rand(d) < 0.7, 2.0 * rng.rand(d), high)
    return X, target, movable, low, high


def rivals(model, own, target):
    """Give each prototype that may be reached, with those that have to be left behind."""
    labels = model.prototype_labels_
    behind = labels == own if target is None else labels != target
    return [(v, np.flatnonzero(behind)) for v in np.flatnonzero(~behind)]


def conditions(model, omega, x, v, behind):
    """Give A and b such that v is nearer to x + y than those behind where ``A y <= b``."""
    W, lam = model.prototypes_ - x, omega.T @ omega
    sizes = (W @ lam * W).sum(axis=1)
    return 2.0 * (W[behind] - W[v]) @ lam, sizes[behind] - sizes[v]


def shortest(model, omega, x, own, target, box):
    """Give the distance by non-negative least squares over all rivals."""
    movable, lengths = box[0] < box[1], [np.inf]
    sides = np.concatenate([-np.eye(len(x)), np.eye(len(x))])
    limits = np.concatenate([-box[0], box[1]])
    walls = np.isfinite(limits) & np.tile(movable, 2)
    for v, behind in rivals(model, own, target):
        A, b = conditions(model, omega, x, v, behind)
        A = A[:, movable]
        size = np.linalg.norm(A, axis=1)
        turns = size > 1e-12 * np.linalg.norm(omega, 2)
        if (b[~turns] < 0.0).any():
            continue
        A, b = A[turns] / size[turns, None], b[turns] / size[turns]
        A, b = np.vstack([A, sides[walls][:, movable]]), np.append(b, limits[walls])
        way = reference.projection(A, b) if len(b) else np.zeros(movable.sum())
        lengths += [] if way is None else [np.linalg.norm(way)]
    return min(lengths)


def clearance(model, omega, x, own, target, box):
    """Give how far into the class one can get at most, up to one, by a linear program."""
    best = -np.inf
    for v, behind in rivals(model, own, target):
        A, b = conditions(model, omega, x, v, behind)
        found = linprog(
            np.append(np.zeros(len(x)), -1.0),
            A_ub=np.column_stack([A, np.ones(len(A))]),
            b_ub=b,
            bounds=[*zip(*box, strict=True), (-1e3, 1.0)],
        )
        best = max(best, found.x[-1])
    return best


@pytest.mark.parametrize("kind", ["sqeuclidean", "relevance", "matrix", "mahalanobis"])
@given(seed=SEEDS)
def test_is_the_sample_margin(kind, seed):
    rng = np.random.RandomState(seed)
    model, omega = random_model(rng, kind)
    # A border between prototypes that all but coincide is as wide as the rounding of distances.
    assume(pdist(model.prototypes_ @ omega.T).min() > 1e-4)
    X = rng.choice([0.3, 1.0, 3.0]) * rng.randn(5, model.n_features_in_)
    found = counterfactual(model, X)
    assert found.exact
    assert found.feasible.all()
    assert (found.label != model.predict(X)).all()
    np.testing.assert_array_equal(found.label, model.predict(found.points))
    np.testing.assert_allclose(found.distance, np.linalg.norm(found.points - X, axis=1))
    np.testing.assert_allclose(found.distance, sample_margin(model, X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["sqeuclidean", "relevance", "matrix", "mahalanobis"])
@given(seed=SEEDS)
def test_is_the_nearest_allowed_row(kind, seed):
    rng = np.random.RandomState(seed)
    model, omega = random_model(rng, kind)
    X, target, movable, low, high = random_question(rng, model)
    own = model.predict(X)
    found = counterfactual(model, X, target, fixed=~movable, bounds=(low, high))
    for i, x in enumerate(X):
        sought = None if target is None else target[i]
        box = np.where(movable, low - x, 0.0), np.where(movable, high - x, 0.0)
        if sought == own[i] and (box[0] <= 0.0).all() and (box[1] >= 0.0).all():
            assert found.feasible[i]
            assert found.distance[i] == 0.0
            np.testing.assert_array_equal(found.points[i], x)
            continue
        if abs(room := clearance(model, omega, x, own[i], sought, box)) > 1e-6:
            assert found.feasible[i] == (room > 0.0)
        if found.feasible[i]:
            expected = shortest(model, omega, x, own[i], sought, box)
            rounding = 1e-15 * expected**2  # the oracle sees a way y by its residual 1 / (1 + y^2)
            np.testing.assert_allclose(found.distance[i], expected, rtol=1e-6 + rounding, atol=1e-9)


@given(seed=SEEDS)
def test_keeps_what_it_is_told(seed):
    rng = np.random.RandomState(seed)
    model, _ = random_model(rng, "matrix")
    X, target, movable, low, high = random_question(rng, model)
    found = counterfactual(model, X, target, fixed=~movable, bounds=(low, high))
    yes, points = found.feasible, found.points[found.feasible]
    np.testing.assert_array_equal(points[:, ~movable], X[yes][:, ~movable])
    assert (points >= low)[:, movable].all()
    assert (points <= high)[:, movable].all()
    np.testing.assert_array_equal(found.points[~yes], X[~yes])
    assert (found.distance[~yes] == np.inf).all()
    np.testing.assert_array_equal(found.label[~yes], model.predict(X[~yes]) if (~yes).any() else [])
    for i in np.flatnonzero(yes):  # one by one: rounding is not that of all at once
        (label,) = model.predict(found.points[i : i + 1])
        assert label == found.label[i]
        assert label != model.predict(X[i : i + 1])[0] if target is None else label == target[i]
    again = counterfactual(model, X, target, fixed=~movable, bounds=(low, high))
    np.testing.assert_array_equal(again.points, found.points)


def test_target_that_is_there_already(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])
    model = GLVQ(random_state=0).fit(X, names[y])
    found = counterfactual(model, X, target="b")
    there = model.predict(X) == "b"
    assert found.feasible.all()
    assert (found.label == "b").all()
    np.testing.assert_array_equal(found.points[there], X[there])
    np.testing.assert_array_equal(found.distance == 0.0, there)
    each = counterfactual(model, X, target=names[(y + 1) % 3])
    np.testing.assert_array_equal(each.label, names[(y + 1) % 3])
    np.testing.assert_array_equal(each.original_label, model.predict(X))


def test_rows_outside_are_brought_inside():
    model = given_model([[0.0, 0.0], [4.0, 0.0]], [0, 1])
    found = counterfactual(model, [[0.0, 3.0], [5.0, 3.0]], target=0, bounds={1: (None, 1.0)})
    np.testing.assert_allclose(found.points, [[0.0, 1.0], [2.0, 1.0]], atol=1e-9)
    np.testing.assert_allclose(found.distance, [2.0, np.sqrt(13.0)])
    stays = counterfactual(model, [[0.0, 3.0]], target=0, fixed=1, bounds={1: (None, 1.0)})
    np.testing.assert_array_equal(stays.points, [[0.0, 3.0]])


def test_class_without_prototypes(iris):
    X, y = iris
    model = GLVQ(random_state=0).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    assert not counterfactual(model, X, target=2).feasible.any()
    assert counterfactual(model, X).feasible.all()
    alone = GLVQ(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert not counterfactual(alone, X).feasible.any()


@pytest.mark.parametrize("size", [1e-120, 1e-8, 1e8, 1e120])
def test_scales_with_the_data(size, rng):
    W, labels = random_prototypes(rng, 3, 4, 3)
    X = rng.randn(10, 3)
    one = counterfactual(given_model(W, labels), X, bounds=(-2, 2))
    model = given_model(size * W, labels, scale=size**2)
    other = counterfactual(model, size * X, bounds=(-2 * size, 2 * size))
    np.testing.assert_allclose(other.points / size, one.points, atol=1e-9)
    np.testing.assert_array_equal(model.predict(other.points), other.label)


def test_far_from_the_origin(rng):
    W, labels = random_prototypes(rng, 3, 5, 8)
    X = rng.randn(30, 8)
    near, far = given_model(W, labels), given_model(W + 1e6, labels)
    found = counterfactual(far, X + 1e6)
    np.testing.assert_allclose(found.distance, sample_margin(near, X), rtol=1e-4, atol=1e-6)
    alone = np.concatenate([far.predict(row[None]) for row in found.points])
    np.testing.assert_array_equal(alone, found.label)


def test_a_prototype_far_away_costs_few_digits():
    model = given_model([[0.0, 0.0], [1.0, 0.0], [1e6, 0.0]], [0, 1, 1])
    found = counterfactual(model, [[0.1, 0.0], [0.9, 0.3]])
    np.testing.assert_allclose(found.distance, 0.4, atol=1e-3)


def test_on_a_prototype_and_on_the_boundary():
    model = given_model([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 7.0]])
    found = counterfactual(model, X)
    assert (found.label != model.predict(X)).all()
    np.testing.assert_allclose(found.distance, [1.0, 1.0, 0.0, 0.0], atol=1e-9)


def test_constant_features(rng):
    W, labels = random_prototypes(rng, 2, 3, 4)
    W[:, 2] = 5.0
    X = rng.randn(20, 4)
    X[:, 2] = 5.0
    found = counterfactual(given_model(W, labels), X)
    np.testing.assert_array_equal(found.points[:, 2], 5.0)
    assert found.feasible.all()


def test_everything_fixed(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    found = counterfactual(model, X, target=1, fixed=range(4))
    np.testing.assert_array_equal(found.feasible, model.predict(X) == 1)
    np.testing.assert_array_equal(found.points, X)


def test_rivals_in_the_place_of_an_own_prototype():
    # Of two prototypes in one place the first wins: the second class begins beyond 2.
    model = given_model([[0.0], [1.0], [0.0], [3.0]], [0, 0, 1, 1])
    found = counterfactual(model, [[0.1], [0.9], [-5.0]])
    np.testing.assert_allclose(found.points, 2.0, atol=1e-5)
    # Where the second feature stays the second prototype never wins.
    model = given_model([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [0, 1, 2])
    found = counterfactual(model, [[0.1, 0.5], [0.0, 0.5 - 1e-12]], fixed=1)
    np.testing.assert_allclose(found.points[:, 0], 1.5, atol=1e-5)


def test_images_stay_images():
    X, y = load_digits(return_X_y=True)
    model = GLVQ(prototypes_per_class=3, random_state=0).fit(X, y)
    target = (y[:100] + 1) % 10
    found = counterfactual(model, X[:100], target, bounds=(0, 16))
    assert found.feasible.all()
    np.testing.assert_array_equal(model.predict(found.points), target)
    assert found.points.min() == 0.0
    assert found.points.max() == 16.0
    free = counterfactual(model, X[:100], target)
    assert free.points.min() < 0.0
    assert (found.distance >= (1.0 - 1e-9) * free.distance).all()


def test_many_features(rng):
    W, labels = random_prototypes(rng, 5, 3, 784)
    model, X = given_model(W, labels), np.clip(rng.randn(5, 784), -1.0, 1.0)
    found = counterfactual(model, X, bounds=(-1.0, 1.0))
    assert found.feasible.all()
    assert np.abs(found.points).max() <= 1.0
    end = np.where(np.arange(784) < 30, 0.01, np.inf)
    found, (own, *_) = counterfactual(model, X, bounds=(-end, end)), model.predict(X)
    expected = shortest(model, np.eye(784), X[0], own, None, (-end - X[0], end - X[0]))
    np.testing.assert_allclose(found.distance[0], expected, rtol=1e-6)


def test_single_precision_and_frames(iris):
    X, y = iris
    model = GMLVQ(random_state=0).fit(X, y)
    single = X.astype(np.float32)
    found = counterfactual(model, single)
    assert found.points.dtype == np.float64
    np.testing.assert_array_equal(found.points, counterfactual(model, single.astype(float)).points)
    np.testing.assert_array_equal(found.points, counterfactual(model, pd.DataFrame(single)).points)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_points_of_frames_are_frames(library):
    """A column keeps its type where this holds all numbers, and the labels hold for the frame."""
    rng = np.random.RandomState(0)
    columns = {
        "whole": rng.randint(0, 9, 60),
        "single": rng.randn(60).astype(np.float32),
        "double": rng.randn(60),
    }
    make = {
        "pandas": lambda given: pd.DataFrame(given, index=range(7, 67)),
        "polars": lambda given: pytest.importorskip("polars").DataFrame(given),
        "pyarrow": lambda given: pytest.importorskip("pyarrow").table(given).slice(0),
    }[library]
    X = make(columns)
    y = np.where(columns["whole"] + 3.0 * columns["double"] > 4.0, "more", "less")
    model = GMLVQ(random_state=0).fit(pd.DataFrame(columns), y)
    found = counterfactual(model, X, fixed=["whole"])
    assert type(found.points) is type(X)
    assert found.feasible.all()
    points = pd.DataFrame({name: np.asarray(found.points[name]) for name in columns})
    np.testing.assert_array_equal(points.to_numpy(), found.values)
    assert points.dtypes["whole"] == X["whole"].dtype if library == "pandas" else True
    np.testing.assert_array_equal(points["whole"], columns["whole"])
    np.testing.assert_array_equal(model.predict(points), found.label)
    if library == "pandas":
        assert found.points.index.equals(X.index)
        np.testing.assert_array_equal(model.predict(found.points), found.label)
        search = GridSearchCV(model, {"max_iter": [30]}, cv=2).fit(X, y)
        best = counterfactual(search.best_estimator_, X).points
        pd.testing.assert_frame_equal(counterfactual(search, X).points, best)


def test_models_that_need_training_rows(iris):
    X, y = iris
    with pytest.raises(TypeError, match="Or give the training rows as data="):
        counterfactual(RandomForestClassifier(2, random_state=0).fit(X, y), X)


def test_linear_kernel(iris):
    X, y = iris
    model = PrototypeClassifier(distance=Kernel("linear"), random_state=0).fit(X, y)
    plain = given_model(model.prototypes_, model.prototype_labels_)
    expected = counterfactual(plain, X).points
    np.testing.assert_allclose(counterfactual(model, X).points, expected, atol=1e-9)


@pytest.fixture
def two():
    """Rows that change in two features, one and none."""
    model = given_model([[0.0, 0.0], [2.0, 1.0]], ["no", "yes"])
    return counterfactual(model, [[0.0, 0.0], [0.0, 0.75], [3.0, 1.0]], target="yes")


def test_text(two):
    assert repr(two) == "<Counterfactuals: 3 of 3 rows, nearest>"
    assert str(two).splitlines() == [
        "row 0: no -> yes: x0 0 -> 1.001, x1 0 -> 0.5001",
        "row 1: no -> yes: x0 0 -> 0.7001, x1 0.75 -> 1.101",
        "row 2: yes -> yes: as it is",
    ]
    assert two.describe(-1) == two.describe(2) == "yes -> yes: as it is"
    np.testing.assert_array_equal(two.changes, two.points - two.original)
    assert len(two) == 3


def test_text_of_many():
    d = 8
    model = given_model([np.zeros(d), np.arange(d) + 1.0], [0, 1])
    found = counterfactual(model, np.zeros((12, d)), fixed=0)
    text = str(found).splitlines()
    assert len(text) == 11
    assert text[-1] == "... and 2 rows more"
    assert text[0].startswith("row 0: 0 -> 1: x7 0 -> ")
    assert text[0].endswith(", and 2 smaller changes")
    stays = counterfactual(model, np.zeros((1, d)), fixed=range(d))
    assert str(stays) == "row 0: 0; no allowed change gives the answer sought"
    assert repr(stays) == "<Counterfactuals: 0 of 1 rows, nearest>"


def test_frame(two):
    frame = two.to_frame()
    assert list(frame.columns) == ["x0", "x1", "label", "distance", "feasible"]
    np.testing.assert_array_equal(frame[["x0", "x1"]], two.points)
    np.testing.assert_array_equal(frame["label"], two.label)


def test_frame_keeps_the_names_of_rows(iris):
    X, y = iris
    rows = pd.DataFrame(X).rename(columns=str)
    found = counterfactual(GLVQ(random_state=0).fit(rows, y), rows[70:73])
    assert found.to_frame().index.tolist() == [70, 71, 72]
