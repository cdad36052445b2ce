"""Compiled functions: two forms, addresses, the cache, and life without a compiler."""

import importlib
import os
import pickle
import pkgutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

import protolearn
from protolearn import native as native_module
from protolearn.losses import Sigmoid, price_all
from protolearn.native import LOSS, native

SCRIPT = """
import numpy as np
from protolearn import GLVQ
from protolearn.objective import price_winners
rng = np.random.RandomState(0)
X = rng.standard_normal((60, 3)); y = np.repeat([0, 1, 2], 20); X[:, 0] += y
model = GLVQ(max_iter=3, solver="sgd", random_state=0).fit(X, y)
print(repr(model.prototypes_.tolist()))
from protolearn.solvers.sequential import learn_in_order
stats = getattr(learn_in_order.compiled, "stats", None)
print("hits", sum(stats.cache_hits.values()) if stats else "none")
from numba.core.runtime import rtsys
print("memory", rtsys._init)
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines(), done.stderr


def test_import_compiles_nothing_and_leaves_heavy_packages_alone():
    heavy = {"matplotlib", "dask", "distributed", "jinja2", "onnx", "pandas", "optuna"}
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import protolearn; "
        f"print(sorted({heavy} & (set(sys.modules) - before))); "
        "import protolearn.checks, gc; from protolearn.native import Native; "
        "natives = [o for o in gc.get_objects() if isinstance(o, Native)]; "
        "print(len(natives) > 50, any('compiled' in vars(o) for o in natives))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == ["[]", "True False"]


def test_next_process_finds_the_cache_and_gives_the_same_numbers(tmp_path):
    first, _ = run(NUMBA_CACHE_DIR=str(tmp_path))
    second, _ = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert first[1] == "hits 0"
    assert second[1] == "hits 1"
    assert first[0] == second[0]
    assert second[2] == "memory False"  # what makes no arrays needs none, and loads faster


def test_without_jit_the_python_form_runs(capsys):
    exec(SCRIPT, {})
    compiled = capsys.readouterr().out.splitlines()
    plain, _ = run(NUMBA_DISABLE_JIT="1")
    assert plain[1] == "hits none"
    np.testing.assert_allclose(eval(plain[0]), eval(compiled[0]), rtol=1e-9)


def test_unwritable_cache_warns_once_and_works(monkeypatch):
    def refuse(*args, cache=False, **kwargs):
        if cache:
            raise RuntimeError("cannot cache function 'f': no locator available")
        return real(*args, **kwargs)

    real = native_module.numba.njit
    monkeypatch.setattr(native_module.numba, "njit", refuse)
    native_module._warn_uncached.cache_clear()

    @native(LOSS)
    def double(m, theta):
        return 2.0 * m, 2.0

    @native(LOSS)
    def triple(m, theta):
        return 3.0 * m, 3.0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert double(1.0, np.empty(0)) == (2.0, 2.0)
        assert triple(1.0, np.empty(0)) == (3.0, 3.0)
    assert ["NUMBA_CACHE_DIR" in str(w.message) for w in caught] == [True]


def test_loop_takes_a_function_written_after_it():
    @native(LOSS)
    def late(m, theta):
        return m * theta[0], theta[0]

    m, value, slope = np.arange(3.0), np.empty(3), np.empty(3)
    price_all(m, Sigmoid.phi.address, np.ones(1), value, slope)
    price_all(m, late.address, np.array([7.0]), value, slope)
    assert value.tolist() == [0.0, 7.0, 14.0]


def test_functions_of_users_may_make_arrays():
    @native(LOSS)
    def twice(m, theta):
        both = np.full(2, m)
        return both.sum(), 2.0

    assert twice.makes_arrays
    assert twice(3.0, np.empty(0)) == (6.0, 2.0)
    assert not Sigmoid.phi.makes_arrays
    _, kept = native(LOSS, makes_arrays=False)(twice.py).__reduce__()
    assert kept == (twice.py, LOSS, False)


def test_a_function_that_makes_arrays_has_to_say_so():
    with pytest.raises(Exception, match=r"(?i)nrt|empty"):
        native(LOSS, makes_arrays=False)(lambda m, theta: (np.empty(2)[0] * m, m)).compiled  # noqa: B018


def test_no_frame_between_caller_and_function(monkeypatch):
    monkeypatch.setattr(native_module.numba.config, "DISABLE_JIT", 1)
    callers = []

    @native(LOSS)
    def ask(m, theta):
        callers.append(sys._getframe(1).f_code.co_name)
        return m, m

    ask(1.0, np.empty(0))
    assert callers == ["test_no_frame_between_caller_and_function"]


def test_native_pickles_by_name():
    assert pickle.loads(pickle.dumps(Sigmoid.phi)) is Sigmoid.phi


def test_read_only_input():
    m = np.zeros(2)
    m.flags.writeable = False
    assert Sigmoid()(m)[0].tolist() == [0.5, 0.5]


def test_other_errors_of_the_compiler_are_not_swallowed():
    @native(LOSS)
    def broken(m, theta):
        return undefined_name, m  # noqa: F821

    with pytest.raises(Exception, match="undefined_name"):
        broken(1.0, np.empty(0))


def compiled_functions():
    """Give the functions that are compiled and kept on disk, or part of such."""
    for info in pkgutil.walk_packages(protolearn.__path__, "protolearn."):
        if "onnx" in info.name:  # optional
            continue
        module = importlib.import_module(info.name)
        owners = [module, *(c for c in vars(module).values() if isinstance(c, type))]
        for owner in owners:
            for thing in list(vars(owner).values()):
                function = getattr(thing, "py", None) or getattr(thing, "py_func", None)
                if getattr(function, "__module__", None) == module.__name__:
                    yield function


def test_no_compiled_function_calls_one_of_another_file():
    """The cache of the caller would not notice an edit there."""
    functions = list(compiled_functions())
    assert len(functions) > 60
    for function in functions:
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            there = getattr(called, "py", None) or getattr(called, "py_func", None)
            home = getattr(there, "__module__", function.__module__)
            assert home in (function.__module__, "protolearn.native"), (function, name)
