"""Loading by name: bundled sets, unknown names, unknown parts, listings."""

import dataclasses

import numpy as np
import pytest

from protolearn import datasets
from protolearn.datasets import describe, feature_names, load, names

DIGITS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
BUNDLED = {
    "digits": (64, dict(zip("0123456789", DIGITS, strict=True))),
    "iris": (4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "wdbc": (30, {"benign": 357, "malignant": 212}),
    "wine": (13, {"class_0": 59, "class_1": 71, "class_2": 48}),
}


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("PROTOLEARN_DATA", raising=False)


def counts(y):
    labels, numbers = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), numbers.tolist(), strict=True))


def test_public_names_are_importable():
    assert all(hasattr(datasets, name) for name in datasets.__all__)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_set(name):
    n_features, classes = BUNDLED[name]
    X, y = load(name)
    assert X.shape == (sum(classes.values()), n_features)
    assert X.dtype == np.float64
    assert y.dtype.kind == "U"
    assert counts(y) == classes
    assert len(feature_names(name)) == n_features


def test_labels_belong_to_their_rows():
    X, y = load("iris")
    petal_length = feature_names("iris").index("petal length (cm)")
    assert X[y == "setosa", petal_length].max() < X[y != "setosa", petal_length].min()
    X, y = load("wdbc")
    assert X[y == "malignant", 0].mean() > X[y == "benign", 0].mean()


@pytest.mark.parametrize("name", BUNDLED)
def test_description(name):
    n_features, classes = BUNDLED[name]
    description = describe(name)
    assert (description.name, description.n_features) == (name, n_features)
    assert description.n_rows == sum(classes.values())
    assert description.classes == classes
    assert description.parts == ()
    assert "scikit-learn" in description.origin
    with pytest.raises(dataclasses.FrozenInstanceError):
        description.n_rows = 0


def test_names_without_a_folder():
    assert names() == sorted(BUNDLED)


@pytest.mark.parametrize("part", ["train", "test", "dev", "half", None])
def test_a_part_that_does_not_exist(part):
    with pytest.raises(ValueError, match="'all', since the set has no customary split"):
        load("iris", part=part)


@pytest.mark.parametrize("reader", [load, describe, feature_names])
def test_unknown_name(reader):
    with pytest.raises(ValueError, match=r"Unknown data set 'irsi'. Did you mean 'iris'\?") as info:
        reader("irsi")
    for word in (*BUNDLED, "set the environment variable PROTOLEARN_DATA"):
        assert word in str(info.value)


def test_a_name_in_capitals_is_a_near_match():
    with pytest.raises(ValueError, match="Did you mean 'wdbc'"):
        load("WDBC")


@pytest.mark.parametrize("name", [None, 3, ["iris"]])
def test_a_name_that_is_no_string(name):
    with pytest.raises(ValueError, match="Unknown data set"):
        load(name)
