"""GLVQ in the feature space of a kernel."""

import pickle
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import custom_axes
import reference
from given_profile import in_all, run_check
from protolearn import (
    GLVQ,
    LOGM,
    MCE,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    MarginLVQ,
    hypothesis_margin,
)
from protolearn.blocks import Block
from protolearn.checks import expected_failed_checks
from protolearn.classifiers import kernel_support
from protolearn.classifiers.feature_space import (
    RESIDUAL,
    append_column,
    partial_cholesky,
    whole_cholesky,
)
from protolearn.classifiers.kernel_support import (
    FeatureSpaceTrainer,
    SpanDistance,
    expansion,
    towards,
)
from protolearn.codebook import Codebook
from protolearn.datasets import make_spirals
from protolearn.distances import SquaredEuclidean
from protolearn.losses import Exponential, Logistic, Sigmoid
from protolearn.margins import Difference, LogOdds, Relative
from protolearn.objective import Objective

# Always: with pruning and without, a kernel of the user.
ESTIMATORS = in_all(
    KernelGLVQ(),
    KernelGLVQ(kernel=custom_axes.Laplacian(), max_support=None),
    thorough=[
        KernelGLVQ(solver="sgd", prototypes_per_class=2),
        KernelGLVQ(kernel="linear", max_support=None),
        KernelGLVQ(kernel=custom_axes.Laplacian()),
    ],
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    run_check(estimator, check)


def test_only_the_weight_checks_are_excused():
    assert all("sample_weight_equivalence" in name for name in expected_failed_checks(KernelGLVQ()))
    assert "order of the rows" in str(expected_failed_checks(KernelGLVQ()))
    assert "one step of double length" in str(expected_failed_checks(KernelGLVQ(solver="sgd")))


def factor(gram):
    return partial_cholesky(gram.diagonal(), lambda some: gram[:, some])


# The factor


@given(
    st.integers(1, 90),
    st.integers(1, 90),
    st.sampled_from([1e-100, 1.0, 1e100]),
    st.integers(0, 99),
)
def test_the_factor_gives_the_matrix_and_its_rank(n, rank, size, seed):
    Z = np.random.RandomState(seed).standard_normal((n, rank))
    gram = size * (Z @ Z.T)
    for L, pivots in (factor(gram), whole_cholesky(gram, RESIDUAL)):
        assert_allclose(L @ L.T, gram, rtol=0, atol=1e-9 * gram.max())
        assert L.shape == (n, np.linalg.matrix_rank(gram, hermitian=True, tol=1e-9 * gram.max()))
        assert len(set(pivots.tolist())) == len(pivots)
        assert_array_equal(np.triu(L[pivots], 1), 0.0)


def test_the_pivots_have_the_factor_of_numpy(rng):
    Z = rng.standard_normal((30, 30))
    gram = Z @ Z.T + np.eye(30)
    L, pivots = factor(gram)
    assert_allclose(L[pivots], np.linalg.cholesky(gram[np.ix_(pivots, pivots)]), atol=1e-10)


def test_a_step_compiled_and_in_python(rng):
    Z = rng.standard_normal((9, 4))
    gram = Z @ Z.T
    results = []
    for step in (append_column, append_column.py):
        L, residual = np.zeros((9, 2)), gram.diagonal().copy()
        step(L, 0, 3, np.ascontiguousarray(gram[:, 3]), residual)
        step(L, 1, 5, np.ascontiguousarray(gram[:, 5]), residual)
        results.append((L, residual))
    assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    assert_allclose(results[0][1], results[1][1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("gram", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.5, 0.0]]])
def test_indefinite_matrices_are_refused(gram):
    with pytest.raises(ValueError, match="not positive semi-definite"):
        factor(np.array(gram))


# Combinations of samples


def test_an_expansion_makes_the_point(rng):
    Z = rng.standard_normal((40, 12))
    L, pivots = factor(Z @ Z.T)
    points = rng.standard_normal((3, 12))
    assert_allclose(expansion(points, L, pivots) @ L[pivots], points, atol=1e-9)


def test_samples_are_chosen_by_greedy_least_squares(rng):
    L, points = rng.standard_normal((25, 10)), rng.standard_normal((3, 10))
    chosen = []
    for sample, basis in towards(points, L):
        errors = []
        for i in range(25):  # by brute force
            rows = L[[*chosen, i]]
            fitted = np.linalg.lstsq(rows.T, points.T, rcond=None)[0]
            errors.append(np.linalg.norm(points - fitted.T @ rows))
        chosen.append(sample)
        assert errors[sample] == pytest.approx(min(errors), rel=1e-9, abs=1e-9)
        assert_allclose(np.linalg.norm(basis[-1]), 1.0, rtol=1e-12)
    assert len(set(chosen)) == 10


