"""Fits on a cluster of two worker processes."""

import os
import signal

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV

from given_parts import overlapping, starts
from given_profile import in_all, long_test
from protolearn import GLVQ, GMLVQ, certified_radius, hypothesis_margin
from protolearn.solvers import Adam

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SETTINGS = {"solver": "lbfgs", "tol": 1e-12, "max_iter": 6, "random_state": 0}
CHUNKS = (400, 0, 35, 965, 600)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def rows():
    return overlapping(2000)


def chunked(array):
    others = tuple((n,) for n in array.shape[1:])
    return da.from_array(array, chunks=(CHUNKS, *others))


def test_the_cluster_gives_what_memory_gives(client, rows):
    X, y = rows
    X_there, y_there = chunked(X), chunked(y)
    for make in in_all(GMLVQ, thorough=[GLVQ]):
        model = make(init=starts(X, y), prototypes_per_class=2, **SETTINGS)
        expected = model.fit(X, y).prototypes_
        found = model.fit(X_there, y_there)
        np.testing.assert_allclose(found.prototypes_, expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(found.predict(X_there).compute(), found.predict(X))
    margins = hypothesis_margin(found, X_there, y_there), certified_radius(found, X_there)
    np.testing.assert_allclose(margins[0].compute(), hypothesis_margin(found, X, y), rtol=1e-12)
    np.testing.assert_allclose(margins[1].compute(), certified_radius(found, X), rtol=1e-12)
    assert found.score(X_there, y_there) == pytest.approx(found.score(X, y))
    model = GLVQ(solver=Adam(batch_size=200, shuffle=False), max_iter=1, random_state=0)
    expected = model.fit(X, y).prototypes_
    np.testing.assert_allclose(model.fit(X_there, y_there).prototypes_, expected, rtol=1e-10)
    X = X.copy()
    X[410, 0] = np.inf
    with pytest.raises(ValueError, match="In chunk 2 of X: Input X contains infinity"):
        model.fit(chunked(X), y_there)


def test_a_killed_worker_changes_nothing(client, rows):
    X, y = rows
    model = GLVQ(init=starts(X, y), prototypes_per_class=2, **SETTINGS)
    expected = model.fit(chunked(X), chunked(y)).prototypes_
    killed = []

    def kill(state):
        if state.iteration == 3 and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    found = model.set_params(callback=kill).fit(chunked(X), chunked(y))
    assert killed
    np.testing.assert_array_equal(found.prototypes_, expected)


@long_test
def test_a_checkpoint_on_a_cluster(client, rows, tmp_path):
    X, y = rows
    model = GLVQ(prototypes_per_class=2, **SETTINGS)
    expected = model.fit(chunked(X), chunked(y)).prototypes_

    def cut(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    model.set_params(checkpoint=tmp_path / "fit.journal", callback=cut)
    with pytest.raises(KeyboardInterrupt):
        model.fit(chunked(X), chunked(y))
    found = model.set_params(callback=None).fit(chunked(X), chunked(y))
    np.testing.assert_array_equal(found.prototypes_, expected)


def test_model_selection_over_the_cluster(client, rows):
    X, y = rows
    search = GridSearchCV(GLVQ(max_iter=5, random_state=0), {"beta": [1.0, 5.0]}, cv=2)
    here = search.fit(X, y).cv_results_["mean_test_score"]
    with parallel_config("dask"):
        there = search.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(there, here)
