"""How steep a slope has to be for the classes to be told apart.

A sigmoid or a hinge tells right from wrong within about one unit of its slope. Where the
distances of a row to all prototypes are nearly the same, as with texts and with many features that
tell nothing, all rows lie well within that unit: the loss is a straight line, and pulls as hard at
rows that are right as at those that are not. There the slope is made steeper, so that a beta or xi
means about the same for all data. A metric that is learned raises the contrast itself; and among
few features a low contrast tells that the classes are mixed, which no slope can change.
"""

from __future__ import annotations

from ..distances import Distance
from ..losses import Loss
from ..margins import Margin
from .problem import Problem

LOW_CONTRAST = 0.2
"""Mean gap between own and rival prototypes, as a share of the own distance, that is too small."""

FEATURES = 20
"""A slope becomes at most as many times steeper as there are so many features."""

STEEPEST = 10.0
"""How many times steeper a slope may become."""


def slope_factor(distance: Distance, loss: Loss, problem: Problem) -> float:
    """Give how many times steeper than given the slope has to be."""
    if distance.adaptive or not loss.local:
        return 1.0
    most = min(STEEPEST, problem.n_features / FEATURES)
    return max(1.0, min(most, LOW_CONTRAST / max(problem.contrast, LOW_CONTRAST / STEEPEST)))


def steepened(margin: Margin, loss: Loss, times: float) -> tuple[Margin, Loss, float]:
    """Make the margin sharper, if it has a sharpness of its own, or else the loss steeper.

    The last result tells how many times that was done: once, if neither of them can be.
    """
    if times == 1.0:
        return margin, loss, 1.0
    sharper = margin.steepened(times)
    steeper = loss if sharper is not margin else loss.steepened(times)
    changed = sharper is not margin or steeper is not loss
    return sharper, steeper, times if changed else 1.0
