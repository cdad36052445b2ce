"""Limits on threads are set where they help and are given back."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from protolearn import GLVQ


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_a_small_fit_runs_on_one_thread(iris):
    seen = []
    with threadpool_limits(2):
        before = blas_threads()
        GLVQ(callback=lambda state: seen.append(blas_threads())).fit(*iris)
        assert np.unique(seen).tolist() == [1]
        assert blas_threads() == before


def test_overlapping_fits_in_threads_change_nothing(iris):
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
