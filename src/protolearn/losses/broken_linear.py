"""Broken linear loss: ``phi(m) = min(2, max(0, 1 - beta m))`` (Crammer et al., 2002, 5.3)."""

from __future__ import annotations

from ..native import LOSS, native
from .sloped import SlopedLoss


class BrokenLinear(SlopedLoss):
    """A hinge that stops rising at 2: far errors are given up, as in LVQ2.1.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import BrokenLinear
    >>> BrokenLinear(beta=2.0)([0.25, 0.0])[0]
    array([0.5, 1. ])
    """

    smooth = False
    bounded = True
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        t = 1.0 - theta[0] * m
        if t >= 2.0:
            return 2.0, 0.0
        if t > 0.0:
            return t, -theta[0]
        return 0.0, 0.0
