"""Hinge loss: ``phi(m) = max(0, 1 - beta m)`` (Crammer et al., 2002, section 5.2)."""

from __future__ import annotations

from ..native import LOSS, native
from .sloped import SlopedLoss


class Hinge(SlopedLoss):
    """Linear until the margin reaches ``1 / beta``, then nothing.

    Parameters
    ----------
    beta : float, default=1.0
        Slope: the loss is a function of ``beta * m``.

    Examples
    --------
    >>> from protolearn.losses import Hinge
    >>> Hinge(beta=2.0)([0.25, 0.0])[0]
    array([0.5, 1. ])
    """

    smooth = False
    local = True

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        t = 1.0 - theta[0] * m
        if t > 0.0:
            return t, -theta[0]
        return 0.0, 0.0
