"""Rosenblatt's perceptron: update for update, and its convergence theorem."""

import warnings
from fractions import Fraction
from itertools import repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from protolearn import Rosenblatt
from protolearn.datasets import make_teacher_student
from protolearn.perceptrons.examples import Examples, Inputs
from protolearn.perceptrons.rosenblatt import Presented
from protolearn.perceptrons.training_record import Training
from reference import lengthened, rosenblatt, separable

THRESHOLDS = ("clamped", "free", False)
ORDERS = ("cyclic", "random")


def signs(y):
    """Give +1 for the second of two classes."""
    return np.where(np.asarray(y) == np.max(y), 1.0, -1.0)


def apart(n, d, gap, seed=0, theta=0.0):
    """Draw normal rows that are at least ``gap`` away from a random hyperplane."""
    rng = np.random.RandomState(seed)
    w = rng.standard_normal(d)
    X = rng.standard_normal((6 * n, d))
    side = (X @ w) / np.linalg.norm(w) - theta
    kept = np.flatnonzero(np.abs(side) > gap)[:n]
    return X[kept], np.where(side[kept] > 0, 1, 0)


def largest_stability(X, y, fit_intercept):
    """Give kappa_max by LIBSVM; through the origin by mirrored data, whose intercept is zero."""
    if fit_intercept == "free":
        rows, labels = X, signs(y)
    else:
        Z = lengthened(X, fit_intercept == "clamped")
        rows, labels = np.vstack([Z, -Z]), np.append(signs(y), -signs(y))
    svm = SVC(kernel="linear", C=1e10, tol=1e-8).fit(rows, labels)
    return 1.0 / np.linalg.norm(svm.coef_)


def most_updates(X, y, fit_intercept, c):
    """Give the bound N (2 c + Gamma) / kappa_max^2 of the convergence theorem.

    The pairs of a free threshold are examples z_i + z_j = x_+ - x_- of a perceptron without one,
    which are learned if w.(z_i + z_j) <= 2 c. Their largest stability is 2 kappa_max.
    """
    kappa = largest_stability(X, y, fit_intercept)
    if fit_intercept == "free":
        N, c, kappa = X.shape[1], 2 * c, 2 * kappa
        Z = (X[signs(y) > 0][:, None] - X[signs(y) < 0]).reshape(-1, N)
    else:
        Z = lengthened(X, fit_intercept == "clamped")
        N = Z.shape[1]
    return N * (2 * c + (Z**2).sum(axis=1).max() / N) / kappa**2


# The theorem -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("c", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("gap", [0.02, 0.4])
def test_no_more_updates_than_the_bound(fit_intercept, order, c, gap):
    X, y = apart(60, 4, gap)
    model = Rosenblatt(
        c=c, order=order, fit_intercept=fit_intercept, max_iter=10**6, random_state=0
    ).fit(X, y)
    assert 0 < model.n_updates_ <= most_updates(X, y, fit_intercept, c)
    assert model.score(X, y) == 1.0
    assert model.stability_ > 0.0


def test_the_bound_can_be_tight():
    """One example: one update, and the bound is one. Two opposite ones: the same."""
    X, y = np.array([[3.0, 4.0], [-3.0, -4.0]]), [1, 0]
    assert_allclose(most_updates(X, y, False, 0.0), 1.0, rtol=1e-6)
    assert Rosenblatt(fit_intercept=False).fit(X, y).n_updates_ == 1


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("theta", [0.0, 0.7])
def test_every_potential_exceeds_c(fit_intercept, order, theta):
    X, y = apart(40, 3, 0.1, seed=3, theta=theta if fit_intercept else 0.0)
    model = Rosenblatt(c=2.0, order=order, fit_intercept=fit_intercept, random_state=1)
    potentials = signs(y) * model.fit(X, y).decision_function(X)
    assert potentials.min() > 2.0 * (1 - 1e-12)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_separable_rows_sorted_by_class(fit_intercept):
    X, y = apart(100, 5, 0.1, seed=1)
    order = np.argsort(y, kind="stable")
    model = Rosenblatt(fit_intercept=fit_intercept).fit(X[order], y[order])
    assert model.score(X, y) == 1.0
    assert model.n_updates_ <= most_updates(X, y, fit_intercept, 0.0)


