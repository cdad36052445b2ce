"""The positive and the negative set of every model, as one table of members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Floats, Indices
from .problems import Problems


@dataclass(frozen=True)
class Members:
    """Rows that models learn from; the order is by model, positives first, then by row.

    Attributes
    ----------
    model : array (total,)
        The model that an entry belongs to.
    row : array (total,)
        The row of the training part.
    sign : array (total,)
        +1.0 in the positive set, -1.0 in the negative one.
    strength : array (total,)
        The dual variable of the last solution; zero for those who have just joined.
    """

    model: Indices
    row: Indices
    sign: Floats
    strength: Floats

    @classmethod
    def none(cls) -> Members:
        """Return empty sets."""
        return cls(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))

    def joined(self, model: Indices, row: Indices, sign: float) -> Members:
        """Let rows join sets; those who belong to them already stay as they are."""
        everyone = Members(
            np.concatenate([self.model, model]),
            np.concatenate([self.row, row]),
            np.concatenate([self.sign, np.full(len(row), sign)]),
            np.concatenate([self.strength, np.zeros(len(row))]),
        )
        n = int(everyone.row.max(initial=0)) + 1
        side = 2 * everyone.model + (everyone.sign < 0.0)
        _, first = np.unique(side * n + everyone.row, return_index=True)
        return everyone._some(first)

    def of_models(self, models: Indices) -> Members:
        """Keep the sets of some models, given in ascending order and numbered anew."""
        place = np.searchsorted(models, self.model)
        place[place == len(models)] = 0
        kept = self._some(np.flatnonzero(models[place] == self.model))
        return Members(np.searchsorted(models, kept.model), kept.row, kept.sign, kept.strength)

    def problems(self, exemplar: Indices) -> Problems:
        """Return what each model has to solve."""
        start = np.searchsorted(self.model, np.arange(len(exemplar) + 1))
        return Problems(start, self.row, self.sign, exemplar)

    def sizes(self, n_models: int) -> Indices:
        """Return the number of members of each model."""
        return np.bincount(self.model, minlength=n_models)

    def sets(self, n_models: int, sign: float) -> list[Indices]:
        """Return the rows in the set of each model."""
        chosen = self.sign == sign
        ends = np.searchsorted(self.model[chosen], np.arange(1, n_models))
        return np.split(self.row[chosen], ends)

    def _some(self, entries: Indices) -> Members:
        return Members(
            self.model[entries], self.row[entries], self.sign[entries], self.strength[entries]
        )
