"""Early stopping: which rows are held out, what they decide, and when a fit ends."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import reference
from protolearn import GLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RSLVQ, SNPC, MarginLVQ
from protolearn.classifiers import rows
from protolearn.solvers import SGD

RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
OBJECTIVES = {
    GLVQ: ({"beta": 3.0}, {"margin": "relative", "loss": "sigmoid", "beta": 3.0}),
    MCE: ({"beta": 1.5}, {"margin": "difference", "loss": "sigmoid", "beta": 1.5}),
    LOGM: (
        {"beta": 1.5, "attraction": 0.0},
        {"margin": "difference", "loss": "logistic", "beta": 1.5},
    ),
    SNPC: ({"xi": 1.5}, {"margin": "log_odds", "loss": "sigmoid", "xi": 1.5}),
    RSLVQ: ({"xi": 1.5, "attraction": 0.0}, {"margin": "log_odds", "loss": "logistic", "xi": 1.5}),
    MarginLVQ: ({"beta": 0.7}, {"margin": "hypothesis", "loss": "hinge", "beta": 0.7}),
}
COSTS = [
    (cls, solver)
    for cls in OBJECTIVES
    for solver in ("lbfgs", "sgd", "adam", "momentum")
    if (cls, solver) != (MarginLVQ, "lbfgs")
]
EVERY = [*COSTS, *((cls, None) for cls in RULES)]
CODES = np.repeat(np.arange(3), 2)


@pytest.fixture
def splits(monkeypatch):
    """Collect what is taught and what is held out in each fit."""
    seen = []
    hold_out = rows.hold_out

    def noted(*args):
        seen.append(hold_out(*args))
        return seen[-1]

    monkeypatch.setattr(rows, "hold_out", noted)
    return seen


def noisy(seed=0, n=150):
    """Give three classes that overlap, and labels of which some are wrong."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 3
    X = 2.0 * rng.standard_normal((3, 5))[y] + 1.5 * rng.standard_normal((n, 5))
    y[rng.choice(n, n // 6, replace=False)] = rng.randint(0, 3, n // 6)
    return X, y


def build(cls, solver, **kwargs):
    settings = {"prototypes_per_class": 2, "max_iter": 40, "random_state": 0}
    settings |= {"early_stopping": True, "validation_fraction": 0.2} | kwargs
    if solver is not None:
        settings |= OBJECTIVES[cls][0] | {"solver": solver}
    return cls(**settings)


def fitted(cls, solver, X, y, sample_weight=None, **kwargs):
    model = build(cls, solver, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=sample_weight)


def cost_of(model, block, W=None):
    """Give the mean cost of some rows by the plain formula."""
    W = model.prototypes_ if W is None else W
    if type(model) in RULES:
        wrong = CODES[reference.squared_euclidean(block.X, W).argmin(axis=1)] != block.y
        return np.average(wrong, weights=block.weights)
    objective = OBJECTIVES[type(model)][1]
    return reference.cost(
        block.X, block.y, block.weights, W, CODES, scale=model.scale_, **objective
    )


@pytest.mark.parametrize(("cls", "solver"), EVERY)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_prototypes_are_kept(cls, solver, weighted, splits):
    X, y = noisy()
    weight = np.random.RandomState(1).uniform(0.1, 3.0, len(X)) if weighted else None
    model = fitted(cls, solver, X, y, sample_weight=weight)
    ((_, held),) = splits
    least = min(model.validation_curve_)
    np.testing.assert_allclose(least, cost_of(model, held), rtol=1e-7, atol=1e-12)
    assert len(model.validation_curve_) == model.n_iter_ == len(model.loss_curve_)


@pytest.mark.parametrize(("cls", "solver"), EVERY)
def test_the_curve_is_the_cost_of_held_out_rows_after_each_iteration(cls, solver, splits):
    X, y = noisy(1)
    path = []
    model = fitted(
        cls, solver, X, y, callback=lambda s: path.append(s.codebook.prototypes.copy()), max_iter=15
    )
    ((_, held),) = splits
    curve = [cost_of(model, held, W) for W in path]
    np.testing.assert_allclose(model.validation_curve_, curve, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(model.prototypes_, path[np.argmin(model.validation_curve_)])


@pytest.mark.parametrize(("cls", "solver"), EVERY)
def test_nothing_is_learned_from_held_out_rows(cls, solver, monkeypatch):
    X, y = noisy(2)
    held = np.zeros(len(X), dtype=bool)
    held[::7] = True

    def hold_out(block, *others):
        return block.rows(np.flatnonzero(~held)), block.rows(np.flatnonzero(held))

    monkeypatch.setattr(rows, "hold_out", hold_out)
    path, other_path = [], []
    note = {"callback": lambda s: path.append(s.codebook.prototypes.copy())}
    model = fitted(cls, solver, X, y, max_iter=10, **note)
    changed = np.where(held[:, None], 3.0 - 2.0 * X, X)
    note = {"callback": lambda s: other_path.append(s.codebook.prototypes.copy())}
    other = fitted(cls, solver, changed, y, max_iter=10, **note)
    assert model.scale_ == other.scale_
    np.testing.assert_array_equal(path, other_path)
    assert model.validation_curve_ != other.validation_curve_
    alone = fitted(cls, solver, X[~held], y[~held], early_stopping=False, max_iter=10)
    np.testing.assert_array_equal(alone.prototypes_, path[-1])
    assert alone.loss_curve_ == model.loss_curve_


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
def test_the_same_share_of_each_class_is_held_out(fraction, splits):
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], [20, 40, 100])
    X = rng.standard_normal((160, 3)) + y[:, None]
    fitted(GLVQ, "sgd", X, y, validation_fraction=fraction, max_iter=2)
    ((taught, held),) = splits
    wanted = fraction * np.array([20, 40, 100])
    np.testing.assert_allclose(np.bincount(held.y), wanted, atol=1e-9)
    rows = np.vstack([taught.X, held.X])
    assert len(rows) == 160
    np.testing.assert_array_equal(np.unique(rows, axis=0), np.unique(X, axis=0))


def test_weights_stay_with_their_rows(splits):
    X, y = noisy(3)
    weight = 1.0 + np.arange(len(X))
    fitted(LOGM, "sgd", X, y, sample_weight=weight, max_iter=2)
    ((taught, held),) = splits
    by_row = {tuple(x): (label, s) for x, label, s in zip(X, y, weight, strict=True)}
    for part in splits[0]:
        found = [by_row[tuple(x)] for x in part.X]
        assert [label for label, _ in found] == part.y.tolist()
        ratio = part.weights / [s for _, s in found]
        np.testing.assert_allclose(ratio, 1.0 / weight.mean(), rtol=1e-12)
    assert len(taught) + len(held) == len(X)


def test_rows_of_weight_zero_are_not_held_out(splits):
    X, y = noisy(3)
    weight = np.where(np.arange(len(X)) % 2, 1.0, 0.0)
    fitted(LOGM, "sgd", X, y, sample_weight=weight, max_iter=2)
    ((taught, held),) = splits
    assert len(taught) + len(held) == weight.sum()
    assert (held.weights > 0).all()


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9, 0.99])
def test_a_tiny_class_keeps_a_row(fraction, splits):
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2, 3], [1, 2, 3, 50])
    X = rng.standard_normal((56, 3)) + 3.0 * y[:, None]
    settings = {"prototypes_per_class": 1, "max_iter": 3}
    model = fitted(GLVQ, "sgd", X, y, validation_fraction=fraction, **settings)
    ((taught, held),) = splits
    assert (np.bincount(taught.y, minlength=4) >= 1).all()
    assert len(held) > 0
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 1, 3: 1}


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_a_class_keeps_a_row_for_each_prototype(fraction):
    X, y = noisy(4, n=60)
    X, y = np.vstack([X, X[:3] + 9.0]), np.append(y, [3, 3, 3])
    model = fitted(
        GLVQ, "sgd", X, y, prototypes_per_class={3: 3}, validation_fraction=fraction, max_iter=2
    )
    assert model.n_prototypes_ == {0: 1, 1: 1, 2: 1, 3: 3}


