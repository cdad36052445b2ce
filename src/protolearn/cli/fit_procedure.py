"""The work of ``protolearn fit``: one search that chooses a model and shows how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Indices
from ..folds import group_keyword
from ..selection import Answers, AutoPrototypeClassifier
from ..store import UnusableStore
from ..tables import table_pipeline
from .data_source import PLAIN_READING, STANDARD_INPUT, Reading
from .engines import Engine
from .failure import FAILED, Failure
from .learning_table import LearningTable, TableForm
from .training_rows import LEARNED_ROWS
from .unfinished import Unfinished, set_aside

SHORTEST = 0.05
"""Seconds that the search is given at least."""

ENDING = 3.0
"""Seconds that are kept for a fit that takes longer than expected, and for the files at the end."""

MOST_OF_IT = 0.25
"""But not more than this share of the time."""

ReportProgress = Callable[[float, str], None]
"""Is told the share of the work that is done, and what is best so far."""

SCORERS = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced_accuracy",
    "auc": "roc_auc",
    "log-loss": "neg_log_loss",
    "f1": "f1_macro",
    "mcc": "matthews_corrcoef",
}
"""What the choice optimises, and scikit-learn's name of it."""

UNEQUAL = 4.0
"""Times as large as the smallest class that the largest may be, if accuracy is optimised."""


def metric_for(metric: str | None, y: NDArray[Any]) -> str:
    """Return what the choice optimises: as wished, or by the sizes of the classes."""
    if metric is not None:
        return str(metric)
    sizes = np.unique(y, return_counts=True)[1]
    return "balanced-accuracy" if sizes.max() > UNEQUAL * sizes.min() else "accuracy"


def scorer_named(metric: str, n_classes: int) -> str:
    """Return scikit-learn's name of a metric."""
    return "roc_auc_ovr" if metric == "auc" and n_classes > 2 else SCORERS[metric]


ALL_ROWS = "all"
"""Name of the files of the search."""


@dataclass(frozen=True)
class FitSettings:
    """The options of ``protolearn fit``; its help, in ``commands.py``, says what they mean."""

    data: str
    target: str | None = None
    model: str = "auto"
    out: Path | None = None
    seconds: float | None = None
    fits: int | None = None
    prefer: str = "readable"
    folds: int = 5
    rows: int = LEARNED_ROWS
    seed: int = 0
    jobs: int | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    image: tuple[int, int] | None = None
    reject_cost: float = 0.2
    metric: str | None = None
    bins: str | None = None
    merge_rare: bool = False
    group: str | None = None
    by: str | None = None
    engine: Engine = Engine.local
    scheduler: str | None = None
    reading: Reading = PLAIN_READING
    raw: bool = False
    force: bool = False

    @property
    def form(self) -> TableForm:
        """How the table is taken."""
        fewest = self.folds if self.merge_rare else 0
        return TableForm(self.bins, fewest, self.group, self.by, self.image is not None)

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        name = Path(self.data).absolute().name.removesuffix(".gz").removesuffix(".zst")
        name = "input" if name == STANDARD_INPUT else name
        return self.out if self.out is not None else Path(f"protolearn-{Path(name).stem}")


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

    @property
    def budget(self) -> float | None:
        """The seconds for the search; None: no end."""
        return None if self.seconds is None else max(self.remaining_seconds, SHORTEST)


class OuterFold(NamedTuple):
    """A fold of the search, of which the first has the number 1.

    The model ``chosen`` by the other folds, and fitted to them, gave the answers.
    """

    number: int
    test: Indices
    answers: Answers
    chosen: str
    n_train: int


@dataclass(frozen=True)
class Procedure:
    """Choose a model by cross-validation, and fit it to all rows.

    What the search said about held-out rows shows how good the procedure is.
    """

    settings: FitSettings
    table: LearningTable
    families: Any
    clock: Clock
    n_jobs: int
    unfinished: Unfinished
    report: ReportProgress

    def model(self) -> Pipeline:
        """Return the model of all rows, fitted now or before."""
        found = self.unfinished.load_model(ALL_ROWS)
        if found is None:
            found = self._fit()
            self.unfinished.save_model(ALL_ROWS, found)
        return found

    def _fit(self) -> Pipeline:
        """Return the model that was chosen within the time, fitted to all rows."""

        def tell(progress: Any) -> None:
            self.report(progress.share, f"{progress.n_fits} fits, best {progress.best_model}")

        path = self.unfinished.search_path(ALL_ROWS)
        auto = AutoPrototypeClassifier(
            families=self.families,
            max_fits=self.settings.fits,
            prefer=str(self.settings.prefer),
            time_budget=self.clock.budget,
            cv=self.settings.folds,
            standardize=False,
            scoring=scorer_named(
                metric_for(self.settings.metric, self.table.y), len(np.unique(self.table.y))
            ),
            checkpoint=path,
            callback=tell,
            n_jobs=self.n_jobs,
            random_state=self.settings.seed,
        )
        try:
            model = table_pipeline(auto, self.table.X)
            together = (
                {} if self.table.groups is None else {group_keyword(model) or "": self.table.groups}
            )
            model.fit(self.table.X, self.table.y, **together)
        except UnusableStore:
            set_aside(path)
            return self._fit()
        except ValueError as error:
            raise Failure(str(error), FAILED) from error
        model[-1].set_params(checkpoint=None, callback=None)  # no part of the model
        return model


def outer_folds(model: Pipeline, y: NDArray[Any]) -> list[OuterFold]:
    """Return the folds that the search has held out, each with the answers about its rows."""
    auto = model[-1]
    found = []
    for number, chosen in enumerate(auto.held_out_models_):
        test = np.flatnonzero(auto.held_out_folds_ == number)
        if len(test):
            n_train = int((auto.held_out_folds_ != number).sum())
            found.append(OuterFold(number + 1, test, answers_about(auto, test, y), chosen, n_train))
    return found


def answers_about(auto: AutoPrototypeClassifier, rows: Indices, y: NDArray[Any]) -> Answers:
    """Return what the search says about rows that it has held out."""
    shares = auto.held_out_proba_[rows]
    with np.errstate(divide="ignore"):
        scores = np.maximum(np.log(shares), np.log(np.finfo(float).tiny))
    return Answers(y[rows], auto.classes_[shares.argmax(axis=1)], auto.classes_, scores, shares)


def chosen_model(model: Pipeline) -> str:
    """Return the model that a search has chosen, with the settings that are not its defaults."""
    return next(standing.model for standing in model[-1].leaderboard_ if standing.chosen)
