"""The committee machine against a literal rule of least action, and what a majority can learn."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from given_profile import in_all
from protolearn.perceptrons.committee import CommitteeMachine
from protolearn.perceptrons.examples import Best, Examples, Inputs
from protolearn.perceptrons.hidden_units import (
    committee_scores,
    least_action,
    random_weights,
    sweep,
)
from protolearn.perceptrons.presentation import comparison_point, row_order
from protolearn.perceptrons.rosenblatt import Rosenblatt
from protolearn.perceptrons.training_record import Training
from protolearn.separability import samples_in_the_way

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


def make_committee_teacher(n, d, n_units, seed):
    """Random rows, labelled by the majority of random perceptrons."""
    rng = np.random.RandomState(seed)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(n_units, d))
    return X, (np.sign(X @ W.T).sum(axis=1) > 0).astype(int)


def errors_of(W, rows, signs):
    """How many rows the majority has wrong; a field of zero is wrong for either class."""
    wrong = signs[:, None] * (rows @ W.T) <= 0
    return int((wrong.sum(axis=1) > len(W) / 2).sum())


# The rule ----------------------------------------------------------------------------------------


def literal_sweep(rows, signs, order, share, W):
    """If most units are wrong: of these the one with the smallest |field| learns the example."""
    W, mistakes = W.copy(), 0
    for i in order:
        fields = W @ rows[i]
        wrong = np.flatnonzero(signs[i] * fields <= 0)
        if len(wrong) > len(W) / 2:
            k = wrong[np.abs(fields[wrong]).argmin()]
            W[k] += share * signs[i] * rows[i]
            mistakes += 1
    return W, mistakes


@given(
    arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.integers(-3, 3)),
    st.sampled_from([1, 3, 5]),
    st.integers(0, 1000),
)
def test_a_sweep_is_the_rule_of_least_action(rows, n_units, seed):
    rng = np.random.RandomState(seed)
    rows = rows.astype(float)  # integers and powers of two: every sum is exact
    signs, order = rng.choice([-1.0, 1.0], len(rows)), rng.permutation(len(rows))
    W = rng.randint(-2, 3, size=(n_units, rows.shape[1])) / 4.0
    expected, count = literal_sweep(rows, signs, order, 0.25, W)
    assert sweep(rows, signs, order, 0.25, W) == count
    np.testing.assert_array_equal(W, expected)


@pytest.mark.parametrize("fit_intercept", ["clamped", False])
def test_a_committee_of_one_is_rosenblatts_perceptron(rng, fit_intercept):
    X = rng.normal(size=(40, 5))
    y = np.where(X @ rng.normal(size=5) > 0, 1.0, -1.0)
    model = Rosenblatt(order="cyclic", fit_intercept=fit_intercept).fit(X, y)
    examples = Examples(Inputs.of(X, fit_intercept), y, "")
    start = np.zeros((1, examples.inputs.rows.shape[1]))
    committee = least_action(examples, start, row_order(40), Training("", 1000))
    assert committee.converged
    assert (committee.n_updates, committee.n_iter) == (model.n_updates_, model.n_iter_)
    np.testing.assert_allclose(committee.weights[0, :5], model.coef_[0], rtol=1e-10)
    assert model.n_updates_ > 5


@pytest.mark.parametrize("seed", range(4))
def test_the_best_weights_that_were_looked_at_are_kept(seed):
    rng = np.random.RandomState(seed)
    X, signs = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], 60)
    inputs = Inputs.of(X, "clamped")
    W = random_weights(inputs, 3, rng)
    orders = [rng.permutation(60) for _ in range(30)]
    examples = Examples(inputs, signs, "noise")
    committee = least_action(examples, W, iter(orders), Training("", 30))
    seen, updates = [errors_of(W, inputs.rows, signs)], 0
    for n_iter, order in enumerate(orders, 1):
        cut = comparison_point(n_iter, 60)
        for part in (order[:cut], order[cut:]):
            W, mistakes = literal_sweep(inputs.rows, signs, part, 1.0 / inputs.size, W)
            updates += mistakes
            seen.append(errors_of(W, inputs.rows, signs))
    assert not committee.converged
    assert (committee.n_updates, committee.n_iter) == (updates, 30)
    assert errors_of(committee.weights, inputs.rows, signs) == min(seen) < seen[0]


def test_of_equally_few_errors_the_most_stable_are_kept():
    inputs = Inputs.of(np.array([[3.0, 4.0], [0.0, 1.0]]), "clamped")
    examples = Examples(inputs, np.array([1.0, -1.0]), "")
    best = Best(examples.signs, False)
    offers = [[1, -1, 0], [4, -4, 0], [1, -1, 0.5], [1, 0, 1], [1, 0, 5], [2, 0, 3]]
    ratings = []
    for offer in offers:
        weights = np.array([[*offer, 0, 0, 0, 0, 0]], dtype=float)
        best.offer(committee_scores(examples, weights), 1.0, weights)
        ratings.append((best.errors, -best.stability))
    assert [errors for errors, _ in ratings] == [1, 1, 1, 0, 0, 0]
    # The least y (w.x - theta) / |w|, the length without the threshold.
    root = np.sqrt(2.0)
    expected = [-1 / root, -1 / root, -1 / root, 1.0, 1.0, 1.5]
    np.testing.assert_allclose([-least for _, least in ratings], expected)
    np.testing.assert_array_equal(best.strengths[0, :3], [2, 0, 3])


def test_the_start_is_about_one_update_long(rng):
    inputs = Inputs.of(1e3 * rng.normal(size=(50, 200)), False)
    W = random_weights(inputs, 5, rng)
    update = np.sqrt((inputs.rows**2).sum(axis=1).mean()) / inputs.size
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), update, rtol=0.2)


# What it can learn -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_units", [3, 5])
def test_a_committee_learns_the_exclusive_or(n_units):
    assert len(samples_in_the_way(CORNERS, 2.0 * XOR - 1.0)) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(10):
            model = CommitteeMachine(n_units=n_units, random_state=seed)
            assert model.fit(CORNERS, XOR).score(CORNERS, XOR) == 1.0


def test_one_unit_does_not_learn_the_exclusive_or():
    with pytest.warns(ConvergenceWarning, match="the two classes after 100 sweeps.* Raise n_units"):
        model = CommitteeMachine(n_units=1, max_iter=100, random_state=0).fit(CORNERS, XOR)
    assert model.score(CORNERS, XOR) in (0.5, 0.75)
    assert model.n_iter_ == 100


@pytest.mark.parametrize("seed", range(5))
def test_a_committee_of_three_learns_what_such_a_committee_says(seed):
    X, y = make_committee_teacher(150, 20, 3, seed + 100)
    assert len(samples_in_the_way(X, 2.0 * y - 1.0)) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CommitteeMachine(fit_intercept=False, random_state=seed).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.n_iter_ < 1000


def test_it_generalises():
    X, y = make_committee_teacher(4000, 10, 3, 7)
    model = CommitteeMachine(n_units=5, fit_intercept=False, random_state=0, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > 0.93


def test_more_than_two_classes(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CommitteeMachine(random_state=0).fit(X, names)
    assert model.hidden_coef_.shape == (3, 3, 4)
    assert model.hidden_intercept_.shape == (3, 3)
    assert model.decision_function(X).shape == (150, 3)
    assert model.votes(X).shape == (150, 3, 3)
    assert model.score(X, names) > 0.97


def test_warnings_name_the_class_and_the_line_that_fits(iris):
    with pytest.warns(ConvergenceWarning) as caught:
        CommitteeMachine(n_units=1, max_iter=2, random_state=0).fit(*iris)
    assert any("class 1 from the rest" in str(each.message) for each in caught)
    assert {each.filename for each in caught} == {__file__}


# Scores ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committees():
    """Committees with and without thresholds."""
    X, y = make_committee_teacher(80, 4, 3, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            CommitteeMachine(n_units=k, fit_intercept=kind, max_iter=50, random_state=1).fit(X, y)
            for k in (1, 3, 5)
            for kind in ("clamped", False)
        ]


points = arrays(np.float64, (2, 4), elements=st.floats(-5, 5))


@given(points, st.integers(0, 5))
def test_the_score_is_the_median_distance_and_its_sign_the_majority(committees, rows, which):
    model = committees[which]
    W, b = model.hidden_coef_[0], model.hidden_intercept_[0]
    distances = [(w @ rows.T + c) / np.linalg.norm(w) for w, c in zip(W, b, strict=True)]
    scores = model.decision_function(rows)
    np.testing.assert_allclose(scores, np.median(distances, axis=0), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(scores > 0, model.votes(rows).sum(axis=1) > 0)
    np.testing.assert_array_equal(model.predict(rows), (scores > 0).astype(int))


@given(points, st.integers(0, 5))
def test_the_score_changes_no_faster_than_the_row_moves(committees, rows, which):
    first, second = committees[which].decision_function(rows)
    assert abs(first - second) <= np.linalg.norm(rows[0] - rows[1]) + 1e-12


def test_without_thresholds_opposite_rows_have_opposite_scores(committees, rng):
    X = rng.normal(size=(50, 4))
    for model in committees[1::2]:
        assert not model.hidden_intercept_.any()
        np.testing.assert_allclose(model.decision_function(-X), -model.decision_function(X))


# The estimator -----------------------------------------------------------------------------------


@parametrize_with_checks(
    in_all(
        CommitteeMachine(n_units=5, order="cyclic", max_iter=50),
        thorough=[CommitteeMachine(max_iter=100)],
    )
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def test_it_is_not_taken_for_a_linear_classifier():
    model = CommitteeMachine(random_state=0).fit(CORNERS, XOR)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")


def test_seeds_repeat():
    X, y = make_committee_teacher(60, 5, 3, 1)
    first = CommitteeMachine(random_state=3).fit(X, y)
    again = clone(first).fit(X, y)
    other = CommitteeMachine(random_state=4).fit(X, y)
    np.testing.assert_array_equal(first.hidden_coef_, again.hidden_coef_)
    np.testing.assert_array_equal(first.hidden_intercept_, again.hidden_intercept_)
    assert (first.n_updates_, first.n_iter_) == (again.n_updates_, again.n_iter_)
    assert not np.array_equal(first.hidden_coef_, other.hidden_coef_)
    loaded = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(loaded.decision_function(X), first.decision_function(X))


def test_verbose_prints(capsys):
    CommitteeMachine(random_state=0).fit(CORNERS, XOR)
    assert capsys.readouterr().out == ""
    CommitteeMachine(random_state=0, verbose=1).fit(CORNERS, XOR)
    assert capsys.readouterr().out.splitlines()[-1].endswith(": 0 mistakes")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_units": 4}, "n_units=4 of CommitteeMachine must be odd.* take 5"),
        ({"n_units": 0}, "n_units=0 of CommitteeMachine must be an integer of at least 1"),
        ({"n_units": -3}, "n_units=-3"),
        ({"n_units": 3.0}, "n_units=3.0 of CommitteeMachine must be an integer"),
        ({"fit_intercept": "free"}, "fit_intercept='free' of CommitteeMachine must be 'clamped'"),
        ({"fit_intercept": "no"}, "fit_intercept='no' of CommitteeMachine must be 'clamped'"),
        ({"order": "randm"}, "Did you mean 'random'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"verbose": "yes"}, "verbose='yes'"),
    ],
)
def test_wrong_parameters_are_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        CommitteeMachine(**parameters).fit(CORNERS, XOR)
