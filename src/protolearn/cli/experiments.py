"""The published experiments, which another distribution brings: how the command finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from .failure import FAILED, Failure

GROUP = "protolearn.experiments"
"""The entry point group in which the distribution ``protolearn-papers`` names its package."""

HOW_TO_INSTALL = (
    "the published experiments are not installed: run pip install protolearn-papers or, in a clone "
    "of the repository, pip install ./papers."
)

Progress = Callable[[str, int, int], object]
"""Receives the current step, how many of its tasks are finished, and how many there are."""


class Experiment(Protocol):
    """A published table or figure that can be run again."""

    @property
    def name(self) -> str:
        """The name to call it by."""

    @property
    def source(self) -> str:
        """Who published it, and where."""

    @property
    def title(self) -> str:
        """What it shows, in a line."""

    @property
    def takes(self) -> str:
        """How long it takes, in words."""


class ResultTable(Protocol):
    """A table of results, as text."""

    @property
    def title(self) -> str:
        """What the table shows."""

    @property
    def head(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """The cells, row by row."""

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences to print below the table."""


class Findings(Protocol):
    """The results of an experiment."""

    @property
    def tables(self) -> Sequence[ResultTable]:
        """The tables."""

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences about the whole experiment."""


class Experiments(Protocol):
    """What the command needs of the package with the experiments."""

    REDUCED: str
    SUMMARY: str

    def experiments(self) -> Sequence[Experiment]:
        """Return all experiments."""

    def find(self, name: str) -> Experiment:
        """Return an experiment by its name."""

    def run(
        self,
        name: str,
        out: str | Path | None = None,
        *,
        quick: bool = False,
        seed: int = 0,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> Findings:
        """Run an experiment and return its results."""


def load_experiments() -> Experiments:
    """Return the package with the experiments.

    Raises
    ------
    Failure
        If no installed distribution has an entry point for it.
    """
    for found in entry_points(group=GROUP):
        package: Experiments = found.load()
        return package
    raise Failure(HOW_TO_INSTALL, FAILED)
