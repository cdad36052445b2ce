"""Probabilities from scores: one number, found on held-out rows, says how much a lead is worth."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ..._arrays import Floats, Indices
from ..held_out import by_class

STEEPEST = 1e6
"""Largest worth of a lead, in units of the mean one."""


def steepness(scores: Floats, codes: Indices, doubt: float = 1.0) -> float:
    """Return the factor of the scores with the best log-likelihood of the true classes.

    One row more has the scores of a middling sure one and its second class, and the weight
    ``doubt``: so the factor has an end where all rows come out right.
    """
    scores = by_class(scores)
    if not len(scores):
        return 1.0
    order = np.sort(scores, axis=1)
    leads = order[:, -1] - order[:, -2]
    unit = leads.mean()
    if not unit > 0.0:
        return 1.0
    middling = np.argsort(leads)[len(leads) // 2]
    second = np.argsort(scores[middling])[-2]
    scores = np.vstack([scores, scores[middling]]) / unit
    rows, codes = np.arange(len(scores)), np.append(codes, second)
    weight = np.append(np.ones(len(leads)), doubt)

    def cost(log_factor: float) -> float:
        return -float(weight @ log_softmax(np.exp(log_factor) * scores, axis=1)[rows, codes])

    found = minimize_scalar(cost, bounds=(-np.log(STEEPEST), np.log(STEEPEST)), method="bounded")
    return float(np.exp(found.x) / unit)


def probabilities(scores: Floats, factor: float) -> Floats:
    """Return the probability of each class."""
    return np.asarray(softmax(factor * by_class(scores), axis=1))
