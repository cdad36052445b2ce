"""The sampler of the version space, and the Bayes point beside its centre."""

import numpy as np
import pytest
from scipy.stats import kstest

from protolearn import (
    AdaTron,
    BayesPoint,
    NotSeparableError,
    Rosenblatt,
    generalization_error,
    sample_version_space,
    theoretical_error,
)
from protolearn.datasets import make_teacher_student


def test_all_examples_are_right():
    X, y = make_teacher_student(50, 6, random_state=0)
    W = sample_version_space(X, y, 300, random_state=0)
    assert W.shape == (300, 6)
    assert ((X @ W.T > 0.0) == (y > 0)[:, None]).all()
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1.0, rtol=1e-12)


def test_an_arc_is_covered_evenly():
    """In the plane the version space is an arc: angles are uniform between its ends."""
    X, y = np.array([[1.0, 0.2], [0.3, 1.0], [2.0, -0.5]]), np.array([1, 1, -1])
    W = sample_version_space(X * y[:, None], y, 2000, thin=3, random_state=0)
    angles = np.arctan2(W[:, 1], W[:, 0])
    normals = np.arctan2(X[:, 1], X[:, 0])
    low, high = normals.max() - np.pi / 2, normals.min() + np.pi / 2
    assert kstest(angles, "uniform", args=(low, high - low)).pvalue > 0.01


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_cell_of_the_sphere_is_covered_as_by_rejection(fit_intercept):
    X, y = make_teacher_student(6, 3 - fit_intercept, random_state=1)
    rows = np.column_stack([X, -np.ones(len(X))]) if fit_intercept else X
    drawn = np.random.RandomState(0).standard_normal((400_000, 3))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    right = drawn[((drawn @ rows.T > 0.0) == (y > 0)).all(axis=1)]
    assert len(right) > 1000
    W = sample_version_space(X, y, 4000, fit_intercept=fit_intercept, random_state=0)
    error = 5.0 * right.std(axis=0) / np.sqrt(min(len(right), 2000))
    np.testing.assert_array_less(np.abs(W.mean(axis=0) - right.mean(axis=0)), error)
    np.testing.assert_allclose(np.cov(W.T), np.cov(right.T), atol=0.1 * np.cov(right.T).max())


def test_the_bayes_point_is_near_the_centre():
    """Nearer than any single solution; perceptrons do not cover the version space evenly."""
    for seed in range(4):
        X, y = make_teacher_student(60, 10, random_state=seed)
        centre = sample_version_space(X, y, 1500, random_state=0).mean(axis=0)
        models = (
            BayesPoint(fit_intercept=False, random_state=0),
            AdaTron(fit_intercept=False),
            Rosenblatt(fit_intercept=False),
        )
        away = [generalization_error(m.fit(X, y).coef_[0], centre) for m in models]
        assert away[0] < 0.05
        assert away[0] < min(away[1:])


def test_students_err_as_theory_says():
    """Random students by the theory of Gibbs learning, their centre by that of Bayes."""
    gibbs, bayes = [], []
    for seed in range(12):
        X, y, teacher = make_teacher_student(120, 30, random_state=seed, return_teacher=True)
        W = sample_version_space(X, y, 60, random_state=seed)
        gibbs.append(generalization_error(W, teacher).mean())
        bayes.append(generalization_error(W.mean(axis=0), teacher))
    assert np.mean(gibbs) == pytest.approx(theoretical_error(4.0, "gibbs"), rel=0.12)
    assert np.mean(bayes) == pytest.approx(theoretical_error(4.0, "bayes"), rel=0.12)


def test_what_is_refused():
    with pytest.raises(NotSeparableError, match="No hyperplane separates"):
        sample_version_space([[1.0, 0.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="3 class"):
        sample_version_space([[1.0], [2.0], [3.0]], [0, 1, 2])
