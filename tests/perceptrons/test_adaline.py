"""Adaline against least squares of NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from protolearn import Adaline
from protolearn.datasets import make_teacher_student
from reference import lengthened

THRESHOLDS = ("clamped", "free", False)
UPDATES = ("parallel", "sequential")


def signs(y):
    """Give +1 for the second of two classes."""
    return np.where(np.asarray(y) == np.max(y), 1.0, -1.0)


def least_squares(X, y, fit_intercept, weight=None):
    """Give w and -theta by lstsq; of several solutions with the shortest w (clamped: (w, theta)).

    A free threshold is not part of the length: it is removed with the means.
    """
    root = np.sqrt(np.ones(len(X)) if weight is None else np.asarray(weight))
    S = signs(y)
    if fit_intercept == "free":
        mean = np.average(X, axis=0, weights=root**2), np.average(S, weights=root**2)
        w = np.linalg.lstsq(root[:, None] * (X - mean[0]), root * (S - mean[1]), rcond=None)[0]
        return w, mean[1] - w @ mean[0]
    Z = lengthened(X, fit_intercept == "clamped")
    w = np.linalg.lstsq(root[:, None] * Z, root * S, rcond=None)[0]
    return w[: X.shape[1]], -w[-1] if fit_intercept == "clamped" else 0.0


def data(n, d, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d)) + 0.3
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0.2).astype(int)
    y[:2] = 0, 1
    return X, y


def settle(**parameters):
    return Adaline(tol=1e-12, max_iter=200_000, **parameters)


def assert_equals(model, expected, **tolerance):
    assert_allclose(model.coef_[0], expected[0], **tolerance)
    assert_allclose(model.intercept_[0], expected[1], **tolerance)


# Least squares -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("shape", [(60, 4), (5, 12), (200, 1)])
@pytest.mark.parametrize("eta", [0.5, 1.0, 1.9])
def test_parallel(fit_intercept, shape, eta):
    """More examples than inputs: least squares. Fewer: the shortest solution."""
    X, y = data(*shape)
    model = settle(fit_intercept=fit_intercept, eta=eta).fit(X, y)
    assert_equals(model, least_squares(X, y, fit_intercept), rtol=1e-8, atol=1e-9)
    if shape == (5, 12):
        assert_allclose(signs(y) * model.decision_function(X), 1.0, rtol=1e-8)


def test_the_oracle_of_the_free_threshold():
    """The same as lstsq with a column of ones, where the solution is unique."""
    X, y = data(60, 4)
    w, b = least_squares(X, y, "free")
    plain = np.linalg.lstsq(np.column_stack([X, np.ones(60)]), signs(y), rcond=None)[0]
    assert_allclose(np.append(w, b), plain, rtol=1e-10)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("eta", [0.3, 1.0, 1.9])
def test_sequential_finds_the_shortest_solution(fit_intercept, eta):
    X, y = data(6, 15)
    model = settle(updates="sequential", eta=eta, fit_intercept=fit_intercept).fit(X, y)
    assert_equals(model, least_squares(X, y, fit_intercept), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_sequential_ends_near_least_squares(fit_intercept):
    """In a cycle as wide as the steps are long, and nearer to it with shorter ones."""
    X, y = data(60, 3)
    w = np.append(*least_squares(X, y, fit_intercept))

    def away(**parameters):
        model = Adaline(updates="sequential", fit_intercept=fit_intercept, **parameters)
        model.fit(X, y)
        return np.linalg.norm(np.append(model.coef_, model.intercept_) - w) / np.linalg.norm(w)

    wide, narrow = (away(eta=eta, tol=1e-13, max_iter=100_000) for eta in (1.0, 0.01))
    assert wide > 0.02
    assert narrow < 0.05 * wide
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert away(eta=0.5, decay=0.3, tol=1e-15, max_iter=30_000) < 1e-3


@pytest.mark.parametrize("shape", [(60, 4), (5, 12)])
def test_the_start_of_parallel_learning(shape):
    """One step from zero: all strengths are the rate, eta over the largest eigenvalue of C."""
    X, y = data(*shape)
    C = np.outer(signs(y), signs(y)) * (X @ X.T) / shape[1]
    with pytest.warns(ConvergenceWarning, match="have not settled after 1 sweeps"):
        model = Adaline(eta=0.7, fit_intercept=False, max_iter=1).fit(X, y)
    assert_allclose(model.embedding_strengths_[0], 0.7 / np.linalg.eigvalsh(C)[-1], rtol=1e-10)


def test_some_sweeps_as_in_the_book(rng):
    """Biehl (lecture notes), 3.5: u_i += rate (1 - E_i), one after the other, w = sum u y x / N."""
    X, y = data(8, 3)
    Z, S = lengthened(X, True), signs(y)
    rate = 0.6 / ((Z**2).sum(axis=1).max() / 4)
    u = np.zeros(8)
    for t in range(3):
        for i in range(8):
            w = (u * S) @ Z / 4
            u[i] += rate / (1 + 0.5 * t) * (1 - S[i] * (w @ Z[i]))
    with pytest.warns(ConvergenceWarning):
        model = Adaline(updates="sequential", eta=0.6, decay=0.5, max_iter=3).fit(X, y)
    assert_allclose(model.embedding_strengths_[0], u, rtol=1e-10)
    assert_allclose(model.coef_[0], ((u * S) @ Z / 4)[:3], rtol=1e-10)
    assert (model.n_iter_, model.n_updates_) == (3, 24)


# Embedding strengths -----------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("updates", UPDATES)
@pytest.mark.parametrize("shape", [(40, 3), (5, 12)])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_the_strengths(fit_intercept, updates, shape, weighted):
    X, y = data(*shape)
    weight = np.arange(1.0, len(X) + 1) if weighted else None
    model = Adaline(updates=updates, fit_intercept=fit_intercept, tol=1e-4, max_iter=5000)
    u = model.fit(X, y, weight).embedding_strengths_[0]
    N = shape[1] + (fit_intercept == "clamped")
    assert_allclose(model.coef_[0], (u * signs(y)) @ X / N, rtol=1e-9, atol=1e-11)
    if fit_intercept == "free":
        assert abs((u * signs(y)).sum()) < 1e-10 * np.abs(u).sum()
    if fit_intercept == "clamped":
        assert_allclose(model.intercept_[0], (u * signs(y)).sum() / N, rtol=1e-9)


# Weights of the samples --------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_weights_are_repetitions(fit_intercept):
    X, y = data(30, 3)
    times = np.random.RandomState(1).randint(0, 4, 30)
    times[:2] = 1
    weighted = settle(fit_intercept=fit_intercept).fit(X, y, times)
    repeated = settle(fit_intercept=fit_intercept).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert_equals(weighted, (repeated.coef_[0], repeated.intercept_[0]), rtol=1e-8)
    assert_equals(weighted, least_squares(X, y, fit_intercept, times), rtol=1e-8)
    assert not weighted.embedding_strengths_[0][times == 0].any()
    assert weighted.embedding_strengths_.shape == (1, 30)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("updates", UPDATES)
def test_weighted_least_squares(fit_intercept, updates):
    X, y = data(50, 3)
    weight = np.random.RandomState(2).rand(50)
    steps = {"eta": 0.02} if updates == "sequential" else {}
    model = settle(fit_intercept=fit_intercept, updates=updates, **steps).fit(X, y, weight)
    expected = least_squares(X, y, fit_intercept, weight)
    assert_equals(model, expected, **({"atol": 0.01} if steps else {"rtol": 1e-8}))
    scaled = settle(fit_intercept=fit_intercept, updates=updates, **steps).fit(X, y, 1e6 * weight)
    assert_equals(scaled, (model.coef_[0], model.intercept_[0]), rtol=1e-8)


@pytest.mark.parametrize("updates", UPDATES)
def test_equal_weights_are_none(updates):
    X, y = data(30, 3)
    first, second = (
        Adaline(updates=updates, tol=1e-4).fit(X, y, weight) for weight in (None, 3.0 * np.ones(30))
    )
    assert_allclose(first.coef_, second.coef_, rtol=1e-10)


# Steps -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("updates", UPDATES)
@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_long_steps_still_converge(updates, fit_intercept):
    X, y = data(6, 15)
    model = settle(updates=updates, fit_intercept=fit_intercept, eta=1.99).fit(X, y)
    assert_equals(model, least_squares(X, y, fit_intercept), rtol=1e-6, atol=1e-6)


def test_a_tolerance_of_the_change():
    X, y = data(60, 4)
    loose, tight = Adaline(tol=1e-2).fit(X, y), Adaline(tol=1e-8).fit(X, y)
    assert loose.n_iter_ < tight.n_iter_ < 1000
    with pytest.warns(ConvergenceWarning, match=r"Raise max_iter or tol, or scale the features"):
        Adaline(tol=1e-8, max_iter=tight.n_iter_ - 1).fit(X, y)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 50), st.sampled_from(THRESHOLDS))
def test_any_shape(n, d, seed, fit_intercept):
    """Whole numbers, repeated rows, constant columns: least squares, of several the shortest."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-2, 3, (n + 1, d)).astype(float)
    y = np.arange(n + 1) % 2
    model = Adaline(fit_intercept=fit_intercept, tol=1e-9, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    w, b = least_squares(X, y, fit_intercept)
    Z = lengthened(X - X.mean(axis=0) if fit_intercept == "free" else X, fit_intercept == "clamped")
    eigenvalues = np.linalg.eigvalsh(Z @ Z.T)
    narrow = eigenvalues[eigenvalues > 1e-9].min(initial=1.0) / eigenvalues.max(initial=1.0)
    if narrow > 1e-3:
        assert_equals(model, (w, b), atol=1e-5)


def test_constant_inputs_leave_the_mean():
    model = Adaline(fit_intercept="free").fit(np.ones((4, 2)), [0, 1, 1, 1])
    assert_array_equal(model.coef_, 0.0)
    assert_allclose(model.intercept_, 0.5)


def test_the_solution_may_be_zero():
    """Both classes at the same places: weights of the size of rounding errors have settled."""
    X = np.array([1.0, 1.0, 0.7, 0.7, -0.3, -0.3, 0.1, 0.1])[:, None]
    for rows in (X, X[::-1], X[[0, 3, 4, 7, 2, 1, 6, 5]]):
        model = Adaline(fit_intercept=False, tol=1e-15).fit(rows, [0, 1] * 4)
        assert abs(model.coef_[0, 0]) < 1e-15
        assert model.n_iter_ < 10


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.7, 0.1]])
def test_a_constant_column_gets_no_weight(weight):
    """Not even if its mean is not its value in the last digit."""
    X = np.column_stack([[0.1] * 4, [0.3, 0.1, 0.9, 1.1]])
    model = Adaline(fit_intercept="free", tol=1e-12, max_iter=10_000).fit(X, [0, 0, 1, 1], weight)
    assert model.coef_[0, 0] == 0.0
    assert_equals(model, least_squares(X, [0, 0, 1, 1], "free", weight), rtol=1e-8, atol=1e-9)


