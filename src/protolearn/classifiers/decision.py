"""From distances to classes: one score a class, and what follows from the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from .._parameters import Indices


def nearest_scores(D: Any, labels: Indices, n_classes: int) -> Any:
    """Give ``-min D`` over the prototypes of each class, an array (n, n_classes)."""
    return np.stack([-D[:, labels == code].min(axis=1) for code in range(n_classes)], axis=1)


def soft_scores(D: Any, labels: Indices, n_classes: int, xi: float) -> Any:
    """Give ``(1/xi) log sum exp(-xi D)`` over the prototypes of each class."""
    sums = [logsumexp(-xi * D[:, labels == code], axis=1) for code in range(n_classes)]
    return np.stack(sums, axis=1) / xi


def probabilities(scores: Any, sharpness: float) -> Any:
    """Give the softmax of the scores."""
    return softmax(sharpness * scores, axis=1)
