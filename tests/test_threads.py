"""Limits on threads are set where they help and are given back; native work is shared out."""

import os
import threading

import joblib
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from protolearn import GLVQ, _threads


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads(monkeypatch):
    """So that a limit that is not given back is seen."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    with threadpool_limits(2):
        assert set(blas_threads()) == {2}
        yield


def test_a_small_fit_runs_on_one_thread(iris, two_blas_threads):
    seen, before = [], blas_threads()
    GLVQ(callback=lambda state: seen.append(blas_threads())).fit(*iris)
    assert np.unique(seen).tolist() == [1]
    assert blas_threads() == before


def test_no_libraries_are_looked_for_on_one_core(iris, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(_threads, "_controller", None)
    GLVQ().fit(*iris)


def test_overlapping_fits_in_threads_change_nothing(iris, two_blas_threads):
    before = blas_threads()
    first_in, second_done = threading.Event(), threading.Event()

    def first(state):
        first_in.set()
        second_done.wait(20)

    def run(callback):
        GLVQ(callback=callback).fit(*iris)

    slow = threading.Thread(target=run, args=(first,))
    slow.start()
    assert first_in.wait(20)
    quick = threading.Thread(target=run, args=(None,))
    quick.start()
    quick.join(20)
    second_done.set()
    slow.join(20)
    assert blas_threads() == before


@pytest.mark.parametrize("n_threads", [4])
def test_predictions_and_fits_from_many_threads(iris, n_threads):
    X, y = iris
    expected = GLVQ(random_state=0).fit(X, y).predict_proba(X)
    found = [None] * n_threads

    def work(i):
        found[i] = GLVQ(random_state=0).fit(X, y).predict_proba(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        np.testing.assert_allclose(result, expected, atol=1e-9)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 5, 100])
def test_slices_cover_every_item_once(monkeypatch, n_threads, n_items):
    monkeypatch.setattr(_threads, "_n_threads", lambda: n_threads)
    visits, used = np.zeros(n_items, dtype=int), set()

    def work(first, last):
        visits[first:last] += 1
        used.add(threading.get_ident())

    _threads.in_slices(n_items, work)
    assert (visits == 1).all()
    assert len(used) <= max(1, min(n_threads, n_items))


def test_slices_run_at_the_same_time(monkeypatch):
    monkeypatch.setattr(_threads, "_n_threads", lambda: 2)
    meeting = threading.Barrier(2, timeout=20)
    _threads.in_slices(2, lambda first, last: meeting.wait())


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_slice_is_raised(monkeypatch, n_threads):
    monkeypatch.setattr(_threads, "_n_threads", lambda: n_threads)

    def work(first, last):
        if last == 10:
            raise ValueError("in the last slice")

    with pytest.raises(ValueError, match="in the last slice"):
        _threads.in_slices(10, work)


def test_numba_may_be_given_fewer_threads(monkeypatch):
    """As joblib does for the processes that it starts."""
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    assert _threads._n_threads() == 1


def test_work_within_nested_jobs_runs_on_one_thread():
    def inner():
        return joblib.Parallel(2)(joblib.delayed(_threads._n_threads)() for _ in range(2))

    found = joblib.Parallel(2, backend="threading")(joblib.delayed(inner)() for _ in range(2))
    assert found == [[1, 1], [1, 1]]
