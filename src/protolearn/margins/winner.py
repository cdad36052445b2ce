"""Margins of the two winners: the nearest own prototype (D+) and the nearest rival (D-).

* difference: ``D- - D+`` (Jin et al., 2008, eq. 3)
* relative: ``(D- - D+) / (D- + D+)`` (Sato and Yamada, 1996)
* hypothesis: ``(sqrt D- - sqrt D+) / 2`` for a squared distance (Crammer et al., 2002, lemma 1)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba

from ..native import MARGIN, native
from .base import Margin

if TYPE_CHECKING:
    from ..distances import Distance

ROUNDING = 1e-12
"""Share of the distance to the other winner that is nothing but rounding."""


@numba.njit
def find_winners(d, same):
    """Give the index of the nearest own prototype and of the nearest rival.

    In training the row holds just these two. The functions stay right for any row.
    """
    own = rival = -1
    for k in range(d.size):
        if same[k]:
            if own < 0 or d[k] < d[own]:
                own = k
        elif rival < 0 or d[k] < d[rival]:
            rival = k
    return own, rival


class Difference(Margin):
    """``D- - D+``: how much nearer the own class is; linear in x for squared Euclidean distance.

    Examples
    --------
    >>> from protolearn.margins import Difference
    >>> Difference()([[1.0, 3.0]], [[True, False]])[0]
    array([2.])
    """

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Measure one row."""
        own, rival = find_winners(d, same)
        g[own], g[rival] = -1.0, 1.0
        return d[rival] - d[own]


class Relative(Margin):
    """``(D- - D+) / (D- + D+)``, between -1 and 1: the margin of GLVQ.

    Examples
    --------
    >>> from protolearn.margins import Relative
    >>> Relative()([[1.0, 3.0]], [[True, False]])[0]
    array([0.5])
    """

    bounded = True

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Measure one row; 0 with slope 0 where both winners lie on the sample."""
        own, rival = find_winners(d, same)
        total = d[own] + d[rival]
        if total < 1e-300:
            return 0.0
        g[own] = -2.0 * (d[rival] / total) / total
        g[rival] = 2.0 * (d[own] / total) / total
        return (d[rival] - d[own]) / total


class Hypothesis(Margin):
    """``(d- - d+) / 2`` of the unsquared distances: how far the prototypes may move.

    Examples
    --------
    >>> from protolearn.margins import Hypothesis
    >>> Hypothesis()([[1.0, 9.0]], [[True, False]])[0]
    array([1.])
    """

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Measure one row of squared distances; slope 0 where a winner lies on the sample.

        It does so if its distance, beside that of the other, is as small as rounding makes it.
        """
        own, rival = find_winners(d, same)
        near, far = math.sqrt(d[own]), math.sqrt(d[rival])
        if near > ROUNDING * far:
            g[own] = -0.25 / near
        if far > ROUNDING * near:
            g[rival] = 0.25 / far
        return 0.5 * (far - near)

    def suited_to(self, distance: Distance) -> Margin:
        """Take the root of squared distances only; a divergence has no hypothesis margin."""
        if distance.squared is None:
            raise ValueError(
                f"The hypothesis margin needs a distance that is a metric or its square, and "
                f"{type(distance).__name__} is neither; take margin='difference' or 'relative'."
            )
        return self if distance.squared else MetricHypothesis()


class MetricHypothesis(Margin):
    """The hypothesis margin of a distance that is not squared: ``(D- - D+) / 2``."""

    @native(MARGIN)
    def margin(d, same, theta, g):
        """Measure one row."""
        own, rival = find_winners(d, same)
        g[own], g[rival] = -0.5, 0.5
        return 0.5 * (d[rival] - d[own])
