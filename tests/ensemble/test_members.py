"""The table of positive and negative sets against sets of Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from protolearn.ensemble.linear_machines import Machines, SolverSettings
from protolearn.ensemble.members import Members

N_MODELS = 5
PAIRS = st.lists(st.tuples(st.integers(0, N_MODELS - 1), st.integers(0, 9)), max_size=12)
MOVES = st.lists(st.tuples(PAIRS, st.sampled_from([1.0, -1.0])), max_size=5)


def as_arrays(pairs):
    return np.array(pairs, dtype=np.intp).reshape(-1, 2).T


def joined(moves):
    """Let pairs join a table, and sets of Python."""
    members, expected = Members.empty(), {1.0: {}, -1.0: {}}
    for pairs, sign in moves:
        model, row = as_arrays(pairs)
        members = members.with_rows(model, row, sign)
        for i, j in pairs:
            expected[sign].setdefault(i, set()).add(j)
    return members, expected


@given(MOVES)
def test_sets_are_sets(moves):
    members, expected = joined(moves)
    for sign in (1.0, -1.0):
        found = members.sets(N_MODELS, sign)
        assert len(found) == N_MODELS
        assert [rows.tolist() for rows in found] == [
            sorted(expected[sign].get(i, ())) for i in range(N_MODELS)
        ]


@given(MOVES, st.sets(st.integers(0, N_MODELS - 1), min_size=1))
def test_some_models_keep_their_sets(moves, models):
    members, expected = joined(moves)
    kept = sorted(models)
    some = members.of_models(np.array(kept))
    for sign in (1.0, -1.0):
        assert [rows.tolist() for rows in some.sets(len(kept), sign)] == [
            sorted(expected[sign].get(i, ())) for i in kept
        ]


@given(MOVES)
def test_problems_are_the_sets_one_after_the_other(moves):
    members, expected = joined(moves)
    origin = np.arange(N_MODELS)
    start, rows, signs, origin = members.problems(origin)
    assert (start[0], start[-1]) == (0, len(rows))
    for i in range(N_MODELS):
        part = slice(start[i], start[i + 1])
        positive, negative = (sorted(expected[sign].get(i, ())) for sign in (1.0, -1.0))
        assert rows[part].tolist() == positive + negative
        assert signs[part].tolist() == [1.0] * len(positive) + [-1.0] * len(negative)


@given(MOVES, PAIRS)
def test_who_belongs_already_keeps_his_strength(moves, pairs):
    members, _ = joined(moves)
    strong = Members(members.model, members.row, members.sign, np.arange(1.0, len(members.row) + 1))
    before = {
        (i, j, s): a
        for i, j, s, a in zip(strong.model, strong.row, strong.sign, strong.strength, strict=True)
    }
    after = strong.with_rows(*as_arrays(pairs), -1.0)
    assert len(after.row) == len(set(before) | {(i, j, -1.0) for i, j in pairs})
    for i, j, s, a in zip(after.model, after.row, after.sign, after.strength, strict=True):
        assert a == before.get((i, j, s), 0.0)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_training_again_changes_nothing_and_begins_where_it_ended(rng, penalty):
    X, codes = rng.normal(size=(30, 3)), np.arange(30) % 2
    own = np.arange(30)
    members = Members.empty().with_rows(own, own, 1.0).with_rows(own, (own + 1) % 30, -1.0)
    settings = SolverSettings(10.0, penalty, 1e-9, 10000)
    once = Machines.one_a_row(X, codes, members).train(X, settings)
    assert once.solved.all()
    again = once.train(X, settings._replace(max_iter=1))
    assert again.solved.all()
    np.testing.assert_allclose(again.weights, once.weights, atol=1e-6)
    np.testing.assert_allclose(again.intercepts, once.intercepts, atol=1e-6)


def test_models_that_fire_on_nothing_go_and_all_stay_if_none_fires():
    X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    own = np.arange(3)
    members = Members.empty().with_rows(own, own, 1.0)
    weights, intercepts = np.array([[1.0], [-1.0], [-1.0]]), np.array([-0.5, 0.0, -1.0])
    machines = Machines(
        own, codes, weights, intercepts, members, np.ones(len(own), bool), np.ones(len(own), bool)
    )
    useful = machines.that_fire(X)
    assert_array_equal(useful.exemplar, [0])
    assert not useful.silent
    assert [rows.tolist() for rows in useful.members.sets(1, 1.0)] == [[0]]
    silent = machines.some(np.array([1, 2])).that_fire(X)
    assert_array_equal(silent.exemplar, [1, 2])  # zero is not positive
    assert silent.silent
    loud = Machines(**{**vars(silent), "intercepts": np.array([-1.0, 1.0])}).that_fire(X)
    assert not loud.silent  # silent no more
    assert_array_equal(loud.exemplar, [2])


def test_a_model_without_weights_is_of_no_use():
    X, own = np.array([[0.0], [1.0]]), np.arange(2)
    members = Members.empty().with_rows(own, own, 1.0)
    weights, intercepts = np.array([[0.0], [1.0]]), np.array([1.0, 0.0])
    machines = Machines(own, own, weights, intercepts, members, np.ones(2, bool), np.ones(2, bool))
    assert_array_equal(machines.that_fire(X).exemplar, [1])
