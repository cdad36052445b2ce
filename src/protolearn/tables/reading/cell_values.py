"""What a cell of a table holds: numbers, dates and truth values, as people write them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..values import START, UTC

MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "<null>", "?"]
)
"""Cells without a value, whatever their column holds."""

MISSING_NUMBER = frozenset(
    ["-", "--", ".", "none", "n.a.", "nil", "unknown", "missing", "#value!", "#div/0!", "#ref!"]
)
"""Cells without a value among numbers and dates, in lower case; among texts these are texts."""

TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
"""The words of truth values, in lower case."""

SHORT_TRUTHS = {"1": True, "0": False, "t": True, "f": False, "y": True, "n": False}
"""Further words in columns that are known to hold truth values."""

BLANK, DASH, WHOLE, POINT, INFINITE, DATE, ZONED, TEXT = range(8)
"""What a plain cell is: missing, missing among numbers, a number without or with a decimal point,
an infinite number, a date or time of ISO 8601, one with a time zone, anything else."""

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
TIME = r"\d\d?:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
IS_TIME = re.compile(rf"({TIME})\s*([aApP][mM])?", re.ASCII)
ISO = re.compile(rf"\d{{4}}-\d\d-\d\d([T ]{TIME}(?P<zone>\s?(?:Z|[+-]\d\d:?\d\d))?)?", re.ASCII)
THREE_PARTS = re.compile(
    rf"(\d{{1,4}})([./-])(\d{{1,2}})\2(\d{{4}}|\d{{2}})(?:,?[T ]\s*({TIME}))?", re.ASCII
)
CURRENCY = re.compile(
    r"(US|R)?\$|[€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|CAD|AUD"
)
AROUND = re.compile(  # sign, currency, sign, number, unit
    r"""(['"]?)\s*([+\-\u2212]?)\s*(?P<before>[^\W\d_]{0,3}[$€£¥₹₽₩]?)\s*([+\-\u2212]?)\s*"""
    r"""(?P<number>(?:(?:\d{1,3}(?P<group>[.,' \u2019\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*|\d+)"""
    r"""(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)"""
    r"""\s*(?P<unit>[^\W\d_]{0,8}(?:[%‰°²³/$€£¥₹₽₩][^\W\d_]{0,4}[²³]?)?)\s*\1"""
)
SEPARATORS = {",": ",", ".": r"\.", "'": "['\u2019]", " ": "[ \u00a0\u202f]", "": ""}
MARKS = [
    (".", ""),
    (".", ","),
    (",", ""),
    (",", "."),
    (".", "'"),
    (".", " "),
    (",", "'"),
    (",", " "),
]
"""Decimal marks and separators of thousands that numbers may have, the likeliest first."""

DECIMAL_MARK = "decimal mark"
"""Where the types of columns say which decimal mark pyarrow has to expect."""

TICK = datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    ``decimal`` is the mark before decimals, ``thousands`` what parts groups of three digits,
    ``before`` a currency and ``unit`` what stands behind, each "" if there is none.
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    unit: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but digits, a point and an exponent."""
        return self == NumberFormat()

    @property
    def pattern(self) -> str:
        """A regular expression of whole cells, with the groups ``sign`` and ``number``."""
        group = SEPARATORS[self.thousands]
        whole = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)" if group else r"\d+"
        mark = SEPARATORS[self.decimal]
        before = rf"(?:{re.escape(self.before)})?\s*" if self.before else ""
        unit = rf"(?:{re.escape(self.unit)})?\s*" if self.unit else ""
        return (
            rf"^['\"]?\s*{before}(?P<sign>[+\-\x{{2212}}]?)\s*{before}"
            rf"(?P<number>(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?)\s*{unit}['\"]?$"
        )

    def matches(self, cells: Iterable[str]) -> int:
        """Return how many cells are such numbers."""
        pattern = python_pattern(self.pattern)
        return sum(pattern.match(cell) is not None for cell in cells)

    def describe(self) -> str:
        """Return what is special about the numbers."""
        said = []
        if self.thousands:
            name = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}
            said.append(f"{name[self.thousands]} between thousands")
        if self.decimal == ",":
            said.append("decimal commas")
        unit = self.before or self.unit
        if unit:
            said.append(f"the unit {unit}, which is left out")
        return " and ".join(said)


@lru_cache(maxsize=512)
def python_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern of Arrow as one of Python."""
    return re.compile(pattern.replace(r"\x{2212}", "\u2212"), re.ASCII)


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    ``order`` is "iso" for 2024-12-31, "ymd", "dmy" or "mdy" for three numbers with another mark,
    and "time" for times of a day, which become hours.
    """

    order: str = "iso"

    def ticks(self, cell: str) -> int:
        """Return a time in microseconds since 1970; a ValueError if it is none."""
        cell = unquote(cell)
        if self.order == "iso":
            return iso_ticks(cell)
        found = THREE_PARTS.fullmatch(cell)
        year_first = re.fullmatch(rf"(\d{{4}})[./](\d\d?)[./](\d\d?)(?:[T ]({TIME}))?", cell)
        if self.order == "ymd" and year_first:
            parts, clock = year_first.group(1, 2, 3), year_first[4]
        elif self.order in ("dmy", "mdy") and found and len(found[1]) <= 2:
            parts, clock = (found[4], found[3], found[1]), found[5]
            parts = parts if self.order == "dmy" else (found[4], found[1], found[3])
        else:
            raise ValueError(cell)
        year, month, day = map(int, parts)
        year += 0 if year >= 100 else 1900 if year >= 69 else 2000
        date = datetime.datetime(year, month, day, tzinfo=UTC)
        return (date - START) // TICK + round((hours(clock) if clock else 0.0) * 3_600_000_000)


def iso_ticks(cell: str) -> int:
    """Return a time of ISO 8601 in microseconds since 1970, in UTC if it has a zone."""
    if not ISO.fullmatch(cell):
        raise ValueError(cell)
    time = datetime.datetime.fromisoformat(cell.replace(" +", "+").replace(" Z", "Z"))
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - START) // TICK


def hours(cell: str) -> float:
    """Return a time of day in hours; a ValueError if it is none."""
    found = IS_TIME.fullmatch(unquote(cell))
    if found is None:
        raise ValueError(cell)
    parts = [float(part.replace(",", ".")) for part in found[1].split(":")]
    half = (found[2] or "").lower()
    if half:
        parts[0] = parts[0] % 12 + 12 * (half == "pm")
    if parts[0] > 24 or any(part >= 60 for part in parts[1:]):
        raise ValueError(cell)
    return sum(part / 60**place for place, part in enumerate(parts))


def unquote(cell: str) -> str:
    """Return a cell without blanks and paired quotation marks around it."""
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return cell[1:-1].strip()
    return cell


def truth_of(cell: str) -> bool:
    """Return a truth value; a ValueError if a cell is none."""
    word = unquote(cell).lower()
    found = TRUTHS.get(word, SHORT_TRUTHS.get(word.removesuffix(".0")))
    if found is None:
        raise ValueError(cell)
    return found


def kind_of_cell(cell: str) -> int:
    """Return what a plain cell is."""
    cell = cell.strip()
    if cell in MISSING:
        return BLANK
    if cell.lower() in MISSING_NUMBER:
        return DASH
    if PLAIN_NUMBER.fullmatch(cell):
        return WHOLE if cell.lstrip("+-").isdigit() else POINT
    if INFINITY.fullmatch(cell):
        return INFINITE
    found = ISO.fullmatch(cell)
    if found:
        try:
            iso_ticks(cell)
        except ValueError:
            return TEXT
        return ZONED if found["zone"] else DATE
    return TEXT


def is_written_number(cell: str) -> bool:
    """Whether a cell may be a number with separators, a currency or a unit."""
    return PLAIN_NUMBER.fullmatch(cell.strip()) is not None or around(cell) is not None


def around(cell: str) -> re.Match[str] | None:
    """Return the parts of a number with what stands around it; None if it is no number."""
    found = AROUND.fullmatch(cell.strip())
    if found is None or (found["before"] and not CURRENCY.fullmatch(found["before"])):
        return None
    return found


def text_of(value: Any) -> str | None:
    """Write a value in the one form that all kinds of files share.

    Whole numbers are integers, truth values ``true`` and ``false``, dates as in ISO 8601.
    """
    if value is None or value != value:
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def quote(cell: str) -> str:
    """Write a cell between quotation marks, a long one cut."""
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")
