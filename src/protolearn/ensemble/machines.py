"""The models of an ensemble: one hyperplane a model, and who it was learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._parameters import Floats, Indices, rows_at_a_time
from .members import Members
from .solver import solve


class Settings(NamedTuple):
    """How a small problem is solved."""

    C: float
    penalty: str
    tol: float
    max_iter: int


@dataclass(frozen=True)
class Machines:
    """Linear support vector machines, each for the class of its exemplar.

    Attributes
    ----------
    exemplar : array (M,)
        The row of the training part that the model was made for.
    label : array (M,)
        Its class code.
    weights : array (M, d)
    intercepts : array (M,)
        The model fires on x if ``weights . x + intercept`` is positive.
    members : Members
        The positive and negative sets.
    solved : array (M,)
        Whether the problem was solved to the tolerance.
    silent : bool
        Whether no model fires on any row of the training part.
    """

    exemplar: Indices
    label: Indices
    weights: Floats
    intercepts: Floats
    members: Members
    solved: NDArray[np.bool_]
    silent: bool = False

    def __len__(self) -> int:
        return len(self.exemplar)

    @classmethod
    def untrained(cls, X: Floats, codes: Indices, members: Members) -> Machines:
        """Make one model a row, which fires on nothing yet."""
        n = len(X)
        return cls(np.arange(n), codes, np.zeros(X.shape), np.zeros(n), members, np.zeros(n, bool))

    def trained(self, X: Floats, settings: Settings) -> Machines:
        """Train every model on its sets, from the solution before; X is the training part."""
        warm: Any = self.members.strength
        if settings.penalty == "l1":
            warm = self.weights, self.intercepts + self._at(X, self.weights)
        found = solve(
            X,
            self.members.problems(self.exemplar),
            settings.C,
            penalty=settings.penalty,
            warm=warm,
            tol=settings.tol,
            max_iter=settings.max_iter,
        )
        return replace(
            self,
            weights=found.weights,
            intercepts=found.offsets - self._at(X, found.weights),
            members=replace(self.members, strength=found.strengths),
            solved=found.converged,
        )

    def scores(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        """Give the decision values of some models at a time: arrays (models, rows)."""
        size = rows_at_a_time(4 * len(X))
        for first in range(0, len(self), size):
            models = slice(first, min(first + size, len(self)))
            yield models, self.weights[models] @ X.T + self.intercepts[models, None]

    def useful(self, X: Floats) -> Machines:
        """Keep the models that fire on a row; all, if none does.

        Without weights a model fires on everything or on nothing, and is of no use.
        """
        fires = np.concatenate([(scores > 0.0).any(axis=1) for _, scores in self.scores(X)])
        fires &= self.weights.any(axis=1)
        if not fires.any():
            return replace(self, silent=True)
        return replace(self.some(np.flatnonzero(fires)), silent=False)

    def some(self, models: Indices) -> Machines:
        """Keep some models, given in ascending order."""
        return replace(
            self,
            exemplar=self.exemplar[models],
            label=self.label[models],
            weights=self.weights[models],
            intercepts=self.intercepts[models],
            members=self.members.of_models(models),
            solved=self.solved[models],
        )

    def _at(self, X: Floats, weights: Floats) -> Floats:
        """Give the products of weights with the exemplars."""
        return np.einsum("ij,ij->i", weights, X[self.exemplar])
