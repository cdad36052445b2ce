"""``protolearn reproduce``: a published experiment, run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Shown

from .. import reproduce
from ..reproduce.work import Progress as Told
from ..reproduce.writing import SUMMARY, can_draw
from .results import check_folder
from .summary import plain_table, say


def print_names() -> None:
    """List the experiments."""
    shown = plain_table("name", "source", "what it shows", "takes")
    for one in reproduce.experiments():
        shown.add_row(one.name, one.source, one.title, one.takes)
    Console().print(shown, markup=False, highlight=False)


def run(name: str, quick: bool, out: Path | None, seed: int, jobs: int) -> None:
    """Run an experiment, print ours beside theirs, write the files."""
    console, notes = Console(), Console(stderr=True)
    experiment = reproduce.find(name)  # before the folder: a wrong name leaves nothing behind
    folder = out or Path(f"protolearn-{name}{'-quick' if quick else ''}")
    check_folder(folder)
    say(console, f"{experiment.source}: {experiment.title}. Seed {seed}.", "bold")
    with bar(notes) as progress:
        found = reproduce.run(name, folder, quick=quick, seed=seed, jobs=jobs, progress=progress)
    for table in found.tables:
        console.print(shown(table), markup=False, highlight=False)
        for remark in table.remarks:
            say(console, remark)
    for remark in found.remarks:
        say(console, f"- {remark}")
    if found.figures and not can_draw():
        say(notes, "Figures need matplotlib: pip install 'protolearn[report]'.")
    say(console, f"Tables and figures are in {folder}; open {folder / SUMMARY}.", "bold")


def shown(table: reproduce.Table) -> Shown:
    """Give a table for the terminal."""
    drawn = plain_table(*table.head)
    drawn.title = table.title
    for column in drawn.columns[1:]:
        column.justify = "right"
    for row in table.rows:
        drawn.add_row(*row)
    return drawn


@contextmanager
def bar(console: Console) -> Iterator[Told]:
    """Give what is to be told how far the work is; it moves the bar."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        tasks = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield tell
