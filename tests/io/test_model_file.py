"""The file around a model: written at once, whole, the same each time; and files that are none."""

import json
import os
import pickle
import stat
import subprocess
import sys
import tracemalloc
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

import protolearn
from protolearn import GLVQ, MeanOfClass
from protolearn.io import ModelFileError, describe, file, saving, skops_payload, trust

NOTES = {
    "target": "Größe",
    "rows": 3,
    "share": 0.5,
    "ok": True,
    "none": None,
    "list": [1, {"a": []}],
}


@pytest.fixture
def path(tmp_path):
    """Give the file of a new model."""
    path = tmp_path / "model.protolearn"
    protolearn.save(GLVQ(), path, notes=NOTES)
    return path


def no_model(path, match=None):
    """Assert that a file is refused in one clear sentence, and give it."""
    with pytest.raises(ModelFileError, match=match) as caught:
        protolearn.load(path)
    told = str(caught.value)
    assert os.path.basename(path) in told
    assert "\n" not in told
    assert len(told) < 3000
    with pytest.raises(ModelFileError):
        describe(path)
    return told


@pytest.mark.parametrize(
    "name", ["model", "model.pkl", ".hidden", "a b.c.d", "größe.skops", "x/y/z"]
)
def test_exactly_that_path_is_written(name, tmp_path):
    target = tmp_path / name
    protolearn.save(GLVQ(), str(target))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [target]
    assert type(protolearn.load(target)) is GLVQ


