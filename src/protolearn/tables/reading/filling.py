"""Cells become the fields of a structured array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cell_values import COMMA, GROUPED, RecurringCells, cell_reader
from .column_kinds import Plan, Tally
from .native_cells import NumberCells
from .text_table import Block

FIELDS = {"number": "float64", "date": "datetime64[us]", "category": "object"}
"""The type of the field of each kind of column."""


class FirstDraft:
    """A table that is filled while it is still being found out what its columns are.

    Mostly they are what the first rows let expect, and then one pass over the file is enough.
    """

    def __init__(
        self, asked: Mapping[str, str], most_rows: int, commas: bool, missing: frozenset[str]
    ):
        self._asked = asked  # what the user wants some columns to be
        self._most = most_rows  # so many rows or less; 0: no try
        self._commas = commas  # whether numbers may have decimal commas
        self._missing = missing  # texts that stand for a missing category
        self._filling: Filling | None = None

    def survey(
        self, blocks: Iterable[Block], places: Mapping[str, int]
    ) -> tuple[dict[str, Tally], int]:
        """Return what the columns at some places hold, and the number of rows."""
        tallies = {name: Tally() for name in places}
        n_rows = 0
        for start, block in blocks:
            columns = [block[place] for place in places.values()]
            pairs = zip(tallies.values(), columns, strict=True)
            known = [tally.add(cells, start) for tally, cells in pairs]
            if start == 0 and self._most:
                self._filling = Filling(self._expected_plan(tallies), self._most, self._missing)
            try:
                if self._filling is not None:
                    self._filling.write(start, columns, known)
            except ValueError:  # they are not what was expected by the first ones
                self._filling = None
            n_rows = start + len(block[0])
        return tallies, n_rows

    def frame(
        self, blocks: Iterable[Block], places: Mapping[str, int], plan: Plan, n_rows: int
    ) -> NDArray[Any]:
        """Return the table; by a second pass if its columns are not what was expected."""
        if self._filling is not None and self._filling.plan == plan:
            return self._filling.frame[:n_rows]
        filling, unknown = Filling(plan, n_rows, self._missing), [None] * len(places)
        for start, columns in blocks:
            filling.write(start, [columns[place] for place in places.values()], unknown)
        return filling.frame

    def _expected_plan(self, tallies: Mapping[str, Tally]) -> Plan:
        """Return what columns are by their first rows."""
        commas = self._commas and any(
            tally.counts[COMMA] + tally.counts[GROUPED] and 2 * tally.numbers(True) >= tally.present
            for name, tally in tallies.items()
            if self._asked.get(name) != "category"
        )
        kinds = {}
        for name, tally in tallies.items():
            number = 2 * tally.numbers(commas) >= tally.present
            kind = "number" if number else "date" if tally.dates == tally.present else "category"
            kinds[name] = self._asked.get(name, kind)
        return Plan(kinds, "," if commas else ".")


class Filling:
    """A structured array that is filled block by block, by a plan of its columns.

    Texts in ``missing`` stand for a missing category.
    """

    def __init__(self, plan: Plan, n_rows: int, missing: frozenset[str]):
        self.plan, self.frame = plan, empty_frame(plan.kinds, n_rows)
        self._fields = [self.frame[name] for name in plan.kinds]
        self._readers = [cell_reader(kind, plan.decimal, missing) for kind in plan.kinds.values()]

    def write(self, start: int, columns: Iterable[Any], known: Iterable[Any]) -> None:
        """Write the cells of columns into rows from ``start`` on; a ValueError if they do not fit.

        Columns whose numbers are known already are not read again.
        """
        kinds = self.plan.kinds.values()
        for kind, field, read, cells, found in zip(
            kinds, self._fields, self._readers, columns, known, strict=True
        ):
            values = cells.values if isinstance(cells, NumberCells) else found
            if values is None or kind != "number":
                recur = isinstance(cells, RecurringCells)
                values = read(cells.different)[cells.codes] if recur else read(cells)
            field[start : start + len(cells)] = values


def empty_frame(kinds: Mapping[str, str], n_rows: int) -> NDArray[Any]:
    """Return a structured array with a field for each column, by its kind."""
    fields = [(name, FIELDS[kind]) for name, kind in kinds.items()]
    return np.zeros(n_rows, dtype=fields)  # with objects quicker than numpy.empty
