"""The pocket algorithm: draw for draw, and against the best of all hyperplanes."""

from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.stats import chisquare

from protolearn import Pocket, Rosenblatt
from protolearn.datasets import make_teacher_student
from protolearn.perceptrons.examples import Examples, Inputs
from protolearn.perceptrons.pocket import draw_sweep, fill_pocket
from protolearn.perceptrons.presentation import CREDIT, FEWEST, SORTING, Draws, draw
from protolearn.perceptrons.training_record import Training
from reference import lengthened, pocket, separable, threshold_errors

THRESHOLDS = ("clamped", "free", False)


def signs(y):
    """Give +1 for the second of two classes."""
    return np.where(np.asarray(y) == np.max(y), 1.0, -1.0)


def grid(seed, n=10, d=2, largest=4):
    """Draw points of a grid and their labels; the sum of the points is the origin."""
    rng = np.random.RandomState(seed)
    X = rng.randint(-largest, largest + 1, (n, d))
    X[-1] -= X.sum(axis=0)
    y = rng.randint(0, 2, n)
    y[:2] = 0, 1
    return X, y


# Gallant's ratchet -------------------------------------------------------------------------------


def sweeps_of_draws(X, y, fit_intercept, sweeps, seed):
    """Give the draws of each sweep; with a free threshold each with a partner."""
    draws = Draws(np.random.RandomState(seed))
    for _ in range(sweeps):
        order, partners = draw_sweep(Examples(Inputs.of(X, fit_intercept), signs(y), ""), draws)
        partners = partners if fit_intercept == "free" else [None] * len(y)
        yield list(zip(order, partners, strict=True))


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_every_example_is_drawn_as_often_as_any_other(fit_intercept):
    X, y = grid(0)
    sweeps = list(sweeps_of_draws(X, y, fit_intercept, 2000, 0))
    pairs = np.array([pair for sweep in sweeps for pair in sweep])
    assert chisquare(np.bincount(pairs[:, 0].astype(int))).pvalue > 1e-3
    if fit_intercept == "free":
        assert (signs(y)[pairs[:, 0]] == -signs(y)[pairs[:, 1]]).all()
        for side in (-1.0, 1.0):
            partners = pairs[signs(y)[pairs[:, 0]] == side, 1]
            counts = np.bincount(partners, minlength=len(y))[signs(y) == -side]
            assert chisquare(counts).pvalue > 1e-3


def middle_of_the_widest_gap(y, fields):
    """Give a threshold with the fewest errors; in the widest gap, of several the lowest."""
    values = np.unique(fields)
    reach = np.abs(values).max() or 1.0
    inner = [(b - a, 0.5 * (a + b)) for a, b in pairwise(values)]
    cuts = [(0.0, values[0] - 0.5 * reach), *inner, (0.0, values[-1] + 0.5 * reach)]
    errors = [threshold_errors(fields, signs(y), theta) for _, theta in cuts]
    return max(
        (cut for cut, count in zip(cuts, errors, strict=True) if count == min(errors)),
        key=lambda cut: cut[0],
    )[1]


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("sweeps", "n"), [(1, 10), (3, 10), (30, 10), (10, 32)])
def test_equals_the_algorithm_on_the_same_draws(fit_intercept, seed, sweeps, n):
    """Whole numbers: every potential and every length is exact, and ties are ties."""
    X, y = grid(seed, n)
    Z = lengthened(X, fit_intercept == "clamped").astype(float)

    def threshold(fields):
        return middle_of_the_widest_gap(y, fields) if fit_intercept == "free" else 0.0

    u, curve, updates = pocket(
        Z, signs(y), sweeps_of_draws(X, y, fit_intercept, sweeps, seed), threshold
    )
    examples = Examples(Inputs.of(X, fit_intercept), signs(y), "")
    best, _, found, made = fill_pocket(examples, np.random.RandomState(seed), Training("", sweeps))
    assert found == curve
    assert_array_equal(best.strengths, u)
    assert made == updates
    model = Pocket(fit_intercept=fit_intercept, max_iter=sweeps, random_state=seed).fit(X, y)
    assert_array_equal(model.errors_curve_[0][:-1], curve[:-1])
    assert model.n_updates_ == updates
    assert model.n_iter_ == len(curve)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_counting_is_put_off_where_it_takes_long(fit_intercept):
    """Of many examples no more are looked at for counting than are presented, or a few more."""
    X, y = overlapping(0, n=400)
    examples = Examples(Inputs.of(X, fit_intercept), signs(y), "")
    Z, hard = examples.mirrored_rows, examples.hard_rows(examples.best())
    w, u, state = np.zeros(Z.shape[1]), np.zeros(400), np.zeros(6, dtype=np.intp)
    state[FEWEST], draws, spent, presented = 400, Draws(np.random.RandomState(0)), 0, 0
    for _ in range(50):
        order, partners = draw_sweep(examples, draws)
        position = 0
        while position < 400:
            before, credit = position, state[CREDIT]
            position, _ = draw(*(Z, order, partners, False, position, 0.0, 3, w, u, state, hard))
            presented += position - before
            spent += credit + 3 * (position - before) - state[CREDIT]
    assert presented == 50 * 400
    assert 0.5 * presented < spent <= 3 * presented + SORTING * 400


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = grid(0)
    model = Pocket(random_state=0).fit(X, y)
    before = model.errors_curve_[0].tolist()
    with pytest.raises(ValueError, match="max_iter"):
        model.set_params(max_iter=0).fit(X, y)
    assert model.errors_curve_[0].tolist() == before
    assert not hasattr(Pocket(max_iter=1), "errors_curve_")


