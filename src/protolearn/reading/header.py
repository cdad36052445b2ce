"""The names of the columns of a text file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._names import free_name
from .cell_values import kind_of_cell, quote
from .data_file import TableFileError

MOST_TOLD = 3
"""How many columns without a name are told one by one."""

YEARS = range(1500, 2200)

OFTEN = 0.5
"""Share of cells of a first row that recur below it if it is a row like others."""


@dataclass(frozen=True)
class Header:
    """What is known of the columns before the rows are read."""

    names: tuple[str, ...]
    there: bool  # whether the first record holds the names
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
    first, below = [cell.strip() for cell in rows[0]], rows[1:]
    width = Counter(map(len, below)).most_common(1)[0][0] if below else len(first)
    # A delimiter at the end of each row, but not of the header; or names of rows, but none of them.
    ends = [row[-1].strip() for row in below if len(row) == width]
    open_end = width > 1 and bool(ends) and not any(ends) and (len(first) < width or not first[-1])
    if len(first) == width + 1 and not first[-1]:
        first.pop()
    one_less = len(first) == width - 1 and not open_end
    notes, assumed, n_names = [], [], width - open_end
    if open_end:
        notes.append("each row ends with a delimiter; the empty column after it is left out")
        first = first[:n_names]
    first = ["", *first] if one_less else first
    if len(first) != n_names:
        raise TableFileError(
            f"{name!r} has {len(first)} cell{'s' * (len(first) > 1)} in its first row, "
            f"{', '.join(map(quote, first[:3]))}{', ...' * (len(first) > 3)}, and {n_names} in the "
            "rows below; expected a name for each column there: delete what stands before the "
            "names, or look for a delimiter that is missing or too much."
        )
    told: list[str] = layout.comment_cells
    if len(told) != n_names or any(kind_of_cell(part) != "text" for part in told):
        told = []  # the comment does not hold the names
    # Names of columns have no blank behind the mark of their comment.
    attached = layout.comment[:1] == "#" and not layout.comment.strip("#")[:1].isspace()
    there = one_less or is_header(first, below, bool(told) and attached)
    found = first if there else told or [f"x{j}" for j in range(n_names)]
    if names is not None:
        if len(names) != n_names:
            raise TableFileError(
                f"{name!r} has {n_names} column{'s' * (n_names > 1)}, and names has {len(names)}; "
                "expected a name for each column."
            )
        found = list(names)
        notes += ["the names in its header are replaced by those that are given"] * there
    elif not there and not told:
        last = f" to {found[-1]}" if len(found) > 1 else ""
        assumed.append(f"no header; the columns are called {found[0]}{last}")
    found = different_names(fill_names(found, notes), assumed)
    return Header(tuple(found), there, width, tuple(notes), tuple(assumed))


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
        notes.append(f"{len(without) - MOST_TOLD} more columns have no name")
    return found
