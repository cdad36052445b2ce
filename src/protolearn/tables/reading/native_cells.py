"""Columns straight from the text of many rows, for large files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from ...native import (
    ADDRESS,
    FAST,
    LOSS,
    i8,
    indices,
    indices_matrix_out,
    indices_out,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from .cell_values import BLANK, COMMA, DASH, GROUPED, POINT, WHOLE, RecurringCells, kind_of_cell

KINDS = WHOLE, POINT, COMMA, GROUPED
"""What numbers may be, in the order of the compiled loop."""

Kinds = dict[int, tuple[int, int]]
"""How many cells there are of each kind, and which is the first."""

EXACT = 2.0**53
"""Greatest number below which all integers are doubles."""

SELDOM = 0.9
"""If more than this share of cells are different, they hardly recur."""

HARD = 4
"""At most one in so many cells of a column of numbers is left to Python."""

POWERS = 10.0 ** np.arange(23)
"""Those powers of ten that are doubles."""

bytes_in = types.Array(types.uint8, 1, "C", readonly=True)
flags_matrix_out = types.Array(types.boolean, 2, "C")
divide_at = pointer(LOSS)


class NumberCells(Sequence[str]):
    """Cells of a column that are all numbers or missing; their texts are made when asked for."""

    def __init__(self, cells: CellSpans, values: Floats, kinds: Kinds, rounded: bool):
        self.values = values  # NaN for missing ones; commas are taken as decimal marks
        self.kinds = kinds
        self.rounded = rounded  # whether one is an integer that is too long for a double
        self._cells = cells

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self._cells.texts()[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.texts())

    def text(self, place: int) -> str:
        """Return one of them."""
        return self._cells.some(np.array([place]))[0]


class CellSpans:
    """Where the cells of a column begin and end in a text."""

    def __init__(self, text: str | bytes, raw: Any, starts: NDArray[Any], ends: NDArray[Any]):
        self._text = text  # as bytes if it has other characters than those of ASCII
        self._raw, self._starts, self._ends = raw, starts, ends

    def texts(self) -> list[str]:
        """Return all of them."""
        text, ends = self._text, zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        if isinstance(text, bytes):
            return [text[a:b].decode() for a, b in ends]
        return [text[a:b] for a, b in ends]

    def some(self, places: NDArray[Any]) -> list[str]:
        """Return some of them."""
        return CellSpans(self._text, self._raw, self._starts[places], self._ends[places]).texts()

    def words(self) -> Sequence[str]:
        """Return all of them; if many recur, by the different ones."""
        n = len(self._starts)
        codes, firsts = np.empty((2, n), dtype=np.intp)
        slots = np.full(1 << (2 * n).bit_length(), -1, dtype=np.intp)
        n_different = match_cells(self._raw, self._starts, self._ends, slots, codes, firsts)
        if n_different > SELDOM * n:
            return self.texts()
        firsts = firsts[:n_different]
        return RecurringCells(self.some(firsts), codes, firsts)


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
    if not parse(raw, ord(delimiter), divide.address, POWERS, *found):
        return None
    columns = []
    for j in range(width):
        cells = CellSpans(text, raw, places[2 * j], places[2 * j + 1])
        known = zip(KINDS, counts[j].tolist(), firsts[j].tolist(), strict=True)
        kinds = {kind: (number, first) for kind, number, first in known if number}
        given = np.flatnonzero(unread[j])
        columns.append(cells_of_column(cells, values[j], given, kinds, bool(largest[j] > EXACT)))
    return columns


def cells_of_column(
    cells: CellSpans, values: Floats, unread: NDArray[np.intp], kinds: Kinds, rounded: bool
) -> Sequence[str]:
    """Return a column: its numbers if it has nothing else, or its texts."""
    if len(unread) * HARD > len(values):
        return cells.words()
    for place, cell in zip(unread.tolist(), cells.some(unread), strict=True):
        cell = cell.strip()
        kind = kind_of_cell(cell)
        if kind in KINDS:
            values[place] = float(cell.replace(",", "."))
            number, first = kinds.get(kind, (0, place))
            kinds[kind] = number + 1, min(first, place)
        elif kind in (BLANK, DASH):
            values[place] = np.nan
        else:
            return cells.words()
        rounded |= cell.lstrip("+-").isdigit() and abs(values[place]) > EXACT
    return NumberCells(cells, values, kinds, rounded)


@native(i8(bytes_in, indices, indices, indices_out, indices_out, indices_out))
def match_cells(text, starts, ends, slots, codes, firsts):
    """Find equal pieces of a text by a table of their sums; return the number of different ones."""
    found = 0
    for i in range(len(starts)):
        start, size = starts[i], ends[i] - starts[i]
        mixed = np.uint64(14695981039346656037)
        for k in range(size):
            mixed = (mixed ^ np.uint64(text[start + k])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        slot = np.int64(mixed & np.uint64(len(slots) - 1))
        while True:
            code = slots[slot]
            if code < 0:
                slots[slot] = found
                firsts[found] = i
                codes[i] = found
                found += 1
                break
            other = starts[firsts[code]]
            same = ends[firsts[code]] - other == size
            k = 0
            while same and k < size:
                same = text[start + k] == text[other + k]
                k += 1
            if same:
                codes[i] = code
                break
            slot = (slot + 1) & (len(slots) - 1)
    return found


@native(LOSS)
def divide(high, rest):
    """Return an integer, in two doubles, over a power of ten, and 1 if it is surely the nearest.

    The quotient is found with twice the digits. If it stays the same when the second half of them
    is a little more or less, it is rounded correctly. That holds if each operation is done as it is
    written, which is so for functions of this signature, and not for loops.
    """
    low, power = rest[0], rest[1]
    first = high / power
    product = first * power
    big = 134217729.0 * first  # halves of the digits of each factor, whose products are exact
    first_high = big - (big - first)
    first_low = first - first_high
    big = 134217729.0 * power
    power_high = big - (big - power)
    power_low = power - power_high
    error = first_low * power_low - (
        ((product - first_high * power_high) - first_low * power_high) - first_high * power_low
    )
    second = (((high - product) - error) + low) / power
    more, less = first + second * (1.0 + 1e-15), first + second * (1.0 - 1e-15)
    return more, 1.0 if more == less else 0.0


@numba.njit(**FAST)
def cell_at(text, place, delimiter):
    """Return where a cell begins and ends, and what comes next; -1 if that takes more care."""
    size, start = len(text), place
    if place < size and text[place] == 34:  # a quotation mark
        place = start = place + 1
        while place < size and text[place] != 34 and text[place] != 10 and text[place] != 13:
            place += 1
        if place == size or text[place] != 34:
            return -1, -1, -1
        stop = place
        place += 1
        closed = place == size or text[place] == delimiter or text[place] == 10 or text[place] == 13
        return (start, stop, place) if closed else (-1, -1, -1)
    while place < size and text[place] != delimiter and text[place] != 10 and text[place] != 13:
        place += 1
    if place > start and text[start] == 32:
        return -1, -1, -1
    return start, place, place


@numba.njit(**FAST)
def digits_at(text, here, stop):
    """Return where digits end, their integer, how many count, how many there are, and decimals.

    The last is -1 if there is no decimal mark; then the mark.
    """
    integer, n_counting, n_digits, n_decimals, mark = np.uint64(0), 0, 0, -1, 0
    while here < stop:
        c = text[here]
        if (c == 46 or c == 44) and n_decimals < 0:
            n_decimals, mark = 0, np.int64(c)
        elif c >= 48 and c <= 57:
            n_digits += 1
            n_counting += n_counting > 0 or c != 48
            if n_counting <= 19:
                integer = integer * np.uint64(10) + np.uint64(c - 48)
            n_decimals += n_decimals >= 0
        else:
            break
        here += 1
    return here, integer, n_counting, n_digits, n_decimals, mark


@numba.njit(**FAST)
def exponent_at(text, here, stop):
    """Return where an exponent ends, and what it is; where it begins if there is none."""
    if here == stop or (text[here] != 101 and text[here] != 69):
        return here, 0
    start = here
    here += 1
    sign = -1 if here < stop and text[here] == 45 else 1
    if here < stop and (text[here] == 45 or text[here] == 43):
        here += 1
    power, first = 0, here
    while here < stop and text[here] >= 48 and text[here] <= 57 and here < first + 4:
        power = 10 * power + np.int64(text[here] - 48)
        here += 1
    return (here, sign * power) if here > first else (start, 0)


@numba.njit(**FAST)
def scale(integer, power, division, powers, rest):
    """Return an integer times a power of ten, and whether it is surely the nearest double."""
    if integer <= np.uint64(9007199254740992) and power >= -22 and power <= 22:
        value = np.float64(integer)
        return (value * powers[power] if power >= 0 else value / powers[-power]), True
    if power < 0 and power >= -22:
        high = np.float64(integer)
        rest[0] = np.float64(np.int64(integer - np.uint64(high)))
        rest[1] = powers[-power]
        value, near = divide_at(division)(high, rest)
        return value, near == 1.0
    return np.float64(integer), power == 0


@native(
    i8(
        bytes_in,
        i8,
        ADDRESS,
        vector,
        matrix_out,
        flags_matrix_out,
        *[indices_matrix_out] * 3,
        vector_out,
    ),
    makes_arrays=True,
)
def parse(text, delimiter, division, powers, values, unread, places, counts, firsts, largest):
    """Find the cells of rows, and read those that are plain numbers; 0 if a row is no such.

    ``counts`` and ``firsts`` get for each column how many numbers have no decimal mark, a point, a
    comma, and a comma that may part thousands, and which row is the first of each.
    """
    width, n_rows = values.shape
    place, rest = 0, np.empty(2)
    for i in range(n_rows):
        for j in range(width):
            start, stop, place = cell_at(text, place, delimiter)
            row_ends = place == len(text) or text[place] != delimiter
            if start < 0 or row_ends != (j == width - 1) or (width == 1 and start == stop):
                return 0
            places[2 * j, i], places[2 * j + 1, i] = start, stop
            place += not row_ends
            if start == stop:
                values[j, i] = np.nan
                continue
            signed = text[start] == 45 or text[start] == 43
            here, integer, n_counting, n_digits, n_decimals, mark = digits_at(
                text, start + signed, stop
            )
            digits_end = here
            here, power = exponent_at(text, here, stop)
            value, sure = scale(integer, power - max(n_decimals, 0), division, powers, rest)
            if here < stop or n_digits == 0 or n_counting > 19 or not sure:
                unread[j, i] = True
                continue
            values[j, i] = -value if text[start] == 45 else value
            n_whole = n_digits - n_decimals
            kind = 0 if n_decimals < 0 else 1 if mark == 46 else 2
            leading = text[start + signed]
            if kind == 2 and n_decimals == 3 and n_whole <= 3 and digits_end == here:
                kind = 3 if leading >= 49 and leading <= 57 else 2
            if counts[j, kind] == 0:
                firsts[j, kind] = i
            counts[j, kind] += 1
            if kind == 0 and digits_end == here and value > largest[j]:
                largest[j] = value
        if place < len(text) and text[place] == 13:
            place += 1
        if place < len(text) and text[place] == 10:
            place += 1
    return 1 if place == len(text) else 0
