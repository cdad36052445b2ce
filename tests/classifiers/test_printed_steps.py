"""Steps with raw rates, one by one, beside the printed updates for every distance."""

import numpy as np
import pytest

import reference
from protolearn import GLVQ, GMLVQ, LVQ1, LVQ3, LVQ21, OLVQ1, PrototypeClassifier
from protolearn.distances import (
    CauchySchwarz,
    Kernel,
    KullbackLeibler,
    LocalMatrix,
    Mahalanobis,
    Matrix,
    Minkowski,
    Relevance,
    Renyi,
    SquaredEuclidean,
)
from protolearn.losses import Identity, Sigmoid
from protolearn.solvers import SGD, Adam

CODES = np.array([0, 0, 1, 1, 2])
COUNTS = {0: 2, 1: 2, 2: 1}
ETA = 0.2
RULES = {
    LVQ1: (reference.lvq1, {"schedule": "constant"}, {}),
    OLVQ1: (reference.olvq1, {}, {}),
    LVQ21: (reference.lvq21, {"schedule": "constant"}, {"window": 0.4}),
    LVQ3: (reference.lvq3, {"schedule": "constant"}, {"window": 0.4, "epsilon": 0.3}),
}


def problem(seed=0, n=20):
    """Give positive rows, so that divergences take them, labels and prototypes."""
    rng = np.random.RandomState(seed)
    return rng.uniform(0.5, 2.0, (n, 3)), np.arange(n) % 3, rng.uniform(0.5, 2.0, (5, 3))


def squared(x, w, metric):
    return ((x - w) ** 2).sum()


def mapped(x, w, metric):
    z = np.reshape(metric, (-1, 3)) @ (x - w)
    return (z**2).sum()


def weighted(x, w, metric):
    return (metric**2 * (x - w) ** 2).sum()


def power(p):
    """Give a Minkowski distance that complex numbers take."""
    return lambda x, w, metric: (((x - w) ** 2) ** (p / 2)).sum() ** (1 / p)


def gaussian(x, w, metric):
    return 2.0 - 2.0 * np.exp(-0.7 * ((x - w) ** 2).sum())


def polynomial(x, w, metric):
    def k(a, b):
        return (0.5 * (a * b).sum() + 1.0) ** 2

    return k(x, x) - 2.0 * k(x, w) + k(w, w)


def kullback_leibler(x, w, metric):
    return (x * np.log(x / w) - x + w).sum()


def cauchy_schwarz(x, w, metric):
    return 0.5 * np.log((x * x).sum() * (w * w).sum() / (x * w).sum() ** 2)


def renyi(x, w, metric):
    p, q = x / x.sum(), w / w.sum()
    return np.log((p**2.5 * q**-1.5).sum()) / 1.5


FIXED = [
    (SquaredEuclidean(), squared, True),
    (Mahalanobis(), mapped, True),
    (Minkowski(p=1.5), power(1.5), False),
    (Minkowski(p=3.0), power(3.0), False),
    (Kernel("rbf", gamma=0.7), gaussian, True),
    (Kernel("polynomial", gamma=0.5, degree=2, coef0=1.0), polynomial, True),
    (KullbackLeibler(), kullback_leibler, None),
    (CauchySchwarz(), cauchy_schwarz, None),
    (Renyi(alpha=2.5), renyi, None),
]
LEARNED = [(Matrix(), mapped), (Matrix(rank=2), mapped), (Relevance(), weighted)]


def name(case):
    return repr(case[0])


def slope(f, place, *args):
    """Give the derivative of an analytic function by one argument: exact but for rounding."""
    out = np.empty(np.shape(args[place]))
    for k in np.ndindex(out.shape):
        moved = np.array(args[place], dtype=complex)
        moved[k] += 1e-30j
        out[k] = f(*args[:place], moved, *args[place + 1 :]).imag / 1e-30
    return out


