"""Any linear classifier as two prototypes and a shift."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from protolearn import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
    generalized_prototypes,
)
from protolearn.linear import LinearPrototypes
from protolearn.linear.linear_prototypes import least_expansion

THEIRS = {
    "LinearSVC": LinearSVC(),
    "SVC": SVC(kernel="linear"),
    "LogisticRegression": LogisticRegression(max_iter=1000),
    "LDA": LinearDiscriminantAnalysis(),
    "RidgeClassifier": RidgeClassifier(),
    "Perceptron": Perceptron(),
}
OURS = {
    "mean of class": MeanOfClass(),
    "fisher": FisherPrototypes(ridge=1.0),
    "hard margin": HardMarginSVM(),
    "soft margin": SoftMarginSVM(),
    "squared slacks": SoftMarginSVM(norm=2),
    "rvm": RVM(),
    "boosting": BoostedPrototypes(),
}
each_model = pytest.mark.parametrize("name", [*THEIRS, *OURS])


def two_classes(labels=("no", "yes")):
    rng = np.random.RandomState(0)
    y = (np.arange(60) % 3 == 0).astype(int)
    X = 0.4 * rng.standard_normal((60, 5)) + 1.5 * y[:, None] + [0.0, 5.0, -3.0, 0.0, 100.0]
    return X, np.asarray(labels)[y]


def fitted(name, X, y):
    return clone({**THEIRS, **OURS}[name]).fit(X, y)


def normal_of(model):
    return np.ravel(model.coef_), np.ravel(model.intercept_)[0]


@each_model
def test_same_decision(name, rng):
    X, y = two_classes()
    model = fitted(name, X, y)
    linear = generalized_prototypes(model, X, y)
    everywhere = X.mean(axis=0) + 50.0 * rng.standard_normal((500, 5))
    for rows in (X, everywhere):
        mine, theirs = linear.decision_function(rows), model.decision_function(rows)
        ratio = np.linalg.norm(mine) / np.linalg.norm(theirs)
        assert_allclose(mine, ratio * theirs, atol=1e-9 * np.abs(mine).max())
        assert (linear.predict(rows) == model.predict(rows)).all()
    assert linear.classes.tolist() == ["no", "yes"]
    minus, plus = linear.prototypes
    assert_allclose(linear.coef, plus - minus, atol=1e-11)
    form = np.sum((X - minus) ** 2, axis=1) - np.sum((X - plus) ** 2, axis=1) + linear.shift
    assert_allclose(linear.decision_function(X), 0.5 * form, atol=1e-9)
    assert abs(linear.gamma.sum()) < 1e-12
    assert np.abs(linear.gamma).sum() == pytest.approx(2.0)
    assert_allclose(np.maximum(linear.gamma, 0.0) @ X, plus, atol=1e-11)


SEVERAL = {
    "mean of class": MeanOfClass(),
    "fisher": FisherPrototypes(),
    "one versus rest": SoftMarginSVM(),
    "crammer singer": SoftMarginSVM(multi_class="crammer_singer"),
    "nearest": SoftMarginSVM(multi_class="nearest"),
    "rvm": RVM(),
    "LinearSVC": LinearSVC(),
    "LogisticRegression": LogisticRegression(max_iter=2000),
    "LDA": LinearDiscriminantAnalysis(),
    "RidgeClassifier": RidgeClassifier(),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_several_classes(name, sparse, iris, rng):
    X, y = iris
    model = clone(SEVERAL[name]).fit(X, np.array(["b", "c", "a"])[y])
    linear = generalized_prototypes(model, csr_matrix(X) if sparse else X, model.predict(X))
    assert (linear.gamma >= 0.0).all()
    assert_allclose(linear.gamma.sum(axis=1), 1.0)
    assert not linear.gamma.min(axis=0).any()
    assert_allclose(linear.gamma @ X, linear.prototypes, atol=1e-9)
    rows = X.mean(axis=0) + 5.0 * rng.standard_normal((500, 4))
    assert (linear.predict(rows) == model.predict(rows)).all()
    mine, theirs = linear.decision_function(rows), model.decision_function(rows)
    mine, theirs = mine - mine[:, :1], theirs - theirs[:, :1]
    ratio = np.linalg.norm(theirs) / np.linalg.norm(mine)
    assert_allclose(ratio * mine, theirs, atol=1e-6 * np.abs(theirs).max())
    away = cdist(rows, linear.prototypes, "sqeuclidean") - linear.shift
    assert (linear.classes[away.argmin(axis=1)] == linear.predict(rows)).all()
    if hasattr(model, "prototypes_") and not hasattr(model, "rest_prototypes_"):
        assert_allclose(linear.prototypes, model.prototypes_, atol=1e-9)
        assert_allclose(linear.shift, model.shift_, atol=1e-7)
        assert_allclose(linear.project(rows), model.project(rows), atol=1e-7)


def test_several_classes_in_a_pipeline(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    linear = generalized_prototypes(model, X, y)
    assert repr(linear) == "<LinearPrototypes: 3 classes, 4 features>"
    assert (linear.predict(X) == model.predict(X)).all()
    assert_allclose(linear.gamma @ X, linear.prototypes)
    assert linear.projected_prototypes.shape == (3, 2)


def test_prototypes_of_several_classes_and_back(rng):
    P, shift = rng.standard_normal((4, 3)), rng.standard_normal(4)
    first = LinearPrototypes.from_prototypes(P, shift, list("abcd"))
    plane = LinearPrototypes.from_hyperplane(P, *first.hyperplane, list("abcd"))
    rows = 3.0 * rng.standard_normal((300, 3))
    assert (first.predict(rows) == plane.predict(rows)).all()
    expected = (cdist(rows, P, "sqeuclidean") - shift).argmin(axis=1)
    assert (first.predict(rows) == np.array(list("abcd"))[expected]).all()


@pytest.mark.parametrize("name", [name for name in THEIRS if name != "SVC"])
def test_least_expansion(name):
    X, y = two_classes()
    model = fitted(name, X, y)
    gamma = np.linalg.pinv((X - X.mean(axis=0)).T) @ normal_of(model)[0]
    linear = generalized_prototypes(model, X, y)
    assert_allclose(linear.gamma, 2.0 * gamma / np.abs(gamma).sum(), atol=1e-12)


def test_least_expansion_with_dependent_features(rng):
    X = rng.standard_normal((40, 4))
    X = np.column_stack([X, 3.3 * X[:, 0], X @ rng.standard_normal(4), np.full(40, 1e3 + 0.1)])
    coef = rng.standard_normal(40) @ (X - X.mean(axis=0))
    coef[-1] = 0.0
    gamma = least_expansion(X, coef)[0]
    rows = X - X.mean(axis=0)
    rows[:, -1] = 0.0
    assert_allclose(gamma, np.linalg.pinv(rows.T, rcond=1e-10) @ coef, atol=1e-11)
    assert_allclose(least_expansion(csr_matrix(X), coef)[0], gamma, atol=1e-9)


@pytest.mark.parametrize("sparse", [np.asarray, csr_matrix])
def test_what_optimisation_leaves_outside_the_span_belongs_to_the_offset(sparse, rng):
    X = rng.standard_normal((30, 100)) + 0.5
    y = (X[:, 0] > 0.5).astype(int)
    model = LogisticRegression().fit(X, y)
    rows, normal = X - X.mean(axis=0), model.coef_[0]
    within = rows.T @ np.linalg.lstsq(rows.T, normal, rcond=None)[0]
    assert np.linalg.norm(normal - within) > 1e-5 * np.linalg.norm(normal)
    linear = generalized_prototypes(model, sparse(X), y)
    mine, theirs = linear.decision_function(sparse(X)), model.decision_function(X)
    assert_allclose(linear.coef / np.linalg.norm(linear.coef), within / np.linalg.norm(within))
    ratio = np.linalg.norm(linear.coef) / np.linalg.norm(within)
    assert_allclose(mine, ratio * theirs, atol=1e-9 * np.abs(mine).max())


def test_known_coefficients_are_used():
    X, y = two_classes()
    model = SVC(kernel="linear", C=0.1).fit(X, y)
    linear = generalized_prototypes(model, X, y)
    gamma = np.zeros(60)
    gamma[model.support_] = model.dual_coef_[0]
    assert_allclose(linear.gamma, 2.0 * gamma / np.abs(gamma).sum(), atol=1e-12)
    assert (linear.gamma * np.where(y == "yes", 1, -1) >= 0.0).all()


@pytest.mark.parametrize("name", OURS)
def test_ours_are_canonical_already(name):
    X, y = two_classes()
    model = fitted(name, X, y)
    linear = generalized_prototypes(model, X, y)
    assert_allclose(linear.gamma, model.dual_coef_[0], atol=1e-9)
    assert_allclose(linear.prototypes, model.prototypes_, atol=1e-9)
    assert_allclose(linear.shift, model.shift_[0], atol=1e-8)
    scale = np.linalg.norm(linear.coef) / np.linalg.norm(model.coef_)
    assert_allclose(linear.intercept, scale * model.intercept_[0], atol=1e-8)


@pytest.mark.parametrize("sparse", [csr_matrix, csr_array])
@pytest.mark.parametrize("name", THEIRS)
def test_sparse_is_dense(name, sparse):
    X, y = two_classes()
    X[np.abs(X) < 0.5] = 0.0
    model = fitted(name, X, y)
    dense, other = (generalized_prototypes(model, rows, y) for rows in (X, sparse(X)))
    assert_allclose(other.gamma, dense.gamma, atol=1e-9)
    assert_allclose(other.prototypes, dense.prototypes, atol=1e-8)
    assert_allclose(other.shift, dense.shift, atol=1e-7)
    assert_allclose(other.decision_function(sparse(X)), dense.decision_function(X), atol=1e-8)


@each_model
def test_pipeline(name):
    if name in ("hard margin", "boosting"):
        X, y = two_classes()
        steps = [StandardScaler()]
    else:
        X, y = (values[:150] for values in load_breast_cancer(return_X_y=True))
        steps = [StandardScaler(), PCA(3)]
    model = make_pipeline(*steps, clone({**THEIRS, **OURS}[name])).fit(X, y)
    linear = generalized_prototypes(model, X, y)
    assert (linear.predict(X) == model.predict(X)).all()
    for gamma, prototype in ((-linear.gamma, 0), (linear.gamma, 1)):
        weights = np.maximum(gamma, 0.0)
        assert weights.sum() == pytest.approx(1.0)
        assert_allclose(linear.prototypes[prototype], weights @ X, rtol=1e-9)
        inner = weights @ model[:-1].transform(X)
        assert_allclose(linear.inner_prototypes[prototype], inner, atol=1e-9)
    assert_allclose(  # affine steps: prototypes go where samples go
        model[:-1].transform(linear.prototypes), linear.inner_prototypes, atol=1e-8
    )
    form = linear.project(linear.prototypes)
    assert_allclose(form, linear.projected_prototypes, atol=1e-8)


def test_pipeline_of_one_step():
    X, y = two_classes()
    model = make_pipeline(LinearDiscriminantAnalysis()).fit(X, y)
    linear = generalized_prototypes(model, X, y)
    assert linear.steps is None
    assert (linear.predict(X) == model.predict(X)).all()


def test_data_frame():
    pandas = pytest.importorskip("pandas")
    X, y = two_classes()
    frame, labels = pandas.DataFrame(X, columns=list("abcde")), pandas.Series(y)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, labels)
    linear = generalized_prototypes(model, frame, labels)
    assert (linear.predict(frame) == model.predict(frame)).all()


def outside_the_span():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((8, 20)) + 3.0, np.arange(8) % 2
    return LinearSVC().fit(X, y), X, y


def of_words():
    X, y = ["good day", "bad day", "good", "bad"], [1, 0, 1, 0]
    return make_pipeline(CountVectorizer(), SVC(kernel="linear")).fit(X, y), X, y


@pytest.fixture(scope="module")
def cases():
    X, y = two_classes()
    three = np.arange(60) % 3
    model = RidgeClassifier().fit(X, y)
    number = np.arange(60) % 2
    return {
        "outside": (*outside_the_span(), ValueError, "outside the span of the centred samples"),
        "constant": (
            LinearSVC().fit(np.c_[X, np.ones(60)], y),
            np.c_[X, np.ones(60)],
            y,
            ValueError,
            "outside the span",
        ),
        "pairs": (SVC(kernel="linear").fit(X, three), X, three, TypeError, "pairs of its 3"),
        "unfitted": (LogisticRegression(), X, y, NotFittedError, "not fitted"),
        "kernel": (SVC().fit(X, y), X, y, TypeError, "no coef_"),
        "neighbours": (KNeighborsClassifier().fit(X, y), X, y, TypeError, "no coef_"),
        "regressor": (LinearRegression().fit(X, number), X, number, TypeError, "not a classifier"),
        "columns": (model, X[:, :3], y, ValueError, "X has 3 features.* with 5"),
        "rows": (model, X[:50], y, ValueError, "inconsistent numbers of samples"),
        "labels": (model, X, np.full(60, "maybe"), ValueError, "'maybe', which the model has not"),
        "nan": (model, np.where(X > 101, np.nan, X), y, ValueError, "NaN"),
        "words": (*of_words(), ValueError, "X cannot be averaged.*model\\[-1\\]"),
    }


@pytest.mark.parametrize(
    "case",
    [
        "outside",
        "constant",
        "pairs",
        "unfitted",
        "kernel",
        "neighbours",
        "regressor",
        "columns",
        "rows",
        "labels",
        "nan",
        "words",
    ],
)
def test_errors(case, cases):
    model, X, y, error, message = cases[case]
    with pytest.raises(error, match=message):
        generalized_prototypes(model, X, y)


def test_round_trips(rng):
    X = rng.standard_normal((30, 4)) + 2.0
    gamma = rng.standard_normal(30)
    gamma -= gamma.mean()
    first = LinearPrototypes.from_expansion(X, gamma, 0.7, classes=["a", "b"])
    factor = 2.0 / np.abs(gamma).sum()
    assert_allclose(first.gamma, factor * gamma, atol=1e-14)
    assert_allclose(first.coef, factor * gamma @ X, atol=1e-13)
    assert first.intercept == pytest.approx(factor * 0.7)
    again = LinearPrototypes.from_prototypes(first.prototypes, first.shift, first.classes)
    plane = LinearPrototypes.from_hyperplane(X, *first.hyperplane, first.classes)
    for other, scale in ((again, 1.0), (plane, None)):
        if scale is None:  # the least expansion has prototypes nearer or farther apart
            scale = np.linalg.norm(other.coef) / np.linalg.norm(first.coef)
        assert_allclose(other.coef, scale * first.coef, atol=1e-12)
        assert_allclose(other.intercept, scale * first.intercept, atol=1e-12)
        assert_allclose(other.project(X), first.project(X), atol=1e-12)
    assert np.sum((plane.gamma / scale) ** 2) <= np.sum(first.gamma**2)
    assert_allclose(again.projected_prototypes, first.projected_prototypes)


def test_uneven_coefficients_are_those_of_centred_samples(rng):
    X, gamma = rng.standard_normal((12, 3)) + 5.0, rng.uniform(0.0, 1.0, 12)
    for rows in (X, csr_matrix(X)):
        linear = LinearPrototypes.from_expansion(rows, gamma, 0.3)
        f = (X @ (X - X.mean(axis=0)).T) @ gamma + 0.3
        mine = linear.decision_function(rows)
        assert_allclose(mine / np.linalg.norm(mine), f / np.linalg.norm(f), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearPrototypes.from_prototypes([[0.0]]), "1 row"),
        (lambda: LinearPrototypes.from_prototypes([[0.0], [1.0], [2.0]], [1.0, 2.0]), "shift="),
        (lambda: LinearPrototypes.from_prototypes([[0.0], [1.0]], classes=[0]), "two different"),
        (lambda: LinearPrototypes.from_expansion([[0.0], [1.0]], [1.0]), "1 coefficients for 2"),
        (
            lambda: LinearPrototypes.from_prototypes([[0.0], [1.0]], classes=["a", "a"]),
            "two different",
        ),
        (lambda: LinearPrototypes.from_prototypes([[0.0], [1.0]], np.nan), "shift=nan"),
        (lambda: LinearPrototypes.from_hyperplane([[0.0], [1.0]], [1.0], np.inf), "intercept=inf"),
        (lambda: LinearPrototypes.from_expansion([[0.0], [1.0]], [1.0, 1.0]), "the same number"),
        (lambda: LinearPrototypes.from_hyperplane([[0.0], [1.0]], [1.0, 2.0]), "2 entries for 1"),
        (lambda: LinearPrototypes.from_hyperplane([[0.0], [1.0]], [0.0]), "not zero"),
        (lambda: LinearPrototypes.from_prototypes([[1.0], [1.0]]).project([[1.0]]), "no axis"),
        (
            lambda: LinearPrototypes.from_prototypes([[0.0], [1.0]]).predict([[1.0, 2.0]]),
            "2 features, expected 1",
        ),
    ],
    ids=[
        "one",
        "shifts",
        "labels",
        "short",
        "same label",
        "shift",
        "intercept",
        "equal coefficients",
        "long",
        "zero normal",
        "equal",
        "wide",
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
