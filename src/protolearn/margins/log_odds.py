"""Log-odds margin: ``log sum_own exp(-xi D) - log sum_rivals exp(-xi D)``.

Every prototype has a say, by a Gaussian of its distance. With the logistic loss it is RSLVQ
(Seo and Obermayer, 2003), with the sigmoid loss SNPC (Seo, Bode and Obermayer, 2003).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._validation import check_positive
from ..native import MARGIN, native
from .base import Margin


class LogOdds(Margin):
    """The log-odds of the own class under a mixture of equal Gaussians.

    Parameters
    ----------
    xi : float, default=1.0
        Sharpness of the Gaussians: the larger, the more only the nearest prototypes count.

    Examples
    --------
    >>> from protolearn.margins import LogOdds
    >>> LogOdds(xi=2.0)([[1.0, 3.0]], [[True, False]])[0]
    array([4.])
    """

    winners = None

    def __init__(self, xi: float = 1.0):
        self.xi = xi

    def theta(self) -> NDArray[np.float64]:
        """Give ``xi`` as an array."""
        return np.array([check_positive(self, "xi")])

    def steepened(self, times: float) -> LogOdds:
        """Give the log-odds under Gaussians that are ``times`` as sharp."""
        return clone(self).set_params(xi=times * self.xi)

    @property
    def sharpness(self) -> float:
        """The ``xi`` of the posterior probabilities."""
        return float(self.xi)

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Measure one row."""
        xi = theta[0]
        own = rival = math.inf
        for k in range(d.size):
            if same[k]:
                own = min(own, d[k])
            else:
                rival = min(rival, d[k])
        own_sum = rival_sum = 0.0
        for k in range(d.size):
            if same[k]:
                g[k] = math.exp(xi * (own - d[k]))
                own_sum += g[k]
            else:
                g[k] = math.exp(xi * (rival - d[k]))
                rival_sum += g[k]
        own_share, rival_share = -xi / own_sum, xi / rival_sum
        for k in range(d.size):
            g[k] *= own_share if same[k] else rival_share
        return xi * (rival - own) + math.log(own_sum) - math.log(rival_sum)

    @native(MARGIN)
    def attraction(d, same, theta, g):
        """Give the soft minimum of the own distances, ``-(1/xi) log sum_own exp(-xi D)``."""
        xi = theta[0]
        own = math.inf
        for k in range(d.size):
            if same[k]:
                own = min(own, d[k])
        total = 0.0
        for k in range(d.size):
            if same[k]:
                g[k] = math.exp(xi * (own - d[k]))
                total += g[k]
        for k in range(d.size):
            g[k] /= total
        return own - math.log(total) / xi