# The optimum -------------------------------------------------------------------------------------


def fewest_errors(X, y, threshold):
    """Leave out ever more points, until the rest is separable: linear programs for all choices."""
    rows = np.column_stack([X, np.ones(len(X))]) if threshold else np.asarray(X, dtype=float)
    Z = signs(y)[:, None] * rows
    for errors in range(len(Z)):
        for kept in combinations(range(len(Z)), len(Z) - errors):
            A = Z[list(kept)]
            found = linprog(
                np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None)
            )
            if found.status == 0:
                return errors
    return len(Z)


def rule_with_mistakes(seed, n, d, wrong):
    """Draw points of a grid with the labels of a hyperplane, some of them wrong."""
    rng = np.random.RandomState(seed)
    X, w = rng.randint(-4, 5, (n, d)), rng.randint(1, 4, d)
    y = (X @ w > 0.5).astype(int)
    y[rng.permutation(n)[:wrong]] ^= 1
    y[:2] = 0, 1
    return X, y


@cache
def fewest(threshold, *parameters):
    return fewest_errors(*rule_with_mistakes(*parameters), threshold)


def test_the_brute_force_on_known_cases():
    assert fewest_errors([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], True) == 1
    assert fewest_errors([[0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1], True) == 1
    assert fewest_errors([[1], [2], [3]], [1, 0, 1], False) == 1
    assert fewest_errors([[0], [0], [1]], [1, 0, 1], False) == 2  # the origin is always wrong


def fewest_in_the_plane(X, y, threshold):
    """Try every order in which lines meet points of a grid: directions near all critical ones.

    Whole numbers, so nothing is rounded. A direction is critical where two points come at the same
    time, or without threshold where one comes when the origin does.
    """
    i, j = np.triu_indices(len(X), 1)
    critical = np.vstack([X[i] - X[j], [[1, 0]]]) if threshold else np.vstack([X, [[1, 0]]])
    critical = critical[critical.any(axis=1)]
    normals = critical[:, ::-1] * [1, -1]
    near = np.vstack([1000 * normals + critical, 1000 * normals - critical])
    fields = np.vstack([near, -near]) @ X.T
    if not threshold:
        return (signs(y) * fields <= 0).sum(axis=1).min()
    order = np.argsort(fields, axis=1)
    ordered, positive = np.take_along_axis(fields, order, axis=1), y[order] == 1
    below = np.cumsum(positive, axis=1) - np.cumsum(~positive, axis=1) + (~positive).sum(1)[:, None]
    below[:, :-1][np.diff(ordered, axis=1) == 0] = len(X)  # no line between equal points
    return min(below.min(), np.bincount(y).min())


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_finds_the_optimum_of_five_hundred_sets(fit_intercept):
    for seed in range(THRESHOLDS.index(fit_intercept), 500, len(THRESHOLDS)):
        X, y = rule_with_mistakes(seed, 6 + seed % 9, 2, seed % 4)
        if len(set(y)) < 2:
            continue
        best = fewest_in_the_plane(X, y, bool(fit_intercept))
        model = Pocket(fit_intercept=fit_intercept, max_iter=1, random_state=seed).fit(X, y)
        assert model.errors_curve_[0][-1] == best, seed
        assert model.optimal_.all()
        assert (model.stabilities(X, y) <= 0).sum() == best


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize(("n", "d", "wrong"), [(8, 2, 2), (12, 2, 1), (9, 1, 1)])
def test_finds_the_optimum_of_linear_programs(fit_intercept, n, d, wrong):
    X, y = rule_with_mistakes(7, n, d, wrong)
    best = fewest(bool(fit_intercept), 7, n, d, wrong)
    if d == 2:
        assert fewest_in_the_plane(X, y, bool(fit_intercept)) == best
    model = Pocket(fit_intercept=fit_intercept, max_iter=50, random_state=1).fit(X, y)
    assert model.errors_curve_[0][-1] == best
    assert model.optimal_.all()


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("seed", range(3))
def test_drawing_comes_near_the_optimum(fit_intercept, seed):
    X, y = rule_with_mistakes(seed, 10, 2, 2)
    examples = Examples(Inputs.of(X, fit_intercept), signs(y), "")
    best, *_ = fill_pocket(examples, np.random.RandomState(0), Training("", 2000))
    least = fewest(bool(fit_intercept), seed, 10, 2, 2)
    assert least <= best.errors <= least + 1


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_no_search_among_many_examples(fit_intercept):
    X, y = overlapping(0, n=33)
    model = Pocket(fit_intercept=fit_intercept, max_iter=5, random_state=0).fit(X, y)
    assert not model.optimal_.any()
    assert_array_equal(model.embedding_strengths_ % 1.0, 0.0)  # counts of mistakes
    X, y = make_teacher_student(60, 5, random_state=1)
    assert Pocket(random_state=0).fit(X, y).optimal_.all()  # no errors


def test_never_better_than_the_optimum_nor_without_errors_by_chance():
    X, y = grid(1)
    assert not separable(signs(y)[:, None] * np.column_stack([X, np.ones(len(X))]))
    assert Pocket(max_iter=3000, random_state=0).fit(X, y).stability_ < 0.0


# The pocket --------------------------------------------------------------------------------------


def overlapping(seed=0, n=150, d=4):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    return rng.standard_normal((n, d)) + 0.8 * y[:, None], y


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
@pytest.mark.parametrize("by_class", [False, True])
def test_never_gets_worse(fit_intercept, by_class):
    X, y = overlapping()
    if by_class:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    model = Pocket(fit_intercept=fit_intercept, max_iter=100, random_state=0).fit(X, y)
    curve = model.errors_curve_[0]
    assert len(curve) == model.n_iter_ == 100
    assert (np.diff(curve) <= 0).all()
    assert model.score(X, y) == pytest.approx(1 - curve[-1] / len(X))
    assert (model.stabilities(X, y) <= 0).sum() == curve[-1]
    assert curve[-1] < min(np.bincount(y))


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_more_sweeps_go_on_where_fewer_ended(fit_intercept):
    X, y = overlapping(1)
    short, long = (
        Pocket(fit_intercept=fit_intercept, max_iter=sweeps, random_state=3).fit(X, y)
        for sweeps in (10, 40)
    )
    assert_array_equal(long.errors_curve_[0][:10], short.errors_curve_[0])
    assert long.n_updates_ > short.n_updates_


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_ends_without_errors(fit_intercept):
    X, y = make_teacher_student(60, 5, random_state=1)
    model = Pocket(fit_intercept=fit_intercept, random_state=0).fit(X, y)
    assert model.errors_curve_[0][-1] == 0
    assert model.score(X, y) == 1.0
    assert model.n_iter_ < 1000
    assert model.stability_ > 0.0


def test_better_than_the_last_weights_of_a_perceptron():
    X, y = overlapping(2)
    with pytest.warns(UserWarning, match="Pocket"):
        perceptron = Rosenblatt(max_iter=100).fit(X, y)
    assert Pocket(max_iter=100, random_state=0).fit(X, y).score(X, y) >= perceptron.score(X, y)


@pytest.mark.parametrize("fit_intercept", THRESHOLDS)
def test_weights_are_those_of_the_strengths(fit_intercept):
    X, y = overlapping(3)
    model = Pocket(fit_intercept=fit_intercept, max_iter=20, random_state=0).fit(X, y)
    u, N = model.embedding_strengths_[0], 4 + (fit_intercept == "clamped")
    assert_allclose(model.coef_[0], (u * signs(y)) @ X / N, rtol=1e-9, atol=1e-12)
    if fit_intercept == "free":
        assert (u * signs(y)).sum() == 0.0
    assert u.sum() <= model.n_updates_ * (1 + (fit_intercept == "free"))


def test_a_curve_for_each_class():
    X, y = overlapping(4)
    y = np.where(X[:, 0] > 1.5, 2, y)
    model = Pocket(max_iter=30, random_state=0).fit(X, y)
    assert len(model.errors_curve_) == 3
    assert len(model.fit(X, y).errors_curve_) == 3
    kappa = np.stack([np.where(y == k, 1, -1) for k in range(3)], 1) * model.decision_function(X)
    assert_array_equal([curve[-1] for curve in model.errors_curve_], (kappa <= 0).sum(axis=0))


@st.composite
def small_sets(draw):
    shape = draw(st.integers(2, 8)), draw(st.integers(1, 2))
    X = draw(arrays(np.int64, shape, elements=st.integers(-2, 2)))
    y = draw(arrays(np.int64, len(X), elements=st.sampled_from([0, 1])))
    y[:2] = 0, 1
    return X, y


@given(small_sets(), st.sampled_from(THRESHOLDS), st.integers(1, 3))
def test_what_is_told_is_true(data, fit_intercept, sweeps):
    """Whole numbers; with zero weights all are errors, whatever predict says."""
    X, y = data
    model = Pocket(fit_intercept=fit_intercept, max_iter=sweeps, random_state=0).fit(X, y)
    curve = model.errors_curve_[0]
    assert (np.diff(curve) <= 0).all()
    if model.coef_.any() and fit_intercept != "free":
        u = model.embedding_strengths_[0] * signs(y)
        Z = lengthened(X, fit_intercept == "clamped")
        potentials = signs(y) * (Z @ (u @ Z))
        rounding = 1e-12 * np.abs(potentials).max()
        assert np.sum(potentials <= -rounding) <= curve[-1] <= np.sum(potentials <= rounding)
    assert (model.predict(X) != y).sum() <= curve[-1]
    if model.optimal_.all():
        assert curve[-1] == fewest_errors(X, y, bool(fit_intercept))
