"""Boosted prototypes: against the paper's pseudo-code, against LIBSVM, and at the edges."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from protolearn.datasets import make_graf_toy, make_neurons
from protolearn.linear import BoostedPrototypes, SoftMarginSVM
from protolearn.linear.ada_boost import (
    START,
    Aggregate,
    Ball,
    BoostingProgress,
    boost,
    decay,
    next_step,
)
from protolearn.linear.canonical import CenteredFrame
from protolearn.linear.centered_rows import RowNumbers
from protolearn.linear.discriminants import MeanOfClass

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def boosted(variant="adaboost*", **parameters):
    """Make the algorithm of the paper."""
    return BoostedPrototypes(variant=variant, **parameters)


def separable(name):
    """Give a separable set with signs."""
    if name.startswith("toy"):
        X, y = make_graf_toy(random_state=int(name[3:]))
    elif name == "setosa":
        X, y = load_iris(return_X_y=True)
        y = y == 0
    elif name == "wine":
        X, y = load_wine(return_X_y=True)
        X, y = (X - X.mean(axis=0)) / X.std(axis=0), y == 1
    elif name == "wide":
        rng = np.random.RandomState(0)
        X, y = rng.standard_normal((40, 100)), np.arange(40) % 2
    else:
        rng = np.random.RandomState(0)
        X = rng.standard_normal((300, 10))
        score = X @ rng.standard_normal(10)
        X, y = X[np.abs(score) > 0.5], score[np.abs(score) > 0.5] > 0.0
    return X, np.where(np.asarray(y) == np.max(y), 1, -1)


def hard_svm(X, y):
    """Give LIBSVM's normal and margin."""
    w = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y).coef_[0]
    return w, 1.0 / np.linalg.norm(w)


def soft_svm(X, y, C):
    """Give LIBSVM's normal, offset and margin for squared slacks, on the Gram matrix K + I/C."""
    X = X - X.mean(axis=0)
    K = X @ X.T + np.eye(len(X)) / C
    svm = SVC(kernel="precomputed", C=1e9, tol=1e-10).fit(K, y)
    alpha = np.zeros(len(X))
    alpha[svm.support_] = svm.dual_coef_[0]
    return alpha @ X, 1.0 / np.sqrt(alpha @ K @ alpha)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def pseudo_code(X, y, epsilon, rounds):
    """Follow the paper line by line, on patterns in the unit ball; give alpha, rho, v, p+, p-."""
    alpha = np.where(y > 0, 1.0 / np.sum(y > 0), 1.0 / np.sum(y < 0))
    rho = 1.0
    for _ in range(rounds):
        plus, minus = (alpha * (y > 0)) @ X, (alpha * (y < 0)) @ X
        w = (plus - minus) / np.linalg.norm(plus - minus)
        gamma = [np.sum((alpha * y * (X @ w))[y == sign]) for sign in (1, -1)]
        rho = min(rho, sum(gamma) / 2.0 - epsilon)
        numerator = (2.0 + gamma[0] - rho) * (2.0 + gamma[1] - rho)
        v = np.log(numerator / ((2.0 - gamma[0] + rho) * (2.0 - gamma[1] + rho))) / 8.0
        yield alpha, rho, v, plus, minus
        alpha = alpha * np.exp(-v * y * (X @ w) + rho * v)
        for sign in (1, -1):
            alpha[y == sign] /= alpha[y == sign].sum()


