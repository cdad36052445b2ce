"""Certified radius of a soft decision, where all prototypes of a class add up to its score.

The score of a class is ``log sum_k exp(-t_k)`` over its prototypes, t their distances in units of
the width. Let a sample move by rho:

* Flat boundaries. With p the shares of the own prototypes in their score at the sample, the own
  score is at least ``H - sum_j p_j t_j`` everywhere, H the entropy of p, and exactly that at the
  sample. ``t_v - sum_j p_j t_j`` is linear, and falls by at most rho times its slope.
* Otherwise each distance, unsquared, changes by at most rho times its steepness.

So the lead of the own score over the others is at least a function of rho that only falls. The
radius is where it becomes zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax

from .._arrays import Floats, as_floats
from ..classifiers import NearestPrototypeClassifier
from ..codebook import Codebook
from ..distances import Distance
from .cells import Cells

HALVINGS = 60
DOUBLINGS = 100

Lead = Callable[[Floats], Floats]
"""By how much the own score at least exceeds the others, given a radius for each row."""

Members = NDArray[np.bool_]


def soft_radius(
    model: NearestPrototypeClassifier, directions: Floats | None, steepness: Floats | None
) -> Any:
    """Give the function of some rows that computes the radius of soft decisions."""
    sharp, labels = model._decision.xi / model.scale_, model._codebook().labels
    U = None
    if directions is not None:
        U = Cells(as_floats(sharp * directions), None, labels).within_their_span().coordinates

    def radius(rows: Any, codebook: Codebook, distance: Distance) -> tuple[Floats, Floats]:
        D = distance.pairwise(rows, codebook)
        classes = codebook.labels == np.unique(codebook.labels)[:, None]
        own = classes[scores(-sharp * D, classes).argmax(axis=1)]
        if U is not None:
            lead = flat_lead(sharp * D, own, classes, U)
        else:
            assert steepness is not None
            lead = curved_lead(D, own, classes, steepness, distance.squared is True, sharp)
        return first_zero(lead, np.sqrt(D.max(axis=1))), D

    return radius


def scores(T: Floats, classes: Members) -> Floats:
    """Give ``log sum exp`` over the prototypes of each class, an array (n, classes)."""
    with np.errstate(divide="ignore"):  # prototypes that take no part are at minus infinity
        return np.stack([logsumexp(T[:, members], axis=1) for members in classes], axis=1)


def flat_lead(T: Floats, own: Members, classes: Members, U: Floats) -> Lead:
    """Give the lead where differences of T are linear, with slopes ``2 (u_j - u_v)``."""
    p = softmax(np.where(own, -T, -np.inf), axis=1)
    mean = (p * T).sum(axis=1)
    own_score = logsumexp(np.where(own, -T, -np.inf), axis=1) + mean
    slopes = 2.0 * cdist(p @ U, U)
    start = np.where(own, -np.inf, mean[:, None] - T)
    return lambda rho: own_score - scores(start + rho[:, None] * slopes, classes).max(axis=1)


def curved_lead(
    D: Floats, own: Members, classes: Members, steepness: Floats, squared: bool, sharp: float
) -> Lead:
    """Give the lead where each distance, unsquared, is known to change no faster than so."""
    d = np.sqrt(D) if squared else D

    def lead(rho: Floats) -> Floats:
        change = rho[:, None] * steepness
        at_worst = np.where(own, d + change, np.maximum(d - change, 0.0))
        T = sharp * (np.square(at_worst) if squared else at_worst)
        own_score = logsumexp(np.where(own, -T, -np.inf), axis=1)
        return own_score - scores(np.where(own, -np.inf, -T), classes).max(axis=1)

    return lead


def first_zero(lead: Lead, unit: Floats) -> Floats:
    """Give the largest radius found, row by row, at which the lead is not negative."""
    high = np.where(unit > 0.0, unit, 1.0)
    for _ in range(DOUBLINGS):
        ahead = lead(high) >= 0.0
        if not ahead.any():
            break
        high = np.where(ahead, 2.0 * high, high)
    never = lead(high) >= 0.0
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        ahead = lead(middle) >= 0.0
        low, high = np.where(ahead, middle, low), np.where(ahead, high, middle)
    return np.where(never, np.inf, low)
