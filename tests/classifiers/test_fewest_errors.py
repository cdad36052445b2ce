"""Rules of which nobody says how long to follow them: the best of all epochs is kept."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning

import reference
from protolearn import LVQ1, LVQ3, LVQ21, OLVQ1
from protolearn.classifiers.settings import RuleSettings

RULES = [LVQ1, OLVQ1, LVQ21, LVQ3]
FORMULAS = {LVQ1: reference.lvq1, LVQ21: reference.lvq21}


def overlapping(n=200, seed=0):
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 3
    return rng.standard_normal((n, 3)) + 0.7 * np.eye(3)[y], y


def errors(W, labels, X, y, weight):
    nearest = np.square(X[:, None] - W).sum(axis=2).argmin(axis=1)
    return weight @ (labels[nearest] != y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", RULES)
def test_the_epoch_with_the_fewest_training_errors_is_kept(cls, weighted):
    X, y = overlapping()
    weight = np.random.RandomState(1).rand(len(X)) if weighted else np.ones(len(X))
    start = X[[0, 3, 1, 4, 2, 5]]
    passed = []
    model = cls(
        init=start,
        prototypes_per_class=2,
        random_state=0,
        callback=lambda state: passed.append(state.codebook.prototypes.copy()) and None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weight if weighted else None)
    assert len(passed) == model.n_iter_ >= (5 if cls is OLVQ1 else 10)  # OLVQ1 may stop before
    labels = np.repeat([0, 1, 2], 2)
    wrong = np.array([errors(W, labels, X, y, weight) for W in [start, *passed]])
    last_of_best = len(wrong) - 1 - int(np.argmin(np.round(wrong[::-1], 9)))
    np.testing.assert_array_equal(model.prototypes_, [start, *passed][last_of_best])


@pytest.mark.parametrize("cls", FORMULAS)
def test_a_number_of_epochs_is_followed_wherever_it_leads(cls):
    X, y = overlapping()
    start, codes = X[:3].copy(), np.arange(3)
    settings = {"init": start, "learning_rate": 0.4, "schedule": "constant", "shuffle": False}
    settings |= {"window": 0.5} if cls is LVQ21 else {}
    literal = FORMULAS[cls](X, y, start, codes, 0.4, **({"window": 0.5} if cls is LVQ21 else {}))
    model = cls(max_iter=1, **settings).fit(X, y)
    np.testing.assert_allclose(model.prototypes_, literal, rtol=1e-10)


def test_the_start_is_kept_with_a_warning_if_every_epoch_makes_more_errors():
    rng = np.random.RandomState(0)
    start, y = np.array([[0.0, 0.0], [6.0, 0.0]]), np.repeat([0, 1], 50)
    X = rng.standard_normal((100, 2)) + start[y]

    kept = LVQ1(init=start, random_state=0)
    assert kept.fit(X, y).score(X, y) == 1.0  # of equally good ones the last
    assert not np.array_equal(kept.prototypes_, start)
    mixed = np.where(rng.rand(100) < 0.3, 1 - y, y)  # a third of the labels is wrong
    model = LVQ1(init=start, learning_rate=0.9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="LVQ1 finds no better.*GLVQ.*max_iter"):
        model.fit(X, mixed)
    np.testing.assert_array_equal(model.prototypes_, start)
    assert model.n_iter_ == 10


def test_a_stream_goes_on_with_the_rates_of_the_epoch_that_is_kept():
    X, y = overlapping()
    kept = []

    def note(state):
        kept.append((state.codebook.prototypes.copy(), state.iteration))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OLVQ1(random_state=0, callback=note).fit(X, y)
    epoch = next((i for W, i in kept if np.array_equal(W, model.prototypes_)), 0)
    assert 0 < epoch < model.n_iter_
    assert model._memory.steps == epoch * len(X)
    shorter = OLVQ1(random_state=0, max_iter=epoch).fit(X, y)  # its rates depend on nothing to come
    np.testing.assert_array_equal(shorter.prototypes_, model.prototypes_)
    rates = (m._memory.by_prototype["rate"] for m in (model, shorter))
    np.testing.assert_array_equal(*rates)


def test_a_start_that_is_kept_learns_from_a_stream_as_a_new_one():
    rng = np.random.RandomState(0)
    start, y = np.array([[0.0, 0.0], [6.0, 0.0]]), np.repeat([0, 1], 50)
    X = rng.standard_normal((100, 2)) + start[y]
    mixed = np.where(rng.rand(100) < 0.3, 1 - y, y)
    model = LVQ1(init=start, learning_rate=0.9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="keeps these"):
        model.fit(X, mixed)
    assert model._memory.steps == 0


def test_early_stopping_looks_at_held_out_rows_alone(monkeypatch):
    def never(*args):
        raise AssertionError

    monkeypatch.setattr("protolearn.solvers.kohonen.FewestErrors", never)
    LVQ1(early_stopping=True, random_state=0).fit(*overlapping())
    LVQ1(max_iter=3, random_state=0).fit(*overlapping())
    with pytest.raises(AssertionError):
        LVQ1(random_state=0).fit(*overlapping())


@pytest.mark.parametrize(
    ("cls", "n_samples", "epochs"),
    [
        (LVQ1, 100, 10),
        (LVQ1, 10_000, 4),
        (LVQ1, 10**6, 1),
        (LVQ21, 10_000, 10),
        (LVQ21, 100_000, 5),
        (LVQ21, 10**7, 1),
    ],
)
def test_epochs_by_the_number_of_rows(cls, n_samples, epochs):
    assert RuleSettings.of(cls()).solver.default_max_iter(n_samples) == epochs


@pytest.mark.parametrize("cls", RULES)
def test_no_worse_than_the_start_on_real_rows(cls):
    for load in (load_wine, load_digits):
        X, y = load(return_X_y=True)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
        weight = np.ones(len(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = cls(init="means", random_state=0).fit(X, y)
        labels = model.prototype_labels_
        assert errors(model.prototypes_, labels, X, y, weight) <= errors(
            means, labels, X, y, weight
        )
