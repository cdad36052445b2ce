"""Files of the data folder: both formats, parts, and what is said about malformed ones."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from protolearn.datasets import describe, feature_names, load, names

GOOD = "a,b,target\n1,2,x\n3,4.5,y\n5,-6e1,x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOLEARN_DATA", str(tmp_path))
    return tmp_path


def write_csv(folder, name, text):
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))


def csr_parts(part, X):
    X = sp.csr_array(X)
    fields = ("data", "indices", "indptr", "shape")
    return {f"X_{part}_{field}": np.asarray(getattr(X, field)) for field in fields}


def test_csv(folder):
    write_csv(folder, "toy", GOOD)
    X, y = load("toy")
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, [[1, 2], [3, 4.5], [5, -60]])
    assert y.tolist() == ["x", "y", "x"]
    assert feature_names("toy") == ["a", "b"]
    assert describe("toy").classes == {"x": 2, "y": 1}
    assert describe("toy").origin == str(folder / "toy.csv.gz")


def test_csv_details(folder):
    write_csv(folder, "toy", '\ufeff"a, b",target\r\nnan,"x ""1"""\r\n\r\n')
    X, y = load("toy")
    assert np.isnan(X).all()
    assert X.shape == (1, 1)
    assert y.tolist() == ['x "1"']
    assert feature_names("toy") == ["a, b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("target\nx\n", "header: expected the names"),
        ("a,b,class\n1,2,x\n", "'target' as the last column"),
        ("a,b,target\n", "no rows"),
        ("a,b,target\n1,2,x\n1,x\n", "2 cells in row 2 .line 3., expected 3"),
        ("a,b,target\n1,2,x\n1,2,3,x\n", "4 cells in row 2 .line 3., expected 3"),
        ("a,b,target\n1,2,x\n3,four,y\n", "'b' is to hold numbers, but row 2 .* 'four'"),
        ("a,b,target\n1,2,\n", "row 1, column 'target': the class is missing"),
    ],
)
def test_malformed_csv(folder, text, message):
    write_csv(folder, "bad", text)
    with pytest.raises(ValueError, match=message) as info:
        load("bad")
    assert "bad.csv.gz" in str(info.value)


@pytest.mark.parametrize(
    "content",
    [gzip.compress(GOOD.encode())[:-12], gzip.compress(b"a,target\n1,\xff")],
    ids=["cut short", "not text"],
)
def test_unreadable_csv(folder, content):
    (folder / "bad.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.csv\.gz cannot be read as a data set"):
        load("bad")


def test_a_customary_split_needs_all_its_rows(folder):
    write_csv(folder, "letter", GOOD)
    assert len(load("letter")[1]) == 3
    with pytest.raises(ValueError, match=r"has 3 rows, .* 16000 training rows followed by 4000"):
        load("letter", part="train")


def test_dense_archive(folder):
    X = np.arange(10, dtype=np.float32).reshape(5, 2)
    np.savez(
        folder / "toy.npz", X_train=X[:3], y_train=np.uint8([0, 9, 0]), X_test=X[3:], y_test=[1, 0]
    )
    for part, rows, labels in (
        ("all", slice(None), ["0", "9", "0", "1", "0"]),
        ("train", slice(3), ["0", "9", "0"]),
        ("test", slice(3, None), ["1", "0"]),
    ):
        loaded, y = load("toy", part=part)
        np.testing.assert_array_equal(loaded, X[rows])
        assert loaded.dtype == np.float32
        assert y.tolist() == labels
    assert feature_names("toy") == ["x0", "x1"]
    assert describe("toy").classes == {"0": 3, "1": 1, "9": 1}
    assert describe("toy").parts == ("train", "test")
    with pytest.raises(ValueError, match="part='dev' of 'toy' must be one of: 'all', 'train', 'te"):
        load("toy", part="dev")


