"""Answers about Dask collections: those about the same rows in memory, once they are computed."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    RSLVQ,
    KernelGLVQ,
    PrototypeClassifier,
    RejectClassifier,
    certified_radius,
    hypothesis_margin,
    sample_margin,
)
from protolearn.classifiers import NearestPrototypeClassifier
from protolearn.ensemble import ExemplarSVM
from protolearn.linear import RVM, MeanOfClass
from protolearn.perceptrons import MinOver
from protolearn.tables import TableEncoder

cloudpickle = pytest.importorskip("cloudpickle")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NAMES = np.array(["setosa", "versicolor", "virginica"])
ROWS = (70, 0, 30, 50)
METHODS = ["predict", "predict_proba", "decision_function", "distances", "contributions"]


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def data(iris):
    X, y = iris
    order = np.random.RandomState(0).permutation(len(X))
    return X[order], NAMES[y[order]]


@pytest.fixture(scope="module")
def model(data):
    return GLVQ(prototypes_per_class=2, max_iter=20, random_state=0).fit(*data)


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data[0], columns=["sl", "sw", "pl", "pw"])


@pytest.fixture(scope="module")
def of_frame(frame, data):
    return GLVQ(max_iter=20, random_state=0).fit(frame, data[1])


def split(X, columns=None):
    return da.from_array(X, chunks=(ROWS, columns or (X.shape[1],)))


def not_to_be_computed(X):
    def fail(part):
        raise AssertionError("computed")

    return split(X).map_blocks(fail, meta=np.empty((0, 0), dtype=X.dtype))


def same(lazy, told, rows=ROWS):
    """Check a lazy array against an array in memory: what it promises, and what it gives."""
    assert isinstance(lazy, da.Array)
    assert type(lazy._meta) is np.ndarray
    assert lazy.dtype == told.dtype
    assert lazy.ndim == told.ndim
    np.testing.assert_equal(lazy.chunks, (rows, *((k,) for k in told.shape[1:])))
    computed = lazy.compute()
    assert type(computed) is np.ndarray
    assert computed.dtype == told.dtype
    if told.dtype.kind == "f":
        np.testing.assert_allclose(computed, told, rtol=1e-5 if told.itemsize == 4 else 1e-9)
    else:
        np.testing.assert_array_equal(computed, told)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("columns", [None, (3, 1)], ids=["whole", "split columns"])
def test_dense_rows(model, data, method, columns):
    ask = getattr(model, method)
    same(ask(split(data[0], columns)), ask(data[0]))


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_and_integers(model, data, method):
    ask = getattr(model, method)
    for X in (data[0].astype(np.float32), np.rint(3.0 * data[0]).astype(int)):
        same(ask(split(X)), ask(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_parts(model, data, method, kind):
    ask, X = getattr(model, method), np.where(data[0] > 0.0, data[0], 0.0)
    same(ask(split(X).map_blocks(kind)), np.asarray(ask(kind(X))))


def test_sparse_parts_with_split_columns(model, data):
    X = split(data[0], (3, 1)).map_blocks(sparse.csr_matrix)
    same(model.predict(X), model.predict(data[0]))


@pytest.mark.parametrize("kind", [GMLVQ, GRLVQ])
def test_views_of_the_metric(data, kind):
    fitted = kind(max_iter=5, random_state=0).fit(*data)
    for X in (data[0], data[0].astype(np.float32)):
        same(fitted.transform(split(X)), fitted.transform(X))
        same(fitted.project(split(X)), fitted.project(X))
    told = fitted.transform(sparse.csr_array(data[0]))
    lazy = fitted.transform(split(data[0]).map_blocks(sparse.csr_array))
    same(lazy, told.toarray() if sparse.issparse(told) else told)


def test_lengths_that_are_not_known(model, data):
    X, keep = split(data[0], (3, 1)), data[0][:, 0] > 0.0
    some, rows = X[X[:, 0] > 0.0], (np.nan,) * len(ROWS)
    same(model.predict(some), model.predict(data[0][keep]), rows)
    same(model.distances(some), model.distances(data[0][keep]), rows)
    y = da.from_array(data[1], chunks=(ROWS,))[X[:, 0] > 0.0]
    told = hypothesis_margin(model, data[0][keep], data[1][keep])
    same(hypothesis_margin(model, some, y), told, rows)
    assert model.score(some, y) == model.score(data[0][keep], data[1][keep])
    with pytest.raises(ValueError, match=r"4 parts and y has 3, and lengths"):
        hypothesis_margin(model, some, da.from_array(data[1], chunks=50))
    with pytest.raises(ValueError, match="y is in memory, but the lengths"):
        hypothesis_margin(model, some, data[1])
    with pytest.raises(ValueError, match="number of columns of X is not known"):
        model.predict(X[:, da.from_array(np.ones(4, bool))])


def test_nothing_is_computed(model, data):
    X = not_to_be_computed(data[0])
    for method in METHODS:
        getattr(model, method)(X)
    model.nearest_prototypes(X, k=2)
    hypothesis_margin(model, X, data[1])
    certified_radius(model, X)
    sample_margin(model, X)
    with pytest.raises(AssertionError, match="computed"):
        model.predict(X).compute()


def test_a_tuple_is_worked_out_once(model, data):
    worked = []

    def seen(part):
        worked.append(len(part))
        return part

    X = split(data[0]).map_blocks(seen, meta=np.empty((0, 0)))
    lazy, told = model.nearest_prototypes(X, k=3), model.nearest_prototypes(data[0], k=3)
    assert not worked
    computed = dask.compute(*lazy)
    assert sorted(worked) == sorted(ROWS)
    np.testing.assert_allclose(computed[0], told[0], rtol=1e-9)
    for one, other in zip(lazy, told, strict=True):
        same(one, other)


def test_frames_keep_the_names_of_their_columns(frame, of_frame):
    rows = (np.nan,) * 3
    collection = dd.from_pandas(frame, npartitions=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of missing names
        for method in METHODS:
            ask = getattr(of_frame, method)
            same(ask(collection), ask(frame), rows)
        single = frame.astype(np.float32)
        ask = of_frame.distances
        same(ask(collection.astype(np.float32)), ask(single), rows)
    with pytest.raises(ValueError, match="feature names should match"):
        of_frame.predict(collection.rename(columns={"sl": "length"}))
    with pytest.raises(ValueError, match="Expected 2D"):
        of_frame.predict(collection["sl"])


def test_frames_with_empty_partitions_and_labels(frame, of_frame, data):
    labelled = frame.assign(label=data[1])
    collection = dd.from_pandas(labelled, npartitions=4, sort=False)
    collection = collection[collection["sl"] > 0.9]
    keep = (frame["sl"] > 0.9).to_numpy()
    X, y = collection[list(frame.columns)], collection["label"]
    told = hypothesis_margin(of_frame, frame[keep], data[1][keep])
    same(hypothesis_margin(of_frame, X, y), told, (np.nan,) * 4)
    assert of_frame.score(X, y) == of_frame.score(frame[keep], data[1][keep])
    nothing = collection[collection["sl"] > 1e9][list(frame.columns)]
    assert of_frame.predict_proba(nothing).compute().shape == (0, 3)


def test_pipelines_with_columns_of_words(frame, data):
    words = frame.assign(size=np.where(frame["pl"] > 0.0, "large", "small"))
    fitted = make_pipeline(TableEncoder(), GLVQ(max_iter=5, random_state=0)).fit(words, data[1])
    collection = dd.from_pandas(words, npartitions=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of categories that are not known
        lazy = certified_radius(fitted, collection)
    same(lazy, certified_radius(fitted, words), (np.nan,) * 3)


@pytest.mark.parametrize("scaled", [False, True])
def test_margins_and_certificates(data, scaled):
    X, y = data
    for last in (GLVQ(max_iter=5, random_state=0), MeanOfClass()):
        fitted = make_pipeline(StandardScaler(), last) if scaled else last
        fitted.fit(X, y)
        for labels in (y, y.tolist(), da.from_array(y, chunks=40), da.from_array(y, chunks=150)):
            same(hypothesis_margin(fitted, split(X), labels), hypothesis_margin(fitted, X, y))
        series = dd.from_pandas(pd.Series(y), npartitions=3)
        margin = hypothesis_margin(fitted, da.from_array(X, chunks=(50, 4)), series)
        same(margin, hypothesis_margin(fitted, X, y), (50, 50, 50))
        same(certified_radius(fitted, split(X)), certified_radius(fitted, X))
        same(sample_margin(fitted, split(X), n_jobs=2), sample_margin(fitted, X))


def test_margin_in_single_precision(model, data):
    X = data[0].astype(np.float32)
    same(hypothesis_margin(model, split(X), data[1]), hypothesis_margin(model, X, data[1]))


def test_certificates_of_other_linear_models(data):
    fitted = LogisticRegression().fit(*data)
    same(certified_radius(fitted, split(data[0])), certified_radius(fitted, data[0]))


def test_labels_that_do_not_fit(model, data):
    X, y = data
    with pytest.raises(ValueError, match="X has 150 rows, but y has 149"):
        hypothesis_margin(model, split(X), y[1:])
    with pytest.raises(ValueError, match="X has 150 rows, but y has 149"):
        hypothesis_margin(model, split(X), da.from_array(y[1:], chunks=50))
    with pytest.raises(ValueError, match="y must have one axis, but has 2"):
        hypothesis_margin(model, split(X), da.from_array(X, chunks=50))
    series = dd.from_pandas(pd.Series(y), npartitions=4)
    with pytest.raises(ValueError, match=r"chunk \d of X: it has \d+ rows, but y has \d+ entr"):
        hypothesis_margin(model, split(X), series).compute()
    wrong = np.where(np.arange(150) == 80, "rose", y)
    with pytest.raises(ValueError, match=r"chunk 2 of X: y contains \['rose'\]"):
        hypothesis_margin(model, split(X), wrong).compute()


@pytest.mark.parametrize(
    "estimator",
    [
        RSLVQ(max_iter=5, random_state=0),
        GLVQ(max_iter=5, random_state=0),
        GMLVQ(max_iter=3, random_state=0),
        KernelGLVQ(max_iter=5, random_state=0),
        MeanOfClass(),
        RVM(kernel="linear", max_iter=20),
        RVM(kernel="rbf", max_iter=20),
        MinOver(max_iter=20),
        ExemplarSVM(n_negatives=20),
        RejectClassifier(GLVQ(max_iter=5, random_state=0), threshold=0.2),
        RejectClassifier(MeanOfClass(), threshold=0.2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_kinds_of_classifiers(data, estimator, n_classes):
    known = np.isin(data[1], NAMES[-n_classes:])
    fitted = estimator.fit(data[0][known], data[1][known])
    for method in ("predict", "decision_function", "predict_proba", "confidence", "accepts"):
        if hasattr(fitted, method):
            ask = getattr(fitted, method)
            same(ask(split(data[0])), ask(data[0]))
    assert fitted.score(split(data[0]), data[1]) == fitted.score(*data)


def test_score(model, data, rng):
    X, y = data
    guesses = np.where(rng.rand(150) < 0.3, NAMES[0], y)
    weight = rng.rand(150) * (np.arange(150) < 100)  # the last part weighs nothing
    for labels in (guesses, da.from_array(guesses, chunks=40)):
        assert model.score(split(X), labels) == model.score(X, guesses)
        for w in (weight, da.from_array(weight, chunks=60)):
            assert model.score(split(X), labels, w) == pytest.approx(
                model.score(X, guesses, weight)
            )
    series = dd.from_pandas(pd.Series(weight), npartitions=3)
    X = da.from_array(X, chunks=(50, 4))
    assert model.score(X, guesses, sample_weight=series) == pytest.approx(
        model.score(data[0], guesses, sample_weight=weight)
    )
    with pytest.raises(ValueError, match="nothing to score"):
        model.score(X, guesses, np.zeros(150))
    with pytest.raises(NotFittedError):
        GLVQ().score(X, guesses)


def test_an_error_names_the_chunk(model, data):
    X = data[0].copy()
    X[80, 1] = np.inf
    for ask in (model.predict, model.distances, lambda X: model.score(X, data[1])):
        with pytest.raises(ValueError, match=r"^In chunk 2 of X: Input X contains infinity"):
            ask(split(X)).compute()
    linear = MeanOfClass().fit(*data)
    X[80, 1] = np.nan
    with pytest.raises(ValueError, match=r"^In chunk 2 of X: Input X contains NaN"):
        linear.predict(split(X)).compute()
    dense = PrototypeClassifier(distance="minkowski", random_state=0).fit(*data)
    with pytest.raises(TypeError, match=r"^In chunk \d of X: Sparse data"):
        dense.predict(split(data[0]).map_blocks(sparse.csr_array)).compute()


def test_errors_that_do_not_depend_on_the_rows_come_at_once(model, data):
    X = not_to_be_computed(data[0])
    with pytest.raises(NotFittedError):
        GLVQ().predict(X)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"k=.* at most"):
        model.nearest_prototypes(X, k=7)
    with pytest.raises(ValueError, match="Expected 2D"):
        model.predict(X[:, 0])
    with pytest.raises(TypeError, match="give a Dask array or frame"):
        model.predict(dask.delayed(data[0]))
    with pytest.raises(TypeError, match="neither a nearest-prototype"):
        hypothesis_margin(LogisticRegression().fit(*data), X, data[1])


class Weighty(GLVQ):
    """A model that counts how often it is pickled, and builds on the scores of another."""

    written = 0

    def __getstate__(self):
        Weighty.written += 1
        return super().__getstate__()

    def decision_function(self, X):
        return 2.0 * super().decision_function(X)


def test_the_model_is_in_the_graph_once(data):
    fitted = Weighty(max_iter=5, random_state=0).fit(*data)
    X = da.from_array(data[0], chunks=(5, 4))
    (lazy,) = dask.optimize(fitted.predict(X))
    graph = dict(lazy.__dask_graph__())
    assert len(graph) >= 30
    Weighty.written = 0
    for task in graph.values():
        cloudpickle.dumps(task)
    assert Weighty.written == 1


def test_a_method_that_builds_on_another_does_so_once(data):
    fitted = Weighty(max_iter=5, random_state=0).fit(*data)
    same(fitted.decision_function(split(data[0])), fitted.decision_function(data[0]))


def test_the_answers_are_those_of_the_model_as_it_was(data):
    fitted = GLVQ(random_state=0).partial_fit(data[0][:50], data[1][:50], classes=NAMES)
    told, lazy = fitted.distances(data[0]), fitted.distances(split(data[0]))
    assert fitted.distances(split(data[0])).name == lazy.name
    fitted.partial_fit(*data)
    assert np.abs(fitted.distances(data[0]) - told).max() > 1e-6
    same(lazy, told)


def test_what_is_decorated_pickles(model, data):
    for thing in (hypothesis_margin, certified_radius, NearestPrototypeClassifier.predict):
        assert pickle.loads(pickle.dumps(thing)) is thing
    again = pickle.loads(pickle.dumps(model.predict(split(data[0]))))
    same(again, model.predict(data[0]))


def test_keywords_and_whatever_else_is_given(model, data):
    same(model.predict(X=split(data[0])), model.predict(data[0]))
    lazy = hypothesis_margin(y=data[1], X=split(data[0]), model=model)
    same(lazy, hypothesis_margin(model, *data))
    with pytest.raises(TypeError, match="missing"):
        model.predict()
