"""The table of measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..analysis import import_pandas
from .confusion import ConfusionMatrix
from .metrics import MEASURES
from .roc_curves import AveragedRoc, RocCurve

MOST_CLASSES = 10
"""Classes that a printed table shows."""


class Estimate(NamedTuple):
    """A measure and its interval.

    Attributes
    ----------
    value, low, high : float
        The measure and the ends of its interval; NaN if there is none.
    reason : str
        Why there is none.
    """

    value: float
    low: float
    high: float
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """How good a classifier is, and how sure that is.

    Print it for a table.

    Attributes
    ----------
    accuracy : Estimate
        Share of right predictions.
    balanced_accuracy : Estimate
        Mean of these shares over the classes.
    macro_f : Estimate
        Mean over the classes of the harmonic mean of precision and recall.
    mcc : Estimate
        Matthews' correlation coefficient, between -1 and 1.
    auc : Estimate
        Area under the ROC curve; of more than two classes the mean over each against the rest.
    average_precision : Estimate
        Mean over the classes of the area under the precision-recall curve, in steps.
    log_loss : Estimate
        Mean of minus the logarithm of the probability of the true class; smaller is better.
    confusion : ConfusionMatrix
        Which class is taken for which; over all folds together.
    roc : RocCurve, AveragedRoc or None
        The curve, if there are two classes with scores; of folds the averaged one.
    confidence : float
        Of the intervals.
    n_samples : int
        Rows that were tested; of folds their sum.
    n_folds : int
        Number of folds; zero for a fitted model on a test set.
    notes : tuple of str
        What to know about these numbers.
    recalls : dict of label to Estimate
        Share of right predictions among the tested rows of each class, of all folds together, with
        Clopper and Pearson's interval; a class without tested rows is left out.
    precisions : dict of label to Estimate
        Share of right predictions among the rows that each class was predicted for, likewise; a
        class that is never predicted has NaN and the reason.
    average_precisions : dict of label to Estimate
        Area under the precision-recall curve of each class against the rest, of all folds together.
    lifts : dict of label to float
        How many times as frequent a class is among the rows that it is predicted for as among all.
    """

    accuracy: Estimate
    balanced_accuracy: Estimate
    macro_f: Estimate
    mcc: Estimate
    auc: Estimate
    average_precision: Estimate
    log_loss: Estimate
    confusion: ConfusionMatrix
    roc: RocCurve | AveragedRoc | None
    confidence: float
    n_samples: int
    n_folds: int = 0
    notes: tuple[str, ...] = ()
    recalls: dict[Any, Estimate] = field(default_factory=dict)
    precisions: dict[Any, Estimate] = field(default_factory=dict)
    average_precisions: dict[Any, Estimate] = field(default_factory=dict)
    lifts: dict[Any, float] = field(default_factory=dict)

    @property
    def table(self) -> dict[str, Estimate]:
        """The measures by name."""
        return {title: getattr(self, name) for name, (title, *_) in MEASURES.items()}

    def __repr__(self) -> str:
        return f"<Evaluation: accuracy {self.accuracy.value:.4f}, {self.n_samples} rows>"

    def __str__(self) -> str:
        folds = f" in {self.n_folds} folds" if self.n_folds else ""
        lines = [
            f"{self.n_samples} tested rows{folds}, {100 * self.confidence:g} % intervals",
            f"{'':<17}  {'value':>7} {'low':>7} {'high':>7}",
        ]
        for name, estimate in self.table.items():
            cells = " ".join(f"{'-' if np.isnan(n) else f'{n:.4f}':>7}" for n in estimate[:3])
            reason = f"  ({estimate.reason})" if estimate.reason else ""
            lines.append(f"{name:<17}  {cells}{reason}")
        if self.recalls:
            titles = "precision", "recall", "av. prec.", "lift"
            lines.append(f"{'class':<17} " + " ".join(f"{one:>9}" for one in titles))
        for label in list(self.recalls)[:MOST_CLASSES]:
            found = self.precisions[label], self.recalls[label], self.average_precisions[label]
            shares = [*(one.value for one in found), self.lifts[label]]
            cells = " ".join(f"{'-' if np.isnan(one) else f'{one:.4g}':>9}" for one in shares)
            lines.append(f"{str(label)[:17]:<17} {cells}")
        if len(self.recalls) > MOST_CLASSES:
            lines.append(f"and {len(self.recalls) - MOST_CLASSES} classes more")
        return "\n".join([*lines, *self.notes])

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            Columns ``value``, ``low``, ``high`` and ``reason``; the measures are the index.
        """
        frame = import_pandas().DataFrame.from_dict(
            self.table, orient="index", columns=list(Estimate._fields)
        )
        return frame.rename_axis("measure")
