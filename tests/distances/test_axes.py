"""The directions in which data vary, against NumPy's singular value decomposition."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from protolearn.distances.axes import DENSE, covariance, principal_axes, span


def projector(basis):
    return basis.T @ basis


def centred(X, weight):
    share = weight / weight.sum()
    return np.sqrt(share)[:, None] * (X - share @ X)


def as_sparse(X):
    return sparse.csr_array(X)


KINDS = [np.asarray, as_sparse]


@pytest.mark.parametrize("kind", KINDS)
def test_covariance(kind, rng):
    X, weight = rng.standard_normal((40, 5)), rng.uniform(0.1, 2.0, 40)
    expected = np.cov(X.T, aweights=weight, ddof=0)
    np.testing.assert_allclose(covariance(kind(X), weight), expected, atol=1e-14)


def test_covariance_of_sparse_rows_takes_no_more_than_itself():
    """All rows at once, dense, would be 48 MB; the result is 8 MB."""
    S = sparse.csr_array(
        sparse.random(6000, 1000, density=5e-3, format="csr", random_state=np.random.RandomState(0))
    )
    tracemalloc.start()
    covariance(S, np.ones(6000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 45e6


@pytest.mark.parametrize(
    ("kind", "shift"),
    [(np.asarray, 0.0), (np.asarray, 5.0), (np.asarray, 1e6), (as_sparse, 0.0), (as_sparse, 5.0)],
)
def test_span_of_dependent_features(kind, shift, rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 6)) + shift
    basis = span(kind(X), np.ones(60))
    assert basis.shape == (3, 6)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    expected = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    atol = 1e-12 if shift < 10 else 1e-8
    np.testing.assert_allclose(projector(basis), projector(expected), atol=atol)


def test_span_that_is_everything(rng):
    X = rng.standard_normal((60, 4))
    for sizes in (1.0, [1.0, 1e-8, 1e8, 1e3], 1e-100, 1e100):  # units do not matter
        assert (span(X * sizes, np.ones(60)) == np.eye(4)).all()


def test_span_in_any_units(rng):
    X = rng.standard_normal((60, 2)) * [1e-6, 1e6]
    X = np.column_stack([X, 3.0 * X[:, 0], rng.standard_normal(60)])
    basis = span(X, np.ones(60))
    assert len(basis) == 3
    null = np.array([3.0, 0.0, -1.0, 0.0])
    np.testing.assert_allclose(basis @ null, 0.0, atol=1e-10)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6 + 0.1])
def test_span_leaves_constant_features_out(constant, rng):
    X = np.insert(rng.standard_normal((30, 3)), 1, constant, axis=1)
    basis = span(X, np.ones(30))
    assert basis.shape == (3, 4)
    assert (basis[:, 1] == 0.0).all()
    X[:, 3] = X[:, 0] + X[:, 2]
    basis = span(X, np.ones(30))
    assert basis.shape == (2, 4)
    assert (basis[:, 1] == 0.0).all()


def test_span_of_few_rows(rng):
    X = rng.standard_normal((4, 9))
    assert span(X, np.ones(4)).shape == (3, 9)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("rows", [1, 6])
def test_span_of_equal_rows_is_empty(value, rows):
    X = np.full((rows, 3), value)
    assert span(X, np.ones(rows)).shape == principal_axes(X, np.ones(rows), 2).shape == (0, 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 3])
def test_principal_axes(kind, count, rng):
    X = rng.standard_normal((50, 6)) * np.arange(6, 0, -1) + 3.0
    weight = rng.uniform(0.1, 2.0, 50)
    axes = principal_axes(kind(X), weight, count)
    expected = np.linalg.svd(centred(X, weight))[2][:count]
    np.testing.assert_allclose(np.abs(np.sum(axes * expected, axis=1)), 1.0, rtol=1e-10)
    assert (axes[np.arange(count), np.abs(axes).argmax(axis=1)] > 0.0).all()


def test_no_more_axes_than_independent_directions(rng):
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6))
    assert principal_axes(X, np.ones(50), 4).shape == (2, 6)


def test_as_many_axes_as_asked_for_in_any_units(rng):
    """The features are independent, though one of them is measured in other units."""
    X = rng.standard_normal((100, 3)) * [1.0, 1e-7, 1e-7]
    assert principal_axes(X, np.ones(100), 2).shape == (2, 3)


def wide(n, d, seed=0):
    rng = np.random.RandomState(seed)
    return sparse.csr_array(sparse.random(n, d, density=2e-3, format="csr", random_state=rng))


def check_axes(S, count):
    weight = np.random.RandomState(1).uniform(0.5, 2.0, S.shape[0])
    axes = principal_axes(S, weight, count)
    assert axes.shape == (count, S.shape[1])
    np.testing.assert_allclose(axes @ axes.T, np.eye(count), atol=1e-8)
    Z = centred(S.toarray(), weight)
    # As much variance as any directions can have; the directions themselves may lie close.
    gram = np.linalg.eigvalsh(Z @ Z.T)[::-1][:count]
    np.testing.assert_allclose(np.linalg.norm(Z @ axes.T, axis=0) ** 2, gram, rtol=1e-6)
    np.testing.assert_array_equal(axes, principal_axes(S, weight, count))


def test_axes_of_many_features():
    check_axes(wide(200, DENSE + 500), 4)


def test_axes_of_many_features_and_more_rows():
    axes = principal_axes(wide(DENSE + 200, DENSE + 100), np.ones(DENSE + 200), 2)
    assert axes.shape == (2, DENSE + 100)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_axes_of_many_features_and_few_rows(rows):
    axes = principal_axes(wide(rows, DENSE + 1), np.ones(rows), 5)
    assert len(axes) == rows - 1


def test_axes_of_many_features_that_do_not_vary():
    assert principal_axes(np.ones((20, DENSE + 1)), np.ones(20), 3).shape == (0, DENSE + 1)
