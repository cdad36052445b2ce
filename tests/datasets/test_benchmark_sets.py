"""The benchmark sets themselves, against the sizes and class counts of their sources."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from protolearn.datasets import describe, feature_names, load, names

pytestmark = pytest.mark.skipif(
    not Path(os.environ.get("PROTOLEARN_DATA") or "/nonexistent").is_dir(),
    reason="set PROTOLEARN_DATA to the folder of benchmark data",
)

SEGMENTS = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")
SIMPLE = {
    "diabetes": (8, {"tested_negative": 500, "tested_positive": 268}),
    "pima": (8, {"0": 500, "1": 268}),
    "glass": (
        9,
        {
            "build wind float": 70,
            "build wind non-float": 76,
            "containers": 13,
            "headlamps": 29,
            "tableware": 9,
            "vehic wind float": 17,
        },
    ),
    "glass2": (9, {"float": 87, "non_float": 76}),
    "heart": (13, {"absent": 150, "present": 120}),
    "iris": (4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "ionosphere": (34, {"b": 126, "g": 225}),
    "sonar": (60, {"Mine": 111, "Rock": 97}),
    "vehicle": (18, {"bus": 218, "opel": 212, "saab": 217, "van": 199}),
    "wdbc": (30, {"benign": 357, "malignant": 212}),
    "wine": (13, {"class_0": 59, "class_1": 71, "class_2": 48}),
    "segment": (19, dict.fromkeys(SEGMENTS, 330)),
}
LETTERS = [
    789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
    783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734,
]  # fmt: skip
SOILS = {
    "cotton crop": 703,
    "damp grey soil": 626,
    "grey soil": 1358,
    "red soil": 1533,
    "vegetation stubble": 707,
    "very damp grey soil": 1508,
}
SPLIT_CSV = {
    "letter": (16, 16000, 4000, LETTERS),
    "satimage": (36, 4435, 2000, list(SOILS.values())),
    "pendigits": (16, 7494, 3498, [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055]),
    "optdigits": (64, 3823, 1797, [554, 571, 557, 572, 568, 558, 558, 566, 554, 562]),
}
NEWS_TRAIN = [
    480, 584, 591, 590, 578, 593, 585, 594, 598, 597,
    600, 595, 591, 594, 593, 599, 546, 564, 465, 377,
]  # fmt: skip
NEWS_TEST = [
    319, 389, 394, 392, 385, 395, 390, 396, 398, 397,
    399, 396, 393, 396, 394, 398, 364, 376, 310, 251,
]  # fmt: skip
ARCHIVES = {
    "usps": (
        256,
        {
            "train": [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644],
            "test": [359, 264, 198, 166, 200, 160, 170, 147, 166, 177],
        },
    ),
    "mnist": (
        784,
        {
            "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
            "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
        },
    ),
    "20ng": (33833, {"train": NEWS_TRAIN, "test": NEWS_TEST}),
    "semeval2013": (
        7670,
        {
            "train": [1458, 4586, 3640],
            "dev": [340, 739, 575],
            "test": [559, 1513, 1475],
        },
    ),
}
DTYPES = {"usps": np.float32, "mnist": np.uint8, "20ng": np.int32, "semeval2013": np.int32}


def counts(y):
    return np.unique(y, return_counts=True)[1].tolist()


def test_every_set_is_listed():
    assert {*SIMPLE, *SPLIT_CSV, *ARCHIVES, "digits"} <= set(names())


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_set(name):
    n_features, classes = SIMPLE[name]
    X, y = load(name)
    assert X.shape == (sum(classes.values()), n_features)
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert dict(zip(np.unique(y).tolist(), counts(y), strict=True)) == classes
    description = describe(name)
    assert (description.n_rows, description.n_features) == X.shape
    assert description.classes == classes
    with pytest.raises(ValueError, match="no customary split"):
        load(name, part="train")


@pytest.mark.parametrize("name", SPLIT_CSV)
def test_set_with_a_customary_split(name):
    n_features, n_train, n_test, class_counts = SPLIT_CSV[name]
    X, y = load(name)
    assert X.shape == (n_train + n_test, n_features)
    assert counts(y) == class_counts
    assert list(describe(name).classes.values()) == class_counts
    X_test, y_test = load(name, part="test")
    assert len(y_test) == n_test
    np.testing.assert_array_equal(X_test, X[n_train:])
    np.testing.assert_array_equal(y_test, y[n_train:])
    with pytest.raises(ValueError, match="'all', 'train', 'test'"):
        load(name, part="dev")


def test_label_names():
    assert describe("satimage").classes == SOILS
    assert "".join(describe("letter").classes) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert list(describe("semeval2013").classes) == ["negative", "neutral", "positive"]
    assert describe("20ng").classes["sci.space"] == 593 + 394


def test_training_part():
    X, y = load("satimage", part="train")
    assert X.shape == (4435, 36)
    assert len(y) == 4435


def test_digits_are_the_test_part_of_optdigits():
    X, y = load("digits")
    X_test, y_test = load("optdigits", part="test")
    np.testing.assert_array_equal(X, X_test)
    np.testing.assert_array_equal(y, y_test)


@pytest.mark.parametrize("name", ARCHIVES)
def test_archive(name):
    n_features, parts = ARCHIVES[name]
    part = "test"
    X, y = load(name, part=part)
    assert X.shape == (sum(parts[part]), n_features)
    assert X.dtype == DTYPES[name]
    assert sp.issparse(X) == (name in ("20ng", "semeval2013"))
    assert y.dtype.kind == "U"
    assert counts(y) == parts[part]
    assert len(feature_names(name)) == n_features


@pytest.mark.parametrize("name", ARCHIVES)
def test_description_of_an_archive(name):
    n_features, parts = ARCHIVES[name]
    description = describe(name)
    assert description.parts == tuple(parts)
    assert description.n_features == n_features
    assert list(description.classes.values()) == np.sum(list(parts.values()), axis=0).tolist()


def test_all_parts_are_stacked_in_order():
    X, y = load("semeval2013")
    assert X.shape == (9684 + 1654 + 3547, 7670)
    X_dev, y_dev = load("semeval2013", part="dev")
    assert abs(X[9684 : 9684 + 1654] - X_dev).sum() == 0
    np.testing.assert_array_equal(y[9684 : 9684 + 1654], y_dev)
    assert load("usps")[0].shape == (9298, 256)


def test_training_parts_of_archives():
    for name in ("usps", "20ng"):
        y = load(name, part="train")[1]
        assert counts(y) == ARCHIVES[name][1]["train"]


def test_feature_names():
    assert feature_names("glass") == ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    assert feature_names("usps")[17] == "pixel_1_1"
    assert "space" in feature_names("20ng")
