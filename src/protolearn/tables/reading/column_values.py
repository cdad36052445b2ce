"""The values of columns: arrays of Arrow become arrays of NumPy in one form for all files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from .cell_values import (
    SEPARATORS,
    TEXT,
    hours,
    kind_of_cell,
    quote,
    text_of,
    truth_of,
    unquote,
)
from .column_kinds import FEW, PLURALS, POINT_ZERO, ColumnPlan
from .data_file import TableFileError

MOST_KNOWN = 1 << 16
"""How many texts are kept in mind; more distinct ones are hardly repeated."""

MOST_UNREAD = 1000
"""How many different cells that could not be read are kept."""


def kind_of_type(name: str, dtype: Any) -> str:
    """Return what a type of Arrow is; ``"text"`` for texts, which may hold anything."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(dtype):
        return kind_of_type(name, dtype.value_type)
    numbers = types.is_integer, types.is_floating, types.is_decimal, types.is_null, types.is_time
    if any(is_such(dtype) for is_such in numbers):
        return "number"
    if types.is_date(dtype) or types.is_timestamp(dtype):
        return "date"
    if types.is_boolean(dtype):
        return "boolean"
    if types.is_string(dtype) or types.is_large_string(dtype) or str(dtype) == "string_view":
        return "text"
    raise TableFileError(
        f"Column {name!r} holds {dtype}; expected numbers, texts, truth values or dates. Leave it "
        "out, or write it as one of these."
    )


class ColumnReader:
    """Reads the cells of a column, and counts those that are not what they should be."""

    def __init__(self, name: str, plan: ColumnPlan, asked: str | None, place: Callable[[int], str]):
        self.name, self.plan, self.asked, self.place = name, plan, asked, place
        self.n_present = 0
        self.n_bytes = 0  # of the texts
        self.unread: dict[str, tuple[int, int]] = {}  # how often, and the first row
        self._known: dict[str | None, Any] = {}
        words = [cell for cell in plan.missing if kind_of_cell(cell) != TEXT]
        self._missing_numbers = np.array([float(c) for c in words if is_float(c)])

    @property
    def n_unread(self) -> int:
        """How many cells are not what they should be."""
        return sum(number for number, _ in self.unread.values())

    def read(self, column: Any, start: int) -> NDArray[Any]:
        """Return cells as an array; the first of them is in row ``start``."""
        import pyarrow as pa

        kind = kind_of_type(self.name, column.type)
        if kind == "text":
            return self.read_texts(column, start)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        self.n_present += len(column) - column.null_count
        if self.plan.kind == "category":
            return self.by_cell(pa.array(map(text_of, column.to_pylist()), pa.string()), start)
        if self.plan.kind == "number" and kind in ("number", "boolean"):
            return self.finite(numbers_of(column), start)
        if self.plan.kind == "boolean" and kind == "boolean":
            return np.array(column.to_pylist(), dtype=object)
        if self.plan.kind == "boolean" and kind == "number":
            return self.by_cell(pa.array(map(text_of, column.to_pylist()), pa.string()), start)
        if column.null_count == len(column):
            return np.full(
                len(column), np.nan if self.plan.kind == "number" else np.datetime64("NaT")
            )
        if self.plan.kind != kind:
            raise TableFileError(
                f"Column {self.name!r} is to hold {PLURALS[self.plan.kind]}, but holds "
                f"{column.type}; leave that away, or write it as such."
            )
        return time_array(self.name, column)

    def read_texts(self, column: Any, start: int) -> NDArray[Any]:
        """Return texts as what the plan says."""
        plan = self.plan
        if plan.kind == "number" and not hasattr(plan.format, "order"):
            return self.finite(self.read_numbers(plain_texts(column), start), start)
        return self.by_cell(column, start)

    def read_numbers(self, cells: Any, start: int) -> Floats:
        """Return numbers in the format of the plan, NaN for others."""
        import pyarrow as pa
        import pyarrow.compute as pc

        form = self.plan.format
        parts = pc.extract_regex(pc.utf8_trim_whitespace(cells), form.pattern)
        number, sign = pc.struct_field(parts, "number"), pc.struct_field(parts, "sign")
        if form.thousands:
            number = pc.replace_substring_regex(number, SEPARATORS[form.thousands], "")
        if form.decimal == ",":
            number = pc.replace_substring(number, ",", ".")
        sign = pc.replace_substring_regex(sign, r"[\-\x{2212}]", "-")
        sign = pc.replace_substring(sign, "+", "")
        values = pc.cast(pc.binary_join_element_wise(sign, number, ""), pa.float64())
        found = numbers_of(values)
        unread = np.flatnonzero(np.isnan(found))
        self.n_present += len(found) - len(unread)
        for place, cell in zip(
            unread.tolist(), cells.take(pa.array(unread)).to_pylist(), strict=True
        ):
            if cell is not None and not self.plan.is_missing(cell):
                if kind_of_cell(cell) != TEXT and np.isinf(float_or_nan(cell)):
                    found[place] = np.inf
                self.note_unread(cell, start + place)
        return found

    def finite(self, values: Floats, start: int) -> Floats:
        """Return numbers with NaN where they stand for a missing one; raise if one is infinite."""
        if len(self._missing_numbers):
            values = np.where(np.isin(values, self._missing_numbers), np.nan, values)
        wrong = np.isinf(values)
        if wrong.any():
            row = int(wrong.argmax())
            raise TableFileError(
                f"Column {self.name!r} has {values[row]} in {self.place(start + row)}, which is "
                "not a finite number; correct it, or leave the cell empty if it is missing."
            )
        return values

    def by_cell(self, column: Any, start: int) -> NDArray[Any]:
        """Return values of texts, each different one looked at once."""
        column = column.combine_chunks() if hasattr(column, "chunks") else column
        if not hasattr(column, "dictionary"):
            column = column.dictionary_encode()
        texts = column.dictionary.to_pylist()
        codes = column.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        counts = np.bincount(codes, minlength=len(texts) + 1)
        dtype = {"date": "datetime64[us]", "number": "float64"}.get(self.plan.kind, "object")
        empty = {"date": np.datetime64("NaT"), "number": np.nan}.get(self.plan.kind)
        values = np.full(len(texts) + 1, empty, dtype=dtype)
        make = self.maker()
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        for code, text in enumerate(texts):
            if not counts[code] or text is None:
                continue
            if text not in self._known:
                try:
                    self._known[text] = None if self.plan.is_missing(text) else make(text)
                except (ValueError, OverflowError):
                    first = int((codes == code).argmax())
                    self.note_unread(text, start + first, int(counts[code]))
                    continue
            value = self._known[text]
            if value is not None:
                values[code] = value
                self.n_present += int(counts[code])
        return values[codes]

    def maker(self) -> Callable[[str], Any]:
        """Return what turns a cell that is not missing into its value."""
        plan = self.plan
        if plan.kind == "boolean":
            return truth_of
        if plan.kind == "number":
            return hours
        if plan.kind == "date":
            return lambda cell: np.datetime64(plan.format.ticks(cell), "us")
        return self.word

    def word(self, cell: str) -> str:
        """Return a text as all kinds of files have it."""
        cell = unquote(cell) if self.plan.strip_quotes else cell.strip()
        if self.plan.strip_zeros and POINT_ZERO.fullmatch(cell):
            cell = cell[: cell.index(".")]
        elif cell.lower() in ("true", "false"):
            cell = cell.lower()
        self.n_bytes += 60 + len(cell)
        return cell

    def note_unread(self, cell: str, row: int, number: int = 1) -> None:
        """Keep a cell that is not what it should be."""
        self.n_present += number
        before, first = self.unread.get(cell, (0, row))
        if before or len(self.unread) < MOST_UNREAD:
            self.unread[cell] = before + number, first
        else:
            last = next(reversed(self.unread))
            self.unread[last] = self.unread[last][0] + number, self.unread[last][1]

    @property
    def is_readable(self) -> bool:
        """Whether hardly any cell is not what it should be."""
        return self.n_unread <= FEW * self.n_present

    def tell_words(self) -> str:
        """Return a note on a column that holds too many cells that are not what others are."""
        cell, (_, row) = min(self.unread.items(), key=lambda pair: pair[1][1])
        return (
            f"column {self.name!r} is read as words: it has {PLURALS[self.plan.kind]}, but also "
            f"{quote(cell)} in {self.place(row)}"
        )

    def tell_unread(self) -> str:
        """Return a note on the cells that count as missing, "" if none do; raise if many do."""
        if not self.unread:
            return ""
        cell, (_, row) = min(self.unread.items(), key=lambda pair: pair[1][1])
        what = PLURALS[self.plan.kind]
        if self.is_readable:
            n = self.n_unread
            return (
                f"column {self.name!r} holds {what}; {n} cell{'s' * (n > 1)} such as {quote(cell)} "
                f"in {self.place(row)} count{'s' * (n == 1)} as missing"
            )
        do = (
            "write it as 2024-12-31 or 2024-12-31T23:59:59, or leave the cell empty if it is "
            "missing"
            if self.plan.kind == "date"
            else "correct it, leave the cell empty if it is missing, or read the column as "
            f"categories (--categorical {self.name}, or kinds={{{self.name!r}: 'category'}})"
        )
        raise TableFileError(
            f"Column {self.name!r} is to hold {what}, but {self.place(row)} has {quote(cell)}; "
            f"{do}."
        )


