"""Everything works, with the same results, where numba lacks its private parts."""

import os
import pickle
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

from protolearn import native as native_module
from protolearn.losses import Sigmoid
from protolearn.native import Native
from protolearn.numba_internals import compile_seconds, manages_memory

PARTS = "memory", "cache", "address", "timer"

SCRIPT = """
import sys, warnings
import numpy as np
from protolearn import GLVQ, LVQ1, load, save
from protolearn.numba_internals import compile_seconds

rng = np.random.RandomState(0)
X = rng.standard_normal((60, 3)); y = np.repeat([0, 1, 2], 20); X[:, 0] += y
with compile_seconds() as seconds:
    for model in (GLVQ(max_iter=5), GLVQ(solver="sgd", max_iter=2), LVQ1(max_iter=2)):
        warnings.simplefilter("ignore")
        model.set_params(random_state=0).fit(X, y)
        save(model, sys.argv[1])
        again = load(sys.argv[1])
        assert np.array_equal(again.predict(X), model.predict(X))
        print(again.prototypes_.tolist(), ",", again.decision_function(X).tolist())
print(len(seconds))
"""


def run(path, without="", **environment):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path / "model")],
        env=os.environ | {"PROTOLEARN_WITHOUT": without} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *models, compilations = done.stdout.splitlines()
    return models, int(compilations)


def test_without_its_shortcuts_a_fit_is_the_same(tmp_path):
    cache = str(tmp_path / "cache")
    models, compilations = run(tmp_path, NUMBA_CACHE_DIR=cache)
    assert compilations == 1  # all at once, one number
    without = ",".join(PARTS)
    assert run(tmp_path, without, NUMBA_CACHE_DIR=str(tmp_path / "other")) == (models, 0)
    # Each finds what the other has kept on disk.
    assert run(tmp_path, without, NUMBA_CACHE_DIR=cache) == (models, 0)
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "other"))[0] == models


