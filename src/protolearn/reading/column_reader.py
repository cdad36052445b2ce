"""Columns of a file put together to a structured array, in as few passes as its cells allow.

What a column of texts holds is judged by its first cells, and again if others turn out otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .cell_values import (
    DATES,
    MARKS,
    MISSING,
    MISSING_NUMBER,
    PLAIN_NUMBER,
    TRUTHS,
    Form,
    around,
    quote,
    text_of,
    unquote,
)
from .data_file import MemoryLimit, TableFileError

KINDS = {"number": "float64", "date": "datetime64[us]", "category": "object", "boolean": "object"}
"""The type of the field of each kind of column."""

PLURALS = {"number": "numbers", "date": "dates", "boolean": "truth values"}

FEW = 0.05
"""Share of cells that may be unreadable and count as missing; with more, a column holds words."""

PASSES = 3
"""Times that a file is read at most until its columns are known."""

MOST_CELLS, MOST_UNREAD = 1000, 1000
"""Different cells of a column that its kind is found by, and that are kept of those not read."""

IN_QUOTES = r"""(?s)^(?:'\s*(.*?)\s*'|"\s*(.*?)\s*")$"""
WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0+)?", re.ASCII)
LONG = re.compile(r"[+-]?\d{16,}", re.ASCII)
PADDED = re.compile(r"0\d+", re.ASCII)
THOUSANDS_CURRENCIES = frozenset(["$", "US$", "£", "¥", "₹", "USD", "GBP", "JPY", "CAD", "AUD"])

DECIMAL_MARK = "decimal mark"
"""Where the types of columns say which decimal mark pyarrow has to expect."""


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

    def __init__(self, source: Any, name: str, sample: Any, asked: str | None, missing: Any):
        self.source, self.name, self.asked, self.missing = source, name, asked, missing
        self.kind = kind_of_type(name, sample.type)
        kind = asked or self.kind
        self.form = Form(kind, order="iso" if kind == "date" else "")
        self.why_words, self.sample = "", sample
        self.values: dict[str, int] = {}  # different cells that are not missing, without quotes
        self.raw: dict[str, str] = {}  # as they are written
        if self.kind == "text":
            pairs = sample.value_counts()
            cells, counts = pairs.field("values").to_pylist(), pairs.field("counts").to_pylist()
            step = max(1, len(cells) // MOST_CELLS)
            self.words = [cell for cell in cells[::step] if cell is not None]
            self.add_cells(dict(zip(cells[::step], counts[::step], strict=True)))
        numbers = filter(PLAIN_NUMBER.fullmatch, missing)
        self.missing_numbers = np.array([float(cell) for cell in numbers])
        self.restart()

    def restart(self) -> None:
        """Forget what was counted."""
        self.n_present = self.n_bytes = 0  # of cells, and of texts
        self.unread: dict[str, tuple[int, int]] = {}  # how often, and the first row

    def add_cells(self, cells: Mapping[str, int]) -> None:
        """Look at more cells, of which it is known how many there are."""
        for text, number in cells.items():
            cell = unquote(text or "")
            if cell not in self.missing and cell.lower() not in MISSING_NUMBER:
                self.raw.setdefault(cell, (text or "").strip())
                self.values[cell] = self.values.get(cell, 0) + number

    def text_form(self) -> Form:
        """Return how the words of the first rows are written."""
        cells = [cell for text in self.words if (cell := text.strip()) not in self.missing]
        quoted = all(len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"" for cell in cells)
        whole = all(map(WHOLE.fullmatch, cells))
        return Form("category", is_quoted=bool(cells) and quoted, has_zeros=bool(cells) and whole)

    def row_of(self, cell: str) -> str:
        """Return the words for the first row that has a cell, if it is among the first rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for start, part in row_parts(self.sample):
            row = pc.index(pc.utf8_trim_whitespace(part.cast(pa.string())), self.raw[cell]).as_py()
            if row >= 0:
                return f" in {self.source.place(start + row)}"
        row = self.unread.get(self.raw[cell], (0, -1))[1]
        return f" in {self.source.place(row)}" if row >= 0 else ""

    @property
    def arrow_type(self) -> Any:
        """The type that pyarrow can read the cells of a text as; None for texts."""
        import pyarrow as pa

        form = self.form
        if form in (Form(), Form(decimal=",")):
            return pa.float64()
        if form.kind == "date" and form.order == "iso":
            return pa.timestamp("us", "UTC" if form.has_zone else None)
        return None

    def read(self, column: Any, start: int) -> NDArray[Any]:
        """Return cells as an array; the first of them is in row ``start``."""
        import pyarrow as pa

        kind, wanted = kind_of_type(self.name, column.type), self.form.kind
        if kind == "text":
            return self.read_texts(column, start)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if wanted == "category" or (wanted == "boolean" and kind == "number"):
            return self.read_texts(pa.array(map(text_of, column.to_pylist()), pa.string()), start)
        self.n_present += len(column) - column.null_count
        if wanted == "boolean" and kind == "boolean":
            return np.array(column.to_pylist(), dtype=object)
        if wanted == "number" and kind in ("number", "boolean"):
            return self.finite(numbers_of(column), start)
        if column.null_count == len(column):
            return np.full(len(column), np.nan if wanted == "number" else np.datetime64("NaT"))
        if wanted != kind:
            raise TableFileError(
                f"Column {self.name!r} is to hold {PLURALS[wanted]}, but holds {column.type}; "
                "leave that away, or write it as such."
            )
        return time_array(self.name, column)

    def read_texts(self, column: Any, start: int) -> NDArray[Any]:
        """Return texts as what the form says, each different one looked at once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = column.combine_chunks() if hasattr(column, "chunks") else column
        column = column if hasattr(column, "dictionary") else column.dictionary_encode()
        texts, n = column.dictionary.cast(pa.string()), len(column.dictionary)
        codes = column.indices.fill_null(n).to_numpy(zero_copy_only=False)
        counts = np.bincount(codes, minlength=n + 1)[:n]
        trimmed = pc.utf8_trim_whitespace(texts)
        cells = pc.replace_substring_regex(trimmed, IN_QUOTES, r"\1\2")
        missing = pc.is_in(cells, pa.array(sorted(self.missing)))
        if self.form.kind != "category":
            lower = pc.utf8_lower(cells)
            missing = pc.or_(missing, pc.is_in(lower, pa.array(sorted(MISSING_NUMBER))))
        elif not self.form.is_quoted:
            cells = trimmed
        values = pc.if_else(missing, None, self.form.parse(cells))
        lost = np.append(pc.or_(missing, texts.is_null()).to_numpy(False), True)[:n] | (counts == 0)
        self.n_present += int(counts[~lost].sum())
        unread = np.flatnonzero(values.is_null().to_numpy(False) & ~lost)
        if len(unread):
            pairs = np.unique(codes, return_index=True)
            first = dict(zip(*(part.tolist() for part in pairs), strict=True))
            for code, text in zip(
                unread.tolist(), texts.take(pa.array(unread)).to_pylist(), strict=True
            ):
                self.note_unread(text, start + first[code], int(counts[code]))
        if self.form.kind == "number":
            found = self.finite(np.append(numbers_of(values), np.nan)[codes], start)
        elif self.form.kind == "date":
            found = np.append(values.to_numpy(zero_copy_only=False), np.datetime64("NaT"))[codes]
        else:
            found = np.array([*values.to_pylist(), None], dtype=object)[codes]
        if self.form.kind == "category" and n:
            self.n_bytes += 60 * n + (pc.sum(pc.binary_length(values)).as_py() or 0)
        return found

    def finite(self, values: Floats, start: int) -> Floats:
        """Return numbers with NaN where they stand for a missing one; raise if one is infinite."""
        if len(self.missing_numbers):
            values = np.where(np.isin(values, self.missing_numbers), np.nan, values)
        wrong = np.isinf(values)
        if wrong.any():
            row = int(wrong.argmax())
            raise TableFileError(
                f"Column {self.name!r} has {values[row]} in {self.source.place(start + row)}, which"
                " is not a finite number; correct it, or leave the cell empty if it is missing."
            )
        return values

    def note_unread(self, cell: str, row: int, number: int) -> None:
        """Keep a cell that is not what it should be."""
        if cell not in self.unread and len(self.unread) >= MOST_UNREAD:
            cell = next(reversed(self.unread))
        before, first = self.unread.get(cell, (0, row))
        self.unread[cell] = before + number, first

    @property
    def is_readable(self) -> bool:
        """Whether hardly any cell is not what it should be."""
        return sum(number for number, _ in self.unread.values()) <= FEW * self.n_present

    def unread_cell(self) -> tuple[str, str]:
        """Return the first cell that is not what it should be, and the words for its row."""
        cell, (_, row) = min(self.unread.items(), key=lambda pair: pair[1][1])
        return quote(cell), self.source.place(row)

    def tell_unread(self) -> str:
        """Return a note on the cells that count as missing, "" if none do; raise if many do."""
        if not self.unread:
            return ""
        (cell, row), what = self.unread_cell(), PLURALS[self.form.kind]
        if self.is_readable:
            n = sum(number for number, _ in self.unread.values())
            return (
                f"column {self.name!r} holds {what}; {n} cell{'s' * (n > 1)} such as {cell} in "
                f"{row} count{'s' * (n == 1)} as missing"
            )
        do = (
            "write it as 2024-12-31 or 2024-12-31T23:59:59, or leave the cell empty if it is "
            "missing"
            if self.form.kind == "date"
            else "correct it, leave the cell empty if it is missing, or read the column as "
            f"categories (--categorical {self.name}, or kinds={{{self.name!r}: 'category'}})"
        )
        raise TableFileError(f"Column {self.name!r} is to hold {what}, but {row} has {cell}; {do}.")


class AssembledTable(NamedTuple):
    """The rows of a file, and what was found out and assumed about its columns."""

    frame: NDArray[Any]
    notes: list[str]
    assumptions: list[str]
    kinds: dict[str, str]


def read_columns(
    source: Any,
    chosen: Sequence[str],
    asked: Mapping[str, str],
    missing: Mapping[str | None, frozenset[str]],
    limit: MemoryLimit,
    rows: Indices | None = None,
) -> AssembledTable:
    """Read some columns, by what their first rows hold; again those that turn out otherwise.

    Of ``rows``, whose places ascend, others are not kept.
    """
    columns, judge = judged_columns(source, chosen, asked, missing)
    frame: Any = None
    fresh = columns
    for turn in range(PASSES):
        frame = fill(source, fresh, limit, frame, rows)
        again = judge.changed_columns(turn) if turn < PASSES - 1 else []
        if not again:
            break
        fresh = {name: columns[name] for name in chosen if columns.get(name) in again}
    names = [name for name in chosen if name in columns]
    frame = frame if list(frame.dtype.names) == names else frame[names].copy()
    found = [columns[name] for name in names]
    words = [one.why_words for one in found if one.form.kind == "category"]
    assumed = [*judge.assumptions, *words, *(one.tell_unread() for one in found)]
    kinds = {one.name: one.form.kind for one in found}
    return AssembledTable(frame, judge.notes, [*filter(None, assumed)], kinds)


def judged_columns(
    source: Any, chosen: Sequence[str], asked: Mapping[str, str], missing: Mapping[Any, Any]
) -> tuple[dict[str, ColumnReader], Judge]:
    """Return readers of some columns, by what the first rows hold."""
    samples, always = source.sample(chosen), getattr(source, "missing", MISSING)
    everywhere = missing.get(None, ())
    columns = {
        name: ColumnReader(
            source, name, sample, asked.get(name), always.union(everywhere, missing.get(name, ()))
        )
        for name, sample in samples.items()
    }
    judge = Judge(source, [one for one in columns.values() if one.kind == "text"])
    judge.choose_forms()
    return columns, judge


def read_blocks(
    source: Any, chosen: Sequence[str], asked: Mapping[str, str]
) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """Return some rows at a time as arrays, and how many were before; raise if a cell is wrong."""
    columns, _ = judged_columns(source, chosen, asked, {})
    types: dict[str, Any] = {name: reader.arrow_type for name, reader in columns.items()}
    types |= decimal_mark(columns.values())
    for start, block in source.blocks(list(columns), types):
        yield start, {name: columns[name].read(block[name], start) for name in chosen}
        for reader in columns.values():
            reader.n_present *= not reader.unread  # no cell may be wrong here
            reader.tell_unread()


def decimal_mark(readers: Iterable[ColumnReader]) -> dict[str, str]:
    """Return what the types of columns have to say about decimal commas."""
    return {DECIMAL_MARK: ","} if any(one.form == Form(decimal=",") for one in readers) else {}


def fill(
    source: Any,
    readers: Mapping[str, ColumnReader],
    limit: MemoryLimit,
    known: NDArray[Any] | None,
    rows: Indices | None,
) -> NDArray[Any]:
    """Return an array with the columns of readers, and those that are known already."""
    kept = [] if known is None else [n for n in known.dtype.names or () if n not in readers]
    fields: list[Any] = [(name, KINDS[reader.form.kind]) for name, reader in readers.items()]
    fields += [(name, known.dtype[name]) for name in kept]  # type: ignore[union-attr]
    frame, n_rows = np.zeros(0, dtype=fields), 0
    types = {name: reader.arrow_type for name, reader in readers.items()}
    types |= decimal_mark(readers.values())
    for start, block in source.blocks(list(readers), types):
        size = len(next(iter(block.values())))
        if rows is not None:
            first, last = np.searchsorted(rows, [start, start + size])
            block = {name: column.take(rows[first:last] - start) for name, column in block.items()}
            size = int(last - first)
        limit.check(source.name, (n_rows + size) * frame.itemsize)
        frame.resize(n_rows + size, refcheck=False)
        for name, reader in readers.items():
            frame[name][n_rows:] = reader.read(block[name], start)
        n_rows += size
        n_texts = sum(reader.n_bytes for reader in readers.values())
        limit.check(source.name, n_rows * frame.itemsize + n_texts)
    for name in kept:
        frame[name] = known[name]  # type: ignore[index]
    return frame


class Judge:
    """Decides what columns of texts hold; keeps what was found out and what was assumed."""

    def __init__(self, source: Any, columns: Sequence[ColumnReader]):
        self.source, self.columns = source, columns
        self.notes: list[str] = []
        self.assumptions: list[str] = []
        self.special: dict[str, list[tuple[str, str]]] = {}

    def choose_forms(self) -> None:
        """Find the forms of the columns, those that leave no doubt first."""
        self.notes, self.assumptions, self.special = [], [], {}
        found = [(column, self.candidates(column)) for column in self.columns]
        marks, orders = set(), set()
        for column, forms in found:
            decimals = {form.decimal for form in forms if form.kind == "number" and not form.order}
            if len(decimals) == 1 and any(decimals & set(cell) for cell in column.values):
                marks |= decimals
            if len(forms) == 1:
                orders |= {forms[0].order} & {"dmy", "mdy"}
        decimal = marks.pop() if len(marks) == 1 else ""
        order = orders.pop() if len(orders) == 1 else ""
        for column, forms in found:
            column.form = forms[0]
            if forms[0].kind == "number" and not forms[0].order:
                column.form = self.number_form(column, forms, decimal)
            elif forms[0].kind == "date":
                column.form = self.date_form(column, forms, order)
        for what, pairs in self.special.items():
            names = [repr(name) for name, _ in pairs]
            names = [*names[:2], f"{len(names) - 2} more"] if len(names) > 3 else names
            who = f"column {names[0]} has"
            if len(names) > 1:
                who = f"columns {', '.join(names[:-1])} and {names[-1]} have"
            self.notes.append(f"{who} {what}, as in {pairs[0][1]}")

    def changed_columns(self, turn: int) -> list[ColumnReader]:
        """Return the columns that have to be read again, since they are not what they seemed."""
        unread = [column for column in self.columns if column.unread]
        before = {column.name: column.form for column in self.columns}
        for column in unread:
            column.add_cells({cell: n for cell, (n, _) in column.unread.items()})
        if unread:
            self.choose_forms()
        for column in unread:
            if column.is_readable and column.form.kind != before[column.name].kind:
                column.form = before[column.name]
            same = turn > 0 or column.form == before[column.name]
            if same and not column.is_readable and column.asked is None:
                cell, row = column.unread_cell()
                what = PLURALS[before[column.name].kind]
                column.why_words = words_note(column.name, what, f"{cell} in {row}")
                column.form = Form("category")
        again = [column for column in self.columns if column.form != before[column.name]]
        for column in again:
            column.restart()
        return again

    def candidates(self, column: ColumnReader) -> list[Form]:
        """Return the forms that fit a column equally well."""
        asked, values = column.asked, column.values
        if asked in ("category", "boolean"):
            return [column.text_form() if asked == "category" else Form("boolean")]
        if not values:
            return [Form("date", order="iso") if asked == "date" else Form()]
        enough = (1.0 - FEW) * sum(values.values())
        if asked == "number" and all(cell.lower() in TRUTHS for cell in values):
            return [Form(order="truth")]
        times = Form(order="time")
        numbers, n_numbers = best_forms(values, number_forms(values))
        if asked == "number" or (asked is None and n_numbers >= enough):
            is_time = n_numbers < enough and best_forms(values, [times])[1] > n_numbers
            return [times] if is_time else numbers
        orders = [Form("date", order=order) for order in DATES if order != "time"]
        dates, n_dates = best_forms(values, orders)
        if asked == "date" or n_dates >= enough:
            return dates
        if best_forms(values, [times])[1] >= enough:
            self.tell(column, "times of a day, which become hours", next(iter(values)))
            return [times]
        if all(cell.lower() in TRUTHS for cell in values):
            return [Form("boolean")]
        form, what = (dates[0], "dates") if n_dates > n_numbers else (numbers[0], "numbers")
        other = next((cell for cell in values if not form.fits(cell)), None)
        column.why_words = ""
        if 2 * max(n_numbers, n_dates) >= sum(values.values()) and other is not None:
            other = f"{quote(column.raw[other])}{column.row_of(other)}"
            column.why_words = words_note(column.name, what, other)
        return [column.text_form()]

    def tell(self, column: ColumnReader, what: str, example: str) -> None:
        """Note something special of a column; columns of which the same is true share a note."""
        self.special.setdefault(what, []).append((column.name, example))

    def number_form(self, column: ColumnReader, forms: list[Form], decimal: str) -> Form:
        """Choose the form of a column of numbers, and say what is special about it."""
        form, name, cells = forms[0], column.name, list(column.values)
        marked = [cell for cell in cells if around(cell) and set(",.") & set(cell)]
        if len({one.decimal for one in forms}) > 1 and marked:
            form = self.settle_mark(column, forms, marked[0], decimal)
        if form != Form():
            example = max(
                (cell for cell in cells if form.fits(cell)),
                key=lambda c: (bool(form.thousands) and form.thousands in c, form.decimal in c),
            )
            self.tell(column, form.describe(), example)
        elif behind := next((c for c in cells if c[-1] in ")-\u2212" and form.fits(c)), ""):
            self.tell(column, "negative numbers in parentheses or before a minus", behind)
        elif padded := next(filter(PADDED.fullmatch, cells), ""):
            self.notes.append(
                f"column {name!r} has numbers such as {padded}; if they are codes, read it as "
                "categories"
            )
        if any(LONG.fullmatch(cell) and int(float(cell)) != int(cell) for cell in cells):
            self.notes.append(
                f"column {name!r} has integers too long for doubles, which are rounded"
            )
        return form

    def settle_mark(self, column: ColumnReader, forms: list[Form], cell: str, decimal: str) -> Form:
        """Decide whether 1,234 has decimals, by other columns, the currency or the delimiter."""
        is_point, unit = "." in cell, forms[0].before or forms[0].unit
        if not decimal and (is_point or unit in THOUSANDS_CURRENCIES):
            decimal = "."
        elif not decimal and self.source.delimiter == ",":
            decimal = "."
            self.assumptions.append(
                f"column {column.name!r} has {cell!r}, whose comma is taken to part thousands"
            )
        if not decimal:
            raise TableFileError(
                f"Column {column.name!r} has {cell!r}{column.row_of(cell)}, which may have a "
                "decimal comma or a separator of thousands; write it with a decimal point, or "
                "without the comma."
            )
        if is_point and decimal == ",":
            self.assumptions.append(
                f"column {column.name!r} has {cell!r}, whose point is taken to part thousands, "
                "since other columns have decimal commas"
            )
        return next(one for one in forms if one.decimal == decimal)

    def date_form(self, column: ColumnReader, forms: list[Form], order: str) -> Form:
        """Choose the order of day and month, and say what is special about a column of dates."""
        form, cells = forms[0], column.values
        example = next(filter(form.fits, cells), "")
        if len(forms) > 1:
            form = next(one for one in forms if one.order == (order or "dmy"))
        if len(forms) > 1 and "." not in example and not order:
            self.assumptions.append(
                f"column {column.name!r} has dates such as {example}, taken as day before month"
            )
        elif form.order in ("dmy", "mdy"):
            first = "day" if form.order == "dmy" else "month"
            self.tell(column, f"dates with the {first} first", example)
        zones = {bool(found["zone"]): c for c in reversed(cells) if (found := form.fits(c))}
        if len(zones) == 2:
            with_zone, without = zones[True], zones[False]
            raise TableFileError(
                f"Column {column.name!r} has {with_zone!r} with a time zone"
                f"{column.row_of(with_zone)} and {without!r} without one{column.row_of(without)}; "
                "write all of them with one, or none."
            )
        return replace(form, has_zone=True in zones)


def row_parts(column: Any) -> Iterable[tuple[int, Any]]:
    """Return the arrays of a column, and how many rows are before each."""
    parts = getattr(column, "chunks", [column])
    return zip(np.cumsum([0, *map(len, parts)]).tolist(), parts, strict=False)


def words_note(name: str, what: str, other: str) -> str:
    """Return a note on a column with too many cells that are not what others are."""
    return f"column {name!r} is read as words: it has {what}, but also {other}"


def number_forms(values: Iterable[str]) -> list[Form]:
    """Return the forms that numbers among some cells may have."""
    if all(map(PLAIN_NUMBER.fullmatch, values)):
        points = any("." in cell for cell in values)
        return [Form(), *[Form(decimal=",", thousands=".")] * points]
    parts = [found for found in map(around, values) if found is not None]
    shared = []
    for part in ("before", "unit"):
        texts = [found[part] for found in parts] or [""]
        usual = max(sorted(set(texts)), key=texts.count)
        shared.append(usual if 2 * texts.count(usual) >= len(texts) else "")
    return (
        [Form("number", *marks, before=shared[0], unit=shared[1]) for marks in MARKS]
        if parts
        else [Form()]
    )


def best_forms(values: Mapping[str, int], forms: list[Form]) -> tuple[list[Form], int]:
    """Return the forms that fit most cells, and how many cells that are."""
    sizes = [sum(n for cell, n in values.items() if form.fits(cell)) for form in forms]
    most = max(sizes)
    return [form for form, size in zip(forms, sizes, strict=True) if size == most], most


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