def test_learns_a_rule():
    X, y = make_teacher_student(2000, 10, random_state=0)
    assert Adaline(fit_intercept=False).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.95


# Parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eta": 2}, r"eta=2 of Adaline must be a finite number in \(0, 2\)"),
        ({"eta": 2.0}, r"eta=2.0 of Adaline"),
        ({"eta": 0.0}, r"eta=0.0 of Adaline"),
        ({"eta": -1}, r"eta=-1 of Adaline"),
        ({"eta": "1"}, r"eta='1' of Adaline"),
        ({"updates": "foo"}, r"updates='foo' of Adaline must be one of 'sequential', 'parallel'"),
        ({"decay": -0.5}, r"decay=-0.5 of Adaline must be a finite number of at least 0"),
        ({"tol": 0.0}, r"tol=0.0 of Adaline must be a finite number greater than 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Adaline(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 2.0], "one weight a row"),
        ([1.0, 2.0, -1.0], "non-negative"),
        ([1.0, 2.0, np.nan], "finite"),
        ([0.0, 0.0, 0.0], "zero everywhere"),
        ([1.0, 1.0, 0.0], "Class 1 has no row of positive weight"),
    ],
)
def test_bad_sample_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        Adaline().fit([[0.0], [1.0], [2.0]], [0, 0, 1], weight)
