"""The geometry of distances: flat boundaries, how fast they change, and who inherits it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import custom_axes
from given_model import given_model
from protolearn.distances import (
    Distance,
    Geometry,
    Kernel,
    KullbackLeibler,
    LocalMatrix,
    Mahalanobis,
    Matrix,
    Minkowski,
    PartialRelevance,
    PartialSquaredEuclidean,
    Relevance,
    Renyi,
    SquaredEuclidean,
    Tangent,
    starts_from,
)
from protolearn.distances.distance import start_source

D_FEATURES = 4
K = 5
CASES = [  # the distance, its parameters or how many they are, and for how many groups
    (SquaredEuclidean(), 0, 1),
    (Relevance(), D_FEATURES, 1),
    (Matrix(), 2 * D_FEATURES, 1),
    (Mahalanobis(), D_FEATURES**2, 1),
    (Relevance(localized="prototype"), D_FEATURES, K),
    (LocalMatrix(localized="prototype"), 2 * D_FEATURES, K),
    *((Minkowski(p), [p, 1.0], 1) for p in (1.0, 1.5, 2.0, 3.0)),
    (Minkowski(np.inf), [0.0, 1.0], 1),
    (Kernel("linear"), [2.0, 1.0, 3.0, 1.0], 1),
    (Kernel("rbf"), [0.0, 0.7, 3.0, 1.0], 1),
]
NAMES = [repr(distance) for distance, *_ in CASES]
FLAT = (*NAMES[:4], "Kernel(kernel='linear')")


def random_codebook(distance, width, rows, rng):
    """Give prototypes with random parameters of the distance, or those given."""
    metric = np.tile(width, (rows, 1)) if isinstance(width, list) else rng.randn(rows, width)
    W = 100.0 + rng.randn(K, D_FEATURES)
    return given_model(W, np.arange(K), distance, metric).rule_.codebook


@pytest.mark.parametrize(("distance", "width", "rows"), CASES, ids=NAMES)
def test_directions_are_those_of_the_differences(distance, width, rows, rng):
    codebook = random_codebook(distance, width, rows, rng)
    U = distance.directions(codebook)
    assert (U is not None) == (repr(distance) in FLAT)
    if U is None:
        return
    x, y = 100.0 + rng.randn(2, D_FEATURES)
    D = distance.pairwise(np.array([x, y]), codebook)
    for v in range(K):
        for j in range(K):
            change = (D[1, v] - D[1, j]) - (D[0, v] - D[0, j])
            np.testing.assert_allclose(change, 2.0 * (U[j] - U[v]) @ (y - x), atol=1e-9)


@pytest.mark.parametrize(("distance", "width", "rows"), CASES, ids=NAMES)
@given(seed=st.integers(0, 2**32 - 1), power=st.integers(-3, 1))
def test_no_step_is_steeper(distance, width, rows, seed, power):
    rng = np.random.RandomState(seed)
    codebook = random_codebook(distance, width, rows, rng)
    X = codebook.prototypes[rng.randint(K, size=50)] + rng.randn(50, D_FEATURES)
    X[:K] = codebook.prototypes
    step = 10.0**power * rng.randn(50, D_FEATURES)
    d, moved = (distance.pairwise(Z, codebook) for Z in (X, X + step))
    if distance.squared:
        d, moved = np.sqrt(d), np.sqrt(moved)
    bound = np.linalg.norm(step, axis=1)[:, None] * distance.steepness(codebook)
    assert (np.abs(moved - d) <= bound * (1.0 + 1e-9) + 1e-6).all()


@pytest.mark.parametrize(("distance", "width", "rows"), CASES, ids=NAMES)
def test_some_step_is_as_steep(distance, width, rows, rng):
    codebook = random_codebook(distance, width, rows, rng)
    codebook = replace(
        codebook, prototypes=codebook.prototypes - 100.0, center=np.zeros(D_FEATURES)
    )
    W, steepness = codebook.prototypes, distance.steepness(codebook)
    for k in range(K):
        steps = [np.ones(D_FEATURES) / np.sqrt(D_FEATURES), *np.eye(D_FEATURES)]
        if hasattr(distance, "omega"):
            omega = distance.omega(codebook.metric[codebook.group[k]], D_FEATURES)
            steps.append(np.linalg.svd(omega)[2][0])
        D = distance.pairwise(W[k] + 1e-3 * np.array(steps), codebook)[:, k]
        reached = (np.sqrt(D) if distance.squared else D).max() / 1e-3
        np.testing.assert_allclose(reached, steepness[k], rtol=1e-3)


def test_tangents_take_something_away(rng):
    T = rng.randn(K, D_FEATURES)
    T /= np.linalg.norm(T, axis=1, keepdims=True)
    distance = Tangent(learned=True, n_tangents=1)
    codebook = given_model(rng.randn(K, D_FEATURES), np.arange(K), distance, T).rule_.codebook
    assert distance.directions(codebook) is None
    np.testing.assert_array_equal(distance.steepness(codebook), 1.0)
    X, step = rng.randn(2, 500, D_FEATURES)
    d, moved = (np.sqrt(distance.pairwise(Z, codebook)) for Z in (X, X + step))
    assert (np.abs(moved - d) <= np.linalg.norm(step, axis=1)[:, None] + 1e-9).all()


class Own(SquaredEuclidean):
    """The parent's formula under another name: all that is known of it holds."""


