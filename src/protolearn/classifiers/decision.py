"""From distances to classes: one score a class, and what follows from the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax


@dataclass(frozen=True)
class Decision:
    """How distances, in units of the scale, become scores and probabilities.

    Attributes
    ----------
    soft : bool
        Whether all prototypes of a class count, by ``(1/xi) log sum exp(-xi D)``, or the nearest
        alone, by ``-min D``.
    xi : float
        Sharpness of the Gaussians of a soft decision.
    sharpness : float
        Factor of the scores in the softmax that gives probabilities.
    """

    soft: bool
    xi: float
    sharpness: float

    def scores(self, D: Any, codes: Any, n_classes: int) -> Any:
        """Give one score a class for each row, an array (n, n_classes)."""
        return np.stack([self._score(D[:, codes == c]) for c in range(n_classes)], axis=1)

    def probabilities(self, scores: Any) -> Any:
        """Give the softmax of the scores."""
        return softmax(self.sharpness * scores, axis=1)

    def _score(self, D: Any) -> Any:
        if not D.shape[1]:  # a class that has no prototype yet
            return np.full(len(D), -np.inf, dtype=D.dtype)
        if self.soft:
            return logsumexp(-self.xi * D, axis=1) / self.xi
        return -D.min(axis=1)
