"""The names of the columns of a text file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._names import free_name
from .cell_values import kind_of_cell, quote
from .data_file import TableFileError

MOST_TOLD = 3
"""How many columns without a name are told one by one."""

YEARS = range(1500, 2200)

MOST_FOOTER = 20
"""Rows at the end that may be no rows of the table."""

BRACKETS = re.compile(r"\(.*\)|\[.*\]|\{.*\}|<.*>")
NOTE, CLEAR_NOTE = re.compile(r"\w[ :]+\w|^[(\[*]"), re.compile(r"\w: *\w|^[(\[*]")
TOTAL = re.compile(
    r"(?i:((grand|sub|over)[ -]?)?total|totals?|sum|summe|gesamt(summe)?|insgesamt|somme|totale):?"
)

RULE = re.compile(r"[|+: ]*(?:-{3,}[|+: ]*)+")
"""A line that parts the header from the rows, in Markdown and in what databases print."""

OFTEN = 0.5
"""Share of cells of a first row that recur below it if it is a row like others."""


@dataclass(frozen=True)
class Header:
    """What is known of the columns before the rows are read."""

    names: tuple[str, ...]
    there: int  # number of records that hold the names, or units below them
    width: int  # cells of each row; one more than names if each row ends with a delimiter
    notes: tuple[str, ...] = ()  # what else was found
    assumptions: tuple[str, ...] = ()  # what may be otherwise


def find_header(
    name: str, rows: list[list[str]], layout: Any, names: Sequence[str] | None = None
) -> Header:
    """Return the names of columns, by the first records of a file, none of them empty.

    A comment before them, which the layout tells, may hold the names; ``names`` are those that the
    user gives.
    """
    ruled = len(rows) > 1 and bool(RULE.fullmatch("|".join(rows[1])))
    first, below = [cell.strip() for cell in rows[0]], rows[1 + ruled :]
    width = Counter(map(len, below)).most_common(1)[0][0] if below else len(first)
    # A delimiter at the end of each row, but not of the header; or names of rows, but none of them.
    ends = [row[-1].strip() for row in below if len(row) == width]
    open_end = width > 1 and bool(ends) and not any(ends) and (len(first) < width or not first[-1])
    if len(first) == width + 1 and not first[-1]:
        first.pop()
    one_less = len(first) == width - 1 and not open_end
    notes: list[str] = []
    assumed: list[str] = []
    n_names = width - open_end
    if open_end:
        notes.append("each row ends with a delimiter; the empty column after it is left out")
        first = first[:n_names]
    first = ["", *first] if one_less else first
    check_width(name, first, n_names)
    told = names_in_comment(layout, n_names)
    # Names of columns have no blank behind the mark of their comment.
    attached = layout.comment[:1] == "#" and not layout.comment.strip("#")[:1].isspace()
    there = int(one_less or ruled or is_header(first, below, bool(told) and attached))
    found = first if there else told or [f"x{j}" for j in range(n_names)]
    if there and (second := second_line(first, below)):
        there, found = 2, joined_names(first, second, assumed)
    if names is not None:
        if len(names) != n_names:
            raise TableFileError(
                f"{name!r} has {n_names} column{'s' * (n_names > 1)}, and names has {len(names)}; "
                "expected a name for each column."
            )
        found = list(names)
        notes += ["the names in its header are replaced by those that are given"] * bool(there)
    elif not there and not told:
        last = f" to {found[-1]}" if len(found) > 1 else ""
        assumed.append(f"no header; the columns are called {found[0]}{last}")
    found = different_names(fill_names(found, notes), assumed)
    return Header(tuple(found), there + ruled, width, tuple(notes), tuple(assumed))


def check_width(name: str, first: list[str], width: int) -> None:
    """Raise if there is no name for each column."""
    if len(first) != width:
        raise TableFileError(
            f"{name!r} has {len(first)} cell{'s' * (len(first) > 1)} in its first row, "
            f"{', '.join(map(quote, first[:3]))}{', ...' * (len(first) > 3)}, and {width} in the "
            "rows below; expected a name for each column there: delete what stands before the "
            "names, or look for a delimiter that is missing or too much."
        )


def names_in_comment(layout: Any, width: int) -> list[str]:
    """Return the names of the columns that a comment holds, if it does."""
    told: list[str] = layout.comment_cells
    return told if len(told) == width and {*map(kind_of_cell, told)} == {"text"} else []


def count_titles(rows: list[list[str]]) -> int:
    """Return how many first rows hold a title: a text in one cell, above rows of more cells."""
    filled = [[cell for cell in map(str.strip, row) if cell] for row in rows]
    first = next((k for k, cells in enumerate(filled) if len(cells) > 1), 0)
    is_title = all(kind_of_cell(row[0]) in ("text", "date") for row in rows[:first])
    names = sum(kind_of_cell(cell) == "text" for cell in filled[first]) if filled else 0
    is_title = is_title and (names > 1 or all(len(row) == 1 for row in rows[:first]))
    wide = sum(len(row) > 1 for row in rows[first:])
    return first if is_title and len(rows) > first + 1 and 2 * wide > len(rows) - first else 0


def count_footer(rows: Sequence[list[str]], width: int, seen: Mapping[str, int]) -> int:
    """Return how many last rows are no rows of the table, but totals or notes.

    ``seen`` counts cells of the first rows: a word that is there more often stands for no total.
    """
    number = 0
    for place, row in enumerate(reversed(rows if width > 1 else []), 1):
        cells = [cell for cell in map(str.strip, row) if cell]
        told = "".join(cells[:1])
        note = NOTE if len(row) == 1 else CLEAR_NOTE
        is_note = len(cells) == 1 and (len(row) == 1 or width > 2) and note.search(told)
        if is_note or (len(row) == width and TOTAL.fullmatch(told) and seen.get(told, 0) < 2):
            number = place
        elif cells:
            break
    return number if number < len(rows) else 0


def second_line(first: list[str], below: list[list[str]]) -> list[str]:
    """Return units, or more names, below the names; an empty list if there are none.

    They are texts in all columns of numbers or dates, in two at least or in brackets.
    """
    line, rest = [cell.strip() for cell in below[0]] if below else [], below[1:]
    if len(line) != len(first) or len(rest) < 3:
        return []
    told, in_groups = 0, any(more and not name for name, more in zip(first, line, strict=True))
    for j, cell in enumerate(line):
        column = [row[j].strip() for row in rest if j < len(row)]
        found = Counter(kind_of_cell(one, True) for one in column)
        present = found.total() - found["missing"]
        if cell and cell in column:
            return []
        is_bracketed = bool(BRACKETS.fullmatch(cell))
        if cell and 2 * found["text"] > present and not (is_bracketed or in_groups):
            return []  # a word above words
        if cell and present and 2 * found["text"] <= present:
            if kind_of_cell(cell, True) != "text":
                return []
            told += 1 + is_bracketed
    return line if told >= 2 else []


def joined_names(first: list[str], second: list[str], assumed: list[str]) -> list[str]:
    """Return the names in two lines, of which the second may hold units only."""
    if all(name or not more for name, more in zip(first, second, strict=True)):
        example = next(filter(None, second))
        assumed.append(f"the line below the header, with {example!r}, is taken for units")
        return first
    assumed.append("the first two lines are taken for a header")
    found, group = [], ""
    for name, more in zip(first, second, strict=True):
        group = name or group
        found.append(f"{group} {more}".strip() if more else name)
    return found


def different_names(names: Sequence[str], assumed: list[str]) -> list[str]:
    """Return names of which those that are there twice have a number behind them."""
    found: dict[str, str] = {}
    taken = set(names)
    for place, name in enumerate(names):
        other = free_name(name, taken) if name in found else name
        if other != name:
            taken.add(other)
            assumed.append(
                f"column {place + 1} has the name {name!r} again and is called {other!r}"
            )
        found[other] = name
    return list(found)


def is_header(first: list[str], below: list[list[str]], told: bool = False) -> bool:
    """Whether the first record holds names.

    It does if it has texts above columns of numbers or dates, and no more numbers above them than
    texts unless these could be names; if its numbers count columns or years; above texts, if it is
    not a row that recurs in part, and names are not told elsewhere.
    """
    if not below:
        return any(kind_of_cell(cell) == "text" for cell in first)
    names, values, again, texts = 0, [], 0, 0
    counted: list[Sequence[str]] = []
    for j, cell in enumerate(first):
        column = [row[j] for row in below if j < len(row)]
        found, kind = Counter(kind_of_cell(c, True) for c in column), kind_of_cell(cell, True)
        present = found.total() - found["missing"]
        numbers = present - found["date"] - found["text"]
        if kind == "missing" or not present:
            continue
        if 2 * max(numbers, found["date"]) >= present and kind == "text":
            names += 1
        elif kind != "text":
            values.append(cell)
            counted.append(column)
        else:
            texts += 1
            again += cell in map(str.strip, column)
    if names and values:
        return names >= len(values) or all(map(str.isdigit, values))
    if values and not again and is_counting(values, counted):
        return True
    return bool(names) or (not values and again <= OFTEN * texts and not (told and texts))


def is_counting(values: list[str], columns: list[Sequence[str]]) -> bool:
    """Whether numbers of a first record count columns, from 0 or 1 on, or years.

    They do not if the numbers below could be such too: integers, or years.
    """
    if len(values) < 2 or not all(cell.isascii() and cell.isdigit() for cell in values):
        return False
    start, last = int(values[0]), int(values[-1])
    if [int(cell) for cell in values] != list(range(start, start + len(values))):
        return False
    cells = [[cell.strip() for cell in column] for column in columns]
    if start in (0, 1):
        whole = [
            all(kind_of_cell(c) != "number" or c.strip("+-").isdigit() for c in one)
            for one in cells
        ]
        return not any(whole)
    below = (all(c.isdecimal() and int(c) in YEARS for c in column) for column in cells)
    return last in YEARS and start in YEARS and not any(below)


def fill_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names, also for columns without one, which the notes then tell."""
    found, taken = list(names), set(names)
    without = [j for j, one in enumerate(names) if not one]
    for j in without:
        found[j] = free_name("index" if j == 0 else f"x{j}", taken)
        taken.add(found[j])
    notes += [f"column {j + 1} has no name and is called {found[j]!r}" for j in without[:MOST_TOLD]]
    if without[MOST_TOLD:]:
        more = len(without) - MOST_TOLD
        notes.append(f"{more} more column{'s have' if more > 1 else ' has'} no name")
    return found
