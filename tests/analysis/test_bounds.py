"""The generalisation bound."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference
from protolearn import (
    GLVQ,
    GMLVQ,
    LVQ1,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    generalization_bound,
    hypothesis_margin,
)
from protolearn.analysis.bounds import GRID
from protolearn.distances import Minkowski


@pytest.fixture(scope="module")
def overlapping():
    """Two classes on a line, uniform on [-1, 0.2] and [-0.2, 1]; the error is 1/6."""
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=10**6)
    X = np.where(y == 0, 1.0, -1.0) * rng.uniform(-1.0, 0.2, len(y))
    return X[:, None], y


@pytest.fixture(scope="module")
def on_the_line(overlapping):
    X, y = overlapping
    model = GLVQ(init="means").fit(X[:500], y[:500])
    assert abs(model.prototypes_.sum() / 2) < 0.2  # in the overlap every border has the same error
    return model


def test_is_the_formula(iris):
    X, y = iris
    model = GLVQ(prototypes_per_class={0: 1, 1: 3, 2: 2}, random_state=0).fit(X, y)
    margin = hypothesis_margin(model, X, y)
    for theta, radius, delta in [(0.4, 4.0, 0.05), (0.02, 3.6, 0.5), (4.9, 10.0, 1e-9)]:
        result = generalization_bound(model, X, y, delta, radius=radius, theta=theta)
        expected = reference.generalization_bound(margin, theta, radius, 4, 3, 3, delta)
        got = result.raw_bound, result.capacity, result.margin_error
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert (result.theta, result.radius, result.delta) == (theta, radius, delta)
        assert (result.n_samples, result.bound) == (150, 1.0)


def test_margin_limits_the_dimension(rng):
    """In many dimensions 64 / t^2 counts, and the dimension does not."""
    X, y = rng.normal(size=(20, 4000)), np.arange(20) % 2
    model = GLVQ(random_state=0).fit(X, y)
    radius = np.linalg.norm(X, axis=1).max()
    capacity = generalization_bound(model, X, y, theta=radius / 4).capacity
    assert capacity == pytest.approx(64 * 16 * 2 * np.log2(np.e))


def test_best_of_the_grid(overlapping, on_the_line):
    X, y = (part[:2000] for part in overlapping)
    margin = hypothesis_margin(on_the_line, X, y)
    result = generalization_bound(on_the_line, X, y, radius=3.0)
    each = [
        reference.generalization_bound(margin, 3.0 * t, 3.0, 1, 1, 2, 0.05 / len(GRID))[0]
        for t in GRID
    ]
    assert result.raw_bound == pytest.approx(min(each), rel=1e-12)
    assert result.theta == 3.0 * GRID[np.argmin(each)]
    assert result.margin_error == np.mean(margin < result.theta)
    assert (GRID < 0.5).all()
    assert (GRID > 0.0).all()


def test_is_above_the_error_and_below_one(overlapping, on_the_line):
    result = generalization_bound(on_the_line, *overlapping, radius=1.0)
    assert 1 / 6 < result.bound == result.raw_bound < 0.5
    assert str(result) == result.message
    assert (
        f"With probability at least 0.95 the error on new data is at most {result.bound:.3f}"
        in (result.message)
    )
    assert "supposes" not in result.message
    assert "two classes" not in result.message


def test_falls_with_rows_and_rises_with_prototypes(overlapping):
    X, y = overlapping
    raw = np.empty((3, 3))
    for i, count in enumerate([1, 2, 4]):
        model = GLVQ(prototypes_per_class=count, random_state=0).fit(X[:300], y[:300])
        for j, m in enumerate([100, 1000, 10000]):
            theta = 0.1
            result = generalization_bound(model, X[:m], y[:m], radius=1.0, theta=theta)
            raw[i, j] = result.raw_bound - result.margin_error
    assert (np.diff(raw, axis=0) > 0).all()
    assert (np.diff(raw, axis=1) < 0).all()


@pytest.mark.parametrize("theta", [None, 0.3])
def test_vacuous_on_iris(iris, theta):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    result = generalization_bound(model, X, y, theta=theta)
    assert result.raw_bound > 1
    assert result.bound == 1.0
    assert result.radius == np.linalg.norm(X, axis=1).max()
    for part in [
        "vacuous for 150 samples",
        f"at most {result.raw_bound:.3g}",
        "hypothesis_margin",
        f"no sample is longer than {result.radius:.4g}",
        "proved for two classes; here are 3",
    ]:
        assert part in result.message


def test_number_of_samples_that_it_takes(overlapping, on_the_line):
    X, y = (part[:1000] for part in overlapping)
    result = generalization_bound(on_the_line, X, y, 0.1, radius=1.0, theta=0.05)
    told = int(result.message.split("take about ")[1].split(" samples")[0].replace(",", ""))
    margin = hypothesis_margin(on_the_line, X, y)

    def raw(m):
        times = -(-m // len(margin))
        return reference.generalization_bound(np.tile(margin, times), 0.05, 1.0, 1, 1, 2, 0.1)[0]

    assert raw(int(1.06 * told)) < 1 < raw(int(0.94 * told))  # two digits are told


def test_never(overlapping, on_the_line):
    X, y = overlapping
    result = generalization_bound(on_the_line, X[:100], 1 - y[:100], radius=1.0, theta=0.49)
    assert result.margin_error == 1.0
    assert "it would never fall below one, however many samples there are;" in result.message


def test_overflow_is_infinite(rng, recwarn):
    X, y = rng.normal(size=(420, 2)), np.arange(420) % 105
    model = PrototypeClassifier(prototypes_per_class=2, random_state=0, max_iter=1).fit(X, y)
    recwarn.clear()
    huge = generalization_bound(model, X, y)
    assert 2.0**105 < huge.capacity < np.inf
    assert "e+" in huge.message.split("take about ")[1]
    model.rule_ = replace(model.rule_, classes=np.arange(2000))  # as if of so many
    result = generalization_bound(model, X, y)
    assert (result.bound, result.raw_bound, result.capacity) == (1.0, np.inf, np.inf)
    assert not recwarn


def test_scale_makes_no_difference(iris):
    X, y = iris
    X, y = X[y > 0], y[y > 0]
    model = GLVQ(random_state=0).fit(X, y)
    scaled = GLVQ(init=1024.0 * model.prototypes_, max_iter=1).fit(1024.0 * X, y)
    scaled.prototypes_ = 1024.0 * model.prototypes_
    small = generalization_bound(model, X, y)
    large = generalization_bound(scaled, 1024.0 * X, y)
    assert large.raw_bound == pytest.approx(small.raw_bound, rel=1e-12)
    assert large.theta == pytest.approx(1024.0 * small.theta, rel=1e-12)


def test_pipeline_frames_and_sparse_rows(iris, recwarn):
    X, y = iris
    frame = pd.DataFrame(3.0 * X + 7.0, columns=list("abcd"))
    scaler = StandardScaler().set_output(transform="pandas")
    pipe = make_pipeline(scaler, GLVQ(random_state=0)).fit(frame, y)
    result = generalization_bound(pipe, frame, y)
    assert result == generalization_bound(pipe[-1], pipe[0].transform(frame), y)
    assert result.radius == pytest.approx(np.linalg.norm(X, axis=1).max())
    dense = GLVQ(random_state=0).fit(X, y)
    sparse = generalization_bound(dense, csr_array(X), y)
    assert sparse.raw_bound == pytest.approx(generalization_bound(dense, X, y).raw_bound)
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_euclidean_distance_may_be_unsquared(iris):
    X, y = iris
    model = PrototypeClassifier(distance=Minkowski(p=2), random_state=0).fit(X, y)
    result = generalization_bound(model, X, y, theta=0.2)
    assert result.margin_error == np.mean(hypothesis_margin(model, X, y) < 0.2)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GMLVQ(), "GMLVQ has Matrix"),
        (LVQ1(distance=Minkowski(p=1)), "LVQ1 has Minkowski"),
        (PrototypeClassifier(distance="mahalanobis"), "PrototypeClassifier has Mahalanobis"),
        (KernelGLVQ(), "KernelGLVQ has FeatureSpaceDistance"),
        (RSLVQ(), "RSLVQ decides by several"),
    ],
    ids=["matrix", "city block", "mahalanobis", "kernel", "soft"],
)
def test_models_that_the_theorem_does_not_cover(iris, model, said):
    with pytest.raises(ValueError, match=f"The bound is a theorem about .* and {said}"):
        generalization_bound(model.fit(*iris), *iris)


def test_errors(iris):
    X, y = iris
    model = GLVQ(random_state=0).fit(X, y)
    longest = np.linalg.norm(X, axis=1)
    generalization_bound(model, X, y, radius=longest.max())
    outside = (longest > 2.0).sum()
    with pytest.raises(ValueError, match=rf"{outside} of 150 rows are longer than radius=2\.0"):
        generalization_bound(model, X, y, radius=2.0)
    with pytest.raises(ValueError, match=r"theta=2\.5 with radius 5 must be .* in \(0, 2\.5\)"):
        generalization_bound(model, X, y, radius=5.0, theta=2.5)
    for wrong in [{"delta": 0.0}, {"delta": 1}, {"radius": 0.0}, {"radius": "1"}, {"theta": 0}]:
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))}="):
            generalization_bound(model, X, y, **wrong)
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing values"):
        generalization_bound(model, holes, y)
    with pytest.raises(ValueError, match="longest row of X has length 0"):
        generalization_bound(model, np.zeros((1, 4)), [0])
    with pytest.raises(ValueError, match=r"y contains \[7\]"):
        generalization_bound(model, X[:1], [7])
    with pytest.raises(TypeError, match="LogisticRegression is not"):
        generalization_bound(LogisticRegression().fit(X, y), X, y)


# The bound by a net


def test_the_net_is_the_formula(iris):
    X, y = iris
    model = GLVQ(prototypes_per_class={0: 1, 1: 3, 2: 2}, random_state=0).fit(X, y)
    margin, W = hypothesis_margin(model, X, y), model.prototypes_
    longest = np.linalg.norm(X, axis=1).max()
    for theta, radius, delta in [(0.4, longest, 0.05), (0.02, 3.6, 0.5), (4.9, 100.0, 1e-9)]:
        ask = {"radius": radius, "theta": theta, "method": "net"}
        result = generalization_bound(model, X, y, delta, **ask)
        expected = reference.net_bound(margin, theta, radius, W, delta)
        got = result.raw_bound, result.capacity, result.margin_error
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    model.prototypes_ = 5.0 * W  # a larger ball
    margin = hypothesis_margin(model, X, y)
    result = generalization_bound(model, X, y, radius=longest, theta=0.3, method="net")
    expected = reference.net_bound(margin, 0.3, longest, 5.0 * W, 0.05)
    np.testing.assert_allclose(result.raw_bound, expected[0], rtol=1e-12)
    each = [
        reference.net_bound(margin, longest * t, longest, 5.0 * W, 0.05 / len(GRID))[0]
        for t in GRID
    ]
    best = generalization_bound(model, X, y, radius=longest, method="net")
    assert best.raw_bound == pytest.approx(min(each), rel=1e-12)


def test_margins_change_by_at_most_what_prototypes_move(iris, rng):
    """What the proof needs of the margin, for three classes."""
    X, y = iris
    model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    W, before = model.prototypes_.copy(), hypothesis_margin(model, X, y)
    for _ in range(20):
        step = rng.standard_normal(W.shape) * rng.uniform(0.0, 1.0, (len(W), 1))
        model.prototypes_ = W + step
        moved = np.linalg.norm(step, axis=1).max()
        assert np.abs(hypothesis_margin(model, X, y) - before).max() <= moved * (1 + 1e-12)


def test_a_net_of_a_ball_is_as_small_as_the_proof_says():
    """Greedy choice of points that are theta/2 apart, in a disc of radius B."""
    grid = np.linspace(-1.0, 1.0, 201)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    points = points[np.linalg.norm(points, axis=1) <= 1.0]
    for theta in (1.0, 0.5, 0.2):
        left, count = points, 0
        while len(left):
            left = left[np.linalg.norm(left - left[0], axis=1) >= theta / 2]
            count += 1
        assert 2 < count <= (1 + 4 / theta) ** 2


def test_the_net_says_something_about_three_classes():
    """Three Gaussians in the plane; the bound is above the error of new rows in every draw."""
    rng = np.random.RandomState(0)
    centres = np.array([[0.0, 0.5], [0.43, -0.25], [-0.43, -0.25]])

    def draw(m):
        y = rng.randint(3, size=m)
        return np.clip(centres[y] + 0.1 * rng.standard_normal((m, 2)), -0.7, 0.7), y

    X_new, y_new = draw(20_000)
    for _ in range(5):
        X, y = draw(500)
        model = GLVQ(random_state=0).fit(X, y)
        found = generalization_bound(model, X, y, radius=1.0, method="net")
        assert 1.0 - model.score(X_new, y_new) < found.bound < 0.4
        assert "the error on new data is at most" in found.message
        assert "two classes" not in found.message
        assert generalization_bound(model, X, y, radius=1.0).bound == 1.0


def test_the_net_tells_how_many_samples_it_needs(rng):
    X, y = rng.standard_normal((40, 30)), np.arange(40) % 4
    model = GLVQ(random_state=0).fit(X, y)
    found = generalization_bound(model, X, y, method="net")
    assert found.raw_bound > 1.0
    assert "it would take about" in found.message
    assert "the unit of theta" in found.message
    with pytest.raises(ValueError, match="method='nett' must be one of 'crammer', 'net'"):
        generalization_bound(model, X, y, method="nett")
