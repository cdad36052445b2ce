"""Logistic loss: ``phi(m) = log(1 + exp(-beta m))``, the conditional log-likelihood."""

from __future__ import annotations

import math

from ..native import LOSS, native
from .sloped import SlopedLoss


class Logistic(SlopedLoss):
    """The negative log-likelihood of the right class; the loss of LOGM and RSLVQ.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Logistic
    >>> Logistic(beta=2.0)([0.25, 0.0])[0]
    array([0.47407698, 0.69314718])
    """

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        t = theta[0] * m
        e = math.exp(-abs(t))
        value = math.log1p(e)
        share = 1.0 / (1.0 + e)
        if t >= 0.0:
            return value, -theta[0] * e * share
        return value - t, -theta[0] * share
