"""What the columns of a text file are, by what their cells are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice

import numpy as np

from ..._arrays import Floats
from .cell_values import (
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
    CellMemo,
    count_cells,
    doubles,
    kind_of_cell,
    quote,
)
from .data_file import TableFileError
from .native_cells import EXACT, NumberCells

PADDED = re.compile(r"0\d+", re.ASCII)
LOOK = 1000
"""How many cells are looked at for codes."""

NUMBERS = WHOLE, POINT, INFINITE
DECIMALS = re.compile("[.eE]")


@dataclass(frozen=True)
class Plan:
    """What the columns of a text file are, and the mark before decimals."""

    kinds: Mapping[str, str]  # by name
    decimal: str = "."


class Tally:
    """What the cells of a column are: how many there are of each kind, and the first of them."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        # Of each kind the row and the text; of columns with numbers alone the first, whatever its
        # kind.
        self.first: dict[int, tuple[int, str]] = {}
        self.rounded = False  # whether there are integers that are too long for doubles
        self.padded = ""  # a cell among the first ones that begins with a zero as codes do
        self._kinds = CellMemo(kind_of_cell)

    def add(self, cells: Sequence[str], start: int) -> Floats | None:
        """Count cells, the first of which is in row ``start``; return them if all are numbers."""
        if start == 0:
            few = map(str.strip, islice(cells, LOOK))
            self.padded = next((cell for cell in few if PADDED.fullmatch(cell)), "")
        if isinstance(cells, NumberCells):
            return self._add_known(cells, start)
        known = self._read_numbers(cells)
        if known is None:
            self._add_others(cells, start)
        elif WHOLE not in self.first:
            there = np.flatnonzero(~np.isnan(known))
            if len(there):
                self.first[WHOLE] = start + int(there[0]), cells[int(there[0])].strip()
        return known

    def _read_numbers(self, cells: Sequence[str]) -> Floats | None:
        """Count and return cells that are numbers or missing; None if they are not, or hardly."""
        if self.present and not self.numbers(commas=False):
            return None
        found = self._numbers(cells)
        if found is not None:
            return found
        present = [cell not in MISSING for cell in cells]
        found = None if all(present) else self._numbers(list(compress(cells, present)))
        if found is None:
            return None
        self.counts[BLANK] += len(cells) - len(found)
        values = np.full(len(cells), np.nan)
        values[present] = found
        return values

    def _add_known(self, cells: NumberCells, start: int) -> Floats:
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
        for cell, number in count_cells(cells):
            kind = self._kinds[cell]
            self.counts[kind] += number
            if kind not in self.first:
                self.first[kind] = start + cells.index(cell), cell.strip()

    def _numbers(self, cells: Sequence[str]) -> Floats | None:
        """Count and return cells if all are finite numbers, as in most columns, the quick way."""
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
        kinds = (*NUMBERS, COMMA, GROUPED) if commas else NUMBERS
        return sum(self.counts[kind] for kind in kinds)

    @property
    def dates(self) -> int:
        """Number of cells that are dates."""
        return self.counts[DATE] + self.counts[ZONED]

    def first_but(self, *kinds: int) -> tuple[int, str]:
        """Return the first cell that is none of some kinds, nor missing."""
        return min(place for kind, place in self.first.items() if kind not in (BLANK, DASH, *kinds))


