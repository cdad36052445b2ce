"""Identity loss: ``phi(m) = -m``, the plain cost of GLVQ (Sato and Yamada, 1996)."""

from __future__ import annotations

from ..native import LOSS, native
from .base import Loss


class Identity(Loss):
    """The negative margin itself.

    Examples
    --------
    >>> from protolearn.losses import Identity
    >>> Identity()([0.5, -2.0])[0]
    array([-0.5,  2. ])
    """

    @native(LOSS)
    def phi(m, theta):
        """Price one margin."""
        return -m, -1.0
