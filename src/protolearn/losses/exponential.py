"""Exponential loss: ``phi(m) = exp(-beta m)``, the price of AdaBoost."""

from __future__ import annotations

import math

from ..native import LOSS, native
from .sloped import SlopedLoss


class Exponential(SlopedLoss):
    """Errors cost exponentially in their size; straight beyond ``beta m = -50``, to stay finite.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Exponential
    >>> Exponential(beta=2.0)([0.25, 0.0])[0]
    array([0.60653066, 1.        ])
    """

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        t = -theta[0] * m
        if t <= 50.0:
            e = math.exp(t)
            return e, -theta[0] * e
        e = math.exp(50.0)
        return e * (t - 49.0), -theta[0] * e