@dataclass
class Judge:
    """Decides what the columns of a text file are, and tells what is wrong with them."""

    place: Callable[[int], str]  # gives the words for the number of a row
    asked: Mapping[str, str]  # what the user wants some columns to be
    decimal: str = "."
    notes: list[str] = field(default_factory=list)  # what else one should know

    def plan(self, tallies: Mapping[str, Tally], commas: bool) -> Plan:
        """Decide about all columns, whose numbers may have decimal commas or not."""
        if commas:
            self.find_decimal(tallies)
        kinds = {name: self.kind(name, tally) for name, tally in tallies.items()}
        return Plan(kinds, self.decimal)

    def find_decimal(self, tallies: Mapping[str, Tally]) -> None:
        """Find out whether numbers have decimal commas; raise where that cannot be told."""
        half = {
            name: tally
            for name, tally in tallies.items()
            if self.asked.get(name) != "category" and 2 * tally.numbers(True) >= tally.present > 0
        }
        clear = [name for name, tally in half.items() if tally.counts[COMMA]]
        unclear = [name for name, tally in half.items() if tally.counts[GROUPED]]
        points = [name for name, tally in half.items() if tally.counts[POINT]]
        if not clear and not unclear:
            return
        name = (clear or unclear)[0]
        row, cell = half[name].first[COMMA if clear else GROUPED]
        where = f"Column {name!r} has {cell!r} in {self.place(row)}"
        if points:
            raise TableFileError(
                f"{where}, and column {points[0]!r} has decimal points; write all numbers with a "
                "decimal point and without separators of thousands."
            )
        if not clear:
            raise TableFileError(
                f"{where}, which may have a decimal comma or a separator of thousands; write it "
                "with a decimal point, or without the comma."
            )
        self.decimal = ","
        self.notes.append(f"decimal commas, as in {cell}")

    def kind(self, name: str, tally: Tally) -> str:
        """Whether a column holds numbers, dates or categories."""
        asked = self.asked.get(name)
        if asked == "category":
            return asked
        commas = self.decimal == ","  # a column of nothing holds numbers
        if asked == "number" or (asked is None and 2 * tally.numbers(commas) >= tally.present):
            self._check_number(name, tally, asked is not None)
            return "number"
        if asked == "date" or (asked is None and self._is_date(name, tally)):
            self._check_date(name, tally)
            return "date"
        return "category"

    def _check_number(self, name: str, tally: Tally, asked: bool) -> None:
        """Raise if not all cells are finite numbers."""
        commas = self.decimal == ","
        if tally.numbers(commas) < tally.present:
            row, cell = tally.first_but(*NUMBERS, *([COMMA, GROUPED] if commas else []))
            what = "is to hold numbers" if asked else "holds numbers"
            raise TableFileError(
                f"Column {name!r} {what}, but {self.place(row)} has {quote(cell)}; correct it, "
                "leave the cell empty if it is missing, or read the column as categories "
                f"(--categorical {name}, or kinds={{{name!r}: 'category'}})."
            )
        if tally.counts[INFINITE]:
            row, cell = tally.first[INFINITE]
            raise TableFileError(
                f"Column {name!r} has {cell!r} in {self.place(row)}, which is not a finite number; "
                "correct it, or leave the cell empty if it is missing."
            )
        if tally.padded:
            self.notes.append(
                f"column {name!r} has numbers such as {tally.padded}; if they are codes, read it "
                "as categories"
            )
        if tally.rounded:
            what = "integers too long for doubles, which are rounded"
            self.notes.append(f"column {name!r} has {what}")

    def _is_date(self, name: str, tally: Tally) -> bool:
        """Whether all cells are dates."""
        if tally.dates < tally.present and 2 * tally.dates >= tally.present:
            row, cell = tally.first_but(DATE, ZONED)
            self.notes.append(
                f"column {name!r} has dates, but {quote(cell)} in {self.place(row)}; all are read "
                "as texts"
            )
        return tally.dates == tally.present

    def _check_date(self, name: str, tally: Tally) -> None:
        """Raise if not all cells are dates of one kind."""
        if tally.dates < tally.present:
            row, cell = tally.first_but(DATE, ZONED)
            raise TableFileError(
                f"Column {name!r} is to hold dates, but {self.place(row)} has {quote(cell)}; write "
                "it as 2024-12-31 or 2024-12-31T23:59:59, or leave the cell empty if it is missing."
            )
        if tally.counts[DATE] and tally.counts[ZONED]:
            row, cell = tally.first[ZONED]
            other, plain = tally.first[DATE]
            raise TableFileError(
                f"Column {name!r} has {cell!r} with a time zone in {self.place(row)} and {plain!r} "
                f"without one in {self.place(other)}; write all of them with one, or none."
            )
