"""Everything works, with the same results, where numba lacks its private parts."""

import os
import subprocess
import sys

import numpy as np
import pytest

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
