"""Sets that are downloaded: their form, their sizes, and what is said if there is no network."""

import os
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets

from given_profile import in_all
from protolearn.datasets import describe, fetch, load
from protolearn.datasets._openml import IDS, word_counts
from protolearn.datasets._sizes import SIZES

THEIR_GLASS = {
    "build wind float": 70,
    "vehic wind float": 17,
    "tableware": 9,
    "build wind non-float": 76,
    "headlamps": 29,
    "containers": 13,
}
FOLDER = Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent")


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("PROTOLEARN_DATA", raising=False)


@pytest.fixture
def given(monkeypatch, no_folder):
    """Give a function that says what OpenML has, by number of the set; and the calls."""
    sets, calls = {}, []

    def fetch_openml(*, data_id, return_X_y, as_frame, **settings):
        assert return_X_y
        assert not as_frame
        calls.append(data_id)
        if data_id not in sets:
            raise URLError("no network")
        return sets[data_id]

    def put(data_id, n_features, *parts):
        labels = [np.repeat(list(part), list(part.values())) for part in parts]
        rng = np.random.RandomState(0)
        y = np.concatenate([rng.permutation(part) for part in labels]).astype(object)
        rows, columns = np.arange(len(y)) % 200, np.arange(n_features) % 50
        X = np.add.outer(rows.astype(np.uint8), columns.astype(np.uint8))
        sets[data_id] = X, y
        return X, y

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    put.calls = calls
    return put


def counts(y):
    return dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True))


def test_a_bundled_set_needs_no_network(given):
    X, y = fetch("iris")
    np.testing.assert_array_equal(X, load("iris")[0])
    np.testing.assert_array_equal(y, load("iris")[1])
    assert given.calls == []


def test_a_set_of_the_folder_needs_no_network(given, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOLEARN_DATA", str(tmp_path))
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "sonar.npz", X_train=X[:2], y_train=[0, 1], X_test=X[2:], y_test=[1])
    np.testing.assert_array_equal(fetch("sonar", "test")[0], X[2:])
    assert given.calls == []


@pytest.mark.parametrize("name", [name for name in IDS if name not in ("pima", "glass2")])
def test_a_download_is_as_it_came(given, name):
    size = SIZES[name]
    X, y = given(IDS[name][0], size.n_features, *size.parts.values())
    got, labels = fetch(name)
    np.testing.assert_array_equal(got, X)
    assert labels.tolist() == y.tolist()
    assert labels.dtype.kind == "U"
    assert got.dtype == {"usps": np.float32, "mnist": np.uint8}.get(name, np.float64)


@pytest.mark.parametrize("name", in_all("letter", "usps", "pendigits", thorough=["mnist"]))
def test_parts(given, name):
    size = SIZES[name]
    X, _ = given(IDS[name][0], size.n_features, *size.parts.values())
    n_train = sum(size.parts["train"].values())
    for part, rows in (("train", slice(None, n_train)), ("test", slice(n_train, None))):
        got, labels = fetch(name, part)
        np.testing.assert_array_equal(got, X[rows])
        assert counts(labels) == size.parts[part]
    with pytest.raises(ValueError, match=r"'dev' of .* must be one of: 'all', 'train', 'test'"):
        fetch(name, "dev")


def test_the_customary_split_of_usps(given):
    size = SIZES["usps"]
    theirs = [
        {str(int(digit) + 1): rows for digit, rows in part.items()} for part in size.parts.values()
    ]
    _, y = given(41082, 256, *theirs)
    train, test = fetch("usps", "train")[1], fetch("usps", "test")[1]
    assert (len(train), len(test)) == (7291, 2007)
    assert train.astype(int).tolist() == [int(label) - 1 for label in y[:7291]]
    assert counts(test) == size.parts["test"]


def test_rows_in_another_order_have_no_parts(given):
    size = SIZES["letter"]
    test, train = size.parts["test"], size.parts["train"]
    given(6, 16, test, train)
    assert len(fetch("letter")[1]) == 20000
    with pytest.raises(FileNotFoundError, match=r"order of the customary split.*part='all'"):
        fetch("letter", "train")


