"""What a cell of a table holds: numbers, dates and truth values, as people write them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "<null>", "?"]
)
"""Cells without a value, whatever their column holds."""

MISSING_NUMBER = frozenset(["-", "--", ".", "none", "n.a.", "nil", "unknown", "missing"]).union(
    ["not available", "no data", "(null)", "(none)", "(blank)"],
    ["unbekannt", "keine angabe", "k.a.", "#nv", "#wert!", "#bezug!"],
    ["#value!", "#div/0!", "#ref!", "#name?", "#num!"],
)
"""Cells without a value among numbers and dates, in lower case; among texts these are texts."""

TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
"""The words of truth values, in lower case."""

ANY_TRUTHS = {"1": True, "0": False, "1.0": True, "0.0": False, "t": True, "f": False} | TRUTHS
ANY_TRUTHS |= {"y": True, "n": False}
"""Words in columns that are known to hold truth values."""

TRUTH = f"(?i:{'|'.join(TRUTHS)})"
PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
POINT_ZERO = r"^(-?\d+)\.0+$"
TIME = (
    r"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)"
    r"(?:[.,](?P<fraction>\d{1,9}))?)?(?:\s*(?P<half>[aApP])[mM])?"
)
CLOCK = (
    rf"(?:(?:,\s*|T|:|\s+){TIME}(?P<zone>\s?(?:Z|(?P<sign>[+-])(?P<east>\d\d):?(?P<more>\d\d)))?)?"
)
MONTH, DAY = r"(?P<month>0?[1-9]|1[0-2])", r"(?P<day>0?[1-9]|[12]\d|3[01])"
YEAR, MARK, AGAIN = r"(?P<year>\d{4}|\d\d)", r"(?P<mark>[./-])", r"(?P<again>[./-])"
MONTHS = {"jan": 1, "feb": 2, "mar": 3, "mär": 3, "apr": 4, "may": 5, "mai": 5, "jun": 6}
MONTHS |= {"jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12}
NAMED = rf"(?P<month>(?i:{'|'.join(MONTHS)}))[a-z]{{0,6}}"
WEEKDAY, NTH = r"(?:[A-Z][a-z]{1,9}[,.]*\s+)?", "(?:st|nd|rd|th)?"
DATES = {
    "iso": rf"(?P<year>\d{{4}})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01]){CLOCK}",
    "dmy": DAY + MARK + MONTH + AGAIN + YEAR + CLOCK,
    "mdy": MONTH + MARK + DAY + AGAIN + YEAR + CLOCK,
    "ymd": rf"(?P<year>\d{{4}})(?P<mark>[./]){MONTH}(?P<again>[./]){DAY}{CLOCK}",
    "day month": rf"{WEEKDAY}{DAY}{NTH}[ ./-]{{0,2}}{NAMED}[ ./,-]{{0,2}}{YEAR}{CLOCK}",
    "month day": rf"{WEEKDAY}{NAMED}[ ./-]{{0,2}}{DAY}{NTH}[ ,-]{{1,2}}{YEAR}{CLOCK}",
    "time": TIME,
}
"""The orders in which dates are written, "time" for times of a day, which become hours."""

DATE = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", DATES[order]) for order in list(DATES)[:-1]))
CURRENCY = re.compile(
    r"(US|R)?\$|[€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|CAD|AUD"
)
AROUND = re.compile(  # sign, currency, sign, number, unit
    r"""(['"]?)\s*\(?([+\-\u2212]?)\s*(?P<before>[^\W\d_]{0,3}[$€£¥₹₽₩]?)\s*([+\-\u2212]?)\s*"""
    r"""(?P<number>(?:(?:\d{1,3}(?P<group>[.,' \u2019\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*|\d+)"""
    r"""(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)"""
    r"""\s*(?P<unit>[^\W\d_]{0,8}(?:[%‰°²³/$€£¥₹₽₩][^\W\d_]{0,4}[²³]?)?)\s*[)\-\u2212]?\s*\1"""
)
SEPARATORS = {",": ",", ".": r"\.", "'": "['\u2019]", " ": "[ \u00a0\u202f]", "": ""}
NAMES = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}
MARKS = [(pair[0], pair[1:]) for pair in (".", ".,", ",", ",.", ".'", ". ", ",'", ", ")]
"""Decimal marks and separators of thousands that numbers may have, the likeliest first."""


NEGATIVE = ["-", "\u2212", ")", "+)", "-)", "\u2212)"]
"""Signs before and behind a number that is negative: a minus, or parentheses around it."""


