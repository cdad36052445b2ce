"""What several commands have in common: sentences, tables, progress bars, a folder of results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Table

from .failure import Failure


def say(console: Console, text: str | Table, style: str | None = None) -> None:
    """Print words that may come from a user's file, as they are."""
    wrap = isinstance(text, str)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=wrap)


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


def check_folder(folder: Path) -> None:
    """Raise before any work if the results cannot be written."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"--out {str(folder)!r} is a file; expected a folder for the results.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".unfinished-trial").touch()
        (folder / ".unfinished-trial").unlink()
    except OSError as error:
        raise Failure(f"--out {str(folder)!r} cannot be written: {error.strerror}.") from error
