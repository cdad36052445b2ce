"""A table in a text file: its layout, and its rows as columns of Arrow."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any, ClassVar

import numpy as np

from .cell_values import (
    DATE,
    DECIMAL_MARK,
    MISSING,
    POINT,
    WHOLE,
    ZONED,
    is_written_number,
    kind_of_cell,
)
from .data_file import DataFile, TableFileError
from .header import Header, find_header

CHUNK, SAMPLE, WIDE = 1 << 20, 1 << 20, 200
"""Bytes of text that are parsed at once, and that columns are first judged by; more of wide tables,
as many times as they have so many columns."""

LONGEST = 1 << 24
"""Characters of a cell; a longer one has a quotation mark that is never closed."""

DELIMITERS = {",": "comma-separated", ";": "semicolon-separated", "\t": "tab-separated"}
DELIMITERS |= {"|": "bar-separated", " ": "blank-separated"}

LINES, CHARACTERS = 200, 1 << 20
"""How much of a file the layout is found by: lines, and no more after so many characters."""

SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\s*')
"""A first line by which Excel is told the delimiter."""

COLUMN_ERROR = re.compile(r"CSV column #(\d+)")
"""Where pyarrow says which column it could not convert."""


class RowError(csv.Error):
    """A row cannot be read, for a reason of its own."""


@dataclass(frozen=True)
class TextTable:
    """A text file whose layout is known."""

    file: DataFile
    encoding: str
    layout: Any  # a Layout or an ArffLayout
    header: Header
    before: int  # lines before the first row
    careful: set[int] = field(default_factory=set)  # columns that pyarrow could not convert

    @classmethod
    def of(cls, file: DataFile, encoding: str, names: Sequence[str] | None = None) -> TextTable:
        """Return a file with its layout and its header; ``names`` are those of the columns."""
        tabs = any(part in (".tsv", ".tab") for part in file.suffixes)
        with file.text(encoding) as stream:
            lines, whole = first_lines(stream)
        layout = find_layout(lines, whole, tabs)
        with wide_cells(file.name):
            records = layout.records(lines[layout.skip :], strict=False)
            rows, ends = [], []
            for row in records:
                if any(row):
                    rows.append(row)
                    ends.append(records.line_num)
        if not whole and len(rows) > 2:
            rows.pop()  # it may be cut
        if not rows:
            raise TableFileError(f"{file.name!r} has no rows; expected a header and rows below it.")
        titles = n_titles(rows)
        if titles:
            title = rows[0][0]
            layout = replace(layout, skip=layout.skip + ends[titles - 1], title=title)
            rows, ends = rows[titles:], [end - ends[titles - 1] for end in ends[titles:]]
        header = find_header(file.name, rows, layout, names)
        return cls(file, encoding, layout, header, layout.skip + (ends[0] if header.there else 0))

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.name

    @property
    def delimiter(self) -> str:
        """What parts the cells."""
        return str(self.layout.delimiter)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.header.names)

    @property
    def kinds(self) -> dict[str, str]:
        """What the header tells of the columns."""
        return dict(self.layout.kinds)

    @property
    def missing(self) -> frozenset[str]:
        """Cells that have no value."""
        return frozenset(self.layout.missing)

    @property
    def kind(self) -> str:
        """What kind of file it is."""
        return self.file.describe_packing(self.layout.describe(self.header))

    @property
    def notes(self) -> list[str]:
        """What else was found."""
        skipped = self.layout.skip if isinstance(self.layout, Layout) else 0
        told = [f"{skipped} line{'s' * (skipped > 1)} before the table skipped"] if skipped else []
        told = [] if self.layout.title else told
        return [*told, *self.header.notes]

    @property
    def assumptions(self) -> list[str]:
        """What was assumed, and may be otherwise."""
        told = list(self.header.assumptions)
        if self.layout.title:
            lines = f"{self.layout.skip} line{'s' * (self.layout.skip > 1)}"
            told.append(f"{lines} before the table skipped, such as {self.layout.title!r}")
        if self.encoding in ("cp1252", "latin-1"):
            told.append(f"not in UTF-8, read as {self.encoding} (Western European)")
        return told

    def sample(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the cells of the first rows."""
        _, found = next(self.blocks(columns, {}, SAMPLE), (0, {}))
        return found

    def blocks(
        self, columns: Sequence[str], types: Mapping[str, Any], size: int = 0
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return rows, some thousand at once, as columns of Arrow, and how many were before.

        Columns are of the types that are given, or else texts.
        """
        start, places = 0, {name: self.names.index(name) for name in columns}
        chosen = {str(places[name]): types.get(name) for name in columns}
        mark = types.get(DECIMAL_MARK, ".")
        for chunk, layout in self.chunks(size or CHUNK * min(16, 1 + self.header.width // WIDE)):
            table = self.parse(chunk, layout, chosen, mark)
            if table.num_rows:
                yield start, {name: table.column(str(places[name])) for name in columns}
                start += table.num_rows

    def parse(self, chunk: Any, layout: Any, chosen: Mapping[str, Any], decimal: str) -> Any:
        """Return some rows as a table of Arrow; columns that do not convert are texts."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        names = [str(place) for place in range(self.header.width)]
        read = arrow_csv.ReadOptions(column_names=names, block_size=len(chunk) + 1)
        mark = layout.delimiter, layout.quote
        while True:
            types = {
                name: pa.string() if kind is None or int(name) in self.careful else kind
                for name, kind in chosen.items()
            }
            convert = arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=sorted(MISSING),
                strings_can_be_null=False,
                decimal_point=decimal,
            )
            cells = arrow_csv.ParseOptions(
                delimiter=mark[0], quote_char=mark[1], newlines_in_values=True
            )
            options = {"read_options": read, "parse_options": cells, "convert_options": convert}
            try:
                return arrow_csv.read_csv(pa.BufferReader(chunk), **options)
            except pa.ArrowInvalid as error:
                found = COLUMN_ERROR.search(str(error))
                if found and int(found[1]) not in self.careful:
                    self.careful.add(int(found[1]))
                    continue
                if mark == (",", '"') and layout is NORMAL:
                    raise
            lines = io.StringIO(str(chunk, "utf-8"), newline="").readlines()
            chunk, _ = self.with_care(lines, True)
            layout, mark = NORMAL, (",", '"')

    def chunks(self, size: int) -> Iterator[tuple[Any, Any]]:
        """Return whole records of the text in UTF-8, and how their cells are parted."""
        rest, skip = b"", self.before
        with self.file.binary() as stream, wide_cells(self.file.name, self.broken_line):
            parts = utf8_parts(stream, self.encoding, size, self.layout.returns)
            for part, last in parts:
                part = rest + part
                while skip and (end := part.find(b"\n") + 1 or (last and len(part))):
                    part, skip = part[end:], skip - 1
                if skip:
                    rest = part
                    continue
                whole = len(part) if last else part.rfind(b"\n") + 1
                if self.layout.is_clean(part, whole):
                    chunk, rest = part[:whole], part[whole:]
                    layout = self.layout
                elif whole:
                    text = str(part, "utf-8") if last else str(part[:whole], "utf-8")
                    lines = io.StringIO(text, newline="").readlines()
                    chunk, open_end = self.with_care(lines, last)
                    rest = open_end.encode() + (b"" if last else part[whole:])
                    layout = NORMAL
                else:
                    chunk, rest, layout = b"", part, self.layout
                if len(rest) > LONGEST and self.layout.delimiter.encode() not in rest[-LONGEST:]:
                    raise csv.Error("field larger than field limit")
                if chunk:
                    chunk = self.layout.plain(chunk) if layout is self.layout else chunk
                    yield chunk, layout

    def with_care(self, lines: list[str], last: bool) -> tuple[bytes, str]:
        """Return lines as plain CSV, and what is left of a record that goes on behind them.

        An error names a row of another width.
        """
        records, rows, done = self.layout.records(lines), [], 0
        try:
            for row in records:
                rows.append(row)
                done = records.line_num
        except csv.Error as error:
            if last or "unexpected end" not in str(error):
                raise
        width = self.header.width
        rows = [row for row in rows if any(row) or len(row) == width]
        self.check_widths(rows)
        stream = io.StringIO(newline="")
        csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
        return stream.getvalue().encode(), "".join(lines[done:])

    def check_widths(self, rows: list[list[str]]) -> None:
        """Raise if a row has too few or too many cells."""
        width = self.header.width
        if all(len(row) == width for row in rows):
            return
        for number, row in enumerate(self.rows()):
            if len(row) != width:
                do = "look for a delimiter that is missing, or that should be in quotation marks"
                if row[0].startswith(("#", "%")):
                    do = "comments stand before the header only, delete this one"
                raise TableFileError(
                    f"{self.file.name!r} has {len(row)} cell{'s' * (len(row) != 1)} in "
                    f"{self.place(number)}, expected {width} as in other rows; {do}."
                )

    def rows(self) -> Iterator[list[str]]:
        """Return the cells of each row, one by one."""
        with self.file.text(self.encoding, self.before) as stream, wide_cells(self.file.name):
            for row in self.layout.records(lines_of(stream)):
                if any(row) or len(row) == self.header.width:
                    yield row

    def broken_line(self) -> int:
        """Return the line where the first record begins that cannot be read."""
        line = self.layout.skip
        with self.file.text(self.encoding, line) as stream:
            records = self.layout.records(lines_of(stream))
            with suppress(csv.Error):
                for _ in records:
                    line = self.layout.skip + records.line_num
        return line + 1

    def place(self, number: int) -> str:
        """Return the words for a row: its number from 1, and its line if that is another."""
        found = -1
        with self.file.text(self.encoding, self.before) as stream, wide_cells(self.file.name):
            records, line = self.layout.records(lines_of(stream)), 0
            for row in records:
                found += any(row) or len(row) == self.header.width
                if found == number:
                    break
                line = records.line_num
        line += 1 + self.before
        return f"row {number + 1}" + (f" (line {line})" if line != number + 1 else "")


