"""What is begun, and what is chosen, when time is short: by a clock that only fits move."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from given_ledger import Clock, given_ledger
from protolearn.selection import AutoPrototypeClassifier
from protolearn.selection.auto.choice import best, chosen_of, search, simplest
from protolearn.selection.auto.ledger import SearchedData, Trial
from protolearn.selection.auto.pace import (
    FEWEST_PROBED,
    SHARE,
    STEPS,
    Budget,
    Pace,
    expected_seconds,
)

N_FIRST = 3  # fits of the first look; there are as many others


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that the library obeys."""
    return Clock().rules(monkeypatch)


def timed(clock, costs, seconds, scores=None, growth=1.0, choose=best):
    """Give a ledger of a search in time, and its fits; growth is that of the last fit."""
    if scores is None:
        scores = np.random.RandomState(0).uniform(size=(len(costs), 2 * N_FIRST, 2))
    ledger, order = given_ledger(scores, 3, clock=clock, costs=costs)
    ledger.budget = Budget(None, seconds)
    ledger.pace = Pace(ledger.budget, growth, choose)
    return ledger, order


def finished(ledger):
    """Give the candidates with all fits of the first split."""
    return set(np.flatnonzero(ledger.n_fits() >= N_FIRST).tolist())


def ended(ledger, growth=1.0):
    """Choose as the classifier does; give the choice, and when its last fit is over."""
    number = chosen_of(ledger, best)
    n_rows = ledger.pace.rows_in_time(ledger, number)  # the fits of the search have one
    assert n_rows <= growth
    return number, ledger.budget.seconds_spent + n_rows * ledger.candidates[number].cost


def test_without_a_limit_all_is_made(clock):
    ledger, _ = timed(clock, np.geomspace(1e-3, 1e3, 8), None)
    assert search(ledger)
    assert not ledger.passed_over
    assert len(finished(ledger)) == 8
    assert ledger.pace.rows_in_time(ledger, 0) == 1.0


def test_with_time_enough_too(clock):
    ledger, order = timed(clock, np.ones(8), 100.0)
    assert search(ledger)
    assert not ledger.passed_over
    n_better = (ledger.n_fits() == 2 * N_FIRST).sum()
    assert n_better >= 4
    assert len(order) == 8 * N_FIRST + n_better * N_FIRST


