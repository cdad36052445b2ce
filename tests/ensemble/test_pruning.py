"""Which models stay: a local optimum of the log-likelihood, found by brute force too."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from protolearn.datasets import make_striated
from protolearn.ensemble import voters as voters_module
from protolearn.ensemble.calibration import CALIBRATIONS
from protolearn.ensemble.prototype import PrototypeSVM
from protolearn.ensemble.voters import Voters, worth_keeping


def some_voters(seed, n_models, name="binning", n=60, n_classes=3):
    rng = np.random.RandomState(seed)
    X, codes = rng.normal(size=(n, 2)), rng.randint(0, n_classes, n)
    X[:, 0] += 2 * codes
    exemplar = rng.choice(n, n_models, replace=False)
    weights = rng.normal(size=(n_models, 2))
    intercepts = 1.0 - np.einsum("ij,ij->i", weights, X[exemplar])
    calibration = CALIBRATIONS[name]
    none = np.empty((n_models, calibration.width))
    voters = Voters(weights, intercepts, X[exemplar], codes[exemplar], calibration, none)
    return voters.calibrate(X, codes, n_classes), X, codes


def log_likelihood(votes, label, codes, n_classes):
    """Of the shares of votes (rows, models), with one vote that the classes share."""
    shares = np.full((len(codes), n_classes), 1.0 / n_classes)
    for i in range(votes.shape[1]):
        shares[:, label[i]] += votes[:, i]
    shares /= shares.sum(axis=1, keepdims=True)
    return np.log(shares[np.arange(len(codes)), codes]).sum()


def worth(voters, X, codes, n_classes, members, price):
    """Give the log-likelihood of some members, less their price."""
    members = np.asarray(members, dtype=np.intp)
    votes = voters.votes(X, members).T
    likelihood = log_likelihood(votes, voters.label[members], codes, n_classes)
    return likelihood - price * len(members)


@given(
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.sampled_from(["binning", "platt", "local", None]),
    st.sampled_from([0.0, 0.1, 1.0, 5.0]),
    st.integers(2, 4),
)
def test_no_join_and_no_leave_makes_it_better(seed, n_models, name, price, n_classes):
    voters, X, codes = some_voters(seed, n_models, name, n_classes=n_classes)
    kept = set(worth_keeping(voters, X, codes, n_classes, price).tolist())
    best = worth(voters, X, codes, n_classes, sorted(kept), price)
    if best < worth(voters, X, codes, n_classes, [], price):  # none is worth its price
        assert sorted(voters.label[list(kept)]) == np.unique(voters.label).tolist()
        kept, best = set(), worth(voters, X, codes, n_classes, [], price)
    for model in range(n_models):
        other = worth(voters, X, codes, n_classes, sorted(kept ^ {model}), price)
        assert other <= best + 1e-6


def test_it_is_nearly_the_best_of_all_ensembles():
    gained, possible = [], []
    for seed in range(10):
        voters, X, codes = some_voters(seed, 7)
        kept = worth_keeping(voters, X, codes, 3, 0.1)
        choices = [np.flatnonzero(bits) for bits in product([False, True], repeat=7)]
        worths = [worth(voters, X, codes, 3, choice, 0.1) for choice in choices]
        gained.append(worth(voters, X, codes, 3, kept, 0.1) - worths[0])
        possible.append(max(worths) - worths[0])
    assert (np.array(gained) >= 0).all()
    assert np.sum(gained) > 0.95 * np.sum(possible)


def test_a_higher_price_keeps_fewer_models():
    voters, X, codes = some_voters(0, 40)
    sizes = [len(worth_keeping(voters, X, codes, 3, price)) for price in (0.0, 0.3, 1.0, 3.0, 1e3)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 5 > sizes[-1] == 3  # the best of each class, if none is worth its price


@pytest.mark.parametrize("kept_bytes", [1, 8 * 60 * 7, 8 * 60 * 39])
@pytest.mark.parametrize("name", ["local", "platt"])
def test_the_same_models_stay_if_votes_do_not_fit_in_memory(monkeypatch, kept_bytes, name):
    voters, X, codes = some_voters(1, 40, name)
    expected = worth_keeping(voters, X, codes, 3, 0.1)
    calls = []
    votes = Voters.votes
    monkeypatch.setattr(
        Voters, "votes", lambda *given: calls.append(len(given[2])) or votes(*given)
    )
    monkeypatch.setattr(voters_module, "KEPT_BYTES", kept_bytes)
    assert_array_equal(worth_keeping(voters, X, codes, 3, 0.1), expected)
    assert 1 < len(expected) < 40
    assert max(calls) <= max(kept_bytes // (8 * 60), 1)


@pytest.mark.parametrize("calibration", ["local", "platt"])
@pytest.mark.parametrize("data", ["iris", "striated"])
@pytest.mark.parametrize("held", [0.0, 0.25])
def test_each_model_that_is_kept_is_worth_its_price(data, calibration, held):
    if data == "iris":
        X, y = load_iris(return_X_y=True)
    else:
        X, y = make_striated(60, n_stripes=4, random_state=0)
    price = 0.5
    model = PrototypeSVM(
        pruning=price, validation_fraction=held, n_shifts=2, calibration=calibration, random_state=0
    ).fit(X, y)
    votes, n_classes = model.votes(X), len(model.classes_)
    heard = votes.any(axis=1)
    by_votes = log_likelihood(votes, model.prototype_labels_, y, n_classes)
    probabilities = model.predict_proba(X)[np.arange(len(X)), y]
    # Where no model fires pruning counts 1 / K, whatever the model that then decides says.
    expected = np.log(np.where(heard, probabilities, 1.0 / n_classes)).sum()
    assert by_votes == pytest.approx(expected, abs=1e-9)
    for i in range(votes.shape[1]):
        rest = np.delete(votes, i, axis=1), np.delete(model.prototype_labels_, i)
        assert log_likelihood(*rest, y, n_classes) <= by_votes - price + 1e-6
    assert votes.shape[1] < len(X) / 2
    if not held:  # then it is not pruned with more rows in the end
        assert model.ensemble_sizes_[model.best_shift_] == votes.shape[1]
    assert (model.ensemble_sizes_ <= model.n_firing_).all()
