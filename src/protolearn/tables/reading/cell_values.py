"""What a cell of a text file holds, and how columns of cells become arrays."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from ..values import START, UTC

MISSING = frozenset(["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "?"])
"""Cells without a value, whatever their column holds."""

MISSING_NUMBER = frozenset(["-", ".", "None"])
"""Cells without a value among numbers and dates; among texts these are texts."""

BLANK, DASH, WHOLE, POINT, COMMA, GROUPED, INFINITE, DATE, ZONED, TEXT = range(10)
"""What a cell is: missing, missing among numbers, a number without or with a decimal point, one
with a decimal comma, one that may have a decimal comma or a separator of thousands, an infinite
number, a date or time, one with a time zone, anything else."""

NOTHING, DATES = (BLANK, DASH), (DATE, ZONED)

IS_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
IS_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
IS_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
NUMBER_STARTS = frozenset("+-.0123456789")
NUMBER_WORDS = frozenset(["inf", "infinity", "nan"])

MOST_KNOWN = 1 << 16
"""How many texts are kept in mind; more distinct ones are hardly repeated."""

NO_TIME = int(np.iinfo(np.int64).min)
TICK = datetime.timedelta(microseconds=1)


def kind_of_cell(cell: str) -> int:
    """Return what a cell is."""
    cell = cell.strip()
    if cell in MISSING:
        return BLANK
    if cell in MISSING_NUMBER:
        return DASH
    first = cell[0]
    if first not in NUMBER_STARTS and not first.isdigit():
        return kind_of_number(cell) if cell.lower() in NUMBER_WORDS else TEXT
    found = kind_of_number(cell)
    if found == TEXT and IS_COMMA.fullmatch(cell):
        return GROUPED if IS_GROUPED.fullmatch(cell) else COMMA
    return kind_of_date(cell) if found == TEXT else found


def kind_of_number(cell: str) -> int:
    """Return what kind of number a cell is."""
    try:
        value = float(cell)
    except ValueError:
        return TEXT
    if "_" in cell:
        return TEXT
    if not math.isfinite(value):
        return BLANK if value != value else INFINITE
    return POINT if "." in cell else WHOLE


def kind_of_date(cell: str) -> int:
    """Return whether a cell is a date, with a time zone or not."""
    match = IS_DATE.fullmatch(cell)
    if match is None:
        return TEXT
    try:
        datetime.datetime.fromisoformat(cell)
    except ValueError:
        return TEXT
    return ZONED if match["zone"] else DATE


class CellMemo(dict[str, Any]):
    """What a function makes of cells; a cell that was seen before is not looked at again."""

    def __init__(self, make: Callable[[str], Any]):
        super().__init__()
        self._make = make

    def __missing__(self, cell: str) -> Any:
        if len(self) >= MOST_KNOWN:
            self.clear()
        found = self[cell] = self._make(cell)
        return found


class RecurringCells(Sequence[str]):
    """Cells of a column, by the different ones among them."""

    def __init__(self, different: list[str], codes: NDArray[Any], firsts: NDArray[Any]):
        self.different = different  # as they come
        self.codes = codes  # which of them each cell is
        self.firsts = firsts  # where each of them comes first

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: Any) -> Any:
        return self.different[self.codes[place]]

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return where a cell comes first."""
        return int(self.firsts[self.different.index(value)])

    def __iter__(self) -> Iterator[str]:
        return map(self.different.__getitem__, self.codes.tolist())


def count_cells(cells: Sequence[str]) -> Iterable[tuple[str, int]]:
    """Return the different cells as they come, and how often each is there."""
    if isinstance(cells, RecurringCells):
        numbers = np.bincount(cells.codes, minlength=len(cells.different)).tolist()
        return zip(cells.different, numbers, strict=True)
    return Counter(cells).items()


def cell_reader(kind: str, decimal: str, missing: frozenset[str]) -> Callable[..., NDArray[Any]]:
    """Return what reads cells of a kind of column, and keeps in mind those that recur."""
    if kind == "number":
        return partial(number_array, decimal=decimal)
    if kind == "date":
        return partial(date_array, known=CellMemo(ticks))
    return partial(text_array, known=text_memo(missing))


def doubles(cells: Sequence[str]) -> Floats:
    """Return numbers; a ValueError if one is none."""
    return np.fromiter(map(float, cells), np.float64, len(cells))


def number_array(cells: Sequence[str], decimal: str = ".") -> Floats:
    """Return numbers, NaN for missing ones."""
    if decimal == ",":
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        return doubles(cells)
    except ValueError:
        return doubles(["nan" if is_blank(cell) else cell.strip() for cell in cells])


def text_array(cells: Sequence[str], known: CellMemo) -> NDArray[Any]:
    """Return texts as objects, None for missing ones."""
    return np.fromiter(map(known.__getitem__, cells), object, len(cells))


def text_memo(missing: frozenset[str]) -> CellMemo:
    """Return what makes texts of cells, without blanks around them, equal ones as one object.

    Texts in ``missing`` stand for no value.
    """

    def make(cell: str) -> str | None:
        text = cell.strip()
        return None if text in missing else text if text == cell else memo[text]

    memo = CellMemo(make)
    return memo


def date_array(cells: Sequence[str], known: CellMemo | None = None) -> NDArray[np.datetime64]:
    """Return times, in UTC if they have time zones, NaT for missing ones."""
    known = CellMemo(ticks) if known is None else known
    found = np.fromiter(map(known.__getitem__, cells), np.int64, len(cells))
    return found.view("datetime64[us]")


def ticks(cell: str) -> int:
    """Return a time in microseconds since 1970; a ValueError if it is none."""
    if is_blank(cell):
        return NO_TIME
    time = datetime.datetime.fromisoformat(cell.strip())
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - START) // TICK


def is_blank(cell: str) -> bool:
    """Whether a cell of numbers or dates is missing."""
    return cell in MISSING or (cell := cell.strip()) in MISSING or cell in MISSING_NUMBER


def quote(cell: str) -> str:
    """Write a cell between quotation marks, a long one cut."""
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")