def test_the_choice_ends_where_the_points_are_in_the_span(rng):
    L = rng.standard_normal((40, 12))
    points = rng.standard_normal((2, 3)) @ L[[4, 9, 30]]
    chosen, bases = zip(*towards(points, L), strict=True)
    basis = bases[-1]
    assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    assert_allclose(points @ basis.T @ basis, points, atol=1e-5)
    assert_allclose(np.triu((L @ basis.T)[list(chosen)], 1), 0.0, atol=1e-12)


def test_some_samples_at_a_time_are_nearly_as_good_as_one(rng, monkeypatch):
    L, points = rng.standard_normal((200, 60)), rng.standard_normal((5, 60))

    def rest(k):
        samples, bases = zip(*islice(towards(points, L), k), strict=True)
        basis = bases[-1]
        assert len(set(samples)) == k
        assert_allclose(basis @ basis.T, np.eye(k), atol=1e-12)
        assert_allclose(np.triu((L @ basis.T)[list(samples)], 1), 0.0, atol=1e-11)
        return np.linalg.norm(points - points @ basis.T @ basis) ** 2

    one_by_one = [rest(k) for k in (5, 20, 40)]
    monkeypatch.setattr(kernel_support, "ALONE", 1)
    together = [rest(k) for k in (5, 20, 40)]
    assert together != one_by_one
    assert_allclose(together, one_by_one, rtol=0.1, atol=0.05 * np.sum(points**2))


def test_few_samples_may_not_change_classes(rng, monkeypatch):
    X, y = rng.standard_normal((150, 60)), np.arange(150) % 2
    whole = KernelGLVQ(max_support=None, random_state=0).fit(X, y)
    monkeypatch.setattr(kernel_support, "LOST", 1e9)  # any cost will do
    kept = KernelGLVQ(random_state=0).fit(X, y)
    assert np.mean(kept.predict(X) != whole.predict(X)) <= 0.1
    monkeypatch.setattr(kernel_support, "CHANGED", 1.0)
    few = KernelGLVQ(random_state=0).fit(X, y)
    assert np.mean(few.predict(X) != whole.predict(X)) > 0.1
    assert len(few.support_) == 10 < len(kept.support_)


def test_zero_rows_and_a_zero_point_do_no_harm():
    L = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    chosen = [sample for sample, _ in towards(np.array([[0.0, 0.0], [0.0, 2.0]]), L)]
    assert chosen == [2]
    assert len(list(towards(np.zeros((2, 2)), L))) == 1


def test_in_a_span_the_last_number_only_lengthens_distances(rng):
    X, y = rng.standard_normal((30, 4)), np.arange(30) % 2
    W = np.column_stack([rng.standard_normal((3, 3)), np.zeros(3)])
    group = np.zeros(3, dtype=np.intp)
    codebook = Codebook(W, np.array([0, 1, 1]), np.zeros((1, 0)), group, W.mean(axis=0))
    objective = Objective(SpanDistance(), Relative(), Sigmoid(2.0), 2)
    block = Block(X, y)
    gradient = objective.partial(codebook, block).gradients.prototypes
    plain = Objective(SquaredEuclidean(), Relative(), Sigmoid(2.0), 2).partial(codebook, block)
    assert_allclose(gradient[:, :3], plain.gradients.prototypes[:, :3], rtol=1e-12)
    assert_array_equal(gradient[:, 3], 0.0)
    assert (plain.gradients.prototypes[:, 3] != 0.0).any()
    out = codebook.zero_gradients()
    SpanDistance().pull_rows(X, codebook, rng.standard_normal((30, 3)), out)
    assert_array_equal(out.prototypes[:, 3], 0.0)
    for form in (SpanDistance.gradient, SpanDistance.gradient.py):
        by_w = np.zeros(4)
        form(X[0], W[0], np.empty(0), by_w, np.empty(0))
        assert_allclose(by_w, [*(2.0 * (W[0] - X[0]))[:3], 0.0], rtol=1e-12)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam", "momentum"])
def test_prototypes_stay_in_the_span(rng, solver):
    X, y = rng.standard_normal((60, 4)), np.arange(60) % 2
    init = np.array([[0.5, 0.0, 0.0, 0.0], [-0.5, 0.0, 0.0, 0.0]])
    model = FeatureSpaceTrainer(distance=SpanDistance(), init=init, solver=solver, random_state=0)
    model.fit(X, y)
    assert_array_equal(model.prototypes_[:, 3], 0.0)
    assert not np.allclose(model.prototypes_, init)


