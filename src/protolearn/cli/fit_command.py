"""``protolearn fit``: from a table to a model, and an honest estimate of how good it is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from .._names import count, number_repeats
from ..analysis import column_effects, is_linear_rule
from ..reading import ReadTable
from ..report import Certified
from ..store import text
from ..tables import (
    CategoryColumn,
    Column,
    TableEncoder,
    TableSteps,
    labelled_prototypes,
    prototype_text,
)
from .command_output import Screen, plain_table, progress_bars, say
from .engines import check_engine, running_on
from .failure import Failure
from .fit_files import FILES, MODEL, REPORT, write_results
from .fit_outcome import FEW_ROWS, SMALL, Outcome, certify_answers, evaluate_folds
from .fit_procedure import Clock, FitSettings, Procedure, ReportProgress, aim_of, outer_folds
from .fit_warnings import ResultWarning
from .learning_table import LearningTable
from .model_names import candidates
from .output_checks import check_folder, check_results
from .training_rows import open_table
from .unfinished import Unfinished

MOST_COLUMNS = 20
MOST_CLASSES = 10
MOST_PROTOTYPES = 6
MOST_CATEGORIES = 4
MOST_SUBGROUPS = 20
"""How many of each are printed."""

ROUNDING = 1e-9
"""Part of the largest effect that is no more than rounding."""


def run_fit(settings: FitSettings, spent: float = 0.0) -> Outcome:
    """Run the command; ``spent`` seconds of its time are over already."""
    clock = Clock(settings.seconds, spent)
    families = candidates(settings.model)  # before the data: a wrong name is told at once
    if settings.tolerance is not None and families == "all":
        families = ["all", "RobustLVQ"]
    where = settings.engine, settings.scheduler, settings.jobs
    check_engine(*where)
    check_results(settings.folder, FILES, settings.data, settings.force)
    with running_on(*where) as n_jobs:
        return learn_and_evaluate(settings, clock, families, n_jobs)


def learn_and_evaluate(settings: FitSettings, clock: Clock, families: Any, n_jobs: int) -> Outcome:
    """Read the table, fit and evaluate a model, write the files and print a summary."""
    console, aside = Screen(), Screen(stderr=True)
    with aside.status("reading"):
        opened = open_table(
            settings.data,
            settings.target,
            drop=settings.drop,
            keep=settings.keep,
            categorical=settings.categorical,
            rows=settings.rows,
            seed=settings.seed,
            form=settings.form,
            reading=settings.reading,
        )
    table = opened.table
    aim_of(settings, table.y)  # a wrong label is told at once
    print_table(console, opened.read, table)
    check_tolerances(settings.tolerance, table)
    check_image(settings.image, table.X.dtype)
    check_folder(settings.folder)
    with Unfinished(settings.folder, fit_key(settings, table, families)) as unfinished:
        if unfinished.resumed:
            aside.print("Continuing an interrupted run.")
        with progress_bar(aside) as report:
            procedure = Procedure(settings, table, families, clock, n_jobs, unfinished, report)
            model = procedure.model()
    folds, n_planned = outer_folds(model, table), len(model[-1].held_out_models_)
    aim = aim_of(settings, table.y)
    performance = evaluate_folds(folds, n_planned, settings.reject_cost, table, aim)
    model[-1].forget_held_out()
    certified = certify_answers(settings, model, table)
    seconds = clock.elapsed_seconds
    outcome = Outcome(settings, opened, model, performance, seconds, n_jobs, certified)
    write_results(outcome)
    unfinished.remove()
    print_outcome(console, outcome)
    return outcome


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Return the height and the width of a picture, read from an option."""
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d*)[x×]([1-9]\d*)", text.strip())  # noqa: RUF001
    if found is None:
        raise Failure(f"--image {text!r} is not a shape; expected height and width such as 28x28.")
    return int(found[1]), int(found[2])


def tolerances(robust: float | None, by_column: Sequence[str]) -> float | dict[str, float] | None:
    """Return by how much numbers may be off: standard deviations, or units by column."""
    if not by_column:
        if robust is not None and not 0.0 < robust < np.inf:
            raise Failure(f"--robust {robust:g} must be a positive number of standard deviations.")
        return robust
    if robust is not None:
        raise Failure("--robust and --tolerance exclude each other; use one of them.")
    found, name = {}, ""
    for piece in ",".join(by_column).split(","):
        name, equals, number = (name + piece).rpartition("=")
        if not equals:  # a name with a comma in it
            name = f"{number},"
            continue
        try:
            found[name.strip()] = float(number)
        except ValueError:
            found[name.strip()] = np.nan
        if not 0.0 < found[name.strip()] < np.inf:
            raise Failure(
                f"--tolerance {name.strip()}={number} must be COLUMN=NUMBER with a positive "
                "number, such as age=2,bp=5."
            )
        name = ""
    if name:
        raise Failure(f"--tolerance {name[:-1]!r} has no number; write COLUMN=NUMBER.")
    return found