def test_sparse_archive(folder):
    rng = np.random.RandomState(0)
    blocks = {part: rng.randint(3, size=(4, 3)) for part in ("test", "dev", "train")}
    arrays = {"target_names": np.array([b"no", b"yes"]), "vocabulary": np.array([b"u", b"v", b"w"])}
    for part, block in blocks.items():
        arrays |= csr_parts(part, block) | {f"y_{part}": np.array([0, 1, 1, 0])}
    np.savez_compressed(folder / "words.npz", **arrays)
    X, y = load("words")
    assert sp.issparse(X)
    assert X.format == "csr"
    stacked = np.vstack([blocks["train"], blocks["dev"], blocks["test"]])
    np.testing.assert_array_equal(X.toarray(), stacked)
    assert y.tolist() == ["no", "yes", "yes", "no"] * 3
    np.testing.assert_array_equal(load("words", part="dev")[0].toarray(), blocks["dev"])
    assert feature_names("words") == ["u", "v", "w"]
    assert describe("words").parts == ("train", "dev", "test")
    assert describe("words").n_features == 3


X, Y = np.zeros((2, 3)), np.array([0, 1])
OUT_OF_RANGE = csr_parts("train", np.eye(2)) | {"X_train_indices": np.array([0, 7])}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X, "y": Y}, "neither 'X_train' nor 'X_train_data'"),
        ({"X_train": X}, "no array 'y_train'"),
        ({"X_train": X, "y_train": Y[:1]}, "shape .* but 1 labels"),
        ({"X_train": X, "y_train": Y[:, None]}, "'y_train' has 2 dimensions"),
        ({"X_train": Y, "y_train": Y}, "'X_train' has 1 dimensions"),
        ({"X_train": X, "y_train": Y, "X_test": X[:, :2], "y_test": Y}, "part 'test' has shape"),
        ({"X_train": X, "y_train": Y, "target_names": np.array([b"a"])}, "must index the 1"),
        ({"X_train": X, "y_train": Y - 1, "target_names": np.array([b"a", b"b"])}, "must index"),
        (OUT_OF_RANGE | {"y_train": Y}, "no CSR matrix"),
        ({"X_train": X, "y_train": np.array(["a", None], dtype=object)}, "cannot be read"),
    ],
)
def test_malformed_archive(folder, arrays, message):
    np.savez(folder / "bad.npz", **arrays)
    with pytest.raises(ValueError, match=message) as info:
        load("bad")
    assert "bad.npz" in str(info.value)


class Bomb:
    """Unpickling this runs code."""

    def __reduce__(self):
        return (pytest.fail, ("a data file ran code",))


def test_loading_never_runs_code(folder):
    (folder / "bomb.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="not a NumPy archive"):
        load("bomb")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(folder / "archived.npz", "w") as archive:
        archive.writestr("X_train.npy", buffer.getvalue())
    with pytest.raises(ValueError, match="'X_train' cannot be read"):
        load("archived")


def test_names_of_the_folder(folder):
    write_csv(folder, "toy", GOOD)
    write_csv(folder, "iris", GOOD)
    (folder / "README.md").write_text("no data")
    (folder / ".hidden.npz").write_bytes(b"")
    (folder / "sub.npz").mkdir()
    assert names() == ["digits", "iris", "toy", "wdbc", "wine"]


def test_a_bundled_set_is_never_replaced(folder):
    write_csv(folder, "iris", "broken")
    assert load("iris")[0].shape == (150, 4)


def test_csv_goes_before_npz(folder):
    write_csv(folder, "toy", GOOD)
    np.savez(folder / "toy.npz", X_train=X, y_train=Y)
    assert load("toy")[1].tolist() == ["x", "y", "x"]


def test_a_name_is_not_a_path(folder):
    (folder / "inner").mkdir()
    write_csv(folder, "secret", GOOD)
    for name in ("inner/../secret", "./secret", "secret.csv.gz", str(folder / "secret")):
        with pytest.raises(ValueError, match="Unknown data set"):
            load(name)


def test_the_folder_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOLEARN_DATA", str(tmp_path / "missing"))
    assert "iris" in names()
    assert len(load("iris")[1]) == 150
    with pytest.raises(ValueError, match="which is not a folder"):
        load("letter")


def test_the_folder_lacks_the_set(folder):
    with pytest.raises(ValueError, match=r"put NAME.csv.gz or NAME.npz there"):
        load("letter")
