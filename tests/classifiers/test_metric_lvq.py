"""Learned metrics: what has to hold for every fit, whatever the solver."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ, GRLVQ, LGMLVQ, LVQ1, LVQ3, LVQ21, MRSLVQ, OLVQ1
from protolearn.distances import Matrix

PRESETS = [GRLVQ, GMLVQ, LGMLVQ, MRSLVQ]
MATRICES = [GMLVQ, LGMLVQ, MRSLVQ]
SOLVERS = ["lbfgs", "sgd", "adam", "momentum"]
TIGHT = {"solver": "lbfgs", "tol": 1e-10, "max_iter": 5000}
RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]


def tight(cls, **settings):
    """Give a model that has a sharp minimum on two classes, and a solver that goes there."""
    if cls is not MRSLVQ:
        settings = {"beta": 2.0, **settings}
    if cls is LGMLVQ:  # otherwise a map of few directions leaves its prototype undetermined
        settings = {"regularization": 0.05, **settings}
    return cls(**TIGHT, attraction=0.1, **settings)


@pytest.fixture
def two(iris):
    """Two classes with one prototype each: a winner never changes, so the cost is smooth."""
    X, y = iris
    return StandardScaler().fit_transform(X[50:]), y[50:]


def close(a, b, atol=1e-6):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e6 + 0.1])
@pytest.mark.parametrize("cls", PRESETS)
def test_a_constant_feature_has_relevance_zero(cls, constant, solver, iris):
    X, y = iris
    model = cls(solver=solver, random_state=0).fit(np.insert(X, 2, constant, axis=1), y)
    assert (model.relevances_[..., 2] == 0.0).all()
    close(model.prototypes_[:, 2], constant, 1e-9 * max(1.0, abs(constant)))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_a_constant_feature_has_relevance_zero_at_low_rank(constant, solver, iris):
    X, y = iris
    model = GMLVQ(rank=2, solver=solver, random_state=0).fit(np.insert(X, 2, constant, axis=1), y)
    assert model.relevances_[2] == 0.0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("distance", ["relevance", "matrix", "local_matrix"])
def test_a_constant_feature_has_relevance_zero_by_rules(rule, distance, iris):
    X, y = iris
    model = rule(distance=distance, random_state=0).fit(np.insert(X, 2, 0.1, axis=1), y)
    assert (model.relevances_[..., 2] == 0.0).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cls", PRESETS)
def test_copies_of_a_feature_share(cls, solver, iris):
    X, y = iris
    model = cls(solver=solver, random_state=0).fit(X[:, [0, 1, 2, 3, 2]], y)
    close(model.relevances_[..., 2], model.relevances_[..., 4], 1e-12)
    close(model.prototypes_[:, 2], model.prototypes_[:, 4], 1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cls", PRESETS)
def test_trace_one(cls, solver, iris):
    model = cls(solver=solver, prototypes_per_class=2, random_state=0).fit(*iris)
    close(np.trace(model.metric_, axis1=-2, axis2=-1), 1.0, 1e-12)
    close(model.relevances_.sum(axis=-1), 1.0, 1e-12)
    assert (model.relevances_ >= 0.0).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cls", MATRICES)
@pytest.mark.parametrize("rank", [None, 2])
def test_the_null_space_of_the_data(cls, rank, solver, iris):
    X, y = iris
    X = np.column_stack([X[:, 0], X[:, 1], X[:, 0] + X[:, 1], X[:, 2], X[:, 3]])
    null = np.array([1.0, 1.0, -1.0, 0.0, 0.0])
    model = cls(rank=rank, solver=solver, random_state=0).fit(X, y)
    close(model.metric_ @ null, 0.0, 1e-12)
    close((model.prototypes_ - X.mean(axis=0)) @ null, 0.0, 1e-12)


@pytest.mark.parametrize("cls", MATRICES)
def test_fewer_rows_than_features(cls, rng):
    X, y = rng.standard_normal((8, 20)), np.arange(8) % 2
    model = cls(random_state=0).fit(X, y)
    basis = np.linalg.svd(X - X.mean(axis=0))[2][:7]
    outside = np.eye(20) - basis.T @ basis
    close(model.metric_ @ outside, 0.0, 1e-12)


ROTATED = [
    tight(GMLVQ),
    tight(GMLVQ, rank=2),
    tight(GMLVQ, regularization=0.05),
    tight(MRSLVQ),
    tight(LGMLVQ),
]


@pytest.mark.parametrize("model", ROTATED, ids=str)
def test_rotated_data_rotate_the_solution(model, two, rng):
    X, y = two
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    model.fit(X, y)
    metric, prototypes = model.metric_, model.prototypes_
    model.fit(X @ Q, y)
    close(model.metric_, Q.T @ metric @ Q)
    if model.rank is None:
        close(model.prototypes_, prototypes @ Q)
    else:  # beside the map prototypes may be anywhere
        close(model.prototypes_ @ model.metric_, prototypes @ metric @ Q)


@pytest.mark.parametrize("cls", PRESETS)
def test_moved_and_scaled_data_move_and_scale_the_solution(cls, two):
    X, y = two
    model = tight(cls).fit(X, y)
    relevances, prototypes = model.relevances_, model.prototypes_
    expected = model.predict(X)
    for shift, size, atol in [
        (10.0, 1.0, 1e-6),
        (1e6, 1.0, 1e-4),
        (0.0, 1e-100, 1e-6),
        (0.0, 1e100, 1e-6),
        (-3.0, 7.0, 1e-6),
    ]:
        Z = (X + shift) * size
        model.fit(Z, y)
        close(model.relevances_, relevances, atol)
        close(model.prototypes_ / size - shift, prototypes, atol)
        assert (model.predict(Z) == expected).all()


@pytest.mark.parametrize("cls", PRESETS)
def test_permuted_features_permute_the_relevances(cls, two):
    X, y = two
    order = [2, 0, 3, 1]
    expected, model = tight(cls).fit(X, y), tight(cls).fit(X[:, order], y)
    close(model.relevances_, expected.relevances_[..., order])
    close(model.prototypes_, expected.prototypes_[:, order])


@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_full_rank_by_number(regularization, two):
    by_number = tight(GMLVQ, rank=4, regularization=regularization).fit(*two)
    close(by_number.metric_, tight(GMLVQ, regularization=regularization).fit(*two).metric_)
    assert tight(GMLVQ, rank=99).fit(*two).omega_.shape == (4, 4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cls", [GRLVQ, GMLVQ])
def test_petals_decide(cls, solver, iris):
    """Biehl (lecture notes), figure 5.2: petal length and width lead on z-scored iris."""
    model = cls(solver=solver, random_state=0).fit(*iris)
    assert set(np.argsort(model.relevances_)[-2:]) == {2, 3}
    assert model.score(*iris) > 0.95


@pytest.mark.parametrize("model", [GMLVQ(), GRLVQ(), MRSLVQ(), LGMLVQ()], ids=str)
def test_noise_features_lose(model, rng):
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 5))
    X[:, 1] += 4.0 * y
    assert (model.fit(X, y).relevances_.argmax(axis=-1) == 1).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("distance", ["relevance", "matrix", "local_matrix"])
def test_rules_learn_a_metric(rule, distance, rng):
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 4))
    X[:, 1] += 3.0 * y
    model = rule(distance=distance, metric_rate=0.1, max_iter=20, random_state=0).fit(X, y)
    if rule is not LVQ21:  # it moves in a window only
        assert (model.relevances_.argmax(axis=-1) == 1).all()
    close(np.trace(model.metric_, axis1=-2, axis2=-1), 1.0, 1e-12)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("rule", [LVQ1, OLVQ1])
def test_a_rule_that_does_not_learn_the_metric(rule, iris):
    model = rule(distance="matrix", metric_rate=0.0, random_state=0).fit(*iris)
    close(model.metric_, np.eye(4) / 4.0, 1e-15)


# The penalty -------------------------------------------------------------------------------------


def smallest(omega):
    return np.linalg.svd(omega)[1].min()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cls", MATRICES)
def test_the_penalty_keeps_all_directions(cls, solver, iris):
    settings = {"solver": solver, "random_state": 0}
    sizes = [smallest(cls(regularization=mu, **settings).fit(*iris).omega_) for mu in (0, 0.1, 1)]
    assert sizes[0] < sizes[1] < sizes[2] <= 0.5 + 1e-12  # all equal: 1 / sqrt(4)
    assert sizes[2] > 0.4


def test_without_a_penalty_the_metric_collapses(iris):
    free = GMLVQ(solver="lbfgs", tol=1e-6).fit(*iris)
    kept = GMLVQ(solver="lbfgs", tol=1e-6, regularization=0.1).fit(*iris)
    assert smallest(free.omega_) < 0.05
    assert smallest(kept.omega_) > 0.4


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rank", [None, 2, 4])
def test_the_penalty_with_a_null_space(rank, solver, iris):
    X, y = iris
    X = np.column_stack([X, X[:, 0] - X[:, 3], np.full(150, 0.1)])  # rank 4 of 6
    model = GMLVQ(rank=rank, regularization=0.1, solver=solver, random_state=0).fit(X, y)
    assert model.omega_.shape == (rank or 4, 6)
    assert smallest(model.omega_) > 0.1
    null = np.array([1.0, 0.0, 0.0, -1.0, -1.0, 0.0])
    if solver != "adam":
        close(model.metric_ @ null, 0.0, 1e-12)


def test_the_penalty_by_rules(iris):
    free, kept = (
        LVQ1(distance=Matrix(regularization=mu), metric_rate=0.5, max_iter=30, random_state=0)
        for mu in (0.0, 1.0)
    )
    assert smallest(kept.fit(*iris).omega_) > smallest(free.fit(*iris).omega_)


def test_local_matrices_of_many_features_have_a_limited_rank(rng):
    """A matrix for each class of 784 pixels would take hours; a rank that is given stays."""
    X, y = rng.randn(130, 120), np.arange(130) % 2
    X[:, 0] += 3.0 * y
    limited = LGMLVQ(random_state=0, max_iter=3).fit(X, y)
    assert limited.omega_.shape[1] <= 100
    given = LGMLVQ(random_state=0, max_iter=3, rank=110).fit(X, y)
    assert given.omega_.shape[1] == 110
    whole = GMLVQ(random_state=0, max_iter=3).fit(X, y)
    assert whole.omega_.shape[0] > 100