@pytest.mark.parametrize("case", FIXED, ids=name)
@pytest.mark.parametrize("rule", RULES)
def test_rules_take_the_printed_step(rule, case):
    """(5.9): ``w - eta Psi (1/2) d delta / dw``, for each sample of a fixed order, twice."""
    distance, delta, is_squared = case
    X, y, W = problem()
    formula, schedule, settings = RULES[rule]
    model = rule(
        distance=distance, init=W, prototypes_per_class=COUNTS, learning_rate=ETA, max_iter=2,
        raw_rates=True, shuffle=False, history="step", **schedule, **settings,
    ).fit(X, y)  # fmt: skip
    seen, metric = model.history_, model.history_["metric"][0, 0]
    assert seen["example"].tolist() == [-1, *range(20), *range(20)]
    assert seen["n_iter"].tolist() == [0] + [1] * 20 + [2] * 20
    rates = {"rates": np.full(5, ETA), "return_rates": True} if rule is OLVQ1 else {}
    for t, i in enumerate(seen["example"][1:]):
        wanted = formula(
            X[i : i + 1], y[i : i + 1], seen["prototypes"][t], CODES, ETA,
            distance=lambda x, w: delta(x, w, metric),
            gradient=lambda x, w: slope(delta, 1, x, w, metric),
            squared=bool(distance.squared) if is_squared is None else is_squared,
            **settings, **rates,
        )  # fmt: skip
        if rule is OLVQ1:
            wanted, rates["rates"] = wanted
        np.testing.assert_allclose(seen["prototypes"][t + 1], wanted, rtol=1e-10, atol=1e-13)
    assert np.abs(model.prototypes_ - W).max() > 1e-3