# The model


# Derivatives are compared to tol one coordinate at a time, and the coordinates differ: to the end.
@pytest.mark.parametrize(
    "settings",
    [
        {"tol": 1e-9, "beta": 2.0, "attraction": 0.1},
        {"prototypes_per_class": 2},
        {"solver": "sgd", "beta": None},
    ],
)
def test_with_the_linear_kernel_it_is_glvq(iris, settings):
    X, y = iris
    plain = GLVQ(random_state=0, **settings).fit(X, y)
    dual = KernelGLVQ(kernel="linear", max_support=None, random_state=0, **settings).fit(X, y)
    assert dual.solver_ == plain.solver_
    assert_allclose(dual.scale_, plain.scale_, rtol=1e-9)
    assert_allclose(dual.distances(X), plain.distances(X), atol=1e-5)
    assert_allclose(dual.dual_coef_ @ X[dual.support_], plain.prototypes_, atol=1e-5)
    assert_array_equal(dual.predict(X), plain.predict(X))
    assert_allclose(  # by its differences of distances: the length of a row may be unknown
        dual.rule_.decision.probabilities(plain.rule_.scores(X)), dual.predict_proba(X), atol=1e-4
    )
    assert_allclose(dual.decision_function(X), plain.decision_function(X), atol=1e-5)


PRESETS = [
    (MarginLVQ(loss="hinge"), {"margin": "hypothesis", "loss": "hinge", "beta": 4.0}),
    (MarginLVQ(loss="exponential"), {"margin": "hypothesis", "loss": Exponential(4.0)}),
    (MCE(), {"margin": "difference", "loss": "sigmoid", "beta": 2.0}),
    (LOGM(attraction=0.1), {"margin": Difference(), "loss": Logistic(1.0), "attraction": 0.1}),
    (SNPC(), {"margin": LogOdds(2.0), "loss": "sigmoid", "beta": 1.0}),
    (
        RSLVQ(attraction=0.1),
        {
            "margin": LogOdds(2.0),
            "loss": Logistic(),
            "decision": "soft",
            "attraction": 0.1,
        },
    ),
]


