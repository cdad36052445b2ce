"""The header of an ARFF file, and what is special about its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

from numpy.typing import NDArray

from .cell_values import quote
from .data_file import DataFile, TableFileError
from .header import Header, different_names
from .text_table import RowError, TextTable

TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(,|$)""")
ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)""", re.IGNORECASE
)
ENTRIES = re.compile(r"""((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])+)(?:,|$)""")
"""What lies between commas that are not in quotation marks."""

ENTRY = re.compile(r"\s*(\d+)\s+(.*)", re.DOTALL)
SPECIAL = re.compile(rb"""['"{%]""")
NUMERIC = "numeric", "real", "integer"
MISSING = frozenset(["?", ""])


@dataclass(frozen=True)
class Attribute:
    """A column: its name, its kind, and its categories if they are told."""

    name: str
    kind: str
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ArffLayout:
    """How the lines of the data become rows of cells; used as :class:`Layout` is."""

    attributes: tuple[Attribute, ...]
    skip: int
    delimiter: str = ","
    quote: str = '"'
    returns: bool = False
    missing = MISSING
    title = ""

    @property
    def kinds(self) -> dict[str, str]:
        """What the header tells of the columns."""
        return {one.name: one.kind for one in self.attributes}

    def describe(self, header: Header) -> str:
        """Return what kind of file it is."""
        return "ARFF"

    def is_clean(self, text: bytes, stop: int) -> bool:
        """Whether a text up to a place has neither quotation marks, sparse rows nor comments."""
        return stop > 0 and SPECIAL.search(text, 0, stop) is None

    def records(self, lines: Iterable[str], strict: bool = True) -> Any:
        """Return the cells of each row."""
        return csv.reader(map(self.plain_line, lines), strict=strict)

    def plain(self, text: Any) -> Any:
        """Return a clean text, which is one of CSV."""
        return text

    def plain_line(self, line: str) -> str:
        """Return a line as one of CSV; an empty one for a comment."""
        line = line.strip()
        if line.startswith("%"):
            return ""
        if line.startswith("{"):
            return self.dense(line)
        return csv_line(split_cells(line)) if "'" in line or '"' in line else line

    def dense(self, line: str) -> str:
        """Return a sparse row, as ``{1 x, 3 y}``, as one with all cells."""
        # Where it tells nothing, it holds zero, or the first category.
        cells = [a.categories[0] if a.categories else "0" for a in self.attributes]
        inside = line.strip("{} \t")
        for entry in ENTRIES.finditer(inside) if inside else ():
            found = ENTRY.fullmatch(entry[1])
            if found is None or int(found[1]) >= len(cells):
                raise RowError(
                    f"the entry {entry[1].strip()!r} in a sparse row; expected the number of a "
                    f"column from 0 to {len(cells) - 1} and its value"
                )
            cells[int(found[1])] = split_cells(found[2])[0]
        return csv_line(cells)


def is_arff(text: str) -> bool:
    """Whether a text begins as ARFF does; also one that begins with comments only."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("%")), None)
    return first.lower().startswith("@relation") if first else "%" in text


def open_arff(file: DataFile, encoding: str) -> TextTable:
    """Return a file with what its header tells."""
    with file.text(encoding) as stream:
        attributes, skip = attributes_of(file.name, stream)
    names = [attribute.name for attribute in attributes]
    if not names:
        raise TableFileError(f"{file.name!r} has no @attribute; expected one for each column.")
    assumed: list[str] = []
    names = different_names(names, assumed)
    named = [replace(one, name=name) for one, name in zip(attributes, names, strict=True)]
    header = Header(tuple(names), False, len(names), (), tuple(assumed))
    return TextTable(file, encoding, ArffLayout(tuple(named), skip), header, skip)


def attributes_of(name: str, stream: IO[str]) -> tuple[list[Attribute], int]:
    """Return the columns, and the number of lines up to the data."""
    found: list[Attribute] = []
    for number, line in enumerate(stream, 1):
        word = line.strip().lower()
        if word.startswith("@data"):
            return found, number
        if word.startswith("@attribute"):
            found.append(parse_attribute(f"{name!r} (line {number})", line.strip()))
    raise TableFileError(f"{name!r} is an ARFF file without @data; expected rows after it.")


def parse_attribute(where: str, line: str) -> Attribute:
    """Read a line about a column."""
    found = ATTRIBUTE.fullmatch(line)
    if found is None:
        raise TableFileError(f"{where} has {line!r}; expected @attribute, a name and a type.")
    name = unescape(found[1] or found[2] or found[3])
    told = found[4].strip()
    if told.startswith("{") and "}" in told:
        return Attribute(name, "category", tuple(split_cells(told[1 : told.rindex("}")])))
    kind = told.split()[0].lower() if told else ""
    if kind in NUMERIC:
        return Attribute(name, "number")
    if kind in ("string", "date"):
        return Attribute(name, "category" if kind == "string" else kind)
    raise TableFileError(
        f"{where} has the type {told!r} for column {name!r}; expected numeric, string, date or "
        "categories as {a, b}."
    )


def split_cells(text: str) -> list[str]:
    """Return the cells of a line."""
    found, place = [], 0
    while True:
        token = TOKEN.match(text, place)
        if token is None:
            raise csv.Error(f"in {text[place : place + 20]!r}")
        quoted = token[1] if token[1] is not None else token[2]
        found.append(token[3] if quoted is None else unescape(quoted))
        if not token[4]:
            return found
        place = token.end()


def unescape(text: str) -> str:
    """Return a text without backslashes before characters."""
    return re.sub(r"\\(.)", r"\1", text)


def csv_line(cells: list[str]) -> str:
    """Write cells as a line of CSV."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def check_categories(frame: NDArray[Any], table: TextTable, kinds: Mapping[str, str]) -> None:
    """Raise if a column holds a category that its header does not tell."""
    for attribute in table.layout.attributes:
        if attribute.categories is None or kinds.get(attribute.name) != "category":
            continue
        values = frame[attribute.name].tolist()
        wrong = set(values) - {None, *attribute.categories}
        if wrong:
            row = next(row for row, value in enumerate(values) if value in wrong)
            raise TableFileError(
                f"Column {attribute.name!r} has {quote(values[row])} in {table.place(row)}, which "
                f"is not among its categories {', '.join(attribute.categories[:8])}; correct it, "
                "or add it to the header."
            )
