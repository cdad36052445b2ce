"""Fitting: weights, labels, precision, seeds, scale, and scikit-learn's company."""

import os
import pickle
import subprocess
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import custom_axes
from given_profile import long_test
from protolearn import GLVQ, LOGM, MCE, RSLVQ, SNPC, MarginLVQ, PrototypeClassifier
from protolearn.blocks import Block, MemoryBlocks
from protolearn.checks import expected_failed_checks
from protolearn.classifiers.problem import FirstDistances
from protolearn.classifiers.settings import CostSettings
from protolearn.classifiers.training import weigh_errors
from protolearn.losses import LOSSES, Identity, Loss, Sigmoid
from protolearn.margins import MARGINS
from protolearn.native import LOSS, native
from protolearn.solvers import SGD

PRESETS = [GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ]
SMOOTH = [GLVQ, MCE, LOGM, SNPC, RSLVQ]


@pytest.mark.parametrize("cls", PRESETS)
@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_iris(cls, solver, iris):
    X, y = iris
    model = cls(solver=solver, random_state=0).fit(X, y)
    assert model.score(X, y) >= 0.93
    assert model.prototypes_.shape == (3, 4)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@contextmanager
def unconverged():
    """Let a fit run out of iterations without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_combination_learns(margin, loss, iris):
    if loss == "identity" and margin != "relative":
        pytest.skip("minus an unbounded margin has no minimum")
    X, y = iris
    beta = 4.0 if margin in ("relative", "hypothesis", "k_nearest") else 1.0
    axis = Identity() if loss == "identity" else LOSSES[loss](beta)
    per_class = 2 if margin == "k_nearest" else 1
    model = PrototypeClassifier(
        prototypes_per_class=per_class, margin=margin, loss=axis, max_iter=30, random_state=0
    )
    with unconverged():
        model.fit(X, y)
    assert model.score(X, y) >= 0.9


@pytest.mark.parametrize("cls", SMOOTH)
@pytest.mark.parametrize("per_class", [1, 2])
def test_weight_two_is_the_row_twice(cls, per_class, iris):
    X, y = iris
    weight = np.random.RandomState(0).randint(0, 4, len(X))
    settings = {
        "init": "means",
        "solver": "lbfgs",
        "prototypes_per_class": per_class,
        "tol": 1e-10,
        "attraction": 0.01,
        "max_iter": 40,
        "random_state": 0,
    }
    with unconverged():
        weighted = cls(**settings).fit(X, y, sample_weight=weight)
        repeated = cls(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-8)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-12)


def test_class_weight_is_a_sample_weight(iris):
    X, y = iris
    by_class = {0: 1.0, 1: 5.0, 2: 0.5}
    a = LOGM(class_weight=by_class, attraction=0.1).fit(X, y)
    b = LOGM(attraction=0.1).fit(X, y, sample_weight=np.vectorize(by_class.get)(y))
    np.testing.assert_allclose(a.prototypes_, b.prototypes_, rtol=1e-10)


def test_balanced_weights(iris):
    X, y = iris[0][:110], iris[1][:110]
    count = np.random.RandomState(0).randint(0, 4, 110)
    settings = {"tol": 1e-8, "attraction": 0.1}
    balanced = LOGM(class_weight="balanced", **settings).fit(X, y, sample_weight=count)
    repeated = np.repeat(X, count, axis=0), np.repeat(y, count)
    explicit = LOGM(class_weight="balanced", **settings).fit(*repeated)
    np.testing.assert_allclose(balanced.prototypes_, explicit.prototypes_, atol=1e-6)
    share = len(repeated[1]) / (3 * np.bincount(repeated[1]))
    by_hand = LOGM(**settings).fit(*repeated, sample_weight=share[repeated[1]])
    np.testing.assert_allclose(explicit.prototypes_, by_hand.prototypes_, atol=1e-9)
    plain = LOGM(**settings).fit(*repeated)
    assert np.abs(plain.prototypes_ - explicit.prototypes_).max() > 1e-3


@pytest.mark.parametrize(
    "names", [np.array(["setosa", "b", "a c"]), np.array([7, -3, 100]), np.array([2.0, 0.0, 5.0])]
)
def test_any_labels(names, iris):
    X, y = iris
    plain = LOGM(prototypes_per_class=2, random_state=0).fit(X, np.argsort(np.argsort(names))[y])
    model = LOGM(prototypes_per_class=2, random_state=0).fit(X, names[y])
    assert model.classes_.tolist() == sorted(names)
    assert model.prototype_labels_.tolist() == np.repeat(sorted(names), 2).tolist()
    assert (model.predict(X) == np.sort(names)[plain.predict(X)]).all()
    np.testing.assert_array_equal(model.prototypes_, plain.prototypes_)


def test_prototypes_by_label(iris):
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    model = GLVQ(prototypes_per_class={"b": 3, "c": 2}, random_state=0).fit(X, names)
    assert model.prototype_labels_.tolist() == ["a", "b", "b", "b", "c", "c"]


@pytest.mark.parametrize("cls", PRESETS)
def test_single_precision(cls):
    X, y = load_digits(return_X_y=True)
    single = X.astype(np.float32)
    a = cls(random_state=0, max_iter=20)
    b = clone(a)
    with unconverged():
        a.fit(X, y)
        b.fit(single, y)
    scores = np.sort(a.predict_proba(X), axis=1)
    ties = scores[:, -1] - scores[:, -2] < 1e-4
    assert ((a.predict(X) == b.predict(single)) | ties).all()
    assert ties.mean() < 0.01
    assert b.decision_function(single).dtype == np.float32


def test_read_only_and_fortran_order(iris):
    X, y = iris
    expected = LOGM().fit(X, y).prototypes_
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.repeat(X, 2, axis=1)
    for variant in (frozen, np.asfortranarray(X), wide[:, ::2], X[::-1].copy()[::-1]):
        model = LOGM().fit(variant, y)
        np.testing.assert_array_equal(model.prototypes_, expected)
        assert (model.predict(variant) == LOGM().fit(X, y).predict(X)).all()


def test_fit_leaves_its_input_alone(iris):
    X, y = iris
    before, init = X.copy(), X[[0, 60, 120]].copy()
    model = GLVQ(solver="sgd", init=init, max_iter=3, random_state=0).fit(X, y)
    assert (before == X).all()
    assert (init == X[[0, 60, 120]]).all()
    assert not np.shares_memory(model.prototypes_, init)


@pytest.mark.parametrize("cls", PRESETS)
def test_clone_and_pickle(cls, iris):
    X, y = iris
    model = cls(prototypes_per_class=2, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


def test_a_fitted_model_holds_no_compiled_function(iris):
    model = PrototypeClassifier(loss=custom_axes.Ramp(), distance=custom_axes.LogCosh()).fit(*iris)
    assert not any(
        "Native" in str(type(v)) or "numba" in str(type(v)) for v in vars(model).values()
    )
    assert len(pickle.dumps(model)) < 4000


def test_pipeline_and_grid_search(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), GLVQ(random_state=0))
    search = GridSearchCV(pipe, {"glvq__beta": [1.0, 5.0, None]}, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    model = PrototypeClassifier(loss=Sigmoid(), random_state=0)
    search = GridSearchCV(model, {"loss__beta": [0.5, 20.0]}, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_estimator_.loss.beta == search.best_params_["loss__beta"]
    assert model.loss.beta == 1.0


def test_a_short_name_has_no_nested_parameters():
    with pytest.raises(ValueError, match=r"loss__beta cannot be set while loss='sigmoid'.*Sigmoid"):
        PrototypeClassifier().set_params(loss__beta=2.0)
    model = PrototypeClassifier().set_params(loss=Sigmoid(), loss__beta=2.0)
    assert model.loss.beta == 2.0


def test_users_axes_in_the_classifier(iris):
    X, y = iris
    for axes in (
        {"loss": custom_axes.Ramp(0.5)},
        {"margin": custom_axes.LogRatio()},
        {"margin": custom_axes.MeanDifference(), "loss": "hinge"},
        {"distance": custom_axes.LogCosh()},
        {"distance": custom_axes.City(), "margin": "hypothesis"},
        {"distance": custom_axes.Relevances(), "margin": "log_odds", "loss": "logistic"},
        {"distance": custom_axes.LocalRelevances(), "prototypes_per_class": 2},
    ):
        for solver in ("auto", "sgd"):
            model = PrototypeClassifier(random_state=0, solver=solver, max_iter=50, **axes)
            with unconverged():
                model.fit(X, y)
            assert model.score(X, y) > 0.85, (axes, solver)


def test_data_frame(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = GLVQ().fit(frame, pd.Series(y).map({0: "x", 1: "y", 2: "z"}))
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


PROCESS = """
import numpy as np
from sklearn.datasets import load_iris
from protolearn import *
X, y = load_iris(return_X_y=True)
for cls in (GLVQ, RSLVQ, MarginLVQ):
    model = cls(prototypes_per_class=3, random_state=3, max_iter=8, solver="sgd").fit(X, y)
    print(model.prototypes_.tobytes().hex())
