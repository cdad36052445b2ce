"""The parity machine: it learns any labels, unit by unit, and the grandmother unit is exact."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn.perceptrons.hidden_units import (
    Grandmother,
    SphereFrame,
    product_scores,
    unit_states,
)
from protolearn.perceptrons.parity import ParityMachine
from protolearn.perceptrons.pocket import Pocket
from protolearn.perceptrons.rosenblatt import Rosenblatt


class Nothing(ClassifierMixin, BaseEstimator):
    """A unit that learns nothing: it is always positive."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.ones(len(X))


class Line:
    """A linear unit."""

    def __init__(self, coef, intercept):
        self.coef_, self.intercept_ = np.array([coef]), np.array([intercept])


LEARNERS = {
    "nothing": Nothing(),
    "pocket": Pocket(max_iter=10),
    "rosenblatt": Rosenblatt(max_iter=10),
    "perceptron": SklearnPerceptron(),
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "svc": SVC(gamma=0.5),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


def fit_exactly(model, X, y):
    """Fit without a warning; there is no error, and there are fewer with every unit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    for units, curve in zip(model.units_, model.training_errors_, strict=True):
        assert len(units) == len(curve)
        assert curve[-1] == 0
        assert (np.diff(curve) < 0).all()
    return model


# The grandmother unit ----------------------------------------------------------------------------


def on_the_sphere(x, frame):
    """Give s = (2 x, |x|^2 - 1) / (|x|^2 + 1) of a centred and scaled row, in exact fractions."""
    size, pairs = Fraction(frame.size), zip(x, frame.center, strict=True)
    z = [(Fraction(v) - Fraction(c)) / size for v, c in pairs]
    square = sum(v * v for v in z)
    return [2 * v / (square + 1) for v in z] + [(square - 1) / (square + 1)]


def literal_field(x, rows, p, frame):
    """w.s - theta with w = -s_p and theta = delta - 1: half of the largest possible delta."""
    product = lambda a, b: sum(u * v for u, v in zip(a, b, strict=True))  # noqa: E731
    own = on_the_sphere(rows[p], frame)
    others = [on_the_sphere(row, frame) for row in rows if (row != rows[p]).any()]
    delta = min(1 - product(own, other) for other in others) / 2
    square = (1 + own[-1]) / (1 - own[-1])  # |x_p|^2, from the last coordinate
    delta = min(delta, 1 / (1 + square))  # a = delta (1 + |x_p|^2) / 2 is at most a half
    return product([-v for v in own], on_the_sphere(x, frame)) - (delta - 1)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_ball_is_the_cap_on_the_sphere(d, seed):
    rng = np.random.RandomState(seed)
    rows = rng.normal(size=(6, d)) * 10.0 + 3.0
    frame = SphereFrame.of(rows)
    p = rng.randint(6)
    unit = Grandmother.isolate(rows, p, frame)
    near = unit.example + unit.shift + 1.5 * unit.radius * rng.uniform(-1, 1, size=(40, d))
    for x in np.vstack([rows, near]):
        expected = literal_field(x, rows, p, frame)
        assert (unit.decision_function(x[None])[0] > 0) == (expected > 0)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_surface_of_the_ball_is_the_border_of_the_cap(d, rng):
    rows = rng.normal(size=(6, d))
    frame = SphereFrame.of(rows)
    for p in range(6):
        unit = Grandmother.isolate(rows, p, frame)
        direction = rng.normal(size=d)
        x = unit.example + unit.shift + unit.radius * direction / np.linalg.norm(direction)
        assert abs(float(literal_field(x, rows, p, frame))) < 1e-14
        assert unit.decision_function(x[None])[0] == pytest.approx(0.0, abs=1e-14)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 8), st.integers(1, 3)),
        elements=st.floats(-1e3, 1e3),
    )
)
def test_it_tells_one_row_from_all_others_however_near_they_are(rows):
    assume(np.ptp(rows, axis=0).max() > 1e-150)
    frame = SphereFrame.of(rows)
    for p, row in enumerate(rows):
        equal = (rows == row).all(axis=1)
        field = Grandmother.isolate(rows, p, frame).decision_function(rows)
        np.testing.assert_array_equal(field <= 0, equal)


@pytest.mark.parametrize("p", [0, 1])
def test_neighbours_whose_squared_distance_is_hardly_a_number(p):
    for distance in np.geomspace(1e-163, 1e-160, 300):
        rows = np.array([[0.3, 0.0], [0.3, distance], [-1.0, 0.1], [1.0, -0.1]])
        unit = Grandmother.isolate(rows, p, SphereFrame.of(rows))
        np.testing.assert_array_equal(unit_states(unit, rows), np.where(np.arange(4) == p, -1, 1))


def test_neighbours_whose_squared_distance_vanishes():
    rows = np.array([[0.0, 1.0], [1e-200, 1.0], [5e-324, 1.0], [1.0, 0.0]])
    for p in range(4):
        unit = Grandmother.isolate(rows, p, SphereFrame.of(rows))
        np.testing.assert_array_equal(unit_states(unit, rows), np.where(np.arange(4) == p, -1, 1))


# Any labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("seed", range(3))
def test_any_labels_of_fifty_points_are_learned(d, seed):
    rng = np.random.RandomState(seed)
    X, y = rng.normal(size=(50, d)), rng.randint(2, size=50)
    model = fit_exactly(ParityMachine(random_state=seed), X, y)
    assert model.n_units_[0] <= 25


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("d", [1, 10])
def test_any_learner_will_do(name, d, rng):
    X, y = rng.normal(size=(50, d)), rng.randint(2, size=50)
    fit_exactly(ParityMachine(LEARNERS[name], random_state=0), X, y)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_grandmother_units_alone_correct_one_error_each(d, rng):
    X, y = rng.normal(size=(50, d)), rng.randint(2, size=50)
    model = fit_exactly(ParityMachine(Nothing()), X, y)
    wrong = np.count_nonzero(y == 0)  # the machine without units is positive
    np.testing.assert_array_equal(model.training_errors_[0], np.arange(wrong)[::-1])
    assert all(isinstance(unit, Grandmother) for unit in model.units_[0])


@given(st.data())
def test_any_labels_of_a_grid_are_learned(data):
    side = data.draw(st.integers(2, 4))
    X = np.array(list(np.ndindex(side, side)), dtype=float)
    y = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 2)))
    assume(len(np.unique(y)) > 1)
    name = data.draw(st.sampled_from(["nothing", "pocket", "perceptron"]))
    model = fit_exactly(ParityMachine(LEARNERS[name], random_state=0), X, y)
    one_by_one = [model.predict(x[None])[0] for x in X]  # many rows lie on a border
    np.testing.assert_array_equal(one_by_one, y)


@pytest.mark.parametrize(
    ("scale", "offset"), [(1e6, 1e6), (1e-6, 0.0), (1e-6, 1.0), (1e120, 0.0), (1e-120, 0.0)]
)
@pytest.mark.parametrize("estimator", [Nothing(), None], ids=["nothing", "default"])
def test_any_units_of_the_data(scale, offset, estimator, rng):
    X, y = rng.normal(size=(40, 3)) * scale + offset, rng.randint(2, size=40)
    fit_exactly(ParityMachine(estimator, random_state=0), X, y)


def test_scores_have_the_units_of_the_data(rng):
    X, y = rng.normal(size=(30, 2)), rng.randint(2, size=30)
    scores = ParityMachine(Nothing()).fit(X, y).decision_function(X)
    wide = ParityMachine(Nothing()).fit(1024.0 * X, y).decision_function(1024.0 * X)
    np.testing.assert_allclose(wide, 1024.0 * scores, rtol=1e-12)


def test_more_than_two_classes(rng):
    X, y = rng.normal(size=(60, 2)), np.array(["a", "b", "c"])[rng.randint(3, size=60)]
    model = fit_exactly(ParityMachine(random_state=0), X, y)
    assert model.decision_function(X).shape == (60, 3)
    assert len(model.units_) == len(model.training_errors_) == 3
    np.testing.assert_array_equal(model.n_units_, [len(units) for units in model.units_])


def test_equal_rows_with_equal_labels(rng):
    X, y = rng.normal(size=(20, 2)), rng.randint(2, size=20)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    X[0, 0] = 0.0
    X[1] = X[2] = X[0]
    X[1, 0] = -0.0  # which is the same place
    for estimator in (None, Nothing()):
        fit_exactly(ParityMachine(estimator, random_state=0), X, y)


class Never(Nothing):
    """A unit that must not be trained."""

    def fit(self, X, y):
        raise AssertionError("trained")


def test_equal_rows_with_different_labels_are_reported(rng):
    X, y = rng.normal(size=(50, 2)), np.array(["no", "yes"])[np.arange(50) % 2]
    X[13], X[40] = X[2], X[4]  # the second pair has equal labels
    with pytest.raises(ValueError, match=r"different labels.*: rows 2 and 13 \(no, yes\)\. Remove"):
        ParityMachine(Never()).fit(X, y)
    X[10:] = 0.0
    with pytest.raises(ValueError, match=r"rows 10 and 11 .*, rows 10 and 15 .* and 17 more"):
        ParityMachine(Never()).fit(X, y)


# Growth ------------------------------------------------------------------------------------------


def test_the_errors_are_those_of_the_machine_so_far(rng):
    X, y = rng.normal(size=(60, 3)), rng.randint(2, size=60)
    model = ParityMachine(Pocket(max_iter=5), random_state=0).fit(X, y)
    kinds = {type(unit) for unit in model.units_[0]}
    assert kinds == {Pocket, Grandmother}
    for m, errors in enumerate(model.training_errors_[0], 1):
        signs = np.prod(
            [np.where(u.decision_function(X) > 0, 1, -1) for u in model.units_[0][:m]], axis=0
        )
        assert np.count_nonzero((signs > 0) != (y == 1)) == errors


def test_each_unit_learns_where_the_others_are_wrong():
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append(y.copy())
            return super().fit(X, y)

    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 1, 1, 0, 0])
    model = ParityMachine(Spy(C=1e6)).fit(X, y)
    signs = np.where(y == 1, 1, -1)
    np.testing.assert_array_equal(seen[0], signs)
    output = np.ones(6)
    for target, unit in zip(seen, model.units_[0], strict=True):
        np.testing.assert_array_equal(target, output * signs)
        output *= unit_states(unit, X)
    np.testing.assert_array_equal(output, signs)


def test_max_units(rng):
    X, y = rng.normal(size=(50, 2)), rng.randint(2, size=50)
    full = ParityMachine(random_state=0).fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match="errors with the two classes after max_units=3"
    ) as w:
        model = ParityMachine(max_units=3, random_state=0).fit(X, y)
    assert w[0].filename == __file__
    np.testing.assert_array_equal(model.training_errors_[0], full.training_errors_[0][:3])
    assert (model.predict(X) != y).sum() == model.training_errors_[0][-1]
    fit_exactly(ParityMachine(max_units=int(full.n_units_[0]), random_state=0), X, y)


def test_early_stopping_keeps_fewer_units_and_generalises_better():
    better = []
    for seed in range(4):  # a linear rule, and noise in one label out of seven
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(1300, 10))
        y = (X[:, 0] > 0) ^ (rng.uniform(size=1300) < 0.15)
        full = ParityMachine(Pocket(max_iter=20), random_state=seed).fit(X[:300], y[:300])
        early = clone(full).set_params(early_stopping=True, validation_fraction=0.3)
        early.fit(X[:300], y[:300])
        assert early.n_units_[0] < full.n_units_[0]
        better.append(early.score(X[300:], y[300:]) - full.score(X[300:], y[300:]))
    assert np.mean(better) > 0.01


@pytest.mark.parametrize("patience", [1, 4])
def test_early_stopping_keeps_the_smallest_best_number(patience, rng):
    X, y = rng.normal(size=(120, 2)), rng.randint(3, size=120)
    model = ParityMachine(
        Pocket(max_iter=5),
        early_stopping=True,
        validation_fraction=0.25,
        n_iter_no_change=patience,
        random_state=0,
    ).fit(X, y)
    train, held = train_test_split(
        np.arange(120), test_size=0.25, stratify=y, random_state=np.random.RandomState(0)
    )
    for code, units in enumerate(model.units_):
        errors, held_errors = model.training_errors_[code], model.validation_errors_[code]
        assert len(errors) == len(held_errors)
        assert len(units) == model.n_units_[code] == held_errors.argmin() + 1
        assert len(errors) - len(units) == patience or errors[-1] == 0
        for rows, curve in ((train, errors), (held, held_errors)):
            wrong = (product_scores(units, X[rows]) > 0) != (y[rows] == code)
            assert wrong.sum() == curve[len(units) - 1]


def test_validation_errors_only_with_early_stopping(rng):
    X, y = rng.normal(size=(40, 2)), rng.randint(2, size=40)
    model = ParityMachine(Nothing(), early_stopping=True).fit(X, y)
    assert len(model.validation_errors_) == 1
    assert not hasattr(model.set_params(early_stopping=False).fit(X, y), "validation_errors_")


# Scores ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def machine():
    """Fit a machine of linear and grandmother units."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(40, 2)), rng.randint(2, size=40)
    return ParityMachine(Pocket(max_iter=5), random_state=0).fit(X, y)


points = arrays(np.float64, (2, 2), elements=st.floats(-4, 4))


@given(points)
def test_the_score_is_the_least_distance_with_the_sign_of_the_product(machine, rows):
    signs, distances = np.ones(2), []
    for unit in machine.units_[0]:
        value = unit.decision_function(rows)
        signs *= np.where(value > 0, 1, -1)
        length = np.linalg.norm(unit.coef_) if hasattr(unit, "coef_") else 1.0
        distances.append(np.abs(value) / length)
    nearest = np.min(distances, axis=0)
    assume((nearest > 1e-9).all())
    scores = machine.decision_function(rows)
    np.testing.assert_allclose(scores, signs * nearest, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(machine.predict(rows), (scores > 0).astype(int))


@given(points)
def test_the_score_changes_no_faster_than_the_row_moves(machine, rows):
    first, second = machine.decision_function(rows)
    assert abs(first - second) <= np.linalg.norm(rows[0] - rows[1]) + 1e-12


def test_a_unit_is_negative_on_its_border_and_the_sign_of_the_score_is_still_the_product():
    X = np.array([[0.0], [1.0], [2.0]])
    unit = Line([2.0], -2.0)
    np.testing.assert_array_equal(unit_states(unit, X), [-1, -1, 1])
    np.testing.assert_array_equal(np.sign(product_scores([unit], X)), [-1, -1, 1])
    np.testing.assert_array_equal(np.sign(product_scores([unit, unit], X)), [1, 1, 1])
    np.testing.assert_array_equal(np.abs(product_scores([unit, unit], X))[[0, 2]], [1.0, 1.0])
    assert 0.0 < product_scores([unit, unit], X)[1] < 1e-300


def test_rows_on_a_border_are_on_the_same_side_one_by_one(rng):
    for d in range(2, 20):
        X = rng.randint(-3, 4, size=(60, d)).astype(float)
        unit = Line(rng.randint(-3, 4, size=d) / 3.0 * 0.7, 0.0)  # many fields of rounding alone
        one_by_one = [unit_states(unit, x[None])[0] for x in X]
        np.testing.assert_array_equal(one_by_one, unit_states(unit, X))


def test_units_without_a_border():
    X = np.array([[0.0], [3.0]])
    yes, no, line = Line([0.0], 2.0), Line([0.0], 0.0), Line([1.0], -1.0)
    np.testing.assert_array_equal(product_scores([yes], X), [1.0, 1.0])
    np.testing.assert_array_equal(product_scores([yes, no], X), [-1.0, -1.0])
    np.testing.assert_array_equal(product_scores([line, no], X), [1.0, -2.0])


def test_a_learner_that_gives_no_numbers_is_an_error(rng):
    class Nan(Nothing):
        def decision_function(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match=r"decision_function of Nan\(\) is not a number"):
        ParityMachine(Nan()).fit(rng.normal(size=(6, 1)), [0, 1] * 3)


# The estimator -----------------------------------------------------------------------------------


@parametrize_with_checks(
    in_all(ParityMachine(RidgeClassifier()), thorough=[ParityMachine(Pocket(max_iter=5))])
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_it_is_not_taken_for_a_linear_classifier(machine):
    assert not hasattr(machine, "coef_")
    assert not hasattr(machine, "intercept_")


def test_seeds_repeat_and_units_get_their_own(rng):
    X, y = rng.normal(size=(60, 3)), rng.randint(2, size=60)
    first = ParityMachine(random_state=3).fit(X, y)
    again = clone(first).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
    np.testing.assert_array_equal(first.training_errors_[0], again.training_errors_[0])
    seeds = [unit.random_state for unit in first.units_[0] if isinstance(unit, Pocket)]
    assert len(set(seeds)) == len(seeds) > 1
    loaded = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(loaded.decision_function(X), first.decision_function(X))


def test_the_estimator_is_not_modified(rng):
    X, y = rng.normal(size=(40, 2)), rng.randint(2, size=40)
    estimator = make_pipeline(StandardScaler(), Pocket(max_iter=3))
    model = ParityMachine(estimator, random_state=0).fit(X, y)
    assert model.get_params()["estimator"] is estimator
    assert model.get_params(deep=True)["estimator__pocket__max_iter"] == 3
    assert estimator[-1].random_state is None
    assert not hasattr(estimator[-1], "coef_")
    assert isinstance(model.units_[0][0][-1].random_state, int)
    assert model.set_params(estimator__pocket__max_iter=7).estimator[-1].max_iter == 7
    assert ParityMachine().fit(X, y).estimator is None


def test_convergence_warnings_of_the_units_are_silent(rng):
    X, y = rng.normal(size=(40, 2)), rng.randint(2, size=40)
    with pytest.warns(ConvergenceWarning):
        Rosenblatt(max_iter=2).fit(X, y)
    fit_exactly(ParityMachine(Rosenblatt(max_iter=2)), X, y)


def test_verbose_prints(capsys, rng):
    X, y = rng.normal(size=(40, 2)), rng.randint(2, size=40)
    ParityMachine(Nothing()).fit(X, y)
    assert capsys.readouterr().out == ""
    ParityMachine(Nothing(), verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    wrong = np.count_nonzero(y == 0)
    assert lines[0] == f"the two classes, unit 1: Grandmother, {wrong - 1} errors"
    assert lines[-1] == f"the two classes, unit {wrong}: Grandmother, 0 errors"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": GaussianNB()}, r"estimator=GaussianNB\(\) of ParityMachine must be a class"),
        ({"estimator": Pocket}, "must be a classifier with a decision_function"),
        ({"estimator": "pocket"}, "estimator='pocket' of ParityMachine"),
        ({"max_units": 0}, "max_units=0 of ParityMachine must be an integer of at least 1"),
        ({"early_stopping": "yes"}, "early_stopping='yes'"),
        ({"validation_fraction": 0.0}, r"validation_fraction=0.0 .* in \(0, 1\)"),
        ({"validation_fraction": 1.0}, r"validation_fraction=1.0 .* in \(0, 1\)"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"verbose": -1}, "verbose=-1"),
        ({"early_stopping": True}, "cannot hold out 0.1 of the 6 rows"),
        ({"early_stopping": True, "validation_fraction": 0.7}, "no row of class 'c' to train with"),
    ],
)
def test_wrong_parameters_are_errors(parameters, message):
    X, y = np.arange(6.0)[:, None], list("aaabbb")
    if parameters.get("validation_fraction") == 0.7:
        X, y = np.arange(22.0)[:, None], list("a" * 10 + "b" * 10 + "cc")
    with pytest.raises(ValueError, match=message):
        ParityMachine(**parameters).fit(X, y)
