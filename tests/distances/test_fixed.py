"""The distances that are not learned, in training: solvers, margins, losses, weights, streams."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from protolearn import LVQ1, LVQ21, OLVQ1, PrototypeClassifier
from protolearn.distances import (
    DISTANCES,
    CauchySchwarz,
    Kernel,
    KullbackLeibler,
    Mahalanobis,
    Minkowski,
    Renyi,
)

LEAST = {  # accuracy on iris as it is
    Minkowski(1): 0.9,
    Minkowski(): 0.9,
    Minkowski(3.0): 0.9,
    Minkowski(np.inf): 0.9,
    Mahalanobis(): 0.97,
    Mahalanobis(0.0): 0.97,
    Kernel(): 0.92,
    Kernel("polynomial", degree=2): 0.88,
    Kernel("linear"): 0.92,
    KullbackLeibler(): 0.94,
    CauchySchwarz(): 0.95,
    Renyi(): 0.94,
    Renyi(2.0): 0.94,
}
EACH = pytest.mark.parametrize("distance", LEAST, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def flowers():
    """Iris in centimetres: no entry is negative."""
    return load_iris(return_X_y=True)


def check_fit(model, X, y, least):
    model.fit(X, y)
    assert np.isfinite(model.prototypes_).all()
    assert model.score(X, y) > least
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()


@EACH
@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam", "momentum"])
def test_solvers(flowers, distance, solver):
    model = PrototypeClassifier(distance=clone(distance), solver=solver, random_state=0)
    if solver == "lbfgs" and not distance.smooth:
        with pytest.raises(ValueError, match="smooth"):
            model.fit(*flowers)
        return
    check_fit(model, *flowers, LEAST[distance])


@EACH
@pytest.mark.parametrize("rule", [LVQ1, OLVQ1, LVQ21])
def test_rules(flowers, distance, rule):
    model = rule(distance=clone(distance), prototypes_per_class=2, random_state=0)
    check_fit(model, *flowers, 0.85)


@EACH
@pytest.mark.parametrize(
    ("margin", "loss"),
    [
        ("difference", "logistic"),
        ("relative", "sigmoid"),
        ("relative", "identity"),
        ("log_odds", "logistic"),
        ("hypothesis", "hinge"),
        ("hypothesis", "exponential"),
    ],
)
def test_margins_and_losses(flowers, distance, margin, loss):
    model = PrototypeClassifier(
        distance=clone(distance), margin=margin, loss=loss, random_state=0, max_iter=50
    )
    if margin == "hypothesis" and distance.squared is None:
        with pytest.raises(ValueError, match="hypothesis margin needs a distance"):
            model.fit(*flowers)
        return
    check_fit(model, *flowers, 0.85)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.parametrize("distance", [d for d in LEAST if d.smooth], ids=repr)
def test_weight_two_is_the_row_twice(flowers, distance):
    """With a batch solver; a given share, since Ledoit and Wolf's depends on the number of rows."""
    X, y = flowers
    if isinstance(distance, Mahalanobis):
        distance = Mahalanobis(0.1)
    weight = np.random.RandomState(0).randint(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    settings = {"solver": "lbfgs", "init": "means", "max_iter": 4}
    weighted = PrototypeClassifier(distance=clone(distance), **settings).fit(X, y, weight)
    repeated = PrototypeClassifier(distance=clone(distance), **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.rule_.codebook.metric, repeated.rule_.codebook.metric, rtol=1e-9
    )
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-9)
    np.testing.assert_allclose(weighted.prototypes_, repeated.prototypes_, rtol=1e-3)


@EACH
def test_streams(flowers, distance):
    """The first part has one row; the second one class; then all come."""
    X, y = flowers
    order = np.random.RandomState(0).permutation(len(y))
    first = np.flatnonzero(y == 1)
    model = PrototypeClassifier(distance=clone(distance), random_state=0)
    model.partial_fit(X[first[:1]], y[first[:1]], classes=np.unique(y))
    assert np.isfinite(model.prototypes_).all()
    model.partial_fit(X[first], y[first])
    for _ in range(3):
        for part in np.array_split(order, 10):
            model.partial_fit(X[part], y[part])
            assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.loss_curve_[-1])
    assert model.score(X, y) > 0.6

    begun = PrototypeClassifier(distance=clone(distance), random_state=0)
    for _ in range(3):
        begun.partial_fit(X[order], y[order], classes=np.unique(y))
    assert begun.score(X, y) > 0.85


@EACH
def test_single_precision(flowers, distance):
    X, y = flowers
    model = PrototypeClassifier(distance=clone(distance), random_state=0).fit(X, y)
    single = X.astype(np.float32)
    expected = model.distances(single.astype(float))
    atol = 1e-4 * expected.max() if distance.squared else 1e-12
    np.testing.assert_allclose(model.distances(single), expected, rtol=1e-4, atol=atol)
    assert (model.predict(single) == model.predict(X)).mean() > 0.99


@EACH
def test_automatic_number_of_prototypes(flowers, distance):
    model = PrototypeClassifier(
        distance=clone(distance), prototypes_per_class="auto", random_state=0, max_iter=20
    )
    check_fit(model, *flowers, 0.85)


def test_short_names():
    kinds = {
        "minkowski": Minkowski,
        "mahalanobis": Mahalanobis,
        "kernel": Kernel,
        "kl": KullbackLeibler,
        "cauchy_schwarz": CauchySchwarz,
        "renyi": Renyi,
    }
    for name, kind in kinds.items():
        assert DISTANCES[name] is kind
