"""Fits on Dask collections, without a cluster: the same models as in memory."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from given_parts import overlapping, starts
from protolearn import GLVQ, GMLVQ, GRLVQ, LVQ1, RSLVQ, MarginLVQ, PrototypeClassifier
from protolearn.blocks import on_dask
from protolearn.solvers import SGD, Adam, Momentum

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CHUNKS = (70, 0, 3, 107, 120)


@pytest.fixture(autouse=True)
def one_after_the_other():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array):
    others = tuple((n,) for n in array.shape[1:])
    return da.from_array(array, chunks=(CHUNKS, *others))


def batch(make=GLVQ, **settings):
    return make(**{"solver": "lbfgs", "max_iter": 8, "random_state": 0} | settings)


def same(found, expected, atol=1e-10):
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_allclose(found.prototypes_, expected.prototypes_, rtol=0, atol=atol)
    np.testing.assert_allclose(
        found.rule_.codebook.metric, expected.rule_.codebook.metric, rtol=0, atol=atol
    )


@pytest.mark.parametrize("make", [GLVQ, GMLVQ, GRLVQ, RSLVQ])
def test_unequal_and_empty_chunks(make):
    X, y = overlapping()
    settings = {"init": starts(X, y), "prototypes_per_class": 2}
    same(batch(make, **settings).fit(chunked(X), chunked(y)), batch(make, **settings).fit(X, y))


def test_a_chunk_lacks_a_class():
    X, y = overlapping()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    same(batch().fit(chunked(X), chunked(y)), batch().fit(X, y))


def test_forms_of_labels_and_weights():
    X, y = overlapping()
    weight = np.random.RandomState(1).randint(0, 3, len(y)).astype(float)
    expected = batch(class_weight="balanced").fit(X, y, sample_weight=weight)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(tree=y, times=weight)
    parts = dd.from_pandas(frame, npartitions=4, sort=False)
    for data in (
        (chunked(X), y, weight),
        (chunked(X), chunked(y.astype(object)), chunked(weight)),
        (da.from_array(X, chunks=(90, 2)), da.from_array(y, chunks=50), weight),
        (parts, "tree", "times"),
        (parts[list("abcd")], parts["tree"], parts["times"]),
        (parts[list("abcd")].to_dask_array(), parts["tree"], parts["times"].to_dask_array()),
        (da.from_array(X, chunks=(90, 4)), parts["tree"], weight),
        (chunked(X), chunked(y[:, None]), chunked(weight[:, None])),
    ):
        found = batch(class_weight="balanced").fit(data[0], data[1], sample_weight=data[2])
        same(found, expected)
    assert batch().fit(parts, "tree", "times").feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_chunks(kind):
    X, y = overlapping()
    X[np.abs(X) < 0.8] = 0.0
    same(batch().fit(chunked(X).map_blocks(kind), chunked(y)), batch().fit(kind(X), y))


@pytest.mark.parametrize("solver", [Adam, Momentum])
def test_mini_batches_in_order_are_those_of_memory(solver):
    X, y = overlapping()
    model = GLVQ(solver=solver(batch_size=32, shuffle=False), max_iter=3, random_state=0)
    expected = model.fit(X, y).prototypes_
    np.testing.assert_allclose(model.fit(chunked(X), chunked(y)).prototypes_, expected, rtol=1e-10)


@pytest.mark.parametrize("size", [7, 64, 1000])
def test_mini_batches_in_random_order_have_every_row_once(size, monkeypatch):
    monkeypatch.setattr(on_dask, "ROWS_OF_A_CHUNK", 5)
    X, y = overlapping()
    X[:, 0] = np.arange(len(X))
    seen = []
    blocks = []
    fit = on_dask.DaskParts.blocks
    monkeypatch.setattr(
        on_dask.DaskParts, "blocks", lambda *a: blocks.append(fit(*a)) or blocks[-1]
    )
    batch(max_iter=1).fit(chunked(X), chunked(y))
    for rows in blocks[0].mini_batches(size, np.random.RandomState(0)):
        found = rows.reduce(first_column)
        assert len(found) == len(rows) <= size + 5
        seen.extend(found)
    assert sorted(seen) == list(range(len(X)))
    assert seen != sorted(seen)


def first_column(block):
    return Numbers(block.X[:, 0])


class Numbers(list):
    """A list whose sum is what both have."""

    def __add__(self, other):
        return Numbers([*self, *other])


def test_learning_from_one_row_after_the_other():
    X, y = overlapping()
    model = GLVQ(solver=SGD(shuffle=False), max_iter=2, random_state=0)
    expected = model.fit(X, y).prototypes_
    np.testing.assert_allclose(model.fit(chunked(X), y).prototypes_, expected, rtol=1e-10)
    assert LVQ1(random_state=0).fit(chunked(X), y).score(X, y) > 0.7


def test_the_solver_where_only_sums_come_back():
    X, y = overlapping()
    assert GLVQ(prototypes_per_class=3, max_iter=2).fit(chunked(X), y).solver_ == "lbfgs"
    assert MarginLVQ(loss="hinge", max_iter=1).fit(chunked(X), y).solver_ == "adam"


def test_held_out_rows_and_number_of_prototypes():
    X, y = overlapping()
    stopped = GLVQ(early_stopping=True, random_state=0).fit(chunked(X), y)
    assert len(stopped.validation_curve_) == stopped.n_iter_
    grown = GLVQ(prototypes_per_class="auto", max_iter=5, random_state=0).fit(chunked(X), y)
    assert min(stopped.score(X, y), grown.score(X, y)) > 0.7


def test_one_compute_an_evaluation(monkeypatch):
    X, y = overlapping()
    seen, computed = [], []
    compute = on_dask.sum_in_tree
    monkeypatch.setattr(on_dask, "sum_in_tree", lambda *a: computed.append(1) or compute(*a))
    model = batch(init=starts(X, y, 1), scale=1.0, callback=seen.append)
    model.fit(chunked(X), chunked(y))
    evaluations = len(computed) - 1  # the survey
    assert len(seen) <= evaluations <= 3 * len(seen)


def test_a_hole_names_its_chunk():
    X, y = overlapping()
    holes = X.copy()
    holes[75, 1] = np.nan
    with pytest.raises(ValueError, match=r"In chunk 3 of X: Input X contains NaN"):
        batch(PrototypeClassifier, distance="mahalanobis").fit(chunked(holes), chunked(y))
    labels = y.astype(object)
    labels[0] = None
    with pytest.raises(ValueError, match="In chunk 0 of X: y has a missing label"):
        batch(GMLVQ).fit(chunked(X), chunked(labels))


def test_what_does_not_fit_together():
    X, y = overlapping()
    rows = chunked(X)
    unknown = rows[rows[:, 0] > -np.inf]
    with pytest.raises(ValueError, match="give y as a Dask collection with the same parts"):
        batch().fit(unknown, y)
    with pytest.raises(
        ValueError, match="X has 5 parts and y has 1, and lengths of parts are not known"
    ):
        batch().fit(unknown, da.from_array(y, chunks=-1))
    with pytest.raises(ValueError, match="X has 300 rows, but y has 299 entries"):
        batch().fit(rows, y[:-1])
    with pytest.raises(ValueError, match="y is None"):
        batch().fit(rows)
    with pytest.raises(ValueError, match="'oak' is not a column of X"):
        batch().fit(dd.from_pandas(pd.DataFrame(X), npartitions=2), "oak")
    with pytest.raises(ValueError, match="Expected 2D rows, but X is a Dask Array with 1D"):
        batch().fit(chunked(X)[:, 0], y)
    same(batch().fit(unknown, chunked(y)[rows[:, 0] > -np.inf]), batch().fit(X, y))
