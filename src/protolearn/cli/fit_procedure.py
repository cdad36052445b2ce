"""The work of ``protolearn fit``: one search that chooses a model and shows how good it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Indices
from ..folds import group_keyword
from ..selection import Answers, AutoPrototypeClassifier, CostScorer, PositiveScorer
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
    "average-precision": "average_precision",
    "log-loss": "neg_log_loss",
    "f1": "f1_macro",
    "mcc": "matthews_corrcoef",
    "cost": "",
}
"""What the choice optimises, and scikit-learn's name of it."""

UNEQUAL = 4.0
"""Times as large as the smallest class that the largest may be, if accuracy is optimised."""

LABEL = r"""\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|([^"',>=]+?))\s*"""
COST = re.compile(rf"{LABEL}>{LABEL}=\s*([^,]+?)\s*(?:,|$)")
"""One of the costs of errors, such as ``ill>well=20``; labels may be quoted."""


@dataclass(frozen=True)
class Aim:
    """What the choice of a model optimises.

    Attributes
    ----------
    metric : str
        A key of ``SCORERS``.
    positive : object
        The label of the class that is looked for, or None.
    scoring : object
        What :class:`AutoPrototypeClassifier` takes.
    costs : CostScorer or None
        What errors cost.
    """

    metric: str
    positive: Any
    scoring: Any
    costs: CostScorer | None


def aim_of(settings: FitSettings, y: NDArray[Any]) -> Aim:
    """Return what the choice optimises: as wished, or by the sizes of the classes."""
    labels, sizes = np.unique(y, return_counts=True)
    by_text = {str(label): label for label in labels.tolist()}
    positive = None
    if settings.positive is not None:
        if settings.positive not in by_text:
            raise Failure(
                f"--positive {settings.positive!r} is not a class; the classes are "
                f"{', '.join(map(repr, by_text))}."
            )
        positive = by_text[settings.positive]
    metric = "cost" if settings.metric is None and settings.cost else settings.metric
    if metric is None:
        uneven = sizes.max() > UNEQUAL * sizes.min()
        metric = "balanced-accuracy" if uneven else "accuracy"
    metric = str(metric)
    if (metric == "cost") != bool(settings.cost):
        raise Failure(
            "--metric cost needs the costs of errors, such as --cost 'ill>well=20'."
            if metric == "cost"
            else f"--cost does not work with --metric {metric}; use --metric cost instead."
        )
    costs = CostScorer(costs_of(settings.cost, by_text)) if settings.cost else None
    scoring: Any = costs or SCORERS[metric]
    if metric == "average-precision" and positive is None and len(labels) == 2:
        positive = labels.tolist()[int(sizes.argmin())]  # the rarer class is looked for
    name = SCORERS[metric].removeprefix("roc_").removesuffix("_macro")
    if metric == "average-precision" or (positive is not None and name in ("f1", "auc")):
        scoring = PositiveScorer(name, positive)
    elif metric == "auc" and len(labels) > 2:
        scoring = "roc_auc_ovr"
    return Aim(metric, positive, scoring, costs)


def costs_of(text: str, by_text: Mapping[str, Any]) -> dict[tuple[Any, Any], float]:
    """Return what errors cost, by true and predicted label, read from an option."""
    found, end = {}, 0
    expected = "expected is TRUE>PREDICTED=NUMBER, such as 'ill>well=20, well>ill=1'"
    for one in COST.finditer(text):
        pair = [next(part for part in one.groups()[k : k + 3] if part is not None) for k in (0, 3)]
        unknown = [label for label in pair if label not in by_text]
        if unknown:
            raise Failure(
                f"--cost names {unknown[0]!r}, which is not a class; the classes are "
                f"{', '.join(map(repr, by_text))}."
            )
        try:
            cost = float(one[7])
        except ValueError:
            cost = np.nan
        if one.start() != end or not 0.0 <= cost < np.inf:
            break
        found[by_text[pair[0]], by_text[pair[1]]], end = cost, one.end()
    if not found or end < len(text.rstrip().rstrip(",")):
        raise Failure(f"--cost {text!r} is not understood at {text[end:]!r}; {expected}.")
    return found


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
    tolerance: float | dict[str, float] | None = None
    reject_cost: float = 0.2
    metric: str | None = None
    positive: str | None = None
    cost: str | None = None
    bins: str | None = None
    merge_rare: bool = False
    group: str | None = None
    by: str | None = None
    time_column: str | None = None
    engine: Engine = Engine.local
    scheduler: str | None = None
    reading: Reading = PLAIN_READING
    raw: bool = False
    force: bool = False

    @property
    def form(self) -> TableForm:
        """How the table is taken."""
        fewest = self.folds if self.merge_rare else 0
        form = TableForm(self.bins, fewest, self.group, self.by, self.time_column)
        return form._replace(keep_constant=self.image is not None)

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
            scoring=aim_of(self.settings, self.table.y).scoring,
            checkpoint=path,
            callback=tell,
            n_jobs=self.n_jobs,
            random_state=self.settings.seed,
        )
        try:
            model = table_pipeline(auto, self.table.X)
            keyword = group_keyword(model) or ""
            given = {
                keyword: self.table.groups,
                keyword.replace("groups", "times"): self.table.times,
            }
            given = {name: values for name, values in given.items() if values is not None}
            model.fit(self.table.X, self.table.y, **given)
        except UnusableStore:
            set_aside(path)
            return self._fit()
        except ValueError as error:
            raise Failure(str(error), FAILED) from error
        model[-1].set_params(checkpoint=None, callback=None)  # no part of the model
        return model


def outer_folds(model: Pipeline, table: LearningTable) -> list[OuterFold]:
    """Return the folds that the search has held out, each with the answers about its rows."""
    auto, y = model[-1], table.y
    found = []
    for number, chosen in enumerate(auto.held_out_models_):
        test = np.flatnonzero(auto.held_out_folds_ == number)
        if len(test):
            held = auto.held_out_folds_
            known = held != number if table.times is None else held < number
            if len(auto.held_out_models_) == 1:
                known = held < 0
            n_train = int(known.sum())
            found.append(OuterFold(number + 1, test, answers_about(auto, test, y), chosen, n_train))
    return found


def answers_about(auto: AutoPrototypeClassifier, rows: Indices, y: NDArray[Any]) -> Answers:
    """Return what the search says about rows that it has held out."""
    shares = auto.held_out_proba_[rows]
    with np.errstate(divide="ignore"):
        scores = np.maximum(np.log(shares), np.log(np.finfo(float).tiny))
    return Answers(y[rows], auto.held_out_labels_[rows], auto.classes_, scores, shares)


def chosen_model(model: Pipeline) -> str:
    """Return the model that a search has chosen, with the settings that are not its defaults."""
    return next(standing.model for standing in model[-1].leaderboard_ if standing.chosen)
