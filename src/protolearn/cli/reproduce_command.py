"""``protolearn reproduce``: a published experiment, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .command_output import Screen, plain_table, progress_bars, say
from .failure import FAILED, Failure
from .output_checks import check_folder, check_ours

GROUP = "protolearn.experiments"
"""The entry point group in which the distribution ``protolearn-papers`` names its package."""

HOW_TO_INSTALL = (
    "the published experiments are not installed: run pip install protolearn-papers or, in a clone "
    "of the repository, pip install ./papers."
)

TaskProgress = Callable[[str, int, int], object]
"""Receives the current step, how many of its tasks are finished, and how many there are."""


def print_experiments() -> None:
    """Print the list of the experiments."""
    shown = plain_table("name", "source", "content", "takes")
    for one in load_experiments().experiments():
        shown.add_row(one.name, one.source, one.title, one.takes)
    say(Screen(), shown)


def run_reproduce(
    name: str, quick: bool, out: Path | None, seed: int, jobs: int, force: bool = False
) -> None:
    """Run one experiment, or all, each into a folder of its own."""
    package = load_experiments()
    suffix = "-quick" if quick else ""
    if name == "all":
        folder = out or Path(f"protolearn-reproduced{suffix}")
        for one in package.experiments():
            check_experiment_folder(folder / one.name, force)
        run_all(package, quick, folder, seed, jobs)
        return
    experiment = package.find(name)  # before the folder: a wrong name leaves nothing behind
    folder = out or Path(f"protolearn-{name}{suffix}")
    check_experiment_folder(folder, force)
    run_one(package, experiment, quick, folder, seed, jobs)


def check_experiment_folder(folder: Path, force: bool) -> None:
    """Raise if a folder holds files, and none that an experiment goes on with."""
    there = sorted(path.name for path in folder.glob("[!.]*"))
    check_ours(folder, there, force or (folder / "finished.jsonl").exists())


def run_all(package: Experiments, quick: bool, folder: Path, seed: int, jobs: int) -> None:
    """Run one after the other; what fails is told, and the others run all the same."""
    failed = []
    for one in package.experiments():
        try:
            run_one(package, one, quick, folder / one.name, seed, jobs)
        except (ValueError, OSError) as error:
            say(Screen(stderr=True), f"{one.name}: {error}")
            failed.append(one.name)
    if failed:
        raise Failure(f"failed: {', '.join(failed)}. Run the command again to continue.", FAILED)


def run_one(
    package: Experiments, experiment: Any, quick: bool, folder: Path, seed: int, jobs: int
) -> None:
    """Run an experiment, print ours beside theirs, write the files."""
    console, notes = Screen(), Screen(stderr=True)
    check_folder(folder)
    say(console, f"{experiment.source}: {experiment.title}. Seed {seed}.", "bold")
    if quick:
        say(console, package.REDUCED)
    with task_bars(notes) as progress:
        found = package.run(
            experiment.name, folder, quick=quick, seed=seed, jobs=jobs, progress=progress
        )
    for table in found.tables:
        shown = plain_table(*table.head, right=slice(1, None))
        shown.title = table.title
        for row in table.rows:
            shown.add_row(*row)
        say(console, shown)
        for remark in table.remarks:
            say(console, remark)
    for remark in found.remarks:
        say(console, f"- {remark}")
    summary = folder / package.SUMMARY
    say(console, f"Tables and figures are in {folder}; open {summary}.", "bold")


@contextmanager
def task_bars(console: Console) -> Iterator[TaskProgress]:
    """Show how far each step is; the context is the function that moves the bars."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with progress_bars(console, *columns) as progress:
        tasks = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield tell


class Experiments(Protocol):
    """What the command needs of the package with the experiments."""

    REDUCED: str
    SUMMARY: str

    def experiments(self) -> Sequence[Any]:
        """Return all experiments."""

    def find(self, name: str) -> Any:
        """Return an experiment by its name."""

    def run(
        self,
        name: str,
        out: str | Path | None = None,
        *,
        quick: bool = False,
        seed: int = 0,
        jobs: int = 1,
        progress: TaskProgress | None = None,
    ) -> Any:
        """Run an experiment and return its results."""


def load_experiments() -> Experiments:
    """Return the package with the experiments, which an installed distribution has to name."""
    for found in entry_points(group=GROUP):
        package: Experiments = found.load()
        return package
    raise Failure(HOW_TO_INSTALL, FAILED)
