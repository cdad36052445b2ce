"""What came of ``protolearn fit``: a model, and how good it is on rows that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._arrays import Floats
from .._names import count
from ..analysis import cheapest_threshold
from ..folds import RowGroups, row_groups
from ..report import Certified, pool_answers, sample_rows
from ..selection import (
    Answers,
    Estimate,
    Evaluation,
    bounded_mean_interval,
    on_folds,
    on_test_set,
    places_among,
)
from .fit_procedure import Aim, FitSettings, OuterFold, aim_of, chosen_model
from .fit_warnings import Costs, ResultWarning, find_warnings
from .learning_table import LearningTable
from .training_rows import OpenedTable

CONFIDENCE = 0.95
CERTIFIED_ROWS = 1_000
"""Rows whose answers are certified."""

FEW_ROWS = 30
"""Rows below which a subgroup is marked as too small."""

SMALL = "too few rows"
WHAT_IT_IS = {
    "prototypes": "it has more numbers to look at",
    "linear": "it decides by a weighted sum of the columns",
    "local metric": "its prototypes have metrics of their own",
    "soft prototypes": "its prototypes decide together, so that margins are not exact",
    "kernel": "it decides by similarity to many rows",
    "ensemble": "many small models vote",
}
"""What is harder to look at in a model of each kind."""

ABOVE_ALL = 2.0
"""A threshold that no probability reaches: every row is flagged."""


class RejectRule(NamedTuple):
    """Which predictions should be looked at: those with a probability below a threshold.

    A look costs ``cost`` errors. A share ``rate`` of the left-out rows is flagged, and the others
    are right with this accuracy, NaN if there are none. The threshold None flags no prediction.
    """

    cost: float
    threshold: float | None
    rate: float
    accuracy: float


@dataclass(frozen=True)
class Performance:
    """How good the procedure is, by the outer folds that there was time for.

    ``majority`` is the most frequent class, and how often it is right to say that always. ``cost``
    is the mean cost of a prediction, if costs are known.
    """

    evaluation: Evaluation
    folds: tuple[OuterFold, ...]
    n_planned: int
    majority: tuple[str, float]
    reject: RejectRule
    together: RowGroups
    subgroups: dict[str, Evaluation]
    cost: Estimate | None = None

    @property
    def measures(self) -> dict[str, Estimate]:
        """All measures by name."""
        table = self.evaluation.table
        return table if self.cost is None else {"mean cost": self.cost, **table}

    @property
    def fold_count(self) -> str:
        """How many folds there are, or rows if there is one, in words."""
        if len(self.folds) > 1:
            return f"{len(self.folds)} folds"
        return f"{count(len(self.folds[0].test), 'row')} set aside"


def evaluate_folds(
    folds: Sequence[OuterFold], n_planned: int, cost: float, table: LearningTable, aim: Aim
) -> Performance:
    """Return what the outer folds say about the procedure."""
    answers, together = [fold.answers for fold in folds], row_groups(table.X, table.groups)
    n_train, n_test = np.array([(fold.n_train, len(fold.test)) for fold in folds]).T
    rows = together.of(np.concatenate([fold.test for fold in folds]))
    given = answers, n_train, n_test, CONFIDENCE, rows, together.notes
    evaluation = on_folds(*given, chosen=True)
    true = np.concatenate([one.y_true for one in answers])
    labels, counts = np.unique(true, return_counts=True)
    most = int(counts.argmax())
    majority = str(labels[most]), float(counts[most] / len(true))
    rule, subgroups = cheapest_rule(folds, cost), evaluate_subgroups(folds, table, together)
    price = mean_cost(answers, aim, rows)
    about = n_planned, majority, rule, together, subgroups, price
    return Performance(evaluation, tuple(folds), *about)


def mean_cost(answers: Sequence[Answers], aim: Aim, rows: Any) -> Estimate | None:
    """Return the mean cost of a prediction for held-out rows, with its interval."""
    if aim.costs is None:
        return None
    classes = answers[0].classes
    true, assigned = (np.concatenate([one[i] for one in answers]) for i in (0, 1))
    values, table = aim.costs.row_costs(true, assigned, classes), aim.costs.matrix(classes)
    ends = float(table.min()), float(table.max())
    groups = rows if len(np.unique(rows)) < len(rows) else None
    return Estimate(float(values.mean()), *bounded_mean_interval(values, ends, groups, CONFIDENCE))


def evaluate_subgroups(
    folds: Sequence[OuterFold], table: LearningTable, together: RowGroups
) -> dict[str, Evaluation]:
    """Return the measures on the held-out rows of each subgroup, the largest first."""
    if table.by is None:
        return {}
    rows = np.concatenate([fold.test for fold in folds])
    answers = pool_answers([fold.answers for fold in folds])
    names, counts = np.unique(table.by[rows], return_counts=True)
    found = {}
    for name in names[np.argsort(-counts, kind="stable")]:
        here = np.flatnonzero(table.by[rows] == name)
        scores, shares = (None if a is None else a[here] for a in answers[3:])
        some = Answers(answers.y_true[here], answers.y_pred[here], answers.classes, scores, shares)
        codes = None if together.codes is None else together.codes[rows[here]]
        found[str(name)] = on_test_set(some, CONFIDENCE, 1000, 0, codes)
    return found


def cheapest_rule(folds: Sequence[OuterFold], cost: float) -> RejectRule:
    """Return the probability below which a second look costs less than the errors do."""
    probability = np.concatenate([own_probability(fold.answers) for fold in folds])
    wrong = np.concatenate([fold.answers.y_true != fold.answers.y_pred for fold in folds])
    found = cheapest_threshold(probability, wrong, np.ones(len(wrong)), cost)
    flagged = probability < found
    accuracy = float(1.0 - wrong[~flagged].mean()) if not flagged.all() else np.nan
    threshold = None if found == -np.inf else float(min(found, ABOVE_ALL))
    return RejectRule(cost, threshold, float(flagged.mean()), accuracy)


def certify_answers(
    settings: FitSettings, model: Pipeline, table: LearningTable
) -> Certified | None:
    """Return which answers stay the same under the tolerances that were asked for."""
    if settings.tolerance is None:
        return None
    rows = sample_rows(len(table.y), CERTIFIED_ROWS, settings.seed)
    return Certified.of(model, table.X[rows], table.y[rows], settings.tolerance)


def own_probability(answers: Answers) -> Floats:
    """Return the probability of each predicted class."""
    assert answers.probabilities is not None
    places = places_among(answers.classes, answers.y_pred)
    return np.asarray(answers.probabilities[np.arange(len(places)), places])


@dataclass(frozen=True)
class Outcome:
    """A pipeline of encoder and automatic choice, what it was learned from, and how good it is."""

    settings: FitSettings
    opened: OpenedTable
    model: Pipeline
    performance: Performance
    seconds: float
    n_jobs: int
    certified: Certified | None = None

    @property
    def table(self) -> LearningTable:
        """The rows to learn from."""
        return self.opened.table

    @property
    def chosen_model(self) -> str:
        """The chosen model, with the settings that are not its defaults."""
        return chosen_model(self.model)

    @property
    def aim(self) -> Aim:
        """What the choice has optimised."""
        return aim_of(self.settings, self.table.y)

    @property
    def threshold(self) -> tuple[str, float] | None:
        """The rarer of two classes, and the probability from which on it is predicted."""
        auto = self.model[-1]
        if auto.raised_scores_ is None or len(auto.classes_) > 2:
            return None
        counts = np.unique(self.table.y, return_counts=True)[1]
        lead = -np.diff(auto.raised_scores_)  # of the second class where both are level
        shares = auto.calibration_.probabilities(lead, agree=False)[0]
        rarer = int(counts.argmin())
        if self.aim.positive is not None:
            rarer = auto.classes_.tolist().index(self.aim.positive)
        return str(auto.classes_[rarer]), float(shares[rarer])

    @property
    def costs(self) -> Costs | None:
        """What predictions cost, beside always predicting the class that is cheapest."""
        own, scorer = self.performance.cost, self.aim.costs
        if own is None or scorer is None:
            return None
        confusion = self.performance.evaluation.confusion
        n_rows = confusion.counts.sum(axis=1)
        prices = n_rows @ scorer.matrix(confusion.labels) / n_rows.sum()
        return Costs(own, str(confusion.labels[prices.argmin()]), float(prices.min()))

    @cached_property
    def warnings(self) -> list[ResultWarning]:
        """What a careful reader would object to, the most important first."""
        performance = self.performance
        return find_warnings(
            self.table,
            performance.evaluation,
            performance.majority,
            performance.folds,
            self.chosen_model,
            performance.together,
            is_split=self.table.groups is not None or self.table.times is not None,
            metric=self.aim.metric,
            costs=self.costs,
        )

    @property
    def sentences(self) -> list[str]:
        """What was learned and how good it is, in a few sentences."""
        accuracy, performance = self.performance.evaluation.accuracy, self.performance
        n_done, n_planned = len(performance.folds), performance.n_planned
        label, share = performance.majority
        n_tried = len(self.model[-1].leaderboard_)
        tried = f"chosen from {n_tried} models" if n_tried > 1 else "the only model compared"
        sentences = [
            f"The model predicts {self.table.target!r} from "
            f"{count(len(self.model[0].columns_), 'column')}. It is {self.chosen_model}, {tried}.",
            f"On held-out rows it is correct {accuracy.value:.1%} of the time (95% interval "
            f"{accuracy.low:.1%} to {accuracy.high:.1%}, {performance.fold_count}); always "
            f"predicting {label!r} would be correct {share:.1%} of the time.",
        ]
        if self.settings.metric is None and self.aim.metric == "balanced-accuracy":
            sentences.append(
                "The classes have very different sizes, so the choice optimises balanced accuracy, "
                "to which each class counts alike. To optimise accuracy: --metric accuracy."
            )
        if self.table.times is not None:
            n_first = len(self.table.y) - sum(len(fold.test) for fold in performance.folds)
            sentences.append(
                "Held-out rows are later than all rows of the model that predicts them, in the "
                f"order of {self.settings.time_column!r}; the first {n_first:,} are never held out."
            )
        sentences += self.sentences_on_aim
        price = self.model[-1].leaderboard_.price_of_choice()
        if price is not None and round(100.0 * price[1], 1) > 0.0:
            sentences.append(
                f"The most accurate model, {price[0].model}, is {100.0 * price[1]:.1f} points "
                f"better in cross-validation; {WHAT_IT_IS[price[0].kind]}. To get it: --prefer "
                "accurate."
            )
        if n_done < n_planned:
            sentences.append(
                f"There was time for {n_done} of {n_planned} folds; allow more with --time."
            )
        return [*sentences, self.flagging]

    @property
    def sentences_on_aim(self) -> list[str]:
        """How well the class that is looked for is found, at which threshold, and what it costs."""
        sentences, performance = [], self.performance
        if self.costs is not None:
            one, label, price = self.costs
            sentences.append(
                f"A prediction costs {one.value:.3g} on average ({one.low:.3g} to {one.high:.3g}); "
                f"always predicting {label!r} would cost {price:.3g}."
            )
        wanted = self.threshold[0] if self.threshold else self.aim.positive
        if wanted is not None:
            label, found = str(wanted), performance.evaluation
            names = {str(name): name for name in found.recalls}
            recall, precision = found.recalls[names[label]], found.precisions[names[label]]
            right = "it is never predicted"
            if not precision.reason:
                right = f"{precision.value:.1%} of the predictions of {label!r} are right"
            sentences.append(f"It finds {recall.value:.1%} of the rows of {label!r}, and {right}.")
        if self.threshold:
            label, share = self.threshold
            sentences.append(
                f"It predicts {label!r} from a probability of {share:.2g} on: the threshold that "
                f"is best for {self.aim.metric.replace('-', ' ')} on held-out rows."
            )
        return sentences

    @property
    def flagging(self) -> str:
        """What the reject flag of predictions means, in a sentence."""
        reject = self.performance.reject
        if reject.threshold is None:
            return (
                f"No prediction is flagged: at a review cost of {reject.cost:g} errors, none is "
                "worth a second look."
            )
        if reject.rate == 1.0:
            return (
                "Every prediction is flagged: errors are so frequent that at a review cost of "
                f"{reject.cost:g} errors each is worth a second look."
            )
        return (
            f"Predictions with a probability below {reject.threshold:.2f} are flagged for a second "
            f"look. Of the held-out rows these are {reject.rate:.1%}; the others are correct "
            f"{reject.accuracy:.1%} of the time."
        )
