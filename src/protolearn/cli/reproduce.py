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

from .experiments import Experiment, Experiments, ResultTable, load_experiments
from .experiments import Progress as Told
from .failure import FAILED, Failure
from .results import check_folder
from .summary import plain_table, say

ALL = "all"
"""The name by which all experiments are called."""


def print_names() -> None:
    """List the experiments."""
    shown = plain_table("name", "source", "what it shows", "takes")
    for one in load_experiments().experiments():
        shown.add_row(one.name, one.source, one.title, one.takes)
    Console().print(shown, markup=False, highlight=False)


def run(name: str, quick: bool, out: Path | None, seed: int, jobs: int) -> None:
    """Run one experiment, or all, each into a folder of its own."""
    package = load_experiments()
    suffix = "-quick" if quick else ""
    if name == ALL:
        run_all(package, quick, out or Path(f"protolearn-reproduced{suffix}"), seed, jobs)
        return
    experiment = package.find(name)  # before the folder: a wrong name leaves nothing behind
    run_one(package, experiment, quick, out or Path(f"protolearn-{name}{suffix}"), seed, jobs)


def run_all(package: Experiments, quick: bool, folder: Path, seed: int, jobs: int) -> None:
    """Run one after the other; what fails is told, and the others run all the same."""
    failed = []
    for one in package.experiments():
        try:
            run_one(package, one, quick, folder / one.name, seed, jobs)
        except (ValueError, OSError) as error:
            say(Console(stderr=True), f"{one.name}: {error}")
            failed.append(one.name)
    if failed:
        raise Failure(f"these failed: {', '.join(failed)}. Run it again to go on.", FAILED)


def run_one(
    package: Experiments, experiment: Experiment, quick: bool, folder: Path, seed: int, jobs: int
) -> None:
    """Run an experiment, print ours beside theirs, write the files."""
    console, notes = Console(), Console(stderr=True)
    check_folder(folder)
    say(console, f"{experiment.source}: {experiment.title}. Seed {seed}.", "bold")
    if quick:
        say(console, package.REDUCED)
    with bar(notes) as progress:
        found = package.run(
            experiment.name, folder, quick=quick, seed=seed, jobs=jobs, progress=progress
        )
    for table in found.tables:
        console.print(shown(table), markup=False, highlight=False)
        for remark in table.remarks:
            say(console, remark)
    for remark in found.remarks:
        say(console, f"- {remark}")
    summary = folder / package.SUMMARY
    say(console, f"Tables and figures are in {folder}; open {summary}.", "bold")


def shown(table: ResultTable) -> Shown:
    """Return a table for the terminal."""
    drawn = plain_table(*table.head)
    drawn.title = table.title
    for column in drawn.columns[1:]:
        column.justify = "right"
    for row in table.rows:
        drawn.add_row(*row)
    return drawn


@contextmanager
def bar(console: Console) -> Iterator[Told]:
    """Return what is to be told how far the work is; it moves the bar."""
    if not console.is_terminal:  # a bar of an older rich ends with a line, even if it is hidden
        yield lambda what, done, total: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield tell