"""


def test_same_seed_same_result_in_another_process(capsys):
    exec(PROCESS, {})
    here = capsys.readouterr().out
    there = subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, check=True)
    assert here == there.stdout.decode()
    assert len(here) > 100


def test_other_seed_other_result(iris):
    X, y = iris
    models = [GLVQ(solver="sgd", max_iter=2, random_state=s).fit(X, y) for s in (0, 0, 1)]
    np.testing.assert_array_equal(models[0].prototypes_, models[1].prototypes_)
    assert not np.array_equal(models[0].prototypes_, models[2].prototypes_)


@pytest.mark.parametrize("cls", PRESETS)
@pytest.mark.parametrize("solver", ["auto", "sgd"])
@pytest.mark.parametrize("factor", [1e150, 1e-150])
@pytest.mark.parametrize(("load", "z_scored"), [(load_iris, 0), (load_iris, 1), (load_wine, 1)])
def test_units_of_any_size(cls, solver, factor, load, z_scored):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X) if z_scored else X
    settings = {"solver": solver, "random_state": 0}
    plain = cls(**settings).fit(X, y)
    scaled = cls(**settings).fit(X * factor, y)
    np.testing.assert_allclose(scaled.prototypes_, plain.prototypes_ * factor, rtol=1e-6)
    assert (scaled.predict(X * factor) == plain.predict(X)).all()


@pytest.mark.parametrize("cls", PRESETS)
@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_powers_of_two_change_no_digit(cls, solver, iris):
    X, y = iris
    settings = {"solver": solver, "prototypes_per_class": 3, "random_state": 0}
    with unconverged():
        plain = cls(**settings).fit(X, y)
        scaled = cls(**settings).fit(X * 2.0**400, y)
    np.testing.assert_array_equal(scaled.prototypes_, plain.prototypes_ * 2.0**400)


@pytest.mark.parametrize("factor", [1e155, 1e300, 1e-160, 1e-300])
def test_beyond_that_an_error(factor, iris):
    X, y = iris
    with pytest.raises(ValueError, match="rescale X"):
        GLVQ().fit(X * factor, y)


def test_far_from_the_origin(iris):
    X, y = iris
    for cls in (GLVQ, RSLVQ):
        near, far = cls(attraction=0.1).fit(X, y), cls(attraction=0.1).fit(X + 1e6, y)
        np.testing.assert_allclose(far.prototypes_ - 1e6, near.prototypes_, atol=1e-3)
        assert (far.predict(X + 1e6) == near.predict(X)).all()


def test_scale(iris):
    X, y = iris
    model = LOGM(prototypes_per_class=1, init="means", max_iter=1, solver="sgd").fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(model.scale_, np.mean(np.sum((X - means[y]) ** 2, axis=1)))
    settings = {"init": "means", "tol": 1e-9}
    a = LOGM(scale=model.scale_, beta=2.0, attraction=0.1, **settings).fit(X, y)
    unit = model.scale_
    b = LOGM(scale=1.0, beta=2.0 / unit, attraction=0.1 / unit, **settings).fit(X, y)
    np.testing.assert_allclose(a.prototypes_, b.prototypes_, atol=1e-5)


def test_scale_when_every_row_is_its_own_prototype():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0], [3.0, 6.0]]) / 2.0 + 0.1
    model = GLVQ(init=X, prototypes_per_class=2, solver="sgd", max_iter=1).fit(X, [0, 0, 1, 1])
    assert model.scale_ == pytest.approx(1.0)  # the distance to the nearest rival


def test_attraction_keeps_prototypes_near(iris):
    X, y = iris
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    moved = [
        np.linalg.norm(LOGM(attraction=alpha).fit(X, y).prototypes_ - means)
        for alpha in (0.0, 0.1, 10.0)
    ]
    assert moved[0] > moved[1] > moved[2]


def test_one_prototype_logm_is_a_linear_model():
    """With two prototypes the margin is linear: LOGM then is logistic regression."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 3))
    y = (X @ [1.0, -2.0, 0.5] + 0.7 * rng.standard_normal(300) > 0.3).astype(int)
    model = LOGM(beta=1.0, attraction=0.0, scale=1.0, tol=1e-10, max_iter=5000).fit(X, y)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    W = model.prototypes_
    np.testing.assert_allclose(2.0 * (W[1] - W[0]), oracle.coef_[0], rtol=1e-4)
    offset = np.sum(W[0] ** 2) - np.sum(W[1] ** 2)
    np.testing.assert_allclose(offset, oracle.intercept_[0], rtol=1e-3)


