"""A table that is filled while it is still being found out what its columns are.

Mostly they are what the first rows let expect, and then one pass over the file is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from .cells import COMMA, GROUPED
from .filling import Filling, Plan
from .survey import Tally


class FirstDraft:
    """A first try at a table.

    Parameters
    ----------
    asked : dict
        What the user wants some columns to be.
    most_rows : int
        So many rows or less; 0: no try.
    commas : bool
        Whether numbers may have decimal commas.
    missing : set of str
        Texts that stand for a missing category.
    """

    def __init__(
        self, asked: Mapping[str, str], most_rows: int, commas: bool, missing: frozenset[str]
    ):
        self._asked, self._most, self._commas, self._missing = asked, most_rows, commas, missing
        self._filling: Filling | None = None

    def put(
        self,
        start: int,
        columns: Sequence[Sequence[str]],
        known: Sequence[Any],
        tallies: Mapping[str, Tally],
    ) -> None:
        """Write cells; give up if they are not what was expected by the first ones."""
        if start == 0 and self._most:
            self._filling = Filling(self._expected(tallies), self._most, self._missing)
        if self._filling is None:
            return
        try:
            self._filling.put(start, columns, known)
        except ValueError:
            self._filling = None

    def frame(self, plan: Plan, n_rows: int) -> NDArray[Any] | None:
        """Return the table, if its columns are what they are."""
        if self._filling is None or self._filling.plan != plan:
            return None
        return self._filling.frame[:n_rows]

    def _expected(self, tallies: Mapping[str, Tally]) -> Plan:
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
