"""The models of an ensemble: one hyperplane a model, and who it was learned from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .blocks import by_blocks
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
    changed : array (M,)
        Whether the model has to be trained: its sets have grown, or it was not solved.
    silent : bool
        Whether no model fires on any row of the training part.
    """

    exemplar: Indices
    label: Indices
    weights: Floats
    intercepts: Floats
    members: Members
    solved: NDArray[np.bool_]
    changed: NDArray[np.bool_]
    silent: bool = False

    def __len__(self) -> int:
        return len(self.exemplar)

    @classmethod
    def untrained(cls, X: Floats, codes: Indices, members: Members) -> Machines:
        """Make one model a row, which fires on nothing yet."""
        n = len(X)
        no, yes = np.zeros(n, bool), np.ones(n, bool)
        return cls(
            np.arange(n, dtype=np.intp), codes, np.zeros(X.shape), np.zeros(n), members, no, yes
        )

    def trained(self, X: Floats, settings: Settings) -> Machines:
        """Train the models whose sets have grown, from the solution before.

        X is the training part.
        """
        models = np.flatnonzero(self.changed)
        if not len(models):
            return self
        some = self.some(models)
        warm: Any = some.members.strength
        if settings.penalty == "l1":
            warm = some.weights, some.intercepts + some._at(X, some.weights)
        found = solve(
            X,
            some.members.problems(some.exemplar),
            settings.C,
            penalty=settings.penalty,
            warm=warm,
            tol=settings.tol,
            max_iter=settings.max_iter,
        )
        strength = self.members.strength.copy()
        strength[self.changed[self.members.model]] = found.strengths
        return replace(
            self,
            weights=_with(self.weights, models, found.weights),
            intercepts=_with(self.intercepts, models, found.offsets - some._at(X, found.weights)),
            members=replace(self.members, strength=strength),
            solved=_with(self.solved, models, found.converged),
        )

    def useful(self, X: Floats) -> Machines:
        """Keep the models that fire on a row; all, if none does.

        Without weights a model fires on everything or on nothing, and is of no use.
        """
        fires = np.ones(len(self), bool)  # as before, where nothing has changed
        new = np.flatnonzero(self.changed | self.silent)

        def look(block: slice) -> None:
            models = new[block]
            scores = self.weights[models] @ X.T + self.intercepts[models, None]
            fires[models] = (scores > 0.0).any(axis=1) & self.weights[models].any(axis=1)

        by_blocks(len(new), len(X), look)
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
            changed=self.changed[models],
        )

    def _at(self, X: Floats, weights: Floats) -> Floats:
        """Return the products of weights with the exemplars."""
        return np.einsum("ij,ij->i", weights, X[self.exemplar])


def _with(values: Any, places: Indices, new: Any) -> Any:
    """Return a copy with some values replaced."""
    values = values.copy()
    values[places] = new
    return values