def n_titles(rows: list[list[str]]) -> int:
    """Return how many rows of one cell stand above a table of several columns."""
    first = next((place for place, row in enumerate(rows) if len(row) > 1), 0)
    return first if len(rows) > first + 1 and all(len(row) > 1 for row in rows[first:]) else 0


def utf8_parts(
    stream: IO[bytes], encoding: str, size: int, returns: bool
) -> Iterator[tuple[bytes, bool]]:
    """Return a text in UTF-8 in parts, and whether each is the last; a UnicodeDecodeError if not.

    ``returns``: lines end with a carriage return alone.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    ahead = stream.read(size)
    while True:
        part, ahead = ahead, stream.read(size)
        if encoding != "utf-8" or not part.isascii() or not ahead:
            part = decoder.decode(part, not ahead).encode()
        elif decoder.getstate()[0]:
            part = decoder.decode(part).encode()
        yield part.replace(b"\r", b"\n") if returns else part, not ahead
        if not ahead:
            return


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
    quote: str = '"'
    returns: bool = False  # whether lines end with a carriage return alone
    title: str = ""  # of lines above the header that are no rows
    missing = MISSING
    kinds: ClassVar[Mapping[str, str]] = {}  # a header of names does not tell them

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

    def is_clean(self, text: bytes, stop: int) -> bool:
        """Whether all quotation marks of a text up to a place stand around whole cells."""
        mark = self.quote.encode()
        if mark not in text:
            return stop > 0
        if self.delimiter == " ":
            return False
        codes = np.frombuffer(text, np.uint8, stop)
        at = np.flatnonzero(codes == mark[0])
        ends = np.frombuffer(f"{self.delimiter}\r\n{self.quote}".encode(), np.uint8)
        before = np.isin(codes[np.maximum(at - 1, 0)], ends) | (at == 0)
        after = np.isin(codes[np.minimum(at + 1, stop - 1)], ends) | (at == stop - 1)
        return stop > 0 and len(at) % 2 == 0 and bool((before[::2] & after[1::2]).all())

    def plain(self, text: Any) -> Any:
        """Return a clean text with one delimiter between cells."""
        if self.delimiter != " ":
            return text
        return b"\n".join(b" ".join(line.split()) for line in bytes(text).splitlines()) + b"\n"

    def records(self, lines: Iterable[str], strict: bool = True) -> Any:
        """Return the cells of each record, with the header; its ``line_num`` is the line."""
        if self.delimiter == " ":
            lines = map(single_blanks, lines)
        options: Any = {"skipinitialspace": True, "strict": strict, "quotechar": self.quote}
        return csv.reader(lines, delimiter=self.delimiter, **options)


NORMAL = Layout(",")
"""How texts are written that had to be read with care."""


def single_blanks(line: str) -> str:
    """Return a line with one blank between cells, so that tabs and many blanks part them too."""
    return " ".join(line.split()) if '"' not in line else line.strip()


def lines_of(file: IO[str]) -> Iterator[str]:
    """Return the lines of a text, endless ones in pieces that are too long for a cell."""
    return iter(lambda: file.readline(2 * LONGEST), "")


def first_lines(file: IO[str]) -> tuple[list[str], bool]:
    """Return the first lines of a text, and whether they are all."""
    lines: list[str] = []
    size = 0
    while line := file.readline(LONGEST):
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
    returns = any(line.endswith("\r") for line in lines) and not any("\n" in li for li in lines)
    told = SEPARATOR.fullmatch(lines[skip]) if skip < len(lines) else None
    if told:
        return Layout(told[1], skip + 1, comment, returns=returns)
    body = lines[skip:]
    found = {d: fitness(body, whole, d) for d in DELIMITERS}
    if found["\t"][:2] >= found[" "][:2]:
        found[" "] = (0.0,)  # by blanks alone empty cells between tabs would be lost
    best = max(found, key=lambda d: found[d])
    best = best if found[best] > (0.5,) else ","
    if tabs and found["\t"] > (0.5,):
        best = "\t"
    quote = "'" if best != " " and has_single_quotes(body, best) else '"'
    return Layout(best, skip, comment, quote, returns)


def has_single_quotes(lines: list[str], delimiter: str) -> bool:
    """Whether cells stand between apostrophes, and these never stand elsewhere."""
    text = "".join(lines)
    if '"' in text or "'" not in text:
        return False
    mark = re.escape(delimiter)
    cells = re.findall(rf"(?:^|(?<={mark}))[ ]*'(?:[^'\n]|'')*'(?=[ ]*(?:{mark}|\r?$))", text, re.M)
    return len(cells) > 1 and sum(cell.count("'") for cell in cells) == text.count("'")


def fitness(lines: list[str], whole: bool, delimiter: str) -> tuple[float, ...]:
    """Return how well a delimiter parts lines; the greater the better, (0,) if it does not.

    First the share of rows with the same number of cells, then whether the first one has as many
    too, then the share of cells that are numbers or dates, then the number of cells.
    """
    quote = "'" if has_single_quotes(lines, delimiter) else '"'
    try:
        rows = [r for r in Layout(delimiter, quote=quote).records(lines, strict=False) if r]
    except csv.Error:
        return (0.0,)
    if not whole and len(rows) > 2:
        rows.pop()  # it may be cut
    body = rows[1:] or rows
    width, same = Counter(map(len, body)).most_common(1)[0] if body else (0, 0)
    if width < 2:
        return (0.0,)
    share = same / len(body)
    cells = [cell for row in islice(body, 50) if len(row) == width for cell in row[:200]]
    plain = sum(is_typed(cell, delimiter) for cell in cells) / len(cells)
    if delimiter == " " and (
        share < 1.0 or plain == 0.0 or in_one_piece(lines, len(rows[0]), width)
    ):
        return (0.0,)
    return share, float(len(rows[0]) == width), plain, float(width)


def is_typed(cell: str, delimiter: str) -> bool:
    """Whether a cell is a number or a date, as they may be between these delimiters."""
    plain = kind_of_cell(cell) in (WHOLE, POINT, DATE, ZONED)
    return plain or (delimiter not in ", " and is_written_number(cell))


def in_one_piece(lines: list[str], n_names: int, width: int) -> bool:
    """Whether lines with blanks are a single column: times, or names such as Room 1."""
    first = [line.strip() for line in lines if line.strip()][1:50]
    times = bool(first) and all(kind_of_cell(line) in (DATE, ZONED) for line in first)
    return times or (n_names == 1 and width == 2)
