"""A table in a text file: its rows in blocks, as often as they are asked for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from .errors import TableFileError
from .header import Header, find_header
from .layout import Layout, find_layout, sample
from .opening import DataFile

BLOCK, FEWEST = 1 << 17, 64
"""Cells that are read at once, and the fewest rows of wide tables."""

LARGE = 1 << 22
"""Bytes of a file from which on it is worth to have a compiled function at hand."""

LONGEST = 1 << 24
"""Characters of a cell; a longer one has a quotation mark that is never closed."""

Block = tuple[int, Sequence[Sequence[str]]]
"""The number of the first row, and the cells of each column."""


class RowError(csv.Error):
    """A row cannot be read, for a reason of its own."""


@dataclass(frozen=True)
class TextTable:
    """A text file whose layout is known.

    Attributes
    ----------
    file : DataFile
        The file.
    encoding : str
        Its encoding.
    layout : Layout or ArffLayout
        How lines become cells.
    header : Header
        The names of the columns.
    """

    file: DataFile
    encoding: str
    layout: Any
    header: Header

    @classmethod
    def of(cls, file: DataFile, encoding: str) -> TextTable:
        """Find out how a file is laid out."""
        tabs = any(part in (".tsv", ".tab") for part in file.path.suffixes)
        with file.text(encoding) as stream:
            lines, whole = sample(stream)
        layout = find_layout(lines, whole, tabs)
        with wide_cells(file.name):
            records = layout.records(lines[layout.skip :], strict=False)
            rows = [row for row in records if any(row)]
        if not whole and len(rows) > 2:
            rows.pop()  # it may be cut
        if not rows:
            raise TableFileError(f"{file.name!r} has no rows; expected a header and rows below it.")
        return cls(file, encoding, layout, find_header(file.name, rows, layout))

    @property
    def notes(self) -> list[str]:
        """What else was found."""
        skipped = self.layout.skip if isinstance(self.layout, Layout) else 0
        told = [f"{skipped} line{'s' * (skipped > 1)} before the table skipped"] if skipped else []
        if self.encoding in ("cp1252", "latin-1"):
            told.append(f"not in UTF-8, read as {self.encoding} (Western European)")
        return [*told, *self.header.notes]

    def blocks(self) -> Iterator[Block]:
        """Return the rows, some thousand at once, as columns of cells."""
        size, start = max(FEWEST, BLOCK // self.header.width), 0
        large = self.file.size >= LARGE
        with self.opened() as (stream, _):
            while lines := list(islice(stream, size)):
                columns = self.layout.columns(lines, self.header.width, large)
                if columns is None:
                    columns = self.with_care(lines, stream, start)
                if columns:
                    yield start, columns
                    start += len(columns[0])

    def with_care(self, lines: list[str], stream: Any, start: int) -> Sequence[Sequence[str]]:
        """Return the cells of lines with quotation marks, empty ones, or wrong ones.

        The last record may go on in lines of the stream.
        """
        records = self.layout.records(chain(lines, stream))
        rows: list[list[str]] = []
        while records.line_num < len(lines):
            rows += islice(records, 1)
        width = self.header.width
        rows = [row for row in rows if any(row) or len(row) == width]
        self.check_widths(rows, start)
        return list(zip(*rows, strict=True))

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, int]]:
        """Open the file behind its header; give its lines, and how many are before them."""
        with self.file.text(self.encoding) as stream, wide_cells(self.file.name, self.broken):
            for _ in islice(stream, self.layout.skip):
                pass
            before = self.layout.skip
            if self.header.there:
                records = self.layout.records(stream)
                next(row for row in records if any(row))
                before += records.line_num
            yield stream, before

    def broken(self) -> int:
        """Return the line where the first record begins that cannot be read."""
        line = self.layout.skip
        with self.file.text(self.encoding) as stream:
            for _ in islice(stream, line):
                pass
            records = self.layout.records(stream)
            try:
                for _ in records:
                    line = self.layout.skip + records.line_num
            except csv.Error:
                pass
        return line + 1

    def check_widths(self, rows: list[list[str]], start: int) -> None:
        """Raise if a row has too few or too many cells."""
        for number, row in enumerate(rows, start):
            if len(row) != self.header.width:
                do = "look for a delimiter that is missing, or that should be in quotation marks"
                if row[0].startswith(("#", "%")):
                    do = "comments stand before the header only, delete this one"
                raise TableFileError(
                    f"{self.file.name!r} has {len(row)} cell{'s' * (len(row) != 1)} in "
                    f"{self.place(number)}, expected {self.header.width} as in other rows; {do}."
                )

    def place(self, number: int) -> str:
        """Name a row by its number from 1, and its line if that is another."""
        found = -1
        with self.opened() as (stream, before):
            records, line = self.layout.records(stream), 0
            for row in records:
                found += any(row) or len(row) == self.header.width
                if found == number:
                    break
                line = records.line_num
        line += 1 + before
        return f"row {number + 1}" + (f" (line {line})" if line != number + 1 else "")


@contextmanager
def wide_cells(name: str, broken: Callable[[], int] | None = None) -> Iterator[None]:
    """Allow long cells, and say in a sentence what else is wrong with quotation marks."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    except csv.Error as error:
        where = f" in line {broken()}" if broken else ""
        if isinstance(error, RowError):
            raise TableFileError(f"{name!r} has{where} {error}.") from None
        if "field limit" in str(error):
            raise TableFileError(
                f"{name!r} has a cell of more than {LONGEST} characters{where}; look there for a "
                "quotation mark that is never closed, or shorten it."
            ) from None
        raise TableFileError(
            f"{name!r} has a quotation mark{where} that is never closed, or with something after "
            f"the closing one ({error}); write a mark inside of a cell twice."
        ) from None
    finally:
        csv.field_size_limit(before)