def test_two_kinds_of_window_glass(given):
    X, y = given(41, 9, THEIR_GLASS)
    got, labels = fetch("glass2")
    kept = np.isin(y, ["build wind float", "vehic wind float", "build wind non-float"])
    np.testing.assert_array_equal(got, X[kept])
    assert counts(labels) == {"float": 87, "non_float": 76}
    ours = np.where(y[kept] == "build wind non-float", "non_float", "float")
    assert labels.tolist() == ours.tolist()


def test_other_names_of_classes(given):
    given(37, 8, {"tested_positive": 268, "tested_negative": 500})
    assert counts(fetch("pima")[1]) == {"0": 500, "1": 268}
    assert counts(fetch("diabetes")[1]) == {"tested_negative": 500, "tested_positive": 268}


def test_the_version_of_the_right_size_is_taken(given):
    train, test = (dict(part) for part in SIZES["satimage"].parts.values())
    codes = {"red soil": "1.0", "cotton crop": "2.0", "grey soil": "3.0", "damp grey soil": "4.0"}
    codes |= {"vegetation stubble": "5.0", "very damp grey soil": "7.0"}
    theirs = [{codes[soil]: rows for soil, rows in part.items()} for part in (train, test)]
    given(182, 36, {**theirs[0], "1.0": 1067}, theirs[1])
    given(294, 36, *theirs)
    assert counts(fetch("satimage", "test")[1]) == test
    assert given.calls == [182, 294]


@pytest.mark.parametrize(
    ("n_features", "classes", "message"),
    [
        (12, {"absent": 150, "present": 120}, "12 features instead of 13"),
        (13, {"absent": 149, "present": 120}, "149.*instead of.*150"),
        (13, {"absent": 150, "present": 119, "perhaps": 1}, "perhaps"),
    ],
)
def test_another_set_is_refused(given, n_features, classes, message):
    given(53, n_features, classes)
    with pytest.raises(FileNotFoundError, match=message):
        fetch("heart")


@pytest.mark.parametrize("name", ["heart", "usps"])
def test_no_network(given, name):
    with pytest.raises(FileNotFoundError) as info:
        fetch(name)
    told = str(info.value)
    for word in (repr(name), "neither in a folder", "no network", "PROTOLEARN_DATA"):
        assert word in told
    assert f"{name}.csv.gz or {name}.npz" in told


def test_unknown_names_and_parts(given):
    with pytest.raises(ValueError, match=r"Unknown data set 'hart'"):
        fetch("hart")
    with pytest.raises(ValueError, match="must be one of: 'all'"):
        fetch("heart", "train")
    assert given.calls == []


MESSAGES = {
    "train": {
        "b.group/10": "Subject: Space\n\nspace, station; xyzzyxyzzyxyzzyxyzzyx",
        "b.group/9": "SPACE \xe9toile's station a 4",
        "a.group/3": "space space\nstation",
        "a.group/1": "only here",
    },
    "test": {"a.group/7": "station in space", "b.group/8": "subject"},
}


def test_words_of_messages(monkeypatch):
    def fetch_20newsgroups(subset, shuffle):
        groups = ["a.group", "b.group"]
        paths = list(MESSAGES[subset])
        target = [groups.index(path.split("/")[0]) for path in paths]
        data = list(MESSAGES[subset].values())
        names = [f"/home/{path}" for path in paths]
        return SimpleNamespace(data=data, target=target, target_names=groups, filenames=names)

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch_20newsgroups)
    X, y = word_counts()
    assert sp.issparse(X)
    assert X.format == "csr"
    assert X.dtype == np.int32
    assert y.tolist() == ["a.group", "a.group", "b.group", "b.group", "a.group", "b.group"]
    # The words of three training messages, in order: space and station.
    assert X.toarray().tolist() == [[0, 0], [2, 1], [1, 1], [2, 1], [1, 1], [0, 0]]


@pytest.mark.skipif(
    not FOLDER.is_dir(), reason="set PROTOLEARN_DATA to the folder of benchmark data"
)
@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_files(name):
    size, described = SIZES[name], describe(name)
    assert described.n_features == size.n_features
    assert described.parts == (() if "all" in size.parts else ("train", "test"))
    for part, classes in size.parts.items():
        if name not in ("20ng", "mnist"):
            assert counts(load(name, part)[1]) == classes
    total = {label: sum(part[label] for part in size.parts.values()) for label in described.classes}
    assert described.classes == total
