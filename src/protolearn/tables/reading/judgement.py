"""What a column is, by what its cells are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .cells import COMMA, DATE, GROUPED, INFINITE, POINT, WHOLE, ZONED, short
from .errors import TableFileError
from .filling import Plan
from .survey import Tally

NUMBERS = WHOLE, POINT, INFINITE


@dataclass
class Judge:
    """Decides what the columns of a text file are, and tells what is wrong with them.

    Attributes
    ----------
    place : callable
        Gives the words for the number of a row.
    asked : dict
        What the user wants some columns to be.
    decimal : {".", ","}
        The mark between a number and its decimals.
    notes : list of str
        What else one should know.
    """

    place: Callable[[int], str]
    asked: Mapping[str, str]
    decimal: str = "."
    notes: list[str] = field(default_factory=list)

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
        if asked == "number" or (asked is None and self._is_number(name, tally)):
            self._check_number(name, tally, asked is not None)
            return "number"
        if asked == "date" or (asked is None and self._is_date(name, tally)):
            self._check_date(name, tally)
            return "date"
        return "category"

    def _is_number(self, name: str, tally: Tally) -> bool:
        """Whether at least half of the cells are numbers; a column of nothing is such."""
        return 2 * tally.numbers(self.decimal == ",") >= tally.present

    def _check_number(self, name: str, tally: Tally, asked: bool) -> None:
        """Raise if not all cells are finite numbers."""
        commas = self.decimal == ","
        if tally.numbers(commas) < tally.present:
            row, cell = tally.first_but(*NUMBERS, *([COMMA, GROUPED] if commas else []))
            what = "is to hold numbers" if asked else "holds numbers"
            raise TableFileError(
                f"Column {name!r} {what}, but {self.place(row)} has {short(cell)}; correct it, "
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
            self.notes.append(
                f"column {name!r} has integers too long for doubles, which are rounded"
            )

    def _is_date(self, name: str, tally: Tally) -> bool:
        """Whether all cells are dates."""
        if tally.dates < tally.present and 2 * tally.dates >= tally.present:
            row, cell = tally.first_but(DATE, ZONED)
            self.notes.append(
                f"column {name!r} has dates, but {short(cell)} in {self.place(row)}; all are read "
                "as texts"
            )
        return tally.dates == tally.present

    def _check_date(self, name: str, tally: Tally) -> None:
        """Raise if not all cells are dates of one kind."""
        if tally.dates < tally.present:
            row, cell = tally.first_but(DATE, ZONED)
            raise TableFileError(
                f"Column {name!r} is to hold dates, but {self.place(row)} has {short(cell)}; write "
                "it as 2024-12-31 or 2024-12-31T23:59:59, or leave the cell empty if it is missing."
            )
        if tally.counts[DATE] and tally.counts[ZONED]:
            row, cell = tally.first[ZONED]
            other, plain = tally.first[DATE]
            raise TableFileError(
                f"Column {name!r} has {cell!r} with a time zone in {self.place(row)} and {plain!r} "
                f"without one in {self.place(other)}; write all of them with one, or none."
            )
