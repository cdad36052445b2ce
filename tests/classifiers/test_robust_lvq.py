"""LVQ that is trained to be robust, against GLVQ, and what its parameters do."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn import GLVQ, PrototypeClassifier, RobustLVQ, certified_accuracy, load, save
from protolearn.checks import expected_failed_checks
from protolearn.distances import Minkowski
from protolearn.losses import Hinge
from protolearn.margins import Radius
from protolearn.native import MARGIN, native
from protolearn.solvers import LBFGS, SGD, Adam, Momentum

NORMS = [1, 2, np.inf]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@parametrize_with_checks(
    in_all(
        RobustLVQ(),
        thorough=[
            RobustLVQ(norm=np.inf, prototypes_per_class=2),
            # Each step moves one feature of a prototype alone.
            RobustLVQ(norm=np.inf, distance="minkowski", prototypes_per_class=2, max_iter=100),
        ],
    ),
    expected_failed_checks=expected_failed_checks,
)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("norm", NORMS)
def test_more_is_certified_than_of_glvq(wine, norm):
    X, y = wine
    radius = {1: 1.2, 2: 0.8, np.inf: 0.3}[norm]
    robust = RobustLVQ(norm=norm, radius=1.5 * radius, random_state=0)
    both = [
        certified_accuracy(m.fit(X, y), X, y, radius=radius, norm=norm).bound
        for m in (robust, GLVQ(random_state=0))
    ]
    assert both[0] > both[1]
    assert robust.score(X, y) > 0.95


def test_prototypes_of_the_maximum_norm_gain_as_well(wine):
    """The same bound, (D- - D+) / 2, of the same distance trained by GLVQ."""
    X, y = wine
    options = {"prototypes_per_class": 2, "random_state": 0}
    robust = RobustLVQ(norm=np.inf, radius=0.3, distance="minkowski", **options)
    plain = PrototypeClassifier(distance=Minkowski(np.inf), **options)
    both = [
        certified_accuracy(m.fit(X, y), X, y, radius=0.2, norm=np.inf).bound
        for m in (robust, plain)
    ]
    assert both[0] > both[1]


def test_the_preset_is_the_combination(wine):
    X, y = wine
    options = {"prototypes_per_class": 2, "max_iter": 5, "random_state": 0}
    preset = RobustLVQ(radius=1.0, solver=Momentum(), **options).fit(X, y)
    slope = preset.slope_factor_
    parts = PrototypeClassifier(
        margin=Radius(),
        loss=Hinge(slope),
        scale=preset.scale_,
        solver=Momentum(learning_rate=0.1 / slope),
        **options,
    ).fit(X, y)
    np.testing.assert_allclose(parts.prototypes_, preset.prototypes_, rtol=1e-9, atol=1e-12)
    assert preset.radius_ == pytest.approx(1.0)


def test_the_radius_has_the_units_of_the_data(wine):
    X, y = wine
    for norm in NORMS:
        small, large = (
            RobustLVQ(norm=norm, random_state=0).fit(times * X, y) for times in (1.0, 1000.0)
        )
        assert large.radius_ == pytest.approx(1000.0 * small.radius_, rel=1e-9)
        np.testing.assert_allclose(large.prototypes_, 1000.0 * small.prototypes_, rtol=1e-6)
    assert RobustLVQ(radius=0.7, random_state=0).fit(X, y).radius_ == pytest.approx(0.7)


@pytest.mark.parametrize("solver", [SGD(), Momentum(), Adam(), LBFGS(), "sgd", "auto"])
def test_solvers(wine, solver):
    X, y = wine
    if isinstance(solver, LBFGS):
        with pytest.raises(ValueError, match="needs smooth axes"):
            RobustLVQ(solver=solver).fit(X, y)
        return
    model = RobustLVQ(prototypes_per_class=2, solver=solver, random_state=0, max_iter=20).fit(X, y)
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_sgd_is_a_batch_of_one(wine):
    X, y = wine
    options = {"prototypes_per_class": 2, "max_iter": 2, "random_state": 0, "radius": 1.0}
    one = RobustLVQ(solver=SGD(), **options).fit(X, y)
    other = RobustLVQ(solver=Momentum(0.05, momentum=0.0, batch_size=1), **options).fit(X, y)
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    with pytest.raises(ValueError, match="have no form for margins of pairs"):
        RobustLVQ(solver="sgd", history="step").fit(X, y)


def test_a_smooth_loss_and_a_learned_metric_take_lbfgs(wine):
    X, y = wine
    for distance in ("sqeuclidean", "relevance", "matrix"):
        model = PrototypeClassifier(
            distance=distance, margin=Radius(), loss="logistic", solver="lbfgs", max_iter=60
        )
        model.fit(X, y)
        assert model.loss_curve_[-1] < model.loss_curve_[0]
        assert model.score(X, y) > 0.95


@pytest.mark.parametrize("norm", NORMS)
def test_rows_in_single_precision(wine, norm):
    """They are the same numbers in double precision, and so are the prototypes but for rounding."""
    X, y = wine[0].astype(np.float32), wine[1]
    options = {"norm": norm, "prototypes_per_class": 2, "max_iter": 5, "random_state": 0}
    for others in ({"init": "random"}, {"early_stopping": True}, {"solver": "momentum"}):
        single = RobustLVQ(**options, **others).fit(X, y)
        double = RobustLVQ(**options, **others).fit(X.astype(np.float64), y)
        np.testing.assert_allclose(single.prototypes_, double.prototypes_, rtol=1e-4, atol=1e-5)
        assert single.prototypes_.dtype == np.float64
        assert (single.prototypes_ != double.prototypes_).any()
    X[0, 0] = np.nan
    np.testing.assert_array_equal(
        RobustLVQ(**options).fit(X, y).prototypes_,
        RobustLVQ(**options).fit(X.astype(np.float64), y).prototypes_,
    )
    far = (1e30 * wine[0]).astype(np.float32)  # its squares overflow
    assert RobustLVQ(**options).fit(far, y).score(far, y) > 0.9


def test_a_margin_of_ones_own_takes_the_general_way(wine):
    class Plane(Radius):
        @native(MARGIN)
        def margin(d, same, theta, g):
            """Return the same as the parent."""
            gap, length = d[1] - d[0], 2.0 * d[2]
            g[0], g[1], g[2] = -1.0 / length, 1.0 / length, -2.0 * (gap / length) / length
            return gap / length

    X, y = wine
    options = {"prototypes_per_class": 3, "solver": "momentum", "max_iter": 3, "random_state": 0}
    for rows in (X, X.astype(np.float32)):
        own, ours = (
            PrototypeClassifier(margin=margin, loss=Hinge(2.0), **options).fit(rows, y)
            for margin in (Plane(), Radius())
        )
        np.testing.assert_allclose(own.prototypes_, ours.prototypes_, rtol=1e-7)


def test_augmentation(wine):
    X, y = wine
    seen = []

    def jitter(rows, rng):
        seen.append(len(rows))
        rows += 0.1 * rng.standard_normal(rows.shape)
        return rows

    before = X.copy()
    for solver in ("adam", "sgd"):
        for distance in ("sqeuclidean", "minkowski"):
            model = RobustLVQ(
                augment=jitter, solver=solver, distance=distance, max_iter=3, random_state=0
            )
            plain = clone(model).set_params(augment=None).fit(X, y)
            again = clone(model).fit(X, y)
            model.fit(X, y)
            np.testing.assert_array_equal(model.prototypes_, again.prototypes_)
            assert (model.prototypes_ != plain.prototypes_).any()
    assert sum(seen) == 2 * 4 * 3 * len(X)
    np.testing.assert_array_equal(X, before)
    with pytest.raises(ValueError, match="must return as many finite rows"):
        RobustLVQ(augment=lambda rows, rng: rows[:-1]).fit(X, y)
    with pytest.raises(ValueError, match="must be a function"):
        RobustLVQ(augment="shift").fit(X, y)
    solver = Adam()
    RobustLVQ(augment=jitter, solver=solver, max_iter=1).fit(X, y)
    assert solver.augment is None


def test_an_interrupted_fit_goes_on(wine, tmp_path):
    X, y = wine

    class Interruption(Exception):
        pass

    def stop(state):
        if state.iteration == 3:
            raise Interruption

    options = {"prototypes_per_class": 3, "max_iter": 6, "random_state": 0}
    whole = RobustLVQ(**options).fit(X, y)
    path = tmp_path / "fit.journal"
    with pytest.raises(Interruption):
        RobustLVQ(**options, checkpoint=path, callback=stop).fit(X, y)
    resumed = RobustLVQ(**options, checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(resumed.prototypes_, whole.prototypes_)


def test_a_model_file_has_the_certificates(wine, tmp_path):
    X, y = wine
    model = RobustLVQ(norm=np.inf, radius=0.3, random_state=0).fit(X, y)
    save(model, tmp_path / "m.protolearn")
    again = load(tmp_path / "m.protolearn")
    assert again.norm == np.inf
    found = [certified_accuracy(m, X, y, radius=0.2, norm=np.inf) for m in (model, again)]
    np.testing.assert_array_equal(found[0].certified, found[1].certified)


def test_support_weights_and_streams(wine):
    X, y = wine
    model = RobustLVQ(random_state=0).fit(X, y)
    weights = model.support_weights(X, y)
    assert weights.shape == (len(X), 3)
    np.testing.assert_allclose(weights.sum(axis=0)[weights.any(axis=0)], 1.0)
    stream = RobustLVQ(radius=1.0, random_state=0)
    for part in np.array_split(np.random.RandomState(0).permutation(len(X)), 4):
        stream.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert stream.score(X, y) > 0.9


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    for options, message in (
        ({"norm": 3}, "norm=3 must be 1, 2 or numpy.inf"),
        ({"radius": -1.0}, "radius"),
        ({"radius": "large"}, "radius"),
        ({"distance": "matrix"}, "distance='matrix'"),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLVQ(**options).fit(X, y)
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.1, np.nan, X)
    model = RobustLVQ(random_state=0).fit(holes, y)
    assert model.score(holes, y) > 0.9
    with pytest.raises(ValueError, match="missing values"):
        certified_accuracy(model, holes, y, radius=0.1)
    with pytest.raises(ValueError, match="Impute missing values"):
        PrototypeClassifier(margin="radius", distance="relevance").fit(holes, y)
    with pytest.raises(ValueError, match="flat boundaries"):
        PrototypeClassifier(margin="radius", distance="local_matrix").fit(X, y)
    with pytest.raises(ValueError, match="flat boundaries"):
        PrototypeClassifier(margin="radius", distance="minkowski").set_params(margin=Radius(1)).fit(
            X, y
        )
