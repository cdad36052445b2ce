"""Docstrings tell the truth about parameters, and the examples in the text run."""

import importlib
import inspect
import re
import sys
import types
from dataclasses import is_dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from numpydoc.validate import validate
from sklearn.datasets import load_iris

from given_profile import in_all

ROOT = Path(__file__).parent.parent
MODULES = [
    "protolearn",
    "protolearn.losses",
    "protolearn.margins",
    "protolearn.distances",
    "protolearn.solvers",
    "protolearn.checks",
    "protolearn.report",
    "protolearn.datasets",
    "protolearn.analysis",
    "protolearn.linear",
    "protolearn.perceptrons",
    "protolearn.ensemble",
    "protolearn.selection",
    "protolearn.tables",
    "protolearn.io",
    "protolearn.reproduce",
]
# Summary there and on one line; parameters all documented, none invented, in order, with types.
CODES = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "RT03"}
TEXTS = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/start.md",
    "docs/tables.md",
    "docs/saving.md",
    "docs/report.md",
    "docs/daily_use.md",
    "docs/beyond_memory.md",
    "docs/linear.md",
    "docs/perceptrons.md",
    "docs/ensembles.md",
    "docs/margins.md",
    "docs/metrics.md",
    "docs/distances.md",
]

LONG = ["docs/automatic.md", "docs/evaluation.md"]


def public_objects():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            record = is_dataclass(thing) or hasattr(thing, "_fields")  # documents its attributes
            if (inspect.isclass(thing) and not record) or inspect.isfunction(thing):
                yield f"{module_name}.{name}"


@pytest.mark.parametrize("name", sorted(set(public_objects())))
def test_docstring(name):
    errors = [(code, text) for code, text in validate(name)["errors"] if code in CODES]
    assert not errors


@pytest.mark.parametrize("name", sorted(n for n in public_objects() if n.count(".") == 1))
def test_public_names_have_an_example(name):
    assert "EX01" not in [code for code, _ in validate(name)["errors"]]


@pytest.mark.parametrize(
    "text", in_all(*TEXTS, thorough=["docs/automatic.md", "docs/evaluation.md"])
)
def test_code_in_the_text_runs(text, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # for what they write
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / text).read_text(), re.DOTALL)
    assert blocks
    module = types.ModuleType("example_in_the_text")  # so that its classes can be pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.X, module.y = load_iris(return_X_y=True)
    for block in blocks:
        exec(compile(block, f"<{text}>", "exec"), vars(module))
    plt.close("all")
