"""Sigmoid loss: ``phi(m) = 1 / (1 + exp(beta m))``, a smooth count of errors."""

from __future__ import annotations

import math

from ..native import LOSS, native
from .sloped import SlopedLoss


class Sigmoid(SlopedLoss):
    """A smooth count of errors, between 0 and 1; the loss of MCE and of GLVQ.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Sigmoid
    >>> Sigmoid(beta=2.0)([0.25, 0.0])[0]
    array([0.37754067, 0.5       ])
    """

    bounded = True
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        t = theta[0] * m
        e = math.exp(-abs(t))
        share = 1.0 / (1.0 + e)
        value = e * share if t >= 0.0 else share
        return value, -theta[0] * e * share * share
