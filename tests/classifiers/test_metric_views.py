"""What a fitted metric shows: maps, relevances, transform, project, contributions."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LVQ1, MRSLVQ, PrototypeClassifier
from protolearn.distances import LocalMatrix, Matrix, Relevance

GLOBAL = [
    GRLVQ(),
    GMLVQ(),
    GMLVQ(rank=2),
    GMLVQ(rank=1),
    MRSLVQ(),
    PrototypeClassifier(distance="relevance"),
    PrototypeClassifier(distance=Matrix(rank=3)),
    LVQ1(distance="matrix"),
]
LOCAL = [
    LGMLVQ(),
    LGMLVQ(rank=2, localized="prototype", prototypes_per_class=2),
    PrototypeClassifier(distance="local_matrix"),
    PrototypeClassifier(distance=Relevance("prototype")),
    LVQ1(distance=LocalMatrix(rank=2)),
]


def fitted(model, iris):
    return clone(model).set_params(random_state=0).fit(*iris)


@pytest.mark.parametrize("model", [*GLOBAL, *LOCAL], ids=str)
def test_the_views_agree(model, iris):
    model = fitted(model, iris)
    omega, metric = model.omega_, model.metric_
    np.testing.assert_allclose(metric, np.swapaxes(omega, -1, -2) @ omega, atol=1e-15)
    diagonal = np.diagonal(metric, axis1=-2, axis2=-1)
    np.testing.assert_allclose(model.relevances_, diagonal, atol=1e-15)


@pytest.mark.parametrize("model", GLOBAL, ids=str)
def test_distances_are_those_of_the_metric(model, iris):
    model = fitted(model, iris)
    offset = iris[0][:, None] - model.prototypes_
    expected = np.einsum("nki,ij,nkj->nk", offset, model.metric_, offset)
    np.testing.assert_allclose(model.distances(iris[0]), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", LOCAL, ids=str)
def test_distances_are_those_of_the_local_metrics(model, iris):
    model = fitted(model, iris)
    by_class = len(model.metric_) == len(model.classes_)
    group = model.prototype_labels_ if by_class else np.arange(len(model.prototypes_))
    for k, w in enumerate(model.prototypes_):
        e = iris[0] - w
        expected = np.einsum("ni,ij,nj->n", e, model.metric_[group[k]], e)
        np.testing.assert_allclose(model.distances(iris[0])[:, k], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("model", GLOBAL[:-1], ids=str)
def test_transform_makes_the_metric_euclidean(model, kind, iris):
    X, _ = iris
    model = fitted(model, iris)
    Z, V = model.transform(kind(X)), model.transform(model.prototypes_)
    Z = Z.toarray() if sparse.issparse(Z) else Z
    np.testing.assert_allclose(
        cdist(Z, V, "sqeuclidean"), model.distances(X), rtol=1e-9, atol=1e-12
    )
    assert Z.shape[1] == model.omega_.shape[0]
    np.testing.assert_allclose(Z, X @ model.omega_.T, atol=1e-12)


@pytest.mark.parametrize("model", GLOBAL, ids=str)
def test_transform_keeps_single_precision(model, iris):
    model = fitted(model, iris)
    single = model.transform(iris[0].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, model.transform(iris[0]), atol=1e-5)
    assert model.project(iris[0].astype(np.float32)).dtype == np.float32
    assert (model.predict(iris[0].astype(np.float32)) == model.predict(iris[0])).mean() > 0.98


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", GLOBAL[:-1], ids=str)
def test_project_shows_the_two_leading_directions(model, kind, iris):
    X, _ = iris
    model = fitted(model, iris)
    Z = model.project(kind(X))
    assert Z.shape == (150, 2)
    U, s, _ = np.linalg.svd(model.omega_)
    expected = (X @ model.omega_.T) @ U[:, :2]
    for column in range(min(2, len(s))):
        sign = np.sign(Z[:, column] @ expected[:, column])
        np.testing.assert_allclose(Z[:, column], sign * expected[:, column], atol=1e-9)
    if len(s) == 1:
        assert (Z[:, 1] == 0.0).all()
    assert (
        cdist(Z, model.project(model.prototypes_), "sqeuclidean") <= model.distances(X) + 1e-9
    ).all()


def test_local_metrics_and_others_have_no_map(iris):
    for model in [*LOCAL, GLVQ(), LVQ1()]:
        for name in ("transform", "project"):
            assert not hasattr(model, name)
            assert not hasattr(fitted(model, iris), name)
    for name in ("omega_", "metric_", "relevances_"):
        assert not hasattr(fitted(GLVQ(), iris), name)
        assert not hasattr(GMLVQ(), name)
        with pytest.raises(AttributeError, match=f"GMLVQ has no {name}: it is not fitted"):
            getattr(GMLVQ(), name)
        with pytest.raises(AttributeError, match="is not a linear metric"):
            getattr(fitted(GLVQ(), iris), name)


def test_not_fitted_and_wrong_width(iris):
    for name in ("transform", "project"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(GMLVQ(), name)(iris[0])
        with pytest.raises(ValueError, match="X has 3 features, but GMLVQ is expecting 4"):
            getattr(fitted(GMLVQ(), iris), name)(iris[0][:, :3])


@pytest.mark.parametrize("model", [*GLOBAL, *LOCAL], ids=str)
def test_contributions(model, iris):
    X, _ = iris
    model = fitted(model, iris)
    shares = model.contributions(X)
    np.testing.assert_allclose(np.abs(shares).sum(axis=1), 1.0, rtol=1e-10)
    D, labels = model.distances(X), model.prototype_labels_
    own = model.predict(X)[:, None] == labels
    lead = np.where(own, np.inf, D).min(axis=1) - np.where(own, D, np.inf).min(axis=1)
    total = shares.sum(axis=1)
    assert (total[lead > 1e-9] > 0.0).all()  # all features together speak for the decision


def test_contributions_are_the_formula(iris):
    X, _ = iris
    model = fitted(GMLVQ(), iris)
    order = np.argsort(model.distances(X), axis=1)
    for x, (near, far), got in zip(X, order[:, :2], model.contributions(X), strict=True):
        e, f = x - model.prototypes_[far], x - model.prototypes_[near]
        speaks = e * (model.metric_ @ e) - f * (model.metric_ @ f)
        np.testing.assert_allclose(got, speaks / np.abs(speaks).sum(), atol=1e-9)


@pytest.mark.parametrize("cls", [GRLVQ, GMLVQ, MRSLVQ])
def test_pandas_out(cls, iris):
    X, y = pd.DataFrame(iris[0], columns=list("abcd")), iris[1]
    model = cls(random_state=0).set_output(transform="pandas").fit(X, y)
    Z = model.transform(X)
    name = cls.__name__.lower()
    assert (
        list(Z.columns) == list(model.get_feature_names_out()) == [f"{name}{j}" for j in range(4)]
    )
    np.testing.assert_allclose(Z, X @ model.omega_.T, atol=1e-12)
    again = cls(random_state=0).set_output(transform="pandas").fit_transform(X, y)
    pd.testing.assert_frame_equal(again, Z)


def test_a_step_of_a_pipeline(iris):
    model = make_pipeline(GMLVQ(rank=2, random_state=0), KNeighborsClassifier())
    assert model.fit(*iris).score(*iris) > 0.95
    assert list(model[:-1].get_feature_names_out()) == ["gmlvq0", "gmlvq1"]


@pytest.mark.parametrize("model", [GMLVQ(rank=5, max_iter=3), GRLVQ(max_iter=3)], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_views_of_many_features_take_no_square(model):
    """The square of the features would be 18 MB; the rows, dense, 2 MB."""
    rng = np.random.RandomState(0)
    S = sparse.csr_array(sparse.random(200, 1500, density=5e-3, format="csr", random_state=rng))
    tracemalloc.start()
    model.fit(S, np.arange(200) % 2)
    model.predict(S)
    model.transform(S)
    model.project(S)
    assert len(model.get_feature_names_out()) == (5 if isinstance(model, GMLVQ) else 1500)
    assert model.relevances_.shape == (1500,)
    if isinstance(model, GMLVQ):
        assert model.omega_.shape == (5, 1500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 9e6


def test_a_missing_feature_without_part_in_the_projection(iris):
    X, y = iris
    model = GRLVQ(random_state=0).fit(X, y)
    expected, least = model.project(X), int(model.relevances_.argmin())
    holes = X.copy()
    holes[0, least] = np.nan
    np.testing.assert_array_equal(model.project(holes), expected)


def test_composed_models_name_their_columns(iris):
    model = PrototypeClassifier(distance=Matrix(rank=2)).fit(*iris)
    names = ["prototypeclassifier0", "prototypeclassifier1"]
    assert model.get_feature_names_out().tolist() == names
    assert not hasattr(PrototypeClassifier(), "get_feature_names_out")


def test_local_matrices_are_local(iris):
    with pytest.raises(ValueError, match="localized=None"):
        PrototypeClassifier(distance=LocalMatrix(localized=None)).fit(*iris)
