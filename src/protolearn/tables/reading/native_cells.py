"""Numbers straight from the text of many rows, for large files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._parameters import Floats
from ...native import (
    ADDRESS,
    LOSS,
    i8,
    indices_matrix_out,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from .cells import MISSING, POINT, WHOLE, what_is_number
from .words import Words, bytes_in, find_words

EXACT = 2.0**53
"""Greatest number below which all integers are doubles."""

POWERS = 10.0 ** np.arange(23)
"""Those powers of ten that are doubles."""

SELDOM = 0.9
"""If more than this share of cells are different, they hardly recur."""

HARD = 4
"""At most one in so many cells of a column of numbers is left to Python."""

flags_matrix_out = types.Array(types.boolean, 2, "C")
flags_out = types.Array(types.boolean, 1, "C")


class Numbers(Sequence[str]):
    """Cells of a column that are all numbers or missing; their texts are made when asked for.

    Parameters
    ----------
    cells : Cells
        Where the texts are.
    values : array of shape (n,)
        The numbers, NaN for missing ones.
    kind : int
        ``POINT`` if one has a decimal point, otherwise ``WHOLE``.
    rounded : bool
        Whether one is an integer that is too long for a double.
    """

    def __init__(self, cells: Cells, values: Floats, kind: int, rounded: bool):
        self.values, self.kind, self.rounded, self._cells = values, kind, rounded, cells

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self._cells.texts()[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.texts())


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
        """Give all of them."""
        text, ends = self._text, zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        if isinstance(text, bytes):
            return [text[a:b].decode() for a, b in ends]
        return [text[a:b] for a, b in ends]

    def some(self, places: NDArray[Any]) -> list[str]:
        """Give some of them."""
        return Cells(self._text, self._raw, self._starts[places], self._ends[places]).texts()

    def words(self) -> Sequence[str]:
        """Give all of them; if many recur, by the different ones."""
        codes, firsts = find_words(self._raw, self._starts, self._ends)
        if len(firsts) > SELDOM * len(codes):
            return self.texts()
        return Words(self.some(firsts), codes, firsts)


def native_columns(lines: list[str], width: int, delimiter: str) -> list[Sequence[str]] | None:
    """Give the columns of lines without quotation marks; None if that takes more care."""
    joined = "".join(lines)
    coded = joined.encode()
    text = joined if len(coded) == len(joined) else coded
    shape = width, len(lines)
    values, unread = np.empty(shape), np.zeros(shape, dtype=bool)
    places = np.empty((2 * width, len(lines)), dtype=np.intp)
    points = np.zeros(width, dtype=bool)
    largest = np.zeros(width)
    raw = np.frombuffer(coded, np.uint8)
    if not parse(
        raw, ord(delimiter), divided.address, POWERS, values, unread, places, points, largest
    ):
        return None
    return [
        column(
            Cells(text, raw, places[2 * j], places[2 * j + 1]),
            values[j],
            np.flatnonzero(unread[j]),
            POINT if points[j] else WHOLE,
            bool(largest[j] > EXACT),
        )
        for j in range(width)
    ]


def column(
    cells: Cells, values: Floats, unread: NDArray[np.intp], kind: int, rounded: bool
) -> Sequence[str]:
    """Give a column: its numbers if it has nothing else, or its texts."""
    if len(unread) * HARD > len(values):
        return cells.words()
    for place, cell in zip(unread, cells.some(unread), strict=True):
        cell = cell.strip()
        found = WHOLE if cell in MISSING else what_is_number(cell)
        if found not in (WHOLE, POINT):
            return cells.words()
        values[place] = np.nan if cell in MISSING else float(cell)
        kind = POINT if found == POINT else kind
        rounded |= cell.lstrip("+-").isdigit() and abs(values[place]) > EXACT
    return Numbers(cells, values, kind, rounded)


@native(LOSS)
def divided(high, rest):
    """Give an integer, in two doubles, over a power of ten, and 1 if it is surely the nearest.

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


divided_at = pointer(LOSS)


@native(
    i8(
        bytes_in,
        i8,
        ADDRESS,
        vector,
        matrix_out,
        flags_matrix_out,
        indices_matrix_out,
        flags_out,
        vector_out,
    )
)
def parse(text, delimiter, division, powers, values, unread, places, points, largest):
    """Find the cells of rows, and read those that are plain numbers; 0 if a row is no such."""
    width, n_rows = values.shape
    size, place = len(text), 0
    divide, rest = divided_at(division), np.empty(2)
    for i in range(n_rows):
        for j in range(width):
            start = place
            while place < size and not (
                text[place] == delimiter or text[place] == 10 or text[place] == 13
            ):
                place += 1
            row_ends = place == size or text[place] != delimiter
            if row_ends != (j == width - 1) or (width == 1 and place == start):
                return 0
            if place > start and text[start] == 32:
                return 0
            places[2 * j, i] = start
            places[2 * j + 1, i] = place
            here = start
            negative = here < place and text[here] == 45
            if here < place and (text[here] == 45 or text[here] == 43):
                here += 1
            mantissa, n_digits, n_decimals, seen = np.uint64(0), 0, 0, 0
            point = False
            while here < place:
                c = text[here]
                if c == 46 and not point:
                    point = True
                elif c >= 48 and c <= 57:
                    seen += 1
                    n_digits += n_digits > 0 or c != 48
                    if n_digits <= 19:
                        mantissa = mantissa * np.uint64(10) + np.uint64(c - 48)
                    n_decimals += point
                else:
                    break
                here += 1
            power, power_sign, n_power = 0, 1, 0
            if here < place and seen > 0 and (text[here] == 101 or text[here] == 69):
                here += 1
                if here < place and (text[here] == 45 or text[here] == 43):
                    power_sign = -1 if text[here] == 45 else 1
                    here += 1
                while here < place and text[here] >= 48 and text[here] <= 57 and n_power < 4:
                    power = 10 * power + np.int64(text[here] - 48)
                    n_power += 1
                    here += 1
                if n_power == 0:
                    seen = 0
                whole = False
            else:
                whole = not point
            power = power_sign * power - n_decimals
            value, sure = 0.0, n_digits <= 19
            if place == start:
                value, seen = np.nan, 1
            elif mantissa <= np.uint64(9007199254740992) and power >= -22 and power <= 22:
                value = np.float64(mantissa)
                value = value * powers[power] if power >= 0 else value / powers[-power]
            elif power < 0 and power >= -22:
                high = np.float64(mantissa)
                rest[0] = np.float64(np.int64(mantissa - np.uint64(high)))
                rest[1] = powers[-power]
                value, near = divide(high, rest)
                sure = sure and near == 1.0
            elif power == 0:
                value = np.float64(mantissa)
            else:
                sure = False
            if here < place or seen == 0 or not sure:
                unread[j, i] = True
            else:
                values[j, i] = -value if negative else value
                points[j] |= point
                if whole and value > largest[j]:
                    largest[j] = value
            place += not row_ends
        if place < size and text[place] == 13:
            place += 1
        if place < size and text[place] == 10:
            place += 1
    return 1 if place == size else 0
