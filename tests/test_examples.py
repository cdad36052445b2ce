"""The examples run."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
NEEDS = {"conformal.py": ["mapie"]}


def test_there_are_examples():
    assert EXAMPLES
    assert set(NEEDS) <= {path.name for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    for name in NEEDS.get(path.name, []):
        pytest.importorskip(name, reason=f"{path.name} needs {name}")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")
    assert capsys.readouterr().out
