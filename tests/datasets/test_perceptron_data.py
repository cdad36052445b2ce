"""Teacher-student data follow the teacher; random patterns follow nothing."""

import numpy as np
import pytest

from protolearn.datasets import make_random_patterns, make_teacher_student


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_those_of_the_teacher(seed):
    X, y, teacher = make_teacher_student(300, 7, random_state=seed, return_teacher=True)
    assert X.shape == (300, 7)
    assert teacher.shape == (7,)
    assert np.linalg.norm(teacher) == pytest.approx(1.0)
    np.testing.assert_array_equal(y, np.sign(X @ teacher))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25, 1.0])
def test_noise_inverts_exactly_that_share(noise):
    X, y, teacher = make_teacher_student(200, 5, noise=noise, random_state=0, return_teacher=True)
    assert (y != np.sign(X @ teacher)).sum() == round(noise * 200)


def test_noise_changes_only_labels():
    clean = make_teacher_student(50, 5, random_state=3, return_teacher=True)
    noisy = make_teacher_student(50, 5, noise=0.2, random_state=3, return_teacher=True)
    np.testing.assert_array_equal(clean[0], noisy[0])
    np.testing.assert_array_equal(clean[2], noisy[2])


def test_inputs_of_the_teacher_are_standard_normal():
    X, y = make_teacher_student(20_000, 4, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(np.cov(X.T), np.eye(4), atol=0.04)
    assert abs(y.mean()) < 0.03


def test_binary_patterns():
    X, y = make_random_patterns(2000, 10, random_state=0)
    assert X.shape == (2000, 10)
    assert X.dtype == np.float64
    assert set(np.unique(X)) == {-1.0, 1.0} == set(y.tolist())
    np.testing.assert_allclose(X.T @ X / 2000, np.eye(10), atol=0.1)
    assert abs(X.T @ y / 2000).max() < 0.1
    assert abs(y.mean()) < 0.1


def test_normal_patterns():
    X, y = make_random_patterns(2000, 10, inputs="normal", random_state=0)
    np.testing.assert_allclose(np.cov(X.T), np.eye(10), atol=0.12)
    assert abs(X.T @ y / 2000).max() < 0.1


def test_default_sizes():
    assert make_random_patterns(random_state=0)[0].shape == (200, 100)
    assert make_teacher_student(random_state=0)[0].shape == (200, 20)


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (make_teacher_student, {"n_samples": 0}, "n_samples=0 must be an integer of at least 1"),
        (make_teacher_student, {"n_features": -2}, "n_features=-2"),
        (make_teacher_student, {"noise": 1.5}, r"noise=1.5 must be a finite number in \[0, 1\]"),
        (make_random_patterns, {"n_samples": "many"}, "n_samples='many'"),
        (make_random_patterns, {"inputs": "ternary"}, "must be 'binary' or 'normal'"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)
