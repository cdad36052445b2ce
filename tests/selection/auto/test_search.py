"""Successive halving by rounds, without a fit."""

import numpy as np
import pytest

from given_ledger import given_ledger, left_out
from protolearn.selection.auto.choice import FURTHER_SECONDS, rounds, search
from protolearn.selection.auto.ledger import BudgetSpent
from protolearn.selection.auto.pace import Budget

N_FIRST = 3  # fits of the first look; there are as many others


def random_scores(n_candidates, seed=0):
    return np.random.RandomState(seed).uniform(size=(n_candidates, 2 * N_FIRST, 2))


def made(scores, **given):
    return given_ledger(scores, n_folds=3, **given)


@pytest.mark.parametrize(
    ("n", "sizes"), [(1, [1]), (8, [8]), (9, [8, 9]), (60, [8, 16, 32, 60]), (16, [8, 16])]
)
def test_rounds(n, sizes):
    assert list(rounds(n)) == sizes


def test_the_better_ones_go_on_and_no_fit_is_made_twice():
    scores = random_scores(40)
    ledger, order = made(scores)
    assert search(ledger)
    assert len(set(order)) == len(order)
    looks, expected = left_out(3)[0], set()
    means = [scores[:, :N_FIRST].mean(axis=(1, 2))]
    for fold in range(3):  # also those that are better without a fold
        other = [(k, 1 - out.index(fold)) for k, out in enumerate(looks) if fold in out]
        means.append(np.mean([scores[:, k, j] for k, j in other], axis=0))
    for one in means:
        for n, kept in (8, 3), (16, 3), (32, 4), (40, 5):
            expected |= {*np.argsort(-one[:n])[:kept]}
    assert len(expected) < 30
    assert set(np.flatnonzero(ledger.is_complete())) == expected
    assert (ledger.n_fits() >= N_FIRST).all()


def test_the_best_go_on_first():
    scores = random_scores(8)
    ledger, order = made(scores, max_fits=8 * N_FIRST + 1)
    assert not search(ledger)
    assert order[-1] == (int(scores[:, :N_FIRST].mean(axis=(1, 2)).argmax()), N_FIRST)


def test_of_equals_the_smaller_go_on():
    sizes = np.array([8, 7, 6, 5, 1, 2, 3, 4])
    ledger, _ = made(np.full((8, 2 * N_FIRST, 2), 0.5), sizes=sizes)
    assert search(ledger)
    assert set(np.flatnonzero(ledger.is_complete())) == {4, 5, 6}


def test_slow_ones_go_on_as_far_as_there_is_time():
    """Time as it is expected, whatever the clock says; one always goes on."""
    scores = np.broadcast_to(np.linspace(0.9, 0.1, 8)[:, None, None], (8, 2 * N_FIRST, 2))
    for seconds, kept in (1.0, {0, 1, 2}), (FURTHER_SECONDS / 2, {0, 1}), (1e9, {0}):
        ledger, _ = made(scores)
        ledger.further_seconds = np.full(8, seconds)
        assert search(ledger)
        assert set(np.flatnonzero(ledger.is_complete())) == kept


@pytest.mark.parametrize("max_fits", [1, 7, 24, 31, 47])
def test_a_longer_search_begins_as_a_shorter_one(max_fits):
    scores = random_scores(16)
    short, first = made(scores, max_fits=max_fits)
    assert not search(short)
    assert len(first) == max_fits
    longer, second = made(scores, max_fits=max_fits + 13)
    search(longer)
    assert second[:max_fits] == first


def test_a_candidate_that_fails_does_not_go_on():
    ledger, order = made(random_scores(8), failing={2, 5})
    assert search(ledger)
    assert max(fold for number, fold in order if number in (2, 5)) < N_FIRST
    assert ledger.n_fits()[2] == 0
    assert set(ledger.failures()) == {2, 5}


def test_all_may_fail():
    ledger, _ = made(random_scores(8), failing=range(8))
    assert search(ledger)
    assert not ledger.n_fits().any()


def test_the_first_fit_is_made_whatever_the_time():
    budget = Budget(None, 1e-9)
    assert budget.n_allowed(3) == 3
    budget.n_fits = 3
    assert budget.n_allowed(3) == 0
    assert budget.n_allowed(3, timeless=True) == 3
    assert "1e-09 seconds were over" in budget.reason()


def test_what_is_known_is_taken_over_and_counted():
    scores = random_scores(16)
    whole, _ = made(scores)
    search(whole)
    part, first = made(scores, max_fits=20)
    search(part)
    rest, second = made(scores, max_fits=31)
    rest.known = part.trials
    search(rest)
    assert rest.budget.n_fits == 31
    assert len(second) == 11
    assert first + second == list(whole.trials)[:31]


def test_who_has_not_finished_the_first_split_does_not_go_on():
    """Five of eight have no place: among the better half are those with one, in their order."""
    scores = random_scores(8)
    ledger, order = made(scores)

    class Hasty:
        """Passes over the others."""

        def in_time(self, ledger, places, n_workers):
            return [place for place in places if place[0] in (1, 4, 6) or place[1] == 0]

        def foretell(self, ledger, place):
            return False

        def together(self, ledger, places, n_workers):
            return places

    ledger.pace = Hasty()
    assert not search(ledger)
    assert [n for n in range(8) if ledger.n_fits()[n] > 1] == [1, 4, 6]
    means = scores[:, :N_FIRST].mean(axis=(1, 2))
    later = [number for number, fold in order if fold == N_FIRST]
    assert later == sorted((1, 4, 6), key=lambda number: -means[number])


def test_no_budget_is_said():
    ledger, _ = made(random_scores(3), max_fits=1)
    with pytest.raises(BudgetSpent):
        ledger.fill([0], 2)