def plain_texts(column: Any) -> Any:
    """Return a column of texts as one array."""
    import pyarrow as pa

    column = column.combine_chunks() if hasattr(column, "chunks") else column
    return column.cast(pa.string()) if column.type != pa.string() else column


def numbers_of(column: Any) -> Floats:
    """Return a column as doubles, NaN where there is nothing; times of a day as hours."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_time(column.type):
        unit = {"s": 3600, "ms": 3600e3, "us": 3600e6, "ns": 3600e9}[column.type.unit]
        wide = pa.int32() if pa.types.is_time32(column.type) else pa.int64()
        return numbers_of(column.cast(wide)) / unit
    found = column.cast(pa.float64(), safe=False)
    found = found.fill_null(np.nan) if found.null_count else found
    values = found.to_numpy() if hasattr(found, "chunks") else found.to_numpy(zero_copy_only=False)
    return values if values.flags.writeable else values.copy()


def time_array(name: str, column: Any) -> NDArray[Any]:
    """Return times in microseconds. What has a time zone is stored in UTC."""
    import pyarrow as pa

    fine = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    try:
        found = column.cast(pa.timestamp("us"), safe=not fine)
    except pa.ArrowInvalid:
        raise TableFileError(
            f"Column {name!r} has a time too far from 1970 for microseconds; correct it, or leave "
            "it empty if it is missing."
        ) from None
    values = found.to_numpy() if hasattr(found, "chunks") else found.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype="datetime64[us]")


def is_float(cell: str) -> bool:
    """Whether a text is a finite number for Python."""
    return np.isfinite(float_or_nan(cell)).item()


def float_or_nan(cell: str) -> float:
    """Return the number that a text is, or NaN."""
    try:
        return float(cell)
    except ValueError:
        return np.nan
