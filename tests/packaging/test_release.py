"""What a release says about itself is the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

import protolearn
import protolearn_papers

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAPERS = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def citation():
    """Give the fields of the first level."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML")
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def lower_bounds():
    """Give the oldest version of each requirement, of all extras, by its plain name."""
    extras = PROJECT["optional-dependencies"]
    listed = [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]
    found = (re.fullmatch(r"([\w-]+)(?:\[[\w,-]+\])?>=([\d.]+)", line) for line in listed)
    return {match[1].lower(): match[2] for match in found if match}


def version_of(text):
    """Give the numbers, without zeros at the end, which mean nothing."""
    return re.sub(r"(\.0)+$", "", text)


def test_one_version(citation):
    assert "version" in PROJECT["dynamic"]
    assert str(citation["version"]) == protolearn.__version__
    top = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    if ".dev" in protolearn.__version__:
        assert top == "Unreleased"
    else:
        assert re.split(r"[\s(,]", top)[0].strip("[]") == protolearn.__version__
        assert str(citation["date-released"]) in top


def test_the_second_distribution_has_the_same_version():
    """It imports internal modules, so another version would not fit."""
    assert protolearn_papers.__version__ == protolearn.__version__
    assert f"protolearn=={protolearn.__version__}" in PAPERS["dependencies"]
    for field in ("requires-python", "license", "authors", "dynamic"):
        assert PAPERS[field] == PROJECT[field]
    assert (ROOT / "papers" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_only_its_own_extra_names_the_second_distribution():
    """It is installed from a folder in a clone, where no index has it."""
    extras = PROJECT["optional-dependencies"]
    assert [name for name, lines in extras.items() if "protolearn-papers" in lines] == ["papers"]
    assert not any("papers" in line for name in extras if name != "papers" for line in extras[name])


def test_version_is_semantic():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|(a|b|rc)\d+)?", protolearn.__version__)


def test_citation_is_complete(citation):
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"message", "title", "authors", "version", "license"}
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_the_oldest_versions_are_those_that_are_promised():
    lines = (ROOT / "tests" / "oldest.txt").read_text().split()
    pinned = dict(line.lower().split("==") for line in lines)
    promised = lower_bounds()
    for name in (line.partition(">=")[0] for line in PROJECT["dependencies"]):
        assert name in pinned, name
    for name, version in pinned.items():
        assert version_of(version).startswith(version_of(promised[name])), name


def test_every_python_that_is_promised_is_tested():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    named = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    tested = re.search(r"^PYTHONS \?= (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert named[0] == oldest
    assert set(named) <= set(tested.split())


def test_py_typed_is_there():
    for package in (protolearn, protolearn_papers):
        assert (Path(package.__file__).parent / "py.typed").is_file()