def test_what_takes_too_long_is_passed_over_after_a_look(clock):
    costs = np.array([1.0, 1.0, 18.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    ledger, order = timed(clock, costs, 100.0)
    search(ledger)
    assert ledger.passed_over
    assert order.count((2, 0)) == 1
    assert finished(ledger) == {0, 1, 3, 4, 5, 6, 7}
    assert clock.now < 100.0


def test_what_is_left_at_the_end_is_for_the_slow_ones(clock):
    """They may not take a third of the time before others, but afterwards."""
    ledger, order = timed(clock, np.array([15.0, 1.0, 1.0, 1.0]), 89.0)
    search(ledger)
    assert [number for number, _ in order[:10]] == [0, *[1] * 3, *[2] * 3, *[3] * 3]
    assert finished(ledger) == {0, 1, 2, 3}
    assert ended(ledger)[1] <= 89.0


def test_a_slow_first_candidate_does_not_take_the_time_of_all_others(clock):
    ledger, order = timed(clock, np.array([15.0, 1.0, 1.0, 1.0]), 40.0)
    search(ledger)
    assert [number for number, _ in order].count(0) == 1
    assert finished(ledger) == {1, 2, 3}


def test_the_only_candidate_may_have_all_the_time(clock):
    ledger, _ = timed(clock, np.array([15.0]), 100.0)
    search(ledger)
    assert finished(ledger) == {0}


def test_if_all_are_slow_each_is_looked_at(clock):
    """Better one fit of each than all fits of the first, whatever that is worth."""
    scores = np.broadcast_to(np.array([0.5, 0.7, 0.9, 0.6])[:, None, None], (4, 6, 2))
    ledger, order = timed(clock, np.full(4, 11.0), 63.0, scores)
    search(ledger)
    assert order == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert ended(ledger) == (2, 55.0)


@pytest.mark.parametrize("growth", [1.0, 5.0])
@pytest.mark.parametrize("seed", range(10))
def test_the_end_is_in_time_whatever_fits_cost(clock, growth, seed):
    """Costs that differ by 1000, of which no first look takes more than its share."""
    rng = np.random.RandomState(seed)
    costs = 10.0 ** rng.uniform(-2.0, 1.0, size=rng.randint(2, 20))
    total = 10.0 / SHARE
    scores = rng.uniform(size=(len(costs), 2 * N_FIRST, 2))
    ledger, _ = timed(clock, costs, total, scores, growth)
    search(ledger)
    assert clock.now <= total
    assert ended(ledger, growth)[1] <= total * (1.0 + SHARE)
    assert finished(ledger) or growth * costs.min() > 10.0


def test_time_is_kept_for_the_last_fit(clock):
    """A fit to all rows takes as long as one of the search, or twenty times as long."""
    n_fits = []
    for growth in 1.0, 20.0:
        clock.now = 0.0
        ledger, order = timed(clock, np.ones(20), 50.0, growth=growth)
        search(ledger)
        assert clock.now <= 50.0 - min(1.5 * growth, 50.0 / 3.0)
        assert ended(ledger, growth)[1] <= 50.0
        n_fits.append(len(order))
    assert n_fits[0] > 40
    assert n_fits[1] > 10


def test_a_last_fit_without_time_for_all_rows_takes_fewer(clock):
    scores = np.broadcast_to(np.array([0.5, 0.9, 0.7])[:, None, None], (3, 6, 2))
    ledger, _ = timed(clock, np.array([1.0, 5.0, 2.0]), 100.0, scores, growth=10.0)
    for number in range(3):
        for place in range(N_FIRST):
            ledger._make([(number, place)])
    clock.now = 20.0
    assert ended(ledger, 10.0) == (1, 70.0)
    clock.now = 45.0  # fifty are needed, and half of that to be on the safe side
    assert ended(ledger, 10.0) == (1, 75.0)
    clock.now = 95.0  # a tenth of all is always there
    assert ended(ledger, 10.0) == (1, 100.0)


def test_all_pairs_take_the_square(clock):
    ledger, _ = timed(clock, np.array([2.0, 2.0]), 100.0, growth=3.0)
    ledger._make([(0, 0), (1, 0)])
    ledger.candidates[1].all_pairs = True
    assert ledger.pace.last_fit(ledger, 0) == pytest.approx(6.0)
    assert ledger.pace.last_fit(ledger, 1) == pytest.approx(18.0)


def test_one_slow_fit_among_many_does_not_count(clock):
    ledger, _ = timed(clock, np.array([2.0]), 100.0)
    ledger._make([(0, 0), (0, 1)])
    ledger.candidates[0].cost = 70.0
    ledger._make([(0, 2)])
    assert ledger.pace.last_fit(ledger, 0) == 2.0


def test_candidates_of_one_model_are_expected_to_take_the_same(clock, monkeypatch):
    monkeypatch.setattr("given_ledger.Stub.model", 0)
    ledger, order = timed(clock, np.array([30.0, 30.0, 30.0, 30.0]), 70.0)
    search(ledger)
    assert order == [(0, 0)]  # with its last fit there is no time for another
    assert ended(ledger) == (0, 60.0)


def test_what_is_known_may_always_be_taken_over(clock):
    ledger, order = timed(clock, np.ones(8), 1e-9)
    ledger.known = {
        (number, fold): Trial((0.1 * number, 0.1 * number), 1.0, 1, 1)
        for number in range(8)
        for fold in range(N_FIRST)
    }
    search(ledger)
    assert not order
    assert len(finished(ledger)) == 8
    assert ledger.budget.n_fits == 8 * N_FIRST


def test_workers_begin_one_fit_each_of_what_is_new(clock):
    ledger, _ = timed(clock, np.ones(2), 100.0)
    four = [(1, 0), (1, 1), (1, 2), (1, 3)]
    assert ledger.pace.together(ledger, four, 2) == four[:2]
    ledger.known = {(1, fold): Trial((0.5,), 1.0) for fold in range(4)}
    assert ledger.pace.together(ledger, four, 2) == four
    ledger.known = {}
    ledger._make([(1, 4)])
    assert ledger.pace.together(ledger, four, 2) == four
    assert Pace(Budget(9, None), 1, best).together(ledger, four, 2) == four


def test_workers_share_the_fits_of_a_split(clock):
    ledger, _ = timed(clock, np.full(4, 10.0), 100.0)
    ledger._make([(0, 0)])
    rest = [(0, fold) for fold in range(1, 6)]
    assert ledger.pace.in_time(ledger, rest, 1) == []  # fifty seconds are too many
    assert ledger.pace.in_time(ledger, rest, 2) == rest


def by_rows(clock, costs, seconds, n_rows):
    """Give a ledger of candidates that take some seconds for each row, and rows of their fits."""
    ledger, _ = timed(clock, costs, seconds, growth=2 * n_rows)
    rows, sizes = np.arange(n_rows), []
    ledger.parts = [part._replace(train=rows) for part in ledger.parts]
    ledger.task = SearchedData(rows[:, None], rows % 2, lambda model, X, y: 0.5, seed=0)

    def fit(stub, X, y):
        sizes.append((stub.number, len(X)))
        clock.now += stub.cost * len(X)
        return stub

    for stub in ledger.candidates:
        stub.fit = partial(fit, stub)
    return ledger, sizes


@pytest.mark.parametrize("n_rows", [FEWEST_PROBED, 10 * FEWEST_PROBED, 100 * FEWEST_PROBED])
def test_a_few_rows_foretell_what_all_take(clock, n_rows):
    ledger, sizes = by_rows(clock, np.array([1e-3]), 100.0, n_rows)
    told = expected_seconds(ledger, 0, 1e9)
    possible = [step for step in STEPS if n_rows // step >= FEWEST_PROBED]
    assert len(sizes) == len(possible)
    assert told == (pytest.approx(1e-3 * n_rows, rel=0.1) if possible else None)
    sizes.clear()
    expected_seconds(ledger, 0, 1e-4 * n_rows)
    assert len(sizes) == min(1, len(possible))  # the fewest rows have said enough


def test_what_takes_a_thousand_times_as_long_is_never_fitted_to_all_rows(clock):
    """Not even if it comes first."""
    n_rows = 100 * FEWEST_PROBED
    costs = np.array([1e2, 1e-1, 1e-1, 1e2]) / n_rows
    ledger, sizes = by_rows(clock, costs, 20.0, n_rows)
    search(ledger)
    assert {number for number, size in sizes if size == n_rows} == {1, 2}
    assert finished(ledger) == {1, 2}
    assert clock.now < 20.0


def test_a_last_fit_that_has_no_time_keeps_none_for_itself(clock):
    """The first takes a second, but fifty for all rows: others are looked at all the same."""
    ledger, _ = timed(clock, np.array([1.0, 0.1, 0.1]), 40.0, growth=50.0)
    search(ledger)
    assert {1, 2} <= finished(ledger)
    assert ended(ledger, 50.0)[1] <= 40.0 * (1.0 + SHARE)


def test_if_all_are_too_slow_the_quickest_is_fitted_once(clock):
    n_rows = 100 * FEWEST_PROBED
    ledger, sizes = by_rows(clock, np.array([30.0, 20.0, 40.0]) / n_rows, 15.0, n_rows)
    assert not search(ledger)
    assert [number for number, size in sizes if size == n_rows] == [1]
    assert ledger.budget.n_fits == 1
    assert chosen_of(ledger, best) == 1


def test_the_quickest_that_can_be_fitted(clock):
    ledger, order = timed(clock, np.ones(3), 1e-9)
    clock.now = 1.0
    ledger.candidates[0].failing = True
    assert not search(ledger)
    assert order == [(0, 0), (1, 0)]
    assert chosen_of(ledger, best) == 1


X, Y = load_iris(return_X_y=True)


def costly(clock, costs, usual=0.05):
    """Give a scorer that takes its time, which depends on the model."""

    def score(model, X, y):
        clock.now += costs.get(type(model[-1]).__name__, usual)
        return float(np.mean(model.predict(X) == y))

    return score


def test_slow_models_of_the_library(clock):
    """RSLVQ takes a thousand times as long as others."""
    model = AutoPrototypeClassifier(
        families=["linear", "RSLVQ"],
        cv=3,
        time_budget=60.0,
        scoring=costly(clock, {"RSLVQ": 20.0}, 0.02),
        random_state=0,
    ).fit(X[::3], Y[::3])
    n_fits = {standing.model: standing.n_fits for standing in model.leaderboard_}
    slow = {name: n for name, n in n_fits.items() if name.startswith("RSLVQ")}
    assert list(slow.values()) == [1]
    assert all(n >= 3 for name, n in n_fits.items() if name not in slow)
    assert model.best_params_["model"] != "RSLVQ"
    assert model.stopped_.startswith("time_budget=60 seconds leave no time for more: 13 of 17 ")
    assert clock.now < 60.0


def test_the_time_of_the_last_fit_decides_too(clock):
    """Of 150 rows the search fits 120."""
    given = {"families": ["MeanOfClass", "GLVQ"], "max_fits": 40, "random_state": 0}
    slow = costly(clock, {"GLVQ": 1.0}, 0.002)
    model = AutoPrototypeClassifier(scoring=slow, time_budget=1e6, **given).fit(X, Y)
    assert model.best_params_["model"] == "GLVQ"
    clock.now = 0.0
    model = AutoPrototypeClassifier(scoring=slow, time_budget=4.0, **given).fit(X, Y)
    assert model.best_params_["model"] == "MeanOfClass"


def test_compilation_is_no_part_of_a_fit(monkeypatch, clock):
    """Only the first fit of a process needs it, and it says nothing about others."""
    from numba.core import event

    def compiled(model, X, y):
        with event.trigger_event("numba:compiler_lock"):
            clock.now += 20.0
        clock.now += 1.0
        return 0.5

    monkeypatch.setattr(event, "timer", clock)
    model = AutoPrototypeClassifier(
        families="MeanOfClass", scoring=compiled, max_fits=3, random_state=0
    ).fit(X, Y)
    assert model.leaderboard_[0].fit_time == pytest.approx(2.0)  # a score on each of two folds
    assert model.search_time_ == pytest.approx(3 * 42.0)


@pytest.mark.parametrize("choose", [best, simplest])
def test_nothing_is_kept_for_those_that_failed(clock, choose):
    ledger, _ = timed(clock, np.ones(2), 10.0, choose=choose)
    ledger.candidates[0].failing = True
    ledger._make([(0, 0)])
    assert ledger.pace.in_time(ledger, [(1, 0)], 1) == [(1, 0)]
    assert ledger.pace.rows_in_time(ledger, 0) == ledger.pace.n_rows


def test_a_model_of_fewer_rows_keeps_the_names_of_features(monkeypatch):
    rows = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    monkeypatch.setattr(Pace, "rows_in_time", lambda *given: 60)
    model = AutoPrototypeClassifier(families=["MeanOfClass"], random_state=0).fit(rows, Y)
    assert model.stopped_.endswith("; the model was fitted to 60 of 150 rows")
    assert list(model.best_estimator_.feature_names_in_) == list("abcd")
    assert model.best_estimator_[0].n_samples_seen_ == 60
    assert model.score(rows, Y) > 0.8