@pytest.mark.parametrize(("preset", "parts"), PRESETS, ids=lambda case: type(case).__name__)
def test_with_the_linear_kernel_parts_are_their_preset(iris, preset, parts):
    X, y = iris
    shared = {"prototypes_per_class": 2, "solver": "sgd", "random_state": 0}
    plain = clone(preset).set_params(**shared).fit(X, y)
    dual = KernelGLVQ(kernel="linear", max_support=None, **shared, **parts).fit(X, y)
    assert_allclose(dual.distances(X), plain.distances(X), atol=1e-6)
    assert_array_equal(dual.predict(X), plain.predict(X))
    if type(preset) is not MarginLVQ:  # whose probabilities come from roots of distances
        assert_allclose(dual.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    weights = dual.support_weights(X, y)
    assert_allclose(weights, plain.support_weights(X, y), atol=1e-4 * np.abs(weights).max())


def gram_cost(A, gram, y, labels, scale, margin, loss, beta, alpha):
    """Return the cost of coefficients from the Gram matrix alone."""
    D = gram.diagonal()[:, None] - 2.0 * gram @ A.T + np.einsum("kl,lm,km->k", A, gram, A)
    found = []
    for d, own in zip(D / scale, y, strict=True):
        m = reference.MARGINS[margin](d, labels == own, 1.0)
        near = d[labels == own].min() if margin != "log_odds" else None
        pull = near if near is not None else reference.soft_own(d, labels == own, 1.0)
        found.append(reference.LOSSES[loss](m, beta) + alpha * pull)
    return np.mean(found)


@pytest.mark.parametrize(
    ("margin", "loss", "beta"),
    [
        ("hypothesis", "exponential", 2.0),
        ("difference", "logistic", 1.0),
        ("log_odds", "logistic", 1.0),
    ],
)
def test_the_cost_is_least_and_prototypes_are_sums_of_their_support(iris, margin, loss, beta):
    some = np.flatnonzero(iris[1] > 0)[::2]  # of two classes no rival can take another's place
    X, y = iris[0][some], iris[1][some] - 1
    settings = {"margin": margin, "loss": loss, "beta": beta, "attraction": 0.2}
    exact = {"max_support": None, "solver": "lbfgs", "tol": 1e-9, "max_iter": 5000}
    model = KernelGLVQ(gamma=0.3, random_state=0, **exact, **settings).fit(X, y)
    gram = rbf_kernel(X, gamma=0.3)
    A = np.zeros((2, len(X)))
    A[:, model.support_] = model.dual_coef_
    given = gram, y, np.arange(2), model.scale_, margin, loss, beta, 0.2
    least = gram_cost(A, *given)
    assert_allclose(least, model.loss_curve_[-1], rtol=1e-9)
    for direction in np.random.RandomState(0).standard_normal((20, *A.shape)):
        step = 1e-3 * direction / np.sqrt(np.sum((direction @ gram) * direction))
        assert gram_cost(A + step, *given) > least - 1e-12
    weights = model.support_weights(X, y)
    assert_allclose(weights.sum(axis=0), 1.0)
    assert_allclose(gram @ weights, gram @ A.T, atol=2e-5)
    same = KernelGLVQ(kernel="precomputed", random_state=0, **exact, **settings).fit(gram, y)
    assert_allclose(same.support_weights(gram, y), weights, atol=1e-4)


def test_support_weights_are_the_formula_of_the_paper(iris):
    X, y = iris
    model = MarginLVQ(loss="exponential", scale=1.0, max_iter=3, solver="sgd", random_state=0)
    model.set_params(beta=1.5, prototypes_per_class=2).fit(X, y)
    expected = reference.support_weights(X, y, model.prototypes_, model.prototype_labels_, 1.5)
    assert_allclose(model.support_weights(X, y), expected, rtol=1e-9, atol=1e-12)


def test_rows_beyond_the_hinge_do_not_support(iris):
    X, y = iris
    model = KernelGLVQ(margin="hypothesis", loss="hinge", beta=4.0, random_state=0).fit(X, y)
    theta = hypothesis_margin(model, X, y) / np.sqrt(model.scale_)
    weights = model.support_weights(X, y)
    assert_array_equal(np.any(weights != 0.0, axis=1), theta < 0.25)
    assert np.count_nonzero(weights, axis=1).max() == 2


def test_support_weights_know_of_a_steeper_slope():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((200, 60)), np.arange(200) % 2
    X[:, 0] += y
    model = MarginLVQ(random_state=0).fit(X, y)
    assert model.slope_factor_ > 1.0
    theta = hypothesis_margin(model, X, y) / np.sqrt(model.scale_)
    supports = np.any(model.support_weights(X, y) != 0.0, axis=1)
    assert_array_equal(supports, theta < 1.0 / (4.0 * model.slope_factor_))


def test_support_weights_know_of_weights(iris, rng):
    X, y = iris
    times = rng.randint(0, 3, size=len(y))
    exact = {"beta": 2.0, "class_weight": {0: 1.0, 1: 2.0, 2: 0.5}, "random_state": 0}
    model = KernelGLVQ(**exact).fit(X, y, sample_weight=times)
    weights = model.support_weights(X, y, sample_weight=times)
    some = np.repeat(np.arange(len(y)), times)
    one_by_one = model.support_weights(X[some], y[some])
    total = np.zeros_like(weights)
    np.add.at(total, some, one_by_one)
    assert_allclose(weights, total, atol=1e-10)
    assert not weights[times == 0].any()


@pytest.mark.parametrize("max_support", [None, 7])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "polynomial", "linear", laplacian_kernel])
def test_distances_are_those_of_the_gram_matrix(iris, kernel, max_support):
    X, y = iris
    model = KernelGLVQ(kernel=kernel, max_support=max_support, random_state=0).fit(X[::2], y[::2])
    train, new = X[::2], X[1::2]

    def product(a, b):  # by hand
        if kernel == "linear":
            return a @ b.T
        if kernel == "rbf":
            return np.exp(-model.gamma_ * ((a[:, None] - b) ** 2).sum(axis=2))
        if kernel is laplacian_kernel:
            return np.exp(-np.abs(a[:, None] - b).sum(axis=2) / a.shape[1])
        return (model.gamma_ * (a @ b.T) + 1.0) ** 3

    A = np.zeros((3, len(train)))
    A[:, model.support_] = model.dual_coef_
    own = np.diagonal(product(new, new))[:, None]
    expected = own - 2.0 * product(new, train) @ A.T + np.diagonal(A @ product(train, train) @ A.T)
    tolerance = 1e-8 * max(own.max(), 1.0)
    assert_allclose(model.distances(new), expected, rtol=1e-6, atol=tolerance)
    gram = product(train, train)
    to_rows = gram.diagonal() - 2.0 * A @ gram
    assert_array_equal(model.exemplar_indices_, to_rows.argmin(axis=1))
    assert_array_equal(model.exemplars_, train[model.exemplar_indices_])
    if max_support:
        assert len(model.support_) <= 3 * max_support
    distances, indices = model.nearest_prototypes(new, k=2)
    assert_allclose(distances, np.sort(expected, axis=1)[:, :2], rtol=1e-6, atol=tolerance)
    assert_array_equal(model.prototype_labels_[indices[:, 0]], model.predict(new))