@pytest.mark.parametrize("C", [np.inf, 0.5])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
def test_rounds_follow_the_pseudo_code(epsilon, C):
    X, y = make_neurons(random_state=1)
    y = np.where(y == 1, 1.0, -1.0)
    ball = Ball.of(CenteredFrame.of(X), y, C)
    y, numbers = y[ball.order], (*RowNumbers.of(ball.rows), ball.rows.shape[1])
    patterns = np.hstack([ball.rows, np.sqrt(ball.slack) * np.eye(len(y))])
    assert np.linalg.norm(patterns, axis=1).max() == pytest.approx(1.0)
    aggregate, progress = Aggregate.empty(len(y)), START
    total, normal = 0.0, np.zeros(patterns.shape[1])
    for k, (alpha, rho, v, plus, minus) in enumerate(pseudo_code(patterns, y, epsilon, 60), 1):
        before = np.exp(-aggregate.products)
        for side in (y > 0, y < 0):
            before[side] /= before[side].sum()
        np.testing.assert_allclose(before, alpha, rtol=1e-9)
        progress = BoostingProgress(
            *boost(*numbers, ball.split, ball.slack, epsilon, 0.0, k, *progress, *aggregate)
        )
        distance = np.linalg.norm(plus - minus)
        total += v / distance
        normal += v * (plus - minus) / distance
        assert progress.rounds == k
        assert progress.target == pytest.approx(rho, rel=1e-10)
        assert aggregate.gamma[y > 0].sum() == pytest.approx(total, rel=1e-10)
        np.testing.assert_allclose(aggregate.gamma @ patterns, normal, atol=1e-10 * total)
        np.testing.assert_allclose(aggregate.products, y * (patterns @ normal), atol=1e-10)


def test_decay_is_the_exponential():
    x = np.linspace(-40.0, 0.0, 997)
    np.testing.assert_allclose([decay(t) for t in x], np.exp(x), rtol=4e-13)
    assert decay(0.0) == 1.0
    assert 0.0 < decay(-1e300) < 1e-17


@pytest.mark.parametrize("name", ["toy0", "toy1", "toy2", "setosa", "wine", "wide", "gap"])
def test_the_limit_is_the_hard_svm(name):
    X, y = separable(name)
    model = boosted().fit(X, y)
    w, margin = hard_svm(X, y)
    assert cosine(model.coef_[0], w) >= 0.9999
    assert margin * (1.0 - 1e-3) <= model.margin_[0] <= margin * (1.0 + 1e-6)
    reached = np.min(y * model.decision_function(X)) / np.linalg.norm(model.coef_)
    assert model.margin_[0] == pytest.approx(reached, rel=1e-9)
    assert (model.bounds_ >= margin * (1.0 - 1e-6)).all()
    assert (model.margins_ <= margin * (1.0 + 1e-6)).all()
    assert abs(model.shift_[0]) <= 1e-12 * np.square(X).sum(axis=1).max()
    assert model.duality_gap_[0] == pytest.approx(1.0 - model.margin_[0] / model.bounds_[-1])
    assert model.duality_gap_[0] <= model.tol


@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1])
def test_the_limit_with_slacks_is_the_soft_svm(C):
    X, y = make_neurons(random_state=0)
    model = boosted(C=C).fit(X, y)
    w, margin = soft_svm(X, y, C)
    assert cosine(model.coef_[0], w) >= 0.9999
    assert margin * (1.0 - 1e-3) <= model.margin_[0] <= margin * (1.0 + 1e-6)
    gamma = model.dual_coef_[0]
    extended = gamma @ gamma / C
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    products = signs * model.decision_function(X) + np.abs(gamma) / C
    size = np.sqrt(np.sum(model.coef_**2) + extended)
    assert model.margin_[0] == pytest.approx(products.min() / size, rel=1e-6)


def test_the_offset_with_slacks_is_that_of_the_soft_svm():
    X, y = make_neurons(random_state=0)
    C = 0.01
    model = boosted(C=C).fit(X, y)
    svm = SVC(kernel="precomputed", C=1e9, tol=1e-10).fit(X @ X.T + np.eye(len(X)) / C, y)
    canonical = 2.0 / np.abs(svm.dual_coef_).sum()
    ours, theirs = model.intercept_[0], canonical * svm.intercept_[0]
    assert ours == pytest.approx(theirs, abs=1e-3 * np.linalg.norm(model.coef_) * X.std())


