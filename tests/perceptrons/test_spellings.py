"""scikit-learn's spellings, data that are hard for perceptrons, and what theory says."""

import itertools
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial import ConvexHull
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC

from given_profile import THOROUGH
from protolearn import (
    Adaline,
    AdaTron,
    BayesPoint,
    CommitteeMachine,
    KernelAdaTron,
    MinOver,
    ParityMachine,
    Perceptron,
    Pocket,
    Rosenblatt,
    cover_count,
    generalization_error,
    is_separable,
    theoretical_error,
)
from protolearn.datasets import make_teacher_student
from reference import cover

LEARNERS = [
    Rosenblatt(max_iter=20),
    Pocket(max_iter=20, random_state=0),
    MinOver(max_iter=100),
    Adaline(max_iter=50),
    AdaTron(max_iter=20),
    BayesPoint(n_estimators=3, max_iter=20, random_state=0),
    CommitteeMachine(max_iter=20, random_state=0),
    Perceptron(max_iter=20),
]

silent = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(n=60, d=3, seed=0, shift=1.0):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + shift * y[:, None], y


def weights_of(model):
    return model.hidden_coef_ if isinstance(model, CommitteeMachine) else model.coef_


@silent
@pytest.mark.parametrize("model", LEARNERS, ids=lambda each: type(each).__name__)
def test_a_true_intercept_is_the_default(model):
    X, y = overlapping()
    given = model.fit_intercept
    expected = weights_of(model.fit(X, y))
    assert_array_equal(weights_of(model.set_params(fit_intercept=True).fit(X, y)), expected)
    model.set_params(fit_intercept=given)


@silent
@pytest.mark.parametrize("form", [csr_array, csr_matrix])
@pytest.mark.parametrize("model", LEARNERS, ids=lambda each: type(each).__name__)
def test_sparse_rows(model, form):
    X, y = overlapping()
    X[np.abs(X) < 0.7] = 0.0
    expected, labels = weights_of(model.fit(X, y)), model.predict(X)
    model.fit(form(X), y)
    assert_array_equal(weights_of(model), expected)
    assert_array_equal(model.predict(form(X)), labels)
    assert model.__sklearn_tags__().input_tags.sparse
    if hasattr(model, "stabilities"):
        assert_allclose(model.stabilities(form(X), y), model.stabilities(X, y))


@silent
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", laplacian_kernel])
def test_a_kernel_takes_sparse_rows(kernel):
    X, y = overlapping()
    X[np.abs(X) < 0.7] = 0.0
    model = KernelAdaTron(kernel=kernel, C=1.0).fit(X, y)
    expected = model.decision_function(X)
    model.fit(csr_matrix(X), y)
    assert_allclose(model.decision_function(csr_matrix(X)), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)
    assert model.__sklearn_tags__().input_tags.sparse
    products = model.set_params(kernel="precomputed")
    assert not products.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match="dense"):
        products.fit(csr_matrix(X @ X.T), y)


def test_c_replaces_gamma():
    X, y = overlapping()
    model = KernelAdaTron(C=2.0).fit(X, y)
    with pytest.warns(FutureWarning, match=r"use C=2.0 instead.*kernel_gamma") as caught:
        old = KernelAdaTron(gamma=2.0).fit(X, y)
    assert caught[0].filename == __file__
    assert_array_equal(old.dual_coef_, model.dual_coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        KernelAdaTron(C=1.0, gamma="deprecated").fit(X, y)


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 1.5}, "balanced"])
def test_weights_of_classes_are_those_of_scikit_learn(class_weight):
    X, y = overlapping(90)
    X, y = np.vstack([X, X[y == 1][:20] - 0.5]), np.append(y, np.ones(20, int))
    settings = {"C": 0.5, "tol": 1e-9, "class_weight": class_weight}
    machine = SVC(kernel="linear", **settings).fit(X, y)
    model = AdaTron(gamma=1.5, tol=1e-9, class_weight=class_weight).fit(X, y)
    assert_allclose(model.coef_, machine.coef_, rtol=1e-5)
    assert_allclose(model.intercept_, machine.intercept_, rtol=1e-4, atol=1e-6)
    kernel = KernelAdaTron(kernel_gamma=0.7, **settings).fit(X, y)
    expected = SVC(gamma=0.7, **settings).fit(X, y)
    assert_allclose(
        kernel.decision_function(X), expected.decision_function(X), rtol=1e-4, atol=1e-5
    )


def test_weights_of_classes_in_other_rules():
    X, y = overlapping(90)
    weight = np.where(y == 1, 3.0, 0.5)
    settings = {"class_weight": {0: 0.5, 1: 3.0}}
    adaline = Adaline(**settings).fit(X, y)
    assert_allclose(adaline.coef_, Adaline().fit(X, y, sample_weight=weight).coef_)
    model = Rosenblatt(max_iter=3, keep="last", fit_intercept=False, **settings)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    w, S = np.zeros(3), np.where(y == 1, 1.0, -1.0)
    for _ in range(3):
        for i in range(90):
            if S[i] * (w @ X[i]) <= 0:
                w = w + weight[i] * S[i] * X[i] / 3
    assert_allclose(model.coef_[0], w, rtol=1e-10)
    with pytest.raises(ValueError, match="class_weight of AdaTron gives factors of gamma"):
        AdaTron(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="class_weight of Rosenblatt is not possible"):
        Rosenblatt(fit_intercept="free", class_weight="balanced").fit(X, y)