def test_scores_and_probabilities_follow_from_the_distances(iris):
    X, y = iris
    model = KernelGLVQ(random_state=0, prototypes_per_class=2).fit(X, y)
    D = model.distances(X)
    nearest = np.stack([D[:, model.prototype_labels_ == c].min(axis=1) for c in range(3)], axis=1)
    assert_allclose(model.decision_function(X), -nearest, rtol=1e-12)
    given = "difference", model.rule_.decision.sharpness, model.rule_.decision.floor
    wanted = reference.probabilities_of_margins(nearest / model.scale_, *given)
    assert_allclose(model.predict_proba(X), wanted, rtol=1e-9)
    margin = hypothesis_margin(model, X, y)
    assert_array_equal(margin > 0, model.predict(X) == y)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear", laplacian_kernel])
@pytest.mark.parametrize("max_support", [None, 4])
def test_sparse_rows_are_learned_from_as_dense_ones(kernel, max_support, rng):
    y = np.arange(80) % 3
    X = rng.poisson(0.4, (80, 30)) + 2.0 * (rng.uniform(size=(80, 30)) < 0.3) * (
        np.arange(30) % 3 == y[:, None]
    )
    S, weight = csr_matrix(X), rng.randint(0, 3, 80)
    given = {"kernel": kernel, "max_support": max_support, "random_state": 0}
    dense, sparse = (KernelGLVQ(**given).fit(Z, y, weight) for Z in (X, S))
    assert_array_equal(sparse.support_, dense.support_)
    assert_allclose(sparse.dual_coef_, dense.dual_coef_, rtol=1e-4, atol=1e-6)
    assert_allclose(sparse.distances(S), dense.distances(X), rtol=1e-5, atol=1e-7)
    assert_allclose(sparse.predict_proba(S), dense.predict_proba(X), atol=1e-5)
    assert_array_equal(sparse.exemplars_, dense.exemplars_)
    for rows in (S, X, S.astype(np.float32)):
        assert_array_equal(sparse.predict(rows), dense.predict(X))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        KernelGLVQ(kernel="precomputed").fit(csr_matrix(X @ X.T), y)


@pytest.mark.parametrize("max_support", [None, 5])
def test_a_precomputed_kernel_is_the_kernel(iris, max_support):
    X, y = iris
    train, new = X[::2], X[1::2]
    # On an edge of the cost rounding decides where L-BFGS goes on; ten iterations reach none.
    settings = {"max_support": max_support, "random_state": 0, "max_iter": 10}
    direct = KernelGLVQ(gamma=0.3, **settings).fit(train, y[::2])
    gram, products = rbf_kernel(train, gamma=0.3), rbf_kernel(new, train, gamma=0.3)
    given_products = KernelGLVQ(kernel="precomputed", **settings).fit(gram, y[::2])
    assert_array_equal(given_products.support_, direct.support_)
    assert_array_equal(given_products.exemplars_, direct.exemplar_indices_)
    assert_allclose(given_products.distances(products), direct.distances(new) - 1.0, atol=1e-9)
    assert_allclose(given_products.predict_proba(products), direct.predict_proba(new), atol=1e-7)
    assert_array_equal(given_products.predict(products), direct.predict(new))
    two = y[::2] > 0
    direct = clone(direct).fit(train, two)
    given_products = clone(given_products).fit(gram, two)
    scores = given_products.decision_function(products)
    assert_allclose(scores, direct.decision_function(new), atol=1e-9)
    with pytest.raises(ValueError, match="no hypothesis margin"):
        hypothesis_margin(given_products, products, y[1::2] > 0)


def test_a_gram_matrix_in_single_precision_will_do(iris):
    X, y = iris
    gram = rbf_kernel(X, gamma=0.3)
    single, double = (
        KernelGLVQ(kernel="precomputed", random_state=0).fit(G, y)
        for G in (gram.astype(np.float32), gram)
    )
    assert (single.predict(gram) == double.predict(gram)).mean() > 0.98


def test_a_function_is_the_kernel_that_it_computes(iris):
    X, y = iris
    named = KernelGLVQ(gamma=0.5, random_state=0).fit(X, y)
    own = KernelGLVQ(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), random_state=0).fit(X, y)
    assert_allclose(own.distances(X), named.distances(X), atol=1e-7)
    assert not hasattr(own, "gamma_")


