"""Models that look at the rows near their exemplars alone, and how many threads they use."""

import threading
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from protolearn import _threads, load, save
from protolearn.datasets import make_striated
from protolearn.ensemble import ExemplarSVM, PrototypeSVM
from protolearn.ensemble.calibration import CALIBRATIONS
from protolearn.ensemble.linear_machines import Machines, SolverSettings, shift
from protolearn.ensemble.members import Members, choose_negatives
from protolearn.ensemble.neighbourhoods import Neighbourhoods, View
from protolearn.ensemble.voters import Voters, worth_keeping


def overlapping(n, d=5, seed=0):
    """Draw two Gaussian classes that overlap."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    return rng.normal(size=(n, d)) + 0.5 * (2 * y[:, None] - 1), y


def machines_of(X, codes):
    """Train exemplar SVMs."""
    own = np.arange(len(X))
    members = Members.empty().with_rows(own, own, 1.0)
    members = members.with_rows(*choose_negatives(X, codes, 5), -1.0)
    return Machines.one_a_row(X, codes, members).train(X, SolverSettings(10.0, "l2", 1e-6, 1000))


def whole_view(n_rows, n_models):
    """Return a view of all rows in which each model has a line of its own."""
    lines = np.tile(np.arange(n_rows, dtype=np.int32), (n_models, 1))
    return View(lines, np.arange(n_rows), np.arange(n_models))


def test_neighbours_are_those_of_scikit_learn():
    X, _ = overlapping(300)
    found = Neighbourhoods.of(X[:40], X, 25)
    distances, expected = NearestNeighbors(n_neighbors=25).fit(X).kneighbors(X[:40])
    assert_array_equal(found.rows, np.sort(expected, axis=1))
    assert_allclose(found.squares, distances[:, -1] ** 2)


def test_of_equally_near_rows_so_many_are_taken():
    X = np.zeros((30, 2))
    found = Neighbourhoods.of(X, X, 7)
    assert found.rows.shape == (30, 7)
    assert_array_equal(found.squares, 0.0)
    assert all(len(set(rows)) == 7 for rows in found.rows.tolist())


def test_rows_of_other_parts_are_not_seen():
    X, _ = overlapping(100)
    near = Neighbourhoods.of(X[:10], X, 20)
    part = np.arange(0, 100, 3)
    seen = near.within(part, np.array([4, 2])).rows(np.array([1, 0]))
    for rows, exemplar in zip(seen, (2, 4), strict=True):
        expected = [row for row in near.rows[exemplar].tolist() if row in part]
        assert part[rows[rows >= 0]].tolist() == expected


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_view_of_all_rows_is_no_view(calibration):
    X, codes = overlapping(200)
    machines, view = machines_of(X, codes), whole_view(200, 200)
    assert_array_equal(machines.that_fire(X, view).exemplar, machines.that_fire(X).exemplar)
    one, other = (
        shift(machines, X, codes, 0.2, np.random.RandomState(0), seen) for seen in (None, view)
    )
    assert_array_equal(other.members.model, one.members.model)
    assert_array_equal(other.members.row, one.members.row)
    voters = Voters.of(machines, X, CALIBRATIONS[calibration])
    one, other = (voters.calibrate(X, codes, 2, None, seen) for seen in (None, view))
    assert_allclose(other.curves, one.curves, rtol=1e-6, atol=1e-9)
    models = np.arange(200)
    assert_allclose(one.votes(X, models, view), one.votes(X, models), rtol=1e-9, atol=1e-12)
    kept = worth_keeping(one, X, codes, 2, 0.2)
    assert_array_equal(worth_keeping(one, X, codes, 2, 0.2, view), kept)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_rows_that_are_not_seen_count_for_nothing(calibration):
    """Models that see half of the rows are what they are where the others do not exist."""
    X, codes = overlapping(200)
    machines, half = machines_of(X[:100], codes[:100]), np.arange(100)
    near = Neighbourhoods(np.tile(np.arange(200, dtype=np.int32), (100, 1)), np.ones(100), 200)
    view, rng = near.within(half, half), np.random.RandomState
    one = shift(machines, X[:100], codes[:100], 0.2, rng(0))
    other = shift(machines, X[:100], codes[:100], 0.2, rng(0), view)
    assert_array_equal(other.members.row, one.members.row)
    voters, rows = Voters.of(machines, X, CALIBRATIONS[calibration]), (X[:100], codes[:100])
    one, other = (voters.calibrate(*rows, 2, None, seen) for seen in (None, view))
    assert_allclose(other.curves, one.curves, rtol=1e-6, atol=1e-9)
    assert_array_equal(worth_keeping(one, *rows, 2, 0.2, view), worth_keeping(one, *rows, 2, 0.2))


def test_a_model_votes_as_far_as_its_neighbours_are():
    X, y = overlapping(600)
    model = PrototypeSVM(n_neighbors=80, n_shifts=2, random_state=0).fit(X, y)
    rows, _ = overlapping(500, seed=1)
    scaled, exemplars = (
        (each - X.mean(axis=0)) / X.std(axis=0) for each in (rows, model.exemplars_)
    )
    near = NearestNeighbors(n_neighbors=80).fit((X - X.mean(axis=0)) / X.std(axis=0))
    radius = near.kneighbors(exemplars)[0][:, -1]
    beyond = np.linalg.norm(scaled[:, None] - exemplars, axis=2) > radius * (1.0 + 1e-9)
    votes = model.votes(rows)
    fires = rows @ model.hyperplanes_.T + model.offsets_ > 1e-9
    assert not votes[beyond].any()
    assert (votes[fires & ~beyond] > 0.0).all()
    assert 0.1 < beyond.mean() < 0.95
    shares = (
        np.column_stack([votes[:, model.prototype_labels_ == c].sum(axis=1) for c in (0, 1)]) + 0.5
    )
    heard = votes.any(axis=1)
    expected = shares / shares.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(rows)[heard], expected[heard])


def test_beyond_the_reach_of_all_models_the_nearest_decides():
    X, y = make_striated(150, n_stripes=2, width=0.05, random_state=0)
    model = PrototypeSVM(n_neighbors=30, n_shifts=1, random_state=0).fit(X, y)
    far = 10.0 * X[:20]
    assert not model.votes(far).any()
    scaled, exemplars = (
        (each - X.mean(axis=0)) / X.std(axis=0) for each in (far, model.exemplars_)
    )
    nearest = np.linalg.norm(scaled[:, None] - exemplars, axis=2).argmin(axis=1)
    assert_array_equal(model.predict(far), model.prototype_labels_[nearest])


def test_as_many_neighbours_as_rows_are_all_rows(stripes):
    X, y = stripes
    base = PrototypeSVM(n_shifts=2, random_state=0)
    expected = clone(base).set_params(n_neighbors=None).fit(X, y).predict_proba(X)
    for n_neighbors in ("auto", len(X), 10 * len(X)):
        model = clone(base).set_params(n_neighbors=n_neighbors).fit(X, y)
        assert_array_equal(model.predict_proba(X), expected)


def test_many_rows_are_not_all_looked_at(stripes, monkeypatch):
    X, y = stripes
    base = PrototypeSVM(n_shifts=1, random_state=0)
    assert base.fit(X, y)._voters.reach is None
    monkeypatch.setattr("protolearn.ensemble.prototype.ALL_ROWS", len(X) - 1)
    monkeypatch.setattr("protolearn.ensemble.prototype.SOME_ROWS", 50)
    expected = clone(base).set_params(n_neighbors=50).fit(X, y)
    assert_array_equal(clone(base).fit(X, y).predict_proba(X), expected.predict_proba(X))
    assert np.isfinite(expected._voters.reach).all()


def test_neighbours_are_enough_where_classes_have_many_parts():
    X, y = make_striated(1000, random_state=0)
    model = PrototypeSVM(n_neighbors=150, n_shifts=2, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.98


def test_memory_grows_with_the_rows_not_with_their_square():
    def peak(n):
        X, y = overlapping(n)
        model = PrototypeSVM(n_neighbors=100, n_shifts=2, n_jobs=1, random_state=0)
        tracemalloc.start()
        model.fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(200)  # compiles
    few, many = peak(2000), peak(6000)
    assert many < 3.5 * few


def test_pruning_keeps_its_votes_once(monkeypatch):
    """Votes that do not fit are computed again, and never kept beside those of another order."""
    X, y = overlapping(1500)
    monkeypatch.setattr("protolearn.ensemble.voters.KEPT_BYTES", 1 << 22)
    tracemalloc.start()
    PrototypeSVM(n_shifts=1, n_jobs=1, random_state=0).fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 40e6


@pytest.mark.parametrize("model", [PrototypeSVM(n_shifts=2, random_state=0), ExemplarSVM()])
def test_n_jobs_changes_no_number_and_limits_threads(model, stripes, monkeypatch):
    X, y = stripes
    monkeypatch.setattr(_threads.joblib, "effective_n_jobs", lambda n_jobs: 4)
    monkeypatch.setattr(_threads.numba.config, "NUMBA_NUM_THREADS", 4)
    seen = set()
    monkeypatch.setattr(_threads, "ThreadPoolExecutor", observed(seen))
    expected = clone(model).fit(X, y).predict_proba(X)
    assert seen == {4}
    for n_jobs, most in ((1, set()), (2, {2}), (-1, {4}), (9, {4})):
        seen.clear()
        found = clone(model).set_params(n_jobs=n_jobs).fit(X, y).predict_proba(X)
        assert_array_equal(found, expected)
        assert seen == most
    assert threading.active_count() < 50


def observed(seen):
    """Return a pool that writes down how many threads it has."""

    class Pool(_threads.ThreadPoolExecutor):
        def __init__(self, n_threads):
            seen.add(n_threads)
            super().__init__(n_threads)

    return Pool


@pytest.mark.parametrize("settings", [{"n_neighbors": 1}, {"n_neighbors": True}, {"n_jobs": 0}])
def test_numbers_of_neighbours_and_threads_are_checked(settings, stripes):
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name}=.* must be an integer of at least"):
        PrototypeSVM(**settings).fit(*stripes)


def test_a_word_for_the_number_of_neighbours_is_checked(stripes):
    with pytest.raises(ValueError, match=r"n_neighbors='all' .* must be one of 'auto'"):
        PrototypeSVM(n_neighbors="all").fit(*stripes)


def test_the_reach_of_models_is_in_their_file(stripes, tmp_path):
    X, y = stripes
    model = PrototypeSVM(n_neighbors=40, n_shifts=1, random_state=0).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    rows = np.vstack([X, 5.0 * X])
    assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
