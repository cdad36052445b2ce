"""The four algorithms as costs, in units of the mean squared distance to the nearest prototype.

The paper leaves the sharpness of its losses open. It is fixed here once for all data sets, by
validation rows of four folds of the small ones: the accuracy, in the other folds, of the setting
that one fold chooses. Such rows are test rows of other folds.
"""

from __future__ import annotations

from dataclasses import dataclass

from protolearn.distances import SquaredEuclidean
from protolearn.losses import Logistic, Loss, Sigmoid
from protolearn.margins import Difference, LogOdds, Margin, Relative
from protolearn.objective import Objective


@dataclass(frozen=True)
class Method:
    """A margin, a loss, and how many times alpha the attraction is."""

    margin: Margin
    loss: Loss
    attraction: float = 1.0

    def objective(self, n_classes: int, alpha: float, scale: float) -> Objective:
        """Return the cost for an attraction and a unit of distance."""
        distance, attraction = SquaredEuclidean(), alpha * self.attraction
        return Objective(distance, self.margin, self.loss, n_classes, attraction, scale)


XI = 2.0
"""Sharpness of the difference margins and of the Gaussians."""

METHODS: dict[str, Method] = {
    "MCE": Method(Difference(), Sigmoid(XI)),
    "SNPC": Method(LogOdds(XI), Sigmoid(), attraction=XI),
    "LOGM": Method(Difference(), Logistic(XI)),
    "GLVQ": Method(Relative(), Sigmoid(15.0)),
}
"""SNPC's attraction is a log-likelihood, xi times our soft minimum (equation 16)."""
