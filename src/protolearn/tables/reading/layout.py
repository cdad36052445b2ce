"""How a text file is laid out: what parts its cells, and what lies before its rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from .cells import COMMA, DATE, GROUPED, POINT, WHOLE, ZONED, what_is
from .header import Header
from .native_cells import native_columns

DELIMITERS = {",": "comma-separated", ";": "semicolon-separated", "\t": "tab-separated"}
DELIMITERS |= {"|": "bar-separated", " ": "blank-separated"}

LINES, CHARACTERS = 200, 1 << 22
"""How much of a file is looked at: so many lines, and no more of them after so many characters."""

SEPARATOR = re.compile(r'"?sep=([^\w"\r\n])"?\s*')
"""A first line by which Excel is told the delimiter."""


@dataclass(frozen=True)
class Layout:
    """How the lines of a text become rows of cells.

    Attributes
    ----------
    delimiter : str
        What parts cells; a blank stands for any white space.
    skip : int
        Number of lines before the first record.
    comment : str
        The last of these lines that is a comment, with its mark.
    """

    delimiter: str
    skip: int = 0
    comment: str = ""

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
        blank = self.delimiter == " "
        return csv.reader(
            map(one_blank, lines) if blank else lines,
            delimiter=self.delimiter,
            skipinitialspace=True,
            strict=strict,
        )


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


def one_blank(line: str) -> str:
    """Return a line with one blank between cells, so that tabs and many blanks part them too."""
    return " ".join(line.split()) if '"' not in line else line.strip()


def sample(file: IO[str]) -> tuple[list[str], bool]:
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
    """Find out what parts the cells.

    Parameters
    ----------
    lines : list of str
        The first lines.
    whole : bool
        Whether these are all.
    tabs : bool
        Whether tabs are expected.
    """
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
    plain = sum(what_is(cell) in typed for cell in cells) / len(cells)
    if delimiter == " " and (
        share < 1.0 or plain == 0.0 or in_one_piece(lines, len(rows[0]), width)
    ):
        return (0.0,)
    return share, float(len(rows[0]) == width), plain, float(width)


def in_one_piece(lines: list[str], n_names: int, width: int) -> bool:
    """Whether lines with blanks are a single column: times, or names such as Room 1."""
    first = [line.strip() for line in lines if line.strip()][1:50]
    times = bool(first) and all(what_is(line) in (DATE, ZONED) for line in first)
    return times or (n_names == 1 and width == 2)
