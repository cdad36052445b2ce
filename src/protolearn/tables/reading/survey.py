"""The first pass over the rows: what the cells of each column are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice
from typing import Any, Protocol

import numpy as np

from ..._arrays import Floats
from .cells import (
    BLANK,
    COMMA,
    DASH,
    DATE,
    GROUPED,
    INFINITE,
    MISSING,
    POINT,
    WHOLE,
    ZONED,
    Seen,
    doubles,
)
from .native_cells import EXACT, Numbers
from .text_table import Block
from .words import counted

PADDED = re.compile(r"0\d+", re.ASCII)
LOOK = 1000
"""How many cells are looked at for codes."""

DECIMALS = re.compile("[.eE]")


class Tally:
    """What the cells of a column are.

    Attributes
    ----------
    counts : Counter
        Number of cells of each kind.
    first : dict
        Number of the row and text of the first cell of each kind; of columns with numbers alone
        the first number, whatever its kind.
    rounded : bool
        Whether there are integers that are too long for doubles.
    padded : str
        A cell among the first ones that begins with a zero as codes do; empty if there is none.
    """

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.first: dict[int, tuple[int, str]] = {}
        self.rounded = False
        self.padded = ""
        self._seen = Seen()

    def add(self, cells: Sequence[str], start: int) -> Floats | None:
        """Look at cells, the first of which is in row ``start``; if all are numbers, give them."""
        if start == 0:
            few = map(str.strip, islice(cells, LOOK))
            self.padded = next((cell for cell in few if PADDED.fullmatch(cell)), "")
        if isinstance(cells, Numbers):
            return self._add_known(cells, start)
        known = self._known(cells)
        if known is None:
            self._add_others(cells, start)
        elif WHOLE not in self.first:
            there = np.flatnonzero(~np.isnan(known))
            if len(there):
                self.first[WHOLE] = start + int(there[0]), cells[int(there[0])].strip()
        return known

    def _known(self, cells: Sequence[str]) -> Floats | None:
        """Count and give cells that are numbers or missing; None if they are not, or hardly."""
        if self.present and not self.numbers(commas=False):
            return None
        found = self._numbers(cells)
        if found is not None:
            return found
        present = [cell not in MISSING for cell in cells]
        if not all(present):
            found = self._numbers(list(compress(cells, present)))
            if found is not None:
                self.counts[BLANK] += len(cells) - len(found)
                values = np.full(len(cells), np.nan)
                values[present] = found
                return values
        return None

    def _add_known(self, cells: Numbers, start: int) -> Floats:
        """Count cells that were read as numbers."""
        self.counts[BLANK] += int(np.isnan(cells.values).sum())
        for kind, (number, place) in cells.kinds.items():
            self.counts[kind] += number
            if kind not in self.first:
                self.first[kind] = start + place, cells.text(place).strip()
        self.rounded |= cells.rounded
        return cells.values

    def _add_others(self, cells: Sequence[str], start: int) -> None:
        """Count cells one by one."""
        for cell, number in counted(cells):
            kind = self._seen[cell]
            self.counts[kind] += number
            if kind not in self.first:
                self.first[kind] = start + cells.index(cell), cell.strip()

    def _numbers(self, cells: Sequence[str]) -> Floats | None:
        """Count and give cells if all are finite numbers; the quick way, most columns are such."""
        try:
            values = doubles(cells)
        except ValueError:
            return None
        text = "".join(cells)
        if "_" in text or not np.isfinite(values).all():
            return None
        self.counts[POINT if "." in text else WHOLE] += len(cells)
        if len(cells) and np.abs(values).max() > EXACT and not DECIMALS.search(text):
            self.rounded = True
        return values

    @property
    def present(self) -> int:
        """Number of cells that hold something."""
        return self.counts.total() - self.counts[BLANK] - self.counts[DASH]

    def numbers(self, commas: bool) -> int:
        """Count the cells that are numbers, with decimal commas or without."""
        kinds = [WHOLE, POINT, INFINITE, *([COMMA, GROUPED] if commas else [])]
        return sum(self.counts[kind] for kind in kinds)

    @property
    def dates(self) -> int:
        """Number of cells that are dates."""
        return self.counts[DATE] + self.counts[ZONED]

    def first_but(self, *kinds: int) -> tuple[int, str]:
        """Return the first cell that is none of some kinds, nor missing."""
        return min(place for kind, place in self.first.items() if kind not in (BLANK, DASH, *kinds))


class Draft(Protocol):
    """Something that cells are written into while they are looked at."""

    def put(
        self,
        start: int,
        columns: Sequence[Sequence[str]],
        known: Sequence[Any],
        tallies: Mapping[str, Tally],
    ) -> None:
        """Write cells, and numbers that are known."""


def survey(
    blocks: Iterable[Block], places: Mapping[str, int], draft: Draft
) -> tuple[dict[str, Tally], int]:
    """Look at the columns at some places, and write them into a draft at the same time.

    Give what they hold, and the number of rows.
    """
    tallies = {name: Tally() for name in places}
    n_rows = 0
    for start, block in blocks:
        columns = [block[place] for place in places.values()]
        known = [
            tally.add(cells, start) for tally, cells in zip(tallies.values(), columns, strict=True)
        ]
        draft.put(start, columns, known, tallies)
        n_rows = start + len(block[0])
    return tallies, n_rows