def test_many_small_classes_have_rows_to_validate_on(splits):
    y = np.repeat(np.arange(50), 4)
    X = np.random.RandomState(0).standard_normal((200, 3)) + y[:, None]
    fitted(GLVQ, "sgd", X, y, prototypes_per_class=1, validation_fraction=0.1, max_iter=2)
    ((_, held),) = splits
    assert 10 <= len(held) <= 50


@pytest.mark.parametrize("solver", ["sgd", "adam", "momentum"])
def test_ten_iterations_without_progress_end_a_fit(solver):
    X, y = noisy(5)
    model = fitted(LOGM, solver, X, y, tol=0.0, max_iter=400, prototypes_per_class=5)
    assert model.n_iter_ < 400
    assert model.n_iter_ == np.argmin(model.validation_curve_) + 1 + 10


@pytest.mark.parametrize("cls", [LVQ1, LVQ21, LVQ3])
def test_rules_end_early(cls):
    X, y = noisy(5)
    model = fitted(cls, None, X, y, tol=0.0, max_iter=400)
    assert model.n_iter_ == np.argmin(model.validation_curve_) + 1 + 10


def test_tol_is_a_share_of_progress():
    X, y = noisy(6)
    loose = fitted(LOGM, "sgd", X, y, tol=0.5, max_iter=400)
    curve, reference_cost, waited = loose.validation_curve_, np.inf, 0
    for number, cost in enumerate(curve, start=1):
        progress = number == 1 or cost < 0.5 * reference_cost
        waited = 0 if progress else waited + 1
        reference_cost = cost if progress else reference_cost
        assert (waited == 10) == (number == len(curve))
    assert loose.n_iter_ < fitted(LOGM, "sgd", X, y, tol=0.0, max_iter=400).n_iter_


