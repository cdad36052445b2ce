"""Learning a model from a table, and judging the whole procedure on rows it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from .._arrays import Indices
from ..selection import Answers, AutoPrototypeClassifier, answers_of, labelled_rows
from ..tables import table_pipeline
from .clock import Clock
from .failure import FAILED, Failure
from .learning_table import LearningTable
from .unfinished import Unfinished

Report = Callable[[str, float, str], None]
"""Is told the part of the work, the share of the whole that is done, and what is best so far."""

ALL = "all"
"""Name of the part that learns from all rows."""


class Fold(NamedTuple):
    """What came of an outer fold.

    Attributes
    ----------
    number : int
        The first is 1.
    test : array
        The rows that were left out.
    answers : Answers
        What the model says about them.
    chosen : str
        The model that was chosen without them.
    n_train : int
        Rows that it was chosen by and fitted to.
    """

    number: int
    test: Indices
    answers: Answers
    chosen: str
    n_train: int


@dataclass(frozen=True)
class Procedure:
    """Choose and fit a model: once for all rows, once without each outer fold.

    Parameters
    ----------
    table : LearningTable
        The rows.
    families : "all" or list of str
        What may be chosen.
    max_fits : int or None
        Fits of each search.
    clock : Clock
        The time for all of them together.
    n_folds : int
        Outer folds; fewer if a class has fewer rows.
    seed : int
        Of everything random.
    n_jobs : int
        Fits at a time.
    unfinished : Unfinished
        Where finished parts are kept.
    report : callable
        Is told how far the work is.
    """

    table: LearningTable
    families: Any
    max_fits: int | None
    clock: Clock
    n_folds: int
    seed: int
    n_jobs: int
    unfinished: Unfinished
    report: Report = field(default=lambda part, share, best: None)

    @property
    def splits(self) -> list[tuple[Indices, Indices]]:
        """The outer folds."""
        _, counts = np.unique(self.table.y, return_counts=True)
        n_folds = min(self.n_folds, int(counts.min()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=self.seed)
        return list(splitter.split(np.zeros(len(self.table.y)), self.table.y))

    def model(self) -> Pipeline:
        """Return the model of all rows, fitted now or before."""
        found = self.unfinished.load_model(ALL)
        if found is None:
            found = self._fitted(ALL, 0, self.table.X, self.table.y)
            self.unfinished.save_model(ALL, found)
        return found

    def folds(self) -> Iterator[Fold]:
        """Judge the procedure fold by fold, as long as there is time, but at least once."""
        for number, (train, test) in enumerate(self.splits, start=1):
            part = f"fold-{number}"
            found = self.unfinished.get(part)
            if found is None:
                if number > 1 and self.clock.left <= 0.0:
                    return
                found = self._judged(part, number, train, test)
                self.unfinished.add(part, found)
            answers = as_answers(found, self.table.y[test])
            yield Fold(number, test, answers, found["chosen"], len(train))

    def _judged(self, part: str, number: int, train: Indices, test: Indices) -> dict[str, Any]:
        """Fit without some rows, and ask about them."""
        X, y = self.table.X, self.table.y
        model = self._fitted(part, number, X[train], y[train])
        said = answers_of(model, labelled_rows(X[test], y[test]))
        return {
            "chosen": chosen_by(model),
            "classes": said.classes.tolist(),
            "predicted": said.y_pred.tolist(),
            "scores": None if said.scores is None else said.scores.tolist(),
            "probabilities": None if said.probabilities is None else said.probabilities.tolist(),
        }

    def _fitted(self, part: str, done: int, X: NDArray[Any], y: NDArray[Any]) -> Pipeline:
        """Choose and fit within an equal share of the time that is left."""
        n_parts = len(self.splits) + 1
        what = "learning from all rows" if part == ALL else f"judging, fold {done} of {n_parts - 1}"

        def tell(progress: Any) -> None:
            best = f"{progress.n_fits} fits, best {progress.best_model}"
            self.report(what, (done + progress.share) / n_parts, best)

        self.report(what, done / n_parts, "")
        auto = AutoPrototypeClassifier(
            families=self.families,
            max_fits=self.max_fits,
            time_budget=self.clock.share(n_parts - done),
            standardize=False,
            checkpoint=self.unfinished.search_path(part),
            callback=tell,
            n_jobs=self.n_jobs,
            random_state=self.seed,
        )
        try:
            model = table_pipeline(auto, self.table.X).fit(X, y)
        except ValueError as error:
            raise Failure(str(error), FAILED) from error
        model[-1].set_params(checkpoint=None, callback=None)  # no part of the model
        return model


def chosen_by(model: Pipeline) -> str:
    """Write the model that a search has chosen, with the settings that are not its defaults."""
    return next(standing.model for standing in model[-1].leaderboard_ if standing.chosen)


def as_answers(found: dict[str, Any], y_true: NDArray[Any]) -> Answers:
    """Return the answers of a fold that were put down."""
    scores, probabilities = (
        None if found[name] is None else np.array(found[name])
        for name in ("scores", "probabilities")
    )
    classes, predicted = (np.array(found[name]) for name in ("classes", "predicted"))
    return Answers(y_true, predicted, classes, scores, probabilities)
