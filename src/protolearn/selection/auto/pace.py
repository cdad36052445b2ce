"""How much may be tried: fits and seconds, those of the last fit to all rows included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from statistics import median
from time import monotonic

import numpy as np

from .choice import FEWEST, Choice, best, chosen_of
from .ledger import Ledger, Place
from .search_data import LeftOut
from .trials import trial

SAFETY = 1.5
"""So many times the time that the last fit is expected to take is kept for it."""

SHARE = 0.1
"""Share of the time that a first fit of a model is given, and the last fit in any case."""

LAST_SHARE, FEWER = 1.0 / 3.0, 0.8
"""Share of the time that is kept for the last fit at most, and of the rows, step by step."""

STEPS = 32, 8
"""Of a model that was never fitted one row in so many is; more rows if by fewer there is time."""

MANY_ROWS, FEWEST_PASSES = 16_000, 0.3
"""Rows above which models make fewer passes over them, down to this share."""

FEWEST_PROBED = 20
"""Rows that are fitted at least: less time than they take need not be known."""


class Budget:
    """How many fits may be made, and the seconds within which they may begin; None: no limit."""

    def __init__(self, max_fits: int | None, seconds: float | None):
        self.max_fits = max_fits
        self.seconds = seconds
        self.n_fits = 0
        self._start = monotonic()

    @property
    def seconds_spent(self) -> float:
        """The seconds since the beginning."""
        return monotonic() - self._start

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.seconds_spent >= self.seconds

    def n_allowed(self, n_fits: int, timeless: bool = False) -> int:
        """Return how many of some fits may begin now; the very first always may.

        ``timeless``: among them are some that take no time.
        """
        if self.n_fits and not timeless and self.over:
            return 0
        return n_fits if self.max_fits is None else min(n_fits, self.max_fits - self.n_fits)

    def reason(self) -> str:
        """Return which limit was met."""
        if self.max_fits is not None and self.n_fits >= self.max_fits:
            return f"max_fits={self.max_fits} was reached"
        rest = "were over" if self.over else "leave no time for more"
        return f"time_budget={self.seconds:g} seconds {rest}"


class Pace:
    """Which fits there is time for, by those that have been made.

    The last fit, that of the choice to all rows, shares the time of the budget; there are
    ``n_last`` such fits. If the pace is ``patient``, a single candidate may have all the time that
    is left.
    """

    def __init__(self, budget: Budget, n_rows: int, choose: Choice, n_last: int = 1):
        self.budget, self.n_rows, self.choose, self.n_last = budget, n_rows, choose, n_last
        self.patient = False
        self._foretold: dict[type, float | None] = {}

    def in_time(self, ledger: Ledger, places: Sequence[Place], n_workers: int) -> list[Place]:
        """Return those of some fits that may begin: what is known already always may.

        There must be time for all of these fits of a candidate, since its score is compared with
        others when it has them, and for the last fit, whether of this candidate or of the one that
        is ahead. Unless the pace is patient, they may not take so much of the time that none is
        left to compare others. A model that has never been fitted has a share of the time to show
        what it takes, and as long as no candidate has all fits of a split each may have one.
        """
        total = self.budget.seconds
        if total is None:
            return list(places)
        left = total - self.budget.seconds_spent
        kept = self._kept_for_the_choice(ledger, left)
        most = total if self.patient else total / min(FEWEST, len(ledger.candidates))
        compared = has_comparison(ledger)
        new = Counter(number for number, part in places if (number, part) not in ledger.known)
        seconds = Seconds(ledger, self._foretold)

        def may_begin(number: int) -> bool:
            each = seconds.of(number)
            if each is None:  # unless a few rows may still tell more
                share = SHARE * total if ledger.candidates[number].model in self._foretold else 0.0
                return share + kept <= left
            last = self._kept_for_last(self._grow(ledger, number, each, len(ledger.parts[0].train)))
            whole = ceil(new[number] / n_workers) * each
            if not seconds.own(number):
                return (whole if compared else each) + max(kept, last) <= left
            return whole <= most and whole + max(kept, last) <= left

        allowed = {number for number in new if may_begin(number)}
        return [place for place in places if place in ledger.known or place[0] in allowed]

    def foretell(self, ledger: Ledger, place: Place) -> bool:
        """See what a model takes that has never been fitted; tell whether that is new."""
        model = ledger.candidates[place[0]].model
        if self.budget.seconds is None or place in ledger.known or model in self._foretold:
            return False
        if Seconds(ledger, self._foretold).of(place[0]) is not None:
            return False
        left = self.budget.seconds - self.budget.seconds_spent
        self._foretold[model] = expected_seconds(ledger, place[0], left)
        return True

    def together(self, ledger: Ledger, places: Sequence[Place], n_workers: int) -> Sequence[Place]:
        """Return those of some fits that begin at once: one for each worker if any may be slow.

        It may be, if the candidate has never been fitted.
        """
        if self.budget.seconds is None:
            return places
        fitted = {number for number, _ in ledger.trials}
        new = any(place[0] not in fitted and place not in ledger.known for place in places)
        return places[:n_workers] if new else places

    def by_speed(self, ledger: Ledger) -> list[int]:
        """Return all candidates, those that are expected to be quick first."""
        seconds = Seconds(ledger, self._foretold)
        known = [seconds.of(number) for number in range(len(ledger.candidates))]
        return np.argsort([np.inf if one is None else one for one in known], kind="stable").tolist()

    def last_fit(self, ledger: Ledger, number: int, n_rows: float | None = None) -> float:
        """Return the seconds that a candidate would take for all rows, or for so many."""
        made = [
            (k, ledger.trials[number, k].seconds)
            for k, _ in enumerate(ledger.parts)
            if (number, k) in ledger.trials
        ]
        return median(
            self._grow(ledger, number, one, len(ledger.parts[k].train), n_rows) for k, one in made
        )

    def rows_in_time(self, ledger: Ledger, number: int) -> int:
        """Return how many rows there is time to fit a candidate to at last, if not all.

        They are at least as many as it was compared by.
        """
        n_rows = self.n_rows
        if self.budget.seconds is None:
            return n_rows
        left = max(self.budget.seconds - self.budget.seconds_spent, SHARE * self.budget.seconds)
        fewest = min(max(len(part.train) for part in ledger.parts), n_rows)
        while n_rows > fewest and SAFETY * self.last_fit(ledger, number, n_rows) > left:
            n_rows = max(int(FEWER * n_rows), fewest)
        return n_rows

    def _grow(
        self, ledger: Ledger, number: int, seconds: float, fitted: int, n_rows: float | None = None
    ) -> float:
        """Return what the last fits take, if a fit to ``fitted`` rows takes some seconds.

        Time grows with the rows, or with their square; the more rows, the fewer passes over them.
        """
        n_rows = n_rows or self.n_rows
        times = n_rows / fitted
        if ledger.candidates[number].all_pairs:
            return self.n_last * seconds * times**2
        fewer = np.clip(MANY_ROWS / n_rows, FEWEST_PASSES, 1.0)
        return float(self.n_last * seconds * max(times * fewer, 1.0))

    def _kept_for_last(self, seconds: float) -> float:
        """Return the time that is kept for last fits, which may take fewer rows if it is short."""
        return min(SAFETY * seconds, LAST_SHARE * (self.budget.seconds or np.inf))

    def _kept_for_the_choice(self, ledger: Ledger, left: float) -> float:
        """Return the seconds for the last fit of the candidates ahead, as far as there is time.

        As long as nothing has been compared any may be chosen, so that for the quickest of them is
        enough, and others should be looked at.
        """
        n_fits = ledger.n_fits()
        if not n_fits.any():
            return 0.0
        if not has_comparison(ledger):
            quickest = min(self.last_fit(ledger, int(n)) for n in np.flatnonzero(n_fits))
            quickest = min(quickest, self._kept_for_last(quickest))
            return quickest if quickest <= left else 0.0
        ahead = {chosen_of(ledger, choose) for choose in (best, self.choose)}
        kept = [self._kept_for_last(self.last_fit(ledger, number)) for number in ahead]
        return max((seconds for seconds in kept if seconds <= left), default=0.0)


def has_comparison(ledger: Ledger) -> bool:
    """Whether a candidate has all fits of the first look."""
    return int(ledger.n_fits().max()) >= ledger.n_looks


class Seconds:
    """What fits of candidates take, by those that have been made, or as foretold for a model."""

    def __init__(self, ledger: Ledger, foretold: Mapping[type, float | None]):
        self._models = [candidate.model for candidate in ledger.candidates]
        self._foretold = foretold
        self._own: dict[int, list[float]] = {}
        self._by_model: dict[type, list[float]] = {}
        for (number, _), one in ledger.trials.items():
            self._own.setdefault(number, []).append(one.seconds)
            self._by_model.setdefault(self._models[number], []).append(one.seconds)

    def own(self, number: int) -> list[float]:
        """Return what the fits of a candidate have taken."""
        return self._own.get(number, [])

    def of(self, number: int) -> float | None:
        """Return what a fit takes: as others of the candidate, or of its model; None: unknown."""
        made = self.own(number) or self._by_model.get(self._models[number])
        return median(made) if made else self._foretold.get(self._models[number])


def expected_seconds(ledger: Ledger, number: int, left: float) -> float | None:
    """Return the seconds that a fit is expected to take, as if they grew with the rows.

    None: there are so few rows that nobody needs to know.
    """
    candidate, part, seconds = ledger.candidates[number], ledger.parts[0], None
    for step in STEPS:
        tests = tuple(test[::step] for test in part.tests)
        few = LeftOut(part.train[::step], tests, part.folds)
        if len(few.train) >= FEWEST_PROBED and (seconds is None or seconds <= left):
            seconds = step * trial(candidate, ledger.task, few).seconds
    return seconds