@pytest.mark.parametrize("name", ["toy0", "setosa", "wide"])
@quiet
def test_the_first_round_is_the_mean_of_class(name):
    X, y = separable(name)
    means = MeanOfClass().fit(X, y)
    first = boosted(max_iter=1).fit(X, y)
    for attribute in ("prototypes_", "coef_", "intercept_", "dual_coef_"):
        expected = getattr(means, attribute)
        np.testing.assert_allclose(getattr(first, attribute), expected, rtol=1e-10, atol=1e-12)
    path = boosted(max_iter=50).fit(X, y).path_
    assert path.values[0] == 1
    np.testing.assert_allclose(path.prototypes[0], means.prototypes_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(path.coef[0], means.coef_[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(path.intercept[0], means.intercept_[0], rtol=1e-10)


def test_the_path_ends_with_the_model():
    X, y = separable("toy0")
    model = boosted().fit(X, y)
    path = model.path_
    assert path.parameter == "round"
    np.testing.assert_array_equal(path.values[:40], np.arange(1, 41))
    assert (np.diff(path.values) > 0).all()
    assert path.values[-1] == model.n_iter_
    assert len(path) < 400
    np.testing.assert_array_equal(path.prototypes[-1], model.prototypes_)
    np.testing.assert_array_equal(path.coef[-1], model.coef_[0])
    assert path.intercept[-1] == model.intercept_[0]
    assert len(model.margins_) == len(model.bounds_) == len(path)
    assert (np.diff(model.bounds_) <= 0.0).all()
    assert model.margins_[-1] == model.margin_[0]


def test_a_path_has_a_few_hundred_steps():
    rounds, steps = 0, 0
    while rounds < 10**9:
        rounds, steps = next_step(rounds), steps + 1
    assert steps < 500


@quiet
def test_a_path_is_the_same_however_it_is_cut():
    X, y = separable("toy1")
    long = boosted(max_iter=500).fit(X, y)
    short = boosted(max_iter=70).fit(X, y)
    assert 10 < len(short.path_) < len(long.path_)
    assert short.margin_[0] == short.margins_.max()
    shared = np.isin(short.path_.values, long.path_.values)
    both = np.isin(long.path_.values, short.path_.values)
    assert shared.sum() >= len(shared) - 1
    np.testing.assert_allclose(
        short.path_.prototypes[shared], long.path_.prototypes[both], rtol=1e-12
    )


def test_prototypes_lie_in_the_hulls():
    X, y = separable("gap")
    model = boosted().fit(X, y)
    gamma = model.dual_coef_[0]
    assert (gamma * y >= 0.0).all()
    for sign, prototype in zip((-1, 1), model.prototypes_, strict=True):
        share = np.abs(gamma[y == sign])
        assert share.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(share @ X[y == sign], prototype, atol=1e-12)
    np.testing.assert_allclose(model.prototypes_[1] - model.prototypes_[0], model.coef_[0])


@given(seed=st.integers(0, 2**20), scale=st.sampled_from([1e-6, 0.3, 1e5]))
@quiet
def test_invariances_hold_along_the_path(seed, scale):
    X, y = make_graf_toy(random_state=3)
    rng = np.random.RandomState(seed)
    turn = ortho_group.rvs(2, random_state=rng)
    moved, order = rng.standard_normal(2), rng.permutation(len(X))
    path = boosted(max_iter=100).fit(X, y).path_
    other = boosted(max_iter=100).fit((scale * X @ turn.T + moved)[order], 1 - y[order])
    expected = scale * path.prototypes[:, ::-1] @ turn.T + moved
    np.testing.assert_allclose(other.path_.prototypes, expected, rtol=1e-6, atol=1e-8 * scale)
    np.testing.assert_allclose(
        other.path_.coef, -scale * path.coef @ turn.T, rtol=1e-5, atol=1e-8 * scale
    )


@quiet
def test_c_is_absolute():
    X, y = make_neurons(random_state=2)
    one = boosted(C=0.1, max_iter=300).fit(X, y)
    two = boosted(C=0.1 / 64.0, max_iter=300).fit(8.0 * X, y)
    np.testing.assert_allclose(two.path_.prototypes, 8.0 * one.path_.prototypes, rtol=1e-9)
    np.testing.assert_allclose(two.shift_, 64.0 * one.shift_, rtol=1e-6)
    assert two.margin_ == pytest.approx(8.0 * one.margin_)


def test_far_from_the_origin():
    X, y = separable("setosa")
    near, far = boosted().fit(X, y), boosted().fit(X + 1e6, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert far.margin_ == pytest.approx(near.margin_, rel=1e-6)


OVERLAPPING = {
    "neurons": make_neurons(random_state=0),
    "virginica": (load_iris().data, load_iris().target == 2),
    "touching": (np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])),
    "duplicates": (np.array([[0.0, 1.0], [2.0, 3.0]] * 2), np.array([0, 0, 1, 1])),
    "same means": (np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]),
    "one point": (np.ones((4, 2)), [0, 0, 1, 1]),
    "alternating": (np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_overlapping_classes_are_told(name):
    X, y = OVERLAPPING[name]
    with pytest.warns(ConvergenceWarning, match="no hyperplane .* C=0.1, or use SoftMarginSVM"):
        model = boosted().fit(X, y)
    assert model.n_iter_ < 100_000
    for attribute in ("prototypes_", "coef_", "intercept_", "shift_", "margin_", "margins_"):
        assert np.isfinite(getattr(model, attribute)).all()
    assert model.margin_[0] <= 0.0
    assert model.margin_[0] == pytest.approx(model.margins_.max(), abs=1e-12)
    assert model.duality_gap_[0] >= 1.0
    np.testing.assert_array_equal(model.path_.prototypes[-1], model.prototypes_)


@pytest.mark.parametrize("name", OVERLAPPING)
@quiet
def test_slacks_allow_any_classes(name):
    X, y = OVERLAPPING[name]
    model = boosted(C=1e-3, max_iter=100_000).fit(X, y)
    assert model.margin_[0] > 0.0
    assert model.duality_gap_[0] <= model.tol
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("C", [1e-300, 1e-30, 1e30, 1e300])
@quiet
def test_extreme_c(C):
    X, y = make_neurons(random_state=0)
    model = boosted(C=C, max_iter=1000).fit(X, y)
    assert np.isfinite([*model.coef_[0], *model.intercept_, *model.margin_]).all()
    if C < 1.0:
        np.testing.assert_allclose(model.coef_, MeanOfClass().fit(X, y).coef_, rtol=1e-6)


def test_the_end_of_the_rounds_is_told():
    X, y = separable("toy0")
    with pytest.warns(ConvergenceWarning, match="max_iter=20 .* increase max_iter or tol, or set"):
        model = boosted(max_iter=20).fit(X, y)
    assert model.n_iter_ == 20
    with pytest.warns(ConvergenceWarning, match="or set a smaller C"):
        boosted(C=10.0, max_iter=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        boosted(tol=0.1).fit(X, y)


@pytest.mark.parametrize(
    ("X", "margin"),
    [
        ([[0.0], [1.0], [4.0], [5.0]], 1.5),
        ([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [4.0, 0.0, 0.0], [9.0, 0.0, 0.0]], 1.5),
    ],
)
def test_little_data(X, margin):
    model = boosted().fit(X, [0, 0, 1, 1])
    assert model.margin_[0] == pytest.approx(margin, rel=1e-3)


def test_the_prototypes_arrive_though_the_first_hyperplane_is_the_best():
    X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 1.0], [4.0, 0.0], [4.0, 2.0]])
    model = boosted().fit(X, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.margins_, 1.0)
    assert 0.0 <= model.duality_gap_[0] <= 1e-12
    np.testing.assert_allclose(model.prototypes_, [[1.0, 1.0], [3.0, 1.0]], atol=0.01)


def test_one_sample_a_class_needs_one_round():
    model = boosted().fit([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert model.n_iter_ == 1
    assert model.margin_[0] == pytest.approx(2.5)
    np.testing.assert_allclose(model.prototypes_, [[0.0, 0.0], [3.0, 4.0]], atol=1e-15)


def test_more_classes_are_told_apart_one_versus_rest():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = boosted(tol=0.01).fit(X, y)
    assert model.score(X, y) == 1.0
    assert len(model.path_) == len(model.margins_) == len(model.bounds_) == 3
    for code in range(3):
        single = boosted(tol=0.01).fit(X, y == code)
        scale = 2.0 / np.sum(single.coef_**2)  # 1 and -1 where the prototypes are
        np.testing.assert_allclose(model.coef_[code], scale * single.coef_[0])
        assert model.margin_[code] == pytest.approx(single.margin_[0])
        assert model.duality_gap_[code] == pytest.approx(single.duality_gap_[0])
        np.testing.assert_array_equal(model.path_[code].classes, [None, code])
        np.testing.assert_allclose(model.path_[code].prototypes[-1][1], model.prototypes_[code])
    assert model.n_iter_ == max(path.values[-1] for path in model.path_)


def test_a_warning_names_the_classes():
    X, y = load_iris(return_X_y=True, as_frame=False)
    names = load_iris().target_names[y]
    with pytest.warns(ConvergenceWarning) as told:
        boosted().fit(X, names)
    (message,) = [str(w.message) for w in told]
    assert "class 'versicolor' from the rest, class 'virginica' from the rest" in message
    assert "setosa" not in message


@quiet
def test_verbose(capsys):
    X, y = separable("toy0")
    boosted(max_iter=100, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert 3 <= len(lines) <= 22
    assert lines[0].startswith("[BoostedPrototypes] round       1  margin ")
    assert lines[-1].startswith("[BoostedPrototypes] round     100  margin ")
    model = boosted(max_iter=100, verbose=2).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == len(model.path_)
    boosted(max_iter=100).fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C=0.0 of BoostedPrototypes, unless it is np.inf, must be"),
        ({"C": -np.inf}, "C=-inf"),
        ({"C": np.nan}, "C=nan"),
        ({"C": None}, "C=None"),
        ({"C": "inf"}, "C='inf'"),
        ({"epsilon": 0.0}, r"epsilon=0.0 .* in \(0, 1\]"),
        ({"epsilon": 1.5}, "epsilon=1.5"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_iter": 10.0}, "max_iter=10.0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"verbose": -1}, "verbose=-1"),
        ({"verbose": "yes"}, "verbose='yes'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        boosted(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_there_are_no_weights():
    with pytest.raises(TypeError, match="sample_weight"):
        boosted().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 1.0])


@pytest.mark.parametrize("name", ["toy0", "setosa", "wide", "gap"])
def test_the_corrective_form_comes_to_the_machine_in_few_rounds(name):
    X, y = separable(name)
    model = BoostedPrototypes().fit(X, y)
    w = hard_svm_normal(X, y)
    assert cosine(model.coef_[0], w) >= 0.99999
    assert model.n_iter_ < 60
    assert model.duality_gap_[0] <= 5e-4
    assert model.margins_[-1] == pytest.approx(model.margin_[0])
    assert (np.diff(model.bounds_) <= 1e-12).all()
    means = MeanOfClass().fit(X, y)
    np.testing.assert_allclose(model.path_.prototypes[0], means.prototypes_, atol=1e-10)
    assert (model.dual_coef_[0] * np.where(y == model.classes_[1], 1, -1) >= 0.0).all()


def hard_svm_normal(X, y):
    return SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y).coef_[0]


@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 10.0])
def test_the_corrective_form_with_slacks_is_the_soft_machine(C):
    X, y = make_neurons(random_state=0)
    model, machine = BoostedPrototypes(C=C, tol=1e-5).fit(X, y), SoftMarginSVM(norm=2, C=C)
    machine.fit(X, y)
    size = np.linalg.norm(machine.prototypes_[1] - machine.prototypes_[0])
    np.testing.assert_allclose(model.prototypes_, machine.prototypes_, atol=1e-4 * X.std())
    assert cosine(model.coef_[0], machine.coef_[0]) > 1.0 - 1e-6
    np.testing.assert_allclose(model.shift_, machine.shift_, rtol=1e-2, atol=1e-3 * size**2)
    assert model.n_iter_ < 80


def test_small_steps_make_a_longer_path():
    X, y = separable("toy0")
    short, long = (BoostedPrototypes(epsilon=epsilon).fit(X, y) for epsilon in (1.0, 0.1))
    assert len(long.path_) > 4 * len(short.path_)
    np.testing.assert_allclose(long.prototypes_, short.prototypes_, atol=1e-2)


def test_bad_variant():
    with pytest.raises(ValueError, match="variant='lp'"):
        BoostedPrototypes(variant="lp").fit([[0.0], [1.0]], [0, 1])
