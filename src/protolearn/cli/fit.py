"""``protolearn fit``: from a table to a model, and an honest estimate of how good it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from .clock import Clock
from .cluster import check_engine, running_on
from .engine import Engine
from .failure import Failure
from .judgement import judged
from .learning import Procedure
from .learning_table import LearningTable
from .models import candidates
from .opening import MOST_ROWS, open_table
from .outcome import Outcome
from .progress import shown
from .results import check_folder, write_results
from .summary import print_outcome, print_table
from .unfinished import Unfinished

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class FitSettings:
    """What the user wants of ``protolearn fit``.

    Parameters
    ----------
    data : str
        A file, or the name of a built-in set.
    target : str or None
        The column to predict.
    model : str
        ``"auto"``, or names of families and models, separated by commas.
    out : Path or None
        Folder of the results; None: one beside, named after the data.
    seconds : float or None
        Time for the whole command; None: 60 unless the fits are limited.
    fits : int or None
        Fits of each search, for results that do not depend on the machine.
    folds : int
        Outer folds.
    rows : int
        Rows to learn from at most; 0: all.
    seed : int
        Of everything random.
    jobs : int or None
        Fits at a time; None: one, or all that a cluster has workers for.
    drop, keep, categorical : tuple of str
        Columns to leave out, to use although they look useless, and to take as categories.
    image : tuple of int or None
        Height and width, if the columns are the points of a picture.
    reject_cost : float
        What a second look at a prediction costs, when an error costs 1.
    engine : Engine
        What runs the fits.
    scheduler : str or None
        Address of a Dask scheduler; None: a cluster of this machine, if Dask runs them.
    """

    data: str
    target: str | None = None
    model: str = "auto"
    out: Path | None = None
    seconds: float | None = None
    fits: int | None = None
    folds: int = 5
    rows: int = MOST_ROWS
    seed: int = 0
    jobs: int | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    image: tuple[int, int] | None = None
    reject_cost: float = 0.2
    engine: Engine = Engine.local
    scheduler: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        name = Path(self.data).absolute().name.removesuffix(".gz")
        return self.out if self.out is not None else Path(f"protolearn-{Path(name).stem}")

    @property
    def time_limit(self) -> float | None:
        """The seconds for the whole command."""
        return DEFAULT_SECONDS if self.seconds is None and self.fits is None else self.seconds


def run(settings: FitSettings, spent: float = 0.0) -> Outcome:
    """Read, choose, judge, write and tell; ``spent`` seconds are over already."""
    clock = Clock(settings.time_limit, spent)
    families = candidates(settings.model)  # before the data: a wrong name is told at once
    where = settings.engine, settings.scheduler, settings.jobs
    check_engine(*where)
    with running_on(*where) as n_jobs:
        return learned(settings, clock, families, n_jobs)


def learned(settings: FitSettings, clock: Clock, families: Any, n_jobs: int) -> Outcome:
    """Do what was asked for, with so many fits at a time."""
    console, aside = Console(), Console(stderr=True)
    with aside.status("reading"):
        opened = open_table(
            settings.data,
            settings.target,
            drop=settings.drop,
            keep=settings.keep,
            categorical=settings.categorical,
            rows=settings.rows,
            seed=settings.seed,
        )
    table = opened.table
    print_table(console, opened.read, table)
    check_image(settings.image, table.X.dtype)
    check_folder(settings.folder)
    unfinished = Unfinished(settings.folder, known_by(settings, table, families))
    if unfinished.resumed:
        aside.print("Going on where an interrupted run stopped.")
    with shown(aside) as report:
        procedure = Procedure(
            table=table,
            families=families,
            max_fits=settings.fits,
            clock=clock,
            n_folds=settings.folds,
            seed=settings.seed,
            n_jobs=n_jobs,
            unfinished=unfinished,
            report=report,
        )
        model = procedure.model()
        folds = list(procedure.folds())
    judgement = judged(folds, len(procedure.splits), settings.reject_cost, settings.seed)
    outcome = Outcome(settings, opened, model, judgement, clock.elapsed, n_jobs)
    write_results(outcome)
    unfinished.remove()
    print_outcome(console, outcome)
    return outcome


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Read the height and the width of a picture."""
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d*)[x×]([1-9]\d*)", text.strip())  # noqa: RUF001
    if found is None:
        raise Failure(f"--image {text!r} is no shape; expected height and width such as 28x28.")
    return int(found[1]), int(found[2])


def check_image(image: tuple[int, int] | None, columns: np.dtype[Any]) -> None:
    """Raise before any work if the columns are not the points of a picture."""
    if image is None:
        return
    names = columns.names or ()
    if image[0] * image[1] != len(names):
        raise Failure(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} points, and the table has "
            f"{len(names)} columns to learn from; they have to be as many."
        )
    words = [name for name in names if columns[name].kind != "f"]
    if words:
        raise Failure(f"--image needs numbers, and column {words[0]!r} holds none.")


def known_by(settings: FitSettings, table: LearningTable, families: object) -> dict[str, object]:
    """Return all that the results depend on, but for the time."""
    return {
        "X": table.X,
        "y": table.y,
        "target": table.target,
        "families": families,
        "fits": settings.fits,
        "folds": settings.folds,
        "seed": settings.seed,
    }
