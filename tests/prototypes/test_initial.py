"""Where prototypes begin."""

import numpy as np
import pytest

from protolearn.blocks import Block
from protolearn.prototypes import STARTS, initial_prototypes
from protolearn.prototypes import initial as module


@pytest.fixture
def data(rng):
    X = rng.standard_normal((90, 3)) + np.repeat([[0.0], [5.0], [10.0]], 30, axis=0)
    return X, np.repeat([0, 1, 2], 30), rng.uniform(0.5, 2.0, 90)


def start(init, data, counts, seed=0):
    X, y, weight = data
    rng = np.random.RandomState(seed)
    return initial_prototypes(init, Block(X, y, weight), np.array(counts), rng)


def test_one_a_class_is_the_weighted_mean(data):
    X, y, weight = data
    means = [np.average(X[y == c], axis=0, weights=weight[y == c]) for c in range(3)]
    for init in ("means", "kmeans"):
        np.testing.assert_allclose(start(init, data, [1, 1, 1]), means, rtol=1e-12)


@pytest.mark.parametrize("init", STARTS)
def test_grouped_by_class_and_seeded(init, data):
    X, y, _ = data
    W = start(init, data, [2, 1, 4])
    assert W.shape == (7, 3)
    nearest = y[((W[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]
    assert nearest.tolist() == [0, 0, 1, 2, 2, 2, 2]
    np.testing.assert_array_equal(W, start(init, data, [2, 1, 4]))
    assert len(np.unique(W, axis=0)) == 7


@pytest.mark.parametrize("init", ["random", "kmeans++"])
def test_rows_are_rows(init, data):
    X, _, _ = data
    W = start(init, data, [3, 3, 3])
    gap = np.abs(W[:, None] - X).max(axis=2).min(axis=1)
    assert gap.max() < 1e-12


def test_means_move_apart_a_little(data):
    W = start("means", data, [3, 1, 1])
    gaps = np.linalg.norm(W[:3] - W[:3].mean(axis=0), axis=1)
    assert (gaps > 0).all()
    assert (gaps < 0.02).all()


def test_kmeans_lowers_the_quantisation_error(data):
    X, y, _ = data

    def error(W):
        return ((X[y == 0][:, None] - W[:4]) ** 2).sum(axis=2).min(axis=1).mean()

    assert error(start("kmeans", data, [4, 1, 1])) < error(start("random", data, [4, 1, 1]))


def test_large_classes_are_sampled(data, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_PROTOTYPE", 3)
    monkeypatch.setattr(module, "FEWEST_ROWS", 10)
    assert np.isfinite(start("kmeans", data, [3, 1, 1])).all()
    X, y, weight = data
    mean = np.average(X[y == 1], axis=0, weights=weight[y == 1])
    np.testing.assert_allclose(start("kmeans", data, [1, 1, 1])[1], mean)  # means use all rows


def test_more_prototypes_than_the_sample(data, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_PROTOTYPE", 1)
    monkeypatch.setattr(module, "FEWEST_ROWS", 10)
    assert start("random", data, [30, 1, 1]).shape == (32, 3)


def test_random_rows_use_weights():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    weight = np.where(np.arange(20) == 7, 1e12, 1.0)
    assert [start("random", (X, y, weight), [1, 1], s)[0, 0] for s in range(5)] == [7.0] * 5


def test_kmeans_uses_weights():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0], [50.0]]), np.array([0, 0, 0, 0, 1])
    weight = np.array([1.0, 1.0, 100.0, 1.0, 1.0])
    W = start("kmeans", (X, y, weight), [2, 1])
    np.testing.assert_allclose(np.sort(W[:2, 0]), [0.5, 1011.0 / 101.0])


def test_kmeans_plusplus_uses_weights():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    weight = np.where(np.arange(20) == 7, 1e12, 1.0)
    for seed in range(5):
        assert start("kmeans++", (X, y, weight), [1, 1], seed)[0] == 7.0


def test_steps_apart_have_the_size_of_the_data(data):
    X, y, weight = data
    small, large = start("means", data, [3, 1, 1]), start("means", (1e6 * X, y, weight), [3, 1, 1])
    np.testing.assert_allclose(large, 1e6 * small, rtol=1e-9)
