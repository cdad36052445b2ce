"""What votes are worth: Platt's sigmoid and shares by counting against plain oracles."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from given_transcription import platt
from protolearn.ensemble.calibration import CALIBRATIONS, fit_sigmoids
from protolearn.ensemble.voters import Voters

COUNTING = ["binning", "local"]


def sigmoid_of(scores, own):
    curve = np.empty((1, 2))
    fit_sigmoids(np.ascontiguousarray(scores)[None], np.ascontiguousarray(own)[None], curve)
    return curve[0]


def some_voters(name, rng, n=300, n_models=6, d=2, n_classes=3):
    """Random hyperplanes near random rows, calibrated on these rows, with their numbers."""
    X, codes = rng.normal(size=(n, d)), rng.randint(0, n_classes, n)
    X[:, 0] += codes
    exemplar = rng.choice(n, n_models, replace=False)
    weights = rng.normal(size=(n_models, d))
    intercepts = 0.3 - np.einsum("ij,ij->i", weights, X[exemplar])
    calibration = CALIBRATIONS[name]
    none = np.empty((n_models, calibration.width))
    label = codes[exemplar]
    voters = Voters(weights, intercepts, X[exemplar], label, calibration, none)
    return voters.calibrate(X, codes, n_classes), X, codes


def shares_by_counting(values, own, prior):
    """Give edges and shares: equally many rows a bin, at least 10, at most 64 bins."""
    order = np.argsort(values, kind="stable")
    values, own, m = values[order], own[order], len(values)
    bins = max(min(m // 10, 64), 1)
    ends = [k * m // bins for k in range(bins + 1)]
    edges = [(values[e - 1] + values[e]) / 2 for e in ends[1:-1]]
    parts = [own[a:b] for a, b in pairwise(ends)]
    return edges, [(part.sum() + prior) / (len(part) + 1) for part in parts]


def look_up(values, edges, shares):
    return np.array([shares[sum(edge < value for edge in edges)] for value in values])


# Platt -------------------------------------------------------------------------------------------


def test_platt_is_scikit_learns_sigmoid():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    svm = LinearSVC(C=1e-3).fit(X[:200], y[:200])
    calibrated = CalibratedClassifierCV(FrozenEstimator(svm), method="sigmoid").fit(X, y)
    scores = svm.decision_function(X)
    slope, offset = sigmoid_of(scores, y == 1)
    assert_allclose(expit(slope * scores + offset), calibrated.predict_proba(X)[:, 1], atol=1e-5)


@given(
    st.integers(2, 60),
    st.floats(-8, 8),
    st.floats(-3, 3),
    st.integers(0, 10**6),
)
def test_platt_minimises_the_cross_entropy_of_his_targets(n, exponent, separation, seed):
    rng = np.random.RandomState(seed)
    own = rng.random_sample(n) < 0.4
    own[:2] = True, False
    unit = 10.0**exponent
    scores = unit * (rng.normal(size=n) + separation * own)
    slope, offset = sigmoid_of(scores, own)
    targets = np.where(own, (own.sum() + 1) / (own.sum() + 2), 1 / ((~own).sum() + 2))
    residual = expit(slope * scores + offset) - targets
    assert abs(residual.sum()) < 1e-6 * n
    assert abs(residual @ scores / unit) < 1e-6 * n
    expected = platt(scores, own)
    assert_allclose([slope * unit, offset], [expected[0] * unit, expected[1]], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.3])
@pytest.mark.parametrize("n", [2, 100, 3 * 10**5])
def test_platt_knows_what_to_say_if_all_rows_look_alike(value, n):
    own = np.arange(n) < max(n // 3, 1)
    slope, offset = sigmoid_of(np.full(n, value), own)
    high, low = (own.sum() + 1) / (own.sum() + 2), 1 / ((~own).sum() + 2)
    mean = (own.sum() * high + (~own).sum() * low) / n
    assert_allclose(expit(slope * value + offset), mean, rtol=1e-5)


def test_platt_with_one_positive_among_many_is_sharp_but_finite():
    scores = np.append(np.linspace(-3.0, -1.0, 10**4), 1.0)
    slope, offset = sigmoid_of(scores, scores > 0)
    assert_allclose([slope, offset], platt(scores, scores > 0), rtol=1e-5)
    assert 0 < slope < 100
    assert expit(-slope + offset) < 1e-2 < expit(slope + offset)


def test_platt_has_no_units(rng):
    scores, own = rng.normal(size=80), rng.random_sample(80) < 0.5
    slope, offset = sigmoid_of(scores, own)
    for unit in (1e-12, 1e12):
        assert_allclose(sigmoid_of(unit * scores, own), [slope / unit, offset], rtol=1e-6)


# Counting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 300, 3000])
def test_binning_is_counting(rng, n):
    voters, X, codes = some_voters("binning", rng, n)
    votes = voters.votes(X, np.arange(len(voters)))
    for i in range(len(voters)):
        values = X @ voters.weights[i] + voters.intercepts[i]
        fires, own = values > 0, codes == voters.label[i]
        edges, shares = shares_by_counting(values[fires], own[fires], own.mean())
        assert n < 3000 or len(shares) == 64 or fires.sum() < 640
        assert_allclose(votes[i, fires], look_up(values[fires], edges, shares), rtol=1e-12)
        assert_array_equal(votes[i, ~fires], 0.0)


@pytest.mark.parametrize("n", [30, 300, 3000])
def test_local_adds_log_odds_of_decision_value_and_distance(rng, n):
    voters, X, codes = some_voters("local", rng, n)
    fresh = rng.normal(size=(40, X.shape[1])) * 2
    for rows in (X, fresh):
        votes = voters.votes(rows, np.arange(len(voters)))
        for i in range(len(voters)):
            values = X @ voters.weights[i] + voters.intercepts[i]
            fires, own = values > 0, codes == voters.label[i]
            distances = ((X - voters.exemplars[i]) ** 2).sum(axis=1)
            prior = own.mean()
            by_value = shares_by_counting(values[fires], own[fires], prior)
            by_distance = shares_by_counting(distances[fires], own[fires], prior)
            everywhere = (own[fires].sum() + prior) / (fires.sum() + 1)
            new = rows @ voters.weights[i] + voters.intercepts[i]
            away = ((rows - voters.exemplars[i]) ** 2).sum(axis=1)
            odds = logit(look_up(new, *by_value)) + logit(look_up(away, *by_distance))
            expected = np.where(new > 0, expit(odds - logit(everywhere)), 0.0)
            assert_allclose(votes[i], expected, rtol=1e-9)


def test_votes_add_up_to_successes(rng):
    # A bin differs from its count by no more than the one row of the prior.
    voters, X, codes = some_voters("binning", rng, 2000)
    votes = voters.votes(X, np.arange(len(voters)))
    for i in range(len(voters)):
        fires = votes[i] > 0
        bins = max(min(fires.sum() // 10, 64), 1)
        assert abs(votes[i].sum() - (codes[fires] == voters.label[i]).sum()) <= bins


@pytest.mark.parametrize("name", COUNTING)
def test_rows_of_equal_values_have_equal_votes(rng, name):
    voters, _, _ = some_voters("binning", rng, 50)
    X = np.repeat(rng.randint(0, 3, size=(20, 2)).astype(float), 15, axis=0)
    codes = rng.randint(0, 3, len(X))
    calibration = CALIBRATIONS[name]
    none = np.empty((len(voters), calibration.width))
    parts = voters.weights, voters.intercepts, voters.exemplars, voters.label
    voters = Voters(*parts, calibration, none).calibrate(X, codes, 3)
    votes = voters.votes(X, np.arange(len(voters)))
    assert ((votes >= 0) & (votes < 1)).all()
    for block in votes.reshape(len(voters), 20, 15).transpose(1, 0, 2):
        assert_array_equal(block, block[:, :1].repeat(15, axis=1))


@pytest.mark.parametrize("name", [*COUNTING, "platt"])
def test_a_vote_is_a_probability(rng, name):
    for n in (6, 40, 700):
        voters, X, _ = some_voters(name, rng, n)
        for rows in (X, 100 * X):
            votes = voters.votes(rows, np.arange(len(voters)))
            fires = voters.weights @ rows.T + voters.intercepts[:, None] > 0
            assert_array_equal(votes > 0, fires)
            assert (votes <= 1).all()
            assert name == "platt" or (votes < 1).all()


@pytest.mark.parametrize("name", [*COUNTING, "platt", None])
def test_where_nothing_fires_the_loudest_speaks_with_its_lowest_voice(rng, name):
    voters, X, _ = some_voters(name, rng)
    quiet = Voters(**{**vars(voters), "intercepts": voters.intercepts - 1e3})
    totals = quiet.totals(X, 3)
    loudest = (quiet.weights @ X.T + quiet.intercepts[:, None]).argmax(axis=0)
    assert_array_equal(totals.argmax(axis=1), voters.label[loudest])
    assert ((totals > 0).sum(axis=1) == 1).all()
    if name == "platt":
        assert_allclose(totals.sum(axis=1), expit(quiet.curves[loudest, 1]), rtol=1e-12)
    if name == "binning":
        assert_allclose(totals.sum(axis=1), quiet.curves[loudest, 63], rtol=1e-12)
    if name is None:
        assert_array_equal(totals.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", [*COUNTING, "platt", None])
def test_totals_are_sums_of_votes(rng, name):
    voters, X, _ = some_voters(name, rng)
    votes = voters.votes(X, np.arange(len(voters)))
    heard = votes.any(axis=0)
    assert heard.mean() > 0.5
    expected = np.array([votes[voters.label == c].sum(axis=0) for c in range(3)]).T
    assert_allclose(voters.totals(X, 3)[heard], expected[heard], rtol=1e-12)


def test_a_model_that_never_fired_says_what_is_true_of_all_rows(rng):
    voters, X, codes = some_voters("binning", rng)
    quiet = Voters(**{**vars(voters), "intercepts": voters.intercepts - 1e3})
    quiet = quiet.calibrate(X, codes, 3)
    prior = np.bincount(codes) / len(codes)
    totals = quiet.totals(X, 3)
    assert_allclose(totals.max(axis=1), prior[totals.argmax(axis=1)], rtol=1e-12)


@pytest.mark.parametrize("levels", [1, 2, 5, 40])
def test_rows_of_equal_values_are_counted_together(levels):
    rng = np.random.RandomState(levels)
    values = rng.randint(1, levels + 1, 400).astype(float)
    own = rng.random_sample(400) < values / (levels + 1)
    curves = [
        CALIBRATIONS["binning"].fit(v[None], v[None], o[None], np.array([0.5]))
        for v, o in ((values, own), (values[::-1].copy(), own[::-1].copy()))
    ]
    assert_array_equal(*curves)  # whatever the order of the rows
    votes = CALIBRATIONS["binning"].votes(values[None], values[None], curves[0])[0]
    for vote in np.unique(votes):
        group = own[np.isin(values, values[votes == vote])]
        assert len(group) >= 10
        assert vote == pytest.approx((group.sum() + 0.5) / (len(group) + 1))


def test_a_model_that_fires_has_a_vote(rng):
    scores = 100.0 + rng.random_sample((1, 50))
    own = np.zeros((1, 50), bool)
    curves = CALIBRATIONS["platt"].fit(scores, scores, own, np.array([0.5]))
    curves[:, 1] = -1000.0
    assert (CALIBRATIONS["platt"].votes(0.0 * scores + 1e-300, scores, curves) > 0.0).all()
