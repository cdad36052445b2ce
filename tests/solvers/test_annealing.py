"""Annealing: a solver in stages, from a flat cost to a steep one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

import reference
from protolearn import (
    GLVQ,
    MCE,
    RSLVQ,
    MarginLVQ,
    PrototypeClassifier,
    datasets,
    load,
    save,
)
from protolearn.analysis import MarginHistory
from protolearn.distances import KullbackLeibler
from protolearn.losses import Identity
from protolearn.solvers import LBFGS, SGD, Annealing

TWO = {"prototypes_per_class": 2, "scale": 1.0, "random_state": 0}


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(RSLVQ, "xi", 2.0), (MCE, "beta", 3.0), (MarginLVQ, "beta", 2.0)]
)
def test_stages_are_fits_from_where_the_last_one_ended(iris, kind, name, value):
    """Three of them, with 1/4, 1/2 and all of the sharpness."""
    X, y = iris
    settings = {**TWO, "loss": "exponential"} if kind is MarginLVQ else TWO
    init = "kmeans"
    for factor in (0.25, 0.5, 1.0):
        model = kind(init=init, solver=LBFGS(), max_iter=20, **settings, **{name: factor * value})
        init = model.fit(X, y).prototypes_
    together = Annealing(LBFGS(), stages=3, start=0.25)
    found = kind(solver=together, max_iter=60, **settings, **{name: value}).fit(X, y)
    assert_allclose(found.prototypes_, init, atol=1e-6)
    assert found.solver_ == "annealing"
    assert found.n_iter_ == len(found.loss_curve_) <= 60


def test_steps_along_the_gradient_keep_their_length(iris):
    """A slope of a fourth has a fourth of the gradient, and four times the rate."""
    X, y = iris
    first = RSLVQ(xi=0.5, solver=SGD(learning_rate=0.4), max_iter=1, **TWO).fit(X, y)
    seen, times = [], []

    def keep(state):
        seen.append((state.iteration, state.codebook.prototypes.copy()))
        times.append(state.elapsed)

    together = Annealing(SGD(learning_rate=0.1), stages=2, start=0.25)
    model = RSLVQ(xi=2.0, solver=together, max_iter=2, callback=keep, **TWO).fit(X, y)
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert times[0] < times[1]
    assert_allclose(seen[0][1], first.prototypes_, rtol=1e-12)
    assert_array_equal(seen[1][1], model.prototypes_)


@pytest.mark.parametrize("solver", [SGD(), LBFGS()])
def test_one_stage_is_the_solver_itself(iris, solver):
    X, y = iris
    plain = GLVQ(solver=solver, random_state=0).fit(X, y)
    found = GLVQ(solver=Annealing(solver, stages=1, noise=1.0), random_state=0).fit(X, y)
    assert_array_equal(found.prototypes_, plain.prototypes_)
    assert found.loss_curve_ == plain.loss_curve_


def test_the_last_cost_is_the_cost_of_the_model(iris):
    X, y = iris
    model = RSLVQ(solver=Annealing(LBFGS(), noise=0.3), attraction=0.0, **TWO).fit(X, y)
    W, c = model.prototypes_, model.prototype_labels_
    cost = reference.cost(X, y, np.ones(150), W, c, margin="log_odds", loss="logistic", xi=2.0)
    assert model.loss_curve_[-1] == pytest.approx(cost, rel=1e-9)


def test_noise_moves_prototypes_by_its_length_and_less_later(rng):
    class Idle(SGD):
        def sweep(self, cost, codebook, *_):
            starts.append(codebook.prototypes.copy())
            return 1.0

    starts = []
    X, y, W = rng.standard_normal((2000, 4)), np.arange(2000) % 2, np.zeros((2000, 4))
    solver = Annealing(Idle(), stages=3, noise=0.5)
    settings = {"prototypes_per_class": 1000, "init": W, "scale": 4.0, "random_state": 0}
    GLVQ(solver=solver, max_iter=3, **settings).fit(X, y)
    steps = np.diff([W, *starts], axis=0)
    lengths = np.sqrt(np.mean(np.sum(steps**2, axis=2), axis=1))
    assert_allclose(lengths, [0.5 * 2.0, 0.25 * 2.0, 0.0], rtol=0.05)


def test_prototypes_of_a_divergence_stay_positive(rng):
    X, y = rng.dirichlet(np.ones(4), 60), np.arange(60) % 2
    X[:, 0] += y
    model = PrototypeClassifier(
        distance=KullbackLeibler(), solver=Annealing(SGD(), noise=2.0), random_state=0
    ).fit(X, y)
    assert (model.prototypes_ > 0.0).all()


def test_it_finds_lower_minima_where_there_are_many():
    """Two spirals, five prototypes a class, mean over starts."""
    X, y = datasets.make_spirals()
    costs = {}
    for solver in (LBFGS(), Annealing(LBFGS())):
        settings = {"beta": 5.0, "prototypes_per_class": 5, "attraction": 1e-3, "solver": solver}
        models = [MCE(random_state=s, max_iter=300, **settings).fit(X, y) for s in range(6)]
        costs[solver.name] = np.mean([model.loss_curve_[-1] for model in models])
    assert costs["annealing"] < costs["lbfgs"]


def test_a_callback_counts_and_ends_all_stages(iris):
    X, y = iris
    history = MarginHistory(X, y)
    model = MCE(solver=Annealing(SGD()), max_iter=10, callback=history, random_state=0).fit(X, y)
    assert history.iterations == list(range(1, 11))
    assert model.n_iter_ == 10
    ended = MCE(solver=Annealing(SGD()), max_iter=10, callback=lambda state: state.iteration == 2)
    assert ended.set_params(random_state=0).fit(X, y).n_iter_ == 2


def test_it_is_cloned_saved_and_resumed(iris, tmp_path):
    X, y = iris
    model = RSLVQ(solver=Annealing(SGD(learning_rate=0.2), noise=0.5), **TWO)
    again = clone(model).set_params(solver__solver__learning_rate=0.1)
    assert again.solver.solver.learning_rate == 0.1
    model.fit(X, y)
    save(model, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))

    def end(state):
        if state.iteration == 5:
            raise KeyboardInterrupt

    journal = tmp_path / "journal"
    cut = clone(model).set_params(checkpoint=journal, callback=end)
    with pytest.raises(KeyboardInterrupt):
        cut.fit(X, y)
    resumed = cut.set_params(callback=None).fit(X, y)
    assert_array_equal(resumed.prototypes_, model.prototypes_)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (Annealing("sgd"), "solver='sgd' of Annealing must be an object"),
        (Annealing(Annealing(SGD())), "of Annealing must be an object"),
        (Annealing(SGD(), stages=0), "stages=0"),
        (Annealing(SGD(), start=0.0), "start=0.0"),
        (Annealing(SGD(), start=2.0), "start=2.0"),
        (Annealing(SGD(), noise=-1.0), "noise=-1.0"),
        (Annealing(SGD(learning_rate=-1.0)), "learning_rate=-1.0"),
    ],
)
def test_wrong_settings(iris, solver, message):
    with pytest.raises(ValueError, match=message):
        GLVQ(solver=solver).fit(*iris)


def test_what_does_not_go_together(iris):
    X, y = iris
    with pytest.raises(ValueError, match="Identity and Relative have none"):
        PrototypeClassifier(loss=Identity(), solver=Annealing(SGD())).fit(X, y)
    with pytest.raises(ValueError, match="Hinge is not smooth"):
        MarginLVQ(solver=Annealing(LBFGS())).fit(X, y)
    with pytest.raises(ValueError, match="needs all the data at once"):
        GLVQ(solver=Annealing(SGD())).partial_fit(X, y)
    with pytest.raises((ValueError, TypeError), match=r"[Ss]parse"):
        GLVQ(solver=Annealing(SGD())).fit(csr_array(X), y)
    GLVQ(solver=Annealing(LBFGS()), random_state=0).fit(csr_array(X), y)
