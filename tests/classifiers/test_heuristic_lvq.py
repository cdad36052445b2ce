"""Kohonen's rules: every step as in the formulas, for any distance, weight, window and label."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits

import custom_axes
import reference
from protolearn import LVQ1, LVQ3, LVQ21, OLVQ1

RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
SCHEDULED = [LVQ1, LVQ21, LVQ3]
SETTINGS = {
    LVQ1: {},
    OLVQ1: {},
    LVQ21: {"window": 0.4},
    LVQ3: {"window": 0.4, "epsilon": 0.3},
}
FORMULAS = {
    LVQ1: reference.lvq1,
    OLVQ1: reference.olvq1,
    LVQ21: reference.lvq21,
    LVQ3: reference.lvq3,
}
CODES = np.array([0, 0, 1, 1, 2])
COUNTS = {0: 2, 1: 2, 2: 1}
ETA = 0.2


def problem(seed, n=24):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1.0, 1.0, (n, 4))
    return X, np.arange(n) % 3, rng.uniform(-1.0, 1.0, (5, 4))


def learned(cls, X, y, W, sample_weight=None, **kwargs):
    """Fit on a fixed order from given prototypes; one epoch at a constant rate unless told."""
    settings = {"prototypes_per_class": COUNTS, "learning_rate": ETA, "max_iter": 1}
    settings |= {"schedule": "constant"} if cls is not OLVQ1 else {}
    settings |= SETTINGS[cls] | kwargs
    return cls(init=W, shuffle=False, **settings).fit(X, y, sample_weight=sample_weight)


def expected(cls, X, y, W, rate=ETA, codes=CODES, **kwargs):
    return FORMULAS[cls](X, y, W, codes, rate, **SETTINGS[cls], **kwargs)


def rates(schedule, n_steps, decay):
    if schedule == "linear":
        return [reference.linear_rate(t, ETA, n_steps) for t in range(n_steps)]
    if schedule == "inverse_time":
        return [reference.inverse_rate(t, ETA, decay) for t in range(n_steps)]
    return [reference.constant_rate(t, ETA) for t in range(n_steps)]


def log_cosh(x, w):
    return np.sum(np.log(np.cosh(x - w)))


def log_cosh_gradient(x, w):
    return np.tanh(w - x)


def city(x, w):
    return np.sum(np.abs(x - w))


def city_gradient(x, w):
    return np.where(w > x, 1.0, -1.0)


@pytest.mark.parametrize("cls", SCHEDULED)
@pytest.mark.parametrize("schedule", ["constant", "linear", "inverse_time"])
@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_the_formula(cls, schedule, epochs, seed):
    X, y, W = problem(seed)
    model = learned(cls, X, y, W, schedule=schedule, decay=0.05, max_iter=epochs)
    eta = rates(schedule, epochs * len(X), 0.05)
    wanted = expected(cls, np.tile(X, (epochs, 1)), np.tile(y, epochs), W, eta)
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)
    assert np.abs(wanted - W).max() > 1e-2
    assert model.n_iter_ == epochs


@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("eta", [0.05, 0.3, 0.9])
def test_olvq1_has_a_rate_for_each_prototype(epochs, seed, eta):
    X, y, W = problem(seed)
    model = learned(OLVQ1, X, y, W, learning_rate=eta, max_iter=epochs)
    wanted = expected(OLVQ1, np.tile(X, (epochs, 1)), np.tile(y, epochs), W, eta)
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-9, atol=1e-11)


def test_olvq1_counts_each_sample_once_in_any_order():
    rng = np.random.RandomState(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)) + 100.0 * y[:, None]
    W = np.array([[0.0, 0.0, 0.0], [99.0, 99.0, 99.0]])
    for seed in range(3):
        model = OLVQ1(init=W, learning_rate=0.4, max_iter=1, random_state=seed).fit(X, y)
        means = [(W[c] / 0.4 + X[y == c].sum(axis=0)) / (1 / 0.4 + 20) for c in range(2)]
        np.testing.assert_allclose(model.prototypes_, means, rtol=1e-10)


@pytest.mark.parametrize("cls", SCHEDULED)
def test_the_step_number_goes_on_in_wide_data(cls):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((300, 1000)), np.arange(300) % 3
    W = 0.5 * rng.standard_normal((5, 1000))
    model = learned(cls, X, y, W, schedule="linear")
    wanted = expected(cls, X, y, W, rates("linear", 300, 0.0))
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_weight_scales_the_step(cls, seed):
    X, y, W = problem(seed)
    weight = np.random.RandomState(seed).uniform(0.2, 3.0, len(X))
    model = learned(cls, X, y, W, sample_weight=7.0 * weight)
    relative = weight / weight.mean()
    assert relative.max() * ETA < 1.0
    wanted = expected(cls, X, y, W, weights=relative)
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)
    assert np.abs(wanted - expected(cls, X, y, W)).max() > 1e-3


@pytest.mark.parametrize("cls", RULES)
def test_weight_zero_is_no_row(cls):
    X, y, W = problem(0)
    weight = np.where(np.arange(len(X)) % 4 == 1, 0.0, 2.0)
    model = learned(cls, X, y, W, sample_weight=weight, max_iter=3)
    without = learned(cls, X[weight > 0], y[weight > 0], W, max_iter=3)
    np.testing.assert_array_equal(model.prototypes_, without.prototypes_)
    assert model.loss_curve_ == without.loss_curve_


def test_a_step_ends_at_the_sample():
    X = np.array([[1.0, 2.0], [50.0, 50.0], [49.0, 49.0], [48.0, 48.0]])
    W = np.array([[0.0, 0.0], [48.0, 48.0]])
    weight = np.array([1000.0, 1.0, 1.0, 1.0])
    settings = {"learning_rate": 0.9, "schedule": "constant", "shuffle": False, "max_iter": 1}
    model = LVQ1(init=W, **settings).fit(X, [0, 1, 1, 1], sample_weight=weight)
    np.testing.assert_array_equal(model.prototypes_[0], X[0])


def test_a_step_away_is_no_longer_than_the_way():
    X = np.array([[1.0, 2.0], [0.0, 0.0], [49.0, 49.0], [48.0, 48.0]])
    W = np.array([[0.0, 0.0], [48.0, 48.0]])
    weight = np.array([1000.0, 1e-9, 1.0, 1.0])
    settings = {"learning_rate": 0.9, "schedule": "constant", "shuffle": False, "max_iter": 1}
    model = LVQ1(init=W, **settings).fit(X, [1, 0, 1, 1], sample_weight=weight)
    np.testing.assert_allclose(model.prototypes_[0], [-1.0, -2.0], atol=1e-8)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("distance", "pair", "gradient"),
    [
        (custom_axes.City(), city, city_gradient),
        (custom_axes.LogCosh(), log_cosh, log_cosh_gradient),
    ],
)
def test_any_distance(cls, seed, distance, pair, gradient):
    X, y, W = problem(seed)
    model = learned(cls, X, y, W, distance=distance, max_iter=2)
    wanted = expected(
        cls,
        np.tile(X, (2, 1)),
        np.tile(y, 2),
        W,
        distance=pair,
        gradient=gradient,
        squared=False,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)
    assert np.abs(wanted - W).max() > 1e-2


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_missing_values(cls, seed):
    X, y, W = problem(seed)
    holes = np.random.RandomState(seed).uniform(size=X.shape) < 0.3
    holes[np.arange(len(X)), np.arange(len(X)) % 4] = False
    X[holes] = np.nan
    model = learned(cls, X, y, W, max_iter=2)
    wanted = expected(
        cls,
        np.tile(X, (2, 1)),
        np.tile(y, 2),
        W,
        distance=reference.partial_pair,
        gradient=reference.partial_gradient,
    )
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)
    nearest = reference.partial_squared_euclidean(X, wanted).argmin(axis=1)
    assert (model.predict(X) == CODES[nearest]).all()


@pytest.mark.parametrize("cls", RULES)
def test_a_step_does_not_pass_a_sample_with_holes(cls):
    x = np.array([np.nan, 5.0, np.nan, np.nan])
    W = np.array([[1.0, 3.0, 4.0, 2.0], [1.0, 8.0, 4.0, 2.0]])
    moved = one_sample(cls, x, 0, W, learning_rate=0.6)
    assert (moved[:, [0, 2, 3]] == 0.0).all()
    np.testing.assert_allclose(moved[0, 1], 2.0, rtol=1e-12)
    assert 0.0 <= moved[1, 1] <= 3.0


def relevance_gradients(x, w, theta):
    """Give half the derivatives of ``sum theta^2 (x - w)^2`` by w and by theta."""
    return -(theta**2) * (x - w), theta * (x - w) ** 2


def relevance_distances(x, W, theta):
    return np.array([np.sum((t * (x - w)) ** 2) for w, t in zip(W, theta, strict=True)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("distance", [custom_axes.Relevances(), custom_axes.LocalRelevances()])
def test_lvq1_moves_the_metric_of_the_winner(seed, distance):
    X, y, W = problem(seed)
    model = learned(LVQ1, X, y, W, distance=distance, metric_rate=0.3)
    group = distance.groups(CODES)
    theta = np.full((group.max() + 1, 4), 0.5)
    V = W.copy()
    for x, label in zip(X, y, strict=True):
        k = relevance_distances(x, V, theta[group]).argmin()
        step = ETA if CODES[k] == label else -ETA
        by_w, by_theta = relevance_gradients(x, V[k], theta[group[k]])
        V[k] -= step * by_w
        theta[group[k]] -= 0.3 * step * by_theta / model.scale_
        theta[group[k]] /= np.linalg.norm(theta[group[k]])
    np.testing.assert_allclose(model.prototypes_, V, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.rule_.codebook.metric, theta, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("cls", [LVQ21, LVQ3])
@pytest.mark.parametrize("seed", range(3))
def test_both_winners_step_from_the_same_metric(cls, seed):
    X, y, W = problem(seed)
    model = learned(cls, X, y, W, distance=custom_axes.Relevances(), metric_rate=0.3)
    theta, V = np.full(4, 0.5), W.copy()
    for x, label in zip(X, y, strict=True):
        d = np.sqrt(relevance_distances(x, V, np.tile(theta, (5, 1))))
        i, j = np.argsort(d, kind="stable")[:2]
        right = CODES[[i, j]] == label
        if right.all() and cls is LVQ3:
            steps = [0.3 * ETA, 0.3 * ETA]
        elif right.sum() == 1 and d[i] / d[j] > (1 - 0.4) / (1 + 0.4):
            steps = np.where(right, ETA, -ETA)
        else:
            continue
        halves = [relevance_gradients(x, V[k], theta) for k in (i, j)]
        for k, step, (by_w, _) in zip((i, j), steps, halves, strict=True):
            V[k] -= step * by_w
        theta = theta - 0.3 / model.scale_ * sum(
            step * by_theta for step, (_, by_theta) in zip(steps, halves, strict=True)
        )
        theta /= np.linalg.norm(theta)
    assert np.abs(theta - 0.5).max() > 1e-3
    np.testing.assert_allclose(model.prototypes_, V, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.rule_.codebook.metric[0], theta, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("distance", [custom_axes.Relevances(), custom_axes.LocalRelevances()])
def test_the_metric_learns_and_keeps_its_norm(cls, distance, iris):
    X, y = iris
    X = np.hstack([X, 2.0 * np.random.RandomState(0).standard_normal((len(X), 2))])
    settings = {"learning_rate": 0.05, "metric_rate": 0.2, "max_iter": 30, "random_state": 0}
    model = cls(distance=distance, prototypes_per_class=2, **settings).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.rule_.codebook.metric, axis=1), 1.0, rtol=1e-12)
    relevances = (model.rule_.codebook.metric**2).mean(axis=0)
    assert relevances[2:4].sum() > 2.0 * relevances[4:].sum()
    assert model.score(X, y) > 0.9


def test_metric_rate_zero_leaves_the_metric(iris):
    model = LVQ1(distance=custom_axes.Relevances(), metric_rate=0.0, max_iter=3).fit(*iris)
    np.testing.assert_array_equal(model.rule_.codebook.metric, np.full((1, 4), 0.5))


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("distance", ["sqeuclidean", custom_axes.Relevances()])
def test_units_of_any_size(cls, distance, iris):
    X, y = iris
    settings = {"distance": distance, "prototypes_per_class": 3, "max_iter": 5, "random_state": 0}
    plain = cls(**settings).fit(X, y)
    for factor in (2.0**400, 2.0**-400):
        scaled = cls(**settings).fit(X * factor, y)
        np.testing.assert_array_equal(scaled.prototypes_, plain.prototypes_ * factor)
        np.testing.assert_array_equal(scaled.rule_.codebook.metric, plain.rule_.codebook.metric)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_one_prototype_a_class(cls, seed):
    X, _, W = problem(seed)
    y = np.arange(len(X)) % 2
    model = learned(cls, X, y, W[:2], prototypes_per_class=1, max_iter=2)
    wanted = expected(cls, np.tile(X, (2, 1)), np.tile(y, 2), W[:2], codes=np.arange(2))
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_rules_in_one_dimension(cls, seed):
    X, y, W = problem(seed)
    model = learned(cls, X[:, :1], y, W[:, :1])
    wanted = expected(cls, X[:, :1], y, W[:, :1])
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)


LINE = np.array([[0.0], [10.0]])


def one_sample(cls, x, label, W=LINE, **kwargs):
    """Learn a single sample; give how far each prototype moved."""
    settings = SETTINGS[cls] | {"learning_rate": 0.1} | kwargs
    if cls is not OLVQ1:
        settings["schedule"] = "constant"
    codes = np.arange(len(W))
    model = cls(init=W, **settings).partial_fit([x], [label], classes=codes)
    return model.prototypes_ - W


@pytest.mark.parametrize("cls", [LVQ21, LVQ3])
def test_the_window_is_of_unsquared_distances(cls):
    inside, outside = ([3.0], 0), ([3.0], 1)  # 3 / 7 = (1 - 0.4) / (1 + 0.4)
    for x, label in (inside, outside):
        assert (one_sample(cls, x, label, window=0.39) == 0.0).all()
        moved = one_sample(cls, x, label, window=0.41)
        sign = 1.0 if label == 0 else -1.0
        np.testing.assert_allclose(moved, sign * np.array([[0.3], [0.7]]), rtol=1e-12)


@pytest.mark.parametrize("cls", [LVQ21, LVQ3])
def test_the_window_of_an_unsquared_distance(cls):
    for distance in (custom_axes.City(), custom_axes.LogCosh()):
        ratio = float(distance.pair(np.array([4.0]), LINE[0], np.empty(0)))
        ratio /= float(distance.pair(np.array([4.0]), LINE[1], np.empty(0)))
        border = (1 - ratio) / (1 + ratio)
        settings = {"distance": distance}
        assert (one_sample(cls, [4.0], 0, window=border - 1e-3, **settings) == 0.0).all()
        assert (one_sample(cls, [4.0], 0, window=border + 1e-3, **settings) != 0.0).all()


@pytest.mark.parametrize("cls", [LVQ21, LVQ3])
@pytest.mark.parametrize("label", [0, 1])
def test_extreme_windows(cls, label):
    narrow, wide = np.finfo(float).tiny, 1.0 - 1e-12
    assert (one_sample(cls, [5.0 - 1e-6], label, window=1e-9) == 0.0).all()
    assert (one_sample(cls, [5.0], label, window=1e-9) != 0.0).all()
    assert (one_sample(cls, [4.0], label, window=narrow) == 0.0).all()
    assert (one_sample(cls, [1e-6], label, window=wide)[1] != 0.0).all()
    assert (one_sample(cls, [0.0], label, window=wide) == 0.0).all()
    assert (one_sample(cls, [10.0], label, window=wide) == 0.0).all()


def test_lvq3_has_no_window_where_both_are_right():
    W = np.array([[0.0], [1.0], [50.0]])
    model = LVQ3(
        init=W,
        prototypes_per_class={0: 2},
        window=1e-9,
        epsilon=0.5,
        learning_rate=0.1,
        schedule="constant",
    ).partial_fit([[0.1]], [0], classes=[0, 1])
    np.testing.assert_allclose(model.prototypes_ - W, [[0.005], [-0.045], [0.0]], atol=1e-12)


def test_lvq3_without_epsilon_is_lvq21():
    X, y, W = problem(1)
    a = learned(LVQ3, X, y, W, epsilon=0.0, max_iter=3)
    b = learned(LVQ21, X, y, W, max_iter=3)
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)
    full = learned(LVQ3, X, y, W, epsilon=1.0)
    wanted = reference.lvq3(X, y, W, CODES, ETA, 0.4, 1.0)
    np.testing.assert_allclose(full.prototypes_, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("label", [0, 1, 2])
def test_of_equally_near_prototypes_the_first_counts(cls, label):
    W = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    moved = one_sample(cls, [0.0, 0.0], label, W)
    wanted = expected(cls, np.zeros((1, 2)), [label], W, 0.1, codes=np.arange(3)) - W
    np.testing.assert_allclose(moved, wanted, atol=1e-15)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("K", [3, 4, 5, 6, 9])
def test_of_equal_prototypes_the_first_counts(cls, K):
    for seed in range(20):
        rng = np.random.RandomState(seed)
        d = rng.randint(2, 40)
        x, W = rng.standard_normal(d), 50.0 + rng.standard_normal((K, d))
        twins = rng.choice(K, 2, replace=False)
        W[twins] = rng.standard_normal(d)
        label = int(rng.choice(twins))
        moved = one_sample(cls, x, label, W)
        wanted = expected(cls, x[None], [label], W, 0.1, codes=np.arange(K)) - W
        np.testing.assert_allclose(moved, wanted, atol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.parametrize("cls", RULES)
def test_a_sample_on_its_prototype_leaves_it(cls):
    W = np.array([[1.0, 2.0], [3.0, 4.0], [3.0, 4.5]])
    moved = one_sample(cls, W[0], 0, W)
    assert (moved == 0.0).all()


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_curve_is_the_share_of_errors_met(cls, weighted):
    X, y, W = problem(2)
    weight = np.random.RandomState(5).uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    model = learned(cls, X, y, W, sample_weight=weight if weighted else None, max_iter=3)
    relative, rows, curve = weight / weight.mean(), len(X), []
    T, t, s = np.tile(X, (3, 1)), np.tile(y, 3), np.tile(relative, 3)
    met = np.empty(3 * rows)
    for i in range(3 * rows):
        V = expected(cls, T[:i], t[:i], W, weights=s[:i])
        met[i] = CODES[reference.squared_euclidean(T[i : i + 1], V)[0].argmin()] != t[i]
    curve = [np.average(met[e * rows : (e + 1) * rows], weights=weight) for e in range(3)]
    np.testing.assert_allclose(model.loss_curve_, curve, rtol=1e-12)
    assert 0.0 < curve[0] < 1.0


@pytest.mark.parametrize("cls", RULES)
def test_scores_and_probabilities(cls, iris):
    X, y = iris
    model = cls(prototypes_per_class=2, init="means", max_iter=2, random_state=0).fit(X, y)
    D = reference.squared_euclidean(X, model.prototypes_)
    scores = reference.class_scores_nearest(D, np.repeat(np.arange(3), 2), 3)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-9)
    given = "difference", model.rule_.decision.sharpness, model.rule_.decision.floor
    wanted = reference.probabilities_of_margins(-scores / model.scale_, *given)
    np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-7, atol=1e-12)
    wanted = reference.probabilities(scores, 1.0, model.scale_)
    model.set_params(calibrate=None).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-7, atol=1e-12)
    assert (model.predict(X) == scores.argmax(axis=1)).all()


@pytest.mark.parametrize("cls", RULES)
def test_scale_is_the_mean_distance_to_the_own_start(cls):
    X, y, W = problem(0)
    model = learned(cls, X, y, W)
    D = reference.squared_euclidean(X, W)
    own = np.where(y[:, None] == CODES, D, np.inf).min(axis=1)
    np.testing.assert_allclose(model.scale_, own.mean(), rtol=1e-12)


@pytest.mark.parametrize("cls", RULES)
def test_class_weight_is_a_sample_weight(cls):
    X, y, W = problem(0)
    by_class = {0: 1.0, 1: 2.0, 2: 0.5}
    a = learned(cls, X, y, W, class_weight=by_class)
    b = learned(cls, X, y, W, sample_weight=np.vectorize(by_class.get)(y))
    np.testing.assert_allclose(a.prototypes_, b.prototypes_, rtol=1e-12)
    assert np.abs(a.prototypes_ - learned(cls, X, y, W).prototypes_).max() > 1e-3


@pytest.mark.parametrize("cls", RULES)
def test_balanced_weights(cls):
    X, y, W = problem(0)
    X, y = X[:20], np.where(y == 2, 1, y)[:20]
    y[:3] = 2
    model = learned(cls, X, y, W, class_weight="balanced")
    weight = 20 / (3 * np.bincount(y))[y]
    wanted = expected(cls, X, y, W, weights=weight / weight.mean())
    np.testing.assert_allclose(model.prototypes_, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", RULES)
def test_classes_without_weight(cls):
    X, y, W = problem(0)
    with pytest.raises(ValueError, match="Class 1 has no row of positive weight"):
        learned(cls, X, y, W, class_weight={0: 1.0, 1: 0.0, 2: 1.0})
    with pytest.raises(ValueError, match="weight"):
        learned(cls, X, y, W, class_weight={0: 0.0, 1: 0.0, 2: 0.0})


@pytest.mark.parametrize("cls", RULES)
def test_any_labels(cls):
    X, y, W = problem(3)
    names = np.array(["ant", "bee", "c c"])
    plain = learned(cls, X, y, W)
    counts = {"ant": 2, "bee": 2, "c c": 1}
    model = learned(cls, X, names[y], W, prototypes_per_class=counts)
    np.testing.assert_array_equal(model.prototypes_, plain.prototypes_)
    assert model.classes_.tolist() == names.tolist()
    assert model.prototype_labels_.tolist() == ["ant", "ant", "bee", "bee", "c c"]
    assert model.n_prototypes_ == counts
    assert (model.predict(X) == names[plain.predict(X)]).all()


@pytest.mark.parametrize("cls", RULES)
def test_counts_by_label_from_the_data(cls, iris):
    model = cls(prototypes_per_class={1: 3, 2: 2}, max_iter=2, random_state=0).fit(*iris)
    assert model.n_prototypes_ == {0: 1, 1: 3, 2: 2}


@pytest.mark.parametrize("cls", RULES)
def test_seeds(cls, iris):
    X, y = iris
    settings = {"learning_rate": 0.1, "max_iter": 2, "init": X[[0, 60, 120]]} | SETTINGS[cls]
    a, b, c = (cls(random_state=s, **settings).fit(X, y).prototypes_ for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    fixed = [cls(random_state=s, shuffle=False, **settings).fit(X, y) for s in (0, 1)]
    np.testing.assert_array_equal(fixed[0].prototypes_, fixed[1].prototypes_)


@pytest.mark.parametrize("cls", RULES)
def test_good_on_iris_and_digits(cls, iris):
    settings = {"learning_rate": 0.05, "max_iter": 10, "random_state": 0}
    settings |= {"window": 0.2} if cls in (LVQ21, LVQ3) else {}
    model = cls(prototypes_per_class=2, **settings)
    assert model.fit(*iris).score(*iris) >= 0.94
    X, y = load_digits(return_X_y=True)
    model = cls(prototypes_per_class=3, **settings)
    assert model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > 0.88


@pytest.mark.parametrize("cls", SCHEDULED)
def test_epochs(cls):
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    y = [0, 0, 1, 1]
    settings = {"max_iter": 40, "learning_rate": 0.1}
    for schedule in ("constant", "inverse_time"):
        assert cls(schedule=schedule, **settings).fit(X, y).n_iter_ == 6
    assert cls(schedule="linear", **settings).fit(X, y).n_iter_ == 40


def test_auto_is_the_linear_schedule():
    X, y, W = problem(0)
    for cls in SCHEDULED:
        a, b = (learned(cls, X, y, W, schedule=s, max_iter=3) for s in ("auto", "linear"))
        np.testing.assert_array_equal(a.prototypes_, b.prototypes_)


@pytest.mark.parametrize("cls", RULES)
def test_solver_is_the_name_of_the_rule(cls, iris):
    assert cls(max_iter=1).fit(*iris).solver_ == cls.__name__.lower()


@pytest.mark.parametrize("cls", RULES)
def test_early_stopping(cls, iris):
    X, y = iris
    model = cls(early_stopping=True, validation_fraction=0.2, max_iter=60, random_state=0)
    model.fit(X, y)
    assert len(model.validation_curve_) == model.n_iter_ < 60
    share = 30 * np.array(model.validation_curve_)
    np.testing.assert_allclose(share, share.round(), atol=1e-9)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("cls", RULES)
def test_callback_stops(cls, iris):
    seen = []
    model = cls(callback=lambda s: seen.append(s.loss) or s.iteration == 2, max_iter=9).fit(*iris)
    assert model.n_iter_ == 2
    assert model.loss_curve_ == seen


@pytest.mark.parametrize("cls", RULES)
def test_clone_and_pickle(cls, iris):
    X, y = iris
    model = cls(distance=custom_axes.City(), max_iter=2, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    twin = clone(model).fit(X, y)
    np.testing.assert_array_equal(twin.prototypes_, model.prototypes_)


@pytest.mark.parametrize("cls", RULES)
def test_fit_leaves_its_input_alone(cls):
    X, y, W = problem(0)
    for array in (X, y, W):
        array.flags.writeable = False
    model = learned(cls, X, y, W)
    np.testing.assert_allclose(model.prototypes_, expected(cls, X, y, W), rtol=1e-10, atol=1e-12)
    single = learned(cls, np.asfortranarray(X, dtype=np.float32), y, W)
    wanted = expected(cls, X.astype(np.float32).astype(float), y, W)
    np.testing.assert_allclose(single.prototypes_, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0),
        ("learning_rate", 1),
        ("learning_rate", 1.5),
        ("learning_rate", -0.1),
        ("learning_rate", "a"),
        ("learning_rate", np.nan),
        ("learning_rate", None),
        ("distance", "euclid"),
        ("distance", custom_axes.City),
        ("shuffle", "yes"),
        ("shuffle", 1),
        ("metric_rate", -0.1),
        ("max_iter", 0),
        ("tol", -1.0),
    ],
)
def test_bad_parameters(cls, name, value, iris):
    with pytest.raises(ValueError, match=name):
        cls(**{name: value}).fit(*iris)


@pytest.mark.parametrize("cls", SCHEDULED)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schedule", "cosine"),
        ("decay", -1.0),
        ("least_rate", -0.1),
        ("least_rate", 1.5),
        ("least_rate", "low"),
    ],
)
def test_bad_schedules(cls, name, value, iris):
    with pytest.raises(ValueError, match=f"{name}={value!r} of {cls.__name__}"):
        cls(**{name: value}).fit(*iris)


@pytest.mark.parametrize("cls", [LVQ21, LVQ3])
@pytest.mark.parametrize("value", [0, 1, -0.5, 2.0, "a", None])
def test_bad_windows(cls, value, iris):
    with pytest.raises(ValueError, match=f"window={value!r} of {cls.__name__}"):
        cls(window=value).fit(*iris)


@pytest.mark.parametrize("value", [-1, 2, "a", None])
def test_bad_epsilons(value, iris):
    with pytest.raises(ValueError, match=f"epsilon={value!r} of LVQ3"):
        LVQ3(epsilon=value).fit(*iris)


@pytest.mark.parametrize("cls", RULES)
def test_a_near_name_is_suggested(cls, iris):
    with pytest.raises(ValueError, match="Did you mean 'sqeuclidean'"):
        cls(distance="sqeuclidian").fit(*iris)


def words(rng):
    """Give sparse rows of three classes, and their labels."""
    y = np.arange(90) % 3
    X = rng.poisson(0.3, (90, 40)) + 3.0 * (rng.uniform(size=(90, 40)) < 0.2) * (
        np.arange(40) % 3 == y[:, None]
    )
    return X, y


@pytest.mark.parametrize("cls", RULES)
@pytest.mark.parametrize("distance", ["sqeuclidean", "relevance", "matrix", "mahalanobis"])
@pytest.mark.parametrize("prototypes_per_class", [1, 3])
def test_sparse_rows_are_learned_from_as_dense_ones(cls, distance, prototypes_per_class, rng):
    X, y = words(rng)
    given = {"distance": distance, "prototypes_per_class": prototypes_per_class}
    given |= {"init": "means", "max_iter": 4, "random_state": 0}
    weight = rng.uniform(0.5, 2.0, len(y))
    dense, sparse = (cls(**given).fit(Z, y, weight) for Z in (X, csr_matrix(X)))
    np.testing.assert_allclose(sparse.prototypes_, dense.prototypes_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(sparse.loss_curve_, dense.loss_curve_)
    np.testing.assert_array_equal(sparse.predict(csr_matrix(X)), dense.predict(X))
    assert sparse.score(csr_matrix(X), y) > 0.7


@pytest.mark.parametrize("cls", RULES)
def test_a_stream_of_sparse_rows(cls, rng):
    X, y = words(rng)
    dense, sparse = cls(random_state=0), cls(random_state=0)
    for rows in np.array_split(np.arange(90), 6):
        dense.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        sparse.partial_fit(csr_matrix(X[rows]), y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(sparse.prototypes_, dense.prototypes_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("cls", RULES)
def test_missing_values_where_the_distance_takes_none(cls, iris):
    X, y = iris[0].copy(), iris[1]
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        cls(distance=custom_axes.City()).fit(X, y)


@pytest.mark.parametrize("parent", [LVQ1, OLVQ1, LVQ21, LVQ3])
def test_a_subclass_follows_the_rule_of_its_parent(parent, iris):
    own = type("LVQ3", (parent,), {})
    expected = parent(prototypes_per_class=2, random_state=0).fit(*iris)
    found = own(prototypes_per_class=2, random_state=0).fit(*iris)
    np.testing.assert_array_equal(found.prototypes_, expected.prototypes_)
    assert found.solver_ == expected.solver_
