"""The exact distance to the decision boundary."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import custom_axes
import reference
from given_model import assert_just_below, given_model, random_prototypes
from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    certified_radius,
    hypothesis_margin,
    sample_margin,
)
from protolearn.distances import Matrix, Relevance

SEEDS = st.integers(0, 2**32 - 1)
CLASSES = st.integers(2, 4)


def chain(model, X):
    """Give the hypothesis margin, the certified radius and the sample margin of predictions."""
    predicted = model.predict(X)
    return (
        hypothesis_margin(model, X, predicted),
        certified_radius(model, X),
        sample_margin(model, X),
    )


def brute_force(model, X, omega=None):
    """Give the sample margin by non-negative least squares."""
    W, c = model.prototypes_, model.prototype_labels_
    predicted = model.predict(X)
    return [
        reference.sample_margin(x, W, c, own, omega)[0] for x, own in zip(X, predicted, strict=True)
    ]


def rows(rng, d, n=3):
    """Give rows near and far from standard normal prototypes."""
    return rng.choice([0.1, 1.0, 4.0]) * rng.randn(n, d)


@given(seed=SEEDS, n_classes=CLASSES, most=st.integers(1, 20), d=st.integers(1, 50))
def test_is_the_projection_and_the_largest_of_three(seed, n_classes, most, d):
    rng = np.random.RandomState(seed)
    model = given_model(*random_prototypes(rng, n_classes, most, d))
    X = rows(rng, d)
    hypothesis, certified, margin = chain(model, X)
    assert (hypothesis <= certified + 1e-12).all()
    assert (certified <= margin + 1e-12).all()
    np.testing.assert_allclose(margin, brute_force(model, X), rtol=1e-8, atol=1e-8)


@given(seed=SEEDS, n_classes=CLASSES, most=st.integers(1, 8), d=st.integers(1, 12), data=st.data())
def test_under_a_matrix(seed, n_classes, most, d, data):
    rng = np.random.RandomState(seed)
    rank = data.draw(st.integers(1, d))
    omega = rng.randn(data.draw(st.integers(rank, d)), rank) @ rng.randn(rank, d)
    omega /= np.linalg.norm(omega)
    W, labels = random_prototypes(rng, n_classes, most, d)
    model = given_model(W, labels, Matrix(), [omega.ravel()])
    X = rows(rng, d)
    hypothesis, certified, margin = chain(model, X)
    assert (hypothesis / np.linalg.norm(omega, 2) <= certified + 1e-8).all()
    assert (certified <= margin + 1e-8).all()
    np.testing.assert_allclose(margin, brute_force(model, X, omega), rtol=1e-7, atol=1e-8)


@given(seed=SEEDS, n_classes=CLASSES, most=st.integers(1, 8), d=st.integers(1, 12))
def test_under_relevances(seed, n_classes, most, d):
    rng = np.random.RandomState(seed)
    roots = rng.randn(d) * (rng.rand(d) < 0.7)  # some features do not count
    roots[0] = 1.0
    roots /= np.linalg.norm(roots)
    model = given_model(*random_prototypes(rng, n_classes, most, d), Relevance(), [roots])
    X = rows(rng, d)
    hypothesis, certified, margin = chain(model, X)
    assert (hypothesis / np.abs(roots).max() <= certified + 1e-10).all()
    assert (certified <= margin + 1e-10).all()
    np.testing.assert_allclose(margin, brute_force(model, X, np.diag(roots)), rtol=1e-7, atol=1e-8)


def test_under_mahalanobis(iris):
    X, y = iris
    model = PrototypeClassifier(
        distance="mahalanobis", prototypes_per_class=3, random_state=0, max_iter=5
    ).fit(X, y)
    omega = model.rule_.distance.omega(model.rule_.codebook.metric[0], 4)
    hypothesis, certified, margin = chain(model, X)
    assert (hypothesis / np.linalg.norm(omega, 2) <= certified + 1e-12).all()
    assert (certified <= margin + 1e-12).all()
    np.testing.assert_allclose(margin[::5], brute_force(model, X[::5], omega), rtol=1e-8)


@given(seed=SEEDS, d=st.integers(1, 6), most=st.integers(1, 5))
def test_no_smaller_change_has_another_class_and_a_little_larger_one_has(seed, d, most):
    rng = np.random.RandomState(seed)
    W, labels = random_prototypes(rng, 3, most, d)
    model, x = given_model(W, labels), rng.randn(d)
    (own,), (margin,) = model.predict([x]), sample_margin(model, [x])
    directions = rng.randn(10_000, d)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    assert (model.predict(x + 0.999 * margin * directions) == own).all()
    boundary = x + reference.sample_margin(x, W, labels, own)[1]
    # From the boundary towards a prototype of the class there, by a thousandth of the margin.
    other = W[labels != own]
    steps = other - boundary
    steps *= 0.001 * margin / np.linalg.norm(steps, axis=1, keepdims=True)
    assert (model.predict(boundary + steps) != own).any()


@given(seed=SEEDS, n_classes=st.integers(2, 6), d=st.integers(1, 8))
def test_one_prototype_a_class_has_a_closed_form(seed, n_classes, d):
    rng = np.random.RandomState(seed)
    omega = rng.randn(d, d) / d
    W, x = rng.randn(n_classes, d), rng.randn(d)
    model = given_model(W, np.arange(n_classes), Matrix(), [omega.ravel()])
    D = [reference.mapped_pair(x, w, omega) for w in W]
    own = int(np.argmin(D))
    expected = min(
        (D[v] - D[own]) / (2 * np.linalg.norm(omega.T @ omega @ (W[v] - W[own])))
        for v in range(n_classes)
        if v != own
    )
    for value in (sample_margin(model, [x]), certified_radius(model, [x])):
        np.testing.assert_allclose(value, [expected], rtol=1e-8)


@given(seed=SEEDS, side=st.integers(1, 4), d=st.integers(1, 3), most=st.integers(1, 12))
def test_ties_on_a_lattice(seed, side, d, most):
    rng = np.random.RandomState(seed)
    labels = random_prototypes(rng, 3, most, d)[1]
    W = rng.randint(-side, side + 1, size=(len(labels), d))  # often several in one place
    model = given_model(W, labels)
    X = rng.randint(-2 * side, 2 * side + 1, size=(4, d)) / rng.choice([1.0, 2.0])
    _, certified, margin = chain(model, X)
    assert (certified <= margin + 1e-12).all()
    np.testing.assert_allclose(margin, brute_force(model, X), atol=1e-8)


def test_many_prototypes_on_a_chessboard():
    board = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    model = given_model(board, board.sum(axis=1).astype(int) % 2)
    np.testing.assert_allclose(sample_margin(model, board), 0.5)
    corners = board[(board < 19).all(axis=1)] + 0.5  # of four fields
    np.testing.assert_allclose(sample_margin(model, corners), 0.0, atol=1e-13)
    inside = np.random.RandomState(0).rand(100, 2) * 18.0
    offset = np.abs(inside - inside.round())  # the next side of the square
    expected = 0.5 - offset.max(axis=1)
    np.testing.assert_allclose(sample_margin(model, inside), expected, atol=1e-12)


def test_circle_of_prototypes_around_a_rival():
    angle = np.arange(200) * np.pi / 100
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = given_model(np.vstack([circle, [[0.0, 0.0]]]), np.repeat([0, 1], [200, 1]))
    np.testing.assert_allclose(sample_margin(model, 3.0 * circle), 2.5)
    np.testing.assert_allclose(sample_margin(model, [[0.0, 0.0]]), 0.5)


@pytest.mark.parametrize("shape", [(40, 1), (40, 6), (6, 40)])
def test_collinear_prototypes(shape, rng):
    K, d = shape
    W = np.outer(np.arange(float(K)), rng.randn(d))
    model = given_model(W, np.arange(K) % 3)
    X = 5.0 * rng.randn(10, d)
    hypothesis, certified, margin = chain(model, X)
    assert (hypothesis <= certified + 1e-10).all()
    assert (certified <= margin + 1e-10).all()
    np.testing.assert_allclose(margin, brute_force(model, X), atol=1e-8)


def test_prototypes_in_one_place():
    W = [[0.0, 0.0], [4.0, 0.0], [0.0, 0.0], [4.0, 0.0]]
    same = given_model(W, [0, 0, 1, 1])  # every decision is a draw
    np.testing.assert_array_equal(sample_margin(same, [[1.0, 1.0], [3.0, 0.0]]), 0.0)
    half = given_model(W, [0, 0, 1, 0])  # at 4 there are two of class 0 and none of class 1
    np.testing.assert_allclose(sample_margin(half, [[1.0, 1.0], [3.0, 1.0]]), [0.0, 1.0])
    twice = given_model(W, [0, 1, 0, 1])
    np.testing.assert_allclose(sample_margin(twice, [[1.0, 7.0], [3.5, 0.0]]), [1.0, 1.5])


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_prototypes_near_each_other(gap):
    model = given_model([[0.0, 0.0], [gap, 0.0], [3.0, 3.0]], [0, 1, 1])
    assert_just_below(sample_margin(model, [[-2.0, 1.0]]), [2.0 + gap / 2], 2e-12 / gap)


def test_sample_on_a_prototype_and_on_the_boundary():
    model = given_model([[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]], [0, 1, 1])
    np.testing.assert_allclose(sample_margin(model, [[0.0, 0.0], [2.0, 0.0]]), 1.0)
    np.testing.assert_array_equal(sample_margin(model, [[1.0, 5.0]]), 0.0)


@pytest.mark.parametrize("size", [1e-150, 1e-8, 1e8, 1e150])
def test_scales_with_the_data(size, rng):
    W, labels = random_prototypes(rng, 3, 4, 3)
    X = rng.randn(20, 3)
    expected = size * sample_margin(given_model(W, labels), X)
    scaled = sample_margin(given_model(size * W, labels, scale=size * size), size * X)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12)


def test_far_from_the_origin(rng):
    W, labels = random_prototypes(rng, 3, 4, 3)
    X = rng.randn(20, 3)
    near, far = given_model(W, labels), given_model(W + 1e6, labels)
    assert_just_below(sample_margin(far, X + 1e6), sample_margin(near, X), 1e-6)


def test_one_prototype_far_away_costs_few_digits(rng):
    W, labels = np.vstack([rng.randn(10, 3), [[1e6, 0.0, 0.0]]]), np.append(np.arange(10) % 2, 0)
    X = rng.randn(50, 3)
    _, certified, margin = chain(given_model(W, labels), X)
    assert (certified <= margin + 1e-12).all()
    near = given_model(W[:-1], labels[:-1])
    np.testing.assert_allclose(margin, sample_margin(near, X), atol=2e-3)


def test_no_other_class_has_a_prototype(iris):
    X, y = iris
    model = GLVQ().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    np.testing.assert_array_equal(sample_margin(model, X), np.inf)
    model = GLVQ().partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    np.testing.assert_allclose(sample_margin(model, X[::9]), brute_force(model, X[::9]), atol=1e-9)


def test_kinds_of_rows(iris):
    X, y = iris
    model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    margin = sample_margin(model, X)
    np.testing.assert_allclose(sample_margin(model, X[:1]), margin[:1], rtol=1e-12)
    np.testing.assert_allclose(sample_margin(model, X.astype(np.float32)), margin, atol=2e-4)
    np.testing.assert_allclose(sample_margin(model, csr_matrix(X)), margin, atol=1e-12)
    np.testing.assert_array_equal(sample_margin(model, X.tolist()), margin)
    frozen = X.copy()
    frozen.flags.writeable = model.prototypes_.flags.writeable = False
    np.testing.assert_array_equal(sample_margin(model, frozen), margin)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = GLVQ(prototypes_per_class=2, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(sample_margin(named, frame), margin)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_features_than_prototypes_and_sparse_rows():
    X = csr_matrix(random_sparse(60, 2000, density=0.01, random_state=0))
    y = np.arange(60) % 5
    for model in (GLVQ(prototypes_per_class=2, max_iter=3), GMLVQ(rank=2, max_iter=3)):
        model.set_params(random_state=0).fit(X, y)
        margin = sample_margin(model, X)
        np.testing.assert_allclose(margin, sample_margin(model, X.toarray()), atol=1e-10)
    # The same in the first coordinates of a space with many more.
    W, labels = random_prototypes(np.random.RandomState(0), 3, 3, 4)
    rows_of_4 = np.random.RandomState(1).randn(9, 4)
    wide = given_model(np.pad(W, ((0, 0), (0, 50))), labels)
    np.testing.assert_allclose(
        sample_margin(wide, np.pad(rows_of_4, ((0, 0), (0, 50)))),
        sample_margin(given_model(W, labels), rows_of_4),
        rtol=1e-10,
    )


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(n_jobs, rng):
    model = given_model(*random_prototypes(rng, 3, 6, 5))
    X = rng.randn(700, 5)
    np.testing.assert_array_equal(sample_margin(model, X, n_jobs=n_jobs), sample_margin(model, X))


def test_pipeline(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), GLVQ()).fit(3.0 * X + 7.0, y)
    inner = sample_margin(pipe[-1], pipe[0].transform(3.0 * X + 7.0))
    np.testing.assert_array_equal(sample_margin(pipe, 3.0 * X + 7.0), inner)


def test_soft_decision_with_one_prototype_a_class_is_hard(iris):
    X, y = iris
    model = RSLVQ().fit(X, y)
    np.testing.assert_allclose(sample_margin(model, X), certified_radius(model, X), rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_without_flat_boundaries(iris):
    X, y = iris
    short = {"max_iter": 2, "random_state": 0}
    for model, reason in [
        (LGMLVQ(**short), "LGMLVQ are not known to be flat"),
        (RSLVQ(prototypes_per_class=2, **short), "RSLVQ, with a soft decision over all prototypes"),
        (KernelGLVQ(**short), "of KernelGLVQ are not known"),
        (PrototypeClassifier(distance="minkowski", **short), "with distance='minkowski'"),
        (PrototypeClassifier(distance=custom_axes.LogCosh(), **short), r"distance=LogCosh\(\)"),
    ]:
        with pytest.raises(ValueError, match=reason):
            sample_margin(model.fit(X, y), X)


def test_errors(iris):
    X, y = iris
    model = GLVQ().fit(X, y)
    with pytest.raises(ValueError, match="X has missing values: sample_margin"):
        sample_margin(model, np.where(X > 2.0, np.nan, X))
    with pytest.raises(ValueError, match="X is sparse and contains NaN"):
        sample_margin(model, csr_matrix(np.where(X > 2.0, np.nan, X)))
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        sample_margin(model, X[:0])
    with pytest.raises(ValueError, match="X has 2 features, but GLVQ"):
        sample_margin(model, X[:, :2])
    with pytest.raises(ValueError, match="The distances overflow"):
        sample_margin(model, 1e200 * X)
    with pytest.raises(NotFittedError):
        sample_margin(GLVQ(), X)
    with pytest.raises(TypeError, match="GaussianNB is neither a nearest-prototype"):
        sample_margin(GaussianNB().fit(X, y), X)
    with pytest.raises(ValueError, match="n_jobs"):
        sample_margin(model, X, n_jobs=0)
