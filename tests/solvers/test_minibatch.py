"""Mini-batch solvers: the steps of Adam and momentum on gradients by finite differences."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits

import custom_axes
import reference
from protolearn import (
    GLVQ,
    GMLVQ,
    LGMLVQ,
    LOGM,
    MCE,
    MRSLVQ,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
)
from protolearn.losses import Logistic, Sigmoid
from protolearn.solvers import SOLVERS, Adam, Momentum, minibatch

CODES = np.array([0, 0, 1, 1, 2])
COUNTS = {0: 2, 1: 2, 2: 1}
MODELS = [
    (GLVQ, {"beta": 2.0}, {"margin": "relative", "loss": "sigmoid", "beta": 2.0}),
    (MCE, {"beta": 0.8}, {"margin": "difference", "loss": "sigmoid", "beta": 0.8}),
    (LOGM, {"beta": 0.8}, {"margin": "difference", "loss": "logistic", "beta": 0.8}),
    (SNPC, {"xi": 0.7}, {"margin": "log_odds", "loss": "sigmoid", "xi": 0.7}),
    (RSLVQ, {"xi": 0.7}, {"margin": "log_odds", "loss": "logistic", "xi": 0.7}),
    (MarginLVQ, {"beta": 0.3}, {"margin": "hypothesis", "loss": "hinge", "beta": 0.3}),
]
SETTINGS = {
    "adam": {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-6},
    "momentum": {"momentum": 0.7},
}
KINDS = ["adam", "momentum"]
RATE = 0.05
CLOSE = {"rtol": 1e-6, "atol": 1e-7}


def problem(seed, n=9):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1.0, 1.0, (n, 4))
    return X, np.arange(n) % 3, rng.uniform(-1.0, 1.0, (5, 4))


def rate_at(schedule, t, total, decay):
    if schedule == "linear":
        return reference.linear_rate(t, RATE, total)
    if schedule == "inverse_time":
        return reference.inverse_rate(t, RATE, decay)
    return reference.constant_rate(t, RATE)


def steps(kind, flat, gradients, rates, **settings):
    settings = SETTINGS[kind] | settings
    if kind == "adam":
        return reference.adam_steps(flat, gradients, rates, **settings)
    return reference.momentum_steps(flat, gradients, rates, **settings)


def batches(n, size, epochs):
    """Give the first sample's number and the rows of every batch."""
    starts = [(e * n + s, slice(s, s + size)) for e in range(epochs) for s in range(0, n, size)]
    return [t for t, _ in starts], [rows for _, rows in starts]