@st.composite
def grids(draw):
    shape = draw(st.integers(3, 8)), draw(st.integers(1, 2))
    X = draw(arrays(np.int64, shape, elements=st.integers(-2, 2)))
    y = draw(arrays(np.int64, len(X), elements=st.sampled_from([0, 1])))
    y[:2] = 0, 1
    return X, y


@given(grids(), st.sampled_from(THRESHOLDS), st.sampled_from(ORDERS))
def test_succeeds_if_and_only_if_separable(data, fit_intercept, order):
    """In exact arithmetic; 1000 sweeps are more than the bound for these grids asks for."""
    X, y = data
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    possible = separable(signs(y)[:, None] * Z)
    model = Rosenblatt(fit_intercept=fit_intercept, order=order, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert bool(caught) == (not possible)
    assert (model.stability_ > 0.0) == possible
    assert not possible or (model.score(X, y) == 1.0 and model.n_iter_ < 1000)


# Update for update -------------------------------------------------------------------------------


def whole_numbers(seed, n=14, d=3):
    """Draw examples of a rule, in whole numbers: the potential is often equal to c."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-4, 5, (n, d))
    return X, np.where(X @ rng.randint(-3, 4, d) > 0, 1, 0)


def exact(X, clamped):
    return np.vectorize(Fraction, otypes=[object])(lengthened(X, clamped))


@pytest.mark.parametrize("fit_intercept", ["clamped", False])
@pytest.mark.parametrize("c", [Fraction(0), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", ORDERS)
def test_equals_the_algorithm_of_the_book(fit_intercept, c, seed, order):
    X, y = whole_numbers(seed)
    rng = np.random.RandomState(seed)
    n = len(X)
    orders = (rng.permutation(n) if order == "random" else np.arange(n) for _ in repeat(0, 1000))
    Z = exact(X, fit_intercept == "clamped")
    u, updates, sweeps, found = rosenblatt(Z, signs(y).astype(int), c, orders)
    model = Rosenblatt(c=float(c), order=order, fit_intercept=fit_intercept, random_state=seed)
    assert found
    assert_array_equal(model.fit(X, y).embedding_strengths_, [u])
    assert (model.n_updates_, model.n_iter_) == (updates, sweeps)


@pytest.mark.parametrize("order", ORDERS)
def test_every_sweep_makes_the_updates_of_the_book(order):
    """The number of updates after 1, 2, ... sweeps, on data that are never learned."""
    X = np.array([[0, 0], [1, 1], [0, 1], [1, 0], [2, 2], [3, -1]])
    y = np.array([1, 1, 0, 0, 0, 1])
    for sweeps in (*range(1, 12), 31, 32, 33, 64, 100):
        rng = np.random.RandomState(5)
        orders = (rng.permutation(6) if order == "random" else np.arange(6) for _ in range(sweeps))
        expected = rosenblatt(exact(X, True), signs(y).astype(int), 0, orders)
        with pytest.warns(ConvergenceWarning):
            model = Rosenblatt(order=order, max_iter=sweeps, random_state=5).fit(X, y)
        assert (model.n_updates_, model.n_iter_) == expected[1:3]


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_algorithm_on_real_numbers(seed):
    X, y = make_teacher_student(40, 11, random_state=seed)
    u, updates, sweeps, _ = rosenblatt(X, signs(y), 0.1, repeat(range(40), 1000))
    model = Rosenblatt(c=0.1, fit_intercept=False).fit(X, y)
    assert_array_equal(model.embedding_strengths_[0], u)
    assert (model.n_updates_, model.n_iter_) == (updates, sweeps)


def test_a_potential_of_c_is_a_mistake():
    """From zero weights every example is learned once; E = 1/2 is then equal to c."""
    X, y = [[1.0, 0.0], [0.0, -1.0]], [1, 0]
    model = Rosenblatt(c=0.5, fit_intercept=False).fit(X, y)
    assert_array_equal(model.embedding_strengths_, [[2.0, 2.0]])
    model = Rosenblatt(c=0.499, fit_intercept=False).fit(X, y)
    assert_array_equal(model.embedding_strengths_, [[1.0, 1.0]])


def test_pairs(rng):
    """Each example is learned with the one of the other class that was the worst before."""
    X = rng.standard_normal((9, 2))
    X[8] = -X[:8].sum(axis=0)
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    examples = Examples(Inputs.of(X, "free"), y, "the two classes")
    Z, c = examples.inputs.rows, 0.2
    w, u, plain, strengths = np.zeros(8), np.zeros(9), np.zeros(8), np.zeros(9)
    hard = examples.hard_rows(examples.best())
    for _ in range(4):
        order = rng.permutation(9)
        E, mistakes = y * (Z @ plain), 0
        worst = {side: min(np.flatnonzero(y == side), key=E.__getitem__) for side in (-1.0, 1.0)}
        for i in order:
            j = worst[-y[i]]
            if y[i] * (plain @ Z[i]) + y[j] * (plain @ Z[j]) <= 2 * c * 2:
                plain = plain + y[i] * Z[i] + y[j] * Z[j]
                strengths[[i, j]] += 1
                mistakes += 1
        presented = Presented(examples, Training("", 1), c, 1, hard, 0)
        assert presented.learn(order, 1, w, u) == (1, mistakes, mistakes, 1)
        assert_array_equal(u, strengths)
        assert_allclose(w, plain, rtol=1e-12, atol=1e-14)


# What is stored ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("order", ORDERS)
def test_weights_are_those_of_the_strengths(fit_intercept, order):
    X, y = apart(50, 3, 0.05, seed=2)
    model = Rosenblatt(fit_intercept=fit_intercept, order=order, random_state=0).fit(X, y)
    u, N = model.embedding_strengths_[0], 3 + (fit_intercept == "clamped")
    assert_allclose(model.coef_[0], (u * signs(y)) @ X / N, rtol=1e-10)
    assert_array_equal(u, np.rint(u))
    assert_array_equal(model.support_, np.flatnonzero(u))
    if fit_intercept == "clamped":
        assert model.n_updates_ == u.sum()
        assert_allclose(model.intercept_, (u * signs(y)).sum() / N)
    elif fit_intercept == "free":
        assert model.n_updates_ == u.sum() / 2
        assert (u * signs(y)).sum() == 0.0
        fields = X @ model.coef_[0]
        middle = 0.5 * (fields[y == 1].min() + fields[y == 0].max())
        assert_allclose(model.intercept_, -middle, rtol=1e-10)
    else:
        assert model.n_updates_ == u.sum()
        assert_array_equal(model.intercept_, 0.0)


def test_a_last_sweep_without_a_mistake_is_counted():
    model = Rosenblatt(fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    assert (model.n_updates_, model.n_iter_) == (1, 2)
    with pytest.warns(ConvergenceWarning):  # nobody has seen that nothing is left
        model.set_params(max_iter=1).fit([[1.0], [-1.0]], [1, 0])
    assert model.score([[1.0], [-1.0]], [1, 0]) == 1.0


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_random_orders_come_from_the_seed(fit_intercept):
    X, y = apart(50, 4, 0.01, seed=4)

    def fit(seed):
        return Rosenblatt(order="random", fit_intercept=fit_intercept, random_state=seed).fit(X, y)

    assert_array_equal(fit(0).embedding_strengths_, fit(0).embedding_strengths_)
    assert_array_equal(fit(0).coef_, fit(np.random.RandomState(0)).coef_)
    assert (fit(0).embedding_strengths_ != fit(1).embedding_strengths_).any()


# What cannot be separated ------------------------------------------------------------------------


def standing(model, X, y):
    """Give errors (a potential of zero is one) and minus the stability: less is better."""
    kappa = model.stabilities(X, y)
    return int((kappa <= 0).sum()), -kappa.min()


def overlapping(seed, by_class=False, n=80, d=3):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    X = rng.standard_normal((n, d)) + y[:, None]
    order = np.argsort(y, kind="stable") if by_class else np.arange(n)
    return X[order], y[order]


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_the_best_weights_seen(fit_intercept, by_class, order):
    """They are those of some moment, with few errors, and the stability that is told."""
    X, y = overlapping(0, by_class)
    model = Rosenblatt(fit_intercept=fit_intercept, order=order, random_state=0)
    seen = []
    for sweeps in (1, 2, 3, 5, 10, 30, 100, 300):
        with pytest.warns(ConvergenceWarning, match=r"is_separable.*Pocket"):
            model.set_params(max_iter=sweeps).fit(X, y)
        seen.append(standing(model, X, y))
        assert model.n_iter_ == sweeps
        assert_allclose(-seen[-1][1], model.stability_)
        N = X.shape[1] + (fit_intercept == "clamped")
        u = model.embedding_strengths_[0]
        assert_allclose(model.coef_[0], (u * signs(y)) @ X / N, rtol=1e-9, atol=1e-12)
        assert u.sum() <= model.n_updates_ * (2 if fit_intercept == "free" else 1)
    assert seen[-1][0] <= 0.35 * len(X)
    assert seen[-1][0] < min(np.bincount(y))  # better than no weights and any threshold


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("clamped", [True, False])
@pytest.mark.parametrize("by_class", [False, True])
def test_at_least_as_good_as_the_last_weights(order, clamped, by_class):
    X, y = overlapping(1, by_class)
    Z = lengthened(X, clamped)
    for sweeps in (1, 2, 7, 16, 17, 40):
        rng = np.random.RandomState(2)
        n = len(X)
        orders = (rng.permutation(n) if order == "random" else range(n) for _ in range(sweeps))
        u, updates, *_ = rosenblatt(Z, signs(y), 0.0, orders)
        last = signs(y) * (Z @ ((u * signs(y)) @ Z))
        with pytest.warns(ConvergenceWarning):
            model = Rosenblatt(
                order=order,
                fit_intercept="clamped" if clamped else False,
                max_iter=sweeps,
                random_state=2,
            ).fit(X, y)
        assert model.n_updates_ == updates
        length = np.linalg.norm((u * signs(y)) @ Z)
        errors, kappa = standing(model, X, y)
        assert (errors, kappa - 1e-12) <= (int((last <= 0).sum()), -last.min() / length)


def test_the_warning_names_what_is_not_separated():
    X, y = overlapping(2)
    y = np.where(X[:, 0] > 1.5, "far", np.where(y == 1, "b", "a"))
    with pytest.warns(ConvergenceWarning) as caught:
        Rosenblatt(max_iter=3).fit(X, y)
    told = [str(each.message) for each in caught]
    assert any("class 'a' from the rest after 3 sweeps" in text for text in told)
    assert all(each.filename == __file__ for each in caught)
    assert len(set(told)) == len(told)


def test_the_advice_asks_the_right_question():
    """Separable, but not through the origin: more sweeps would not help."""
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    with pytest.warns(
        ConvergenceWarning, match=r"is_separable\(X, y, fit_intercept=False\) is true"
    ):
        Rosenblatt(fit_intercept=False).fit(X, y)
    Rosenblatt().fit(X, y)


# Parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": -0.1}, r"c=-0.1 of Rosenblatt must be a finite number of at least 0"),
        ({"c": np.nan}, r"c=nan of Rosenblatt"),
        ({"c": None}, r"c=None of Rosenblatt"),
        ({"order": "foo"}, r"order='foo' of Rosenblatt must be one of 'cyclic', 'random'"),
        ({"order": "cyclical"}, r"Did you mean 'cyclic'"),
        ({"order": None}, r"order=None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Rosenblatt(**parameters).fit([[0.0], [1.0]], [0, 1])
