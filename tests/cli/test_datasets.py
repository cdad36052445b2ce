"""The list of data sets."""

import gzip

import pytest

from protolearn import datasets
from protolearn.cli.data_source import classes_of, print_datasets


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """Give lines that are not broken."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("PROTOLEARN_DATA", raising=False)


def lines(capsys):
    """Give what is printed, by its first word."""
    print_datasets()
    shown = capsys.readouterr().out.splitlines()
    return {line.split()[0]: line for line in shown}, shown[-1]


def test_bundled_sets(capsys):
    found, last = lines(capsys)
    assert found["iris"].split()[1:3] == ["150", "4"]
    assert "setosa (50), versicolor (50), virginica (50)" in found["iris"]
    assert found["digits"].split()[1:3] == ["1,797", "64"]
    assert "0 (178), 1 (182), 2 (177), ... 10 in all" in found["digits"]
    assert found["wine"].split()[-1] == "scikit-learn"
    assert "PROTOLEARN_DATA" in found["Other"]
    assert last.endswith("protolearn fit iris")


def test_folder(tmp_path, monkeypatch, capsys):
    with gzip.open(tmp_path / "my[red].csv.gz", "wt") as file:
        file.write("a,target\n1,[b]x\n2,y\n3,y\n")
    (tmp_path / "broken.csv.gz").write_bytes(b"no gzip")
    monkeypatch.setenv("PROTOLEARN_DATA", str(tmp_path))
    found, _ = lines(capsys)
    assert "[b]x (1), y (2)" in found["my[red]"]  # no markup
    assert found["my[red]"].split()[-1] == "my[red].csv.gz"
    assert "cannot be read" in found["broken"]
    assert "iris" in found  # the others are listed all the same
    assert str(tmp_path) in found["Other"]


def test_classes_are_cut():
    found = datasets.describe("digits")
    assert classes_of(found) == "0 (178), 1 (182), 2 (177), ... 10 in all"
    assert classes_of(datasets.describe("wdbc")) == "benign (357), malignant (212)"