def expected(kind, X, y, W, *, size, epochs, weights, unit, schedule, decay=0.0, **objective):
    """Give the prototypes after all steps, and the mean cost met in each epoch."""
    n, shape = len(X), W.shape
    seen, parts = batches(n, size, epochs)
    met = np.zeros(epochs)

    def gradient_of(number, rows):
        s = weights[rows]

        def cost(z):
            V = unit * z.reshape(shape)
            return reference.cost(X[rows], y[rows], s, V, CODES, **objective)

        def gradient(z):
            met[seen[number] // n] += cost(z) * s.sum()
            return reference.numeric_gradient(cost, z) * s.sum() / len(s)

        return gradient

    gradients = [gradient_of(i, rows) for i, rows in enumerate(parts)]
    share = 1.0 / np.sqrt(shape[1]) if kind == "adam" else 1.0
    rates = [share * rate_at(schedule, t, n * epochs, decay) for t in seen]
    flat = steps(kind, W.ravel() / unit, gradients, rates)
    return unit * flat.reshape(shape), met / weights.sum()


def solver(kind, size, schedule="constant", decay=0.0, **kwargs):
    settings = SETTINGS[kind] | {"learning_rate": RATE, "shuffle": False} | kwargs
    return SOLVERS[kind](batch_size=size, schedule=schedule, decay=decay, **settings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cls", "parameters", "objective"), MODELS)
@pytest.mark.parametrize(("size", "epochs"), [(4, 2), (1, 1), (1000, 1)])
def test_steps_are_those_of_the_formula(kind, cls, parameters, objective, size, epochs):
    X, y, W = problem(0)
    scale = 0.5
    model = cls(
        init=W,
        prototypes_per_class=COUNTS,
        scale=scale,
        attraction=0.05,
        max_iter=epochs,
        solver=solver(kind, size),
        **parameters,
    ).fit(X, y)
    wanted, curve = expected(
        kind,
        X,
        y,
        W,
        size=size,
        epochs=epochs,
        weights=np.ones(len(X)),
        unit=np.sqrt(scale),
        schedule="constant",
        scale=scale,
        alpha=0.05,
        **objective,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, **CLOSE)
    np.testing.assert_allclose(model.loss_curve_, curve, rtol=1e-8)
    assert np.abs(wanted - W).max() > 1e-3
    assert model.solver_ == kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schedule", ["linear", "inverse_time", "constant"])
@pytest.mark.parametrize("seed", range(3))
def test_the_rate_is_that_of_the_first_sample_of_a_batch(kind, schedule, seed):
    X, y, W = problem(seed)
    weights = np.random.RandomState(seed).uniform(0.2, 3.0, len(X))
    model = LOGM(
        init=W,
        prototypes_per_class=COUNTS,
        scale=1.0,
        beta=0.8,
        attraction=0.0,
        max_iter=3,
        solver=solver(kind, 4, schedule, decay=0.2),
    ).fit(X, y, sample_weight=5.0 * weights)
    wanted, curve = expected(
        kind,
        X,
        y,
        W,
        size=4,
        epochs=3,
        weights=weights / weights.mean(),
        unit=1.0,
        schedule=schedule,
        decay=0.2,
        margin="difference",
        loss="logistic",
        beta=0.8,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, **CLOSE)
    np.testing.assert_allclose(model.loss_curve_, curve, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_of_data(kind):
    X, y, W = problem(1)
    model = GLVQ(
        init=W, prototypes_per_class=COUNTS, beta=2.0, max_iter=2, solver=solver(kind, 6)
    ).fit(X, y)
    D = reference.squared_euclidean(X, W)
    scale = np.where(y[:, None] == CODES, D, np.inf).min(axis=1).mean()
    wanted, _ = expected(
        kind,
        X,
        y,
        W,
        size=6,
        epochs=2,
        weights=np.ones(len(X)),
        unit=np.sqrt(scale),
        schedule="constant",
        margin="relative",
        loss="sigmoid",
        beta=2.0,
        scale=scale,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, **CLOSE)


def log_cosh(X, W):
    return np.log(np.cosh(X[:, None] - W)).sum(axis=2)


def city(X, W):
    return np.abs(X[:, None] - W).sum(axis=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("axis", "distance", "unit"),
    [(custom_axes.LogCosh(), log_cosh, np.sqrt(2.0)), (custom_axes.City(), city, 2.0)],
)
def test_the_unit_of_a_metric_is_the_scale_of_others_its_root(kind, axis, distance, unit):
    X, y, W = problem(2)
    model = PrototypeClassifier(
        distance=axis,
        margin="difference",
        loss=Logistic(0.8),
        init=W,
        prototypes_per_class=COUNTS,
        scale=2.0,
        max_iter=2,
        solver=solver(kind, 6),
    ).fit(X, y)
    wanted, _ = expected(
        kind,
        X,
        y,
        W,
        size=6,
        epochs=2,
        weights=np.ones(len(X)),
        unit=unit,
        schedule="constant",
        margin="difference",
        loss="logistic",
        beta=0.8,
        scale=2.0,
        distance=distance,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cls", "parameters", "objective"), [MODELS[0], MODELS[4]])
def test_missing_values(kind, cls, parameters, objective):
    X, y, W = problem(3)
    holes = np.random.RandomState(3).uniform(size=X.shape) < 0.3
    holes[np.arange(len(X)), np.arange(len(X)) % 4] = False
    X[holes] = np.nan
    model = cls(
        init=W,
        prototypes_per_class=COUNTS,
        scale=1.0,
        attraction=0.0,
        max_iter=1,
        solver=solver(kind, 5),
        **parameters,
    ).fit(X, y)
    wanted, _ = expected(
        kind,
        X,
        y,
        W,
        size=5,
        epochs=1,
        weights=np.ones(len(X)),
        unit=1.0,
        schedule="constant",
        distance=reference.partial_squared_euclidean,
        **objective,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, **CLOSE)


def carried_step(kind, gradient, rate, moments, t):
    """Give one step of Adam or momentum that goes on from earlier moments.

    With a metric Adam has one mean square for each row, here of four numbers.
    """
    if kind == "momentum":
        moments["v"] = 0.7 * moments.get("v", 0.0) - rate * gradient
        return moments["v"]
    moments["m"] = 0.8 * moments.get("m", 0.0) + 0.2 * gradient
    squares = np.repeat(np.mean(gradient.reshape(-1, 4) ** 2, axis=1), 4)
    moments["s"] = 0.95 * moments.get("s", 0.0) + 0.05 * squares
    root = np.sqrt(moments["s"] / (1 - 0.95**t))
    return -rate * moments["m"] / (1 - 0.8**t) / (root + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize("distance", [custom_axes.Relevances(), custom_axes.LocalRelevances()])
def test_the_metric_steps_before_its_constraint(kind, epochs, distance):
    X, y, W = problem(4)
    scale = 0.4
    model = PrototypeClassifier(
        distance=distance,
        loss=Sigmoid(1.5),
        init=W,
        prototypes_per_class=COUNTS,
        scale=scale,
        max_iter=epochs,
        solver=solver(kind, len(X), metric_rate=0.3),
    ).fit(X, y)
    group = distance.groups(CODES)
    shape = (group.max() + 1, 4)

    def normed(a):
        return a / np.linalg.norm(a, axis=1, keepdims=True)

    def cost(flat):
        V = np.sqrt(scale) * flat[: W.size].reshape(W.shape)
        theta = normed(flat[W.size :].reshape(shape))
        total = 0.0
        for x, label in zip(X, y, strict=True):
            d = np.sum((theta[group] * (x - V)) ** 2, axis=1) / scale
            total += reference.sigmoid(reference.relative(d, label == CODES), 1.5)
        return total / len(X)

    flat, moments = np.append(W / np.sqrt(scale), np.full(shape, 0.5)), {}
    share = 0.5 if kind == "adam" else 1.0  # four features
    rate = RATE * share * np.repeat([1.0, 0.3], [W.size, flat.size - W.size])
    for t in range(1, epochs + 1):
        gradient = reference.numeric_gradient(cost, flat)
        flat = flat + carried_step(kind, gradient, rate, moments, t)
        flat[W.size :] = normed(flat[W.size :].reshape(shape)).ravel()
    reached = np.sqrt(scale) * flat[: W.size].reshape(W.shape)
    np.testing.assert_allclose(model.prototypes_, reached, **CLOSE)
    np.testing.assert_allclose(model.rule_.codebook.metric, flat[W.size :].reshape(shape), **CLOSE)
    assert np.abs(model.rule_.codebook.metric - 0.5).max() > 1e-4


def test_the_first_step_of_adam_is_as_long_as_the_rate():
    for d in (1, 4, 100):
        rng = np.random.RandomState(d)
        X, y = rng.standard_normal((50, d)), np.arange(50) % 2
        W = rng.standard_normal((2, d))
        adam = Adam(learning_rate=0.03, batch_size=50, schedule="constant", epsilon=1e-300)
        model = LOGM(init=W, scale=7.0, solver=adam, max_iter=1).fit(X, y)
        lengths = np.linalg.norm(model.prototypes_ - W, axis=1)
        np.testing.assert_allclose(lengths, 0.03 * np.sqrt(7.0), rtol=1e-9)


def test_a_whole_batch_without_momentum_is_gradient_descent():
    X, y, W = problem(5)
    plain = Momentum(learning_rate=0.5, momentum=0.0, batch_size=9, schedule="constant")
    model = LOGM(
        init=W,
        prototypes_per_class=COUNTS,
        scale=1.0,
        beta=0.8,
        attraction=0.0,
        solver=plain,
        max_iter=4,
    ).fit(X, y)

    def cost(V):
        settings = {"margin": "difference", "loss": "logistic", "beta": 0.8}
        return reference.cost(X, y, np.ones(len(X)), V, CODES, **settings)

    for _ in range(4):
        W = W - 0.5 * reference.numeric_gradient(cost, W)
    np.testing.assert_allclose(model.prototypes_, W, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_larger_than_the_data_is_all_of_them(kind):
    X, y, W = problem(0)
    settings = {"init": W, "prototypes_per_class": COUNTS, "max_iter": 3}
    a, b = (LOGM(solver=solver(kind, n), **settings).fit(X, y) for n in (9, 10**6))
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_zero_is_no_row(kind):
    X, y, W = problem(0)
    weight = np.where(np.arange(len(X)) % 4 == 1, 0.0, 2.0)
    settings = {"init": W, "prototypes_per_class": COUNTS, "max_iter": 3, "scale": 1.0}
    a = LOGM(solver=solver(kind, 4), **settings).fit(X, y, sample_weight=weight)
    b = LOGM(solver=solver(kind, 4), **settings).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cls", "parameters", "objective"), MODELS)
def test_sparse_rows(kind, cls, parameters, objective):
    X, y, W = problem(0, n=40)
    X[np.random.RandomState(0).uniform(size=X.shape) < 0.5] = 0.0
    settings = {"init": W, "prototypes_per_class": COUNTS, "max_iter": 3, "random_state": 0}
    fitting = solver(kind, 7, shuffle=True)
    dense = cls(solver=fitting, **settings, **parameters).fit(X, y)
    sparse = cls(solver=clone(fitting), **settings, **parameters).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.prototypes_, dense.prototypes_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds(kind, iris):
    X, y = iris
    settings = {"solver": SOLVERS[kind](batch_size=16), "max_iter": 3, "init": X[[0, 60, 120]]}
    a, b, c = (LOGM(random_state=s, **settings).fit(X, y).prototypes_ for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    settings["solver"] = SOLVERS[kind](batch_size=16, shuffle=False)
    a, b = (LOGM(random_state=s, **settings).fit(X, y).prototypes_ for s in (0, 1))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_a_shuffled_epoch_takes_every_row_once(kind):
    X, y, W = problem(0)
    settings = {"init": W, "prototypes_per_class": COUNTS, "max_iter": 1, "scale": 1.0}
    fitting = solver(kind, 4, shuffle=True, learning_rate=1e-12)
    for seed in range(3):
        settings["attraction"] = 0.0
        model = LOGM(solver=fitting, beta=0.8, random_state=seed, **settings).fit(X, y)
        objective = {"margin": "difference", "loss": "logistic", "beta": 0.8}
        mean = reference.cost(X, y, np.ones(len(X)), W, CODES, **objective)
        np.testing.assert_allclose(model.loss_curve_, [mean], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cls", "parameters", "objective"), MODELS)
def test_units_of_any_size(kind, cls, parameters, objective, iris):
    X, y = iris
    settings = {"solver": SOLVERS[kind](batch_size=16), "max_iter": 3, "random_state": 0}
    plain = cls(**settings).fit(X, y)
    for factor in (2.0**400, 2.0**-400):
        scaled = cls(**settings).fit(X * factor, y)
        np.testing.assert_allclose(scaled.prototypes_ / factor, plain.prototypes_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_far_from_the_origin(kind, iris):
    X, y = iris
    settings = {"solver": SOLVERS[kind](batch_size=16), "max_iter": 3, "random_state": 0}
    near, far = LOGM(**settings).fit(X, y), LOGM(**settings).fit(X + 1e6, y)
    np.testing.assert_allclose(far.prototypes_ - 1e6, near.prototypes_, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cls", "parameters", "objective"), MODELS)
def test_good_on_iris(kind, cls, parameters, objective, iris):
    X, y = iris
    fitting = SOLVERS[kind](learning_rate=0.05, batch_size=16)
    model = cls(solver=fitting, max_iter=50, random_state=0).fit(X, y)
    assert model.score(X, y) >= 0.93
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cls", [GLVQ, LOGM, RSLVQ])
def test_good_on_digits(kind, cls):
    X, y = load_digits(return_X_y=True)
    fitting = SOLVERS[kind](learning_rate=0.05, batch_size=32)
    model = cls(prototypes_per_class=2, solver=fitting, max_iter=20, random_state=0)
    assert model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > 0.9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["hinge", "broken_linear", "exponential"])
def test_losses_of_the_hypothesis_margin(kind, loss, iris):
    X, y = iris
    fitting = SOLVERS[kind](learning_rate=0.05, batch_size=16)
    model = MarginLVQ(loss=loss, solver=fitting, max_iter=40, random_state=0).fit(X, y)
    assert model.score(X, y) >= 0.93


@pytest.mark.parametrize("kind", KINDS)
def test_a_loss_without_slope_moves_nothing(kind):
    X, y = np.array([[0.0], [0.1], [50.0], [50.1]]), [0, 0, 1, 1]
    W = np.array([[0.05], [50.05]])
    model = MarginLVQ(loss="hinge", beta=5.0, init=W, scale=1.0, solver=kind, max_iter=3)
    np.testing.assert_allclose(model.fit(X, y).prototypes_, W, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", [custom_axes.Relevances(), custom_axes.LocalRelevances()])
def test_the_metric_learns_and_keeps_its_norm(kind, distance, iris):
    X, y = iris
    X = np.hstack([X, np.random.RandomState(0).standard_normal((len(X), 2))])
    fitting = SOLVERS[kind](learning_rate=0.1, batch_size=16, metric_rate=0.5)
    model = PrototypeClassifier(distance=distance, solver=fitting, max_iter=50, random_state=0)
    model.fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0, rtol=1e-12)
    relevances = (model.rule_.codebook.metric**2).mean(axis=0)
    assert relevances[2:4].sum() > 2.0 * relevances[4:].sum()
    assert model.score(X, y) > 0.93


@pytest.mark.parametrize("kind", KINDS)
def test_metric_rate_zero_leaves_the_metric(kind, iris):
    fitting = SOLVERS[kind](metric_rate=0.0)
    model = PrototypeClassifier(distance=custom_axes.Relevances(), solver=fitting, max_iter=3)
    np.testing.assert_allclose(
        model.fit(*iris).rule_.codebook.metric, np.full((1, 4), 0.5), rtol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_epochs(kind):
    X, y = np.ones((6, 2)), np.arange(6) % 2
    for schedule in ("constant", "inverse_time"):
        model = GLVQ(solver=SOLVERS[kind](schedule=schedule), max_iter=100).fit(X, y)
        assert model.n_iter_ == 6
    assert GLVQ(solver=SOLVERS[kind](schedule="linear"), max_iter=30).fit(X, y).n_iter_ == 30


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_name_has_the_default_settings(kind, iris):
    a, b = (GLVQ(solver=s, max_iter=3, random_state=0).fit(*iris) for s in (kind, SOLVERS[kind]()))
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)
    assert a.solver_ == b.solver_ == kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_is_left_as_it_is(kind, iris):
    fitting = SOLVERS[kind](batch_size=7)
    before = dict(vars(fitting))
    model = GLVQ(solver=fitting, max_iter=2, random_state=0)
    first = model.fit(*iris).prototypes_.copy()
    assert vars(fitting) == before
    np.testing.assert_array_equal(model.fit(*iris).prototypes_, first)
    assert model.set_params(solver__batch_size=9).solver.batch_size == 9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0.0),
        ("learning_rate", -1.0),
        ("learning_rate", "fast"),
        ("learning_rate", np.inf),
        ("batch_size", 0),
        ("batch_size", 2.5),
        ("batch_size", True),
        ("schedule", "cosine"),
        ("decay", -1.0),
        ("least_rate", -0.1),
        ("least_rate", 1.5),
        ("least_rate", np.nan),
        ("metric_rate", -0.1),
        ("metric_rate", np.nan),
        ("shuffle", "yes"),
    ],
)
def test_bad_settings(kind, name, value, iris):
    with pytest.raises(ValueError, match=name):
        GLVQ(solver=SOLVERS[kind](**{name: value})).fit(*iris)


@pytest.mark.parametrize(
    ("fitting", "message"),
    [
        (Momentum(momentum=1.0), "momentum=1.0 of Momentum"),
        (Momentum(momentum=-0.1), "momentum=-0.1"),
        (Momentum(momentum=None), "momentum=None"),
        (Adam(beta1=1.0), "beta1=1.0 of Adam"),
        (Adam(beta1=-0.1), "beta1=-0.1"),
        (Adam(beta2=1.0), "beta2=1.0"),
        (Adam(beta2="a"), "beta2='a'"),
        (Adam(epsilon=0.0), "epsilon=0.0"),
        (Adam(epsilon=-1e-8), "epsilon=-1e-08"),
        ("adm", "Did you mean 'adam'"),
        (Adam, "the class Adam"),
    ],
)
def test_bad_solvers(fitting, message, iris):
    with pytest.raises(ValueError, match=message):
        GLVQ(solver=fitting).fit(*iris)


@pytest.mark.parametrize(
    "model",
    [
        GMLVQ(prototypes_per_class=2, rank=2),
        GMLVQ(prototypes_per_class=2, regularization=0.05, attraction=0.1),
        LGMLVQ(regularization=0.02),
        LGMLVQ(prototypes_per_class=2, localized="prototype"),
        MRSLVQ(prototypes_per_class=2, class_weight="balanced"),
    ],
)
def test_an_epoch_in_one_call_is_that_of_single_steps(model, iris, monkeypatch):
    solver = Adam(batch_size=40, learning_rate=0.03, metric_rate=0.5, inside=True)
    model.set_params(solver=solver, max_iter=4, random_state=1)
    at_once, asked = clone(model).fit(*iris), []
    monkeypatch.setattr(minibatch, "suits_one_call", lambda *given: asked.append(given))
    stepwise = model.fit(*iris)
    assert len(asked) == 4
    ours, theirs = at_once.rule_.codebook, stepwise.rule_.codebook
    np.testing.assert_allclose(ours.prototypes, theirs.prototypes, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.metric, theirs.metric, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(at_once.loss_curve_, stepwise.loss_curve_, rtol=1e-10)


def test_an_epoch_in_one_call_with_a_penalty_on_columns_that_depend_on_each_other(iris):
    X, y = np.hstack([iris[0], iris[0][:, :1] - iris[0][:, 1:2]]), iris[1]
    solver = Adam(batch_size=40, learning_rate=0.03, inside=True)
    model = LGMLVQ(regularization=0.02, solver=solver, max_iter=4, random_state=1)
    at_once = clone(model).fit(X, y)
    assert at_once.omega_.shape[1:] == (4, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minibatch, "suits_one_call", lambda *given: False)
        stepwise = model.fit(X, y)
    np.testing.assert_allclose(at_once.omega_, stepwise.omega_, rtol=1e-9, atol=1e-11)


def test_zero_is_a_fine_beta_and_momentum():
    X, y, W = problem(0)
    settings = {"init": W, "prototypes_per_class": COUNTS, "max_iter": 2}
    shared = {"batch_size": 5, "learning_rate": RATE, "schedule": "constant", "shuffle": False}
    for fitting in (Momentum(momentum=0.0, **shared), Adam(beta1=0.0, beta2=0.0, **shared)):
        model = LOGM(solver=fitting, **settings).fit(X, y)
        assert np.abs(model.prototypes_ - W).max() > 1e-3
