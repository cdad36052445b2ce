"""Solvers: single steps as printed in the papers, schedules, stopping, mismatches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

import custom_axes
import reference
from protolearn import (
    GLVQ,
    GMLVQ,
    LOGM,
    MCE,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    MarginLVQ,
    PrototypeClassifier,
)
from protolearn.losses import Hinge, Sigmoid
from protolearn.solvers import (
    LBFGS,
    SCHEDULES,
    SGD,
    Adam,
    Kohonen,
    Memory,
    Momentum,
    Solver,
    SolverResult,
)

CODES = np.array([0, 0, 1, 1, 2])
PRINTED = [
    (MCE, "beta", reference.mce_step),
    (LOGM, "beta", reference.logm_step),
    (GLVQ, "beta", reference.glvq_step),
    (SNPC, "xi", reference.snpc_step),
]


def problem(seed):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1.0, 1.0, (12, 4))
    y = np.arange(12) % 3
    return X, y, rng.uniform(-1.0, 1.0, (5, 4))


def one_pass(cls, X, y, W, **kwargs):
    """Run one unshuffled epoch at a constant rate in raw units."""
    model = cls(
        prototypes_per_class={0: 2, 1: 2, 2: 1},
        init=W,
        scale=1.0,
        solver=SGD(learning_rate=0.05, schedule="constant", shuffle=False),
        max_iter=1,
        **kwargs,
    )
    return model.fit(X, y).prototypes_


@pytest.mark.parametrize(("cls", "name", "step"), PRINTED)
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_the_paper(cls, name, step, alpha, seed):
    X, y, W = problem(seed)
    expected = W
    for x, label in zip(X, y, strict=True):
        expected = step(x, label, expected, CODES, 0.05, 0.8, alpha=alpha)
    got = one_pass(cls, X, y, W, attraction=alpha, **{name: 0.8})
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(got - W).max() > 1e-3


def test_rslvq_steps():
    X, y, W = problem(0)
    expected = W
    for x, label in zip(X, y, strict=True):
        expected = reference.rslvq_step(x, label, expected, CODES, 0.05, 0.8)
    np.testing.assert_allclose(
        one_pass(RSLVQ, X, y, W, xi=0.8, attraction=0.0), expected, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("loss", ["hinge", "broken_linear", "exponential"])
def test_margin_lvq_steps_follow_the_gradient(loss):
    X, y, W = problem(1)
    expected = W
    for x, label in zip(X, y, strict=True):

        def cost(V, x=x, label=label):
            settings = {"margin": "hypothesis", "loss": loss, "beta": 1.3}
            return reference.cost(x[None], np.array([label]), np.ones(1), V, CODES, **settings)

        expected = expected - 0.05 * reference.numeric_gradient(cost, expected)
    got = one_pass(MarginLVQ, X, y, W, loss=loss, beta=1.3)
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_steps_do_not_depend_on_the_unit():
    X, y, W = problem(2)
    settings = {"init": W, "prototypes_per_class": {0: 2, 1: 2, 2: 1}, "solver": "sgd"}
    for distance in ("sqeuclidean", custom_axes.City()):
        a, b = (
            PrototypeClassifier(
                distance=distance, random_state=0, max_iter=5, **{**settings, "init": s * W}
            ).fit(s * X, y)
            for s in (1.0, 1000.0)
        )
        np.testing.assert_allclose(1000.0 * a.prototypes_, b.prototypes_, rtol=1e-9, atol=1e-9)


def test_weight_scales_the_step():
    X, y, W = problem(0)
    kwargs = {
        "prototypes_per_class": {0: 2, 1: 2, 2: 1},
        "init": W,
        "scale": 1.0,
        "max_iter": 1,
    }
    weight = np.linspace(0.5, 2.0, len(X))
    got = LOGM(
        solver=SGD(learning_rate=0.05, schedule="constant", shuffle=False),
        beta=0.8,
        attraction=0.0,
        **kwargs,
    ).fit(X, y, sample_weight=weight)
    expected = W
    for x, label, s in zip(X, y, weight / weight.mean(), strict=True):
        expected = reference.logm_step(x, label, expected, CODES, 0.05 * s, 0.8)
    np.testing.assert_allclose(got.prototypes_, expected, rtol=1e-10)


def test_schedules():
    theta = np.array([0.2, 50.0, 0.1, 0.0])
    for t in (0, 1, 7, 49, 80):
        assert SCHEDULES["constant"](t, theta) == reference.constant_rate(t, 0.2)
        np.testing.assert_allclose(
            SCHEDULES["inverse_time"](t, theta), reference.inverse_rate(t, 0.2, 0.1)
        )
        np.testing.assert_allclose(
            SCHEDULES["linear"](t, theta), max(0.0, reference.linear_rate(t, 0.2, 50)), atol=1e-15
        )


@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_inverse_time_does_not_fall_below_its_least_rate(least):
    theta = np.array([0.2, 1.0, 0.1, least])
    for t in (0, 1, 23, 24, 10**9):
        wanted = max(reference.inverse_rate(t, 0.2, 0.1), 0.2 * least)
        np.testing.assert_allclose(SCHEDULES["inverse_time"](t, theta), wanted)


def test_inverse_time_uses_its_decay():
    X, y, W = problem(0)
    model = LOGM(
        prototypes_per_class={0: 2, 1: 2, 2: 1},
        init=W,
        scale=1.0,
        beta=0.8,
        attraction=0.0,
        solver=SGD(learning_rate=0.05, schedule="inverse_time", decay=0.3, shuffle=False),
        max_iter=2,
    ).fit(X, y)
    expected = W
    for t, (x, label) in enumerate(zip(np.vstack([X, X]), np.append(y, y), strict=True)):
        rate = reference.inverse_rate(t, 0.05, 0.3)
        expected = reference.logm_step(x, label, expected, CODES, rate, 0.8)
    np.testing.assert_allclose(model.prototypes_, expected, rtol=1e-10)


@pytest.mark.parametrize("distance", [custom_axes.Relevances(), custom_axes.LocalRelevances()])
def test_sequential_metric_step_is_the_projected_gradient(distance):
    X, y, W = problem(3)
    X, y = X[:6], y[:6]
    settings = {"margin": "relative", "loss": Sigmoid(1.5), "distance": distance, "init": W}
    solver = SGD(learning_rate=0.05, schedule="constant", metric_rate=0.3, shuffle=False)
    model = PrototypeClassifier(
        prototypes_per_class={0: 2, 1: 2, 2: 1}, scale=0.5, solver=solver, max_iter=1, **settings
    ).fit(X, y)
    group = distance.groups(CODES)
    theta = np.full((group.max() + 1, 4), 0.5)
    for x, label in zip(X, y, strict=True):

        def cost(V, t, x=x, label=label):
            d = np.array([np.sum((t[group[k]] * (x - V[k])) ** 2) for k in range(5)]) / 0.5
            return reference.sigmoid(reference.relative(d, label == CODES), 1.5)

        by_w = reference.numeric_gradient(lambda V, t=theta: cost(V, t), W)
        by_theta = reference.numeric_gradient(lambda t, V=W: cost(V, t), theta)
        W, theta = W - 0.05 * 0.5 * by_w, theta - 0.3 * 0.05 * by_theta
        theta = theta / np.linalg.norm(theta, axis=1, keepdims=True)
    np.testing.assert_allclose(model.prototypes_, W, atol=1e-7)
    np.testing.assert_allclose(model.rule_.codebook.metric, theta, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0, rtol=1e-14)


def test_patience_is_five_epochs():
    X, y = np.ones((6, 2)), np.arange(6) % 2
    model = GLVQ(solver=SGD(schedule="constant"), max_iter=100).fit(X, y)
    assert model.n_iter_ == 6  # the first, and five that bring nothing


def test_sequential_metric_keeps_its_norm_and_learns(iris):
    X, y = iris
    X = np.hstack([X, np.random.RandomState(0).standard_normal((len(X), 2))])
    for distance in (custom_axes.Relevances(), custom_axes.LocalRelevances()):
        model = PrototypeClassifier(
            distance=distance, solver=SGD(metric_rate=0.1), max_iter=50, random_state=0
        ).fit(X, y)
        np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0)
        relevances = (model.rule_.codebook.metric**2).mean(axis=0)
        assert relevances[2:4].sum() > 2.0 * relevances[4:].sum()  # petals count, noise does not


def test_batch_metric_learns(iris):
    X, y = iris
    plain = PrototypeClassifier(random_state=0).fit(X, y)
    model = PrototypeClassifier(distance=custom_axes.Relevances(), random_state=0).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0)
    assert model.loss_curve_[-1] < plain.loss_curve_[-1]


def test_lbfgs_reaches_a_stationary_point(iris):
    X, y = iris
    model = LOGM(beta=2.0, attraction=0.0, tol=1e-9, max_iter=5000).fit(X, y)

    def cost(V):
        settings = {"margin": "difference", "loss": "logistic", "beta": 2.0}
        settings["scale"] = model.scale_
        return reference.cost(X, y, np.ones(len(X)), V, np.arange(3), **settings)

    assert np.abs(reference.numeric_gradient(cost, model.prototypes_)).max() < 1e-6
    np.testing.assert_allclose(model.loss_curve_[-1], cost(model.prototypes_), rtol=1e-9)
    assert (np.diff(model.loss_curve_) <= 1e-12).all()


def test_non_smooth_axes_and_lbfgs():
    X, y, _ = problem(0)
    with pytest.raises(ValueError, match="needs smooth axes, and Hinge is not"):
        PrototypeClassifier(loss=Hinge(), solver="lbfgs").fit(X, y)
    with pytest.raises(ValueError, match="needs smooth axes, and City is not"):
        PrototypeClassifier(distance=custom_axes.City(), solver=LBFGS()).fit(X, y)
    assert PrototypeClassifier(loss=Hinge()).fit(X, y).solver_ == "sgd"
    assert PrototypeClassifier(loss="logistic").fit(X, y).solver_ == "lbfgs"


def test_epochs_stop_when_the_cost_stays(iris):
    X, y = iris
    settings = {"tol": 0.01, "max_iter": 300, "random_state": 0}
    model = GLVQ(solver=SGD(schedule="inverse_time"), **settings).fit(X, y)
    assert 5 < model.n_iter_ < 300
    assert len(model.loss_curve_) == model.n_iter_
    assert GLVQ(solver="sgd", **settings).fit(X, y).n_iter_ == 300  # linear: to the end


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (SGD(learning_rate=0.0), "learning_rate=0.0"),
        (SGD(schedule="cosine"), "schedule='cosine' of SGD must be one of 'linear'"),
        (SGD(decay=-1.0), "decay=-1.0"),
        (SGD(least_rate=-0.1), r"least_rate=-0.1 of SGD must be a finite number in \[0, 1\]"),
        (SGD(least_rate=1.5), "least_rate=1.5"),
        (SGD(least_rate=0.5), "belongs to schedule='inverse_time', and here it is 'linear'"),
        (LBFGS(memory=0), "memory=0"),
        ("lbgfs", "Did you mean 'lbfgs'"),
        (SGD, "the class SGD"),
        (3, "solver=3"),
    ],
)
def test_bad_solvers(solver, message):
    X, y, _ = problem(0)
    with pytest.raises(ValueError, match=message):
        GLVQ(solver=solver).fit(X, y)


class Halfway(Solver):
    """A solver of one's own: it goes halfway to the means of the samples."""

    name = "halfway"

    def check_settings(self):
        pass

    def default_max_iter(self, n_samples):
        return 1

    def minimize(self, cost, codebook, blocks, rng, *, max_iter, tol, callback=None):
        moved = codebook.copy()
        moved.prototypes[...] = 0.5 * (moved.prototypes + moved.center)
        return SolverResult(moved, [1.0], 1, True, Memory())