@dataclass(frozen=True)
class Form:
    """How the cells of a column are written.

    Numbers have a ``decimal`` mark, ``thousands`` between groups of three digits, a currency
    ``before`` and a ``unit`` behind, each "" if there is none; dates an ``order``, and numbers of
    which it is "truth" are one and zero as truth values. Of texts,
    ``is_quoted`` and ``has_zeros`` say that all stand in quotation marks, or are integers with
    ``.0`` behind them.
    """

    kind: str = "number"
    decimal: str = "."
    thousands: str = ""
    before: str = ""
    unit: str = ""
    order: str = ""
    has_zone: bool = False
    is_quoted: bool = False
    has_zeros: bool = False

    @cached_property
    def pattern(self) -> str:
        """A regular expression of cells, in the language of Arrow."""
        if self.order:
            return f"^(?:{TRUTH if self.order == 'truth' else DATES[self.order]})$"
        group, mark = SEPARATORS[self.thousands], SEPARATORS[self.decimal]
        whole = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)" if group else r"\d+"
        before = rf"(?:{re.escape(self.before)})?\s*" if self.before else ""
        unit = rf"(?:{re.escape(self.unit)})?\s*" if self.unit else ""
        return (
            rf"^(?P<open>\(?){before}(?P<sign>[+\-\x{{2212}}]?)\s*{before}(?P<number>(?:{whole}(?:{mark}\d*)?|{mark}\d+)"
            rf"(?:[eE][+-]?\d+)?|(?i:inf(?:inity)?))\s*{unit}(?P<close>[)\-\x{{2212}}]?)$"
        )

    @cached_property
    def fits(self) -> Any:
        """Whether a cell without quotation marks is of this form, but for days of a month."""
        return re.compile(self.pattern.replace(r"\x{2212}", "\u2212"), re.ASCII).match

    def describe(self) -> str:
        """Return what is special about the numbers."""
        said = [f"{NAMES[self.thousands]} between thousands"] if self.thousands else []
        said += ["decimal commas"] if self.decimal == "," else []
        unit = self.before or self.unit
        return " and ".join(said + [f"the unit {unit}, which is left out"] * bool(unit))

    def parse(self, cells: Any) -> Any:
        """Return texts without quotation marks as values, with null for what is of another form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.kind == "category":
            if self.has_zeros:
                cells = pc.replace_substring_regex(cells, POINT_ZERO, r"\1")
            lower = pc.utf8_lower(cells)
            return pc.if_else(pc.is_in(lower, pa.array(["true", "false"])), lower, cells)
        if self.kind == "boolean":
            return take_values(ANY_TRUTHS, pc.utf8_lower(cells))
        if self.order == "truth":
            return take_values(TRUTHS, pc.utf8_lower(cells)).cast(pa.uint8()).cast(pa.float64())
        parts = pc.extract_regex(cells, self.pattern)
        if self.order:
            return self.parse_dates(parts)
        number, sign, opened, closed = (
            pc.struct_field(parts, name) for name in ("number", "sign", "open", "close")
        )
        lost = pc.not_equal(pc.equal(opened, "("), pc.equal(closed, ")"))
        if self.thousands:
            number = pc.replace_substring_regex(number, SEPARATORS[self.thousands], "")
        if self.decimal == ",":
            number = pc.replace_substring(number, ",", ".")
        negative = pc.is_in(pc.binary_join_element_wise(sign, closed, ""), pa.array(NEGATIVE))
        number = pc.binary_join_element_wise(pc.if_else(negative, "-", ""), number, "")
        return pc.cast(pc.if_else(lost, None, number), pa.float64())

    def parse_dates(self, parts: Any) -> Any:
        """Return the parts of dates as times in microseconds, or of times of a day as hours."""
        import pyarrow as pa
        import pyarrow.compute as pc

        there = {field.name for field in parts.type}

        def number(name: str, length: int = 0) -> Any:
            if name not in there:
                return 0
            text = pc.struct_field(parts, name)
            if name == "month" and "month" in self.order:
                start = pc.utf8_lower(pc.utf8_slice_codeunits(text, 0, 3))
                text = take_values(MONTHS, start).cast(pa.string())
            text = pc.utf8_rpad(text, length, "0")
            text = pc.if_else(pc.equal(text, ""), "0", text)
            return text.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)

        hour, half = number("hour"), pc.utf8_lower(pc.struct_field(parts, "half")).to_numpy(False)
        hour = np.where((half == "a") | (half == "p"), hour % 12 + 12 * (half == "p"), hour)
        clock = (hour * 60 + number("minute")) * 60_000_000 + number("second") * 1_000_000
        clock = clock + number("fraction", 9) // 1000
        lost = parts.is_null().to_numpy(False)
        if self.order == "time":
            return pa.array(clock / 3.6e9, mask=lost)
        east = 60 * number("east") + number("more")
        east = np.where(pc.equal(pc.struct_field(parts, "sign"), "-").fill_null(False), -east, east)
        year = number("year")
        if self.order not in ("iso", "ymd"):
            year = year + np.where(year >= 100, 0, np.where(year >= 69, 1900, 2000))
        months = ((year - 1970) * 12 + number("month") - 1).astype("datetime64[M]")
        days = months.astype("datetime64[D]") + (number("day") - 1)
        lost |= (days.astype("datetime64[M]") != months) | (number("month") > 12) | (year == 0)
        if "mark" in there:
            marks = pc.struct_field(parts, "mark"), pc.struct_field(parts, "again")
            lost |= pc.not_equal(*marks).fill_null(True).to_numpy(False)
        times = days.astype("datetime64[us]") + (clock - 60_000_000 * east)
        return pa.array(times, mask=lost)


def take_values(of: Mapping[str, Any], cells: Any) -> Any:
    """Return what texts stand for, with null for those that are not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.array(list(of.values())).take(pc.index_in(cells, pa.array(list(of))))


def unquote(cell: str) -> str:
    """Return a cell without blanks and paired quotation marks around it."""
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return cell[1:-1].strip()
    return cell


def truth_of(cell: str) -> bool:
    """Return a truth value; a KeyError if a cell is none."""
    return ANY_TRUTHS[unquote(cell).lower()]


def kind_of_cell(cell: str, loose: bool = False) -> str:
    """Return what a cell is: missing, number, infinite, date or text.

    ``loose``: also numbers with a currency or another sign, and dates that are not of ISO 8601.
    """
    cell = cell.strip()
    if cell in MISSING or cell.lower() in MISSING_NUMBER:
        return "missing"
    if PLAIN_NUMBER.fullmatch(cell):
        return "number"
    if INFINITY.fullmatch(cell):
        return "infinite"
    if Form("date", order="iso").fits(cell) or (loose and DATE.fullmatch(cell)):
        return "date"
    found = around(cell) if loose else None
    return "text" if found is None or found["unit"][:1].isalpha() else "number"


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
