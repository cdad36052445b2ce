"""Certified accuracy: against programs of other solvers, attacks, and what bad input says."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler

from given_profile import THOROUGH
from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    RSLVQ,
    KernelGLVQ,
    RobustLVQ,
    SoftMarginSVM,
    certified_accuracy,
    certified_radius,
    sample_margin,
)
from protolearn.rule import as_rule
from protolearn.tables import table_pipeline

osqp = pytest.importorskip("osqp")

NORMS = [1, 2, np.inf]
BOXES = [None, (0.0, 1.0)]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def models(cancer):
    X, y = cancer
    return {
        "glvq": GLVQ(prototypes_per_class=4, random_state=0).fit(X, y),
        "gmlvq": GMLVQ(prototypes_per_class=3, random_state=0).fit(X, y),
        "linear": SoftMarginSVM().fit(X, y),
        "robust": RobustLVQ(prototypes_per_class=4, random_state=0).fit(X, y),
    }


def cells_of(model, x):
    """For each rival the A and b of its cell, ``A y <= b``."""
    rule = as_rule(model)
    U, labels = rule.directions, rule.codebook.labels
    D = rule.distances(rule.read_rows(model, x[None]))[0]
    own = labels == labels[D.argmin()]
    return [(2.0 * (U[own] - U[v]), D[own] - D[v]) for v in np.flatnonzero(~own)]


def quadratic_program(A, b, low, high):
    from scipy.sparse import csc_matrix, identity, vstack

    d = A.shape[1]
    solver = osqp.OSQP()
    conditions = vstack([csc_matrix(A), identity(d)], format="csc")
    ends = np.concatenate([np.full(len(A), -np.inf), low]), np.concatenate([b, high])
    options = {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 200_000, "polishing": True}
    solver.setup(csc_matrix(identity(d)), np.zeros(d), conditions, *ends, verbose=False, **options)
    found = solver.solve()
    return np.linalg.norm(found.x) if found.info.status.startswith("solved") else np.inf


def linear_program(A, b, low, high, norm):
    """By an interior-point method, where the library takes the simplex method."""
    d = A.shape[1]
    if norm == 1:
        bounds = [(0, end) for end in (*high, *-low)]
        found = linprog(np.ones(2 * d), np.hstack([A, -A]), b, bounds=bounds, method="highs-ipm")
    else:
        one, end = -np.ones((d, 1)), np.zeros((len(A), 1))
        conditions = np.block([[A, end], [np.eye(d), one], [-np.eye(d), one]])
        bounds = [*zip(low, high, strict=True), (0, None)]
        cost, limits = np.append(np.zeros(d), 1.0), np.append(b, np.zeros(2 * d))
        found = linprog(cost, conditions, limits, bounds=bounds, method="highs-ipm")
    return found.fun if found.status == 0 else np.inf


@pytest.mark.parametrize("kind", ["glvq", "gmlvq", "linear"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("box", BOXES, ids=["free", "box"])
def test_margins_are_those_of_other_solvers(cancer, models, kind, norm, box):
    X, model = cancer[0], models[kind]
    n = 300 if THOROUGH else 5
    rows = X[np.random.RandomState(0).permutation(len(X))[:n]]
    found = sample_margin(model, rows, norm=norm, box=box)
    for x, margin in zip(rows, found, strict=True):
        low, high = (-x, 1.0 - x) if box else (np.full(len(x), -np.inf), np.full(len(x), np.inf))
        ways = [
            quadratic_program(*cell, low, high)
            if norm == 2
            else linear_program(*cell, low, high, norm)
            for cell in cells_of(model, x)
        ]
        np.testing.assert_allclose(margin, min(ways), rtol=1e-6, atol=1e-9)


def test_the_euclidean_margin_is_that_without_options(cancer, models):
    X = cancer[0][:40]
    wide = sample_margin(models["glvq"], X, box=(-1e6, 1e6))
    np.testing.assert_allclose(sample_margin(models["glvq"], X), wide, rtol=1e-9)
    for norm in NORMS:
        within = sample_margin(models["glvq"], X, norm=norm, box=(0.0, 1.0))
        assert (within >= sample_margin(models["glvq"], X, norm=norm) * (1.0 - 1e-9)).all()


def into_ball(ways, norm, radius):
    """Project on the ball, or pull back into it."""
    if norm == np.inf:
        return np.clip(ways, -radius, radius)
    length = np.linalg.norm(ways, norm, axis=1, keepdims=True)
    return ways * np.minimum(1.0, radius / np.maximum(length, 1e-300))


def steepest(gradient, norm):
    """Return the direction of length one in which a linear function falls fastest."""
    if norm == np.inf:
        return -np.sign(gradient)
    if norm == 1:
        way, largest = np.zeros_like(gradient), np.abs(gradient).argmax(axis=1)
        rows = np.arange(len(way))
        way[rows, largest] = -np.sign(gradient[rows, largest])
        return way
    return -gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-300)


def attacked(model, X, y, norm, radius, box, restarts, seed=0):
    """Whether some row within the ball and the box gets another class: projected gradients."""
    rule, rng = as_rule(model), np.random.RandomState(seed)
    U, codes = rule.directions, np.searchsorted(model.classes_, y)
    labels, broken = rule.codebook.labels, np.zeros(len(X), dtype=bool)
    inside = 1.0 - 1e-9 if X.dtype == np.float64 else 1.0 - 1e-5
    low, high = (-np.inf, np.inf) if box is None else box
    for restart in range(restarts):
        way = rng.standard_normal(X.shape) * (restart > 0)
        way = into_ball(way, norm, radius * rng.uniform(0.0, 1.0))
        for step in range(8):
            point = np.clip(X + way, low, high)
            D = np.asarray(rule.distances(np.ascontiguousarray(point, dtype=np.float64)))
            own = np.where(labels == codes[:, None], D, np.inf).argmin(axis=1)
            rivals = np.where(labels == codes[:, None], np.inf, D)
            order = np.argsort(rivals, axis=1)[:, : min(5, int((labels != labels[0]).sum()))]
            rival = (
                order[:, 0]
                if restart < 2
                else order[np.arange(len(X)), rng.randint(order.shape[1], size=len(X))]
            )
            slope = 2.0 * (U[own] - U[rival])
            way = into_ball(way + radius / (1 + step / 2) * steepest(slope, norm), norm, radius)
            moved = into_ball(np.clip(X + way, low, high) - X, norm, inside * radius)
            tried = np.clip((X + moved).astype(X.dtype), low, high)
            broken |= model.predict(tried) != y
    return broken


def walked(model, X, y, norm, box, restarts, seed=0):
    """Return how near rows of another class come: along the boundary, from rows that have it."""
    rng, nearest = np.random.RandomState(seed), np.full(len(X), np.inf)
    low, high = (-np.inf, np.inf) if box is None else box
    apart = y[:, None] != y
    for _ in range(restarts):
        points = X[np.where(apart, rng.uniform(size=apart.shape), -1.0).argmax(axis=1)]
        points = points.astype(np.float64)
        for _ in range(6):
            start, end = np.zeros((2, len(X), 1))
            end += 1.0
            for _ in range(12):
                middle = 0.5 * (start + end)
                crossed = model.predict((X + middle * (points - X)).astype(X.dtype)) != y
                end = np.where(crossed[:, None], middle, end)
                start = np.where(crossed[:, None], start, middle)
            points = (X + end * (points - X)).astype(X.dtype).astype(np.float64)
            length = np.linalg.norm(points - X, norm, axis=1)
            nearest = np.minimum(nearest, np.where(model.predict(points) != y, length, np.inf))
            size = 0.5 * np.linalg.norm(points - X, axis=1, keepdims=True) / np.sqrt(X.shape[1])
            tried = np.clip(points + size * rng.standard_normal(X.shape), low, high)
            points = np.where((model.predict(tried.astype(X.dtype)) != y)[:, None], tried, points)
    return nearest


def crowd(X, y, times):
    """Return rows beside those of a table, so that 1,000 certified ones are among them."""
    X, y = np.tile(X, (times, 1)), np.tile(y, times)
    moved = X + 0.01 * np.random.RandomState(0).standard_normal(X.shape)
    return np.clip(moved, X.min(axis=0), X.max(axis=0)), y


@pytest.mark.parametrize("kind", ["glvq", "gmlvq", "linear", "robust"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_certified_can_be_broken(cancer, models, kind, norm, dtype):
    X, y = crowd(*cancer, 8) if THOROUGH else cancer
    model, radius = models[kind], {1: 1.2, 2: 0.35, np.inf: 0.06}[norm]
    n, restarts = (1_000, 100) if THOROUGH else (120 if norm == 2 else 40, 4)
    if not THOROUGH:
        X, y = X[:n], y[:n]
    X = X.astype(dtype)
    for box in BOXES:
        found = certified_accuracy(model, X, y, radius=radius, norm=norm, box=box)
        assert 0.1 < found.certified.mean() < 0.95  # the radius tells rows apart
        sure = np.flatnonzero(found.certified)[:n]
        assert len(sure) == n or not THOROUGH
        assert not attacked(model, X[sure], y[sure], norm, radius, box, restarts).any()
        walk = walked(model, X[sure], y[sure], norm, box, restarts // 4 if n < 1_000 else restarts)
        inside = 1.0 - 1e-9 if dtype == np.float64 else 1.0 - 1e-5
        assert walk.min() > inside * radius


@pytest.mark.parametrize("kind", ["glvq", "gmlvq", "linear"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("box", BOXES, ids=["free", "box"])
def test_every_row_that_fails_has_an_example(cancer, models, kind, norm, box):
    n = 200 if norm == 2 else 25
    X, y = cancer[0][:n], cancer[1][:n]
    model, radius = models[kind], {1: 1.2, 2: 0.35, np.inf: 0.06}[norm]
    found = certified_accuracy(model, X, y, radius=radius, norm=norm, box=box)
    assert found.bound <= found.exact <= found.accuracy == (model.predict(X) == y).mean()
    assert found.exact == found.certified.mean()
    assert found.n_undecided == 0
    failed = ~found.certified
    assert np.isnan(found.adversarial[found.certified]).all()
    examples = found.adversarial[failed]
    assert (model.predict(examples) != y[failed]).all()
    length = np.linalg.norm(examples - X[failed], norm, axis=1)
    assert (length <= radius * (1.0 + 1e-12)).all()
    assert box is None or ((examples >= 0.0) & (examples <= 1.0)).all()
    margin = sample_margin(model, X, norm=norm, box=box)
    np.testing.assert_array_equal(found.certified, (margin >= radius) & (model.predict(X) == y))


def test_the_bound_is_at_least_the_certified_radius(cancer, models):
    X, y = cancer
    for model in models.values():
        radius = certified_radius(model, X)
        r = float(np.median(radius))
        share = ((radius >= r * (1.0 + 1e-9)) & (model.predict(X) == y)).mean()
        assert share <= certified_accuracy(model, X, y, radius=r).bound


def test_lengths_are_in_the_units_of_the_rows(cancer):
    X, y = load_wine(return_X_y=True)
    scaler = StandardScaler().fit(X)
    model = make_pipeline(StandardScaler(), GLVQ(prototypes_per_class=2, random_state=0)).fit(X, y)
    inner, Z = model[-1], scaler.transform(X)
    tolerance = 0.2 * scaler.scale_
    outer = certified_accuracy(model, X, y, radius=tolerance, norm=np.inf)
    same = certified_accuracy(inner, Z, y, radius=0.2, norm=np.inf)
    np.testing.assert_array_equal(outer.certified, same.certified)
    moved = np.abs(outer.adversarial - X)[~outer.certified]
    assert (moved <= tolerance * (1.0 + 1e-9)).all()
    one = {"alcohol": 0.5}
    names = ["alcohol", *(f"c{j}" for j in range(12))]
    frame = pd.DataFrame(X, columns=names)
    named = make_pipeline(StandardScaler(), GLVQ(prototypes_per_class=2, random_state=0))
    found = certified_accuracy(named.fit(frame, y), frame, y, radius=one, norm=np.inf)
    changed = (found.adversarial != X)[~found.certified]
    assert not changed[:, 1:].any()
    assert found.exact >= outer.exact


def test_a_table_with_words_and_holes():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, 120).round(),
            "kind": rng.choice(["a", "b", "c"], 120),
            "dose": np.where(rng.uniform(size=120) < 0.1, np.nan, rng.normal(0.0, 1.0, 120)),
        }
    )
    y = np.where(frame["age"] + 5.0 * (frame["kind"] == "a") > 52.0, "ill", "well")
    model = table_pipeline(GLVQ(prototypes_per_class=2, random_state=0)).fit(frame, y)
    found = certified_accuracy(model, frame, y, radius={"age": 2.0, "dose": 0.1}, norm=np.inf)
    assert 0.3 < found.exact < found.accuracy
    failed = ~found.certified
    assert (model.predict(found.adversarial)[failed] != y[failed]).all()
    assert (found.adversarial["kind"] == frame["kind"]).all()
    assert (np.abs(found.adversarial["age"] - frame["age"]) <= 2.0).all()
    assert set(found.by_class()) == {"ill", "well"}
    assert "proved to stay correct" in str(found)
    boxed = certified_accuracy(
        model, frame, y, radius={"age": 2.0}, norm=np.inf, box={"age": (0, 120)}
    )
    assert boxed.exact >= found.exact
    with pytest.raises(ValueError, match="moves no number"):
        certified_accuracy(model, frame, y, radius={"kind": 1.0})
    with pytest.raises(ValueError, match="names the column 'weight'"):
        certified_accuracy(model, frame, y, radius={"weight": 1.0})


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_curved_boundaries_have_the_bound_alone(norm, dtype):
    X, y = load_iris(return_X_y=True)
    radius = {1: 0.3, 2: 0.2, np.inf: 0.1}[norm]
    kinds = (
        LGMLVQ(prototypes_per_class=2, random_state=0),
        RSLVQ(prototypes_per_class=2, random_state=0),
        RobustLVQ(norm=norm, radius=0.5, distance="minkowski", random_state=0),
    )
    fitted = [model.fit(X, y) for model in kinds]
    X, y = crowd(X, y, 20) if THOROUGH else (X, y)
    X, inside = X.astype(dtype), 1.0 - 1e-9 if dtype == np.float64 else 1.0 - 1e-5
    for model in fitted:
        found = certified_accuracy(model, X, y, radius=radius, norm=norm)
        assert np.isnan(found.exact)
        assert 0.2 < found.bound == found.certified.mean() <= found.accuracy
        rng = np.random.RandomState(0)
        sure, labels = X[found.certified][:1_000], y[found.certified][:1_000]
        for _ in range(100):
            way = into_ball(rng.standard_normal(sure.shape) * 10.0, norm, radius * inside)
            assert (model.predict((sure + way).astype(dtype)) == labels).all()
        walk = walked(model, sure, labels, norm, None, 100 if THOROUGH else 2)
        assert inside * radius < walk.min() < np.inf
        seen = np.isfinite(found.adversarial).all(axis=1)
        assert (model.predict(found.adversarial[seen]) != y[seen]).all()
        assert "curved" in str(found)


def test_the_distance_of_the_norm_has_its_own_certificate():
    """(D- - D+) / 2, as Saralajew et al. (2020) prove."""
    X, y = load_iris(return_X_y=True)
    model = RobustLVQ(norm=np.inf, radius=0.4, distance="minkowski", random_state=0).fit(X, y)
    D = np.abs(X[:, None] - model.prototypes_).max(axis=2)
    own = model.prototype_labels_ == y[:, None]
    gap = np.where(own, np.inf, D).min(axis=1) - np.where(own, D, np.inf).min(axis=1)
    found = certified_accuracy(model, X, y, radius=0.25, norm=np.inf)
    np.testing.assert_array_equal(found.certified, gap / 2.0 > 0.25)


def test_scikit_learn_models_and_several_threads(cancer):
    X, y = cancer
    model = LogisticRegression().fit(X, y)
    X, y = X[:200], y[:200]
    one = certified_accuracy(model, X, y, radius=0.05, norm=np.inf, box=(0, 1))
    two = certified_accuracy(model, X, y, radius=0.05, norm=np.inf, box=(0, 1), n_jobs=2)
    np.testing.assert_array_equal(one.certified, two.certified)
    np.testing.assert_array_equal(one.adversarial, two.adversarial)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.1, "norm": 3}, "norm=3 must be 1, 2 or numpy.inf"),
        ({"radius": 0.1, "norm": "2"}, "must be 1, 2 or numpy.inf"),
        ({"radius": -0.1}, "must be positive"),
        ({"radius": 0.0}, "must be positive"),
        ({"radius": np.nan}, "must be positive"),
        ({"radius": [0.1, 0.2]}, "expected a number, one for each of the 4 features"),
        ({"radius": 0.1, "box": (0, 1)}, "outside the box: feature 0 is"),
        ({"radius": 0.1, "box": "unit"}, "bounds="),
    ],
)
def test_bad_input(options, message):
    X, y = load_iris(return_X_y=True)
    model = GLVQ(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        certified_accuracy(model, X, y, **options)


def test_models_without_certificates_say_so():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="has no certificate"):
        certified_accuracy(KernelGLVQ(random_state=0).fit(X, y), X, y, radius=0.1)
    bent = make_pipeline(PowerTransformer(), GLVQ(random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="Pass the last step alone"):
        certified_accuracy(bent, X, y, radius=0.1)
    model = GLVQ(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="which the model has not seen"):
        certified_accuracy(model, X, y + 1, radius=0.1)
    with pytest.raises(ValueError, match="outside the box"):
        sample_margin(model, X, box=(0, 1))
