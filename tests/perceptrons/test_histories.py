"""The printed rules, step by step: plain transcriptions on fixed orders against the histories."""

import itertools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from protolearn import (
    Adaline,
    AdaTron,
    BayesPoint,
    CommitteeMachine,
    Hopfield,
    KernelAdaTron,
    MinOver,
    ParityMachine,
    Perceptron,
    Pocket,
    Rosenblatt,
)
from protolearn.native import MODULATION, native
from protolearn.perceptrons.presentation import Draws
from reference import lengthened

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

INTERCEPTS = ("clamped", False)


@native(MODULATION)
def soft_step(E, theta):
    return theta[0] / (1.0 + np.exp(E - theta[1]))


FUNCTIONS = {
    "rosenblatt": ((0.3,), lambda E: float(E <= 0.3)),
    "hebb": ((0.5,), lambda E: 0.5),
    "adaline": ((0.2,), lambda E: 0.2 * (1 - E)),
    "cost": ((0.1, 3.0, 0.5), lambda E: 0.1 * 3.0 * max(0.5 - E, 0.0) ** 2),
    "own": ((0.7, 0.1), lambda E: 0.7 / (1 + np.exp(E - 0.1))),
}


def overlapping(n=30, d=3, seed=0, shift=1.0):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    y[:2] = 0, 1
    return rng.standard_normal((n, d)) + shift * y[:, None], y


def signs(y):
    return np.where(y == 1, 1.0, -1.0)


def replay(Z, S, order, sweeps, f, w):
    """Equation (3.12): the weights before and after each step."""
    N, states = Z.shape[1], [w]
    for _ in range(sweeps):
        for i in order:
            w = w + f(S[i] * (w @ Z[i])) * Z[i] * S[i] / N
            states.append(w)
    return np.array(states)