def test_rights_are_those_of_any_new_file(path, tmp_path):
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_failure_leaves_the_old_file_alone(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        protolearn.save(MeanOfClass(), path)
    with pytest.raises(ModelFileError):
        protolearn.save(GLVQ(callback=fail), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def fail(*args):
    """Stand for a full disk."""
    raise OSError("disk is full")


def test_saving_over_a_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        protolearn.save(GLVQ(), tmp_path)


@pytest.mark.parametrize("thing", [GLVQ, "GLVQ", None, {"a": 1}, np.eye(2)], ids=repr)
def test_only_models_are_saved(thing, tmp_path):
    with pytest.raises(TypeError, match="is not a model"):
        protolearn.save(thing, tmp_path / "model")


def test_description(path):
    about = describe(path)
    assert about.model == "GLVQ()"
    assert about.notes == NOTES
    assert about.versions["protolearn"] == protolearn.__version__
    assert {"scikit-learn", "numpy", "scipy", "skops", "python"} <= about.versions.keys()
    with ZipFile(path) as archive:
        assert archive.namelist() == [file.HEADER, file.PAYLOAD]
        assert about.checksum == file.checksum(archive.read(file.PAYLOAD))
        header = json.loads(archive.read(file.HEADER))
    assert (header["format"], header["version"]) == ("protolearn model", 1)


def test_notes_with_half_a_character_come_back(tmp_path):
    protolearn.save(GLVQ(), tmp_path / "model", notes={"a": "\ud800"})
    assert describe(tmp_path / "model").notes == {"a": "\ud800"}


@pytest.mark.parametrize(
    "notes",
    [{"a": np.nan}, {1: "a"}, {"a": (1, 2)}, {"a": np.eye(2)}, {"a": {1, 2}}, "text", 5, [1], [[]]],
    ids=repr,
)
def test_notes_that_would_not_come_back(notes, tmp_path):
    with pytest.raises(ValueError, match=r"notes=.* must be a dict"):
        protolearn.save(GLVQ(), tmp_path / "model", notes=notes)


def test_same_model_same_bytes_in_every_process(tmp_path):
    """Texts in sets have another order in every process."""
    exec(MAKE, {"path": tmp_path / "here"})
    there = tmp_path / "there"
    code = f"path = {str(there)!r}\n{MAKE}"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "here").read_bytes() == there.read_bytes()
    assert protolearn.load(there).words >= {"ape", "bear", ("elk", 1.5), 3.0, "fox"}


MAKE = """
import numpy as np
import protolearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X = np.random.RandomState(0).randn(30, 3)
model = make_pipeline(StandardScaler(), protolearn.MeanOfClass())
model.fit(X, np.where(X[:, 0] > 0, "a", "b"))
model.state = np.random.RandomState(0)
model.words = {"ape", "bear", "cat", "dog", ("elk", 1.5), np.float64(3), np.str_("fox"), "gnu"}
protolearn.save(model, path)
"""


def test_every_truncation_is_found(path):
    whole = path.read_bytes()
    for size in [*range(60), *range(60, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:size])
        told = no_model(path, "empty" if not size else "cut off|not a model")
        assert "save" in told


def test_every_change_is_found(path):
    whole = path.read_bytes()
    for place in [*range(60), *range(60, len(whole), 41), *range(len(whole) - 90, len(whole))]:
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        no_model(path)


def test_something_behind_the_end_is_found(path):
    path.write_bytes(path.read_bytes() + b"\n")
    no_model(path, "damaged")


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(60)
FOREIGN = {
    "empty": (b"", "it is empty"),
    "table": (b"a,b\n1,2\n" * 20, "looks like text"),
    "picture": (PNG, r"begins with b'\\x89PNG"),
    "pickle": (pickle.dumps(GLVQ()), "looks like a pickle"),
    "skops": (skops.io.dumps(LogisticRegression()), r"skops\.io\.load"),
    "zeros": (bytes(1000), "something else"),
    "half a zip": (b"PK\x03\x04", "cut off"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_files(what, tmp_path):
    content, match = FOREIGN[what]
    target = tmp_path / what
    target.write_bytes(content)
    assert "Give a file that protolearn.save has written" in no_model(target, match)


def test_another_zip(tmp_path):
    with ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing here " * 9)
    no_model(tmp_path / "other.zip", "zip of something else")


def test_a_folder(tmp_path):
    no_model(tmp_path, "is a folder; give a file")


@pytest.mark.parametrize("read", [protolearn.load, describe])
def test_a_missing_file(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"no file 'none' in '{tmp_path}'.*save"):
        read("none")


def test_a_newer_format(path, monkeypatch):
    monkeypatch.setattr(file, "VERSION", 2)
    protolearn.save(GLVQ(), path)
    monkeypatch.undo()
    no_model(path, "has format 2.*Install a newer protolearn")


HEADERS = [
    b"",
    b"\xff\xfe",
    b"[]",
    b"null",
    b"{}",
    b"[" * 100_000,
    b'{"format": "protolearn model", "version": 1}',
    {"format": "another"},
    {"version": 0},
    {"version": "1"},
    {"version": True},
    {"version": None},
    {"versions": []},
    {"versions": {"protolearn": 1}},
    {"notes": [1]},
    {"notes": None},
    {"model": 5},
    {"checksum": 5},
    {"checksum": "sha256:0"},
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: repr(header)[:40])
def test_descriptions_that_cannot_be(header, path):
    with ZipFile(path) as archive:
        text, payload = archive.read(file.HEADER), archive.read(file.PAYLOAD)
    if isinstance(header, dict):
        header = json.dumps({**json.loads(text), **header}).encode()
    comment = file.SEAL + b"0" * file.DIGITS
    members = {file.HEADER: header, file.PAYLOAD: payload}
    whole = file.zip_members(members, comment).read()[: -file.DIGITS]
    path.write_bytes(whole + file._digest(whole))
    no_model(path, "damaged")


@pytest.mark.parametrize(("name", "other"), [("protolearn", "0.0.3"), ("scikit-learn", "1.2.0")])
def test_another_version_is_told(name, other, path, monkeypatch):
    versions = {**saving._versions(), name: other}
    monkeypatch.setattr(saving, "_versions", lambda: versions)
    protolearn.save(GLVQ(), path)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=f"saved with {name} {other}"):
        protolearn.load(path)


@pytest.mark.parametrize("trusted", [5, [5], [None]], ids=repr)
def test_what_is_trusted_is_a_list_of_types(trusted, path):
    with pytest.raises(TypeError, match="must be a list of types by name"):
        protolearn.load(path, trusted=trusted)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_names_in_a_file_do_not_depend_on_modules(tmp_path, monkeypatch):
    """A file is loaded after the module of its classes was renamed."""
    path = tmp_path / "model"
    X = np.random.RandomState(0).randn(20, 2)
    model = GLVQ(max_iter=3).fit(X, X[:, 0] > 0.0)
    protolearn.save(model, path)
    payload = file.unpack(path)[1]
    assert b'"__module__":"protolearn"' in payload
    assert b"protolearn." not in payload
    old, new = "protolearn.classifiers.lvq.GLVQ", "protolearn.moved.GLVQ"
    for name in ("known_types", "file_names"):
        names = {
            new if name == old else name: kept for name, kept in getattr(trust, name)().items()
        }
        monkeypatch.setattr(skops_payload, name, lambda names=names: names)
    assert new in skops_payload.known_types()
    monkeypatch.setitem(sys.modules, "protolearn.moved", sys.modules[GLVQ.__module__])
    monkeypatch.delitem(sys.modules, GLVQ.__module__)
    assert (protolearn.load(path).predict(X) == model.predict(X)).all()


def test_loading_takes_twice_the_file(tmp_path):
    """Once for the bytes, once for the arrays."""
    path = tmp_path / "large"
    X, y = np.random.RandomState(0).uniform(size=(2500, 1000)), np.arange(2500) % 2
    model = MeanOfClass().fit(X, y)
    model.patterns_ = X  # so that the file is large
    protolearn.save(model, path)
    protolearn.load(path)  # imports what it needs
    tracemalloc.start()
    protolearn.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 20e6
    assert peak <= 2.1 * path.stat().st_size