def check_tolerances(tolerance: float | dict[str, float] | None, table: LearningTable) -> None:
    """Raise before any work if a tolerance is about a column without numbers."""
    columns = {str(c.name): c for c in TableEncoder().fit(table.X).columns_}
    for name in tolerance if isinstance(tolerance, dict) else ():
        if name not in columns:
            near = difflib.get_close_matches(name, columns, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Failure(f"--tolerance names {name!r}, which is not a column to learn from.{hint}")
        if isinstance(columns[name], CategoryColumn):
            raise Failure(f"--tolerance names {name!r}, which holds categories, not numbers.")


def check_image(image: tuple[int, int] | None, columns: np.dtype[Any]) -> None:
    """Raise before any work if the columns are not the points of a picture."""
    if image is None:
        return
    names = columns.names or ()
    if image[0] * image[1] != len(names):
        raise Failure(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} points, and the table has "
            f"{len(names)} columns to learn from; the numbers must be equal."
        )
    words = [name for name in names if columns[name].kind != "f"]
    if words:
        raise Failure(f"--image needs numbers, but column {words[0]!r} has none.")


def fit_key(settings: FitSettings, table: LearningTable, families: object) -> dict[str, object]:
    """Return all that the results depend on, but for the time."""
    return {
        "X": table.X,
        "y": table.y,
        "target": table.target,
        "families": families,
        "fits": settings.fits,
        "prefer": str(settings.prefer),
        "folds": settings.folds,
        "groups": table.groups,
        "times": table.times,
        "aim": text(aim_of(settings, table.y).scoring),
        "seed": settings.seed,
    }