def test_gamma_is_that_of_svc(iris):
    X, y = iris[0] * [1.0, 2.0, 3.0, 4.0] + 5.0, iris[1]
    assert KernelGLVQ().fit(X, y).gamma_ == pytest.approx(SVC().fit(X, y)._gamma, rel=1e-12)
    assert KernelGLVQ(gamma=0.7).fit(X, y).gamma_ == 0.7


def test_rbf_does_not_depend_on_where_the_data_are(iris):
    X, y = iris
    near, far = (KernelGLVQ(random_state=0).fit(Z, y) for Z in (X, X + 1e6))
    assert_allclose(far.distances(X + 1e6), near.distances(X), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (lambda: make_moons(300, noise=0.1, random_state=0), 0.98),
        (lambda: make_spirals(3), 0.98),
    ],
)
def test_it_solves_what_glvq_cannot(make, bound):
    X, y = make()
    gamma = 20.0 / (2 * X.var())
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    dual = cross_val_score(KernelGLVQ(gamma=gamma, random_state=0), X, y, cv=cv)
    assert dual.mean() >= bound
    assert cross_val_score(GLVQ(random_state=0), X, y, cv=cv).mean() < bound - 0.08
    assert len(KernelGLVQ(gamma=gamma, random_state=0).fit(X, y).support_) < len(X) / 2


@pytest.mark.parametrize(
    "data",
    [
        lambda: load_wine(return_X_y=True),
        lambda: load_breast_cancer(return_X_y=True),
        lambda: (a[:500] for a in load_digits(return_X_y=True)),
    ],
)
def test_pruning_keeps_the_accuracy(data):
    X, y = data()
    X = StandardScaler().fit_transform(X)
    whole = cross_val_score(KernelGLVQ(max_support=None, random_state=0), X, y).mean()
    pruned = cross_val_score(KernelGLVQ(random_state=0), X, y).mean()
    assert pruned >= whole - 0.015
    assert len(KernelGLVQ(random_state=0).fit(X, y).support_) < len(X) / 2


def mean_cost(model, X, y, beta=15.0):
    """Give the cost of GLVQ by its formula."""
    D, own = model.distances(X), model.prototype_labels_ == y[:, None]
    near, far = np.where(own, D, np.inf).min(axis=1), np.where(own, np.inf, D).min(axis=1)
    margin = (far - near) / (far + near)
    return np.mean(-margin if beta is None else 1.0 / (1.0 + np.exp(beta * margin)))


