"""isolated, striated and spirals: sizes, seeds and shapes of the class regions."""

import math

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from protolearn.datasets import make_isolated, make_spirals, make_striated


def test_isolated_sizes():
    X, y = make_isolated(random_state=0)
    assert X.shape == (800, 2)
    assert X.dtype == np.float64
    assert np.bincount(y).tolist() == [300, 500]
    X, y = make_isolated(40, 7, n_clusters=2, random_state=0)
    assert np.bincount(y).tolist() == [7, 40]


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 5, 9, 10])
def test_isolated_background_keeps_its_distance(n_clusters):
    n = 400 * n_clusters
    X, y = make_isolated(n, 2000, n_clusters=n_clusters, random_state=n_clusters)
    background, clustered = X[y == 0], X[y == 1]
    side = 8 * math.ceil(math.sqrt(n_clusters))
    assert background.min() >= 0
    assert background.max() <= side
    # A cluster lies in its own cell but for the tails of its Gaussian.
    cells = np.clip(clustered // 8, 0, side // 8 - 1).astype(int)
    cells, counts = np.unique(cells, axis=0, return_counts=True)
    big = cells[counts > 200]
    assert len(big) == n_clusters
    for cell in big:
        inside = clustered[(clustered // 8 == cell).all(axis=1)]
        centre = inside.mean(axis=0)
        np.testing.assert_allclose(inside.std(axis=0), 1.0, atol=0.15)
        # The estimated centre is off by about 1 / sqrt(400).
        assert np.linalg.norm(background - centre, axis=1).min() > 3 - 0.3


def test_isolated_is_local_but_not_linear():
    X, y = make_isolated(random_state=1)
    assert KNeighborsClassifier(3).fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
    assert SVC(kernel="linear").fit(X, y).score(X, y) < 0.85


def test_striated_sizes():
    X, y = make_striated(random_state=0)
    assert X.shape == (800, 2)
    assert np.bincount(y).tolist() == [400, 400]
    assert np.bincount(make_striated(7, n_stripes=3, random_state=0)[1]).tolist() == [7, 7]


def test_stripes_alternate_and_are_long():
    X, y = make_striated(2000, n_stripes=6, length=5.0, width=0.1, random_state=0)
    along, across = (X[:, 0] + X[:, 1]) / math.sqrt(2), (X[:, 1] - X[:, 0]) / math.sqrt(2)
    stripe = np.rint(across + 2.5).astype(int)
    np.testing.assert_array_equal(stripe % 2, y)
    assert set(stripe) == set(range(6))
    for k in range(6):
        assert along[stripe == k].std() == pytest.approx(5.0, rel=0.15)
        assert across[stripe == k].std() == pytest.approx(0.1, rel=0.15)


def test_spirals_are_the_cmu_formula():
    points, labels = [], []
    for i in range(97):
        angle = i * math.pi / 16.0
        radius = 6.5 * (104 - i) / 104.0
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        points += [(x, y), (-x, -y)]
        labels += [1, 0]
    X, y = make_spirals()
    np.testing.assert_allclose(X, points, rtol=1e-13, atol=1e-13)
    assert y.tolist() == labels
    assert X.shape == (194, 2)
    assert np.bincount(y).tolist() == [97, 97]


def test_spirals_are_deterministic_without_noise():
    np.testing.assert_array_equal(make_spirals(random_state=0)[0], make_spirals(random_state=1)[0])


def test_spirals_parameters():
    X, _ = make_spirals(density=3, radius=2.0)
    assert X.shape == (2 * (96 * 3 + 1), 2)
    np.testing.assert_allclose(X[::6], make_spirals(radius=2.0)[0][::2], atol=1e-12)
    noisy, _ = make_spirals(10, noise=0.05, random_state=0)
    assert (noisy - make_spirals(10)[0]).std() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (make_isolated, {"n_clustered": 4}, "n_clustered=4 must be an integer of at least 5"),
        (make_isolated, {"n_background": 0}, "n_background=0 must be an integer of at least 1"),
        (make_isolated, {"n_clusters": 2.0}, "n_clusters=2.0 must be an integer"),
        (make_striated, {"n_per_class": True}, "n_per_class=True must be an integer"),
        (make_striated, {"n_stripes": 1}, "n_stripes=1 must be an integer of at least 2"),
        (make_striated, {"length": 0.0}, "length=0.0 must be a finite number greater than 0"),
        (make_striated, {"width": float("inf")}, "width=inf must be a finite number"),
        (make_spirals, {"density": -1}, "density=-1 must be an integer"),
        (make_spirals, {"radius": "6.5"}, "radius='6.5' must be a finite number"),
        (make_spirals, {"noise": -0.1}, "noise=-0.1 must be a finite number of at least 0"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)
