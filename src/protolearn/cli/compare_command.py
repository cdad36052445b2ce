"""``protolearn compare``: several models on one table, on the same folds."""

from __future__ import annotations

import csv
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from .. import selection
from .._arrays import Floats
from .._files import replacing_files
from .._names import count
from ..folds import RowGroups, row_groups
from ..report import colour, percent
from ..selection import MOST_PAIRS, Comparison, SplitFailedWarning, holm
from ..tables import table_pipeline
from .command_output import Screen, open_text, plain_table, say, spreadsheet_lines
from .data_source import PLAIN_READING, Reading
from .failure import FAILED, Failure
from .learning_table import LearningTable
from .model_names import model_named, official_name
from .output_checks import check_folder, check_outputs
from .training_rows import MOST_ROWS, open_table

DEFAULT_MODELS = (
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

CHECKPOINT, SCORES, PICTURE = "comparison.jsonl", "comparison.csv", "comparison.png"
"""Files in the folder of results: finished fits, the scores of all folds, a picture of them."""

SCORE_COLUMNS = "model", "repeat", "fold", "accuracy", "fit_seconds"

SIGNIFICANT = 0.05
"""A p value below this counts."""

MOST_WARNINGS = 3
"""Warnings of the fits that are repeated at the end."""

MOST_LETTERS = 200
"""Characters of a reason that are shown."""

INCHES_A_MODEL = 0.32


def run_compare(
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
    reading: Reading = PLAIN_READING,
    raw: bool = False,
    force: bool = False,
) -> None:
    """Compare models by cross-validation, print a table, write the scores into a folder."""
    console, notes = Screen(), Screen(stderr=True)
    names = selected_models(models)  # before the data: a wrong name is told at once
    if out is not None:
        check_outputs([out / SCORES, out / PICTURE], [data], force)
        check_outputs([out / CHECKPOINT], [data], force=True)  # which is continued
    read, table, _ = open_table(
        data,
        target,
        drop=drop,
        keep=keep,
        categorical=categorical,
        rows=rows,
        seed=seed,
        reading=reading,
    )
    names, left_out = affordable_models(names, len(table.y))
    together = row_groups(table.X)
    folds, fewer = possible_folds(folds, table.y, together)
    about = *left_out, *fewer, *together.notes
    for note in (read.origin, *read.notes, *table.notes, *about):
        say(notes, note)
    say(console, comparison_heading(table, folds, repeats))
    if out is not None:
        check_folder(out)
    checkpoint = None if out is None else out / CHECKPOINT
    pipelines = {name: table_pipeline(model_named(name, seed), table.X) for name in names}
    tables = {Path(data).name: (table.X, table.y)}
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = compare_models(pipelines, tables, folds, repeats, seed, checkpoint)
    for note in warning_lines(caught):
        say(notes, note)
    console.print(comparison_table(found))
    for line in [*failure_lines(caught, folds * repeats), *verdict(found)]:
        say(console, line)
    if out is not None:
        say(console, write_comparison(found, folds, out, raw))
    if not rank_finished(found).models:
        raise Failure("no model could be fitted in all folds.", FAILED)


def selected_models(models: Sequence[str]) -> list[str]:
    """Return the official names of the models, each once; names may be separated by commas."""
    given = [name.strip() for one in models for name in one.split(",") if name.strip()]
    return list(dict.fromkeys(official_name(name) for name in given))


def affordable_models(names: list[str], n_rows: int) -> tuple[list[str], list[str]]:
    """Return the usual models if none are named, and say which are too slow for so many rows."""
    if names:
        return names, []
    slow = ALL_PAIRS if n_rows > MOST_PAIRS else ()
    note = (
        f"{', '.join(slow)} left out: they compare all pairs of rows, and there are more than "
        f"{MOST_PAIRS:,} (--models to include them anyway)"
    )
    return [name for name in DEFAULT_MODELS if name not in slow], [note] if slow else []


def possible_folds(folds: int, y: Any, together: RowGroups | None = None) -> tuple[int, list[str]]:
    """Return the number of folds, at most as many as the smallest class has different rows."""
    together = together or RowGroups(None)
    classes, counts = together.count_by_class(y)
    least = max(int(counts.min()), 2)
    if folds <= least:
        return folds, []
    smallest, n_rows = str(classes[counts.argmin()]), int(counts.min())
    rows = count(n_rows, "row" if together.codes is None else "different row")
    return least, [f"{least} folds instead of {folds}: class {smallest!r} has {rows}"]


def comparison_heading(table: LearningTable, folds: int, repeats: int) -> str:
    """Return what is compared on, and what the simplest answer of all would reach."""
    _, counts = np.unique(table.y, return_counts=True)
    times = f", {repeats} times" if repeats > 1 else ""
    return (
        f"{count(len(table.y), 'row')}, {count(len(table.X.dtype.names or ()), 'column')}, "
        f"{len(counts)} classes of {table.target!r}; {folds} folds{times}. "
        f"Baseline, the largest class: {counts.max() / counts.sum():.1%}."
    )


def compare_models(
    pipelines: dict[str, Any],
    tables: dict[str, Any],
    folds: int,
    repeats: int,
    seed: int,
    checkpoint: Path | None,
) -> Comparison:
    """Fit all models in all folds; fits that fail are warned about."""
    try:
        return selection.compare(
            pipelines,
            tables,
            cv=folds,
            n_repeats=repeats,
            checkpoint=checkpoint,
            error_score=np.nan,
            verbose=1,
            random_state=seed,
        )
    except KeyboardInterrupt:
        how = "Add --out FOLDER to be able to continue with the same command."
        if checkpoint is not None:
            how = (
                f"Run the same command again to continue; finished fits are in {str(checkpoint)!r}."
            )
        raise Failure(f"stopped. {how}", FAILED) from None


def warning_lines(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the warnings of the fits that a user should know, each once."""
    texts = Counter(
        " ".join(str(one.message).split())
        for one in caught
        if issubclass(one.category, UserWarning) and not isinstance(one.message, SplitFailedWarning)
    )
    lines = [f"warned {count(n, 'time')}: {text}" for text, n in texts.most_common(MOST_WARNINGS)]
    more = len(texts) - MOST_WARNINGS
    return [*lines, f"and {count(more, 'other warning')}"] if more > 0 else lines


def failure_lines(caught: Sequence[warnings.WarningMessage], n_splits: int) -> list[str]:
    """Return a line for each model that could not be fitted in some folds."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for one in caught:
        if isinstance(one.message, SplitFailedWarning):
            reasons[one.message.model].append(one.message.reason)
    return [
        f"{model} failed in {len(why)} of {n_splits} folds: {first_sentence(why[0])}"
        for model, why in reasons.items()
    ]


def first_sentence(reason: str) -> str:
    """Return the first sentence of a reason, on one line."""
    line = " ".join(reason.split()).partition(". ")[0].removesuffix(".") + "."
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}..."


def write_comparison(found: Comparison, folds: int, out: Path, raw: bool = False) -> str:
    """Write the files, and return a sentence that says which to open."""
    with replacing_files(out) as folder:
        write_scores(found, folds, folder, raw)
        has_picture = draw_scores(found, folder)
    if not has_picture:
        return f"Open {out / SCORES} for the scores of all folds."
    return f"Open {out / PICTURE} for a picture; the scores of all folds are in {out / SCORES}."


def rank_finished(comparison: Comparison) -> Comparison:
    """Return the models that have a score in every fold, from best to worst."""
    means = comparison.means[0]
    order = [i for i in np.argsort(-means, kind="stable").tolist() if not np.isnan(means[i])]
    return replace(
        comparison,
        models=tuple(comparison.models[i] for i in order),
        right=tuple(one[order] for one in comparison.right),
        scores=comparison.scores[:, order],
        fit_times=comparison.fit_times[:, order],
    )


def comparison_table(comparison: Comparison) -> Table:
    """Return the models from best to worst, with the difference to the best and its p value."""
    ranked = rank_finished(comparison)
    heads = "accuracy", "sd", "diff", "95% interval", "p", "p folds", "s"
    table = plain_table("model", *heads, right=slice(1, None))
    table.title = "Accuracy in percent on held-out rows"
    table.caption = (
        "sd: standard deviation of the accuracy over folds; diff: difference to the best, over all "
        "rows; p: of that difference, by McNemar's test over the rows; p folds: by the corrected "
        "resampled t-test; both with Holm's correction for all pairs of models; s: seconds of a fit"
    )
    table.columns[0].no_wrap = table.columns[4].no_wrap = True
    means, deviations = 100.0 * ranked.means[0], 100.0 * ranked.standard_deviations[0]
    by_rows, by_folds = pvalues_to_best(ranked), np.asarray(ranked.pairwise()[0:1]).ravel()
    seconds = np.median(ranked.fit_times[0], axis=1)  # the first fit may compile
    for i, model in enumerate(ranked.models):
        against: tuple[str, ...] = ("best", "", "", "")
        if i:
            test = ranked.row_test(model, ranked.models[0])
            ends = f"{100.0 * test.low[0]:.1f} to {100.0 * test.high[0]:.1f}"
            gap = f"{100.0 * test.difference[0]:.1f}"
            against = gap, ends, pvalue_text(by_rows[i]), pvalue_text(by_folds[i])
        numbers = f"{means[i]:.1f}", f"{deviations[i]:.1f}"
        table.add_row(model, *numbers, *against, f"{seconds[i]:.2g}")
    for model in comparison.models:
        if model not in ranked.models:
            table.add_row(model, "failed")
    return table


def pvalue_text(pvalue: float) -> str:
    """Return a p value as text."""
    return "< 0.001" if pvalue < 0.001 else f"{pvalue:.3f}"


def verdict(comparison: Comparison) -> list[str]:
    """Return which models are as good as the best, as far as the folds can tell."""
    ranked = rank_finished(comparison)
    if len(ranked.models) < 2:
        return []
    best, *others = ranked.models
    alike = [
        name
        for name, pvalue in zip(others, pvalues_to_best(ranked)[1:], strict=True)
        if pvalue >= SIGNIFICANT
    ]
    if len(alike) == len(others):
        return [f"No model is significantly worse than {best} (p < {SIGNIFICANT:g})."]
    if not alike:
        return [f"All others are significantly worse than {best} (p < {SIGNIFICANT:g})."]
    return [f"Not significantly worse than {best} (p >= {SIGNIFICANT:g}): {', '.join(alike)}."]


def pvalues_to_best(ranked: Comparison) -> Floats:
    """Return the p values of the differences to the first model, by the rows.

    The correction is that for all pairs, since the best was not known before.
    """
    if not ranked.models:
        return np.empty(0)
    pairs = list(combinations(ranked.models, 2))
    found = holm(np.array([ranked.row_test(a, b).pvalue[0] for a, b in pairs]))
    return np.concatenate([[1.0], found[: len(ranked.models) - 1]])


def write_scores(comparison: Comparison, folds: int, out: Path, raw: bool) -> None:
    """Write a line for each model and fold; both numbers are empty where a fit failed."""
    with open_text(out / SCORES) as file:
        writer = csv.writer(file)
        writer.writerow(SCORE_COLUMNS)
        for j, model in enumerate(comparison.models):
            for number, (score, seconds) in enumerate(
                zip(comparison.scores[0, j], comparison.fit_times[0, j], strict=True)
            ):
                repeat, fold = divmod(number, folds)
                numbers = [score, f"{seconds:.6f}"] if np.isfinite(score) else ["", ""]
                line = [model, repeat + 1, fold + 1, *numbers]
                writer.writerows(spreadsheet_lines([line], raw))


def draw_scores(comparison: Comparison, out: Path) -> bool:
    """Draw the scores of each model as dots, the best on top; False without matplotlib."""
    ranked = rank_finished(comparison)
    if not ranked.models or find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    # No pyplot: a command has no figures that others could see.
    figure = Figure(figsize=(7.0, 1.2 + INCHES_A_MODEL * len(ranked.models)), layout="constrained")
    ax = figure.add_subplot()
    places = np.arange(len(ranked.models))
    for place, scores in zip(places, ranked.scores[0], strict=True):
        values, counts = np.unique(scores, return_counts=True)
        ax.scatter(
            values, np.full(len(values), place), s=18.0 * counts, color=colour(0), alpha=0.35
        )
    ax.plot(ranked.means[0], places, "D", color=colour(5), label="mean")
    ax.set_yticks(places, ranked.models)
    ax.invert_yaxis()
    ax.xaxis.set_major_formatter(percent)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("accuracy; a dot is a fold, larger for several folds with one score")
    ax.legend(loc="best")
    figure.savefig(out / PICTURE, dpi=150)
    return True