@pytest.mark.parametrize("beta", [15.0, None])
def test_as_many_rows_are_kept_as_the_cost_asks_for(beta):
    X, y = make_moons(300, noise=0.2, random_state=0)
    settings = {"gamma": 10.0, "beta": beta, "random_state": 0}
    whole = KernelGLVQ(max_support=None, **settings).fit(X, y)
    kept = KernelGLVQ(**settings).fit(X, y)
    rows = len(kept.support_) // 2
    assert rows in {10, 20, 40, 80}
    assert_array_equal(kept.distances(X[:1]).shape, (1, 2))
    best, undecided = mean_cost(whole, X, y, beta), 0.0 if beta is None else 0.5
    bound = best + 0.02 * (undecided - best)
    assert mean_cost(kept, X, y, beta) <= bound
    with_given = KernelGLVQ(max_support=rows, **settings).fit(X, y)
    assert_array_equal(with_given.dual_coef_, kept.dual_coef_)
    fewer = KernelGLVQ(max_support=rows // 2, **settings).fit(X, y)
    assert mean_cost(fewer, X, y, beta) > bound


def test_training_again_is_to_a_minimum_within_the_span(iris, rng):
    X, y = iris
    model = KernelGLVQ(max_support=3, beta=2.0, tol=1e-8, random_state=0).fit(X, y)
    assert model.dual_coef_.shape == (3, 9)
    gram = rbf_kernel(X[model.support_], gamma=model.gamma_)
    coefficients, best = model.dual_coef_.copy(), mean_cost(model, X, y, 2.0)
    for _ in range(20):
        moved = coefficients * (1.0 + 1e-3 * rng.standard_normal((3, 9)))
        lengths = np.einsum("kl,lm,km->k", moved, gram, moved)
        codebook = replace(model.rule_.codebook, prototypes=moved, metric=lengths[:, None])
        model.rule_ = replace(model.rule_, codebook=codebook)
        assert mean_cost(model, X, y, 2.0) > best


def test_with_rows_for_all_the_rank_nothing_is_pruned(iris):
    X, y = iris
    whole = KernelGLVQ(max_support=None, random_state=0).fit(X, y)
    kept = KernelGLVQ(max_support=50, random_state=0).fit(X, y)
    assert_array_equal(kept.dual_coef_, whole.dual_coef_)


@pytest.mark.parametrize(
    "settings", [{"verbose": 1}, {"solver": "sgd"}, {"attraction": 0.1}, {"early_stopping": True}]
)
def test_training_again_takes_the_settings(iris, settings, capsys):
    X, y = iris
    weight = {0: 1.0, 1: 2.0, 2: 1.0}
    model = KernelGLVQ(max_support=4, class_weight=weight, random_state=0, **settings).fit(X, y)
    assert model.score(X, y) > 0.93
    assert len(model.support_) == 12
    printed = capsys.readouterr().out
    assert printed.count("[KernelGLVQ] solver") == settings.get("verbose", 0)
    assert "[GLVQ]" not in printed


@pytest.mark.filterwarnings("error::UserWarning")
def test_warnings_name_the_model(iris):
    with pytest.warns(ConvergenceWarning, match="^KernelGLVQ stopped at max_iter=2"):
        KernelGLVQ(max_iter=2).fit(*iris)


def test_too_few_rows_for_the_border_are_told():
    X, y = make_spirals()
    with pytest.warns(UserWarning, match=r"% of the training rows change their class") as told:
        KernelGLVQ(gamma=2.0, max_support=3, random_state=0).fit(X, y)
    assert told[0].filename == __file__


def test_a_seed_gives_the_same_numbers(iris):
    X, y = iris
    settings = {"prototypes_per_class": 2, "random_state": 3}
    first, second = (KernelGLVQ(**settings).fit(X, y) for _ in range(2))
    assert_array_equal(first.dual_coef_, second.dual_coef_)
    assert_array_equal(first.support_, second.support_)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_weight_two_is_the_row_twice_and_zero_no_row(iris, kernel, rng):
    X, y = iris
    weight = rng.randint(0, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weight)
    new = X[:20] + 0.1
    fitted = []
    for rows, w in ((np.arange(len(X)), weight), (twice, None)):
        Z, N = X[rows], new
        if kernel == "precomputed":
            Z, N = rbf_kernel(Z, gamma=0.2), rbf_kernel(new, Z, gamma=0.2)
        model = KernelGLVQ(kernel=kernel, random_state=0).fit(Z, y[rows], sample_weight=w)
        assert model.solver_ == "lbfgs"
        if w is not None:
            assert weight[model.support_].all()
            assert weight[model.exemplar_indices_].all()
        fitted.append(model.distances(N))
    assert_allclose(fitted[0], fitted[1], atol=1e-7)


def test_class_weights_and_string_labels(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    model = KernelGLVQ(random_state=0, class_weight={"virginica": 50.0}).fit(X, names[y])
    plain = KernelGLVQ(random_state=0).fit(X, names[y])
    assert model.predict(X).dtype.kind == "U"
    assert (model.predict(X) == "virginica").sum() > (plain.predict(X) == "virginica").sum()
    assert plain.n_prototypes_ == {"setosa": 1, "versicolor": 1, "virginica": 1}


def test_early_stopping_and_the_number_of_prototypes():
    X, y = make_spirals()
    model = KernelGLVQ(
        gamma=2.0,
        prototypes_per_class="auto",
        early_stopping=True,
        max_support=None,
        random_state=0,
    ).fit(X, y)
    assert len(model.validation_curve_) > 0
    assert sum(model.n_prototypes_.values()) == len(model.dual_coef_)
    model.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(model, "validation_curve_")


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_it_pickles(iris, kernel):
    X, y = iris
    Z = rbf_kernel(X) if kernel == "precomputed" else X
    model = KernelGLVQ(kernel=kernel, random_state=0).fit(Z, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.distances(Z), model.distances(Z))


def test_it_works_in_a_pipeline_and_a_search(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), KernelGLVQ(random_state=0))
    assert cross_val_score(pipeline, X, y).mean() > 0.93
    search = GridSearchCV(KernelGLVQ(kernel="precomputed"), {"beta": [5.0, 15.0]}, cv=3)
    assert search.fit(rbf_kernel(X), y).best_score_ > 0.9  # cuts rows and columns


def test_parts_of_rows_are_as_all_rows(iris, monkeypatch):
    X, y = iris
    model = KernelGLVQ(random_state=0).fit(X, y)
    whole = model.distances(X)
    monkeypatch.setattr("protolearn._arrays.CHUNK_BYTES", 1)
    assert_allclose(model.distances(X), whole, rtol=1e-12)
    assert_array_equal(model.predict(X.astype(np.float32)), model.predict(X))


def test_the_shared_parameters_are_those_of_glvq():
    shared = GLVQ().get_params()
    del shared["checkpoint"]  # the Gram matrix has to fit into memory anyway
    del shared["history"]  # of prototypes that have no coordinates
    shared["beta"] = GLVQ()._slope()  # a kernel keeps its slope
    assert shared.items() <= KernelGLVQ().get_params().items()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "rbff"}, "kernel='rbff' .* Did you mean 'rbf'"),
        ({"kernel": None}, "kernel=None"),
        ({"gamma": "auto"}, "gamma='auto' must be 'scale', or"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"degree": 0}, "degree=0"),
        ({"degree": 2.5}, "degree=2.5"),
        ({"coef0": -1.0}, "coef0=-1.0"),
        ({"max_support": 0}, "max_support=0 must be 'auto', None, or"),
        ({"max_support": "all"}, "max_support='all' must be 'auto', None, or"),
        ({"init": np.zeros((3, 4))}, "init cannot be an array"),
        ({"init": "kmean"}, "Did you mean 'kmeans'"),
        ({"beta": -1.0}, "beta=-1.0"),
        ({"beta": None, "loss": "hinge"}, "beta=None"),
        ({"loss": "hing"}, "Did you mean 'hinge'"),
        ({"margin": "relativ"}, "Did you mean 'relative'"),
        ({"decision": "all"}, "decision='all'"),
        ({"solver": "newton"}, "solver='newton'"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"kernel": lambda A, B: A @ B.T[:, :0]}, "kernel gives an array of shape"),
        ({"kernel": lambda A, B: -(A @ B.T)}, "not positive semi-definite"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "NaN or infinity"),
        ({"kernel": "precomputed"}, "takes a square matrix"),
    ],
)
def test_wrong_parameters(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        KernelGLVQ(**settings).fit(*iris)


def test_wrong_data(iris):
    X, y = iris
    with pytest.raises(NotFittedError):
        KernelGLVQ().predict(X)
    with pytest.raises(ValueError, match="only one class"):
        KernelGLVQ().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="NaN"):
        KernelGLVQ().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="no row of positive weight"):
        KernelGLVQ().fit(X, y, sample_weight=(y > 0).astype(float))
    lopsided = rbf_kernel(X)
    lopsided[0, 1] += 0.1
    with pytest.raises(ValueError, match="not symmetric"):
        KernelGLVQ(kernel="precomputed").fit(lopsided, y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelGLVQ(kernel="precomputed").fit(rbf_kernel(X) - 0.9, y)
    with pytest.raises(ValueError, match="not a sum over features"):
        KernelGLVQ().fit(X, y).contributions(X)
    assert not hasattr(KernelGLVQ(), "partial_fit")
    assert not hasattr(KernelGLVQ().fit(X, y), "prototypes_")
    assert not hasattr(KernelGLVQ().fit(X, y), "transform")


def test_rows_far_from_the_origin_are_told(iris):
    X, y = iris
    with pytest.warns(UserWarning, match="far from the origin"):
        KernelGLVQ(kernel="linear", random_state=0).fit(X + 1e6, y)


def test_rows_of_length_zero():
    with pytest.raises(ValueError, match="length zero"):
        KernelGLVQ(kernel="linear").fit(np.zeros((10, 2)), np.arange(10) % 2)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_values_whose_squares_vanish_are_refused(kernel):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"squared distances vanish.*rescale X"):
        KernelGLVQ(kernel=kernel).fit(1e-160 * X, y)


