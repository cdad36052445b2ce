"""Dual ascent: its steps, the constraints, the conditions at its end, and the bound."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from protolearn.perceptrons.embedding_steps import ascend, ascend_in_pairs
from protolearn.perceptrons.optimum import stability_bound

CLIMBS = {False: ascend, True: ascend_in_pairs}


def problem(seed, n=12, d=4):
    """Give signs, products and ``C``; labels are random, so that errors are needed."""
    rng = np.random.RandomState(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.randn(n, d) + 0.5 * y[:, None]
    K = X @ X.T / d
    return y, K, np.outer(y, y) * K


def climb(pairs, y, K, eta, gamma, steps, tol=0.0, u=None):
    """Run some steps from strengths; give the strengths, the potentials and the violation."""
    u = np.zeros(len(y)) if u is None else u.copy()
    E = (np.outer(y, y) * K) @ u
    made, violation = CLIMBS[pairs](y, K, eta, np.full(len(y), gamma), tol, steps, u, E)
    return u, E, made, violation


seeds = st.integers(0, 10**6)
etas = st.floats(0.05, 1.95)
gammas = st.sampled_from([0.1, 1.0, 20.0])


@given(seed=seeds, eta=etas, gamma=gammas, before=st.integers(0, 30))
def test_a_single_step_is_that_of_the_book(seed, eta, gamma, before):
    y, K, C = problem(seed)
    u = climb(False, y, K, eta, gamma, before)[0]
    slope = 1.0 - C @ u
    movable = np.where(slope > 0, u < gamma, u > 0)
    gain = np.where(movable, slope**2 / np.diag(C), 0.0)
    assume(gain.max() > 0.0)  # else the optimum is reached
    after = climb(False, y, K, eta, gamma, 1, u=u)[0]
    expected = reference.ada_tron_step(u, C, gain.argmax(), eta, gamma)
    assert_allclose(after, expected, rtol=1e-9, atol=1e-12)


@given(seed=seeds, eta=etas, gamma=gammas, before=st.integers(0, 30))
def test_a_step_of_two_goes_along_its_direction(seed, eta, gamma, before):
    y, K, C = problem(seed)
    u = climb(True, y, K, eta, gamma, before)[0]
    assume(reference.optimality_violation(u, C @ u, y, gamma, True) > 1e-9)
    after = climb(True, y, K, eta, gamma, 1, u=u)[0]
    i, j = np.flatnonzero(after != u)
    direction = np.zeros(len(y))
    direction[[i, j]] = y[i], -y[j]
    slope, curvature = direction @ (1.0 - C @ u), direction @ C @ direction
    way = eta * slope / curvature
    room = [(gamma - u[k] if way * direction[k] > 0 else u[k]) for k in (i, j)]
    way = np.sign(way) * min(abs(way), *room)
    assert_allclose(after, u + way * direction, rtol=1e-9, atol=1e-12)


@given(seed=seeds, eta=etas, gamma=gammas, pairs=st.booleans())
def test_steps_keep_the_constraints_and_never_lower_the_objective(seed, eta, gamma, pairs):
    y, K, C = problem(seed)
    u, best = np.zeros(len(y)), 0.0
    for _ in range(60):
        u = climb(pairs, y, K, eta, gamma, 1, u=u)[0]
        assert (u >= 0.0).all()
        assert (u <= gamma).all()
        if pairs:
            assert abs(u @ y) <= 1e-13 * gamma * len(y)
        value = reference.dual(u, C)
        assert value >= best - 1e-12 * (1.0 + abs(best))
        best = value


@given(seed=seeds, eta=etas, gamma=gammas, pairs=st.booleans())
def test_the_end_meets_the_conditions_of_the_optimum(seed, eta, gamma, pairs):
    y, K, C = problem(seed)
    u, E, _, violation = climb(pairs, y, K, eta, gamma, 10**7, tol=1e-7)
    assert violation <= 1e-7
    assert_allclose(E, C @ u, atol=1e-9)  # kept up step by step
    again = reference.optimality_violation(u, C @ u, y, gamma, pairs)
    assert again == pytest.approx(max(violation, 0.0), abs=1e-9)
    theta = 0.0
    if pairs:  # the threshold that shares the violation
        inside = (u > 0) & (u < gamma)
        theta = (y * (C @ u - 1.0))[inside].mean() if inside.any() else None
    if theta is not None:
        short = np.maximum(0.0, 1.0 - (C @ u - y * theta)).sum()
        gap = u @ C @ u / 2 + gamma * short - reference.dual(u, C)
        assert -1e-9 <= gap <= 1e-7 * (u.sum() + gamma * len(y)) + 1e-9


@pytest.mark.parametrize("pairs", [False, True])
def test_potentials_do_not_drift_over_many_steps(pairs):
    y, K, C = problem(0, n=40, d=3)
    u, E, made, _ = climb(pairs, y, K, 0.01, 1000.0, 10**6)
    assert made == 10**6
    assert_allclose(E, C @ u, atol=1e-9 * u.sum())


@pytest.mark.parametrize("gamma", [1.0, np.inf])
@pytest.mark.parametrize("pairs", [False, True])
def test_products_that_vanish_are_survived(pairs, gamma):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    u, E, _, _ = climb(pairs, y, np.zeros((4, 4)), 1.5, gamma, 50)
    assert np.isfinite(u).all()
    assert (E == 0.0).all()
    assert u.sum() > 0.0


@given(seed=seeds, clamped=st.booleans())
def test_no_stability_exceeds_the_bound(seed, clamped):
    rng = np.random.RandomState(seed)
    Z = reference.lengthened(rng.randn(8, 4), clamped)
    N = Z.shape[1]
    y = np.sign(Z @ rng.randn(N))
    w = reference.largest_stability(Z, y)
    u = rng.exponential(size=8) * (rng.rand(8) < 0.7)
    C = np.outer(y, y) * (Z @ Z.T) / N
    longest = np.sqrt(np.diag(C).max())
    bound = stability_bound(u, C @ u, longest) * longest * np.sqrt(N)
    assert bound >= (1 - 1e-9) / np.linalg.norm(w)


@pytest.mark.parametrize(("u", "bound"), [([0.0, 0.0], np.inf), ([1.0, 0.0], 0.0)])
def test_the_bound_of_vanishing_examples(u, bound):
    assert stability_bound(np.array(u), np.zeros(2), 0.0) == bound
