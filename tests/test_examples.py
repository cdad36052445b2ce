"""The examples run: the short ones here, all of them in the thorough run and in ``make docs``."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from given_profile import in_all

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
LONG = (
    "choose_a_model",
    "drift",
    "honest_evaluation",
    "lecture_networks",
    "lecture_prototypes",
    "perceptrons",
    "prototype_svms",
    "support_vectors",
    "tutorial",
)
NEEDS = {"conformal.py": ["mapie"]}


def test_there_are_examples():
    assert EXAMPLES
    assert set(NEEDS) <= {path.name for path in EXAMPLES}


@pytest.mark.parametrize(
    "path",
    in_all(
        *(path for path in EXAMPLES if path.stem not in LONG),
        thorough=[path for path in EXAMPLES if path.stem in LONG],
    ),
    ids=lambda path: path.stem,
)
def test_example(path, capsys):
    for name in NEEDS.get(path.name, []):
        pytest.importorskip(name, reason=f"{path.name} needs {name}")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")
    assert capsys.readouterr().out
