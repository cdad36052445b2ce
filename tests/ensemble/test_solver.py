"""The batched solver against LIBLINEAR, duality and the conditions of an optimum."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from protolearn import _threads
from protolearn.datasets import load
from protolearn.ensemble.hyperplane_solver import Problems, solve, solve_positive

PENALTIES = ["l2", "l1"]
both = pytest.mark.parametrize("penalty", PENALTIES)


def batch(sets, origin):
    """Make problems of pairs of positive and negative rows."""
    sizes = [len(positive) + len(negative) for positive, negative in sets]
    rows = [np.concatenate(pair) for pair in sets]
    signs = [np.repeat([1.0, -1.0], [len(positive), len(negative)]) for positive, negative in sets]
    start = np.concatenate([[0], np.cumsum(sizes)])
    return Problems(
        start.astype(np.intp),
        np.concatenate(rows).astype(np.intp),
        np.concatenate(signs),
        np.asarray(origin, dtype=np.intp),
    )


def neighbours(X, y, exemplars, n_positive, n_negative):
    """Make one problem an exemplar: its nearest rows of the class, itself first, and of others."""
    sets = []
    for i in exemplars:
        near = np.argsort(((X - X[i]) ** 2).sum(axis=1), kind="stable")
        sets.append((near[y[near] == y[i]][:n_positive], near[y[near] != y[i]][:n_negative]))
    return batch(sets, exemplars)


def examples(X, problems, i):
    """Give the rows of a problem relative to its origin, with the constant feature, and signs."""
    some = slice(problems.start[i], problems.start[i + 1])
    Z = X[problems.rows[some]] - X[problems.origin[i]]
    return np.column_stack([Z, np.ones(len(Z))]), problems.signs[some], some


def each(X, problems, C, found):
    """Give for each problem its signed examples, costs, ``v = (w, b)`` and strengths."""
    C = np.broadcast_to(C, len(problems.rows))
    for i in range(len(problems.origin)):
        Z, signs, some = examples(X, problems, i)
        v = np.append(found.weights[i], found.offsets[i])
        yield Z * signs[:, None], C[some], v, found.strengths[some]


def primal(penalty, Z, C, v):
    lack = np.maximum(0.0, 1.0 - Z @ v)
    return 0.5 * v @ v + C @ lack if penalty == "l2" else np.abs(v).sum() + C @ lack**2


def dual(penalty, Z, C, v, alpha):
    """Give a lower bound of the least cost, by weak duality."""
    if penalty == "l2":
        assert (alpha >= 0.0).all()
        assert (alpha <= C).all()
        return alpha.sum() - 0.5 * np.sum((alpha @ Z) ** 2)
    beta = 2.0 * C * np.maximum(0.0, 1.0 - Z @ v)
    beta /= max(1.0, np.abs(beta @ Z).max())
    paid = C > 0.0
    return beta.sum() - np.sum(beta[paid] ** 2 / (4.0 * C[paid]))


def costs(penalty, X, problems, C, found):
    return np.array([primal(penalty, Z, C, v) for Z, C, v, _ in each(X, problems, C, found)])


def gaps(penalty, X, problems, C, found):
    """Give the duality gaps, in parts of the cost."""
    bounds = [dual(penalty, *given) for given in each(X, problems, C, found)]
    values = costs(penalty, X, problems, C, found)
    return (values - bounds) / np.where(values > 0.0, values, 1.0)


def liblinear(penalty, Z, signs, C, max_iter):
    """Give the cost that LIBLINEAR finds, and whether it converged."""
    loss, in_dual = ("hinge", True) if penalty == "l2" else ("squared_hinge", False)
    model = LinearSVC(
        penalty=penalty,
        loss=loss,
        dual=in_dual,
        C=1.0,
        tol=1e-10,
        max_iter=max_iter,
        random_state=0,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(Z[:, :-1], signs, sample_weight=C)
    v = np.append(model.coef_[0], model.intercept_[0])
    return primal(penalty, Z * signs[:, None], C, v), not caught


def compare_with_liblinear(penalty, X, problems, C, found, max_iter=20_000):
    """Assert equal costs; where LIBLINEAR did not converge, ours must be the lower one."""
    C = np.broadcast_to(C, len(problems.rows))
    values, n_converged = costs(penalty, X, problems, C, found), 0
    for i, value in enumerate(values):
        Z, signs, some = examples(X, problems, i)
        cost, converged = liblinear(penalty, Z, signs, C[some], max_iter)
        assert value <= cost * (1.0 + 1e-6)
        if converged:
            assert_allclose(value, cost, rtol=1e-6)
            n_converged += 1
    return n_converged


@st.composite
def batches(draw, largest_scale=1e4, largest_cost=4.0):
    """Draw rows and some problems of both kinds, overlapping or not, perhaps with duplicates."""
    rng = np.random.RandomState(draw(st.integers(0, 2**31 - 1)))
    d = draw(st.integers(1, 30))
    X = rng.standard_normal((80, d))
    y = np.arange(80) % 2
    X[:, 0] += draw(st.sampled_from([0.0, 1.0, 4.0])) * y
    if draw(st.booleans()):
        X = np.round(X)
        X[60:] = X[:20]  # of both classes
        y[60:70] = 1 - y[60:70]
    if draw(st.booleans()):
        X[:, -1] = X[:, 0]  # twins, if there are two features
    X *= draw(st.sampled_from([scale for scale in (1e-2, 1.0, 1e4) if scale <= largest_scale]))
    sizes = draw(
        st.lists(st.sampled_from([(1, 7), (30, 40), (5, 1), (3, 3)]), min_size=2, max_size=4)
    )
    sets = [
        (rng.choice(np.flatnonzero(y == 1), p, False), rng.choice(np.flatnonzero(y == 0), q, False))
        for p, q in sizes
    ]
    problems = batch(sets, [positive[0] for positive, _ in sets])
    C = 10.0 ** draw(st.floats(-2.0, largest_cost))
    if draw(st.booleans()):
        C = C * rng.uniform(0.2, 2.0, len(problems.rows))
    return np.ascontiguousarray(X), problems, C


@both
@given(case=batches(largest_scale=1.0))
def test_same_cost_as_liblinear(penalty, case):
    X, problems, C = case
    found = solve(X, problems, C, penalty=penalty, tol=1e-8)
    assert found.converged.all()
    compare_with_liblinear(penalty, X, problems, C, found, max_iter=5000)


@both
@given(case=batches())
def test_weak_duality_proves_what_converged_says(penalty, case):
    X, problems, C = case
    found = solve(X, problems, C, penalty=penalty)
    assert found.converged.all()
    assert gaps(penalty, X, problems, C, found).max() <= 1.01e-4


@both
@given(case=batches(largest_scale=1.0))
def test_a_small_tolerance_is_met(penalty, case):
    X, problems, C = case
    found = solve(X, problems, C, penalty=penalty, tol=1e-8)
    assert found.converged.all()
    assert gaps(penalty, X, problems, C, found).max() <= 2e-8


@given(case=batches(largest_scale=1.0))
def test_conditions_of_an_optimum_with_l2(case):
    X, problems, C = case
    found = solve(X, problems, C, tol=1e-10)
    for Z, box, v, alpha in each(X, problems, C, found):
        assert (np.abs(alpha @ Z - v) <= 1e-9 * (1.0 + alpha @ np.abs(Z))).all()
        margins = Z @ v
        atol = 1e-5 * max(1.0, np.abs(v).max())
        assert (margins[alpha < 0.99 * box] >= 1.0 - atol).all()
        assert (margins[alpha > 0.01 * box] <= 1.0 + atol).all()


@given(case=batches(largest_scale=1.0, largest_cost=2.0))
def test_conditions_of_an_optimum_with_l1(case):
    X, problems, C = case
    found = solve(X, problems, C, penalty="l1", tol=1e-10)
    assert_array_equal(found.strengths, 0.0)
    for Z, box, v, _ in each(X, problems, C, found):
        slopes = -2.0 * (box * np.maximum(0.0, 1.0 - Z @ v)) @ Z
        assert np.abs(slopes).max() <= 1.0 + 1e-4
        assert_allclose(slopes[np.abs(v) > 1e-4], -np.sign(v[np.abs(v) > 1e-4]), atol=1e-4)


@both
@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 7), (30, 40)])
def test_rows_of_iris(iris, penalty, n_positive, n_negative):
    X, y = iris
    problems = neighbours(X, y, np.arange(0, 150, 9), n_positive, n_negative)
    found = solve(X, problems, 10.0, penalty=penalty, tol=1e-9)
    assert found.converged.all()
    assert compare_with_liblinear(penalty, X, problems, 10.0, found) >= 5


@pytest.mark.skipif(
    not Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent").is_dir(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)
@both
def test_rows_of_segment(penalty):
    X, y = load("segment")[:2]
    X = StandardScaler().fit_transform(X)
    problems = neighbours(X, y, np.arange(0, len(X), 9), 20, 25)
    found = solve(X, problems, 100.0, penalty=penalty)
    assert found.converged.mean() > 0.995
    assert gaps(penalty, X, problems, 100.0, found)[found.converged].max() <= 1.01e-4
    few = neighbours(X, y, np.arange(0, len(X), 150), 1, 7)
    found = solve(X, few, 100.0, penalty=penalty, tol=1e-9)
    assert compare_with_liblinear(penalty, X, few, 100.0, found) >= 5


@both
@pytest.mark.parametrize("load_raw", [load_wine, load_breast_cancer], ids=["wine", "wdbc"])
def test_features_of_any_unit(penalty, load_raw):
    X, y = load_raw(return_X_y=True)  # features from a thousandth to thousands
    problems = neighbours(X, y, np.arange(0, len(X), 7), 20, 30)
    for C in (1.0, 1e4):
        found = solve(X, problems, C, penalty=penalty)
        assert found.converged.all()
        assert gaps(penalty, X, problems, C, found).max() <= 1.01e-4


def warm_from(found, penalty):
    return found.strengths if penalty == "l2" else (found.weights, found.offsets)


@both
def test_warm_start_gives_the_same_optimum_sooner(iris, penalty):
    X, y = iris
    problems = neighbours(X, y, np.arange(50, 150), 15, 15)
    before = solve(X, problems, 9.0, penalty=penalty)
    cold = solve(X, problems, 10.0, penalty=penalty, tol=1e-9)
    warm = solve(X, problems, 10.0, penalty=penalty, tol=1e-9, warm=warm_from(before, penalty))
    values = [costs(penalty, X, problems, 10.0, found) for found in (cold, warm)]
    assert_allclose(*values, rtol=1e-8)
    few = {"penalty": penalty, "max_iter": 1}
    cold = solve(X, problems, 10.0, **few)
    warm = solve(X, problems, 10.0, **few, warm=warm_from(before, penalty))
    assert warm.converged.mean() > 0.8 > 0.5 > cold.converged.mean()


@both
def test_an_optimum_is_left_as_it_is(iris, penalty):
    X, y = iris
    problems = neighbours(X, y, np.arange(0, 150, 5), 10, 10)
    found = solve(X, problems, 10.0, penalty=penalty)
    again = solve(X, problems, 10.0, penalty=penalty, warm=warm_from(found, penalty), max_iter=0)
    assert again.converged.all()
    assert_array_equal(again.strengths, found.strengths)
    assert_allclose(again.weights, found.weights, rtol=1e-12)


@both
def test_sweeps_that_were_not_enough(iris, penalty):
    X, y = iris
    problems = neighbours(X, y, [60, 120], 15, 15)
    found = solve(X, problems, 100.0, penalty=penalty, max_iter=0)
    assert not found.converged.any()
    assert not found.weights.any()


def test_strengths_to_start_from_are_clipped(iris):
    X, y = iris
    problems = neighbours(X, y, [60, 120], 15, 15)
    found = solve(X, problems, 1.0, warm=np.linspace(-5.0, 5.0, len(problems.rows)))
    assert found.converged.all()
    assert gaps("l2", X, problems, 1.0, found).max() <= 1.01e-4


@both
def test_threads_change_nothing(iris, monkeypatch, penalty):
    X, y = iris
    problems = neighbours(X, y, np.arange(150), 6, 9)
    results = []
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(_threads, "_n_threads", lambda n=n_threads: n)
        results.append(solve(X, problems, 100.0, penalty=penalty))
    for result in results[1:]:
        for got, expected in zip(result, results[0], strict=True):
            assert_array_equal(got, expected)


@both
@given(case=batches(largest_scale=1.0))
def test_other_problems_change_nothing(penalty, case):
    X, problems, C = case
    C = np.broadcast_to(C, len(problems.rows))
    found = solve(X, problems, C, penalty=penalty)
    for i in range(len(problems.origin)):
        _, signs, some = examples(X, problems, i)
        start, origin = np.array([0, len(signs)]), problems.origin[i : i + 1]
        alone = solve(
            X, Problems(start, problems.rows[some], signs, origin), C[some], penalty=penalty
        )
        assert_array_equal(alone.weights[0], found.weights[i])
        assert_array_equal(alone.offsets[0], found.offsets[i])
        assert_array_equal(alone.strengths, found.strengths[some])


@both
def test_a_cost_counts_as_copies_of_the_row(iris, penalty):
    X, y = iris
    near = neighbours(X, y, [70], 8, 8)
    rows = near.rows
    copies = batch([(np.repeat(rows[:8], 3), rows[8:])], [70])
    weighted = solve(X, near, np.repeat([6.0, 2.0], 8), penalty=penalty, tol=1e-10)
    repeated = solve(X, copies, 2.0, penalty=penalty, tol=1e-10)
    assert_allclose(weighted.weights, repeated.weights, atol=1e-5)
    assert_allclose(weighted.offsets, repeated.offsets, atol=1e-5)


@both
def test_problems_with_nothing_to_separate(penalty):
    X = np.ones((4, 3))
    X[3] = 2.0
    none = np.array([], dtype=np.intp)
    problems = batch([([0], [1, 2]), ([0, 1], none), (none, none), ([0], [3]), ([3], [0])], [0] * 5)
    found = solve(X, problems, 10.0, penalty=penalty, tol=1e-8)
    assert found.converged.all()
    assert gaps(penalty, X, problems, 10.0, found).max() <= 1e-7
    assert_array_equal(found.weights[:3], 0.0)
    assert found.offsets[0] < 0.0 < found.offsets[1]
    assert found.offsets[2] == 0.0


@both
def test_rows_that_cost_nothing_do_not_count(iris, penalty):
    X, y = iris
    problems = neighbours(X, y, [60], 8, 8)
    C = np.where(np.arange(16) % 4 == 3, 0.0, 5.0)
    kept = np.flatnonzero(C)
    fewer = batch([(problems.rows[kept[:6]], problems.rows[kept[6:]])], [60])
    found = solve(X, problems, C, penalty=penalty, tol=1e-10)
    expected = solve(X, fewer, 5.0, penalty=penalty, tol=1e-10)
    assert_allclose(found.weights, expected.weights, atol=1e-5)
    free = solve(X, problems, 0.0, penalty=penalty)
    assert free.converged.all()
    assert not free.weights.any()


@both
def test_no_problems(penalty):
    none = np.array([], dtype=np.intp)
    found = solve(
        np.eye(3), Problems(np.zeros(1, np.intp), none, np.zeros(0), none), 1.0, penalty=penalty
    )
    assert found.weights.shape == (0, 3)
    assert found.converged.shape == (0,)


def test_unknown_penalty(iris):
    X, y = iris
    with pytest.raises(ValueError, match="penalty='l0' must be 'l2' or 'l1'"):
        solve(X, neighbours(X, y, [0], 1, 7), 1.0, penalty="l0")


@given(seed=st.integers(0, 1000), n=st.integers(1, 12))
def test_equations(seed, n):
    rng = np.random.RandomState(seed)
    B = rng.standard_normal((n, n + 2))
    A, b = B @ B.T, rng.standard_normal(n)
    memory, x = np.full((n + 1, n + 1), np.nan), b.copy()
    memory[:n, :n] = np.where(np.tri(n, dtype=bool), A, np.nan)  # the upper half is not read
    assert solve_positive(memory, x, n) == -1
    assert_allclose(A @ x, b, atol=1e-8 * (1.0 + np.abs(x).max()))


@given(seed=st.integers(0, 1000), rank=st.integers(1, 6))
def test_rows_that_depend_on_each_other(seed, rank):
    rng = np.random.RandomState(seed)
    B = rng.standard_normal((rank + 3, rank))
    x = rng.standard_normal(rank + 3)
    assert solve_positive(B @ B.T, x, rank + 3) == rank
    assert x[rank] == -1.0
    assert_array_equal(x[rank + 1 :], 0.0)
    assert_allclose(x @ B / (np.abs(x) @ np.abs(B)), 0.0, atol=1e-6)


def test_a_row_of_zeros_depends_on_nothing():
    x = np.ones(3)
    assert solve_positive(np.diag([2.0, 0.0, 1.0]), x, 3) == 1
    assert_array_equal(x, [0.0, -1.0, 0.0])
