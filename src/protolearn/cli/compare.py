"""``protolearn compare``: several models on one table, on the same folds."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from .. import selection
from .._names import count
from ..selection import MOST_PAIRS, Comparison, SplitFailedWarning
from ..tables import table_pipeline
from .comparison_files import SCORES, draw, write_scores
from .comparison_table import Failures, comparison_table, finished, verdict
from .failure import FAILED, Failure
from .learning_table import LearningTable
from .models import model_named, official_name
from .opening import MOST_ROWS, open_table
from .results import check_folder
from .summary import say

DEFAULT = (
    "mean-of-class",
    "fisher-prototypes",
    "soft-margin-svm",
    "glvq",
    "rslvq",
    "grlvq",
    "gmlvq",
    "lgmlvq",
    "kernel-glvq",
    "prototype-svm",
    "svc",
    "random-forest",
)
"""The models that are compared if none are named."""

ALL_PAIRS = "kernel-glvq", "prototype-svm", "svc"
"""Those of them that compare all pairs of rows."""

CHECKPOINT = "comparison.jsonl"
"""Where the folder of results keeps finished fits."""

MOST_WARNINGS = 3
"""Warnings of the fits that are repeated at the end."""


def run(
    data: str,
    target: str | None,
    models: Sequence[str],
    folds: int,
    repeats: int,
    seed: int,
    out: Path | None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    keep: Sequence[str] = (),
    rows: int = MOST_ROWS,
) -> None:
    """Compare models by cross-validation, print a table, write the scores into a folder."""
    console, notes = Console(), Console(stderr=True)
    names = wanted(models)  # before the data: a wrong name is told at once
    read, table, _ = open_table(
        data, target, drop=drop, keep=keep, categorical=categorical, rows=rows, seed=seed
    )
    names, left_out = affordable(names, len(table.y))
    folds, fewer = possible(folds, table.y)
    for note in (read.origin, *read.notes, *table.notes, *left_out, *fewer):
        say(notes, note)
    say(console, described(table, folds, repeats))
    pipelines = {name: table_pipeline(model_named(name, seed), table.X) for name in names}
    if out is not None:
        check_folder(out)
    checkpoint = None if out is None else out / CHECKPOINT
    found, failures, warned = compared(pipelines, data, table, folds, repeats, seed, checkpoint)
    for note in warned:
        say(notes, note)
    console.print(comparison_table(found))
    for line in [*failures.lines(found), *verdict(found)]:
        say(console, line)
    if out is not None:
        say(console, written(found, folds, out))
    if not finished(found).models:
        raise Failure("no model could be fitted in all folds.", FAILED)


def wanted(models: Sequence[str]) -> list[str]:
    """Return the official names of the models, each once; names may be separated by commas."""
    given = [name.strip() for one in models for name in one.split(",") if name.strip()]
    return list(dict.fromkeys(official_name(name) for name in given))


def affordable(names: list[str], n_rows: int) -> tuple[list[str], list[str]]:
    """Return the usual models if none are named, and say which are too slow for so many rows."""
    if names:
        return names, []
    slow = ALL_PAIRS if n_rows > MOST_PAIRS else ()
    note = (
        f"{', '.join(slow)} left out: they compare all pairs of rows, and there are more than "
        f"{MOST_PAIRS:,} (--models to try them all the same)"
    )
    return [name for name in DEFAULT if name not in slow], [note] if slow else []


def possible(folds: int, y: Any) -> tuple[int, list[str]]:
    """Return the number of folds, at most as many as the smallest class has rows."""
    classes, counts = np.unique(y, return_counts=True)
    if folds <= (least := int(counts.min())):
        return folds, []
    smallest = str(classes[counts.argmin()])
    return least, [f"{least} folds in place of {folds}: class {smallest!r} has {least} rows"]


def described(table: LearningTable, folds: int, repeats: int) -> str:
    """Return what is compared on, and what the simplest answer of all would reach."""
    _, counts = np.unique(table.y, return_counts=True)
    times = f", {repeats} times" if repeats > 1 else ""
    return (
        f"{count(len(table.y), 'row')}, {count(len(table.X.dtype.names or ()), 'column')}, "
        f"{len(counts)} classes of {table.target!r}; {folds} folds{times}. "
        f"Always naming the largest class would be right in {counts.max() / counts.sum():.1%}."
    )


def compared(
    pipelines: dict[str, Any],
    data: str,
    table: LearningTable,
    folds: int,
    repeats: int,
    seed: int,
    checkpoint: Path | None,
) -> tuple[Comparison, Failures, list[str]]:
    """Fit all models in all folds; those that fail, and other warnings, are told afterwards."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = selection.compare(
                pipelines,
                {Path(data).name: (table.X, table.y)},
                cv=folds,
                n_repeats=repeats,
                checkpoint=checkpoint,
                error_score=np.nan,
                verbose=1,
                random_state=seed,
            )
        except KeyboardInterrupt:
            raise Failure(f"stopped. {how_to_go_on(checkpoint)}", FAILED) from None
    failures = Failures(
        (one.message.model, one.message.reason)
        for one in caught
        if isinstance(one.message, SplitFailedWarning)
    )
    return found, failures, warned(caught)


def how_to_go_on(checkpoint: Path | None) -> str:
    """Return a text that says what an interrupted user can do."""
    if checkpoint is None:
        return "With --out FOLDER the same command, given again, goes on where it was stopped."
    return f"The same command goes on: {str(checkpoint)!r} has what was finished."


def warned(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the warnings of the fits that a user should know, each once."""
    texts = Counter(
        " ".join(str(one.message).split())
        for one in caught
        if issubclass(one.category, UserWarning) and not isinstance(one.message, SplitFailedWarning)
    )
    lines = [f"warned {count(n, 'time')}: {text}" for text, n in texts.most_common(MOST_WARNINGS)]
    more = len(texts) - MOST_WARNINGS
    return [*lines, f"and {count(more, 'other warning')}"] if more > 0 else lines


def written(found: Comparison, folds: int, out: Path) -> str:
    """Write the files, and say which to open."""
    write_scores(found, folds, out)
    picture = draw(found, out)
    if picture is None:
        return f"Open {out / SCORES} for the scores of all folds."
    return f"Open {picture} for a picture; the scores of all folds are in {out / SCORES}."
