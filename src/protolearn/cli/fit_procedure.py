"""The work of ``protolearn fit``: choose and fit a model, and judge the choice by outer folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Indices
from ..folds import Fold, RowGroups, row_groups, stratified_folds
from ..selection import Answers, AutoPrototypeClassifier, answers_of, labelled_rows
from ..store import UnusableStore
from ..tables import table_pipeline
from .engines import Engine
from .failure import FAILED, Failure
from .learning_table import LearningTable
from .training_rows import MOST_ROWS
from .unfinished import Unfinished, set_aside

DEFAULT_SECONDS = 60.0

SHORTEST = 0.05
"""Seconds that any part of the work is given."""

ENDING = 3.0
"""Seconds that are kept for a fit that takes longer than expected, and for the files at the end."""

MOST_OF_IT = 0.25
"""But not more than this share of the time."""

ReportProgress = Callable[[str, float, str], None]
"""Is told the part of the work, the share of the whole that is done, and what is best so far."""

ALL_ROWS = "all"
"""Name of the part that learns from all rows."""


@dataclass(frozen=True)
class FitSettings:
    """The options of ``protolearn fit``; its help, in ``commands.py``, says what they mean."""

    data: str
    target: str | None = None
    model: str = "auto"
    out: Path | None = None
    seconds: float | None = None
    fits: int | None = None
    folds: int = 5
    rows: int = MOST_ROWS
    seed: int = 0
    jobs: int | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    image: tuple[int, int] | None = None
    reject_cost: float = 0.2
    engine: Engine = Engine.local
    scheduler: str | None = None
    raw: bool = False
    force: bool = False

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        name = Path(self.data).absolute().name.removesuffix(".gz")
        return self.out if self.out is not None else Path(f"protolearn-{Path(name).stem}")

    @property
    def time_limit(self) -> float | None:
        """The seconds for the whole command."""
        return DEFAULT_SECONDS if self.seconds is None and self.fits is None else self.seconds


class Clock:
    """The seconds that a command may take, ``spent`` of them already; None: there is no limit."""

    def __init__(self, seconds: float | None, spent: float = 0.0):
        self.seconds = seconds
        self._start = monotonic() - spent

    @property
    def elapsed_seconds(self) -> float:
        """The seconds since the beginning."""
        return monotonic() - self._start

    @property
    def remaining_seconds(self) -> float:
        """The seconds that are left for work, without those kept for the end."""
        if self.seconds is None:
            return float("inf")
        return self.seconds - min(ENDING, MOST_OF_IT * self.seconds) - self.elapsed_seconds

    def share(self, n_parts: int) -> float | None:
        """Return the seconds for the next of so many equal parts; None: no end."""
        return None if self.seconds is None else max(self.remaining_seconds / n_parts, SHORTEST)


class OuterFold(NamedTuple):
    """What came of an outer fold, of which the first has the number 1.

    The model ``chosen`` without the rows ``test``, by ``n_train`` others, has given the answers.
    """

    number: int
    test: Indices
    answers: Answers
    chosen: str
    n_train: int


@dataclass(frozen=True)
class Procedure:
    """Choose and fit a model: once for all rows, once without each outer fold.

    The clock has the time for all of them together. Finished parts are kept in ``unfinished``.
    """

    settings: FitSettings
    table: LearningTable
    families: Any
    clock: Clock
    n_jobs: int
    unfinished: Unfinished
    report: ReportProgress

    @cached_property
    def together(self) -> RowGroups:
        """Which rows are copies of each other."""
        return row_groups(self.table.X)

    @cached_property
    def splits(self) -> list[Fold]:
        """The outer folds, fewer than wanted if a class has fewer different rows.

        A class of one row and its copies is never held out, since none would be left to learn.
        """
        y, (classes, counts) = self.table.y, self.together.count_by_class(self.table.y)
        several = counts > 1
        if not several.any():
            raise Failure("all rows of a class are equal, in every class: none can be held out.")
        n_folds = min(self.settings.folds, int(counts[several].min()))
        folds = stratified_folds(y, n_folds, self.together, random_state=self.settings.seed)
        alone = np.flatnonzero(np.isin(y, classes[~several]))
        if not len(alone):
            return folds
        groups = self.together.of(np.arange(len(y)))
        kept = np.flatnonzero(np.isin(groups, groups[alone]))
        return [(np.union1d(train, kept), np.setdiff1d(test, kept)) for train, test in folds]

    def model(self) -> Pipeline:
        """Return the model of all rows, fitted now or before."""
        found = self.unfinished.load_model(ALL_ROWS)
        if found is None:
            found = self._fit(ALL_ROWS, 0, self.table.X, self.table.y)
            self.unfinished.save_model(ALL_ROWS, found)
        return found

    def folds(self) -> Iterator[OuterFold]:
        """Evaluate the procedure fold by fold, as long as there is time, but at least once."""
        for number, (train, test) in enumerate(self.splits, start=1):
            part = f"fold-{number}"
            found = self.unfinished.get(part)
            if found is None:
                if number > 1 and self.clock.remaining_seconds <= 0.0:
                    return
                found = self._evaluate_fold(part, number, train, test)
                self.unfinished.add(part, found)
            answers = restore_answers(found, self.table.y[test])
            yield OuterFold(number, test, answers, found["chosen"], len(train))

    def _evaluate_fold(
        self, part: str, number: int, train: Indices, test: Indices
    ) -> dict[str, Any]:
        """Fit without some rows, and return what the model says about them."""
        X, y = self.table.X, self.table.y
        model = self._fit(part, number, X[train], y[train])
        said = answers_of(model, labelled_rows(X[test], y[test]))
        return {
            "chosen": chosen_model(model),
            "classes": said.classes.tolist(),
            "predicted": said.y_pred.tolist(),
            "scores": None if said.scores is None else said.scores.tolist(),
            "probabilities": None if said.probabilities is None else said.probabilities.tolist(),
        }

    def _fit(self, part: str, done: int, X: NDArray[Any], y: NDArray[Any]) -> Pipeline:
        """Return a model, chosen and fitted within an equal share of the time that is left."""
        n_parts = len(self.splits) + 1
        what = f"judging, fold {done} of {n_parts - 1}" if done else "learning from all rows"

        def tell(progress: Any) -> None:
            best = f"{progress.n_fits} fits, best {progress.best_model}"
            self.report(what, (done + progress.share) / n_parts, best)

        self.report(what, done / n_parts, "")
        auto = AutoPrototypeClassifier(
            families=self.families,
            max_fits=self.settings.fits,
            time_budget=self.clock.share(n_parts - done),
            standardize=False,
            checkpoint=self.unfinished.search_path(part),
            callback=tell,
            n_jobs=self.n_jobs,
            random_state=self.settings.seed,
        )
        try:
            model = table_pipeline(auto, self.table.X).fit(X, y)
        except UnusableStore:
            set_aside(self.unfinished.search_path(part))
            return self._fit(part, done, X, y)
        except ValueError as error:
            raise Failure(str(error), FAILED) from error
        model[-1].set_params(checkpoint=None, callback=None)  # no part of the model
        return model


def chosen_model(model: Pipeline) -> str:
    """Return the model that a search has chosen, with the settings that are not its defaults."""
    return next(standing.model for standing in model[-1].leaderboard_ if standing.chosen)


def restore_answers(found: dict[str, Any], y_true: NDArray[Any]) -> Answers:
    """Return the answers of a fold as they were kept."""
    scores, probabilities = (
        None if found[name] is None else np.array(found[name])
        for name in ("scores", "probabilities")
    )
    classes, predicted = (np.array(found[name]) for name in ("classes", "predicted"))
    return Answers(y_true, predicted, classes, scores, probabilities)