def test_geometry_belongs_to_a_formula(rng):
    codebook = given_model(rng.randn(3, 2), [0, 1, 2]).rule_.codebook
    for distance in (custom_axes.City(), KullbackLeibler(), PartialSquaredEuclidean()):
        assert not isinstance(distance, Geometry)
    assert (Own().steepness(codebook) == 1.0).all()
    assert Own().directions(codebook) is not None
    assert SquaredEuclidean.sparse_form().directions(codebook) is not None
    for form in ("sparse_form", "missing_form"):
        assert getattr(Own, form) is getattr(SquaredEuclidean, form)
    weights = given_model(rng.randn(3, 2), [0, 1, 2], PartialRelevance(), rng.randn(1, 2))
    assert PartialRelevance().directions(weights.rule_.codebook) is None
    assert PartialRelevance().steepness(weights.rule_.codebook) is None


@pytest.mark.parametrize(
    "parent", [Own, Relevance, Matrix, Kernel, Minkowski, Tangent, KullbackLeibler, Renyi]
)
def test_another_formula_by_inheritance_is_an_error(parent):
    """Otherwise it would have the matrix products and the certificates of its parent."""
    with pytest.raises(TypeError, match="Cubed redefines pair") as error:
        type("Cubed", (parent,), {"pair": custom_axes.City.pair})
    assert f"for the formula of {parent.__name__}; derive Cubed from Distance" in str(error.value)


def test_mixins_between_two_formulas():
    pair = {"pair": custom_axes.LogCosh.pair}
    assert not hasattr(type("Cubed", (custom_axes.City,), pair), "steepness")
    with pytest.raises(TypeError, match="Cubed redefines pair and inherits Geometry from BoundedC"):
        type("Cubed", (custom_axes.BoundedCity,), pair)

    class Bounded(Geometry, custom_axes.City):
        """A formula of its own with a bound of its own."""

        pair = custom_axes.LogCosh.pair

    assert Bounded.directions is Geometry.directions


class FromMeans(Distance):
    """A start that the means of the classes determine."""

    @starts_from("means")
    def initial(self, X, y, weight, n_groups):
        return np.zeros((n_groups, 1))


class FromRows(FromMeans):
    """Another start, which does not say what it needs."""

    def initial(self, X, y, weight, n_groups):
        return np.ones((n_groups, 1))


class StartsFromRows(FromMeans):
    """Another start where there are classes."""

    def start(self, X, y, weight, labels, stream=False):
        return np.ones((1, 1))


def test_what_a_start_needs_is_not_inherited_by_another_start():
    assert start_source(FromMeans()) == "means"
    assert start_source(type("Same", (FromMeans,), {})()) == "means"
    assert start_source(FromRows()) == start_source(StartsFromRows()) == "rows"
    assert start_source(Relevance()) == start_source(PartialRelevance()) == "ranges"
    assert start_source(Renyi()) == "means"
    for distance in (Matrix(), Mahalanobis(), Kernel(), Tangent()):
        assert start_source(distance) == "covariances"
    assert start_source(Minkowski()) == "rows"


class LocalRelevance(Relevance):
    """Weights for each prototype, by the groups alone."""

    def groups(self, labels):
        return np.arange(len(labels))


def test_flat_only_if_all_share_one_map(rng):
    codebook = given_model(
        rng.randn(3, 2), [0, 1, 2], LocalRelevance(), rng.randn(3, 2)
    ).rule_.codebook
    assert LocalRelevance().directions(codebook) is None


def test_polynomial_kernel_claims_nothing(rng):
    polynomial = Kernel("polynomial")
    codebook = given_model(
        rng.randn(3, 2), [0, 1, 2], polynomial, [[1.0, 1.0, 3.0, 1.0]]
    ).rule_.codebook
    assert polynomial.directions(codebook) is None
    assert polynomial.steepness(codebook) is None


@pytest.mark.parametrize(
    ("name", "mixin"),
    [
        ("steepness", "Geometry"),
        ("terms", "FeatureTerms"),
        ("penalty", "Penalized"),
        ("lowest", "LowerBounded"),
        ("forward", "BlockForm"),
    ],
)
def test_a_method_of_a_mixin_needs_the_mixin(name, mixin):
    """Otherwise nobody would ask for it, and training would leave it out in silence."""
    with pytest.raises(TypeError, match=rf"Own has {name}.*class Own\({mixin}, Distance\)"):
        type("Own", (Distance,), {name: lambda *args: None})
