"""A bar for long work, on the terminal's error stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .learning import Report


@contextmanager
def shown(console: Console) -> Iterator[Report]:
    """Return what is to be told how far the work is; it moves the bar."""
    if not console.is_terminal:  # a bar of an older rich ends with a line, even if it is hidden
        yield lambda part, share, best: None
        return
    columns = (
        TextColumn("{task.fields[part]}", markup=False),
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0, part="")

        def report(part: str, share: float, best: str) -> None:
            progress.update(task, completed=share, description=best, part=part)

        yield report
