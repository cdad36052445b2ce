"""A table in a text file: its layout, and its rows in blocks, as often as they are asked for."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Any

from .cell_values import COMMA, DATE, GROUPED, POINT, WHOLE, ZONED, kind_of_cell
from .data_file import DataFile, TableFileError
from .header import Header, find_header
from .native_cells import native_columns

BLOCK, FEWEST = 1 << 17, 64
"""Cells that are read at once, and the fewest rows of wide tables."""

LARGE = 1 << 22
"""Bytes of a file from which on it is worth to have a compiled function at hand."""

LONGEST = 1 << 24
"""Characters of a cell; a longer one has a quotation mark that is never closed."""

Block = tuple[int, Sequence[Sequence[str]]]
"""The number of the first row, and the cells of each column."""

DELIMITERS = {",": "comma-separated", ";": "semicolon-separated", "\t": "tab-separated"}
DELIMITERS |= {"|": "bar-separated", " ": "blank-separated"}

LINES, CHARACTERS = 200, 1 << 22
"""How much of a file is looked at: so many lines, and no more of them after so many characters."""

SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\s*')
"""A first line by which Excel is told the delimiter."""


class RowError(csv.Error):
    """A row cannot be read, for a reason of its own."""


@dataclass(frozen=True)
class TextTable:
    """A text file whose layout is known."""

    file: DataFile
    encoding: str
    layout: Any  # a Layout or an ArffLayout
    header: Header

    @classmethod
    def of(cls, file: DataFile, encoding: str) -> TextTable:
        """Return a file with its layout and its header."""
        tabs = any(part in (".tsv", ".tab") for part in file.path.suffixes)
        with file.text(encoding) as stream:
            lines, whole = first_lines(stream)
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
        with self.open_rows() as (stream, _):
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
    def open_rows(self) -> Iterator[tuple[Any, int]]:
        """Open the file behind its header: its lines, and how many are before them."""
        name, before = self.file.name, self.layout.skip
        with self.file.text(self.encoding, before) as stream, wide_cells(name, self.broken_line):
            if self.header.there:
                records = self.layout.records(stream)
                next(row for row in records if any(row))
                before += records.line_num
            yield stream, before

    def broken_line(self) -> int:
        """Return the line where the first record begins that cannot be read."""
        line = self.layout.skip
        with self.file.text(self.encoding, line) as stream:
            records = self.layout.records(stream)
            with suppress(csv.Error):
                for _ in records:
                    line = self.layout.skip + records.line_num
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
        """Return the words for a row: its number from 1, and its line if that is another."""
        found = -1
        with self.open_rows() as (stream, before):
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
    """Allow long cells, and raise a sentence about quotation marks that are wrong."""
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


@dataclass(frozen=True)
class Layout:
    """How the lines of a text become rows of cells."""

    delimiter: str  # a blank stands for any white space
    skip: int = 0  # number of lines before the first record
    comment: str = ""  # the last of these lines that is a comment, with its mark

    @property
    def comment_cells(self) -> list[str]:
        """The cells of the comment, which may be names of columns."""
        text = self.comment.strip("#").strip()
        row: list[str] = next(self.records([text], strict=False), [])
        return [cell.strip(" \t\"'") for cell in row]

    def describe(self, header: Header) -> str:
        """Return what kind of file it is."""
        there = "with a header" if header.there else "without a header"
        if header.width == 1:
            return f"text of one column {there}"
        kind = DELIMITERS.get(self.delimiter, f"{self.delimiter!r}-separated")
        return f"{kind} text {there}"

    def columns(self, lines: list[str], width: int, large: bool) -> Sequence[Sequence[str]] | None:
        """Return the cells of each column; None if the lines take more care."""
        marked = not large and '"' in "".join(lines)
        return None if marked else split(lines, width, self.delimiter, large)

    def records(self, lines: Iterable[str], strict: bool = True) -> Any:
        """Return the cells of each record, with the header; its ``line_num`` is the line."""
        if self.delimiter == " ":
            lines = map(single_blanks, lines)
        options: Any = {"skipinitialspace": True, "strict": strict}
        return csv.reader(lines, delimiter=self.delimiter, **options)


def split(
    lines: list[str], width: int, delimiter: str, large: bool
) -> Sequence[Sequence[str]] | None:
    """Return the columns of lines without quotation marks, the quick way.

    None if that takes more care: if a line is empty or has another number of cells, or if cells
    have blanks before them, which may be all they have. Of a large file, which may have quotation
    marks, numbers are read at once.
    """
    if width == 1 and any(map(str.isspace, lines)):
        return None
    if large and delimiter != " ":
        return native_columns(lines, width, delimiter)
    if large and any('"' in line for line in lines):
        return None
    if delimiter == " ":
        rows = [line.split() for line in lines]
        return list(zip(*rows, strict=True)) if set(map(len, rows)) == {width} else None
    if {line.count(delimiter) for line in lines} != {width - 1}:
        return None
    text = "".join(lines)
    if delimiter + " " in text:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    cells = text.replace("\n", delimiter).split(delimiter)
    size = len(lines) * width  # the last line may have an end
    return [cells[j:size:width] for j in range(width)]


def single_blanks(line: str) -> str:
    """Return a line with one blank between cells, so that tabs and many blanks part them too."""
    return " ".join(line.split()) if '"' not in line else line.strip()


def first_lines(file: IO[str]) -> tuple[list[str], bool]:
    """Return the first lines of a text, and whether they are all."""
    lines: list[str] = []
    size = 0
    for line in file:
        lines.append(line)
        size += len(line)
        if len(lines) >= LINES or (size > CHARACTERS and len(lines) > 3):
            return lines, False
    return lines, True


def find_layout(lines: list[str], whole: bool, tabs: bool) -> Layout:
    """Return what parts the cells, by the first lines, which may be the ``whole`` text."""
    skip, comment = 0, ""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            break
        comment = line.strip() if line.strip("#").strip() else comment
        skip += 1
    told = SEPARATOR.fullmatch(lines[skip]) if skip < len(lines) else None
    if told:
        return Layout(told[1], skip + 1, comment)
    found = {d: fitness(lines[skip:], whole, d) for d in DELIMITERS}
    if found["\t"][:2] >= found[" "][:2]:
        found[" "] = (0.0,)  # by blanks alone empty cells between tabs would be lost
    if tabs and found["\t"] > (0.5,):
        return Layout("\t", skip, comment)
    best = max(found, key=lambda d: found[d])
    return Layout(best if found[best] > (0.5,) else ",", skip, comment)


def fitness(lines: list[str], whole: bool, delimiter: str) -> tuple[float, ...]:
    """Return how well a delimiter parts lines; the greater the better, (0,) if it does not.

    First the share of rows with the same number of cells, then whether the first one has as many
    too, then the share of cells that are numbers or dates, then the number of cells.
    """
    try:
        rows = [row for row in Layout(delimiter).records(lines, strict=False) if row]
    except csv.Error:
        return (0.0,)
    if not whole and len(rows) > 2:
        rows.pop()  # it may be cut
    body = rows[1:] or rows
    width, same = Counter(map(len, body)).most_common(1)[0] if body else (0, 0)
    if width < 2:
        return (0.0,)
    share = same / len(body)
    typed = {WHOLE, POINT, DATE, ZONED, *([] if delimiter == "," else [COMMA, GROUPED])}
    cells = [cell for row in islice(body, 50) if len(row) == width for cell in row[:200]]
    plain = sum(kind_of_cell(cell) in typed for cell in cells) / len(cells)
    if delimiter == " " and (
        share < 1.0 or plain == 0.0 or in_one_piece(lines, len(rows[0]), width)
    ):
        return (0.0,)
    return share, float(len(rows[0]) == width), plain, float(width)


def in_one_piece(lines: list[str], n_names: int, width: int) -> bool:
    """Whether lines with blanks are a single column: times, or names such as Room 1."""
    first = [line.strip() for line in lines if line.strip()][1:50]
    times = bool(first) and all(kind_of_cell(line) in (DATE, ZONED) for line in first)
    return times or (n_names == 1 and width == 2)
