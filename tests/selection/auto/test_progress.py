"""What a callback is told."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from given_ledger import filled
from protolearn import AutoPrototypeClassifier
from protolearn.selection import SearchProgress
from protolearn.selection.auto.search_progress import best_so_far

X, Y = (part[::2] for part in load_iris(return_X_y=True))
SMALL = AutoPrototypeClassifier(families=["MeanOfClass", "FisherPrototypes"], cv=3, random_state=0)


def followed(**parameters):
    """Give all that was told, and the model."""
    told = []
    model = clone(SMALL).set_params(callback=told.append, **parameters).fit(X, Y)
    return told, model


@pytest.mark.parametrize(
    "limits", [{}, {"max_fits": 7}, {"time_budget": 1e9}, {"time_budget": 1e-9}, {"n_jobs": 2}]
)
def test_the_share_goes_up_to_one(limits):
    told, model = followed(**limits)
    assert all(isinstance(progress, SearchProgress) for progress in told)
    shares = [progress.share for progress in told]
    assert 0.0 < shares[0] <= 1.0
    assert (np.diff(shares) >= 0.0).all()
    assert shares[-1] == 1.0
    assert (np.diff([progress.seconds for progress in told]) >= 0.0).all()
    n_fits = [progress.n_fits for progress in told]
    assert n_fits[-1] == model.n_fits_
    assert (np.diff(n_fits)[:-1] > 0).all()


def test_fits_are_told_one_by_one():
    told, _ = followed(max_fits=7)
    assert [progress.n_fits for progress in told] == [*range(1, 8), 7]
    assert [progress.share for progress in told[:-1]] == pytest.approx(np.arange(1, 8) / 7)


def test_the_best_model_is_named():
    told, model = followed()
    board = {standing.model: standing for standing in model.leaderboard_}
    assert told[0].best_model == "FisherPrototypes(ridge=0.1)"  # there is no other yet
    most = [s for s in board.values() if s.n_fits == model.leaderboard_[0].n_fits]
    assert told[-1].best_score == pytest.approx(max(standing.score for standing in most))
    assert board[told[-1].best_model].score == pytest.approx(told[-1].best_score)
    assert str(told[-1]) == (
        f"{model.n_fits_} fits, best {told[-1].best_score:.3f} {told[-1].best_model}"
    )


def test_no_best_model_as_long_as_all_failed():
    ledger = filled(np.zeros((2, 6, 2)), 3, [1, 1], failing={0, 1})
    score, model = best_so_far(ledger)
    assert math.isnan(score)
    assert model == ""
    assert str(SearchProgress(2, 0.5, score, model, 1.0)) == "2 fits"


def test_the_best_is_one_of_those_with_most_fits():
    scores = np.broadcast_to(np.array([0.5, 0.9, 0.6])[:, None, None], (3, 6, 2))
    assert best_so_far(filled(scores, 3, [3, 1, 3])) == (pytest.approx(0.6), "number 2")


def test_it_changes_nothing():
    _, model = followed(max_fits=7)
    silent = clone(SMALL).set_params(max_fits=7).fit(X, Y)
    assert model.best_score_ == silent.best_score_
    assert model.best_params_ == silent.best_params_


@pytest.mark.parametrize("callback", [3, "print", [print]])
def test_what_is_no_function(callback):
    with pytest.raises(ValueError, match=r"callback=.* must be None or a function of one argument"):
        clone(SMALL).set_params(callback=callback).fit(X, Y)


def test_errors_of_the_function_are_not_hidden():
    def wrong(progress):
        raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        clone(SMALL).set_params(callback=wrong).fit(X, Y)