def test_a_slow_fit_prints_more_lines(iris, capsys, monkeypatch):
    """An iteration on many features may take seconds, and a twentieth of all of them minutes."""
    monkeypatch.setattr("protolearn.classifiers.fit_log.SILENT", 0.0)
    model = GLVQ(verbose=1, random_state=0).fit(*iris)
    assert capsys.readouterr().out.count("iteration ") == model.n_iter_


def test_verbose_and_callback(iris, capsys):
    X, y = iris
    seen = []
    model = GLVQ(verbose=1, callback=seen.append, random_state=0).fit(X, y)
    out = capsys.readouterr().out
    assert "[GLVQ] solver lbfgs" in out
    assert "loss" in out
    assert [s.iteration for s in seen] == list(range(1, model.n_iter_ + 1))
    assert [s.loss for s in seen] == model.loss_curve_
    assert seen[-1].codebook.prototypes.shape == (3, 4)
    for solver in ("lbfgs", "sgd"):
        for stop in (lambda s: s.iteration == 2, lambda s: np.float64(s.iteration) > 1.5):
            assert GLVQ(solver=solver, callback=stop).fit(X, y).n_iter_ == 2
    assert capsys.readouterr().out == ""
    every = GLVQ(verbose=2, random_state=0).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 1 + every.n_iter_


