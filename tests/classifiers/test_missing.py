"""Missing values: distances over what is observed, times features / observed."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import custom_axes
import reference
from protolearn import (
    GLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    OLVQ1,
    RSLVQ,
    SNPC,
    MarginLVQ,
    PrototypeClassifier,
    _arrays,
    hypothesis_margin,
)
from protolearn.blocks import Block
from protolearn.codebook import Codebook
from protolearn.distances import PartialSquaredEuclidean
from protolearn.losses import LOSSES, Identity
from protolearn.margins import MARGINS, LogOdds
from protolearn.objective import Objective
from protolearn.prototypes import STARTS, initial_prototypes
from protolearn.solvers import SGD, Adam, Momentum

PRESETS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ]
RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
SOLVERS = ["lbfgs", "sgd", "adam", "momentum"]
METHODS = ["predict", "predict_proba", "decision_function", "distances", "contributions"]
LABELS = np.array([0, 0, 1, 1, 1, 2])

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

partial = reference.partial_squared_euclidean


def with_holes(X, share=0.25, seed=0):
    """Remove a share of the values at random; every row keeps one."""
    rng = np.random.RandomState(seed)
    X = np.array(X, dtype=np.float64)
    holes = rng.uniform(size=X.shape) < share
    holes[np.arange(len(X)), rng.randint(X.shape[1], size=len(X))] = False
    X[holes] = np.nan
    return X


@pytest.fixture(scope="module")
def holey(iris):
    X, y = iris
    return with_holes(X), y


# The objective ----------------------------------------------------------------------------------


def make_data(seed=0, n=20, d=4):
    rng = np.random.RandomState(seed)
    X, y = with_holes(rng.standard_normal((n, d)), 0.4, seed), rng.randint(3, size=n)
    return X, y, rng.uniform(0.1, 2.0, n), rng.standard_normal((len(LABELS), d))


def make_objective(margin, loss, **kwargs):
    return Objective(
        PartialSquaredEuclidean(),
        LogOdds(0.7) if margin == "log_odds" else MARGINS[margin](),
        Identity() if loss == "identity" else LOSSES[loss](1.5),
        3,
        **kwargs,
    )


def make_codebook(W):
    return Codebook(
        W, LABELS, np.zeros((1, 0)), np.zeros(len(W), dtype=np.intp), W.mean(axis=0) + 0.1
    )


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("alpha", "scale"), [(0.0, 1.0), (0.3, 4.0)])
def test_value_and_gradient(margin, loss, alpha, scale):
    X, y, weight, W = make_data()
    objective = make_objective(margin, loss, attraction=alpha, scale=scale)
    got = objective.partial(make_codebook(W), Block(X, y, weight))

    def cost(V):
        settings = {"beta": 1.5, "xi": 0.7, "alpha": alpha, "scale": scale, "distance": partial}
        return reference.cost(X, y, weight, V, LABELS, margin=margin, loss=loss, **settings)

    np.testing.assert_allclose(got.value / got.weight, cost(W), rtol=1e-10)
    numeric = reference.numeric_gradient(cost, W)
    atol = 1e-6 * max(1.0, np.abs(numeric).max() * 1e-3)
    np.testing.assert_allclose(got.gradients.prototypes / got.weight, numeric, atol=atol)
    each = objective.costs(make_codebook(W), Block(X, y, weight))
    np.testing.assert_allclose(each @ weight, got.value, rtol=1e-10)


@pytest.mark.parametrize("margin", MARGINS)
def test_chunks_add_up(margin, monkeypatch):
    X, y, weight, W = make_data(n=300)
    objective = make_objective(margin, "sigmoid", attraction=0.1)
    whole = objective.partial(make_codebook(W), Block(X, y, weight))
    monkeypatch.setattr(_arrays, "CHUNK_BYTES", 1)
    parts = objective.partial(make_codebook(W), Block(X, y, weight))
    np.testing.assert_allclose(parts.value, whole.value, rtol=1e-12)
    np.testing.assert_allclose(
        parts.gradients.prototypes, whole.gradients.prototypes, rtol=1e-9, atol=1e-12
    )


# Solvers ----------------------------------------------------------------------------------------


def problem(seed=0):
    rng = np.random.RandomState(seed)
    X, y = with_holes(rng.uniform(-1.0, 1.0, (12, 4)), 0.4, seed), np.arange(12) % 3
    return X, y, rng.uniform(-1.0, 1.0, (len(LABELS), 4))


def start(cls, W, **kwargs):
    per_class = dict(enumerate(np.bincount(LABELS).tolist()))
    no_attraction = {} if cls in RULES else {"attraction": 0.0}
    return cls(prototypes_per_class=per_class, init=W, **{**no_attraction, **kwargs})


def gradient_at(W, X, y, **settings):
    """Differentiate the mean cost by the prototypes."""

    def cost(V):
        return reference.cost(X, y, np.ones(len(X)), V, LABELS, distance=partial, **settings)

    return reference.numeric_gradient(cost, W)


@pytest.mark.parametrize(
    ("cls", "parameters", "settings"),
    [
        (GLVQ, {"beta": 1.5}, {"margin": "relative", "loss": "sigmoid", "beta": 1.5}),
        (LOGM, {"beta": 1.5}, {"margin": "difference", "loss": "logistic", "beta": 1.5}),
        (RSLVQ, {"xi": 0.7}, {"margin": "log_odds", "loss": "logistic", "xi": 0.7}),
    ],
)
class TestSteps:
    def test_sequential_steps_follow_the_gradient(self, cls, parameters, settings):
        X, y, W = problem()
        solver = SGD(learning_rate=0.02, schedule="constant", shuffle=False)
        got = start(cls, W, solver=solver, scale=1.0, max_iter=1, **parameters).fit(X, y)
        for x, label in zip(X, y, strict=True):
            W = W - 0.02 * gradient_at(W, x[None], np.array([label]), **settings)
        np.testing.assert_allclose(got.prototypes_, W, atol=1e-7)

    def test_momentum_steps_follow_the_gradient(self, cls, parameters, settings):
        X, y, W = problem(1)
        solver = Momentum(
            learning_rate=0.05, momentum=0.8, batch_size=6, schedule="constant", shuffle=False
        )
        got = start(cls, W, solver=solver, scale=1.0, max_iter=2, **parameters).fit(X, y)
        slopes = [
            lambda V, r=rows: gradient_at(V, X[r], y[r], **settings)
            for rows in (slice(0, 6), slice(6, 12))
        ]
        expected = reference.momentum_steps(W, 2 * slopes, [0.05] * 4, 0.8)
        np.testing.assert_allclose(got.prototypes_, expected, atol=1e-7)

    def test_adam_steps_follow_the_gradient(self, cls, parameters, settings):
        X, y, W = problem(2)
        solver = Adam(
            learning_rate=0.01,
            batch_size=12,
            beta1=0.8,
            beta2=0.9,
            epsilon=1e-3,
            schedule="constant",
            shuffle=False,
        )
        got = start(cls, W, solver=solver, scale=1.0, max_iter=3, **parameters).fit(X, y)
        slopes = [lambda V: gradient_at(V, X, y, **settings)] * 3
        rate = 0.01 / np.sqrt(4)  # the rate is how far a prototype of four entries moves
        expected = reference.adam_steps(W, slopes, [rate] * 3, 0.8, 0.9, 1e-3)
        np.testing.assert_allclose(got.prototypes_, expected, atol=1e-6)

    def test_lbfgs_lowers_the_cost(self, cls, parameters, settings):
        X, y, W = problem(3)
        model = start(cls, W, solver="lbfgs", scale=1.0, attraction=0.2, tol=1e-10, **parameters)
        model.fit(X, y)
        before, after = (
            reference.cost(X, y, np.ones(12), V, LABELS, alpha=0.2, distance=partial, **settings)
            for V in (W, model.prototypes_)
        )
        assert model.loss_curve_[-1] == pytest.approx(after, rel=1e-9)
        assert after < 0.9 * before
        if settings["margin"] == "log_odds":  # winner margins have kinks
            slope = gradient_at(model.prototypes_, X, y, alpha=0.2, **settings)
            assert np.abs(slope).max() < 1e-5


@pytest.mark.parametrize(
    ("cls", "parameters", "rule"),
    [
        (LVQ1, {"schedule": "constant"}, lambda *a, **k: reference.lvq1(*a, 0.05, **k)),
        (OLVQ1, {}, lambda *a, **k: reference.olvq1(*a, 0.05, **k)),
        (
            LVQ21,
            {"schedule": "constant", "window": 0.4},
            lambda *a, **k: reference.lvq21(*a, 0.05, 0.4, **k),
        ),
        (
            LVQ3,
            {"schedule": "constant", "window": 0.4, "epsilon": 0.3},
            lambda *a, **k: reference.lvq3(*a, 0.05, 0.4, 0.3, **k),
        ),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rules_are_the_formula(cls, parameters, rule, weighted):
    X, y, W = problem(4)
    weight = np.random.RandomState(0).uniform(0.5, 1.5, 12) if weighted else np.ones(12)
    weight /= weight.mean()
    model = start(cls, W, learning_rate=0.05, shuffle=False, max_iter=1, **parameters)
    model.fit(X, y, sample_weight=weight if weighted else None)
    expected = rule(
        X,
        y,
        W,
        LABELS,
        weights=weight,
        distance=reference.partial_pair,
        gradient=reference.partial_gradient,
    )
    np.testing.assert_allclose(model.prototypes_, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(expected - W).max() > 1e-3


# Fitted models ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", PRESETS)
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_every_solver_learns(cls, solver, holey):
    if cls is MarginLVQ and solver == "lbfgs":
        pytest.skip("the hinge is not smooth")
    X, y = holey
    model = cls(solver=solver, random_state=0).fit(X, y)
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.loss_curve_).all()
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("cls", RULES)
def test_every_rule_learns(cls, holey):
    X, y = holey
    model = cls(prototypes_per_class=2, learning_rate=0.05, max_iter=20, random_state=0).fit(X, y)
    assert np.isfinite(model.prototypes_).all()
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("cls", [*PRESETS, *RULES])
def test_without_holes_nothing_changes(cls, iris):
    """The form for missing values, on complete rows, is the ordinary fit."""
    X, y = iris
    weight = np.random.RandomState(0).uniform(0.5, 2.0, len(X))
    settings = {"prototypes_per_class": 2, "init": "means", "max_iter": 4, "random_state": 0}
    if cls in PRESETS:
        settings["solver"] = "sgd"
    plain = cls(**settings).fit(X, y, sample_weight=weight)
    extra = np.vstack([X, [[np.nan, 0.0, 0.0, 0.0]]])  # a row that has no weight
    other = cls(**settings).fit(extra, [*y, 0], sample_weight=[*weight, 0.0])
    np.testing.assert_allclose(other.prototypes_, plain.prototypes_, rtol=1e-9)
    assert other.scale_ == pytest.approx(plain.scale_, rel=1e-12)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam", "momentum"])
@pytest.mark.parametrize("margin", ["relative", "log_odds"])
def test_the_partial_distance_on_complete_rows_is_the_ordinary_fit(solver, margin, iris):
    X, y = iris
    settings = {"margin": margin, "solver": solver, "max_iter": 5, "random_state": 0}
    models = [
        PrototypeClassifier(distance=d, **settings).fit(X, y)
        for d in ("sqeuclidean", PartialSquaredEuclidean())
    ]
    np.testing.assert_allclose(models[1].prototypes_, models[0].prototypes_, atol=1e-7)
    assert models[1].scale_ == pytest.approx(models[0].scale_, rel=1e-12)


def test_the_scale_is_the_mean_distance_to_the_class_means(holey):
    X, y = holey
    weight = np.random.RandomState(0).uniform(0.5, 2.0, len(X))
    means = [
        [np.average(c[~np.isnan(c)], weights=weight[y == k][~np.isnan(c)]) for c in X[y == k].T]
        for k in range(3)
    ]
    D = partial(X, np.array(means))
    expected = np.average(D[np.arange(len(X)), y], weights=weight)
    model = GLVQ(init="means", solver="sgd", max_iter=1).fit(X, y, sample_weight=weight)
    assert model.scale_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fitted_on", ["holes", "complete"])
@pytest.mark.parametrize("cls", [GLVQ, RSLVQ, LVQ1])
class TestFitted:
    def model(self, cls, fitted_on, iris, holey):
        X, y = holey if fitted_on == "holes" else iris
        settings = {"prototypes_per_class": 2, "max_iter": 8, "random_state": 0}
        return cls(**settings, **({} if cls is LVQ1 else {"solver": "sgd"})).fit(X, y)

    def test_scores_are_the_formula(self, cls, fitted_on, dtype, iris, holey):
        model, X = self.model(cls, fitted_on, iris, holey), holey[0].astype(dtype)
        atol = 1e-10 if dtype == np.float64 else 1e-3
        W, codes = model.prototypes_, model.prototype_labels_
        D = partial(X.astype(np.float64), W)
        got = model.distances(X)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, D, rtol=1e-3 if dtype == np.float32 else 1e-9, atol=atol)
        if cls is RSLVQ:
            scores = reference.class_scores_soft(D, codes, 3, model.xi, model.scale_)
        else:
            scores = reference.class_scores_nearest(D, codes, 3)
        np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-3, atol=atol)
        assert (model.predict(X) == scores.argmax(axis=1)).all()
        if cls is RSLVQ:
            p = softmax(model.xi * scores / model.scale_, axis=1)
        else:
            decision, kind = model.rule_.decision, "relative" if cls is GLVQ else "difference"
            given = kind, decision.sharpness, decision.floor
            p = reference.probabilities_of_margins(-scores / model.scale_, *given)
        np.testing.assert_allclose(model.predict_proba(X), p, atol=100 * atol)

    def test_nearest_prototypes(self, cls, fitted_on, dtype, iris, holey):
        model, X = self.model(cls, fitted_on, iris, holey), holey[0].astype(dtype)
        values, index = model.nearest_prototypes(X, k=3)
        D = partial(X.astype(np.float64), model.prototypes_)
        np.testing.assert_allclose(values, np.sort(D, axis=1)[:, :3], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(np.take_along_axis(D, index, axis=1), values, atol=1e-3)

    def test_contributions(self, cls, fitted_on, dtype, iris, holey):
        model, X = self.model(cls, fitted_on, iris, holey), holey[0].astype(dtype)
        W, codes = model.prototypes_, model.prototype_labels_
        shares = model.contributions(X)
        D = partial(X.astype(np.float64), W)
        predicted = model.predict(X.astype(np.float64))
        for i, x in enumerate(X.astype(np.float64)):
            own = codes == predicted[i]
            winner = np.where(own, D[i], np.inf).argmin()
            rival = np.where(own, np.inf, D[i]).argmin()
            speaks = np.nan_to_num((x - W[rival]) ** 2 - (x - W[winner]) ** 2)
            np.testing.assert_allclose(shares[i], speaks / np.abs(speaks).sum(), atol=1e-9)
            assert (shares[i][np.isnan(x)] == 0.0).all()

    def test_hypothesis_margin(self, cls, fitted_on, dtype, iris, holey):
        model, (X, y) = self.model(cls, fitted_on, iris, holey), holey
        D = np.sqrt(partial(X.astype(dtype).astype(np.float64), model.prototypes_))
        expected = [
            (d[j] - d[i]) / 2
            for d, label in zip(D, y, strict=True)
            for i, j in [reference.winners(d, model.prototype_labels_ == label)]
        ]
        got = hypothesis_margin(model, X.astype(dtype), y)
        np.testing.assert_allclose(got, expected, atol=1e-9 if dtype == np.float64 else 1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_complete_rows_among_incomplete_ones_keep_their_values(method, iris, holey):
    model = GLVQ(prototypes_per_class=2, random_state=0).fit(*holey)
    X = np.vstack([iris[0][:20], holey[0][:20]])
    got, alone = getattr(model, method)(X), getattr(model, method)(iris[0][:20])
    np.testing.assert_allclose(got[:20], alone, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_parts_make_no_difference(method, holey, monkeypatch):
    model = GLVQ(random_state=0).fit(*holey)
    X = np.vstack([np.nan_to_num(holey[0]), holey[0]])  # the first parts are complete
    expected = getattr(model, method)(X)
    monkeypatch.setattr(_arrays, "CHUNK_BYTES", 1)
    np.testing.assert_allclose(getattr(model, method)(X), expected, atol=1e-9)


def test_rows_far_away_in_single_precision(holey):
    model = GLVQ(random_state=0).fit(*holey)
    far = np.array([[1e25, np.nan, 1e25, 0.0]], dtype=np.float32)
    expected = partial(far.astype(np.float64), model.prototypes_)
    np.testing.assert_allclose(model.distances(far), expected)


def test_a_data_frame_with_holes(holey):
    X, y = holey
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = GLVQ(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.prototypes_, GLVQ(random_state=0).fit(X, y).prototypes_)
    assert model.score(frame, y) > 0.85


def test_data_are_left_as_they_were(holey):
    X, y = holey
    before = X.copy()
    for model in (GLVQ(), GLVQ(solver="sgd"), RSLVQ(), LVQ1()):
        model.set_params(prototypes_per_class=2, random_state=0, max_iter=3).fit(X, y)
        for method in METHODS:
            getattr(model, method)(X)
    np.testing.assert_array_equal(X, before)


# Where prototypes begin -------------------------------------------------------------------------


def completed(X, y, weight):
    """Replace what is missing by the weighted mean of the class, or of all where it has none."""
    X = X.copy()
    overall = [np.average(c[~np.isnan(c)], weights=weight[~np.isnan(c)]) for c in X.T]
    filled = X.copy()
    for k in np.unique(y):
        for j in range(X.shape[1]):
            column, w = X[y == k, j], weight[y == k]
            seen = ~np.isnan(column)
            mean = np.average(column[seen], weights=w[seen]) if seen.any() else overall[j]
            filled[(y == k) & np.isnan(X[:, j]), j] = mean
    return filled


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("whole_class", [False, True])
def test_prototypes_begin_as_on_completed_rows(init, whole_class, rng):
    X = rng.standard_normal((90, 3)) + np.repeat([[0.0], [5.0], [10.0]], 30, axis=0)
    y, weight = np.repeat([0, 1, 2], 30), rng.uniform(0.5, 2.0, 90)
    X = with_holes(X, 0.3)
    if whole_class:
        X[y == 1, 2] = np.nan
        X[np.isnan(X).all(axis=1), 0] = 5.0
    counts = np.array([1, 2, 4])
    got, expected = (
        initial_prototypes(init, Block(Z, y, weight), counts, np.random.RandomState(0))
        for Z in (X, completed(X, y, weight))
    )
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("init", ["means", "kmeans"])
def test_one_prototype_begins_at_the_mean_of_what_is_observed(init, holey):
    X, y = holey
    W = initial_prototypes(init, Block(X, y), np.array([1, 1, 1]), np.random.RandomState(0))
    np.testing.assert_allclose(W, [np.nanmean(X[y == k], axis=0) for k in range(3)], rtol=1e-12)


@pytest.mark.parametrize("cls", [GLVQ, RSLVQ, LVQ1])
def test_a_column_missing_in_a_whole_class(cls, iris):
    X, y = iris
    X = X.copy()
    X[y == 1, 0] = np.nan
    for init in STARTS:
        model = cls(init=init, prototypes_per_class=2, random_state=0, max_iter=20).fit(X, y)
        assert np.isfinite(model.prototypes_).all()
        assert model.score(X, y) > 0.85


# Errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [GLVQ(), GLVQ(solver="sgd"), RSLVQ(), LVQ1()])
def test_a_row_with_nothing_observed(model, holey):
    X, y = holey
    model.fit(X, y)
    X = X.copy()
    X[77] = np.nan
    with pytest.raises(ValueError, match="Row 77 of X has only missing values"):
        model.fit(X, y)
    for method in METHODS:
        for rows in (X, X.astype(np.float32)):
            with pytest.raises(ValueError, match="Row 77 of X has only missing values"):
                getattr(model, method)(rows)


def test_a_row_with_nothing_observed_is_named_by_its_place_in_x(holey):
    """Rows of weight zero before it are left out, but they count."""
    X, y = holey
    X = X.copy()
    X[77] = np.nan
    weight = np.ones(len(X))
    weight[:10] = 0.0
    with pytest.raises(ValueError, match="Row 77 of X"):
        GLVQ().fit(X, y, sample_weight=weight)


def test_a_row_with_nothing_observed_and_no_weight(holey):
    X, y = holey
    X = X.copy()
    X[77], weight = np.nan, np.ones(len(X))
    weight[77] = 0.0
    expected = GLVQ(random_state=0).fit(np.delete(X, 77, axis=0), np.delete(y, 77))
    got = GLVQ(random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(got.prototypes_, expected.prototypes_, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_with_nothing_observed_where_the_partial_distance_is_named(method, holey):
    X, y = holey
    model = PrototypeClassifier(distance=PartialSquaredEuclidean(), random_state=0).fit(X, y)
    X = X[:9].copy()
    X[5] = np.nan
    with pytest.raises(ValueError, match="Row 5 of X has only missing values"):
        getattr(model, method)(X)


@pytest.mark.parametrize("init", [*STARTS, np.arange(12.0).reshape(3, 4)])
@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
def test_a_column_with_nothing_observed(cls, init, holey):
    X, y = holey
    X = np.column_stack([X[:, :2], np.full(len(X), np.nan), X[:, 2]])
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    with pytest.raises(ValueError, match="Feature 2 of X has no observed value"):
        cls(init=init).fit(X, y)


@pytest.mark.parametrize("model", [GLVQ(), RSLVQ(), GLVQ(solver="sgd"), LVQ1()])
def test_infinity_is_no_missing_value(model, holey):
    X, y = holey
    model.fit(X, y)
    X = X.copy()
    X[3, np.isnan(X[3]).argmin()] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        model.fit(X, y)
    for method in METHODS:
        for rows in (X, X.astype(np.float32)):
            with pytest.raises(ValueError, match="contains infinity"):
                getattr(model, method)(rows)


@pytest.mark.parametrize(
    "distance",
    [custom_axes.LogCosh(), custom_axes.City(), custom_axes.Relevances()],
    ids=lambda d: type(d).__name__,
)
def test_a_distance_that_takes_no_missing_values(distance, iris, holey):
    for model in (PrototypeClassifier(distance=distance), LVQ1(distance=distance)):
        with pytest.raises(ValueError, match=r"NaN|missing values"):
            model.fit(*holey)
        model.set_params(max_iter=2).fit(*iris)
        for method in METHODS[:4]:
            with pytest.raises(ValueError, match=r"NaN|missing values"):
                getattr(model, method)(holey[0])


def test_a_distance_with_a_form_of_its_own_for_missing_values(holey):
    class Partial(custom_axes.LogCosh):
        missing_form = PartialSquaredEuclidean

    X, y = holey
    model = PrototypeClassifier(distance=Partial(), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.distances(X), partial(X, model.prototypes_), rtol=1e-9)


def test_sparse_rows_with_missing_values(holey):
    X, y = holey
    model = GLVQ(random_state=0).fit(X, y)
    S = sparse.csr_array(X)
    with pytest.raises(ValueError, match="sparse and contains NaN"):
        model.fit(S, y)
    for method in METHODS:
        with pytest.raises(ValueError, match="NaN"):
            getattr(model, method)(S)


# What scikit-learn is told ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*PRESETS, *RULES])
def test_tags_allow_missing_values(cls):
    assert get_tags(cls()).input_tags.allow_nan


def test_tags_follow_the_distance():
    for cls in (PrototypeClassifier, LVQ1, LVQ3):
        assert get_tags(cls()).input_tags.allow_nan
        assert get_tags(cls(distance=PartialSquaredEuclidean())).input_tags.allow_nan
        for distance in (custom_axes.City(), custom_axes.LogCosh(), custom_axes.Relevances()):
            assert not get_tags(cls(distance=distance)).input_tags.allow_nan
        get_tags(cls(distance="nonsense"))  # fit tells what is wrong


# Accuracy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "load", "losses"),
    [
        (GLVQ(random_state=0), load_iris, (0.03, 0.06)),
        (GLVQ(random_state=0, solver="sgd", max_iter=50), load_iris, (0.03, 0.06)),
        (LVQ1(random_state=0), load_iris, (0.03, 0.06)),
        (RSLVQ(random_state=0, attraction=0.01), load_iris, (0.06, 0.1)),
        (GLVQ(random_state=0), load_breast_cancer, (0.02, 0.03)),
        (LVQ1(random_state=0), load_breast_cancer, (0.02, 0.03)),
    ],
)
def test_a_pipeline_without_an_imputer_stays_accurate(model, load, losses):
    X, y = load(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), model)
    complete = cross_val_score(pipeline, X, y).mean()
    for share, loss in zip((0.1, 0.3), losses, strict=True):
        scores = [cross_val_score(pipeline, with_holes(X, share, s), y).mean() for s in range(2)]
        assert np.mean(scores) > complete - loss


@pytest.mark.parametrize("share", [0.9, 1.0])
@pytest.mark.parametrize(
    "model",
    [
        GLVQ(solver="lbfgs", max_iter=20),
        GLVQ(solver="sgd", max_iter=20),
        GLVQ(solver="adam", max_iter=20),
        RSLVQ(solver="lbfgs", max_iter=20),
        RSLVQ(solver="sgd", max_iter=20),
        RSLVQ(solver="momentum", max_iter=20),
        LVQ1(max_iter=20, learning_rate=0.02),
        OLVQ1(max_iter=20),
    ],
    ids=str,
)
def test_rows_of_which_little_is_left(model, share):
    """One to six features of thirty: their long steps must not throw prototypes out."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model.set_params(random_state=0).fit(with_holes(X, share), y)
    assert np.abs(model.prototypes_).max() < 5 * np.abs(X).max()
    assert share == 1.0 or model.score(X, y) > 0.85