def assert_weights(history, states, clamped):
    d = states.shape[1] - clamped
    assert_allclose(history["coef"], states[:, :d], rtol=1e-9, atol=1e-12)
    threshold = states[:, -1] if clamped else np.zeros(len(states))
    assert_allclose(-history["intercept"], threshold, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("fit_intercept", INTERCEPTS)
def test_the_generic_update_one_after_the_other(name, fit_intercept):
    (X, y), (theta, f) = overlapping(), FUNCTIONS[name]
    order = np.random.RandomState(1).permutation(30)[:20]
    model = Perceptron(
        soft_step if name == "own" else name,
        **{"theta": theta, "order": order, "max_iter": 4},
        fit_intercept=fit_intercept,
        history="step",
    ).fit(X, y)
    (history,) = model.history_
    Z = lengthened(X, fit_intercept == "clamped")
    states = replay(Z, signs(y), order, 4, f, np.zeros(Z.shape[1]))
    assert_weights(history, states, fit_intercept == "clamped")
    assert_array_equal(history["example"], [-1, *np.tile(order, 4)])
    E = signs(y) * (states @ Z.T)
    assert_allclose(history["potentials"], E, rtol=1e-8, atol=1e-10)
    u = history["embedding_strengths"]  # (3.13)
    assert_allclose((u * signs(y)) @ Z / Z.shape[1], states, rtol=1e-8, atol=1e-10)
    assert_array_equal(history["errors"], (E <= 0).sum(axis=1))
    lengths = np.linalg.norm(states[1:], axis=1)
    assert_allclose(history["stability"][1:], E[1:].min(axis=1) / lengths, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_generic_update_all_at_once(name):
    (X, y), (theta, f) = overlapping(), FUNCTIONS[name]
    model = Perceptron(
        soft_step.py if name == "own" else name, theta=theta, updates="parallel", max_iter=5
    )
    (history,) = model.set_params(history=True).fit(X, y).history_
    Z, S = lengthened(X, True), signs(y)
    w, states = np.zeros(4), [np.zeros(4)]
    for _ in range(5):
        w = w + sum(f(S[i] * (states[-1] @ Z[i])) * Z[i] * S[i] for i in range(30)) / 4
        states.append(w)
    assert_weights(history, np.array(states), True)


def test_a_start_of_ones_own():
    X, y = overlapping()
    model = Perceptron(fit_intercept="clamped", max_iter=2, history="step")
    (history,) = model.fit(X, y, coef_init=[[1.0, 2.0, -3.0]], intercept_init=[0.5]).history_
    start = np.array([1.0, 2.0, -3.0, -0.5])
    states = replay(lengthened(X, True), signs(y), range(30), 2, lambda E: float(E <= 0), start)
    assert_weights(history, states, True)


@pytest.mark.parametrize("fit_intercept", INTERCEPTS)
@pytest.mark.parametrize("c", [0.0, 0.5])
def test_rosenblatt_step_by_step(fit_intercept, c):
    """Figure 3.4 can be drawn of this."""
    X, y = overlapping()
    model = Rosenblatt(c=c, fit_intercept=fit_intercept, max_iter=3, history="step").fit(X, y)
    Z = lengthened(X, fit_intercept == "clamped")
    states = replay(Z, signs(y), range(30), 3, lambda E: float(c >= E), np.zeros(Z.shape[1]))
    assert_weights(model.history_[0], states, fit_intercept == "clamped")
    assert_allclose(model.last_coef_[0], states[-1, :3], rtol=1e-10)


@pytest.mark.parametrize("updates", ["sequential", "parallel"])
def test_adaline_step_by_step(updates):
    """Equations (3.62) to (3.65); the rate is eta over the largest eigenvalue or diagonal of C."""
    X, y = overlapping()
    Z, S = lengthened(X, True), signs(y)
    C = np.outer(S, S) * (Z @ Z.T) / 4
    model = Adaline(updates=updates, eta=0.7, max_iter=3, tol=1e-12, history="step").fit(X, y)
    if updates == "sequential":
        rate = 0.7 / C.diagonal().max()
        states = replay(Z, S, range(30), 3, lambda E: rate * (1 - E), np.zeros(4))
    else:
        u, states = np.zeros(30), [np.zeros(4)]
        for _ in range(3):
            u = u + 0.7 / np.linalg.eigvalsh(C)[-1] * (1 - C @ u)
            states.append((u * S) @ Z / 4)
    assert_weights(model.history_[0], np.array(states), True)


@pytest.mark.parametrize("gamma", [np.inf, 0.4])
@pytest.mark.parametrize("updates", ["sequential", "parallel"])
def test_the_printed_ada_tron(updates, gamma):
    """Equations (3.76) and (4.6), with the rate as it is given."""
    X, y = overlapping(shift=4.0)
    Z, S = lengthened(X, True), signs(y)
    C, u, states = np.outer(S, S) * (Z @ Z.T) / 4, np.zeros(30), [np.zeros(30)]
    eta = 1.0 / C.diagonal().max() if updates == "sequential" else 1.0 / np.linalg.norm(C, 2)
    for _ in range(4):
        if updates == "parallel":
            u = np.clip(u + eta * (1 - C @ u), 0, gamma)
            states.append(u)
            continue
        for i in range(30):
            u = u.copy()
            u[i] = min(gamma, max(0.0, u[i] + eta * (1 - C[i] @ u)))
            states.append(u)
    model = AdaTron(
        updates=updates, eta=eta, gamma=gamma, fit_intercept="clamped", history="step", max_iter=4
    ).fit(X, y)
    assert_allclose(model.history_[0]["embedding_strengths"], states, rtol=1e-9, atol=1e-12)
    exact = AdaTron(gamma=gamma, fit_intercept="clamped", tol=1e-9).fit(X, y)
    model.set_params(max_iter=100_000, tol=1e-7, history=False).fit(X, y)
    assert_allclose(model.coef_, exact.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", INTERCEPTS)
def test_min_over_update_by_update(fit_intercept):
    X, y = overlapping(shift=4.0)
    model = MinOver(fit_intercept=fit_intercept, max_iter=40, history="step").fit(X, y)
    Z, S = lengthened(X, fit_intercept == "clamped"), signs(y)
    w, states = np.zeros(Z.shape[1]), []
    for _ in range(model.n_updates_ + 1):
        states.append(w)
        worst = (S * (Z @ w)).argmin()
        w = w + Z[worst] * S[worst] / Z.shape[1]
    assert_weights(model.history_[0], np.array(states), fit_intercept == "clamped")


@pytest.mark.parametrize("fit_intercept", INTERCEPTS)
@pytest.mark.parametrize("seed", range(3))
def test_the_printed_pocket(fit_intercept, seed):
    """Equation (4.2): errors are counted after each update, and only fewer go into the pocket."""
    X, y = overlapping(60, seed=seed)
    Z, S, draws = lengthened(X, fit_intercept == "clamped"), signs(y), None
    w = pocket = np.zeros(Z.shape[1])
    least, curve, draws = 60, [], Draws(np.random.RandomState(seed))
    for _ in range(12):
        for i in draws(60, 60):
            if S[i] * (w @ Z[i]) <= 0:
                w = w + Z[i] * S[i] / Z.shape[1]
            errors = int((S * (Z @ w) <= 0).sum())
            if errors < least:
                pocket, least = w, errors
        curve.append(least)
    model = Pocket(
        count="updates", fit_intercept=fit_intercept, max_iter=12, random_state=seed
    ).fit(X, y)
    assert_array_equal(model.errors_curve_[0], curve)
    assert_allclose(model.coef_[0], pocket[:3], rtol=1e-10)
    assert_allclose(model.last_coef_[0], w[:3], rtol=1e-10)


def test_a_committee_step_by_step():
    X, y = overlapping()
    model = CommitteeMachine(order="cyclic", random_state=0, max_iter=2, history="step").fit(X, y)
    (history,) = model.history_
    Z, S = lengthened(X, True), signs(y)
    W = np.column_stack([history["coef"][0], -history["intercept"][0]])
    for t in range(1, len(history["coef"])):
        i = history["example"][t]
        fields = W @ Z[i] * S[i]
        if (fields <= 0).sum() > 1:
            k = max(np.flatnonzero(fields <= 0), key=lambda k: fields[k])
            W[k] += Z[i] * S[i] / 4
        assert_allclose(history["coef"][t], W[:, :3], rtol=1e-9, atol=1e-12)


def test_a_parity_machine_unit_by_unit():
    X, y = overlapping(60)
    model = ParityMachine(random_state=0, history=True).fit(X, y)
    (history,), units = model.history_, model.units_[0]
    assert_array_equal(history["n_iter"], np.arange(len(units) + 1))
    assert_array_equal(history["errors"][1:], model.training_errors_[0])
    signs_so_far = np.ones(60)
    for k, unit in enumerate([None, *units]):
        if unit is not None:
            signs_so_far *= np.where(unit.decision_function(X) > 0, 1, -1)
        assert_array_equal(np.sign(history["potentials"][k]), signs(y) * signs_so_far)
    plain = ParityMachine(random_state=0).fit(X, y)
    assert_array_equal(plain.decision_function(X), model.decision_function(X))
    assert not hasattr(plain, "history_")
    short = model.set_params(callback=lambda state: state.n_iter == 2).fit(X, y)
    assert short.n_units_ == [2]


@pytest.mark.parametrize("updates", ["sequential", "parallel"])
def test_a_recall_sweep_by_sweep(updates):
    rng = np.random.RandomState(0)
    patterns = np.where(rng.rand(4, 30) < 0.5, -1.0, 1.0)
    model, seen = Hopfield(updates=updates).fit(patterns), []
    start = np.where(rng.rand(5, 30) < 0.5, -1.0, 1.0)
    end = model.recall(start, callback=lambda states: seen.append(states))
    assert_array_equal(end, model.recall(start))
    assert_array_equal(seen[0], start)
    J = patterns.T @ patterns / 30 * (1 - np.eye(30))
    for before, after in itertools.pairwise(seen):
        expected = before.copy()
        for state in expected:
            for i in range(30) if updates == "sequential" else ():
                field = J[i] @ state
                state[i] = np.sign(field) if abs(field) > 1e-9 else state[i]
            if updates == "parallel":
                fields = J @ state
                state[:] = np.where(abs(fields) > 1e-9, np.sign(fields), state)
        assert_array_equal(after, expected)
    assert_array_equal(seen[-1], end)
    assert len(seen) > 2
    stopped = model.recall(start, callback=lambda states: (states != start).any())
    assert_array_equal(stopped, seen[1])


# Watching changes nothing -------------------------------------------------------------------------

WATCHED = [
    Rosenblatt(max_iter=40),
    Rosenblatt(max_iter=40, order="random", random_state=0),
    Rosenblatt(max_iter=40, fit_intercept="free"),
    Pocket(max_iter=30, random_state=0),
    Pocket(max_iter=30, random_state=0, count="updates"),
    Pocket(max_iter=30, random_state=0, fit_intercept="free"),
    Perceptron("adaline", theta=[0.1], max_iter=20),
    Adaline(max_iter=50),
    Adaline(max_iter=50, fit_intercept="free", updates="sequential"),
    AdaTron(gamma=1.0),
    AdaTron(max_iter=20),
    MinOver(max_iter=200),
    BayesPoint(n_estimators=3, max_iter=20, random_state=0),
]


@pytest.mark.parametrize("model", WATCHED, ids=repr)
@pytest.mark.parametrize("history", ["sweep", "step"])
def test_the_same_numbers_with_and_without_a_history(model, history):
    X, y = overlapping(60)
    plain = model.set_params(history=False).fit(X, y)
    coef, last, iterations = plain.coef_, plain.last_coef_, plain.n_iter_
    assert not hasattr(plain, "history_")
    model.set_params(history=history).fit(X, y)
    tight = {"rtol": 1e-9, "atol": 1e-12}  # sums in another order, where steps are made one by one
    assert_allclose(model.coef_, coef, **tight)
    assert_allclose(model.last_coef_, last, **tight)
    assert model.n_iter_ == iterations
    coefs = model.history_[0]["coef"]
    if not isinstance(model, BayesPoint):
        assert_allclose(coefs[-1], last[0], **tight)
    assert len(coefs) == len(model.history_[0]["potentials"])
    model.set_params(history=False)


@pytest.mark.parametrize("model", WATCHED, ids=repr)
def test_a_callback_sees_and_ends_it(model):
    X, y = overlapping(60, shift=9.0 if isinstance(model, BayesPoint) else 1.0)
    seen = []

    def enough(state):
        seen.append(state)
        return state.n_iter >= 2

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.set_params(callback=enough).fit(X, y)
    model.set_params(callback=None)
    assert seen[0].n_iter == 0
    assert seen[-1].n_iter >= 2
    assert sum(state.n_iter >= 2 for state in seen) == 1
    state = seen[-1]
    assert state.errors == (state.potentials <= 0).sum()
    short = state.potentials[state.potentials < 0.5]
    assert state.cost(k=2, c=0.5) == pytest.approx(((0.5 - short) ** 2).sum())


def test_a_kernel_has_a_history_without_weights():
    X, y = overlapping(40)
    model = KernelAdaTron(C=1.0, history="step").fit(X, y)
    (history,) = model.history_
    assert "coef" not in history
    S = signs(y)
    K = np.exp(-model.kernel_gamma_ * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    E = history["embedding_strengths"] * S @ K * S
    thetas = S * (E - history["potentials"])  # one for all examples
    assert_allclose(thetas, np.broadcast_to(thetas[:, :1], thetas.shape), atol=1e-9)
    assert_allclose(history["embedding_strengths"][-1], model.embedding_strengths_[0])


def test_history_of_several_classes():
    X, y = np.vstack([overlapping(20)[0] + 3 * k for k in range(3)]), np.repeat(list("abc"), 20)
    model = Rosenblatt(history=True, max_iter=5).fit(X, y)
    assert [len(each["coef"]) for each in model.history_] == [6, 6, 6]


# Best and last weights ----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["cyclic", "random"])
def test_more_sweeps_never_leave_worse_weights(order):
    for seed in range(40):
        X, y = overlapping(100, 5, seed, shift=0.7)
        errors = [
            int(((model.decision_function(X) > 0) != y).sum())
            for model in (
                Rosenblatt(max_iter=k, order=order, random_state=0).fit(X, y)
                for k in (1, 2, 5, 9, 10, 17, 30, 31, 60)
            )
        ]
        assert errors == sorted(errors, reverse=True)


def test_the_best_weights_are_the_best_of_every_sweep():
    for seed in range(20):
        X, y = overlapping(80, 4, seed)
        model = Rosenblatt(max_iter=50, history=True).fit(X, y)
        assert (model.stabilities(X, y) <= 0).sum() <= model.history_[0]["errors"].min()


@pytest.mark.parametrize(
    "model",
    [
        Rosenblatt(max_iter=7),
        Pocket(max_iter=7, random_state=0),
        Perceptron(max_iter=7),
        Adaline(max_iter=7),
        CommitteeMachine(max_iter=7, random_state=0),
    ],
    ids=repr,
)
def test_keep(model):
    X, y = overlapping(60)
    name = "hidden_coef_" if isinstance(model, CommitteeMachine) else "coef_"
    for keep in ("best", "last"):
        model.set_params(keep=keep).fit(X, y)
        assert_array_equal(getattr(model, name), getattr(model, f"{keep}_{name}"))
    assert (getattr(model, f"best_{name}") != getattr(model, f"last_{name}")).any()
    with pytest.raises(ValueError, match="keep='first'"):
        model.set_params(keep="first").fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        Rosenblatt(),
        Rosenblatt(keep="last"),
        Perceptron("adaline", theta=[0.05]),
        Adaline(tol=1e-15),
        Adaline(tol=1e-15, updates="sequential"),
        MinOver(),
        AdaTron(updates="sequential", eta=0.2, fit_intercept=False, keep="last"),
        CommitteeMachine(order="cyclic", keep="last", random_state=0),
    ],
    ids=repr,
)
def test_a_warm_start_goes_on(model):
    X, y = overlapping(60)
    parts = 60 if isinstance(model, MinOver) else 6
    once = model.set_params(max_iter=2 * parts).fit(X, y)
    name = "hidden_coef_" if isinstance(model, CommitteeMachine) else "coef_"
    expected, last = getattr(once, name), getattr(once, f"last_{name}")
    model.set_params(max_iter=parts).fit(X, y)
    assert (getattr(model, f"last_{name}") != last).any()
    model.set_params(warm_start=True).fit(X, y)
    model.set_params(warm_start=False)
    assert_allclose(getattr(model, f"last_{name}"), last, rtol=1e-9)
    if not isinstance(model, Rosenblatt) or model.keep == "last":  # the best of other cuts
        assert_allclose(getattr(model, name), expected, rtol=1e-9)


def test_a_warm_start_of_the_optimum_takes_no_steps():
    X, y = overlapping(60)
    for model in (AdaTron(gamma=1.0, warm_start=True), KernelAdaTron(C=1.0, warm_start=True)):
        assert model.fit(X, y).n_updates_ > 0
        before = model.embedding_strengths_
        assert model.fit(X, y).n_updates_ == 0
        assert_array_equal(model.embedding_strengths_, before)
    with pytest.raises(ValueError, match="warm_start=True of Rosenblatt needs the classes"):
        Rosenblatt(warm_start=True).fit(X, y).fit(X, y + 1)


@pytest.mark.parametrize(
    "model", [Rosenblatt(), Perceptron(), Adaline(updates="sequential")], ids=repr
)
def test_partial_fit_is_one_sweep(model):
    X, y = overlapping(60)
    once = model.set_params(max_iter=1).fit(X, y).last_coef_
    streamed = type(model)(**model.get_params())
    streamed.partial_fit(X[:60], y[:60], classes=[0, 1])
    assert_allclose(streamed.coef_, once, rtol=1e-12)
    if isinstance(model, Adaline):
        return  # its rate depends on the rows
    parts = type(model)(**model.get_params())
    parts.partial_fit(X[:10], y[:10], classes=[0, 1])
    for start in range(10, 60, 10):
        parts.partial_fit(X[start : start + 10], y[start : start + 10])
    assert_allclose(parts.coef_, once, rtol=1e-10)
    assert_array_equal(parts.embedding_strengths_.shape, (1, 10))
    least = (signs(y[50:]) * parts.decision_function(X[50:])).min()
    length = np.linalg.norm(np.append(parts.coef_, parts.intercept_))
    assert parts.stability_ == pytest.approx(least / length)
    with pytest.raises(ValueError, match="'x'"):
        parts.partial_fit(X, np.full(60, "x"))
    with pytest.raises(ValueError, match="needs fit_intercept='clamped' or False"):
        Rosenblatt(fit_intercept="free").partial_fit(X, y, classes=[0, 1])


def test_one_class_at_a_time():
    X, y = overlapping(60)
    model = Rosenblatt()
    for label in (1, 0):
        model.partial_fit(X[y == label], y[y == label], classes=[0, 1])
    assert model.coef_.shape == (1, 3)
    assert model.predict(X).shape == (60,)


def test_costs():
    X, y = overlapping(60)
    model = Rosenblatt(max_iter=5).fit(X, y)
    E = signs(y) * model.decision_function(X)
    assert_allclose(model.cost(X, y), np.maximum(-E, 0).sum())
    assert_allclose(model.cost(X, y, k=2, c=1.0), (np.maximum(1 - E, 0) ** 2).sum())
    assert model.cost(X, y, k=0)[0] == (E < 0).sum()
    descent = Perceptron("cost", theta=(0.01, 2.0, 1.0), updates="parallel", history=True)
    descent.set_params(max_iter=300, fit_intercept=False).fit(X, y)
    costs = [(np.maximum(1 - E, 0) ** 2).sum() for E in descent.history_[0]["potentials"]]
    assert (np.diff(costs) <= 1e-12).all()
    Z = signs(y)[:, None] * X
    least = minimize(lambda w: (np.maximum(1 - Z @ w, 0) ** 2).sum(), np.zeros(3)).fun
    assert_allclose(costs[-1], least, rtol=1e-6)


def test_wrong_settings_are_named():
    X, y = overlapping()
    for settings, message in [
        ({"f": "hebbian"}, "f='hebbian' of Perceptron must be a function"),
        ({"f": 3}, "f=3 of Perceptron"),
        ({"theta": [1.0, 2.0]}, "takes 1"),
        ({"order": [0, 30]}, "names row 30; there are rows 0 to 29"),
        ({"order": "sorted"}, "order='sorted'"),
        ({"order": [0.5]}, "sequence of row numbers"),
        ({"fit_intercept": "free"}, "fit_intercept='free' of Perceptron is not possible"),
        ({"history": "all"}, "history='all'"),
        ({"callback": 3}, "callback=3"),
        ({"warm_start": 1}, "warm_start=1"),
    ]:
        with pytest.raises(ValueError, match=message):
            Perceptron(**settings).fit(X, y)
    with pytest.raises(ValueError, match="updates='parallel' of AdaTron"):
        AdaTron(updates="parallel").fit(X, y)
    with pytest.raises(ValueError, match="count='updates' of Pocket"):
        Pocket(count="updates", fit_intercept="free").fit(X, y)
