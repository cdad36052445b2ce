"""The header of an ARFF file, and what is special about its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .data_file import DataFile, TableFileError
from .header import Header, different_names
from .text_table import Layout, RowError, TextTable

QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
TOKEN = re.compile(rf"""\s*(?:{QUOTED}|([^,]*?))\s*(,|$)""")
ATTRIBUTE = re.compile(rf"""@attribute\s+(?:{QUOTED}|([^\s{{]+))\s*(.*)""", re.IGNORECASE)
ENTRIES = re.compile(r"""((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])+)(?:,|$)""")
"""What lies between commas that are not in quotation marks."""

ENTRY = re.compile(r"\s*(\d+)\s+(.*)", re.DOTALL)
SPECIAL = re.compile(rb"""['"{%]""")
KINDS = dict.fromkeys(("numeric", "real", "integer"), "number")
KINDS |= {"string": "category", "date": "date"}


@dataclass(frozen=True)
class ArffLayout(Layout):
    """How the lines of the data become rows of cells."""

    def describe(self, header: Header) -> str:
        """Return what kind of file it is."""
        return "ARFF"

    def is_clean(self, text: bytes) -> bool:
        """Whether a text has neither quotation marks, sparse rows nor comments."""
        return SPECIAL.search(text) is None

    def records(self, lines: Iterable[str], strict: bool = True) -> Any:
        """Return the cells of each row."""
        return csv.reader(map(self.plain_line, lines), strict=strict)

    def plain_line(self, line: str) -> str:
        """Return a line as one of CSV; an empty one for a comment."""
        line = line.strip()
        if line.startswith("%"):
            return ""
        if not line.startswith("{"):
            return csv_line(split_cells(line)) if "'" in line or '"' in line else line
        # Where a sparse row, as {1 x, 3 y}, tells nothing, it holds zero, or the first category.
        cells = [self.categories.get(name, ("0",))[0] for name in self.kinds]
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
    found, skip = [], 0
    with file.text(encoding) as stream:
        for number, line in enumerate(stream, 1):
            word = line.strip().lower()
            if word.startswith("@attribute"):
                found.append(parse_attribute(f"{file.name!r} (line {number})", line.strip()))
            if word.startswith("@data"):
                skip = number
                break
    if not skip:
        raise TableFileError(
            f"{file.name!r} is an ARFF file without @data; expected rows after it."
        )
    if not found:
        raise TableFileError(f"{file.name!r} has no @attribute; expected one for each column.")
    assumed: list[str] = []
    names = different_names([name for name, _, _ in found], assumed)
    kinds = {name: kind for name, (_, kind, _) in zip(names, found, strict=True)}
    categories = {name: told for name, (_, _, told) in zip(names, found, strict=True) if told}
    layout = ArffLayout(skip=skip, missing=frozenset(["?", ""]), kinds=kinds, categories=categories)
    header = Header(tuple(names), 0, len(names), (), tuple(assumed))
    return TextTable(file, encoding, layout, header, skip)


def parse_attribute(where: str, line: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the name of a column, its kind, and its categories if they are told."""
    found = ATTRIBUTE.fullmatch(line)
    if found is None:
        raise TableFileError(f"{where} has {line!r}; expected @attribute, a name and a type.")
    name, told = unescape(found[1] or found[2] or found[3]), found[4].strip()
    if told.startswith("{") and "}" in told:
        return name, "category", tuple(split_cells(told[1 : told.rindex("}")]))
    kind = KINDS.get(told.split()[0].lower() if told else "")
    if kind:
        return name, kind, ()
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
