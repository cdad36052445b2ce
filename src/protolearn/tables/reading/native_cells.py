"""Columns straight from the text of many rows, for large files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from .cells import BLANK, COMMA, DASH, GROUPED, POINT, WHOLE, what_is
from .native_parse import POWERS, divided, parse
from .words import Words, find_words

KINDS = WHOLE, POINT, COMMA, GROUPED
"""What numbers may be, in the order of the compiled loop."""

Kinds = dict[int, tuple[int, int]]

EXACT = 2.0**53
"""Greatest number below which all integers are doubles."""

SELDOM = 0.9
"""If more than this share of cells are different, they hardly recur."""

HARD = 4
"""At most one in so many cells of a column of numbers is left to Python."""


class Numbers(Sequence[str]):
    """Cells of a column that are all numbers or missing; their texts are made when asked for.

    Parameters
    ----------
    cells : Cells
        Where the texts are.
    values : array of shape (n,)
        The numbers, NaN for missing ones; commas are taken as decimal marks.
    kinds : dict
        How many numbers there are of each kind, and where the first is.
    rounded : bool
        Whether one is an integer that is too long for a double.
    """

    def __init__(self, cells: Cells, values: Floats, kinds: Kinds, rounded: bool):
        self.values, self.kinds, self.rounded, self._cells = values, kinds, rounded, cells

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self._cells.texts()[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.texts())

    def text(self, place: int) -> str:
        """Return one of them."""
        return self._cells.some(np.array([place]))[0]


class Cells:
    """Where the cells of a column are in a text.

    Parameters
    ----------
    text : str or bytes
        The text; bytes if it has other characters than those of ASCII.
    raw : array of bytes
        The same in bytes.
    starts, ends : array of shape (n,)
        Where each begins and ends.
    """

    def __init__(self, text: str | bytes, raw: Any, starts: NDArray[Any], ends: NDArray[Any]):
        self._text, self._raw, self._starts, self._ends = text, raw, starts, ends

    def texts(self) -> list[str]:
        """Return all of them."""
        text, ends = self._text, zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        if isinstance(text, bytes):
            return [text[a:b].decode() for a, b in ends]
        return [text[a:b] for a, b in ends]

    def some(self, places: NDArray[Any]) -> list[str]:
        """Return some of them."""
        return Cells(self._text, self._raw, self._starts[places], self._ends[places]).texts()

    def words(self) -> Sequence[str]:
        """Return all of them; if many recur, by the different ones."""
        codes, firsts = find_words(self._raw, self._starts, self._ends)
        if len(firsts) > SELDOM * len(codes):
            return self.texts()
        return Words(self.some(firsts), codes, firsts)


def native_columns(lines: list[str], width: int, delimiter: str) -> list[Sequence[str]] | None:
    """Return the columns of lines; None if that takes more care."""
    joined = "".join(lines)
    coded = joined.encode()
    text = joined if len(coded) == len(joined) else coded
    raw = np.frombuffer(coded, np.uint8)
    shape = width, len(lines)
    values, unread = np.empty(shape), np.zeros(shape, dtype=bool)
    places = np.empty((2 * width, len(lines)), dtype=np.intp)
    counts, firsts = np.zeros((2, width, len(KINDS)), dtype=np.intp)
    largest = np.zeros(width)
    found = values, unread, places, counts, firsts, largest
    if not parse(raw, ord(delimiter), divided.address, POWERS, *found):
        return None
    columns = []
    for j in range(width):
        cells = Cells(text, raw, places[2 * j], places[2 * j + 1])
        known = zip(KINDS, counts[j].tolist(), firsts[j].tolist(), strict=True)
        kinds = {kind: (number, first) for kind, number, first in known if number}
        given = np.flatnonzero(unread[j])
        columns.append(column(cells, values[j], given, kinds, bool(largest[j] > EXACT)))
    return columns


def column(
    cells: Cells, values: Floats, unread: NDArray[np.intp], kinds: Kinds, rounded: bool
) -> Sequence[str]:
    """Return a column: its numbers if it has nothing else, or its texts."""
    if len(unread) * HARD > len(values):
        return cells.words()
    for place, cell in zip(unread.tolist(), cells.some(unread), strict=True):
        cell = cell.strip()
        kind = what_is(cell)
        if kind in KINDS:
            values[place] = float(cell.replace(",", "."))
            number, first = kinds.get(kind, (0, place))
            kinds[kind] = number + 1, min(first, place)
        elif kind in (BLANK, DASH):
            values[place] = np.nan
        else:
            return cells.words()
        rounded |= cell.lstrip("+-").isdigit() and abs(values[place]) > EXACT
    return Numbers(cells, values, kinds, rounded)
