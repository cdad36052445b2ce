"""A table in a text file: its layout, and its rows as columns of Arrow."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any

import numpy as np

from .cell_values import MISSING, PLAIN_NUMBER, around, kind_of_cell, quote
from .column_reader import DECIMAL_MARK
from .data_file import DataFile, TableFileError
from .header import MOST_FOOTER, Header, count_footer, count_titles, find_header

CHUNK, SAMPLE, WIDE = 3 << 19, 1 << 20, 200
"""Bytes of text that are parsed at once, and that columns are first judged by; more of wide tables,
as many times as they have so many columns."""

LONGEST = 1 << 24
"""Characters of a cell; a longer one has a quotation mark that is never closed."""

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank"}

LINES, CHARACTERS = 200, 1 << 20
"""How much of a file the layout is found by: lines, and no more after so many characters."""

SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\s*')
"""A first line by which Excel is told the delimiter."""

COLUMN_ERROR = re.compile(r"CSV column #(\d+)")
"""Where pyarrow says which column it could not convert."""


class RowError(csv.Error):
    """A row cannot be read, for a reason of its own."""


class TextTable:
    """A text file whose layout is known, of which the first ``before`` lines are no rows."""

    def __init__(
        self,
        file: DataFile,
        encoding: str,
        layout: Layout,
        header: Header,
        before: int,
        seen: Mapping[str, int] | None = None,  # cells of the first rows, which may have a footer
    ):
        self.file, self.encoding, self.layout, self.before = file, encoding, layout, before
        self.name, self.names, self.width = file.name, list(header.names), header.width
        self.delimiter, self.kinds, self.missing = layout.delimiter, layout.kinds, layout.missing
        self.kind = file.describe_packing(layout.describe(header))
        self.careful: set[int] = set()  # columns that pyarrow could not convert
        self.seen = seen
        self.notes, self.assumptions = list(header.notes), list(header.assumptions)
        skipped = f"{layout.skip} line{'s' * (layout.skip > 1)} before the table skipped"
        if layout.title:
            self.assumptions.append(f"{skipped}, such as {layout.title!r}")
        elif layout.skip and not layout.kinds:
            self.notes.insert(0, skipped)
        if encoding in ("cp1252", "latin-1"):
            self.assumptions.append(f"not in UTF-8, read as {encoding} (Western European)")

    @classmethod
    def of(cls, file: DataFile, encoding: str, names: Sequence[str] | None = None) -> TextTable:
        """Return a file with its layout and its header; ``names`` are those of the columns."""
        tabs = any(part.lower() in (".tsv", ".tab") for part in file.path.suffixes)
        with file.text(encoding) as stream, csv_errors(file.name):
            lines, whole = first_lines(stream)
            layout = find_layout(lines, whole, tabs)
            records = layout.records(lines[layout.skip :], strict=False)
            found = [(row, records.line_num) for row in records if any(row)]
        if not whole and len(found) > 2:
            found.pop()  # it may be cut
        rows, ends = [row for row, _ in found], [end for _, end in found]
        if not rows:
            raise TableFileError(f"{file.name!r} has no rows; expected a header and rows below it.")
        if titles := count_titles(rows):
            title = next(cell for cell in rows[0] if cell)
            layout = replace(layout, skip=layout.skip + ends[titles - 1], title=title)
            rows, ends = rows[titles:], [end - ends[titles - 1] for end in ends[titles:]]
        seen = Counter(cell.strip() for row in rows for cell in row)
        rows = rows[: len(rows) - count_footer(rows, max(map(len, rows)), seen)] if whole else rows
        header = find_header(file.name, rows, layout, names)
        before = layout.skip + [0, *ends][header.there]
        return cls(file, encoding, layout, header, before, seen)

    def sample(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the cells of the first rows."""
        return next(self.blocks(columns, {}, SAMPLE), (0, {}))[1]

    def blocks(
        self, columns: Sequence[str], types: Mapping[str, Any], size: int = 0
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return rows, some thousand at once, as columns of Arrow, and how many were before.

        Columns are of the types that are given, or else texts.
        """
        start, places = 0, {name: self.names.index(name) for name in columns}
        chosen = {str(places[name]): types.get(name) for name in columns}
        mark = types.get(DECIMAL_MARK, ".")
        for chunk, layout in self.chunks(size or CHUNK * min(16, 1 + self.width // WIDE)):
            table = self.parse(chunk, layout, chosen, mark)
            if table.num_rows:
                yield start, {name: table.column(str(places[name])) for name in columns}
                start += table.num_rows

    def parse(self, chunk: bytes, layout: Layout, chosen: Mapping[str, Any], decimal: str) -> Any:
        """Return some rows as a table of Arrow; columns that do not convert are texts."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        names = [str(place) for place in range(self.width)]
        text = pa.dictionary(pa.int32(), pa.string())
        while True:
            types = {
                name: text if kind is None or int(name) in self.careful else kind
                for name, kind in chosen.items()
            }
            read = arrow_csv.ReadOptions(column_names=names, block_size=len(chunk) + 1)
            convert = arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=sorted(MISSING),
                strings_can_be_null=False,
                decimal_point=decimal,
            )
            cells = arrow_csv.ParseOptions(
                delimiter=layout.delimiter, quote_char=layout.quote, newlines_in_values=True
            )
            try:
                return arrow_csv.read_csv(pa.BufferReader(chunk), read, cells, convert)
            except pa.ArrowInvalid as error:
                found = COLUMN_ERROR.search(str(error))
                if found and int(found[1]) not in self.careful:
                    self.careful.add(int(found[1]))
                    continue
                if layout is NORMAL:
                    raise
            chunk, layout = self.with_care(str(chunk, "utf-8"), True)[0], NORMAL

    def chunks(self, size: int) -> Iterator[tuple[bytes, Layout]]:
        """Return whole records of the text in UTF-8, and how their cells are parted."""
        rest, skip, layout = b"", self.before, self.layout
        with self.file.binary() as stream, csv_errors(self.name, self.rows):
            for part, last in utf8_parts(stream, self.encoding, size, layout.returns):
                part = rest + part
                while skip and (end := part.find(b"\n") + 1 or (last and len(part))):
                    part, skip = part[end:], skip - 1
                part = self.without_footer(part) if last and not skip else part
                whole = len(part) if last else part.rfind(b"\n") + 1
                chunk, rest = part[:whole], part[whole:]
                if skip or not whole:
                    chunk, rest = b"", part
                elif layout.is_clean(chunk):
                    yield layout.plain(chunk), layout
                else:
                    chunk, open_end = self.with_care(str(chunk, "utf-8"), last)
                    rest = open_end.encode() + rest
                    if chunk:
                        yield chunk, NORMAL
                if len(rest) > LONGEST and layout.delimiter.encode() not in rest[-LONGEST:]:
                    raise csv.Error("field larger than field limit")

    def without_footer(self, text: bytes) -> bytes:
        """Return the end of the file without totals and notes below the table."""
        if self.seen is None or self.delimiter == " ":
            return text
        lines = text.splitlines(keepends=True)
        rows: list[list[str]] = []
        for line in reversed(lines[-MOST_FOOTER:]):
            if line.count(self.layout.quote.encode()) % 2:  # the end of a cell of several lines
                break
            rows.insert(0, next(self.layout.records([str(line, "utf-8")], strict=False), []))
        number = count_footer(rows, self.width, self.seen)
        told = [cell for row in rows[len(rows) - number :] for cell in row if cell.strip()]
        if told:
            note = f"the end of the file, from {quote(told[0])} on, is taken for totals or notes"
            self.assumptions += [note] * (note not in self.assumptions)
        return b"".join(lines[: len(lines) - number])

    def with_care(self, text: str, last: bool) -> tuple[bytes, str]:
        """Return a text as plain CSV, and what is left of a record that goes on behind it.

        An error names a row of another width.
        """
        lines = io.StringIO(text, newline="").readlines()
        records, rows, done = self.layout.records(lines), [], 0
        try:
            for row in records:
                rows.append(row)
                done = records.line_num
        except csv.Error as error:
            if last or "unexpected end" not in str(error):
                raise
        rows = [row for row in rows if any(row) or len(row) == self.width]
        rows = [row if any(row[self.width :]) else row[: self.width] for row in rows]
        if any(len(row) != self.width for row in rows):
            self.check_widths()
        stream = io.StringIO(newline="")
        csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
        return stream.getvalue().encode(), "".join(lines[done:])

    def check_widths(self) -> None:
        """Raise if a row has too few or too many cells."""
        for number, (_, row) in enumerate(self.rows()):
            if len(row) < self.width or any(row[self.width :]):
                do = "look for a delimiter that is missing, or that should be in quotation marks"
                if row[0].startswith(("#", "%")):
                    do = "comments stand before the header only, delete this one"
                raise TableFileError(
                    f"{self.name!r} has {len(row)} cell{'s' * (len(row) != 1)} in "
                    f"{self.place(number)}, expected {self.width} as in other rows; {do}."
                )

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Return the line where each row begins, and its cells, one by one."""
        line = self.before + 1
        with csv_errors(self.name), self.file.text(self.encoding, self.before) as stream:
            # Endless lines come in pieces that are too long for a cell.
            records = self.layout.records(iter(lambda: stream.readline(2 * LONGEST), ""))
            try:
                for row in records:
                    if any(row) or len(row) == self.width:
                        yield line, row
                    line = self.before + 1 + records.line_num
            except csv.Error as error:
                error.args = (*error.args[:1], line)
                raise

    def place(self, number: int) -> str:
        """Return the words for a row: its number from 1, and its line if that is another."""
        line, _ = next(islice(self.rows(), number, None))
        return f"row {number + 1}" + (f" (line {line})" if line != number + 1 else "")


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
        if encoding != "utf-8" or not part.isascii() or not ahead or decoder.getstate()[0]:
            part = decoder.decode(part, not ahead).encode()
        yield part.replace(b"\r", b"\n") if returns else part, not ahead
        if not ahead:
            return


@contextmanager
def csv_errors(name: str, rows: Any = None) -> Iterator[None]:
    """Allow long cells, and raise a sentence about quotation marks that are wrong.

    ``rows`` returns the rows one by one, with an error that names the line.
    """
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    except csv.Error as error:
        if rows is not None:
            deque(rows(), maxlen=0)
        where = f" in line {error.args[1]}" if len(error.args) > 1 else ""
        if isinstance(error, RowError):
            raise TableFileError(f"{name!r} has{where} {error.args[0]}.") from None
        if "field limit" in str(error):
            raise TableFileError(
                f"{name!r} has a cell of more than {LONGEST} characters{where}; look there for a "
                "quotation mark that is never closed, or shorten it."
            ) from None
        raise TableFileError(
            f"{name!r} has a quotation mark{where} that is never closed, or with something after "
            f"the closing one ({error.args[0]}); write a mark inside of a cell twice."
        ) from None
    finally:
        csv.field_size_limit(before)


@dataclass(frozen=True)
class Layout:
    """How the lines of a text become rows of cells."""

    delimiter: str = ","  # a blank stands for any white space
    skip: int = 0  # number of lines before the first record
    comment: str = ""  # the last of these lines that is a comment, with its mark
    quote: str = '"'
    returns: bool = False  # whether lines end with a carriage return alone
    title: str = ""  # of lines above the header that are no rows
    missing: frozenset[str] = MISSING
    kinds: Mapping[str, str] = field(default_factory=dict)  # of columns, as ARFF has them
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        return f"{DELIMITERS.get(self.delimiter, repr(self.delimiter))}-separated text {there}"

    def is_clean(self, text: bytes) -> bool:
        """Whether all quotation marks of a text stand around whole cells."""
        mark = self.quote.encode()
        if mark not in text or self.delimiter == " ":
            return mark not in text
        codes = np.frombuffer(text, np.uint8)
        at = np.flatnonzero(codes == mark[0])
        if len(at) % 2:
            return False
        is_end = np.zeros(256, dtype=bool)
        is_end[list(f"{self.delimiter}\r\n{self.quote}".encode())] = True
        before, after = is_end[codes[at[::2] - 1]], is_end[codes[(at[1::2] + 1) % len(codes)]]
        before[0] |= at[0] == 0
        after[-1] |= at[-1] == len(codes) - 1
        return bool((before & after).all())

    def plain(self, text: bytes) -> bytes:
        """Return a clean text with one delimiter between cells."""
        if self.delimiter != " ":
            return text
        return b"\n".join(b" ".join(line.split()) for line in text.splitlines()) + b"\n"

    def records(self, lines: Iterable[str], strict: bool = True) -> Any:
        """Return the cells of each record, with the header; its ``line_num`` is the line."""
        if self.delimiter == " ":  # tabs and many blanks part cells too
            lines = (" ".join(li.split()) if '"' not in li else li.strip() for li in lines)
        options: Any = {"skipinitialspace": True, "strict": strict, "quotechar": self.quote}
        return csv.reader(lines, delimiter=self.delimiter, **options)


NORMAL = Layout()
"""How texts are written that had to be read with care."""


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
    if delimiter == " ":
        first = [line.strip() for line in lines if line.strip()][1:50]
        times = bool(first) and all(kind_of_cell(line) == "date" for line in first)
        in_one_piece = times or (len(rows[0]) == 1 and width == 2)  # names such as Room 1
        if share < 1.0 or plain == 0.0 or in_one_piece:
            return (0.0,)
    return share, float(len(rows[0]) == width), plain, float(width)


def is_typed(cell: str, delimiter: str) -> bool:
    """Whether a cell is a number or a date, as they may be between these delimiters."""
    plain = PLAIN_NUMBER.fullmatch(cell.strip()) or kind_of_cell(cell) == "date"
    return bool(plain or (delimiter not in ", " and around(cell)))