def test_without_function_pointers_plain_python_runs(tmp_path):
    compiled, plain = run(tmp_path)[0], run(tmp_path, "pointer")[0]
    for one, other in zip(compiled, plain, strict=True):
        for ours, theirs in zip(eval(one), eval(other), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("without", ["", "timer"])
def test_compile_seconds_passes_errors_on(monkeypatch, without):
    monkeypatch.setenv("PROTOLEARN_WITHOUT", without)
    with pytest.raises(ZeroDivisionError), compile_seconds() as seconds:
        raise ZeroDivisionError
    assert seconds == []


def test_unknown_forms_of_kept_functions_get_memory_management():
    for payload in (None, (), (("name", "object"),), (("name", "object", (b"..NRT_incref", b"")),)):
        assert manages_memory(payload)
    assert not manages_memory((("name", "object", (b"code", b"")),))


def cut(content, rng):
    return content[: len(content) // 2]


def cut_last_byte(content, rng):
    return content[:-1]


def empty(content, rng):
    return b""


def zeros(content, rng):
    return bytes(len(content))


def random_bytes(content, rng):
    return rng.bytes(len(content))


def zeros_inside(content, rng):
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


def one_wrong_byte(content, rng):
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


def other_object(content, rng):
    return pickle.dumps({"something": "else"})


DAMAGES = cut, cut_last_byte, empty, zeros, random_bytes, zeros_inside, one_wrong_byte, other_object
ONE_FIT = """
import warnings
import numpy as np
from protolearn import GLVQ
rng = np.random.RandomState(0)
X = rng.standard_normal((60, 3)); y = np.repeat([0, 1, 2], 20); X[:, 0] += y
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", RuntimeWarning)
    warnings.simplefilter("ignore", UserWarning)
    model = GLVQ(max_iter=3, random_state=0).fit(X, y)
print(model.prototypes_.tolist())
print([str(each.message) for each in caught])
"""


def fit_once(cache, code=ONE_FIT, **environment):
    """Return the prototypes and the warnings of a fit in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    prototypes, told = done.stdout.splitlines()
    return prototypes, eval(told)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a cache, and what a fit with it gives."""
    cache = tmp_path_factory.mktemp("cache")
    prototypes, told = fit_once(cache)
    assert told == []
    return cache, prototypes


@pytest.mark.parametrize("damage", [zeros_inside, random_bytes], ids=lambda damage: damage.__name__)
def test_a_fit_writes_damaged_files_anew(filled, tmp_path, damage):
    cache, rng = tmp_path / "cache", np.random.RandomState(0)
    shutil.copytree(filled[0], cache)
    for number, path in enumerate(sorted(cache.rglob("*.nb[ic]"))):
        if number % 3:
            path.write_bytes(damage(path.read_bytes(), rng))
    prototypes, (told,) = fit_once(cache)
    assert prototypes == filled[1]
    assert str(cache) in told
    assert "damaged" in told
    assert fit_once(cache) == (filled[1], [])


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Let this process keep functions in a folder of the test, and warn as if for the first time.

    Gives the folder, and a function that compiles another copy of a native function.
    """
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native_module, "_damaged", [])
    return tmp_path, lambda: Native(Sigmoid.phi.py, Sigmoid.phi.signature).compiled


@pytest.mark.parametrize("ends", ["nbi", "nbc", "nb[ic]"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_files_of_a_function_are_written_anew(own_cache, damage, ends):
    cache, make = own_cache
    before = make()(0.3, np.ones(1))
    for path in cache.rglob(f"*.{ends}"):
        path.write_bytes(damage(path.read_bytes(), np.random.RandomState(0)))
    if damage is other_object:  # as good as a file of another version
        again = make()
    else:
        with pytest.warns(RuntimeWarning, match="damaged") as told:
            again = make()
        assert str(cache) in str(told[0].message)
    assert again(0.3, np.ones(1)) == before
    assert sum(again.stats.cache_hits.values()) == 0
    found = make()
    assert found(0.3, np.ones(1)) == before
    assert sum(found.stats.cache_hits.values()) == 1


def test_one_damaged_file_leaves_the_others_alone(filled, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(filled[0], cache)
    damaged, *others = sorted(cache.rglob("*.nbc"))
    before = [path.stat().st_mtime_ns for path in others]
    damaged.write_bytes(b"")
    assert len(fit_once(cache)[1]) == 1
    assert [path.stat().st_mtime_ns for path in others] == before
    assert damaged.stat().st_size


READ_ONLY = """
import errno, os
from numba.core import caching
def refuse(*args, **kwargs):
    raise OSError(errno.EROFS, "Read-only file system")
caching.IndexDataCacheFile._open_for_write = refuse
os.unlink = refuse
"""


@pytest.mark.parametrize("damage", [None, "nbi", "nbc"])
def test_a_folder_that_becomes_read_only(filled, tmp_path, damage):
    cache = tmp_path / "cache"
    shutil.copytree(filled[0], cache)
    for path in cache.rglob("*"):
        if damage is not None and path.suffix == f".{damage}":
            path.write_bytes(b"")
    prototypes, told = fit_once(cache, READ_ONLY + ONE_FIT)
    assert (prototypes, len(told)) == (filled[1], 0 if damage is None else 1)
    prototypes, told = fit_once(tmp_path / "none", READ_ONLY + ONE_FIT)
    assert prototypes == filled[1]
    assert ["NUMBA_CACHE_DIR" in text for text in told] == [True]


@pytest.mark.parametrize("damage", [empty, random_bytes], ids=lambda damage: damage.__name__)
def test_damaged_files_without_the_private_parts(filled, tmp_path, damage):
    cache, rng = tmp_path / "cache", np.random.RandomState(0)
    shutil.copytree(filled[0], cache)
    for path in cache.rglob("*.nb[ic]"):
        path.write_bytes(damage(path.read_bytes(), rng))
    prototypes, told = fit_once(cache, PROTOLEARN_WITHOUT="cache")
    assert prototypes == filled[1]
    assert ["NUMBA_CACHE_DIR" in text for text in told] == [True]


def test_files_of_plain_numba_are_replaced_without_a_word(filled, tmp_path):
    fit_once(tmp_path, PROTOLEARN_WITHOUT="cache")
    assert fit_once(tmp_path) == (filled[1], [])
    (index, *_) = tmp_path.rglob("*.nbi")
    index.write_bytes(pickle.dumps("0.1", protocol=-1) + index.read_bytes())
    assert fit_once(tmp_path) == (filled[1], [])
