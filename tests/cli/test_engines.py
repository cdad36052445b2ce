"""Fits on a Dask cluster: the same results, and a sentence where there is none."""

import socket
import sys

import pytest

from given_pets import FIT, pets, write
from given_profile import long_test
from protolearn.cli import engines
from protolearn.cli.engines import Engine, check_engine, chosen_workers, running_on
from protolearn.cli.failure import FAILED, Failure
from protolearn.io import load


@long_test
def test_the_cluster_gives_what_this_process_gives(command, fitted, tmp_path):
    pytest.importorskip("distributed")
    folder, done = fitted
    write(tmp_path / "pets.csv", pets())
    options = "--engine", "dask", "--jobs", "2", "--out", "results"
    there = command("fit", "pets.csv", *FIT, *options, cwd=tmp_path)
    assert there.code == 0, there.err
    assert there.out == done.out
    assert not there.err  # no word of the cluster
    one, other = (path / "results" / "predictions.csv" for path in (folder, tmp_path))
    assert one.read_text("utf-8") == other.read_text("utf-8")
    models = [load(path / "results" / "model.protolearn") for path in (folder, tmp_path)]
    a, b = (model[-1].best_estimator_[-1].__dict__ for model in models)
    assert a.keys() == b.keys()
    assert repr(a) == repr(b)


def test_a_scheduler_that_is_there():
    distributed = pytest.importorskip("distributed")
    import joblib

    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="inproc", dashboard_address=None
    ) as there:
        address = there.scheduler_address
        with running_on(Engine.dask, address, None) as n_jobs:
            assert n_jobs == -1
            assert joblib.Parallel(n_jobs=n_jobs)([joblib.delayed(abs)(-3)]) == [3]
        assert there.scheduler.status.name == "running"  # it is not ours to close


def test_no_answer(monkeypatch):
    pytest.importorskip("distributed")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody listens
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.5)
        with pytest.raises(Failure, match=r"no scheduler answers within 0\.5 s") as caught:
            running_on(Engine.dask, address, None).__enter__()
    assert caught.value.code == FAILED
    with pytest.raises(Failure, match="no address"):
        running_on(Engine.dask, "tcp://nowhere:port", None).__enter__()


def test_options_that_do_not_go_together(command, tmp_path, monkeypatch):
    done = command("fit", "iris", "--scheduler", "tcp://a:1", cwd=tmp_path)
    assert done.code == 2
    assert "--scheduler tcp://a:1 needs --engine dask" in done.sentence
    with pytest.raises(Failure, match="--jobs 0 is not a number of fits"):
        check_engine(Engine.local, None, 0)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Failure, match=r"pip install 'protolearn\[dask\]'"):
        check_engine(Engine.dask, None, None)
    check_engine(Engine.local, None, None)


def test_jobs_choose_workers():
    class Client:
        def nthreads(self):
            return {"a": 2, "b": 2, "c": 1}

    assert chosen_workers(Client(), None) == chosen_workers(Client(), -1) == {}
    assert chosen_workers(Client(), 3) == {"workers": ["a", "c"]}
    assert chosen_workers(Client(), 1) == {"workers": ["c"]}
