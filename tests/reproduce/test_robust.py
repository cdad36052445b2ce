"""Prototypes on stairs against all points they speak of, and attacks against exact distances."""

import itertools
import os

import numpy as np
import pytest
from sklearn.datasets import load_iris

import protolearn_papers
from given_profile import long_test
from protolearn import RobustLVQ, sample_margin
from protolearn_papers.robust.attack import count_broken
from protolearn_papers.robust.stairs import Plan, distances, levels, train_stairs
from protolearn_papers.robust.tabular import attack, matched
from protolearn_papers.robust.training import Folder

RADIUS, THRESHOLDS = 0.1, np.linspace(0.0, 1.0, 7)[1:-1]


@pytest.fixture(scope="module")
def scaled():
    X, y = load_iris(return_X_y=True)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y


@pytest.fixture(scope="module")
def stairs(scaled):
    return train_stairs(*scaled, THRESHOLDS, RADIUS, Plan(2, 2.0, 10, 0.02, 20), 0)


def test_the_least_lead_is_that_of_the_worst_levels(scaled, stairs):
    """With all own prototypes at hand: at the worst point of each pair, tried level by level."""
    X, y = scaled[0][::10], scaled[1][::10]
    found = stairs.leads(X, y)
    rows = stairs.climb(X)
    for i in range(len(X)):
        ranges = [range(a, b + 1) for a, b in zip(rows.least[i], rows.most[i], strict=True)]
        points = np.array(list(itertools.product(*ranges)))
        D = distances(points, stairs.prototypes)
        own = stairs.labels == y[i]
        pairs = D[:, ~own][:, :, None] - D[:, own][:, None]
        assert found[i] == pytest.approx(pairs.min(axis=0).max(axis=1).min(), abs=1e-4)


def test_certified_rows_are_not_broken_and_others_are(scaled, stairs):
    X, y = scaled
    sure = stairs.leads(X, y) > 0.0
    assert 0.5 < sure.mean() < 1.0
    assert attack(stairs, X[sure], y[sure], 30, 0) == 0
    assert attack(stairs, X[~sure], y[~sure], 30, 0) > 0.5 * (~sure).sum()
    rng = np.random.RandomState(0)
    for _ in range(20):
        moved = np.clip(X[sure] + RADIUS * rng.uniform(-1.0, 1.0, X[sure].shape), 0.0, 1.0)
        assert (stairs.predict(moved) == y[sure]).all()


def test_thresholds_are_exceeded_from_above():
    assert levels(np.array([0.0, 0.5, 0.51]), np.array([0.5])).tolist() == [0, 0, 1]


def test_no_classifier_is_below_the_matched_rows():
    X, y = np.array([[0.0], [0.1], [0.11], [1.0]]), np.array([0, 0, 1, 1])
    assert matched(X, y, 0.02) == 0.25
    assert matched(X, y, 0.001) == 0.0


@pytest.mark.parametrize("norm", [2, np.inf])
def test_attacks_find_what_is_nearer_than_the_radius(scaled, norm):
    X, y = scaled
    model = RobustLVQ(prototypes_per_class=3, radius=0.3, random_state=0).fit(X, y)
    margin, right = sample_margin(model, X, norm=norm, box=(0.0, 1.0)), model.predict(X) == y
    radius = float(np.quantile(margin, 0.4))
    sure, open_rows = right & (margin >= radius), right & (margin < 0.8 * radius)
    assert count_broken(model, X[sure], y[sure], radius, norm, 10, 0) == 0
    found = count_broken(model, X[open_rows], y[open_rows], radius, norm, 10, 0)
    assert found > 0.9 * open_rows.sum()


def test_results_do_not_depend_on_the_folder():
    assert repr(Folder("here")) == repr(Folder("there"))


@long_test
@pytest.mark.skipif("PROTOLEARN_DATA" not in os.environ, reason="needs MNIST")
@pytest.mark.parametrize("name", ["robust-mnist", "robust-tabular"])
def test_small_versions(name, tmp_path):
    found = protolearn_papers.run(name, tmp_path, quick=True)
    assert any(one.startswith("certified ") for one in found.remarks)
    assert (tmp_path / "results.md").exists()
