"""Where the classes begin hardly apart, a loss that levels off is made steeper."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

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
    io,
)
from protolearn.classifiers.settings import CostSettings
from protolearn.losses import BrokenLinear, Exponential, Hinge, Identity, Logistic, Sigmoid
from protolearn.margins import Difference, LogOdds
from protolearn.solvers import SGD, Momentum

STEEPENED = [(GLVQ, "beta"), (MCE, "beta"), (SNPC, "xi"), (MarginLVQ, "beta")]


def mostly_noise(d, n=300, seed=0):
    """Two classes that differ in the first of many features."""
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    X[:, 0] += 2.0 * y
    return X, y


def contrast(X, y):
    means = np.array([X[y == k].mean(axis=0) for k in range(2)])
    D = np.square(X[:, None] - means).sum(axis=2)
    own, rival = D[np.arange(len(y)), y], D[np.arange(len(y)), 1 - y]
    return np.abs(rival - own).mean() / own.mean()


@pytest.mark.parametrize("cls", [cls for cls, _ in STEEPENED])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("d", [50, 100, 2000])
def test_as_many_times_as_the_contrast_is_too_low(cls, form, d):
    X, y = mostly_noise(d)
    model = cls(max_iter=2, random_state=0).fit(form(X), y)
    expected = min(max(0.2 / contrast(X, y), 1.0), d / 20.0, 10.0)
    assert model.slope_factor_ == pytest.approx(expected)
    assert expected > 1.0


@pytest.mark.parametrize(("cls", "name"), STEEPENED)
def test_it_is_the_default_slope_times_the_factor(cls, name):
    X, y = mostly_noise(100)
    model = cls(max_iter=5, random_state=0).fit(X, y)
    times = model.slope_factor_
    by_hand = cls(**{name: times * cls._own_slope[1]}, max_iter=5, random_state=0)
    if model.solver_ == "sgd":  # its steps are not longer
        by_hand.set_params(solver=SGD(learning_rate=0.05 / times))
    by_hand.fit(X, y)
    assert by_hand.slope_factor_ == 1.0 < times
    np.testing.assert_allclose(model.prototypes_, by_hand.prototypes_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), by_hand.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(("cls", "name"), STEEPENED)
def test_a_slope_that_is_given_is_used_as_given(cls, name):
    X, y = mostly_noise(100)
    given = cls(**{name: 3.0}, max_iter=2, random_state=0).fit(X, y)
    fixed = cls(**{name: 3.0}, scale=given.scale_, max_iter=2, random_state=0).fit(X, y)
    assert given.slope_factor_ == 1.0
    np.testing.assert_array_equal(given.prototypes_, fixed.prototypes_)
    with pytest.raises(ValueError, match=f"{name}='steep'"):
        cls(**{name: "steep"}).fit(X, y)


@pytest.mark.parametrize(("loss", "factor"), [("sigmoid", True), (Sigmoid(1.0), False)])
def test_a_loss_that_is_an_object_is_used_as_given(loss, factor):
    X, y = mostly_noise(100)
    model = PrototypeClassifier(loss=loss, max_iter=2, random_state=0).fit(X, y)
    assert (model.slope_factor_ > 1.0) == factor


def test_steps_of_momentum_are_no_longer_either():
    X, y = mostly_noise(100)
    model = MCE(solver="momentum", max_iter=3, random_state=0).fit(X, y)
    by_hand = MCE(
        beta=2.0 * model.slope_factor_,
        scale=model.scale_,
        solver=Momentum(learning_rate=0.1 / model.slope_factor_),
        max_iter=3,
        random_state=0,
    )
    by_hand.fit(X, y)
    np.testing.assert_allclose(model.prototypes_, by_hand.prototypes_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LOGM(),
        RSLVQ(),
        MarginLVQ(loss="exponential"),
        GLVQ(beta=None),
        GLVQ(scale=1.0),
        GMLVQ(rank=2),
        PrototypeClassifier(loss="logistic"),
    ],
    ids=str,
)
def test_what_stays_as_it_is(model):
    X, y = mostly_noise(100, n=100)
    assert model.set_params(max_iter=2).fit(X, y).slope_factor_ == 1.0


def test_kernels_keep_their_slope(monkeypatch):
    steep, objective = [], CostSettings.objective

    def noted(*args):
        found = objective(*args)
        steep.append(found.slope_factor)
        return found

    monkeypatch.setattr(CostSettings, "objective", noted)
    X, y = mostly_noise(100, n=100)
    KernelGLVQ(kernel="linear", max_iter=2, random_state=0).fit(X, y)
    assert set(steep) == {1.0}
    GLVQ(max_iter=2, random_state=0).fit(X, y)
    assert max(steep) > 1.0


@pytest.mark.parametrize("cls", [cls for cls, _ in STEEPENED])
def test_ordinary_tables_keep_their_slope(cls):
    for load in (load_iris, load_digits):
        assert cls(max_iter=1, random_state=0).fit(*load(return_X_y=True)).slope_factor_ == 1.0


def test_few_features_that_are_mixed_keep_it_too():
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, (400, 2))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    assert contrast(X, y) < 0.2
    assert GLVQ(max_iter=1).fit(X, y).slope_factor_ == 1.0


def test_learning_goes_on_as_steep_as_it_was():
    X, y = mostly_noise(100)
    model = MCE(random_state=0).fit(X, y)
    steep, scale = model.slope_factor_, model.scale_
    assert steep > 1.0
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:50], y[:50])
    assert (again.slope_factor_, again.scale_) == (steep, scale)
    stream = MCE(random_state=0).partial_fit(X[:50], y[:50], classes=[0, 1])
    assert stream.slope_factor_ == 1.0  # the first rows of a stream do not tell
    assert stream.partial_fit(X[50:], y[50:]).slope_factor_ == 1.0


def test_a_saved_model_goes_on_as_steep(tmp_path):
    X, y = mostly_noise(100)
    model = SNPC(random_state=0).fit(X, y)
    io.save(model, tmp_path / "model")
    loaded = io.load(tmp_path / "model")
    rows = X[:40], y[:40]
    np.testing.assert_array_equal(
        loaded.partial_fit(*rows).prototypes_, model.partial_fit(*rows).prototypes_
    )
    assert loaded.slope_factor_ == model.slope_factor_ > 1.0


@pytest.mark.parametrize("loss", [Sigmoid, Hinge, BrokenLinear, Logistic, Exponential])
def test_a_steeper_loss_is_that_of_so_many_times_the_margin(loss):
    m = np.linspace(-1.0, 1.0, 7)
    value, slope = loss(1.5).steepened(3.0)(m)
    expected, by_margin = loss(1.5)(3.0 * m)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope, 3.0 * by_margin)


class Sharp(LogOdds):
    """Log-odds of somebody else."""


class Stiff(Sigmoid):
    """A loss that only says that it is local."""

    def steepened(self, times):
        return self


def test_a_margin_of_somebody_else_stays_of_its_kind():
    sharper = Sharp(2.0).steepened(3.0)
    assert type(sharper) is Sharp
    assert sharper.xi == 6.0


def test_what_cannot_be_made_steeper_is_told_so():
    X, y = mostly_noise(100)
    model = PrototypeClassifier(loss=Stiff(), max_iter=1, random_state=0).fit(X, y)
    assert model.slope_factor_ == 1.0


def test_parts_have_the_same_slope():
    X, y = mostly_noise(100)
    whole = MCE(max_iter=1, random_state=0).fit(X, y)

    def blocks():
        for start in range(0, len(X), 70):
            yield X[start : start + 70], y[start : start + 70]

    parts = MCE(max_iter=1, random_state=0).fit(blocks)
    assert parts.slope_factor_ == pytest.approx(whole.slope_factor_, rel=1e-9)
    assert whole.slope_factor_ > 1.0


def test_what_has_no_slope_is_given_back():
    identity, difference = Identity(), Difference()
    assert identity.steepened(2.0) is identity
    assert difference.steepened(2.0) is difference
    assert LogOdds(2.0).steepened(3.0).xi == 6.0


@pytest.mark.parametrize("cls", [cls for cls, _ in STEEPENED])
def test_it_helps(cls):
    """A hundred features, of which one tells the class."""
    X = np.random.RandomState(0).standard_normal((2000, 100))
    y = (X[:, 0] > 0.0).astype(int)
    model = cls(random_state=0).fit(X[:1000], y[:1000])
    flat = cls(scale=model.scale_, random_state=0).fit(X[:1000], y[:1000])
    assert model.slope_factor_ > 2.0
    assert model.score(X[1000:], y[1000:]) > flat.score(X[1000:], y[1000:]) + 0.005
