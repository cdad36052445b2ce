"""Shifting against a plain loop: who joins which set, and how often."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from protolearn.datasets import make_striated
from protolearn.ensemble import linear_machines, members
from protolearn.ensemble.linear_machines import Machines, SolverSettings, shift
from protolearn.ensemble.members import Members, choose_negatives


@pytest.fixture(scope="module")
def trained():
    """Exemplar SVMs on stripes, with their rows and class codes."""
    X, codes = make_striated(80, n_stripes=4, random_state=0)
    own = np.arange(len(X))
    members = (
        Members.empty().with_rows(own, own, 1.0).with_rows(*choose_negatives(X, codes, 5), -1.0)
    )
    machines = Machines.one_a_row(X, codes, members).train(X, SolverSettings(1.0, "l2", 1e-6, 1000))
    return machines.that_fire(X), X, codes


def firing(machines, X, codes):
    """Give who fires on what, and who shares a class."""
    fires = machines.weights @ X.T + machines.intercepts[:, None] > 0
    return fires, machines.label[:, None] == codes


def sets(machines, sign):
    return [set(rows.tolist()) for rows in machines.members.sets(len(machines), sign)]


def test_each_row_joins_the_nearest_model_of_its_class_that_fires_on_it(trained):
    machines, X, codes = trained
    fires, own = firing(machines, X, codes)
    expected = sets(machines, 1.0)
    for j in range(len(X)):
        candidates = np.flatnonzero(fires[:, j] & own[:, j])
        if len(candidates):
            away = ((X[machines.exemplar[candidates]] - X[j]) ** 2).sum(axis=1)
            expected[candidates[away.argmin()]].add(j)
    shifted = shift(machines, X, codes, 0.0, np.random.RandomState(0))
    assert sets(shifted, 1.0) == expected
    assert sum(map(len, expected)) > len(machines) + 20
    assert sets(shifted, -1.0) == sets(machines, -1.0)
    assert_array_equal(shifted.exemplar, machines.exemplar)


def test_hard_negatives_join_as_probably_as_asked(trained):
    machines, X, codes = trained
    fires, own = firing(machines, X, codes)
    hard = fires & ~own
    before = sets(machines, -1.0)
    always = sets(shift(machines, X, codes, 1.0, np.random.RandomState(0)), -1.0)
    new = [set(np.flatnonzero(row).tolist()) for row in hard]
    assert always == [a | b for a, b in zip(before, new, strict=True)]
    possible = sum(len(b - a) for a, b in zip(before, new, strict=True))
    some = sets(shift(machines, X, codes, 0.3, np.random.RandomState(0)), -1.0)
    joined = sum(len(b - a) for a, b in zip(before, some, strict=True))
    assert all(b <= a for a, b in zip(always, some, strict=True))
    assert abs(joined - 0.3 * possible) < 4 * np.sqrt(0.21 * possible)


def test_one_number_is_drawn_for_each_hard_negative_model_by_model(trained):
    machines, X, codes = trained
    fires, own = firing(machines, X, codes)
    rng, expected = np.random.RandomState(5), sets(machines, -1.0)
    for i in range(len(machines)):
        for j in range(len(X)):
            if fires[i, j] and not own[i, j] and rng.random_sample() < 0.1:
                expected[i].add(j)
    given = np.random.RandomState(5)
    assert sets(shift(machines, X, codes, 0.1, given), -1.0) == expected
    assert given.random_sample() == rng.random_sample()
    other = sets(shift(machines, X, codes, 0.1, np.random.RandomState(6)), -1.0)
    assert other != expected


@pytest.mark.parametrize("size", [1, 10, 64])
def test_the_size_of_a_block_does_not_matter(trained, monkeypatch, size):
    machines, X, codes = trained
    expected = shift(machines, X, codes, 0.2, np.random.RandomState(0)).members
    monkeypatch.setattr(members, "rows_at_a_time", lambda width: size)
    monkeypatch.setattr(linear_machines, "rows_at_a_time", lambda width: 3 * size)
    found = shift(machines, X, codes, 0.2, np.random.RandomState(0)).members
    for name in ("model", "row", "sign", "strength"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_row_stays_with_its_own_model_if_another_has_the_same_exemplar():
    X, codes = np.array([[0.1, 0.3], [0.1, 0.3], [5.0, 5.0]]), np.array([0, 0, 1])
    own = np.arange(3)
    members = Members.empty().with_rows(own, own, 1.0)
    machines = Machines(
        own, codes, np.zeros((3, 2)), np.ones(3), members, np.ones(3, bool), np.ones(3, bool)
    )
    shifted = shift(machines, X, codes, 0.0, np.random.RandomState(0))
    assert sets(shifted, 1.0) == [{0}, {1}, {2}]
    # If its own does not fire, the first of the nearest.
    machines = replace(machines, intercepts=np.array([1.0, -1.0, 1.0]))
    shifted = shift(machines, X, codes, 0.0, np.random.RandomState(0))
    assert sets(shifted, 1.0) == [{0, 1}, {1}, {2}]


def test_models_that_were_not_solved_are_trained_again(trained):
    machines, X, codes = trained
    unsolved = np.arange(len(machines)) % 3 == 0
    machines = replace(machines, solved=~unsolved)
    shifted = shift(machines, X, codes, 0.0, np.random.RandomState(0))
    assert shifted.changed[unsolved].all()
    assert not shifted.changed.all()
    again = shifted.train(X, SolverSettings(100.0, "l2", 1e-6, 1000))
    assert again.solved.all()
    same = ~shifted.changed
    assert_array_equal(again.weights[same], machines.weights[same])
