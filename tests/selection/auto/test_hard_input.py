"""The automatic choice with input that is hard, or wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protolearn
from protolearn import GLVQ
from protolearn.selection import AutoPrototypeClassifier
from protolearn.selection.auto.search_data import MOST_ROWS, draw_rows

X, Y = load_iris(return_X_y=True)
FIRST_SPLIT = 5
FEW = {"families": ["linear", "fixed"], "random_state": 0}


@pytest.mark.parametrize("families", [None, 3, ["linear", None]])
def test_what_is_no_family_is_named(families):
    with pytest.raises(ValueError, match=r"families=.* must be 'all' or some of 'linear'"):
        AutoPrototypeClassifier(families=families).fit(X, Y)


@pytest.mark.parametrize("scoring", [["accuracy"], {"a": "accuracy"}, 3])
def test_several_measures_are_no_scoring(scoring):
    with pytest.raises(ValueError, match="must be the name of one scorer"):
        AutoPrototypeClassifier(scoring=scoring).fit(X, Y)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("standardize", [True, False])
def test_numbers_that_cannot_be_squared_are_told_before_any_fit(scale, standardize):
    model = AutoPrototypeClassifier(standardize=standardize, **FEW)
    with pytest.raises(ValueError, match="rescale X"):
        model.fit(scale * X, Y)


@pytest.mark.parametrize("more", [1, 4])
def test_a_split_that_is_not_finished_decides_nothing(more):
    """A curved border: one fit is enough to see that the second candidate is better."""
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(200, 2))
    labels = rows[:, 0] * rows[:, 1] > 0
    model = AutoPrototypeClassifier(max_fits=FIRST_SPLIT + more, prefer="accurate", **FEW)
    model.fit(rows, labels)
    first, second = sorted(model.leaderboard_, key=lambda standing: -standing.n_fits)
    assert (first.n_fits, second.n_fits) == (FIRST_SPLIT, more)
    assert second.score > first.score
    assert first.chosen
    assert abs(model.best_score_ - first.score) < abs(model.best_score_ - second.score)


def test_the_settings_are_enough_to_build_the_model_again():
    """A class of two rows has two prototypes, however many the others have."""
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(62, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    labels[60:], rows[60:] = 2, [[9.0, 9.0], [9.5, 9.0]]
    model = AutoPrototypeClassifier(
        families="fixed", max_fits=40, prefer="accurate", random_state=0
    ).fit(rows, labels)
    settings = dict(model.best_params_)
    assert settings["prototypes_per_class"][2] == 2
    built = getattr(protolearn, settings.pop("model"))(**settings)
    built.set_params(random_state=model.best_estimator_[-1].random_state)
    again = make_pipeline(StandardScaler(), built).fit(rows, labels)
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))


def test_a_candidate_that_failed_at_last_is_not_chosen():
    calls = []

    def fails_later(model, X, y):
        calls.append(model[-1])
        if isinstance(model[-1], GLVQ):
            if len([one for one in calls if isinstance(one, GLVQ)]) % 5 == 0:
                raise RuntimeError("no more")
            return 1.0
        return 0.5

    model = AutoPrototypeClassifier(scoring=fails_later, max_fits=60, **FEW).fit(X, Y)
    failed = [standing for standing in model.leaderboard_ if standing.failure]
    assert {standing.failure for standing in failed} == {"RuntimeError: no more"}
    assert all(standing.model.startswith("GLVQ") for standing in failed)
    assert not any(standing.chosen for standing in failed)
    assert model.best_score_ == 0.5


def test_a_score_that_needs_all_classes_says_which_is_not_there():
    labels = (np.arange(60) < 4).astype(int)
    rows = np.random.RandomState(0).normal(size=(60, 3)) + labels[:, None]
    model = AutoPrototypeClassifier(scoring="roc_auc", max_fits=20, **FEW)
    with pytest.raises(ValueError, match=r"nan.*\(no row of class 1 was held out here\)"):
        model.fit(rows, labels)


@pytest.mark.parametrize(("n_rows", "n_classes"), [(10_001, 2), (10_050, 100), (12_000, 3)])
def test_a_few_rows_more_than_are_looked_at(n_rows, n_classes):
    labels = np.arange(n_rows) % n_classes
    labels[0] = n_classes  # alone in its class
    rows = draw_rows(np.arange(n_rows), labels, MOST_ROWS, seed=0)
    assert MOST_ROWS - n_classes <= len(np.unique(rows)) == len(rows) <= MOST_ROWS + 1
    assert 0 in rows
    share = np.bincount(labels[rows])[:n_classes] * n_rows / (MOST_ROWS * np.bincount(labels))[:-1]
    assert np.abs(share - 1.0).max() < 0.02


def test_a_search_that_was_stopped_has_fitted_nothing():
    def stop(model, X, y):
        raise KeyboardInterrupt

    model = AutoPrototypeClassifier(scoring=stop, **FEW)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict_proba(X)