def test_a_solver_of_ones_own(iris, tmp_path):
    X, y = iris
    init = X[[0, 60, 120]]
    model = GLVQ(solver=Halfway(), init=init).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, 0.5 * (init + init.mean(axis=0)))
    with pytest.raises(ValueError, match=r"no parameter record.*leave out checkpoint"):
        GLVQ(solver=Halfway(), checkpoint=tmp_path / "fit.journal").fit(X, y)


def test_a_rule_is_no_solver_of_a_cost(iris):
    with pytest.raises(ValueError, match="minimises no cost; use LVQ1"):
        GLVQ(solver=Kohonen("lvq1")).fit(*iris)


@pytest.mark.parametrize("model", [GLVQ(prototypes_per_class=3), GMLVQ()], ids=["GLVQ", "GMLVQ"])
def test_prototypes_stay_in_the_range_of_their_class(model):
    rng = np.random.RandomState(0)
    X = rng.randn(200, 5) ** 3
    y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.randn(200) > 0).astype(int)
    free = clone(model).set_params(random_state=0).fit(X, y)
    kept = clone(model).set_params(random_state=0, solver=LBFGS(inside=True)).fit(X, y)

    def outside(model):
        low = np.stack([X[y == label].min(axis=0) for label in model.prototype_labels_])
        high = np.stack([X[y == label].max(axis=0) for label in model.prototype_labels_])
        return (model.prototypes_ < low) | (model.prototypes_ > high)

    assert not outside(kept).any()
    assert kept.score(X, y) >= free.score(X, y) - 0.1
    with pytest.raises(ValueError, match="inside='yes'"):
        clone(model).set_params(solver=LBFGS(inside="yes")).fit(X, y)


