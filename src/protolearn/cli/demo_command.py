"""``protolearn demo``: all commands on a built-in set, as a person would type them."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

from rich.console import Console

from .. import datasets
from .._files import replacing
from .command_output import Screen, say
from .compare_command import run_compare
from .data_source import TARGET, print_datasets
from .explain_command import run_explain
from .fit_command import run_fit
from .fit_files import FILES, MODEL, REPORT
from .fit_procedure import FitSettings
from .output_checks import check_outputs, check_results, is_result_folder
from .predict_and_export import run_predict

ANSWERS = "answers.csv"
MODELS = "mean-of-class", "fisher-prototypes", "glvq", "gmlvq", "svc"
FOLDS = 5


def run_demo(
    name: str, folder: Path, seconds: float | None, seed: int, force: bool = False
) -> None:
    """Write a table, learn from it, ask the model about it, compare others."""
    console = Screen()
    table, model, answers = folder / f"{name}.csv", folder / MODEL, folder / ANSWERS
    text = table_text(name)
    if is_result_folder(folder) and table.exists() and table.read_bytes() == text.encode():
        force = True  # an earlier demo left all of it
    check_outputs([table, answers], [], force)
    check_results(folder, FILES, str(table), force)
    with replacing(table) as path:
        path.write_bytes(text.encode())
    say(console, f"The table {table} now serves as your table.")

    repeatable = ("--seed", seed) if seed else ()
    time = () if seconds is None else ("--time", f"{seconds:g}")
    print_command(console, "fit", table, "--target", TARGET, "--out", folder, *time, *repeatable)
    run_fit(FitSettings(str(table), TARGET, out=folder, seconds=seconds, seed=seed, force=force))
    print_command(console, "predict", model, table, "-o", answers)
    run_predict(model, str(table), answers, force=force)

    row = least_certain_row(answers)
    print_command(console, "explain", model, table, "--row", row)
    run_explain(model, str(table), row)

    models = "--target", TARGET, "--models", ",".join(MODELS)
    print_command(console, "compare", table, *models, "--folds", FOLDS, *repeatable)
    run_compare(str(table), TARGET, MODELS, folds=FOLDS, repeats=1, seed=seed, out=None)

    print_command(console, "datasets")
    print_datasets()
    console.print()
    say(console, f"Open {folder / REPORT} to see what was learned from {table}.", "bold")


def print_command(console: Console, *words: object) -> None:
    """Print a command as a person would type it."""
    console.print()
    line = shlex.join(map(str, ("protolearn", *words)))
    say(console, f"$ {line}", "bold cyan")


def table_text(name: str) -> str:
    """Return a built-in set as the text of a CSV file."""
    X, y = datasets.load(name)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*datasets.feature_names(name), TARGET])
    writer.writerows([*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True))
    return text.getvalue()


def least_certain_row(answers: Path) -> int:
    """Return the row whose answer is least probable."""
    with answers.open(newline="", encoding="utf-8") as file:
        shares = [
            max(float(cell) for name, cell in line.items() if name.startswith("probability_"))
            for line in csv.DictReader(file)
        ]
    return shares.index(min(shares)) + 1
