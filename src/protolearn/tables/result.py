"""Counterfactuals of a table, in its units and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats
from ..analysis import first_rows

MOST_CHANGES = 5
"""How many changes of a row the text tells."""


class Change(NamedTuple):
    """A change of one value.

    Attributes
    ----------
    column : str or other
        The column.
    old, new : str
        What was there and what is to be, with as many digits as tell them apart.
    size : float
        How large it is, in standard deviations, or distances of categories.
    """

    column: Any
    old: str
    new: str
    size: float

    def __str__(self) -> str:
        return f"{self.column} were {self.new} instead of {self.old}"


@dataclass(frozen=True, eq=False, repr=False)
class TableCounterfactuals:
    """Rows of a table, changed as little as possible so that they get another class.

    Attributes
    ----------
    points : DataFrame, or array if the rows were one
        The changed rows, with the columns that the model uses. Numbers that change have their
        digits, also in columns of integers, and dates their time of day; a missing value that does
        not change is missing still. Rows without a counterfactual are as they were.
    distance : array of shape (n_samples,)
        Length of the change as the model measures rows; infinite where there is no counterfactual.
    label : array of shape (n_samples,)
        What the pipeline predicts for ``points``.
    feasible : array of bool of shape (n_samples,)
        Whether there is a counterfactual.
    exact : bool
        Whether they are the nearest ones. If not there may be nearer ones, and some where none was
        found.
    original : DataFrame or array
        The rows that were given, with the columns that the model uses.
    original_label : array of shape (n_samples,)
        What the pipeline predicts for them.
    changes : tuple of tuple of Change
        What changes in each row, the largest change first.
    """

    points: Any
    distance: Floats
    label: NDArray[Any]
    feasible: NDArray[np.bool_]
    exact: bool
    original: Any
    original_label: NDArray[Any]
    changes: tuple[tuple[Change, ...], ...]

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        kind = "nearest" if self.exact else "perhaps not the nearest"
        return f"<TableCounterfactuals: {self.feasible.sum()} of {len(self)} rows, {kind}>"

    def __str__(self) -> str:
        return first_rows(self)

    def describe(self, row: int) -> str:
        """Return in words what would change the answer about a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            A sentence.
        """
        if not self.feasible[row]:
            found = "no allowed change gives" if self.exact else "no change was found that gives"
            return f"is {self.original_label[row]}, and {found} the answer sought"
        changes = self.changes[row]
        if not changes:
            return f"is {self.label[row]} as it is"
        parts = [str(change) for change in changes[:MOST_CHANGES]]
        more = len(changes) - len(parts)
        if more:
            parts.append(f"for {more} smaller change{'s' * (more > 1)}")
        text = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
        if self.label[row] == self.original_label[row]:  # bounds have moved it
            return f"is {self.label[row]}, and would still be if {text}"
        return f"would be {self.label[row]} instead of {self.original_label[row]} if {text}"

    def sentences(self) -> list[str]:
        """Return for each row in words what would change the answer.

        Returns
        -------
        texts : list of str
            A sentence for each row.
        """
        return [self.describe(row) for row in range(len(self))]
