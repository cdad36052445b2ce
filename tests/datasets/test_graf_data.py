"""Graf's toy is separable for every seed; the neurons' noise follows their mean."""

import numpy as np
import pytest
from scipy.optimize import linprog

from protolearn.datasets import make_graf_toy, make_neurons


def separable(X, y):
    """Whether some (w, b) has y (w . x + b) >= 1 on every row."""
    rows = -y[:, None] * np.column_stack([X, np.ones(len(X))])
    zeros = np.zeros(rows.shape[1])
    return linprog(zeros, A_ub=rows, b_ub=-np.ones(len(X)), bounds=(None, None)).status == 0


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("gap", [0.0, 0.5, 2.0])
def test_toy_is_separable(seed, gap):
    X, y = make_graf_toy(200, gap=gap, random_state=seed)
    assert X.shape == (400, 2)
    assert sorted(set(y.tolist())) == [-1, 1]
    assert y.sum() == 0
    assert separable(X, y)


def test_toy_gap():
    X, y = make_graf_toy(500, gap=1.0, random_state=0)
    normal = np.array([-np.sin(np.pi / 6), np.cos(np.pi / 6)])
    assert (y * (X @ normal)).min() >= 0.5 - 1e-12


def test_toy_has_three_different_gaussians_a_class():
    X, y = make_graf_toy(3000, gap=0.0, random_state=0)
    cosine, sine = np.cos(np.pi / 6), np.sin(np.pi / 6)
    upright = X @ np.array([[cosine, -sine], [sine, cosine]])
    for label, means in ((1, [-3.0, 0.2, 3.0]), (-1, [-2.2, 0.8, 3.4])):
        along = upright[y == label, 0]
        assert along.mean() == pytest.approx(np.mean(means), abs=0.1)
        for mean in means:
            assert (abs(along - mean) < 0.5).mean() > 0.1


def test_neurons_sizes():
    X, y = make_neurons(random_state=0)
    assert X.shape == (400, 6)
    assert sorted(set(y.tolist())) == [-1, 1]
    assert y.sum() == 0
    assert make_neurons(10, n_neurons=3, random_state=0)[0].shape == (20, 3)


@pytest.mark.parametrize("fano", [0.5, 1.0, 3.0])
def test_variance_of_neurons_is_proportional_to_their_mean(fano):
    X, y = make_neurons(20_000, fano=fano, random_state=0)
    for stimulus in (-1, 1):
        responses = X[y == stimulus]
        # The relative error of a variance of n normal numbers is sqrt(2 / n) = 1 %.
        np.testing.assert_allclose(responses.var(axis=0) / responses.mean(axis=0), fano, rtol=0.06)
        off_diagonal = np.corrcoef(responses.T)[~np.eye(6, dtype=bool)]
        assert abs(off_diagonal).max() < 0.04


@pytest.mark.parametrize("seed", range(5))
def test_neurons_overlap(seed):
    assert not separable(*make_neurons(random_state=seed))


def test_equal_stimuli_have_equal_means():
    X, y = make_neurons(20_000, difference=0.0, random_state=0)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), X[y == -1].mean(axis=0), rtol=0.03)


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (make_graf_toy, {"n_per_class": 0}, "n_per_class=0 must be an integer of at least 1"),
        (make_graf_toy, {"gap": 2.5}, r"gap=2.5 must be a finite number in \[0, 2\]"),
        (make_neurons, {"n_per_stimulus": None}, "n_per_stimulus=None must be an integer"),
        (make_neurons, {"n_neurons": 0}, "n_neurons=0"),
        (make_neurons, {"difference": 91}, r"difference=91 must be .* in \[0, 90\]"),
        (make_neurons, {"fano": 0}, "fano=0 must be a finite number greater than 0"),
        (make_neurons, {"fano": float("nan")}, "fano=nan must be a finite number"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)