@pytest.mark.parametrize("away", [100.0, 1e5])
@pytest.mark.parametrize("model", LEARNERS[:6], ids=lambda each: type(each).__name__)
def test_rows_far_from_the_origin_are_named(model, away):
    X, y = overlapping(shift=3.0)
    kind = model.fit_intercept
    with pytest.warns(ConvergenceWarning, match="times their spread away from the origin"):
        model.set_params(fit_intercept="clamped").fit(X + away, y)
    model.set_params(fit_intercept=kind)


def test_no_word_of_the_origin_where_it_is_near():
    X, y = overlapping(shift=9.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Rosenblatt().fit(X, y)
        Rosenblatt(fit_intercept="free").fit(X + 1e5, y)
        Pocket(random_state=0).fit(X, y)


def test_a_bayes_point_of_inseparable_rows_answers_soon():
    X, y = overlapping(2000, 20, shift=0.5)
    BayesPoint(n_estimators=2, random_state=0).fit(X[:50, :2] + 9 * y[:50, None], y[:50])  # compile
    begin = time.process_time()
    with pytest.warns(ConvergenceWarning, match="No hyperplane separates the two classes"):
        BayesPoint(random_state=0).fit(X, y)
    assert time.process_time() - begin < 3.0  # it took 25 seconds; a loaded machine is slow


# The fewest errors --------------------------------------------------------------------------------


def fewest_errors(X, y, threshold):
    """Go through all hyperplanes through as many points as fix one; these may be on either side."""
    Z = np.column_stack([X, np.ones(len(X))]) if threshold else X
    S, k = np.where(y == 1, 1.0, -1.0), Z.shape[1] - 1
    least = len(Z)
    for chosen in itertools.combinations(range(len(Z)), k):
        w = np.linalg.svd(Z[list(chosen)])[2][-1] if k else np.ones(1)
        others = np.delete(np.arange(len(Z)), chosen)
        errors = int((S[others] * (Z[others] @ w) < 0).sum())
        least = min(least, errors, len(others) - errors)
    return least


@silent
def test_the_pocket_holds_the_fewest_errors_of_small_sets():
    for seed in range(500 if THOROUGH else 20):
        rng = np.random.RandomState(seed)
        n, d = rng.randint(6, 15), rng.randint(1, 4)
        X, y = rng.standard_normal((n, d)), rng.randint(0, 2, n)
        y[:2] = 0, 1
        for fit_intercept in ("clamped", "free", False):
            model = Pocket(fit_intercept=fit_intercept, max_iter=10, random_state=0).fit(X, y)
            expected = fewest_errors(X, y, fit_intercept is not False)
            assert model.errors_curve_[0][-1] == expected, (seed, fit_intercept)
            assert (model.stabilities(X, y) <= 0).sum() == expected
            assert model.optimal_.all()


@silent
def test_the_printed_pocket_finds_fewer_errors_in_as_many_sweeps():
    X, y = make_teacher_student(400, 30, noise=0.15, random_state=0)
    errors = [
        Pocket(count=count, max_iter=100, random_state=0).fit(X, y).errors_curve_[0][-1]
        for count in ("updates", "runs")
    ]
    assert errors[0] <= errors[1]


# Stabilities that are negative --------------------------------------------------------------------


def largest_by_facets(Z):
    """Give the largest least product of a unit vector with rows whose hull holds the origin.

    It is minus the distance of the origin from the nearest facet of the hull of the rows.
    """
    return -np.abs(ConvexHull(-Z).equations[:, -1]).min()


@pytest.mark.parametrize("fit_intercept", ["clamped", "free", False])
def test_the_largest_negative_stability(fit_intercept):
    found = 0
    for seed in range(5):
        X, y = overlapping(24, 2, seed, shift=0.3)
        if is_separable(X, y, fit_intercept=fit_intercept is not False):
            continue
        S = np.where(y == 1, 1.0, -1.0)
        Z = S[:, None] * (np.column_stack([X, -np.ones(24)]) if fit_intercept == "clamped" else X)
        if fit_intercept == "free":  # half the distance between the projections of the classes
            Z = 0.5 * (X[y == 1][:, None] - X[y == 0][None]).reshape(-1, 2)
        model = AdaTron(fit_intercept=fit_intercept, negative_stability=True).fit(X, y)
        assert model.stability_ == pytest.approx(largest_by_facets(Z), abs=1e-9)
        N = 2 + (fit_intercept == "clamped")
        assert_allclose((model.embedding_strengths_ * S) @ X / N, model.coef_, atol=1e-8)
        found += 1
    assert found > 3


def test_a_positive_stability_is_the_same_as_before():
    X, y = overlapping(shift=6.0)
    expected = AdaTron().fit(X, y)
    assert_array_equal(AdaTron(negative_stability=True).fit(X, y).coef_, expected.coef_)


# Theory -------------------------------------------------------------------------------------------


def test_the_error_of_parallel_weights_is_a_number():
    rng = np.random.RandomState(0)
    for _ in range(200):
        w = rng.standard_normal(7)
        assert generalization_error(3.0 * w, w) < 1e-15
        assert generalization_error(-w, w) == pytest.approx(1.0)
    w, teacher = rng.standard_normal((4, 5)), rng.standard_normal(5)
    cosines = w @ teacher / np.linalg.norm(w, axis=1) / np.linalg.norm(teacher)
    assert_allclose(generalization_error(w, teacher), np.arccos(cosines) / np.pi)
    rows = rng.standard_normal((200_000, 5))
    share = np.mean((rows @ w[0] > 0) != (rows @ teacher > 0))
    assert generalization_error(w[0], teacher) == pytest.approx(share, abs=0.005)
    with pytest.raises(ValueError, match="not all of them may be zero"):
        generalization_error(np.zeros(5), teacher)


def test_covers_count():
    for P, N in [(1, 1), (3, 2), (10, 4), (20, 20), (7, 30)]:
        assert cover_count(P, N) / 2**P == pytest.approx(cover(P, N))
    X = np.random.RandomState(0).standard_normal((6, 2))
    labels = list(itertools.product([0, 1], repeat=6))
    separated = sum(
        len(set(y)) == 2 and is_separable(X, y, fit_intercept=False) for y in labels
    ) + 2 * bool(is_separable(np.vstack([X, -X]), [0] * 6 + [1] * 6, fit_intercept=False))
    assert separated == cover_count(6, 2)


def test_asymptotes_of_the_theory():
    assert 1000 * theoretical_error(1000.0, "gibbs") == pytest.approx(0.625, abs=1e-3)
    assert 1000 * theoretical_error(1000.0, "bayes") == pytest.approx(0.442, abs=1e-3)
    assert 0.5 == theoretical_error(0.0, "hebb") == theoretical_error(0.0)
    for alpha in (0.1, 1.0, 5.0, 50.0):
        hebb, gibbs, bayes = (theoretical_error(alpha, each) for each in ("hebb", "gibbs", "bayes"))
        assert bayes < gibbs
        assert bayes < hebb
    with pytest.raises(ValueError, match="student='adaline'"):
        theoretical_error(1.0, "adaline")


def test_experiments_lie_beside_the_theory():
    """Hebb's rule and the Bayes point with 60 weights; within a few standard errors and 1 / N."""
    errors = {"hebb": [], "bayes": []}
    students = {
        "hebb": Perceptron("hebb", max_iter=1, fit_intercept=False),
        "bayes": BayesPoint(n_estimators=50, fit_intercept=False, random_state=0),
    }
    for seed in range(12):
        X, y, teacher = make_teacher_student(180, 60, random_state=seed, return_teacher=True)
        for name, student in students.items():
            errors[name].append(generalization_error(student.fit(X, y).coef_[0], teacher))
    for name, values in errors.items():
        deviation = np.mean(values) - theoretical_error(3.0, name)
        assert abs(deviation) < 4 * np.std(values) / np.sqrt(12) + 0.01, name


@silent
def test_teachers_of_several_units():
    X, y, W = make_teacher_student(
        300, 8, teacher="committee", n_units=5, random_state=0, return_teacher=True
    )
    assert_array_equal(y, np.sign(np.sign(X @ W.T).sum(axis=1)))
    X, y, W = make_teacher_student(300, 8, teacher="parity", random_state=0, return_teacher=True)
    assert_array_equal(y, np.sign(X @ W.T).prod(axis=1))
    assert ParityMachine(random_state=0).fit(X[:60], y[:60]).score(X[:60], y[:60]) == 1.0
    with pytest.raises(ValueError, match="must be odd"):
        make_teacher_student(teacher="committee", n_units=2)
    with pytest.raises(ValueError, match="teacher='mlp'"):
        make_teacher_student(teacher="mlp")


@pytest.mark.parametrize(
    "model",
    [Rosenblatt(), Pocket(), AdaTron(), KernelAdaTron(), CommitteeMachine(), ParityMachine()],
    ids=lambda model: type(model).__name__,
)
def test_a_model_of_an_earlier_version_has_the_defaults_of_later_parameters(model):
    state = model.fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).__getstate__()
    for name in ("keep", "warm_start", "class_weight", "history", "callback", "count"):
        state.pop(name, None)
    restored = type(model).__new__(type(model))
    restored.__setstate__(state)
    assert str(restored.get_params()) == str(type(model)().get_params())
    assert restored.score([[0.0], [5.0]], [0, 1]) == 1.0
