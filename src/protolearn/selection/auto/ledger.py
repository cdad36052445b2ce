"""What is known of the candidates: the scores of those fits that have been made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from ..._arrays import Floats, Indices
from ...store import Owner, Store, digest, text
from .candidates import Candidate
from .search_data import SearchPlan
from .trials import SearchedData, Trial, trial

if TYPE_CHECKING:
    from .pace import Budget, Pace

OWNER = Owner("AutoPrototypeClassifier", "search")

AHEAD = 2
"""Fits for each worker that begin together: the clock is read in between."""

Place = tuple[int, int]
"""Numbers of a candidate and of what its fit leaves out."""


class BudgetSpent(Exception):
    """There is no budget left for the fits that were asked for."""


class Ledger:
    """Cross-validation of candidates, fit by fit, as far as it is asked for.

    Attributes
    ----------
    scores : array of shape (n_candidates, n_parts, 2)
        On the folds that a fit leaves out; NaN where there is only one, or no fit yet, or it
        failed.
    n_looks : int
        Fits of the first look, which leave out the first parts.
    single : list of int
        The parts that are one fold alone, in the order of the folds.
    replayed : range
        The folds without which the choice is repeated; none if other rows test it.
    further_seconds : array of shape (n_candidates,)
        What the fits after the first look are expected to take.
    handicaps : array of shape (n_candidates,)
        What is added to the size of candidates, so that others are preferred.
    trials : dict of (candidate, part) to Trial
        All fits that have been made.
    known : dict of (candidate, part) to Trial
        Fits that an earlier search has made: they are taken over when they are asked for.
    passed_over : bool
        Whether fits were left out for lack of time.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        task: SearchedData,
        plan: SearchPlan,
        budget: Budget,
        *,
        n_jobs: int | None,
        pace: Pace | None = None,
    ):
        self.candidates, self.task = candidates, task
        self.parts = [*plan.looks, *plan.others]
        self.n_looks = len(plan.looks)
        self.single = [k for k, part in enumerate(self.parts) if len(part.folds) == 1]
        self.n_folds = len(self.single)
        self.replayed = range(self.n_folds if plan.test is None else 0)
        n_classes = len(np.unique(task.y))
        self.handicaps = np.zeros(len(candidates))
        self.further_seconds = np.zeros(len(candidates))
        for part in plan.others:
            size = len(part.train), task.X.shape[1], n_classes
            self.further_seconds += [one.expected_seconds(*size) for one in candidates]
        self.budget, self.pace = budget, pace
        self.scores = np.full((len(candidates), len(self.parts), 2), np.nan)
        self.trials: dict[Place, Trial] = {}
        self.known: dict[Place, Trial] = {}
        self.store: Store | None = None
        self.passed_over = False
        self.report: Callable[[], None] = lambda: None
        self._workers = Parallel(n_jobs=n_jobs, prefer="threads")
        self._n_workers = effective_n_jobs(n_jobs)
        self._chunk = self._n_workers * (AHEAD if self._n_workers > 1 else 1)

    def keep_in(self, path: Any, settings: Mapping[str, Any]) -> Store:
        """Keep all fits in a file, which is returned; those that it has need not be made again.

        ``settings`` decide about the fits beside the data, candidates and folds.
        """
        X, y = self.task.X, self.task.y
        every = [[str(one), one.settings, one.scaled] for one in self.candidates]
        known_by = {
            "protolearn": version("protolearn"),
            "X": f"{X.shape[0]} rows, {X.shape[1]} features #{digest(X)}",
            "y": f"#{digest(y)}",
            "families": text(list(dict.fromkeys(one.family for one in self.candidates))),
            "candidates": f"{len(every)} #{digest(text(every))}",
            "folds": f"#{digest(*(rows for part in self.parts for rows in part.tests))}",
            **{name: text(value) for name, value in settings.items()},
        }
        self.store = Store(path, known_by, owner=OWNER)
        for place in product(range(len(self.candidates)), range(len(self.parts))):
            if place in self.store:
                scores, *rest = self.store.get(place)
                self.known[place] = Trial(tuple(scores), *rest)
        return self.store

    def fill(self, numbers: Sequence[int], n_fits: int) -> None:
        """Make those of the first fits of some candidates that have not been made.

        A candidate that has failed is not tried again, and one that takes longer than there is time
        is passed over.
        """
        failed = self.failures()
        places = ((number, part) for number in numbers for part in range(n_fits))
        missing = [place for place in places if place not in self.trials and place[0] not in failed]
        while missing:
            taken_over = bool(self.known.keys() - self.trials.keys())
            n_now = self.budget.n_allowed(min(self._chunk, len(missing)), timeless=taken_over)
            if not n_now:
                raise BudgetSpent
            n_wanted = len(missing)
            if self.pace is not None:
                missing = self.pace.in_time(self, missing, self._n_workers)
            self.passed_over |= len(missing) < n_wanted
            now: Sequence[Place] = missing[:n_now]
            if self.pace is not None:
                if now and self.pace.foretell(self, now[0]):
                    continue
                now = self.pace.together(self, now, self._n_workers)
            self._make(now)
            missing = missing[len(now) :]

    def be_patient(self) -> None:
        """Let slow candidates have the time that others left; one has a fit, whatever it takes."""
        if self.pace is None:
            return
        self.pace.patient, self.passed_over = True, False
        for number in self.pace.by_speed(self) if not self.trials else ():
            self._make([(number, 0)])
            if self.n_fits().any():
                break

    def n_fits(self) -> Indices:
        """Return how many of its first fits each candidate has; 0 if it failed."""
        number = np.isfinite(self.scores[:, :, 0]).cumprod(axis=1).sum(axis=1)
        number[list(self.failures())] = 0
        return number

    def is_complete(self) -> NDArray[np.bool_]:
        """Return which candidates have all fits."""
        return self.n_fits() == len(self.parts)

    def on_folds(self, numbers: Any) -> Floats:
        """Return the scores of candidates on each fold, by the fits that left out no other."""
        return np.asarray(self.scores[numbers][:, self.single, 0])

    def first_scores(self, numbers: Any, n_fits: int) -> Floats:
        """Return the scores of the first fits of candidates, mean over what each left out."""
        return np.asarray(np.nanmean(self.scores[numbers][:, :n_fits], axis=2))

    def without(self, numbers: Any, fold: int, n_fits: int | None = None) -> Floats:
        """Return the scores on other folds by those of the first fits that left out this one too.

        By all fits of two folds if no number is given.
        """
        scores = [
            self.scores[numbers, place, 1 - part.folds.index(fold)]
            for place, part in enumerate(self.parts[:n_fits])
            if fold in part.folds and len(part.folds) == 2
        ]
        return np.stack(scores, axis=1) if scores else np.empty((len(numbers), 0))

    def failures(self) -> dict[int, str]:
        """Return the reason for each candidate that failed."""
        return {number: t.failure for (number, _), t in self.trials.items() if t.failure}

    def of(self, number: int, what: str) -> Floats:
        """Return something that is known of each fit of a candidate."""
        places = [(number, part) for part in range(len(self.parts))]
        made = [self.trials[place] for place in places if place in self.trials]
        return np.array([getattr(trial, what) for trial in made])

    def decisions(self, number: int, place: int) -> Floats | None:
        """Return the scores of the classes for the held-out rows of a fit, if they were kept."""
        found = self.trials.get((number, place))
        return None if found is None else found.decisions

    def answers(self, number: int, place: int, fold: int) -> tuple[Indices, Floats]:
        """Return the rows of a fold that a fit left out, and the scores of their classes."""
        part, found = self.parts[place], self.decisions(number, place)
        assert found is not None
        first = len(part.tests[0])
        return next(
            (test, found[:first] if k == 0 else found[first:])
            for k, test in enumerate(part.tests)
            if part.folds[k] == fold
        )

    def sizes(self, numbers: Any) -> Floats:
        """Return how many numbers candidates take, mean over their fits.

        If readable models are preferred, those that are harder to look at count as much larger, and
        prototypes that look like no row of their class as several.
        """
        sizes = np.array([self.of(number, "n_numbers").mean() for number in numbers])
        if self.handicaps.any():
            sizes *= [self.of(number, "oddness").mean() for number in numbers]
        return sizes + self.handicaps[numbers]

    def _make(self, places: Sequence[Place]) -> None:
        """Fit and score, several at a time; take over what is known."""
        new = [place for place in places if place not in self.known]
        # Answers about two folds are needed only until those about single ones are known.
        first = not self.is_complete().any()
        jobs = [
            delayed(trial)(
                self.candidates[number], self.task, self.parts[part], first or part in self.single
            )
            for number, part in new
        ]
        made = dict(zip(new, self._workers(jobs) if jobs else [], strict=True))
        for place in places:
            one = made[place] if place in made else self.known[place]
            self.trials[place] = one
            self.scores[place][: len(one.scores)] = one.scores
            if self.store is not None and place in made:
                self.store.add(place, one)
        self.budget.n_fits += len(places)
        if places:
            self.report()