# Together with the rest -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
def test_parts_of_a_stream_may_have_holes(cls, iris, holey):
    order = np.random.RandomState(0).permutation(150)
    model = cls(random_state=0)
    for k, rows in enumerate(np.array_split(np.tile(order, 4), 24)):
        X = (iris, holey)[k % 2][0]
        model.partial_fit(X[rows], iris[1][rows], classes=[0, 1, 2])
    assert np.isfinite(model.prototypes_).all()
    assert model.score(*holey) > 0.8


def test_early_stopping_with_holes(holey):
    for model in (GLVQ(), GLVQ(solver="adam"), LVQ1()):
        model.set_params(early_stopping=True, validation_fraction=0.2, random_state=0).fit(*holey)
        assert np.isfinite(model.validation_curve_).all()
        assert model.score(*holey) > 0.8


def test_weights_of_rows_with_holes(holey):
    """Weight two is the row twice, also for incomplete rows."""
    X, y = holey
    weight = np.random.RandomState(0).randint(0, 3, len(X))
    settings = {"init": "means", "tol": 1e-10, "attraction": 0.01, "solver": "lbfgs"}
    weighted = LOGM(**settings).fit(X, y, sample_weight=weight)
    repeated = LOGM(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-5)


def test_units_make_no_difference(holey):
    X, y = holey
    settings = {"solver": "sgd", "max_iter": 5, "random_state": 0, "prototypes_per_class": 2}
    plain = GLVQ(**settings).fit(X, y)
    for factor, shift in ((1e-100, 0.0), (1e100, 0.0), (1e3, 1e5)):
        other = GLVQ(**settings).fit(X * factor + shift, y)
        np.testing.assert_allclose(
            (other.prototypes_ - shift) / factor, plain.prototypes_, rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(
            other.predict_proba(X * factor + shift), plain.predict_proba(X), atol=1e-6
        )
