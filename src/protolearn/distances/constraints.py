"""Constraints on the parameters of a distance, kept by parametrisation.

A batch solver moves free numbers ``a``; the distance uses ``theta = apply(a)``; the gradient is
pulled back through that map. The sequential solver steps on ``theta`` itself and calls
``constrain`` on the row it moved.
"""

from __future__ import annotations

import math

import numpy as np

from .._parameters import Constraint, Floats
from ..native import CONSTRAIN, native


class Free(Constraint):
    """No constraint."""

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Leave one row as it is."""

    def apply(self, free: Floats) -> Floats:
        """Return the free numbers."""
        return free

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Return the gradient."""
        return gradient


class UnitNorm(Constraint):
    """Every row has norm one: ``theta = a / |a|``."""

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Divide one row by its norm."""
        total = 0.0
        for j in range(theta.size):
            total += theta[j] * theta[j]
        norm = math.sqrt(total)
        if norm > 0.0:
            for j in range(theta.size):
                theta[j] /= norm

    def apply(self, free: Floats) -> Floats:
        """Divide each row by its norm."""
        return free / np.linalg.norm(free, axis=1, keepdims=True)

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Project the gradient on the sphere: ``(g - theta <theta, g>) / |a|``."""
        norm = np.linalg.norm(free, axis=1, keepdims=True)
        theta = free / norm
        return (gradient - theta * np.sum(theta * gradient, axis=1, keepdims=True)) / norm