def test_lbfgs_stops_without_a_warning():
    X, y = noisy(7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = build(LOGM, "lbfgs", prototypes_per_class=6, tol=1e-9, max_iter=1000).fit(X, y)
    assert model.n_iter_ < 1000
    assert min(model.validation_curve_) < model.validation_curve_[-1]


def test_without_early_stopping_all_epochs_run():
    X, y = noisy(5)
    model = fitted(LOGM, "sgd", X, y, early_stopping=False, max_iter=60)
    assert model.n_iter_ == 60
    assert not hasattr(model, "validation_curve_")


def test_the_curve_of_an_earlier_fit_is_gone():
    X, y = noisy(5)
    model = fitted(LOGM, "sgd", X, y)
    model.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(model, "validation_curve_")


def test_a_schedule_that_stays_up_may_stop_before():
    X, y = np.ones((40, 2)), np.arange(40) % 2
    model = fitted(GLVQ, SGD(schedule="constant"), X, y, prototypes_per_class=1, max_iter=100)
    assert model.n_iter_ == len(model.validation_curve_) == 6


@pytest.mark.parametrize(("cls", "solver"), [(LOGM, "sgd"), (GLVQ, "lbfgs"), (LVQ1, None)])
def test_seeds(cls, solver, splits):
    X, y = noisy(8)
    a, b, c = (fitted(cls, solver, X, y, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.prototypes_, b.prototypes_)
    assert a.validation_curve_ == b.validation_curve_
    assert a.validation_curve_ != c.validation_curve_
    np.testing.assert_array_equal(splits[0][1].X, splits[1][1].X)
    assert not np.array_equal(splits[0][1].X, splits[2][1].X)


@pytest.mark.parametrize(("cls", "solver"), [(LOGM, "sgd"), (GLVQ, "lbfgs"), (LVQ1, None)])
def test_the_users_callback_is_heard(cls, solver, capsys):
    X, y = noisy(9)
    seen = []
    model = fitted(cls, solver, X, y, callback=lambda s: seen.append(s.loss) or s.iteration == 3)
    assert model.n_iter_ == 3
    assert seen == model.loss_curve_
    assert len(model.validation_curve_) == 3
    fitted(cls, solver, X, y, verbose=1)
    assert "loss" in capsys.readouterr().out


def test_missing_values(splits):
    X, y = noisy(10)
    X[np.random.RandomState(0).uniform(size=X.shape) < 0.1] = np.nan
    observed = ~np.isnan(X).all(axis=1)
    X, y = X[observed], y[observed]
    model = fitted(LOGM, "sgd", X, y)
    ((_, held),) = splits
    wanted = reference.cost(
        held.X,
        held.y,
        held.weights,
        model.prototypes_,
        CODES,
        scale=model.scale_,
        distance=reference.partial_squared_euclidean,
        **OBJECTIVES[LOGM][1],
    )
    np.testing.assert_allclose(min(model.validation_curve_), wanted, rtol=1e-8)


def test_a_feature_that_only_held_out_rows_show(monkeypatch):
    X, y = noisy(10)
    X[1:, 2] = np.nan

    def hold_out(block, *others):
        return block.rows(np.arange(30, len(block))), block.rows(np.arange(30))

    monkeypatch.setattr(rows, "hold_out", hold_out)
    model = fitted(LOGM, "sgd", X, y, max_iter=3)
    assert np.isfinite(model.prototypes_).all()


def test_labels_of_any_kind(splits):
    X, y = noisy(11)
    plain = fitted(LOGM, "sgd", X, y)
    named = fitted(LOGM, "sgd", X, np.array(["a", "b", "c"])[y])
    assert named.validation_curve_ == plain.validation_curve_
    np.testing.assert_array_equal(named.prototypes_, plain.prototypes_)


def test_automatic_number_of_prototypes():
    X, y = noisy(12)
    model = fitted(LOGM, "lbfgs", X, y, prototypes_per_class="auto")
    assert len(model.validation_curve_) == model.n_iter_


def test_it_helps_where_a_fit_would_learn_by_heart():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.RandomState(0)
    wrong = rng.choice(300, 60, replace=False)
    taught = y[:300].copy()
    taught[wrong] = 1 - taught[wrong]
    settings = {"prototypes_per_class": 10, "max_iter": 300, "tol": 1e-8}
    stopped = fitted(LOGM, "lbfgs", X[:300], taught, **settings)
    learned = fitted(LOGM, "lbfgs", X[:300], taught, early_stopping=False, **settings)
    assert stopped.score(X[300:], y[300:]) > learned.score(X[300:], y[300:])


@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
@pytest.mark.parametrize("value", [0, 0.0, 1, 1.0, -0.1, 1.5, np.nan, "half", None])
def test_bad_fractions(cls, value):
    X, y = noisy()
    with pytest.raises(ValueError, match=r"validation_fraction=.* must be a finite number in \(0"):
        cls(early_stopping=True, validation_fraction=value).fit(X, y)


@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
@pytest.mark.parametrize("value", ["yes", 1, None])
def test_bad_flags(cls, value):
    X, y = noisy()
    with pytest.raises(ValueError, match=r"early_stopping=.* must be True or False"):
        cls(early_stopping=value).fit(X, y)


@pytest.mark.parametrize("cls", [GLVQ, LVQ1])
def test_too_few_rows(cls):
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"validation_fraction=0.1 of 4 rows leaves none"):
        cls(early_stopping=True, validation_fraction=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"validation_fraction=0.9 of 2 rows leaves none"):
        cls(early_stopping=True, validation_fraction=0.9).fit(X[[0, 2]], [0, 1])
