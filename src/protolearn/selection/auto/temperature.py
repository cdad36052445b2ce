"""Probabilities from scores: one number, found on held-out rows, says how much a lead is worth."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ..._parameters import Floats, Indices
from ..held_out import by_class

STEEPEST = 1e6
"""Largest worth of a lead, in units of the mean one."""


def steepness(scores: Floats, codes: Indices) -> float:
    """Give the factor of the scores with the best log-likelihood of the true classes.

    A small share of each label counts for all classes alike (label smoothing), as if one row had no
    label: so the factor has an end where all rows come out right.
    """
    scores = by_class(scores)
    unit = (scores.max(axis=1) - scores.mean(axis=1)).mean() if len(scores) else 0.0
    if not unit > 0.0:  # or no row at all
        return 1.0
    doubt = 1.0 / (len(codes) + 1.0)
    rows = np.arange(len(codes))

    def cost(log_factor: float) -> float:
        surprise = -log_softmax(np.exp(log_factor) / unit * scores, axis=1)
        return float(((1.0 - doubt) * surprise[rows, codes] + doubt * surprise.mean(axis=1)).mean())

    found = minimize_scalar(cost, bounds=(-np.log(STEEPEST), np.log(STEEPEST)), method="bounded")
    return float(np.exp(found.x) / unit)


def probabilities(scores: Floats, factor: float) -> Floats:
    """Give the probability of each class."""
    return np.asarray(softmax(factor * by_class(scores), axis=1))
