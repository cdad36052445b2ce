"""The certified radius: nothing within it has another class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import custom_axes
import reference
from given_model import assert_just_below, given_model, random_prototypes
from protolearn import (
    GLVQ,
    LGMLVQ,
    MRSLVQ,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    PrototypeClassifier,
    certified_radius,
)
from protolearn.distances import (
    Geometry,
    Kernel,
    LocalMatrix,
    Matrix,
    Minkowski,
    Relevance,
    Tangent,
)
from protolearn.native import PAIR, native

SEEDS = st.integers(0, 2**32 - 1)


def unit_rows(rng, *shape):
    """Give random rows of length one."""
    rows = rng.randn(*shape)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def minkowski(p):
    """Give a maker of the distance of exponent p; 0 stands for infinity in its parameters."""
    return lambda rng, K, d: (Minkowski(p), [[0.0 if p == np.inf else p, 1.0]])


DISTANCES = {
    "squared euclidean": lambda rng, K, d: (None, None),
    "matrix": lambda rng, K, d: (Matrix(), unit_rows(rng, 1, rng.randint(1, d + 1) * d)),
    "relevance of a prototype": lambda rng, K, d: (
        Relevance(localized="prototype"),
        unit_rows(rng, K, d),
    ),
    "matrix of a class": lambda rng, K, d: (
        LocalMatrix(localized="class"),
        unit_rows(rng, 3, d * d),
    ),
    "matrix of a prototype": lambda rng, K, d: (
        LocalMatrix(localized="prototype"),
        unit_rows(rng, K, rng.randint(1, d + 1) * d),
    ),
    "tangent": lambda rng, K, d: (Tangent(learned=True, n_tangents=1), unit_rows(rng, K, d)),
    "rbf": lambda rng, K, d: (Kernel("rbf"), [[0.0, 10.0 ** rng.uniform(-2, 0.5), 3.0, 1.0]]),
    "linear kernel": lambda rng, K, d: (Kernel("linear"), [[2.0, 1.0, 3.0, 1.0]]),
    **{f"minkowski {p}": minkowski(p) for p in (1.0, 1.5, 2.0, 3.0, np.inf)},
}


def random_model(name, rng, d, most, soft):
    """Give a model of three classes with a random metric."""
    W, labels = random_prototypes(rng, 3, most, d)
    xi = 10.0 ** rng.uniform(-1, 1.5) if soft else None
    distance, metric = DISTANCES[name](rng, len(W), d)
    return given_model(W, labels, distance, metric, xi=xi, scale=10.0 ** rng.uniform(-0.5, 0.5))


def lead(model, Z, own):
    """Give how much the score of the class with code ``own`` exceeds the others."""
    scores = model.decision_function(Z)
    others = np.delete(scores, own, axis=1)
    return scores[:, own] - others.max(axis=1)


def worst_directions(model, x, radius, rng):
    """Search directions in which the lead is small at a radius: many lines, then descent."""
    W = model.prototypes_
    U = np.vstack([rng.randn(40, len(x)), W - x, x - W, np.eye(len(x)), -np.eye(len(x))])
    U = U[np.abs(U).sum(axis=1) > 0]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    own = int(model.predict([x])[0])
    best = U[lead(model, x + radius * U, own).argsort()[:3]]
    for step in 0.5 ** np.arange(1, 13):
        tried = np.vstack([best, np.repeat(best, 12, axis=0) + step * rng.randn(36, len(x))])
        tried /= np.linalg.norm(tried, axis=1, keepdims=True)
        best = tried[lead(model, x + radius * tried, own).argsort()[:3]]
    return np.vstack([best, U])


@pytest.mark.parametrize("soft", [False, True], ids=["nearest", "soft"])
@given(
    name=st.sampled_from(list(DISTANCES)), seed=SEEDS, d=st.integers(2, 5), most=st.integers(1, 4)
)
def test_is_never_broken(soft, name, seed, d, most):
    rng = np.random.RandomState(seed)
    model = random_model(name, rng, d, most, soft)
    x = rng.choice([0.3, 1.0, 3.0]) * rng.randn(d)
    (radius,) = certified_radius(model, [x])
    assert 0.0 <= radius < np.inf
    within = radius * (1.0 - 1e-9) * np.linspace(0.0, 1.0, 15)
    lines = worst_directions(model, x, within[-1], rng)
    attacks = (x + within[:, None, None] * lines).reshape(-1, d)
    own = int(model.predict([x])[0])
    assert lead(model, attacks, own).min() > -1e-12  # to rounding


def disc(radii):
    """Give points around the origin of the plane, an array (radii, angles, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
    return radii[:, None, None] * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("soft", [False, True], ids=["nearest", "soft"])
@pytest.mark.parametrize("name", DISTANCES)
def test_disc_of_the_plane_has_one_class(name, soft):
    near, far = np.linspace(0.1, 1.0 - 1e-9, 10), np.geomspace(0.01, 30.0, 25)
    share = []
    for seed in range(3):
        rng = np.random.RandomState(seed)
        model, X = random_model(name, rng, 2, 4, soft), rng.randn(5, 2)
        for x, radius in zip(X, certified_radius(model, X), strict=True):
            own = model.predict([x])
            assert (model.predict((x + radius * disc(near)).reshape(-1, 2)) == own).all()
            found = model.predict((x + disc(far)).reshape(-1, 2)) != own
            changed = found.reshape(len(far), -1).any(axis=1)
            share.append(radius / far[changed.argmax()] if changed.any() else 0.0)
    assert np.median(share) > 0.05, "of the distance at which the class does change"


@given(seed=SEEDS, d=st.integers(1, 6), most=st.integers(1, 6), rank=st.integers(1, 6))
def test_is_the_formula(seed, d, most, rank):
    rng = np.random.RandomState(seed)
    W, labels = random_prototypes(rng, 3, most, d)
    omega = rng.randn(min(rank, d), d)
    X = 2.0 * rng.randn(3, d)
    for model, matrix in [
        (given_model(W, labels), None),
        (given_model(W, labels, Matrix(), [omega.ravel()]), omega),
    ]:
        expected = [
            reference.certified_radius(x, W, labels, own, matrix)
            for x, own in zip(X, model.predict(X), strict=True)
        ]
        np.testing.assert_allclose(certified_radius(model, X), expected, rtol=1e-9, atol=1e-10)


@given(seed=SEEDS, d=st.integers(1, 6), most=st.integers(1, 6))
def test_is_the_formula_of_local_metrics(seed, d, most):
    rng = np.random.RandomState(seed)
    W, labels = random_prototypes(rng, 3, most, d)
    maps = rng.randn(len(W), d, d)
    local = LocalMatrix(localized="prototype")
    model = given_model(W, labels, local, maps.reshape(len(W), -1))
    X = 2.0 * rng.randn(3, d)
    D = np.sqrt(reference.mapped(X, W, maps, np.arange(len(W))))
    steepness = [np.linalg.norm(omega, 2) for omega in maps]
    expected = [
        reference.lipschitz_radius(row, labels, own, steepness)
        for row, own in zip(D, model.predict(X), strict=True)
    ]
    np.testing.assert_allclose(certified_radius(model, X), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("p", "steepest"), [(1.0, 2.0), (1.5, 4.0 ** (1 / 6)), (3.0, 1.0)])
def test_is_the_formula_of_minkowski(p, steepest, rng):
    W, labels = random_prototypes(rng, 3, 3, 4)
    model = given_model(W, labels, Minkowski(p), [[p, 1.0]])
    X = rng.randn(9, 4)
    D = [[(np.abs(x - w) ** p).sum() ** (1 / p) for w in W] for x in X]
    expected = [
        reference.lipschitz_radius(row, labels, own, np.full(len(W), steepest))
        for row, own in zip(D, model.predict(X), strict=True)
    ]
    assert_just_below(certified_radius(model, X), expected, 1e-12)


@given(seed=SEEDS, d=st.integers(1, 4), most=st.integers(1, 4))
def test_soft_decision_tends_to_the_nearest(seed, d, most):
    rng = np.random.RandomState(seed)
    W, labels = random_prototypes(rng, 3, most, d)
    X = rng.randn(4, d)
    hard = given_model(W, labels)
    expected = []
    for x, own in zip(X, hard.predict(X), strict=True):
        d_own = np.where(labels == own, ((x - W) ** 2).sum(axis=1), np.inf)
        winner = (labels != own) | (np.arange(len(W)) == d_own.argmin())  # its share becomes one
        expected.append(reference.certified_radius(x, W[winner], labels[winner], own))
    sharp = certified_radius(given_model(W, labels, xi=1e9), X)
    assert (sharp <= certified_radius(hard, X) + 1e-6).all()
    np.testing.assert_allclose(sharp, expected, atol=1e-5)


def test_two_prototypes_in_one_place_outvote_one():
    model = given_model([[0.0], [0.0], [0.0], [9.0]], [0, 0, 1, 1], xi=2.0)
    # exp(-2 x^2) (2 - 1) = exp(-2 (9 - x)^2) where 4.5 - x = 0.
    (radius,) = certified_radius(model, [[0.5]])
    assert 0.0 < radius <= 4.0
    alone = given_model([[0.0], [0.0], [0.0]], [0, 0, 1], xi=2.0)
    assert certified_radius(alone, [[0.5]])[0] > 1e10  # it never changes


@pytest.mark.parametrize("gap", [1e-5, 1e-7, 1e-9])
def test_soft_rivals_near_each_other(gap):
    model = given_model([[0.0, 0.0], [6.0, 3.0], [gap, 0.0]], [0, 0, 1], xi=2.0)
    (radius,) = certified_radius(model, [[-0.7, 0.2]])
    assert_just_below(radius, 0.7 + gap / 2, 5e-12 / gap)


@pytest.mark.parametrize("model", [LGMLVQ, RSLVQ, MRSLVQ, SNPC])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_trained_models(model, iris, rng):
    X, y = iris
    model = model(prototypes_per_class=3, random_state=0, max_iter=20).fit(X, y)
    radius = certified_radius(model, X)
    assert np.median(radius) > 0.1
    for _ in range(50):
        moved = X + 0.999999 * radius[:, None] * unit_rows(rng, *X.shape)
        assert (model.predict(moved) == model.predict(X)).all()


@pytest.mark.parametrize("xi", [None, 2.0])
def test_degenerate_prototypes(xi):
    W = [[0.0, 0.0], [4.0, 0.0], [0.0, 0.0], [4.0, 0.0]]
    drawn = given_model(W, [0, 0, 1, 1], xi=xi)
    np.testing.assert_allclose(certified_radius(drawn, [[1.0, 1.0], [4.0, 0.0]]), 0.0, atol=1e-12)
    decided = given_model(W, [0, 1, 0, 1], xi=xi)
    np.testing.assert_allclose(
        certified_radius(decided, [[1.0, 7.0], [0.0, 0.0], [2.0, 0.0]]), [1.0, 2.0, 0.0], atol=1e-12
    )
    one_class = given_model(W, [0, 0, 0, 0], xi=xi)
    np.testing.assert_array_equal(certified_radius(one_class, [[1.0, 1.0]]), np.inf)


@pytest.mark.parametrize("model", [GLVQ, RSLVQ])
def test_classes_without_prototypes(model, iris):
    X, y = iris
    stream = model(prototypes_per_class=2).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    np.testing.assert_array_equal(certified_radius(stream, X), np.inf)
    stream.partial_fit(X[50:100], y[50:100])
    assert (certified_radius(stream, X) < np.inf).all()


@pytest.mark.parametrize("xi", [None, 2.0])
@pytest.mark.parametrize("size", [1e-150, 1e-8, 1e8, 1e150])
def test_scales_with_the_data(size, xi, rng):
    W, labels = random_prototypes(rng, 3, 4, 3)
    X = rng.randn(20, 3)
    expected = size * certified_radius(given_model(W, labels, xi=xi), X)
    scaled = given_model(size * W, labels, xi=xi, scale=size * size)
    np.testing.assert_allclose(certified_radius(scaled, size * X), expected, rtol=1e-9)


@pytest.mark.parametrize("xi", [None, 2.0])
def test_far_from_the_origin(xi, rng):
    W, labels = random_prototypes(rng, 3, 4, 3)
    X = rng.randn(20, 3)
    near, far = given_model(W, labels, xi=xi), given_model(W + 1e6, labels, xi=xi)
    assert_just_below(certified_radius(far, X + 1e6), certified_radius(near, X), 5e-6)


@pytest.mark.parametrize("model", [GLVQ, RSLVQ])
def test_kinds_of_rows(model, iris):
    X, y = iris
    model = model(prototypes_per_class=2, random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    radius = certified_radius(model, X)
    np.testing.assert_allclose(certified_radius(model, X[:1]), radius[:1], rtol=1e-12)
    np.testing.assert_allclose(certified_radius(model, X.astype(np.float32)), radius, atol=2e-4)
    np.testing.assert_allclose(certified_radius(model, csr_matrix(X)), radius, atol=1e-12)
    pipe = make_pipeline(StandardScaler(), GLVQ()).fit(3.0 * X + 7.0, y)
    inner = certified_radius(pipe[-1], pipe[0].transform(3.0 * X + 7.0))
    np.testing.assert_array_equal(certified_radius(pipe, 3.0 * X + 7.0), inner)


class Sharper(Geometry, custom_axes.City):
    """A user's distance that says how fast it changes."""

    @native(PAIR)
    def pair(x, w, theta):
        total = 0.0
        for j in range(x.size):
            total += 5.0 * abs(x[j] - w[j])
        return total

    def steepness(self, codebook):
        return np.full(len(codebook.labels), 5.0 * np.sqrt(codebook.prototypes.shape[1]))


def test_users_distance_may_have_a_certificate(rng):
    W, labels = random_prototypes(rng, 3, 3, 4)
    X = rng.randn(9, 4)
    city = given_model(W, labels, Minkowski(1.0), [[1.0, 1.0]])
    model = given_model(W, labels, Sharper())
    np.testing.assert_allclose(certified_radius(model, X), certified_radius(city, X), rtol=1e-12)
    model = given_model(W, labels, custom_axes.BoundedCity())
    np.testing.assert_allclose(certified_radius(model, X), certified_radius(city, X), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_without_certificate(iris):
    X, y = iris
    X = X - X.min() + 0.1
    for distance in ("kl", "cauchy_schwarz", "renyi", Kernel("polynomial"), custom_axes.City()):
        model = PrototypeClassifier(distance=distance, max_iter=2, random_state=0).fit(X, y)
        with pytest.raises(
            ValueError, match=r"PrototypeClassifier with distance=.* no certificate"
        ):
            certified_radius(model, X)
    with pytest.raises(ValueError, match="KernelGLVQ has no certificate: its distance gives no"):
        certified_radius(KernelGLVQ(max_iter=2).fit(X, y), X)


def test_errors(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    with pytest.raises(ValueError, match="X has missing values: certified_radius"):
        certified_radius(model, np.where(X > 2.0, np.nan, X))
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        certified_radius(model, X[:0])
    with pytest.raises(ValueError, match="The distances overflow"):
        certified_radius(model, 1e200 * X)
    with pytest.raises(NotFittedError):
        certified_radius(GLVQ(), X)
    with pytest.raises(TypeError, match="GaussianNB is neither a nearest-prototype"):
        certified_radius(GaussianNB().fit(X, y), X)
