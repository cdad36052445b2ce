"""What the losses with a slope parameter share: ``phi`` is a function of ``beta * m``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._validation import check_positive
from .base import Loss


class SlopedLoss(Loss):
    """A loss of ``beta * m``.

    Parameters
    ----------
    beta : float, default=1.0
        How fast the price falls with the margin; larger is closer to counting errors.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def theta(self) -> NDArray[np.float64]:
        """Give ``beta`` as an array."""
        return np.array([check_positive(self, "beta")])

    def steepened(self, times: float) -> SlopedLoss:
        """Give the same loss with ``times`` the slope."""
        return clone(self).set_params(beta=times * self.beta)

    @property
    def sharpness(self) -> float:
        """The ``beta`` of the loss."""
        return float(self.beta)