@contextmanager
def progress_bar(console: Console) -> Iterator[ReportProgress]:
    """Show how far the work is; the context is the function that moves the bar."""
    columns = (
        TextColumn("comparing models", markup=False),
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with progress_bars(console, *columns) as bars:
        task = bars.add_task("", total=1.0)
        yield lambda share, best: bars.update(task, completed=share, description=best)


def print_table(console: Console, read: ReadTable, table: LearningTable) -> None:
    """Print what was understood of a file."""
    say(console, read.origin, "bold")
    for note in (*read.notes, *table.notes):
        say(console, f"  {note}")
    say(console, f"target {table.target!r}: {classes_text(table.y)}")
    columns = TableEncoder().fit(table.X).columns_
    shown = plain_table("column", "what it holds", "missing")
    for column in columns[:MOST_COLUMNS]:
        missing = f"{column.n_missing:,}" if column.n_missing else ""
        shown.add_row(str(column.name), column_text(column), missing)
    if len(columns) > MOST_COLUMNS:
        shown.caption = f"and {len(columns) - MOST_COLUMNS} columns more"
    say(console, shown)


def classes_text(y: Any) -> str:
    """Return the classes with their numbers of rows."""
    labels, counts = np.unique(y, return_counts=True)
    parts = [f"{one} ({n:,})" for one, n in zip(labels, counts, strict=True)]
    more = f" and {len(parts) - MOST_CLASSES} more" if len(parts) > MOST_CLASSES else ""
    return f"{len(parts)} classes: {', '.join(parts[:MOST_CLASSES])}{more}"


def column_text(column: Column) -> str:
    """Return what a column holds."""
    if isinstance(column, CategoryColumn):
        texts = [column.text(code) for code in np.argsort(column.counts)[::-1]]
        more = ", ..." if len(texts) > MOST_CATEGORIES else ""
        return f"{len(texts)} categories: {', '.join(texts[:MOST_CATEGORIES])}{more}"
    if not column.is_ordered:
        return str(column).partition(": ")[2]
    kind = "dates" if column.kind == "date" else "numbers"
    return f"{kind} from {column.text(column.low)} to {column.text(column.high)}"


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print what was learned, how good it is, and where it is written."""
    console.print()
    print_warnings(console, outcome.warnings)
    for sentence in outcome.sentences:
        say(console, sentence)
    measures = plain_table("measure", "value", "95 % interval")
    for name, one in outcome.performance.measures.items():
        ends = one.reason if one.reason else f"{one.low:.3f} to {one.high:.3f}"
        measures.add_row(name, "-" if np.isnan(one.value) else f"{one.value:.3f}", ends)
    say(console, measures)
    say(console, class_measures(outcome))
    if outcome.certified is not None:
        say(console, outcome.certified.sentence)
        if outcome.certified.found is not None:
            say(console, certified_shares(outcome.certified))
    if outcome.performance.subgroups:
        say(console, subgroup_measures(outcome))
    warned = " ".join(one.text for one in outcome.warnings)
    for note in outcome.performance.evaluation.notes:
        if note not in warned:
            say(console, note)
    print_prototypes(console, outcome.model)
    folder = outcome.settings.folder
    say(console, f"Next: protolearn predict {folder / MODEL} NEW_ROWS.csv -o answers.csv")
    say(console, f"      protolearn explain {folder / MODEL} NEW_ROWS.csv --row 1")
    say(console, f"Open {folder / REPORT} to see everything.", "bold")


def print_warnings(console: Console, warnings: list[ResultWarning]) -> None:
    """Print reasons to doubt the result, the most important first."""
    for one in warnings:
        say(console, f"Warning: {one.text}", "bold")


def class_measures(outcome: Outcome) -> Table:
    """Return precision, recall, average precision and lift of each class."""
    found = outcome.performance.evaluation
    shown = plain_table("class", "precision", "recall", "average precision", "lift")
    for label in list(found.recalls)[:MOST_CLASSES]:
        cells = [
            one.reason or f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"
            for one in (found.precisions[label], found.recalls[label])
        ]
        average, lift = found.average_precisions[label].value, found.lifts[label]
        numbers = ["-" if np.isnan(one) else f"{one:.3g}" for one in (average, lift)]
        shown.add_row(str(label), *cells, *numbers)
    if len(found.recalls) > MOST_CLASSES:
        shown.caption = f"and {len(found.recalls) - MOST_CLASSES} classes more"
    return shown


def certified_shares(certified: Certified) -> Table:
    """Return the share of rows of each class whose answers are right and cannot change."""
    shown = plain_table("class", "certified")
    for label, share in list(certified.shares.items())[:MOST_CLASSES]:
        shown.add_row(label, share)
    return shown


def subgroup_measures(outcome: Outcome) -> Table:
    """Return accuracy and balanced accuracy by subgroup."""
    shown = plain_table(str(outcome.settings.by), "rows", "accuracy", "balanced accuracy", "")
    found = outcome.performance.subgroups
    for name, one in islice(found.items(), MOST_SUBGROUPS):
        cells = [
            f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})"
            for e in (one.accuracy, one.balanced_accuracy)
        ]
        shown.add_row(name, f"{one.n_samples:,}", *cells, SMALL * (one.n_samples < FEW_ROWS))
    if len(found) > MOST_SUBGROUPS:
        shown.caption = f"and {len(found) - MOST_SUBGROUPS} smaller subgroups"
    return shown


def print_prototypes(console: Console, model: Any) -> None:
    """Print the first prototypes in the user's units, or the effects of a linear model."""
    steps = TableSteps.of(model)
    if is_linear_rule(steps.model):
        print_effects(console, model)
        return
    try:
        prototypes, labels = labelled_prototypes(steps.model)
    except TypeError:
        return
    names = number_repeats([str(label) for label in labels.tolist()])
    shown = Table(title="Prototypes, in the units of the table", title_justify="left")
    shown.add_column("column", overflow="fold")
    for name in names[:MOST_PROTOTYPES]:
        shown.add_column(name, justify="right")
    parts = steps.encoder.split_columns(steps.in_units(prototypes))
    for column, rows in parts[:MOST_COLUMNS]:
        cells = [prototype_text(column, row[None]) for row in rows[:MOST_PROTOTYPES]]
        shown.add_row(str(column.name), *cells)
    counts = (names, MOST_PROTOTYPES, "prototypes"), (parts, MOST_COLUMNS, "columns")
    more = [f"{len(all_) - most} {what} more" for all_, most, what in counts if len(all_) > most]
    if more:
        shown.caption = f"and {' and '.join(more)}"
    say(console, shown)


def print_effects(console: Console, model: Any) -> None:
    """Print what a step in each column does to the score of a linear model, the largest first."""
    found = column_effects(model)
    for label, effects in list(zip(found.classes, found.effects, strict=True))[:MOST_PROTOTYPES]:
        title = f"Effects on the score of {label}"
        shown = plain_table("column", "change", "effect", "odds ratio")
        shown.title, shown.title_justify = title, "left"
        order = sorted(effects, key=lambda one: -abs(one.effect))
        seen = [one for one in order if abs(one.effect) > ROUNDING * abs(order[0].effect)]
        for one in seen[:MOST_COLUMNS]:
            odds = "-" if np.isnan(one.odds_ratio) else f"{one.odds_ratio:.3g}"
            shown.add_row(one.column, one.step, f"{one.effect:+.3g}", odds)
        if len(order) > len(seen[:MOST_COLUMNS]):
            n_more = len(order) - len(seen[:MOST_COLUMNS])
            shown.caption = f"and {count(n_more, 'smaller effect')}"
        say(console, shown)