def test_warning_when_iterations_run_out(iris):
    with pytest.warns(ConvergenceWarning, match="GLVQ stopped at max_iter=2"):
        GLVQ(max_iter=2).fit(*iris)


class Plain(GLVQ):
    pass


class Sharper(GLVQ):
    """GLVQ with a factor."""

    def __init__(self, *, factor=2.0, **others):
        super().__init__(**others)
        self.factor = factor

    def _axes(self):
        distance, margin, loss = super()._axes()
        return distance, margin, type(loss)(loss.beta * self.factor)


def test_subclasses_of_a_preset(iris):
    X, y = iris
    assert Plain(beta=3.0).get_params() == GLVQ(beta=3.0).get_params()
    names = set(Sharper().get_params())
    assert names == {"factor"} | set(GLVQ().get_params())
    a = clone(Sharper(factor=2.0, beta=5.0, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(
        a.prototypes_, GLVQ(beta=10.0, random_state=0).fit(X, y).prototypes_
    )
    assert Sharper.__doc__ == "GLVQ with a factor."
    with pytest.raises(TypeError, match="unexpected keyword argument 'bta'"):
        GLVQ(bta=3.0)


def test_a_failed_fit_changes_nothing(iris):
    X, y = iris
    model = PrototypeClassifier(random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="fewer than its"):
        model.set_params(prototypes_per_class=90).fit(X, np.array(["a", "b", "c"])[y])
    assert (model.predict(X) == before).all()
    model.set_params(decision="soft", distance=custom_axes.City(), prototypes_per_class=1)
    expected_failed_checks(model)
    assert (model.predict(X) == before).all()


def test_the_model_keeps_its_own_parts(iris):
    X, y = iris
    loss = Sigmoid(2.0)
    model = PrototypeClassifier(loss=loss).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(loss__beta=50.0)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert loss.beta == 50.0


THREADS = """
import sys, numpy as np
from protolearn import GLVQ
X = np.random.RandomState(0).standard_normal((6000, 5)); y = np.arange(6000) % 2
for _ in range(3):
    model = GLVQ(prototypes_per_class=8, random_state=0, max_iter=2, solver="sgd").fit(X, y)
    print(model.prototypes_.tobytes().hex())
"""


def test_same_seed_same_result_with_threads():
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        capture_output=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"},
    )
    assert len(set(done.stdout.split())) == 1


SCRIPT = """
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from protolearn import PrototypeClassifier
from protolearn.losses import Loss
from protolearn.native import LOSS, native

class Square(Loss):
    def __init__(self, width=1):
        self.width = width
    def theta(self):
        return np.array([self.width])
    @native(LOSS)
    def phi(m, theta):
        t = max(0.0, 1.0 - m / theta[0])
        return t * t, -2.0 * t / theta[0]

X, y = load_iris(return_X_y=True)
search = GridSearchCV(PrototypeClassifier(loss=Square()), {"loss__width": [1, 2]}, n_jobs=2, cv=3)
print(search.fit(X, y).best_score_ > 0.9)
"""


@long_test
def test_a_loss_of_a_script_in_parallel(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr


# What the automatic choice does not make worse ---------------------------------------------------


class Backwards(Loss):
    """A price that rises with the margin: whoever lowers it makes errors."""

    smooth = False

    @native(LOSS)
    def phi(m, theta):
        return m, 1.0


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_initial_prototypes_are_kept_where_training_makes_more_errors(form, weighted, iris):
    X, y = iris
    weight = np.random.RandomState(0).rand(len(X)) if weighted else None
    model = PrototypeClassifier(margin="relative", loss=Backwards(), init="means", random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"keeps these.*\(beta or xi\).*take another one"):
        model.fit(form(X), y, weight)
    means = [
        np.average(X[y == k], axis=0, weights=weight if weight is None else weight[y == k])
        for k in range(3)
    ]
    np.testing.assert_allclose(model.prototypes_, means, atol=1e-12)
    assert model.n_iter_ == len(model.loss_curve_) == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = clone(model).set_params(solver=model.solver_).fit(form(X), y, weight)
    assert named.score(X, y) < model.score(X, y)


def test_errors_are_those_of_the_decision(iris):
    X, y = iris
    model = RSLVQ(prototypes_per_class=3, xi=0.5, random_state=0).fit(X, y)
    rule, weight = model.rule_, np.random.RandomState(0).rand(len(X))
    block = Block(X, y, weight)
    first = FirstDistances(rule.scale)
    problem = CostSettings.of(model).problem(
        rule.codebook, rule.distance, MemoryBlocks(block), 3, first=first
    )
    wrong = weigh_errors(problem, rule.codebook, block)
    assert wrong == pytest.approx(weight @ (model.predict(X) != y))


@pytest.mark.parametrize(
    ("n_samples", "epochs"), [(5, 10), (150, 10), (300, 15), (1000, 30), (50_000, 10), (10**7, 8)]
)
def test_epochs_by_the_number_of_rows(n_samples, epochs):
    assert SGD().default_max_iter(n_samples) == epochs