@pytest.mark.parametrize("case", LEARNED, ids=name)
def test_matrix_lvq1_takes_the_printed_step(case):
    distance, delta = case
    X, y, W = problem(1)
    model = LVQ1(
        distance=distance, init=W, prototypes_per_class=COUNTS, learning_rate=ETA, max_iter=2,
        raw_rates=True, metric_rate=0.4, schedule="constant", shuffle=False, history="step",
    ).fit(X, y)  # fmt: skip
    seen = model.history_
    for t, i in enumerate(seen["example"][1:]):
        W, omega = seen["prototypes"][t].copy(), seen["metric"][t, 0].copy()
        k = int(np.argmin([delta(X[i], w, omega) for w in W]))
        psi = 1.0 if CODES[k] == y[i] else -1.0
        by_w = slope(delta, 1, X[i], W[k], omega)
        by_omega = slope(delta, 2, X[i], W[k], omega)
        W[k] -= ETA * psi * 0.5 * by_w
        omega -= 0.4 * ETA * psi * 0.5 * by_omega
        omega /= np.linalg.norm(omega)
        np.testing.assert_allclose(seen["prototypes"][t + 1], W, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(seen["metric"][t + 1, 0], omega, rtol=1e-10, atol=1e-13)
    assert np.abs(seen["metric"][-1] - seen["metric"][0]).max() > 0.01


@pytest.mark.parametrize("loss", [Identity(), Sigmoid(4.0)], ids=repr)
@pytest.mark.parametrize("case", [*FIXED, *LEARNED], ids=name)
def test_gradient_descent_takes_the_printed_step(case, loss):
    """(5.7) and (5.17): ``- eta dPhi(e)/dw`` of both winners, and of the metric."""
    distance, delta = case[:2]
    X, y, W = problem(2)
    eta = 0.05  # more would take divergences to where they are not defined
    solver = SGD(eta, "constant", metric_rate=0.3, shuffle=False, raw_rates=True)
    model = PrototypeClassifier(
        distance=distance, loss=loss, solver=solver, init=W, prototypes_per_class=COUNTS,
        max_iter=2, history="step",
    ).fit(X, y)  # fmt: skip
    assert model.slope_factor_ == 1.0
    learns, seen = case in LEARNED, model.history_

    def phi(x, own, rival, omega):
        near, far = delta(x, own, omega), delta(x, rival, omega)
        e = (near - far) / (near + far)
        return e if isinstance(loss, Identity) else 1.0 / (1.0 + np.exp(-loss.beta * e))

    for t, i in enumerate(seen["example"][1:]):
        x, W, omega = X[i], seen["prototypes"][t].copy(), seen["metric"][t, 0].copy()
        d = np.array([delta(x, w, omega) for w in W])
        j, k = reference.winners(d, y[i] == CODES)
        given = x, W[j], W[k], omega
        by_j, by_k = slope(phi, 1, *given), slope(phi, 2, *given)
        by_omega = slope(phi, 3, *given) if learns else 0.0
        assert seen["loss"][t + 1] == pytest.approx(phi(*given), rel=1e-9)
        W[j], W[k] = W[j] - eta * by_j, W[k] - eta * by_k
        np.testing.assert_allclose(seen["prototypes"][t + 1], W, rtol=1e-9, atol=1e-12)
        if learns:
            omega = omega - 0.3 * eta * by_omega
            wanted = omega / np.linalg.norm(omega)
            np.testing.assert_allclose(seen["metric"][t + 1, 0], wanted, rtol=1e-9, atol=1e-12)
    assert np.abs(model.prototypes_ - problem(2)[2]).max() > 1e-3


@pytest.mark.parametrize("localized", ["class", "prototype"])
def test_gradient_descent_of_local_matrices_takes_the_printed_step(localized):
    """(5.17) with a matrix for each class or prototype: those of the winners are changed."""
    X, y, W = problem(4)
    solver = SGD(0.05, "constant", metric_rate=0.3, shuffle=False, raw_rates=True)
    model = PrototypeClassifier(
        distance=LocalMatrix(localized=localized), loss=Identity(), solver=solver, init=W,
        prototypes_per_class=COUNTS, max_iter=2, history="step",
    ).fit(X, y)  # fmt: skip
    seen, place_of = model.history_, CODES if localized == "class" else np.arange(5)

    def margin(x, own, rival, own_metric, rival_metric):
        near, far = mapped(x, own, own_metric), mapped(x, rival, rival_metric)
        return (near - far) / (near + far)

    for t, i in enumerate(seen["example"][1:]):
        W, omegas = seen["prototypes"][t].copy(), seen["metric"][t].copy()
        d = np.array([mapped(X[i], *pair) for pair in zip(W, omegas[place_of], strict=True)])
        j, k = reference.winners(d, y[i] == CODES)
        given = X[i], W[j], W[k], omegas[place_of[j]], omegas[place_of[k]]
        steps = [slope(margin, place, *given) for place in (1, 2, 3, 4)]
        for winner, by_w, by_omega in zip((j, k), steps[:2], steps[2:], strict=True):
            W[winner] -= 0.05 * by_w
            omegas[place_of[winner]] -= 0.3 * 0.05 * by_omega
        omegas /= np.linalg.norm(omegas, axis=1)[:, None]
        np.testing.assert_allclose(seen["prototypes"][t + 1], W, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(seen["metric"][t + 1], omegas, rtol=1e-9, atol=1e-12)
    assert np.abs(model.prototypes_ - problem(4)[2]).max() > 1e-3


def test_without_raw_rates_steps_of_a_matrix_are_rescaled():
    """By the inverse of the mean eigenvalue: three times as long for three features."""
    X, y, W = problem(3)
    settings = {"distance": Matrix(), "init": W, "prototypes_per_class": COUNTS, "max_iter": 1}
    settings |= {"shuffle": False, "history": "step", "learning_rate": 0.02}
    way = [
        np.diff(LVQ1(raw_rates=raw, **settings).fit(X, y).history_["prototypes"][:2], axis=0)
        for raw in (True, False)
    ]
    np.testing.assert_allclose(way[1], 3.0 * way[0], rtol=1e-10)


@pytest.mark.parametrize("model", [LVQ1(), OLVQ1(), GLVQ(solver="sgd"), GMLVQ(solver="sgd")])
@pytest.mark.parametrize("shuffle", [True, False])
def test_who_watches_changes_nothing(model, shuffle, iris):
    solver = {"solver": SGD(shuffle=shuffle)} if hasattr(model, "solver") else {"shuffle": shuffle}
    model.set_params(max_iter=3, random_state=0, prototypes_per_class=2, **solver)
    plain = model.set_params(history=False).fit(*iris).prototypes_
    for history, lines in (("step", 451), ("sweep", 4), (True, 4)):
        model.set_params(history=history).fit(*iris)
        np.testing.assert_array_equal(model.prototypes_, plain)
        np.testing.assert_array_equal(model.history_["prototypes"][-1], plain)
        assert {len(column) for column in model.history_.values()} == {lines}
    np.testing.assert_array_equal(model.history_["loss"][1:], model.loss_curve_)
    assert sorted(model.set_params(history="step").fit(*iris).history_["example"][1:151]) == list(
        range(150)
    )
    assert not hasattr(model.set_params(history=False).fit(*iris), "history_")


@pytest.mark.parametrize(("history", "calls"), [(True, 2), ("step", 2)])
def test_a_callback_is_called_as_often_and_ends_training(history, calls, iris):
    states = []

    def look(state):
        states.append((state.iteration, state.example))
        return len(states) == calls

    model = LVQ1(history=history, callback=look, max_iter=9, random_state=0, shuffle=False)
    model.fit(*iris)
    assert states == ([(1, 0), (1, 1)] if history == "step" else [(1, -1), (2, -1)])
    assert len(model.history_["n_iter"]) == calls + 1
    np.testing.assert_array_equal(model.history_["prototypes"][-1], model.prototypes_)


def test_a_stream_has_a_history_too(iris):
    X, y = iris
    model = LVQ1(history="step", random_state=0).partial_fit(X[::3], y[::3], classes=[0, 1, 2])
    before = model.prototypes_.copy()
    assert len(model.partial_fit(X[:7], y[:7]).history_["prototypes"]) == 8
    np.testing.assert_array_equal(model.history_["prototypes"][0], before)
    np.testing.assert_array_equal(model.history_["prototypes"][-1], model.prototypes_)


@pytest.mark.parametrize("rule", RULES)
def test_all_passes_are_made_if_nothing_ends_them(rule, iris):
    schedule = {} if rule is OLVQ1 else {"schedule": "constant"}
    given = {"max_iter": 30, "random_state": 0, **schedule}
    assert rule(n_iter_no_change=None, **given).fit(*iris).n_iter_ == 30
    assert rule(n_iter_no_change=2, **given).fit(*iris).n_iter_ < 30


@pytest.mark.parametrize("solver", [SGD, Adam])
def test_all_passes_of_gradient_descent_are_made(solver, iris):
    given = {"max_iter": 40, "random_state": 0, "tol": 0.9}
    ended = GLVQ(solver=solver(schedule="constant"), **given).fit(*iris)
    assert ended.n_iter_ < 40
    kept = GLVQ(solver=solver(schedule="constant", n_iter_no_change=None), **given).fit(*iris)
    assert kept.n_iter_ == 40


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LVQ1(raw_rates="yes"), "raw_rates='yes' of LVQ1 must be True or False"),
        (OLVQ1(n_iter_no_change=0), "n_iter_no_change=0"),
        (LVQ3(history="epoch"), "history='epoch' of LVQ3 must be one of"),
        (GLVQ(history="step", solver="lbfgs"), "set solver='sgd'"),
        (GLVQ(history="step", solver="sgd", checkpoint="file"), "no checkpoint"),
        (GLVQ(solver=SGD(n_iter_no_change=-1)), "n_iter_no_change=-1"),
        (GLVQ(solver=SGD(raw_rates=2)), "raw_rates=2"),
    ],
)
def test_what_is_refused(model, message, iris, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        model.fit(*iris)