@pytest.mark.parametrize(
    "solver", ["inside", *(one(inside=True) for one in (LBFGS, SGD, Adam, Momentum))]
)
def test_every_solver_keeps_prototypes_in_the_range_of_their_class(solver):
    """A cost without attraction drives prototypes out of the data otherwise."""
    X, y = make_classification(80, 20, n_informative=3, class_sep=0.5, random_state=0)
    ends = [(X[y == label].min(axis=0), X[y == label].max(axis=0)) for label in (0, 1)]

    def is_out(model):
        codes = model.prototype_labels_
        return any(
            (w < ends[k][0]).any() or (w > ends[k][1]).any()
            for w, k in zip(model.prototypes_, codes, strict=True)
        )

    given = {
        "attraction": 0.0,
        "prototypes_per_class": 2,
        "xi": 5.0,
        "max_iter": 100,
        "random_state": 0,
    }
    free = clone(solver).set_params(inside=False) if solver != "inside" else "auto"
    assert not is_out(RSLVQ(solver=solver, **given).fit(X, y))
    assert is_out(RSLVQ(solver=free, **given).fit(X, y))


def test_a_stream_knows_no_range():
    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(ValueError, match="solver='inside' needs all the data"):
        RSLVQ(solver="inside").partial_fit(X, y, classes=[0, 1])
    steady = SGD(inside=True, schedule="constant")
    with pytest.raises(ValueError, match="which a stream does not have"):
        RSLVQ(solver=steady).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="models with a kernel take 'auto'"):
        KernelGLVQ(solver="inside").fit(X, y)
