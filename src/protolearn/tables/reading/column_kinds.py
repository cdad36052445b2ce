"""What the columns of a table hold, by a sample of their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .cell_values import (
    INFINITY,
    ISO,
    MARKS,
    MISSING,
    MISSING_NUMBER,
    PLAIN_NUMBER,
    TRUTHS,
    DateFormat,
    NumberFormat,
    around,
    hours,
    quote,
    unquote,
)
from .data_file import TableFileError

KINDS = {"number": "float64", "date": "datetime64[us]", "category": "object", "boolean": "object"}
"""The type of the field of each kind of column."""

PLURALS = {"number": "numbers", "date": "dates", "boolean": "truth values"}

FEW = 0.05
"""Share of cells that may be unreadable and count as missing; with more, a column holds words."""

MOST_CELLS = 1000
"""Different cells of a column that its kind is found by."""

PADDED = re.compile(r"0\d+", re.ASCII)
LONG = re.compile(r"[+-]?\d{16,}", re.ASCII)
POINT_ZERO = re.compile(r"-?\d+\.0+", re.ASCII)
THOUSANDS_CURRENCIES = frozenset(["$", "US$", "£", "¥", "₹", "USD", "GBP", "JPY", "CAD", "AUD"])


@dataclass(frozen=True)
class ColumnPlan:
    """What a column holds, and how its cells are written.

    ``missing`` are cells without a value. Of texts, ``strip_quotes`` and ``strip_zeros`` say that
    all stand in quotation marks, or are integers with ``.0`` behind them.
    """

    kind: str
    format: Any = None  # a NumberFormat or a DateFormat
    missing: frozenset[str] = MISSING
    zoned: bool = False
    strip_quotes: bool = False
    strip_zeros: bool = False

    @property
    def arrow_type(self) -> Any:
        """The type that pyarrow can read the cells as; None for texts."""
        import pyarrow as pa

        if self.kind == "number" and self.format in (NumberFormat(), NumberFormat(",")):
            return pa.float64()
        if self.kind == "date" and self.format == DateFormat():
            return pa.timestamp("us", "UTC" if self.zoned else None)
        return None

    def is_missing(self, cell: str) -> bool:
        """Whether a cell has no value in a column of this kind."""
        cell = unquote(cell)
        return cell in self.missing or (self.kind != "category" and cell.lower() in MISSING_NUMBER)


@dataclass
class Judge:
    """Decides what columns hold; keeps what was found out and what was assumed."""

    name: str  # of the file
    place: Callable[[int], str]  # gives the words for the number of a row
    asked: Mapping[str, str]  # what the user wants some columns to be
    missing: Mapping[str | None, frozenset[str]]  # by column; None: in all
    delimiter: str = ""  # of a text
    always: frozenset[str] = MISSING  # cells without a value in any file of this format
    notes: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    special: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # why columns are read as words
    samples: dict[str, Any] = field(default_factory=dict)
    n_sampled: dict[str, int] = field(default_factory=dict)

    def plans(self, samples: Mapping[str, Any]) -> dict[str, ColumnPlan]:
        """Return what columns of texts hold, by arrays of some of their cells."""
        self.notes.clear()
        self.assumptions.clear()
        self.special.clear()
        self.words.clear()
        for name, array in samples.items():
            self.samples[name] = array
            self.n_sampled.setdefault(name, len(array))
        cells = {name: different_cells(array) for name, array in samples.items()}
        found = {name: self.candidates(name, counts) for name, counts in cells.items()}
        decimal = self.decimal_mark(found, cells)
        order = self.date_order(found.values())
        plans = {}
        for name, candidates in found.items():
            plan = candidates[0]
            if plan.kind == "number" and isinstance(plan.format, NumberFormat):
                plan = self.number_plan(name, candidates, cells[name], decimal)
            elif plan.kind == "date":
                plan = self.date_plan(name, candidates, cells[name], order)
            plans[name] = plan
        self.notes += self.special_notes()
        return plans

    def plans_format(self, kind: str) -> Any:
        """Return how plain values of a kind are written."""
        return {"number": NumberFormat(), "date": DateFormat()}.get(kind)

    def candidates(self, name: str, counts: Mapping[str, int]) -> list[ColumnPlan]:
        """Return the plans that fit a column equally well."""
        missing = self.always.union(self.missing.get(None, ()), self.missing.get(name, ()))
        asked = self.asked.get(name)
        plan = ColumnPlan("number", NumberFormat(), missing)
        values = {c: n for c, n in counts.items() if not plan.is_missing(c)}
        if asked == "category":
            return [text_plan(counts, missing)]
        if asked == "boolean":
            return [ColumnPlan("boolean", None, missing)]
        if not values:
            return [replace(plan, kind=asked, format=DateFormat()) if asked == "date" else plan]
        enough = (1.0 - FEW) * sum(values.values())
        infinite = {c: n for c, n in values.items() if INFINITY.fullmatch(c.strip())}
        formats, n_numbers = number_formats({c: values[c] for c in values.keys() - infinite})
        n_numbers += sum(infinite.values())
        if asked == "number" or (asked is None and n_numbers >= enough):
            times = times_of_day(values) if n_numbers < enough else 0
            if times > n_numbers:
                return [replace(plan, format=DateFormat("time"))]
            return [replace(plan, format=one) for one in formats]
        dates, n_dates = date_formats(values)
        if asked == "date" or n_dates >= enough:
            return [ColumnPlan("date", one, missing) for one in dates]
        if times_of_day(values) >= enough:
            self.tell(name, "times of a day, which become hours", next(iter(values)))
            return [replace(plan, format=DateFormat("time"))]
        if all(unquote(cell).lower() in TRUTHS for cell in values):
            return [ColumnPlan("boolean", None, missing)]
        self.tell_of_rest(name, values, formats[0], n_numbers, dates[0], n_dates)
        return [text_plan(counts, missing)]

    def tell_of_rest(
        self,
        name: str,
        values: Mapping[str, int],
        numbers: NumberFormat,
        n_numbers: int,
        dates: DateFormat,
        n_dates: int,
    ) -> None:
        """Note that a column of words is half a column of numbers or dates."""
        n_best = max(n_numbers, n_dates)
        if 2 * n_best < sum(values.values()):
            return
        what = "number" if n_numbers >= n_dates else "date"
        form = numbers if what == "number" else dates
        other = next((cell for cell in values if not fits(cell, form)), None)
        if other is not None:
            row = self.row_of(name, other)
            self.words[name] = (
                f"column {name!r} is read as words: it has {PLURALS[what]}, but also "
                f"{quote(other)}{row}"
            )

    def row_of(self, name: str, cell: str) -> str:
        """Return the words for the first row that has a cell, if it is among the first rows."""
        import pyarrow.compute as pc

        start = 0
        for part in getattr(self.samples[name], "chunks", [self.samples[name]]):
            sought: Any = cell
            if hasattr(part, "dictionary"):
                sought, part = pc.index(part.dictionary, cell).cast(part.indices.type), part.indices
            row = int(pc.index(part, sought).as_py())
            if row >= 0:
                return f" in {self.place(start + row)}" if start < self.n_sampled[name] else ""
            start += len(part)
        return ""

    def decimal_mark(
        self, found: Mapping[str, list[ColumnPlan]], cells: Mapping[str, Mapping[str, int]]
    ) -> str:
        """Return the decimal mark of the columns that leave no doubt, if it is one."""
        clear = set()
        for name, plans in found.items():
            marks = {c.format.decimal for c in plans if isinstance(c.format, NumberFormat)}
            if len(marks) == 1 and any(marks & set(cell) for cell in cells[name]):
                clear |= marks
        return clear.pop() if len(clear) == 1 else ""

    def number_plan(
        self,
        name: str,
        candidates: list[ColumnPlan],
        counts: Mapping[str, int],
        decimal: str,
    ) -> ColumnPlan:
        """Choose the format of a column of numbers, and say what is special about it."""
        plan = candidates[0]
        marked = [cell for cell in counts if around(cell) and set(",.") & set(cell)]
        marks = {one.format.decimal for one in candidates}
        if len(marks) > 1 and marked:
            plan = self.settle_mark(name, candidates, marked[0], decimal)
        form = plan.format
        if not form.is_plain:
            example = max(
                (c.strip() for c in counts if fits(c, form)),
                key=lambda c: (bool(form.thousands) and form.thousands in c, form.decimal in c),
            )
            self.tell(name, form.describe(), example)
        elif padded := next((c.strip() for c in counts if PADDED.fullmatch(c.strip())), ""):
            self.notes.append(
                f"column {name!r} has numbers such as {padded}; if they are codes, read it as "
                "categories"
            )
        if any(LONG.fullmatch(c.strip()) and int(float(c)) != int(c) for c in counts):
            self.notes.append(
                f"column {name!r} has integers too long for doubles, which are rounded"
            )
        return plan

    def tell(self, name: str, what: str, example: str) -> None:
        """Note something special of a column; columns of which the same is true share a note."""
        self.special.setdefault(what, []).append((name, example))

    def special_notes(self) -> list[str]:
        """Return a note for everything that is special about columns."""
        found = []
        for what, pairs in self.special.items():
            names = [repr(name) for name, _ in pairs]
            if len(names) > 3:
                names = [*names[:2], f"{len(names) - 2} more"]
            who = f"column {names[0]} has"
            if len(names) > 1:
                who = f"columns {', '.join(names[:-1])} and {names[-1]} have"
            found.append(f"{who} {what}, as in {pairs[0][1]}")
        return found

    def settle_mark(
        self, name: str, candidates: list[ColumnPlan], cell: str, decimal: str
    ) -> ColumnPlan:
        """Decide whether 1,234 has decimals, by other columns, the currency or the delimiter."""
        is_point = "." in cell
        unit = candidates[0].format.before or candidates[0].format.unit
        if (not decimal and not is_point and unit in THOUSANDS_CURRENCIES) or (
            not decimal and is_point
        ):
            decimal = "."
        elif not decimal and self.delimiter == ",":
            decimal = "."
            self.assumptions.append(
                f"column {name!r} has {cell.strip()!r}, whose comma is taken to part thousands"
            )
        if not decimal:
            raise TableFileError(
                f"Column {name!r} has {cell.strip()!r}{self.row_of(name, cell)}, which may have a "
                "decimal comma or a separator of thousands; write it with a decimal point, or "
                "without the comma."
            )
        if is_point and decimal == ",":
            self.assumptions.append(
                f"column {name!r} has {cell.strip()!r}, whose point is taken to part thousands, "
                "since other columns have decimal commas"
            )
        return next(one for one in candidates if one.format.decimal == decimal)

    def date_order(self, found: Iterable[list[ColumnPlan]]) -> str:
        """Return the order of day and month in the columns that leave no doubt, if it is one."""
        clear = set()
        for candidates in found:
            orders = [c.format.order for c in candidates if isinstance(c.format, DateFormat)]
            if len(orders) == 1 and orders[0] in ("dmy", "mdy"):
                clear.add(orders[0])
        return clear.pop() if len(clear) == 1 else ""

    def date_plan(
        self, name: str, candidates: list[ColumnPlan], counts: Mapping[str, int], order: str
    ) -> ColumnPlan:
        """Choose the order of day and month, and say what is special about a column of dates."""
        plan = candidates[0]
        orders = {one.format.order: one for one in candidates}
        example = next((c.strip() for c in counts if fits(c, plan.format)), "")
        plan = orders[order or "dmy"] if len(orders) > 1 else plan
        if len(orders) > 1 and "." not in example and not order:
            self.assumptions.append(
                f"column {name!r} has dates such as {example}, taken as day before month"
            )
        elif plan.format.order in ("dmy", "mdy"):
            first = "day" if plan.format.order == "dmy" else "month"
            self.tell(name, f"dates with the {first} first", example)
        if plan.format.order != "iso":
            return plan
        zones: dict[bool, str] = {}
        for cell in counts:
            match = ISO.fullmatch(unquote(cell))
            if match:
                zones.setdefault(bool(match["zone"]), cell)
        if len(zones) == 2:
            raise TableFileError(
                f"Column {name!r} has {zones[True]!r} with a time zone"
                f"{self.row_of(name, zones[True])} and {zones[False]!r} without one"
                f"{self.row_of(name, zones[False])}; write all of them with one, or none."
            )
        return replace(plan, zoned=True in zones)


def different_cells(array: Any) -> dict[str, int]:
    """Return the different texts of an array and how many there are of each; of many, some."""
    pairs = array.value_counts()
    cells, counts = pairs.field("values").to_pylist(), pairs.field("counts").to_pylist()
    step = max(1, len(cells) // MOST_CELLS)
    pairs = zip(cells[::step], counts[::step], strict=True)
    return {cell: number for cell, number in pairs if cell is not None}


def number_formats(values: Mapping[str, int]) -> tuple[list[NumberFormat], int]:
    """Return the formats that fit most cells, and how many cells that are."""
    if all(PLAIN_NUMBER.fullmatch(cell.strip()) for cell in values):
        if not any("." in cell for cell in values):
            return [NumberFormat()], sum(values.values())
        formats = [NumberFormat(*marks) for marks in (MARKS[0], MARKS[3])]
    else:
        parts = [found for found in map(around, values) if found is not None]
        if not parts:
            return [NumberFormat()], 0
        before = usual_unit([found["before"].strip() for found in parts])
        unit = usual_unit([found["unit"].strip() for found in parts])
        formats = [NumberFormat(*marks, before, unit) for marks in MARKS]
    cells = list(values)
    sizes = [count_fitting(values, cells, one) for one in formats]
    most = max(sizes)
    return [one for one, size in zip(formats, sizes, strict=True) if size == most], most


def count_fitting(values: Mapping[str, int], cells: list[str], form: Any) -> int:
    """Return how many cells are of a format."""
    return sum(values[cell] for cell in cells if fits(cell, form))


def fits(cell: str, form: Any) -> bool:
    """Whether a cell is of a format of numbers or dates."""
    if isinstance(form, NumberFormat):
        return form.matches([cell.strip()]) == 1
    try:
        hours(cell) if form.order == "time" else form.ticks(cell)
    except (ValueError, OverflowError):
        return False
    return True


def usual_unit(units: list[str]) -> str:
    """Return the unit that at least half of the numbers have; "" if there is none."""
    found = max(sorted(set(units)), key=units.count)
    return found if 2 * units.count(found) >= len(units) else ""


def date_formats(values: Mapping[str, int]) -> tuple[list[DateFormat], int]:
    """Return the formats of dates that fit most cells, and how many cells that are."""
    formats = [DateFormat(order) for order in ("iso", "dmy", "mdy", "ymd")]
    sizes = [count_fitting(values, list(values), one) for one in formats]
    most = max(sizes)
    return [one for one, size in zip(formats, sizes, strict=True) if size == most], most


def times_of_day(values: Mapping[str, int]) -> int:
    """Return how many cells are times of a day."""
    return count_fitting(values, list(values), DateFormat("time"))


def text_plan(counts: Mapping[str, int], missing: frozenset[str]) -> ColumnPlan:
    """Return how the cells of a column of words are written."""
    present = [cell.strip() for cell in counts if cell.strip() not in missing]
    quoted = bool(present) and all(
        len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"" for cell in present
    )
    whole = bool(present) and all(
        POINT_ZERO.fullmatch(cell) or re.fullmatch(r"-?(0|[1-9]\d*)", cell) for cell in present
    )
    return ColumnPlan("category", None, missing, strip_quotes=quoted, strip_zeros=whole)
