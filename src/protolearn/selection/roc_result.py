"""Rates of false and true positives: of one model, and averaged over folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .intervals import Interval, fold_interval


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """False and true positive rates for every threshold.

    A row is assigned to the positive class if its score is above the threshold Theta. The score of
    a nearest-prototype classifier is ``d(w*(-1), x) - d(w*(+1), x)``, so that the rule is
    ``d(w*(+1), x) < d(w*(-1), x) - Theta``, in the units of its distance.

    Attributes
    ----------
    thresholds : array of shape (n_points,)
        Falling: every score that occurs, and minus infinity at last. The rates are those of this
        threshold, and of all up to the one before.
    fpr, tpr : arrays of shape (n_points,)
        Share of the negative and of the positive rows above the threshold, from 0 to 1.
    auc : float
        Area under the curve: the probability that a positive row scores above a negative one.
    positive : object
        The positive class.
    """

    thresholds: Floats
    fpr: Floats
    tpr: Floats
    auc: float
    positive: Any

    @property
    def working_point(self) -> tuple[float, float]:
        """Both rates at Theta = 0, where the model itself decides."""
        fpr, tpr = self.at(0.0)
        return float(fpr), float(tpr)

    def at(self, threshold: Any) -> tuple[Any, Any]:
        """Return both rates at some thresholds.

        Parameters
        ----------
        threshold : float or array
            Values of Theta.

        Returns
        -------
        fpr, tpr : arrays of the shape of ``threshold``
        """
        rising = self.thresholds[-2::-1]  # the different scores
        above = len(rising) - np.searchsorted(rising, threshold, side="right")
        return self.fpr[above], self.tpr[above]

    def __repr__(self) -> str:
        return f"<RocCurve: AUC {self.auc:.4f}, positive class {self.positive!s}>"

    def __str__(self) -> str:
        fpr, tpr = self.working_point
        return (
            f"AUC {self.auc:.4f}; at Theta = 0 a false positive rate of {fpr:.3f} and a true "
            f"positive rate of {tpr:.3f} (positive class: {self.positive!s})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class AveragedRoc:
    """Curves of several folds, averaged at equal thresholds.

    Attributes
    ----------
    thresholds : array of shape (n_thresholds,)
        Falling, minus infinity at last.
    fpr, tpr : arrays of shape (n_thresholds,)
        Means over the folds of the rates at each threshold.
    fpr_std, tpr_std : arrays of shape (n_thresholds,)
        Standard deviations over the folds.
    curves : tuple of RocCurve
        The curve of each fold.
    n_train, n_test : arrays of shape (n_folds,)
        Rows that each fold was trained and tested on.
    """

    thresholds: Floats
    fpr: Floats
    tpr: Floats
    fpr_std: Floats
    tpr_std: Floats
    curves: tuple[RocCurve, ...]
    n_train: Indices
    n_test: Indices

    @property
    def positive(self) -> Any:
        """The positive class."""
        return self.curves[0].positive

    @property
    def aucs(self) -> Floats:
        """Area under the curve of each fold."""
        return np.array([curve.auc for curve in self.curves])

    @property
    def auc(self) -> float:
        """Mean of the areas of the folds."""
        return float(self.aucs.mean())

    @property
    def working_point(self) -> tuple[float, float]:
        """Means of both rates at Theta = 0, where the models themselves decide."""
        fpr, tpr = np.mean([curve.working_point for curve in self.curves], axis=0)
        return float(fpr), float(tpr)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the interval of the mean area by the corrected resampled t.

        Parameters
        ----------
        confidence : float, default=0.95
            Between zero and one.

        Returns
        -------
        interval : Interval
            A named tuple ``(low, high)``, cut at 0 and 1.
        """
        return fold_interval(self.aucs, self.n_train, self.n_test, confidence).within(0.0, 1.0)

    def __repr__(self) -> str:
        return f"<AveragedRoc: {len(self.curves)} folds, mean AUC {self.auc:.4f}>"

    def __str__(self) -> str:
        low, high = self.interval()
        fpr, tpr = self.working_point
        return (
            f"Mean AUC of {len(self.curves)} folds {self.auc:.4f}, 95 % interval {low:.4f} to "
            f"{high:.4f}; at Theta = 0 a false positive rate of {fpr:.3f} and a true positive rate "
            f"of {tpr:.3f} (positive class: {self.positive!s})"
        )