@pytest.mark.parametrize("history", [True, "step"])
def test_the_history_with_a_linear_kernel_is_that_of_glvq(history):
    """Combinations of rows by a linear kernel are the prototypes that GLVQ itself goes through."""
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    weight = np.ones(len(y))
    weight[[3, -1]] = 0.0
    shared = {"solver": "sgd", "max_iter": 3, "random_state": 0, "history": history}
    plain = GLVQ(**shared).fit(X, y, weight)
    model = KernelGLVQ(kernel="linear", max_support=None, **shared).fit(X, y, weight)
    assert model.history_.keys() == {"n_iter", "example", "loss", "dual_coef"}
    assert model.history_["dual_coef"].shape[1:] == (3, 150)
    assert_array_equal(model.history_["n_iter"], plain.history_["n_iter"])
    assert_array_equal(model.history_["example"], plain.history_["example"])
    presented = set(np.flatnonzero(weight)) if history == "step" else set()
    assert set(model.history_["example"]) == {-1, *presented}
    assert_allclose(model.history_["dual_coef"] @ X, plain.history_["prototypes"], atol=1e-8)
    assert_allclose(model.history_["dual_coef"][-1][:, model.support_], model.dual_coef_)
    assert not hasattr(model.set_params(history=False).fit(X, y), "history_")
