"""All that came of ``protolearn fit``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sklearn.pipeline import Pipeline

from .._names import count
from .judgement import Judgement
from .learning import chosen_by
from .learning_table import LearningTable
from .opening import OpenedTable

if TYPE_CHECKING:
    from .fit import FitSettings


@dataclass(frozen=True)
class Outcome:
    """A model, what it was learned from, and how good it is.

    Parameters
    ----------
    settings : FitSettings
        What was wanted.
    opened : OpenedTable
        The rows to learn from, and where they come from.
    model : Pipeline
        The encoder and the automatic choice, fitted to these rows.
    judgement : Judgement
        How good it is.
    seconds : float
        Time that all this took.
    n_jobs : int, default=1
        Fits at a time.
    """

    settings: FitSettings
    opened: OpenedTable
    model: Pipeline
    judgement: Judgement
    seconds: float
    n_jobs: int = 1

    @property
    def table(self) -> LearningTable:
        """The rows to learn from."""
        return self.opened.table

    @property
    def chosen(self) -> str:
        """The chosen model, with the settings that are not its defaults."""
        return chosen_by(self.model)

    @property
    def in_short(self) -> list[str]:
        """What was learned and how good it is, in a few sentences."""
        accuracy, judgement = self.judgement.evaluation.accuracy, self.judgement
        n_done, n_planned = len(judgement.folds), judgement.n_planned
        where = f"{n_done} outer folds" if n_done > 1 else "one outer fold"
        label, share = judgement.majority
        n_tried = len(self.model[-1].leaderboard_)
        tried = f"out of {n_tried} models that were tried" if n_tried > 1 else "the only one tried"
        sentences = [
            f"{self.chosen} was chosen, {tried}, to tell {self.table.target!r} by "
            f"{count(len(self.model[0].columns_), 'column')}.",
            f"On rows that had no part in its choice it is right in {accuracy.value:.1%} of cases "
            f"(95 % interval {accuracy.low:.1%} to {accuracy.high:.1%}, {where}); always saying "
            f"{label!r} would be right in {share:.1%}.",
        ]
        if n_done < n_planned:
            sentences.append(
                f"Time was over after {n_done} of {n_planned} outer folds; a longer --time judges "
                "by all."
            )
        return [*sentences, self.flagging]

    @property
    def flagging(self) -> str:
        """What the reject flag of predictions means, in a sentence."""
        reject = self.judgement.reject
        if reject.threshold is None:
            return (
                f"No prediction is flagged for a second look, since one that costs {reject.cost:g} "
                "errors would not pay."
            )
        if reject.rate == 1.0:
            return (
                "Every prediction is flagged for a second look: errors are so frequent that one "
                f"that costs {reject.cost:g} errors pays for all."
            )
        return (
            f"Predictions with a probability below {reject.threshold:.2f} are flagged for a second "
            f"look: {reject.rate:.1%} of those rows, and the others are right in "
            f"{reject.accuracy:.1%}."
        )
