"""How a call walks through the package: in one direction, and through few files."""

import json
import os
import subprocess
import sys

import pytest

WALK = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import protolearn as pl
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
model = pl.GMLVQ(max_iter=2).fit(X, y)
home = pl.__file__.removesuffix("__init__.py")
calls = {"fit": lambda: pl.GLVQ(max_iter=2).fit(X, y), "predict": lambda: model.predict(X),
         "counterfactual": lambda: pl.counterfactual(model, X[:2])}
found = {}
for name, call in calls.items():
    files, pairs = set(), set()
    def note(frame, event, arg):
        here, caller = frame.f_code.co_filename, frame.f_back
        if event == "call" and here.startswith(home):
            files.add(here.removeprefix(home))
            there = caller.f_code.co_filename if caller else ""
            if there.startswith(home):
                pairs.add((there.removeprefix(home), here.removeprefix(home)))
    sys.setprofile(note)
    call()
    sys.setprofile(None)
    found[name] = {"files": sorted(files), "pairs": sorted(pairs)}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def walks():
    """Everyday calls without the compiler, so that native functions are seen as well."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    told = subprocess.run(
        [sys.executable, "-c", WALK], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize(("call", "most"), [("fit", 20), ("predict", 12), ("counterfactual", 15)])
def test_a_call_walks_through_few_files(walks, call, most):
    assert len(walks[call]["files"]) <= most, walks[call]["files"]


@pytest.mark.parametrize("call", ["fit", "predict", "counterfactual"])
def test_no_two_packages_call_each_other(walks, call):
    pairs = {tuple(pair) for pair in walks[call]["pairs"]}
    mutual = [
        (a, b)
        for a, b in pairs
        if (b, a) in pairs and a < b and os.path.dirname(a) != os.path.dirname(b)
    ]
    assert not mutual
