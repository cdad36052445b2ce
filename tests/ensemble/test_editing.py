"""Which rows models learn from: counting neighbours by hand, and data with wrong labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine, make_blobs

from protolearn.datasets import flip_labels
from protolearn.ensemble import prototype
from protolearn.ensemble.members import agreeing_rows, worth_learning
from protolearn.ensemble.prototype import PrototypeSVM


def some_rows(seed, n, n_classes):
    rng = np.random.RandomState(seed)
    codes = np.append(np.arange(n_classes), rng.randint(0, n_classes, n - n_classes))
    X = rng.normal(size=(n, 2))
    X[:, 0] += 1.5 * codes
    return X, codes


def agreeing_by_hand(X, codes):
    """Ask the three nearest others of one row after the other."""
    marked = []
    for i in range(len(X)):
        others = sorted(set(range(len(X))) - {i}, key=lambda j: np.linalg.norm(X[j] - X[i]))
        labels = codes[others[:3]].tolist()
        marked.append(all(labels.count(codes[i]) >= labels.count(c) for c in labels))
    marked = np.array(marked)
    for c in set(codes.tolist()):
        if not marked[codes == c].any():
            marked[codes == c] = True
    return marked


def right_by_hand(X, codes, rows, truth):
    nearest = [min(range(len(X)), key=lambda j: np.linalg.norm(X[j] - row)) for row in rows]
    return np.count_nonzero(codes[nearest] == truth)


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 4))
def test_it_asks_the_three_nearest_others(seed, n, n_classes):
    X, codes = some_rows(seed, max(n, n_classes), n_classes)
    assert_array_equal(agreeing_rows(X, codes), agreeing_by_hand(X, codes))


@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(2, 4))
def test_held_out_rows_tell_whether_to_leave_rows_out(seed, n, n_classes):
    X, codes = some_rows(seed, n, n_classes)
    held, truth = some_rows(seed + 1, 20, n_classes)
    marked = agreeing_by_hand(X, codes)
    before = right_by_hand(X, codes, held, truth)
    after = right_by_hand(X[marked], codes[marked], held, truth)
    expected = np.flatnonzero(marked) if after >= before else np.arange(n)
    assert_array_equal(worth_learning(X, codes, held, truth), expected)


def test_both_answers_occur():
    answers = set()
    for seed in range(20):
        X, codes = some_rows(seed, 40, 3)
        assert not agreeing_rows(X, codes).all()
        answers.add(len(worth_learning(X, codes, *some_rows(seed + 100, 40, 3))) == len(X))
    assert answers == {False, True}


def test_a_class_among_others_does_not_get_lost():
    X = np.append(np.linspace(0.0, 1.0, 20), [0.21, 0.82])[:, None]
    codes = np.append(np.zeros(20, int), [1, 1])
    assert agreeing_rows(X, codes).all()
    assert agreeing_rows(X[:3], np.array([0, 1, 0])).all()


def blobs(noise):
    """Four clusters of two classes: the labels given, and which of them are wrong."""
    X, cluster = make_blobs(240, centers=[[0, 0], [0, 6], [6, 0], [6, 6]], random_state=0)
    y = np.isin(cluster, [0, 3]).astype(int)
    given = flip_labels(y, noise, random_state=0)
    return X, y, given


def test_no_model_learns_from_a_row_that_its_neighbours_gainsay():
    X, y, given = blobs(0.1)
    model = PrototypeSVM(random_state=0).fit(X, given)
    wrong = np.setdiff1d(np.flatnonzero(y != given), model.validation_indices_)
    assert np.isin(wrong, model.edited_indices_).mean() > 0.85
    assert np.isin(model.edited_indices_, wrong).mean() > 0.6
    for sets in (model.positive_sets_, model.negative_sets_, [model.exemplar_indices_]):
        assert not np.isin(np.concatenate(sets), model.edited_indices_).any()
    assert not np.isin(model.edited_indices_, model.validation_indices_).any()


def test_wrong_labels_do_less_harm_in_many_dimensions(monkeypatch):
    X, y = load_wine(return_X_y=True)

    def score(seed):
        given = flip_labels(y[::2], 0.15, random_state=seed)
        return PrototypeSVM(random_state=seed).fit(X[::2], given).score(X[1::2], y[1::2])

    scores = [score(seed) for seed in range(10)]
    monkeypatch.setattr(prototype, "worth_learning", lambda X, *_: np.arange(len(X)))
    others = [score(seed) for seed in range(10)]
    assert np.mean(scores) > np.mean(others) + 0.02


@pytest.mark.parametrize("settings", [{"pruning": None}, {"validation_fraction": 0.0}])
def test_as_published_or_with_nothing_held_out_all_rows_are_learned_from(settings):
    X, _, given = blobs(0.1)
    model = PrototypeSVM(n_shifts=1, random_state=0, **settings).fit(X, given)
    assert len(model.edited_indices_) == 0


def test_where_labels_are_right_none_is_left_out():
    X, y, _ = blobs(0.0)
    assert len(PrototypeSVM(n_shifts=1, random_state=0).fit(X, y).edited_indices_) == 0
