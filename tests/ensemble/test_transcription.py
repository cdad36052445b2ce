"""Prototype and exemplar SVMs against a literal transcription, model by model."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from given_transcription import fit_platt, totals, train
from protolearn.datasets import make_isolated, make_striated
from protolearn.ensemble.exemplar import ExemplarSVM
from protolearn.ensemble.prototype import PrototypeSVM

AS_PUBLISHED = {"calibration": "platt", "tol": 1e-10, "max_iter": 10**6}
PAPER = {"s": "n_shifts", "k": "n_negatives", "v": "validation_fraction"}
PAPER |= {"p": "hard_negative_probability", "C": "C", "seed": "random_state"}


def iris(first):
    X, y = load_iris(return_X_y=True)
    return X[first::4], y[first::4]


def three_planar_classes():
    """Four clusters of three classes; one class has two of them."""
    rng = np.random.RandomState(3)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])
    cluster = np.arange(44) % 4
    return centers[cluster] + rng.normal(size=(44, 2)), np.array([0, 1, 2, 0])[cluster]


def crowded_corners():
    """Three classes in the same four places: their negatives leave the exemplars no room."""
    rng = np.random.RandomState(0)
    return rng.randint(0, 2, (24, 2)) + 0.03 * rng.randn(24, 2), np.arange(24) % 3


# Data, and the parameters in the letters of the paper
CASES = {
    "iris": (iris(0), {"s": 3, "k": 7, "v": 0.25, "p": 0.05, "C": 100.0, "seed": 0}),
    "iris, low cost": (iris(1), {"s": 3, "k": 7, "v": 0.25, "p": 0.05, "C": 1.0, "seed": 0}),
    "iris, nothing held out": (iris(2), {"s": 1, "k": 4, "v": 0.0, "p": 0.3, "C": 2.0, "seed": 1}),
    "striated": (
        make_striated(24, n_stripes=4, random_state=0),
        {"s": 3, "k": 5, "v": 0.25, "p": 0.1, "C": 100.0, "seed": 1},
    ),
    "isolated": (
        make_isolated(30, 20, n_clusters=3, random_state=1),
        {"s": 3, "k": 7, "v": 0.25, "p": 0.05, "C": 10.0, "seed": 1},
    ),
    "most models die": (
        make_striated(24, n_stripes=4, random_state=0),
        {"s": 2, "k": 5, "v": 0.25, "p": 0.1, "C": 0.3, "seed": 0},
    ),
    "three classes": (
        three_planar_classes(),
        {"s": 3, "k": 3, "v": 0.2, "p": 0.1, "C": 10.0, "seed": 4},
    ),
    "nothing fires": (
        crowded_corners(),
        {"s": 1, "k": 7, "v": 0.25, "p": 0.5, "C": 0.02, "seed": 0},
    ),
}


@cache
def story_of(name):
    (X, y), letters = CASES[name]
    return train(X, y, **letters)


@pytest.fixture(scope="module", params=CASES)
def told(request):
    """Give the rows of a case, the story of the transcription, our model, and its shifts."""
    (X, y), letters = CASES[request.param]
    seen = []

    class Observed(PrototypeSVM):
        """Remembers the models of every shift."""

        def _prune(self, machines, voters, train, validation):
            ensemble = super()._prune(machines, voters, train, validation)
            seen.append((ensemble.machines, ensemble.voters, train.places))
            return ensemble

    parameters = {PAPER[letter]: value for letter, value in letters.items()}
    model = Observed(pruning=None, **parameters, **AS_PUBLISHED)
    if request.param == "nothing fires":
        with pytest.warns(ConvergenceWarning, match="fires on any training row"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    return X, story_of(request.param), model, seen


def test_the_cases_are_worth_comparing():
    # Together they show every line of the algorithms at work.
    stories = {name: story_of(name) for name in CASES}
    assert sum(story.hard > 5 for story in stories.values()) >= 5
    assert sum(story.fallbacks > 0 for story in stories.values()) >= 3
    assert len({story.best for story in stories.values()}) >= 3
    assert sum(len(set(map(len, story.ensembles))) > 1 for story in stories.values()) >= 4
    assert sum(len(set(story.accuracies)) > 1 for story in stories.values()) >= 4
    (X, _), _ = CASES["most models die"]
    assert len(stories["most models die"].ensembles[0]) < len(X) / 4


def test_no_decision_hangs_on_rounding(told):
    # Hyperplanes agree to 1e-5 of their length, and rows are a few units from exemplars.
    _, story, _, _ = told
    assert min(story.closest, story.lead) > 1e-4


def test_models_of_every_shift_are_those_of_the_transcription(told):
    _, story, _, seen = told
    assert len(seen) == len(story.ensembles)
    for (machines, voters, places), expected in zip(seen, story.ensembles, strict=True):
        n = len(expected)
        assert_array_equal(places[machines.exemplar], [m.exemplar for m in expected])
        assert_array_equal(machines.label, [m.label for m in expected])
        for sign, name in ((1.0, "positives"), (-1.0, "negatives")):
            sets = [places[rows].tolist() for rows in machines.members.sets(n, sign)]
            assert sets == [sorted(getattr(m, name)) for m in expected]
        size = [max(np.linalg.norm(m.w), 1e-6) for m in expected]
        scaled = np.divide(machines.weights.T, size), np.divide(machines.intercepts, size)
        wanted = np.divide([m.w for m in expected], np.reshape(size, (-1, 1))).T
        assert_allclose(scaled[0], wanted, atol=1e-5)
        assert_allclose(scaled[1], np.divide([m.b for m in expected], size), atol=1e-5)
        assert len(voters) == n


def test_ensembles_do_as_well_and_the_same_one_is_kept(told):
    _, story, model, _ = told
    assert_array_equal(model.validation_indices_, story.held)
    assert_array_equal(model.validation_scores_, story.accuracies)
    assert_array_equal(model.ensemble_sizes_, [len(E) for E in story.ensembles])
    anyone = not np.all(model.n_firing_ == 0)
    assert_array_equal(model.n_firing_, model.ensemble_sizes_ * anyone)
    assert model.best_shift_ == story.best
    kept = story.ensembles[story.best]
    assert_array_equal(model.exemplar_indices_, [m.exemplar for m in kept])
    assert [rows.tolist() for rows in model.positive_sets_] == [sorted(m.positives) for m in kept]
    assert [rows.tolist() for rows in model.negative_sets_] == [sorted(m.negatives) for m in kept]


def test_votes_totals_and_predictions_are_the_same(told):
    X, story, model, _ = told
    kept, n_classes = story.ensembles[story.best], len(model.classes_)
    rng = np.random.RandomState(0)
    between = X[rng.permutation(len(X))] * 0.5 + X * 0.5
    for rows in (X, between, 3.0 * X - 2.0 * X.mean(axis=0)):
        T = (rows - X.mean(axis=0)) / X.std(axis=0)
        values = np.array([[m.value(x) for m in kept] for x in T])
        largest = np.sort(values, axis=1)[:, -2:]
        alone = (largest[:, 1] > 0.0) | (np.diff(largest)[:, 0] > 1e-4)
        sure = (np.abs(values).min(axis=1) > 1e-4) & alone  # no doubt who votes
        assert sure.mean() > 0.9
        T, rows, values = T[sure], rows[sure], values[sure]
        votes = [[m.probability(f) * (f > 0) for m, f in zip(kept, v, strict=True)] for v in values]
        assert_allclose(model.votes(rows), votes, atol=2e-5)
        expected = np.array([totals(x, kept, n_classes) for x in T])
        shares = expected + 1.0 / n_classes
        shares /= shares.sum(axis=1, keepdims=True)
        assert_allclose(model.predict_proba(rows), shares, atol=1e-5)
        by_class = shares if n_classes > 2 else shares[:, 1] - shares[:, 0]
        assert_allclose(model.decision_function(rows), by_class, atol=1e-5)
        second, first = np.sort(expected, axis=1)[:, -2:].T
        apart = first > 1.001 * second
        assert apart.mean() > 0.9
        assert_array_equal(model.predict(rows)[apart], expected.argmax(axis=1)[apart])


@pytest.mark.parametrize("name", ["iris", "striated", "most models die"])
def test_exemplar_svms_are_the_transcription_before_the_first_shift(name):
    (X, y), letters = CASES[name]
    story = train(X, y, **{**letters, "s": 0, "v": 0.0})
    model = ExemplarSVM(n_negatives=letters["k"], C=letters["C"], **AS_PUBLISHED).fit(X, y)
    expected = story.ensembles[0]
    assert story.closest > 1e-4
    assert_array_equal(model.exemplar_indices_, [m.exemplar for m in expected])
    assert_array_equal(model.prototypes_, X[model.exemplar_indices_])
    assert_array_equal(model.exemplars_, model.prototypes_)
    assert [rows.tolist() for rows in model.positive_sets_] == [[m.exemplar] for m in expected]
    assert [rows.tolist() for rows in model.negative_sets_] == [
        sorted(m.negatives) for m in expected
    ]
    for m in expected:  # in the units of X
        fit_platt(story.rows, y, range(len(X)), m)
    w = np.array([m.w for m in expected]) / X.std(axis=0)
    size = np.linalg.norm(w, axis=1)
    assert_allclose(model.hyperplanes_ / size[:, None], w / size[:, None], atol=1e-4)
    b = [m.b for m in expected] - w @ X.mean(axis=0)
    assert_allclose(model.offsets_ / size, b / size, atol=1e-4 * np.abs(X).max())
    votes = [[m.probability(m.value(x)) * (m.value(x) > 0) for m in expected] for x in story.rows]
    assert_allclose(model.votes(X), votes, atol=1e-4)
