"""Cells become the fields of a structured array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import MISSING, Texts, Times, dates, numbers, texts
from .native_cells import Numbers
from .text_table import Block
from .words import Words

FIELDS = {"number": "float64", "date": "datetime64[us]", "category": "object"}
"""The type of the field of each kind of column."""

READ: dict[str, Callable[..., NDArray[Any]]] = {
    "number": lambda cells, seen, decimal: numbers(cells, decimal),
    "date": lambda cells, seen, decimal: dates(cells, seen),
    "category": lambda cells, seen, decimal: texts(cells, seen),
}
"""How cells of each kind of column are read."""

KNOWN: dict[str, Callable[[frozenset[str]], Any]] = {
    "number": lambda missing: None,
    "date": lambda missing: Times(),
    "category": Texts,
}
"""What is kept in mind of the cells of each kind of column, since they recur."""


@dataclass(frozen=True)
class Plan:
    """What the columns of a text file are.

    Attributes
    ----------
    kinds : dict
        What each column is, by name.
    decimal : {".", ","}
        The mark before decimals.
    """

    kinds: Mapping[str, str]
    decimal: str = "."


class Filling:
    """A structured array that is filled block by block.

    Parameters
    ----------
    plan : Plan
        What the columns are.
    n_rows : int
        Number of rows.
    missing : set of str
        Texts that stand for a missing category.
    """

    def __init__(self, plan: Plan, n_rows: int, missing: frozenset[str] = MISSING):
        self.plan, self.frame = plan, empty_frame(plan.kinds, n_rows)
        self._fields = [self.frame[name] for name in plan.kinds]
        self._known = [KNOWN[kind](missing) for kind in plan.kinds.values()]

    def put(self, start: int, columns: Iterable[Sequence[str]], known: Iterable[Any]) -> None:
        """Write the cells of columns into rows from ``start`` on; a ValueError if they do not fit.

        Columns whose numbers are known already are not read again.
        """
        kinds = self.plan.kinds.values()
        cells: Any
        for kind, field, cells, found, seen in zip(
            kinds, self._fields, columns, known, self._known, strict=True
        ):
            read = partial(READ[kind], seen=seen, decimal=self.plan.decimal)
            values = cells.values if isinstance(cells, Numbers) else found
            if values is None or kind != "number":
                recur = isinstance(cells, Words)
                values = read(cells.different)[cells.codes] if recur else read(cells)
            field[start : start + len(cells)] = values


def empty_frame(kinds: Mapping[str, str], n_rows: int) -> NDArray[Any]:
    """Make a structured array with a field for each column, by its kind."""
    fields = [(name, FIELDS[kind]) for name, kind in kinds.items()]
    return np.zeros(n_rows, dtype=fields)  # with objects quicker than numpy.empty


def filled(
    blocks: Iterable[Block], places: Sequence[int], plan: Plan, n_rows: int, missing: frozenset[str]
) -> NDArray[Any]:
    """Read the columns at some places into a structured array."""
    filling = Filling(plan, n_rows, missing)
    unknown = [None] * len(places)
    for start, columns in blocks:
        filling.put(start, [columns[place] for place in places], unknown)
    return filling.frame
