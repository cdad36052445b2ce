"""What several commands have in common: sentences, tables, progress bars, cells of CSV files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Table
from rich.text import Text

from .failure import escape_controls

NUMBER = r"[+-](\d+\.?\d*|\.\d+)(e[+-]?\d+)?\Z|[+-](inf|nan)\Z"
FORMULA = re.compile(rf"(?!{NUMBER})[=+\-@\t\r]", re.IGNORECASE | re.ASCII)
"""How a cell begins that a spreadsheet takes for a formula, unless it is a number."""


class Screen(Console):
    """Standard output or the error stream; it prints texts as they are, but for controls."""

    def __init__(self, stderr: bool = False):
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **style: Any) -> Text:
        """Return a text to print; cells and titles of tables come here too."""
        return super().render_str(escape_controls(text), **style)

    def on_broken_pipe(self) -> None:
        """Leave it to the command to end."""
        raise BrokenPipeError


def say(console: Console, text: str | Table, style: str | None = None) -> None:
    """Print words that may come from a user's file."""
    console.print(text, style=style, soft_wrap=isinstance(text, str))


def plain_table(*heads: str, right: slice = slice(0)) -> Table:
    """Return a table without lines; the columns of ``right`` hold numbers."""
    table = Table(box=None, pad_edge=False, title_justify="left", caption_justify="left")
    for head in heads:
        table.add_column(head, header_style="bold", overflow="fold")
    for column in table.columns[right]:
        column.justify = "right"
    return table


@contextmanager
def progress_bars(console: Console, *columns: ProgressColumn) -> Iterator[Progress]:
    """Show progress bars on a terminal; elsewhere they are only counted."""
    bars = Progress(*columns, console=console, transient=True)
    # A bar of an older rich ends with a line, even if it is disabled: there it is not started.
    with bars if console.is_terminal else nullcontext():
        yield bars


def open_text(path: Path) -> IO[str]:
    """Open a file of text to write; what UTF-8 cannot hold is written as an escape sequence."""
    return path.open("w", newline="", encoding="utf-8", errors="backslashreplace")


def spreadsheet_lines(
    lines: Iterable[Iterable[Any]], raw: bool, terminal: bool = False
) -> Iterator[list[Any]]:
    """Return lines of a CSV file; texts like formulas get an apostrophe unless ``raw``."""
    for line in lines:
        cells = [
            f"'{c}" if not raw and isinstance(c, str) and FORMULA.match(c) else c for c in line
        ]
        yield [escape_controls(c) if terminal and isinstance(c, str) else c for c in cells]
