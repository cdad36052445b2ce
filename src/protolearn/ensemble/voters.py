"""An ensemble that decides: models that fire vote for their class, each with its probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .blocks import by_blocks
from .calibration import Calibration
from .machines import Machines

JUST = np.finfo(np.float64).tiny
"""The decision value of a model that just fires."""


@dataclass(frozen=True)
class Voters:
    """Models with calibrated votes.

    Attributes
    ----------
    weights : array (M, d)
    intercepts : array (M,)
    exemplars : array (M, d)
    label : array (M,)
        The class code that a model votes for.
    calibration : Calibration
    curves : array (M, calibration.width)
    """

    weights: Floats
    intercepts: Floats
    exemplars: Floats
    label: Indices
    calibration: Calibration
    curves: Floats

    @classmethod
    def of(cls, machines: Machines, X: Floats, calibration: Calibration) -> Voters:
        """Make voters of machines; X is their training part."""
        none = np.zeros((len(machines), calibration.width))
        exemplars = X[machines.exemplar]
        return cls(
            machines.weights, machines.intercepts, exemplars, machines.label, calibration, none
        )

    def __len__(self) -> int:
        return len(self.label)

    def calibrated(
        self, X: Floats, codes: Indices, n_classes: int, models: Indices | None = None
    ) -> Voters:
        """Fit the curves of all models, or of some, to rows of known classes."""
        curves = self.curves.copy()
        some = np.arange(len(self)) if models is None else models
        prior = (np.bincount(codes, minlength=n_classes) / len(codes))[self.label]

        def fit(block: slice) -> None:
            chosen = some[block]
            own = self.label[chosen, None] == codes
            scores, distances = self._numbers(X, chosen)
            curves[chosen] = self.calibration.fit(scores, distances, own, prior[chosen])

        if curves.size:
            by_blocks(len(some), len(X), fit)
        return replace(self, curves=curves)

    def votes(self, X: Floats, models: Indices) -> Floats:
        """Return the votes of some models, an array (models, rows), zero where one is silent."""
        out = np.empty((len(models), len(X)))

        def vote(block: slice) -> None:
            chosen = models[block]
            numbers = self._numbers(X, chosen)
            out[block] = self.calibration.votes(*numbers, self.curves[chosen])

        by_blocks(len(models), len(X), vote)
        return out

    def totals(self, X: Floats, n_classes: int) -> Floats:
        """Return the votes for each class, an array (rows, classes).

        Where no model fires the one with the largest decision value votes as if it just did.
        """
        members = (self.label == np.arange(n_classes)[:, None]).astype(np.float64)
        out = np.empty((len(X), n_classes))

        def add(rows: slice) -> None:
            scores, distances = self._numbers(X[rows], slice(None))
            silent = np.flatnonzero(~(scores > 0.0).any(axis=0))
            scores[scores[:, silent].argmax(axis=0), silent] = JUST
            out[rows] = (members @ self.calibration.votes(scores, distances, self.curves)).T

        by_blocks(len(X), len(self), add)
        return out

    def moved(self, machines: Machines) -> Voters:
        """Return the same models their new hyperplanes, and the curves that they had."""
        return replace(self, weights=machines.weights, intercepts=machines.intercepts)

    def some(self, models: Indices) -> Voters:
        """Keep some models."""
        return Voters(
            self.weights[models],
            self.intercepts[models],
            self.exemplars[models],
            self.label[models],
            self.calibration,
            self.curves[models],
        )

    def _numbers(self, X: Floats, models: Any) -> tuple[Floats, Floats]:
        """Return decision values and squared distances to the exemplars, where they are needed."""
        scores = self._scores(X, models)
        if not self.calibration.needs_distances:
            return scores, scores
        exemplars = self.exemplars[models]
        distances = -2.0 * exemplars @ X.T
        distances += np.einsum("ij,ij->i", exemplars, exemplars)[:, None]
        distances += np.einsum("ij,ij->i", X, X)
        return scores, distances

    def _scores(self, X: Floats, models: Any) -> Floats:
        return self.weights[models] @ X.T + self.intercepts[models, None]
