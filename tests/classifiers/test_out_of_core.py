"""Data that do not fit into memory: the same models as from data in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from given_parts import factory, overlapping, starts
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LVQ1,
    MCE,
    MRSLVQ,
    RSLVQ,
    PrototypeClassifier,
)
from protolearn._arrays import MappedRows
from protolearn.blocks import Block, MemoryBlocks, rows_with_moments
from protolearn.classifiers import rows as training_rows
from protolearn.distances.axes import within_covariance
from protolearn.solvers import SGD, Adam, Momentum

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ENDS = 50, 50, 53, 120
MODELS = {
    "GLVQ": GLVQ,
    "MCE": MCE,
    "RSLVQ": RSLVQ,
    "GRLVQ": GRLVQ,
    "GMLVQ": GMLVQ,
    "rank 2": lambda **kw: GMLVQ(rank=2, **kw),
    "local": LGMLVQ,
    "MRSLVQ": MRSLVQ,
    "mahalanobis": lambda **kw: PrototypeClassifier(distance="mahalanobis", **kw),
    "kernel": lambda **kw: PrototypeClassifier(distance="kernel", **kw),
}


def same(found, expected, atol=1e-10):
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=0, atol=atol)
    np.testing.assert_allclose(
        found.rule_.codebook.metric, expected.rule_.codebook.metric, rtol=0, atol=atol
    )
    np.testing.assert_allclose(found.loss_curve_, expected.loss_curve_, rtol=1e-9)
    assert found.scale_ == pytest.approx(expected.scale_, rel=1e-12)


def batch(make=GLVQ, **settings):
    return make(**{"solver": "lbfgs", "max_iter": 8, "random_state": 0} | settings)


@pytest.mark.parametrize("name", MODELS)
def test_blocks_give_what_memory_gives(name):
    X, y = overlapping()
    W = starts(X, y)
    settings = {"init": W, "prototypes_per_class": 2}
    expected = batch(MODELS[name], **settings).fit(X, y)
    same(batch(MODELS[name], **settings).fit(factory(X, y, *ENDS)), expected)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 0.5, "birch": 3.0}])
def test_weights(class_weight):
    X, y = overlapping()
    weight = np.random.RandomState(1).randint(0, 3, len(y)).astype(float)
    weight[:60] = 0.0  # a block without a row that counts
    expected = batch(class_weight=class_weight).fit(X, y, sample_weight=weight)
    found = batch(class_weight=class_weight).fit(factory(X, y, *ENDS, weight=weight))
    same(found, expected)


def test_missing_values():
    X, y = overlapping()
    X[np.random.RandomState(2).random_sample(X.shape) < 0.2] = np.nan
    seen = ~np.isnan(X).all(axis=1)
    X, y = X[seen], y[seen]
    for make in (GLVQ, GRLVQ):
        same(batch(make).fit(factory(X, y, *ENDS)), batch(make).fit(X, y))


def test_sparse_blocks():
    X, y = overlapping()
    X[np.abs(X) < 0.8] = 0.0
    rows = sparse.csr_array(X)
    for make in (GLVQ, GMLVQ):
        same(batch(make).fit(factory(rows, y, *ENDS)), batch(make).fit(rows, y))
    with pytest.raises(ValueError, match="Some parts of X are sparse"):
        batch().fit(lambda: iter([(X[:9], y[:9]), (rows[9:], y[9:])]))


def test_frames_have_names():
    X, y = overlapping()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = batch().fit(factory(frame, y, *ENDS))
    assert model.feature_names_in_.tolist() == list("abcd")
    same(model, batch().fit(X, y))
    other = frame.rename(columns={"d": "e"})
    with pytest.raises(ValueError, match=r"In block 1: its columns are .*'e'.*expected .*'d'"):
        batch().fit(lambda: iter([(frame[:50], y[:50]), (other[50:], y[50:])]))


def test_clusters_of_a_sample_of_known_size():
    X, y = overlapping(4000)
    expected = batch(prototypes_per_class=3).fit(X, y)
    found = batch(prototypes_per_class=3).fit(factory(X, y, 1000, 2500))
    assert found.loss_curve_[-1] == pytest.approx(expected.loss_curve_[-1], rel=0.05)
    again = batch(prototypes_per_class=3).fit(factory(X, y, 1000, 2500))
    np.testing.assert_array_equal(again.prototypes_, found.prototypes_)


def test_a_class_that_only_the_last_block_has():
    X, y = overlapping()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    same(batch().fit(factory(X, y, 80, 150, len(y) - 3)), batch().fit(X, y))


@pytest.mark.parametrize("solver", [SGD, Adam, Momentum])
@pytest.mark.parametrize("schedule", ["constant", "inverse_time"])
def test_one_pass_of_blocks_is_what_a_stream_learns(solver, schedule):
    X, y = overlapping()
    make = factory(X, y, *ENDS)
    settings = {"init": starts(X, y, 1), "scale": 2.0, "max_iter": 1}
    model = GLVQ(solver=solver(schedule=schedule, shuffle=False), **settings)
    whole, stream = model.fit(make).prototypes_, GLVQ(**model.get_params(deep=False))
    for rows, labels in make():
        if len(labels):
            stream.partial_fit(rows, labels, classes=np.unique(y))
    np.testing.assert_allclose(stream.prototypes_, whole, rtol=1e-12)


@pytest.mark.parametrize("make", [GLVQ, LVQ1])
def test_sequential_learning_from_blocks(make):
    X, y = overlapping(2000)
    settings = {"random_state": 0} | ({"solver": "sgd"} if make is GLVQ else {})
    found = make(**settings).fit(factory(X, y, 700, 1500))
    assert found.score(X, y) > make(**settings).fit(X, y).score(X, y) - 0.02


def test_held_out_rows_and_number_of_prototypes():
    X, y = overlapping(2000)
    make = factory(X, y, 700, 1500)
    stopped = GLVQ(early_stopping=True, random_state=0).fit(make)
    assert len(stopped.validation_curve_) == stopped.n_iter_
    grown = GLVQ(prototypes_per_class="auto", random_state=0).fit(make)
    assert min(grown.score(X, y), stopped.score(X, y)) > GLVQ().fit(X, y).score(X, y) - 0.02
    with pytest.raises(ValueError, match="none to validate on"):
        GLVQ(early_stopping=True, validation_fraction=1e-9, random_state=0).fit(make)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_memory_maps(tmp_path, dtype):
    X, y = overlapping()
    X = np.round(100 * X)
    mapped = np.memmap(tmp_path / "X", dtype, "w+", shape=X.shape)
    mapped[:] = X
    weight = np.random.RandomState(3).randint(0, 3, len(y))
    for model in (
        batch(GMLVQ, rank=2),
        GLVQ(solver="sgd", prototypes_per_class=3, random_state=0),
        GLVQ(early_stopping=True, random_state=0),
        LVQ1(prototypes_per_class="auto", random_state=0),
    ):
        expected = model.fit(X, y, sample_weight=weight).prototypes_
        found = model.fit(mapped, y, sample_weight=weight).prototypes_
        np.testing.assert_array_equal(found, expected)


def test_a_large_memory_map_is_not_copied(tmp_path, monkeypatch):
    X, y = overlapping()
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    expected = batch(GMLVQ, rank=2).fit(X, y)
    monkeypatch.setattr(training_rows, "IN_MEMORY", 100)
    read = []
    get = MappedRows.__getitem__
    monkeypatch.setattr(
        MappedRows, "__getitem__", lambda self, rows: read.append(get(self, rows)) or read[-1]
    )
    monkeypatch.setattr("protolearn._arrays.CHUNK_BYTES", 4096)
    same(batch(GMLVQ, rank=2).fit(mapped, y), expected)
    assert max(len(rows) for rows in read) < len(X)
    GLVQ(prototypes_per_class="auto", random_state=0).fit(mapped, y)


def test_rows_with_the_same_moments():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 5))
    X[:, 3] = 2.0
    y, weight = rng.randint(0, 3, 200), rng.random_sample(200)
    means = [np.average(X[y == c], axis=0, weights=weight[y == c]) for c in range(3)]
    few = rows_with_moments(
        MemoryBlocks(Block(X, y, weight)), np.array(means), X.min(axis=0), X.max(axis=0)
    )
    assert few.weight.min() >= 0.0
    assert set(few.X[:, 3]) == {2.0}
    for a, b in zip(
        within_covariance(X, y, weight, 1.0),
        within_covariance(few.X, few.y, few.weight, 1.0),
        strict=True,
    ):
        np.testing.assert_allclose(b, a, atol=1e-12)
    spread = np.cov(few.X.T, aweights=few.weight, ddof=0)
    np.testing.assert_allclose(spread, np.cov(X.T, aweights=weight, ddof=0), atol=1e-12)


def write_parquet(folder, frame, *ends):
    folder.mkdir()
    bounds = [0, *ends, len(frame)]
    for i, (first, last) in enumerate(pairwise(bounds)):
        frame[first:last].to_parquet(folder / f"part-{i}.parquet")


def test_folders_and_datasets(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    X, y = overlapping()
    weight = np.random.RandomState(4).randint(0, 3, len(y))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y, times=weight)
    write_parquet(tmp_path / "parquet", frame, *ENDS)
    frame.sample(frac=1.0, random_state=0).sort_index().to_parquet(tmp_path / "all.parquet")
    (tmp_path / "csv").mkdir()
    frame[:90].to_csv(tmp_path / "csv" / "0.csv", index=False)
    frame[90:].to_csv(tmp_path / "csv" / "1.csv", index=False)
    expected = batch().fit(X, y, sample_weight=weight)
    for X_given in (
        tmp_path / "parquet",
        str(tmp_path / "csv"),
        dataset.dataset(tmp_path / "parquet"),
        dataset.dataset(tmp_path / "parquet").filter(dataset.field("times") >= 0),
        tmp_path / "all.parquet",
    ):
        found = batch().fit(X_given, "tree", sample_weight="times")
        assert found.feature_names_in_.tolist() == list("abcd")
        same(found, expected)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "jsonl"])
def test_files_of_all_formats_hold_the_same(tmp_path, kind):
    X, y = overlapping()
    frame = pd.DataFrame(np.round(X, 3), columns=list("abcd")).assign(tree=y)
    frame["d"] = frame.d > 0.0
    path = tmp_path / f"table.{kind}"
    {
        "csv": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
    }[kind]()
    found = batch().fit(path, "tree")
    same(found, batch().fit(frame.drop(columns="tree").astype(float), y))


def test_files_that_cannot_be_learned_from(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = overlapping()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y)
    write_parquet(tmp_path / "a", frame, 100)
    with pytest.raises(ValueError, match="y='oak' must name a column of X; they are 'a', 'b'"):
        batch().fit(tmp_path / "a", "oak")
    with pytest.raises(ValueError, match="y=None must name a column"):
        batch().fit(tmp_path / "a")
    write_parquet(tmp_path / "b", frame.assign(word="x"), 100)
    with pytest.raises(ValueError, match=r"Column 'word' is to hold numbers, but row 1 has 'x'"):
        batch().fit(tmp_path / "b", "tree")
    frame.loc[120, "b"] = np.inf
    write_parquet(tmp_path / "c", frame, 100)
    with pytest.raises(ValueError, match=r"In 'part-1.parquet': Column 'b' has inf in row 21"):
        batch().fit(tmp_path / "c", "tree")
    (tmp_path / "d").mkdir()
    with pytest.raises(ValueError, match="holds neither Parquet nor CSV"):
        batch().fit(tmp_path / "d", "tree")
    with pytest.raises(ValueError, match="is neither a file nor a folder"):
        batch().fit(tmp_path / "e", "tree")


def test_blocks_that_cannot_be_learned_from():
    X, y = overlapping()
    hole = X.copy()
    hole[130, 1] = np.inf
    with pytest.raises(ValueError, match=r"In block 4: Input X contains infinity"):
        batch().fit(factory(hole, y, *ENDS))
    with pytest.raises(ValueError, match="leave out y and sample_weight"):
        batch().fit(factory(X, y), y)
    with pytest.raises(ValueError, match="makes no block"):
        batch().fit(lambda: iter(()))
    with pytest.raises(ValueError, match="Block 0 is ndarray; expected a tuple"):
        batch().fit(lambda: iter([X]))
    with pytest.raises(ValueError, match=r"In block 1: X has shape \(5, 3\), expected \(5, 4\)"):
        batch().fit(lambda: iter([(X, y), (X[:5, :3], y[:5])]))
    rows = iter([(X, y)])
    with pytest.raises(ValueError, match="gives the same iterator at each call"):
        batch().fit(lambda: rows)
    calls = []

    def shrinking():
        calls.append(1)
        yield X[len(calls) > 4 :], y[len(calls) > 4 :]

    with pytest.raises(ValueError, match=r"A pass over X gave 299 rows .* the first one 300"):
        batch().fit(shrinking)
    with pytest.raises(ValueError, match="Some labels are texts"):
        batch().fit(lambda: iter([(X, y), (X, np.zeros(len(X)))]))
    with pytest.raises(ValueError, match="Class 'ash' has no row of positive weight"):
        batch().fit(lambda: iter([(X, y, (y != "ash").astype(float))]))
    with pytest.raises(ValueError, match=r"init='foo' must be one of"):
        batch(init="foo").fit(factory(X, y))
    with pytest.raises(ValueError, match="init has shape"):
        batch(init=np.zeros((3, 7))).fit(factory(X, y))
    with pytest.raises(ValueError, match="only one class"):
        batch().fit(lambda: iter([(X, np.zeros(len(X)))]))
    with pytest.raises(ValueError, match="no row of positive weight"):
        batch().fit(lambda: iter([(X, y, np.zeros(len(X)))]))
    with pytest.raises(ValueError, match="In block 0: y has a missing label"):
        batch().fit(lambda: iter([(X, np.where(y == "ash", None, y))]))
    with pytest.raises(ValueError, match="has 1 rows, fewer than its 2 prototypes"):
        batch(prototypes_per_class=2).fit(lambda: iter([(X, y), (X[:1], ["yew"])]))


def test_a_fit_that_runs_out_of_iterations_warns():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        batch(max_iter=1, tol=1e-9).fit(factory(X, y, 100))


def test_small_parts_with_held_out_rows():
    X, y = overlapping()
    make = factory(X, y, *range(1, len(y)))
    model = GLVQ(early_stopping=True, random_state=0, max_iter=5).fit(make)
    assert len(model.validation_curve_) == model.n_iter_
    X, y = np.vstack([X, X[:1]]), np.append(y, "yew")
    models = [GLVQ(early_stopping=True, random_state=seed, max_iter=1) for seed in range(25)]
    told = [what_is_said(model, factory(X, y, 150)) for model in models]
    assert 0 < told.count("") < 25
    assert set(told) == {"", "Class 'yew' has no row of positive weight that is not held out"}


def what_is_said(model, data):
    try:
        model.fit(data)
    except ValueError as error:
        return str(error).partition(";")[0]
    return ""


def test_labels_of_all_kinds():
    X, _ = overlapping()
    codes = np.arange(len(X)) % 2
    for labels in (
        codes.astype(bool),
        codes.astype(np.int8),
        codes.astype(float),
        pd.Series(codes).map({0: "x", 1: "y"}).astype("category"),
        pd.Series(codes).map({0: "x", 1: "y"}).astype("string"),
        pd.Series(codes).astype("Int64"),
    ):
        found = batch().fit(factory(X, labels, 99))
        assert found.predict(X).dtype == found.classes_.dtype
        same_as = batch().fit(X, codes)
        np.testing.assert_allclose(found.prototypes_, same_as.prototypes_, atol=1e-10)
    gap = pd.Series(codes).map({0: "x", 1: "y"}).astype("string").where(codes == 0)
    with pytest.raises(ValueError, match="In block 0: y has a missing label"):
        batch().fit(lambda: iter([(X, gap)]))


def test_the_index_of_a_frame_is_no_feature(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = overlapping()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y).sort_values("tree")
    write_parquet(tmp_path / "a", frame.sample(frac=1.0, random_state=0), 100)
    assert batch().fit(tmp_path / "a", "tree").feature_names_in_.tolist() == list("abcd")


def test_folders_of_folders(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = overlapping()
    frame = pd.DataFrame(np.round(X), columns=list("abcd")).assign(tree=y)
    frame.to_parquet(tmp_path / "a", partition_cols=["a"])
    (tmp_path / "a" / "README.txt").write_text("what this is")
    (tmp_path / "a" / ".hidden").mkdir()
    frame.to_parquet(tmp_path / "a" / ".hidden" / "again.parquet")
    model = batch().fit(tmp_path / "a", "tree")
    assert sorted(model.feature_names_in_) == list("abcd")
    assert sum(model.n_prototypes_.values()) == 3
    order = ["abcd".index(name) for name in model.feature_names_in_]
    expected = batch().fit(np.round(X), y).prototypes_[:, order]
    np.testing.assert_allclose(model.prototypes_, expected, atol=1e-8)


def test_files_that_do_not_go_together(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = overlapping()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y)
    (tmp_path / "a").mkdir()
    frame[:150].to_parquet(tmp_path / "a" / "0.parquet")
    frame[150:].drop(columns="b").to_parquet(tmp_path / "a" / "1.parquet")
    with pytest.raises(ValueError, match=r"'0.parquet' has 'b', and '1.parquet' has not"):
        batch().fit(tmp_path / "a", "tree")
    frame[150:].to_parquet(tmp_path / "a" / "1.parquet")
    frame[:150].assign(b=1).to_parquet(tmp_path / "a" / "0.parquet")  # whole numbers
    assert batch().fit(tmp_path / "a", "tree").prototypes_.shape == (3, 4)
    frame[150:].assign(tree=None).to_parquet(tmp_path / "a" / "1.parquet")
    with pytest.raises(ValueError, match=r"In '1.parquet': "):
        batch().fit(tmp_path / "a", "tree")
    with pytest.raises(ValueError, match="sample_weight='tree' is the column of the labels"):
        batch().fit(tmp_path / "a" / "0.parquet", "tree", sample_weight="tree")


def test_large_maps_with_missing_values(tmp_path, monkeypatch):
    monkeypatch.setattr(training_rows, "IN_MEMORY", 100)
    X, y = overlapping()
    X[::7, 1] = np.nan
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    same(batch(GRLVQ).fit(mapped, y), batch(GRLVQ).fit(X, y))


def test_a_stream_of_pieces_of_a_map(tmp_path, monkeypatch):
    monkeypatch.setattr(training_rows, "IN_MEMORY", 100)
    X, y = overlapping()
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = np.abs(X)
    for distance in ("kernel", "kl"):
        whole, pieces = (PrototypeClassifier(distance=distance, random_state=0) for _ in range(2))
        for first in (0, 100, 200):
            rows = slice(first, first + 100)
            whole.partial_fit(np.abs(X)[rows], y[rows], classes=np.unique(y))
            pieces.partial_fit(mapped[rows], y[rows], classes=np.unique(y))
        np.testing.assert_array_equal(pieces.prototypes_, whole.prototypes_)
