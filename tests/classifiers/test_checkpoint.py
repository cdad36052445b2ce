"""A fit that was cut off goes on, and ends where one that was not cut off ends."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from given_parts import factory, overlapping
from given_profile import in_all
from protolearn import GLVQ, GMLVQ, LVQ1, PrototypeClassifier
from protolearn.blocks import MemoryBlocks
from protolearn.distances import Tangent
from protolearn.distances.tangent_space import FORMULAS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NAMES = tuple(FORMULAS)
KINDS = {
    "lbfgs": lambda **kw: GLVQ(solver="lbfgs", prototypes_per_class=2, tol=1e-9, **kw),
    "sgd": lambda **kw: GLVQ(solver="sgd", **kw),
    "adam": lambda **kw: GMLVQ(solver="adam", **kw),
    "momentum": lambda **kw: GLVQ(solver="momentum", **kw),
    "rule": lambda **kw: LVQ1(**kw),
    "early stopping": lambda **kw: GLVQ(solver="lbfgs", early_stopping=True, tol=1e-9, **kw),
    "rounds": lambda **kw: PrototypeClassifier(
        distance=Tangent(image_shape=(2, 2), tangents=NAMES[:1]), solver="lbfgs", tol=1e-9, **kw
    ),
}


class Cut(Exception):
    """What cuts a fit off."""


def cut_at(iteration):
    def callback(state):
        if state.iteration == iteration:
            raise Cut

    return callback


def equal(a, b):
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)
    np.testing.assert_array_equal(a.rule_.codebook.metric, b.rule_.codebook.metric)
    assert a.loss_curve_ == b.loss_curve_
    assert a.n_iter_ == b.n_iter_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [False, True])
def test_a_fit_goes_on_where_it_was_cut_off(tmp_path, kind, parts, monkeypatch):
    X, y = overlapping(200)
    data = (factory(X, y, 70, 120),) if parts else (X, y)
    settings = {"max_iter": 6, "random_state": 0}
    whole = KINDS[kind](**settings).fit(*data)
    path = tmp_path / "fit.journal"
    with pytest.raises(Cut):
        KINDS[kind](checkpoint=path, callback=cut_at(3), **settings).fit(*data)
    kept = path.stat().st_size
    seen = []
    again = KINDS[kind](checkpoint=path, callback=seen.append, **settings).fit(*data)
    equal(again, whole)
    assert path.stat().st_size > kept
    assert len(seen) == whole.n_iter_  # those that are not computed again are told as well


def test_nothing_is_computed_twice(tmp_path, monkeypatch):
    X, y = overlapping(200)
    names = []
    reduce = MemoryBlocks.reduce
    monkeypatch.setattr(
        MemoryBlocks, "reduce", lambda self, f, *a: names.append(f.__name__) or reduce(self, f, *a)
    )
    model = GLVQ(solver="lbfgs", max_iter=6, checkpoint=tmp_path / "fit.journal")
    model.fit(X, y)
    assert names.count("partial") >= 6
    first, names[:] = model.prototypes_, []
    np.testing.assert_array_equal(model.fit(X, y).prototypes_, first)  # also without a seed
    assert "partial" not in names


@pytest.mark.parametrize("lost", [1, 7, 40, 400])
def test_what_is_half_written_is_done_again(tmp_path, lost):
    X, y = overlapping(200)
    path = tmp_path / "fit.journal"
    model = GLVQ(solver="lbfgs", max_iter=6, checkpoint=path, random_state=0)
    expected = model.fit(X, y).prototypes_
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    np.testing.assert_array_equal(model.fit(X, y).prototypes_, expected)
    assert path.read_bytes() == whole


def test_other_data_parameters_and_files_are_refused(tmp_path):
    X, y = overlapping(200)
    path = tmp_path / "fit.journal"
    model = GLVQ(checkpoint=path, max_iter=3, random_state=0).fit(X, y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="belongs to another fit: max_iter was 3 and is 4"):
        GLVQ(checkpoint=path, max_iter=4, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another fit: class was"):
        LVQ1(checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="belongs to a fit on other data"):
        model.fit(X + 1.0, y)
    with pytest.raises(ValueError, match="belongs to a fit on other data"):
        model.fit(X[:-1], y[:-1])
    assert path.read_bytes() == before
    note = tmp_path / "note.txt"
    note.write_text("not a journal")
    with pytest.raises(ValueError, match="is not a checkpoint of a fit"):
        GLVQ(checkpoint=note).fit(X, y)
    assert note.read_text() == "not a journal"
    with pytest.raises(ValueError, match="is a folder"):
        GLVQ(checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="partial_fit keeps no checkpoint"):
        GLVQ(checkpoint=path).partial_fit(X, y, classes=np.unique(y))


def test_two_fits_do_not_share_a_journal(tmp_path):
    pytest.importorskip("fcntl")
    X, y = overlapping(200)
    path = tmp_path / "fit.journal"

    def callback(state):
        with pytest.raises(ValueError, match="is in use by another fit"):
            GLVQ(checkpoint=path, random_state=0).fit(X, y)

    GLVQ(checkpoint=path, random_state=0, callback=callback).fit(X, y)


def test_it_tells_that_it_goes_on(tmp_path, capsys):
    X, y = overlapping(200)
    model = GLVQ(checkpoint=tmp_path / "fit.journal", random_state=0, verbose=1)
    model.fit(X, y).fit(X, y)
    assert "[GLVQ] continues after" in capsys.readouterr().out


SCRIPT = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    from given_parts import overlapping
    from protolearn import GLVQ

    def kill(state):
        if state.iteration == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    X, y = overlapping(200)
    GLVQ(solver={solver!r}, tol=1e-9, max_iter=8, random_state=0, checkpoint={path!r},
         callback=kill).fit(X, y)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
@pytest.mark.parametrize("solver", in_all("lbfgs", thorough=["sgd"]))
def test_a_killed_process_goes_on(tmp_path, solver):
    X, y = overlapping(200)
    settings = {"solver": solver, "tol": 1e-9, "max_iter": 8, "random_state": 0}
    path = str(tmp_path / "fit.journal")
    tests = os.path.join(os.path.dirname(__file__), os.pardir)
    script = textwrap.dedent(SCRIPT).format(tests=tests, path=path, solver=solver)
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert os.path.getsize(path) > 3000
    equal(GLVQ(checkpoint=path, **settings).fit(X, y), GLVQ(**settings).fit(X, y))


@pytest.mark.parametrize("parts", [False, True])
def test_other_weights_and_rows_of_the_same_means_are_seen(tmp_path, parts):
    X, y = overlapping(200)
    X = np.round(X)
    path = tmp_path / "fit.journal"

    def fit(X, weight):
        data = (factory(X, y, 70, weight=weight),) if parts else (X, y, weight)
        GLVQ(checkpoint=path, solver="sgd", max_iter=2, random_state=0).fit(*data)

    fit(X, np.ones(len(y)))
    other = X.copy()
    own = np.flatnonzero(y == y[0])
    other[own, 0] = X[own[::-1], 0]
    for rows, weight in ((X, np.where(y == y[0], 4.0, 1.0)), (other, np.ones(len(y)))):
        with pytest.raises(ValueError, match="belongs to a fit on other data"):
            fit(rows, weight)


def test_a_fit_that_comes_too_late_leaves_the_journal_alone(tmp_path):
    pytest.importorskip("fcntl")
    X, y = overlapping(200)
    path = tmp_path / "fit.journal"
    model = GLVQ(checkpoint=path, solver="lbfgs", max_iter=6, random_state=0)

    def half_written(state):
        if state.iteration == 3:
            with open(path, "ab") as file:
                file.write(b"half")
            size = path.stat().st_size
            with pytest.raises(ValueError, match="is in use by another fit"):
                GLVQ(checkpoint=path, solver="lbfgs", max_iter=6, random_state=0).fit(X, y)
            assert path.stat().st_size == size

    model.set_params(callback=half_written).fit(X, y)


def test_a_beginning_that_was_cut_off(tmp_path):
    X, y = overlapping(200)
    path = tmp_path / "fit.journal"
    model = GLVQ(checkpoint=path, max_iter=3, random_state=0)
    expected = model.fit(X, y).prototypes_
    whole = path.read_bytes()
    for size in (0, 5, 30, 300):
        path.write_bytes(whole[:size])
        np.testing.assert_array_equal(model.fit(X, y).prototypes_, expected)
        assert path.read_bytes() == whole


def test_sources_of_randomness(tmp_path):
    X, y = overlapping(200)
    generator = np.random.RandomState(np.random.PCG64(0))
    with pytest.raises(ValueError, match="give an integer as random_state"):
        GLVQ(checkpoint=tmp_path / "a", random_state=generator).fit(X, y)
    with pytest.raises(ValueError, match="checkpoint=5 must be the name of a file"):
        GLVQ(checkpoint=5).fit(X, y)
