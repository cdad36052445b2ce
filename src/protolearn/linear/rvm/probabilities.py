"""Probabilities of classes out of their log-odds."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ..._arrays import Floats, Indices


def logistic(odds: Floats) -> Floats:
    """Return the probabilities of two classes by the log-odds of the second."""
    half = 0.5 * odds
    return shares(np.stack([-half, half], axis=1), (odds > 0.0).astype(np.intp))


def one_versus_rest(odds: Floats) -> Floats:
    """Return logistic functions of the log-odds of each class, divided by their sum."""
    return shares(-np.logaddexp(0.0, -odds), odds.argmax(axis=1))


def shares(scores: Floats, winner: Indices) -> Floats:
    """Return ``exp(scores)``, divided by their sum in each row; the winner has the largest.

    Where the rest is rounding, it could be equal to another.
    """
    found: Floats = softmax(scores, axis=1)
    rows = np.flatnonzero(found.argmax(axis=1) != winner)
    found[rows, winner[rows]] = np.nextafter(found[rows].max(axis=1), 1.0)
    return found
