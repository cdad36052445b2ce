"""``protolearn demo``: all commands on a built-in set, as a person would type them."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

from rich.console import Console

from .. import datasets
from .._files import replacing
from . import compare, explain, fit, predict
from . import datasets as listing
from .results import MODEL, REPORT
from .source import TARGET
from .summary import say

ANSWERS = "answers.csv"
MODELS = "mean-of-class", "fisher-prototypes", "glvq", "gmlvq", "svc"
FOLDS = 5


def run(name: str, folder: Path, seconds: float, seed: int) -> None:
    """Write a table, learn from it, ask the model about it, compare others."""
    console = Console()
    table, model, answers = folder / f"{name}.csv", folder / MODEL, folder / ANSWERS
    write_table(name, table)
    say(console, f"The table {table} is from now on treated as if it were yours.")

    repeatable = ("--seed", seed) if seed else ()
    time = "--time", f"{seconds:g}"
    typed(console, "fit", table, "--target", TARGET, "--out", folder, *time, *repeatable)
    fit.run(fit.FitSettings(str(table), target=TARGET, out=folder, seconds=seconds, seed=seed))
    typed(console, "predict", model, table, "-o", answers)
    predict.run(model, str(table), answers)

    row = doubtful(answers)
    typed(console, "explain", model, table, "--row", row)
    explain.run(model, str(table), row)

    typed(
        console,
        "compare",
        table,
        "--target",
        TARGET,
        "--models",
        ",".join(MODELS),
        "--folds",
        FOLDS,
        *repeatable,
    )
    compare.run(str(table), TARGET, MODELS, folds=FOLDS, repeats=1, seed=seed, out=None)

    typed(console, "datasets")
    listing.run()
    console.print()
    say(console, f"Open {folder / REPORT} to see what was learned from {table}.", "bold")


def typed(console: Console, *words: object) -> None:
    """Show a command as a person would type it."""
    console.print()
    line = shlex.join(map(str, ("protolearn", *words)))
    say(console, f"$ {line}", "bold cyan")


def write_table(name: str, path: Path) -> None:
    """Write a built-in set as a CSV file."""
    X, y = datasets.load(name)
    with replacing(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*datasets.feature_names(name), TARGET])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True))


def doubtful(answers: Path) -> int:
    """Return the row whose answer is least probable."""
    with answers.open(newline="", encoding="utf-8") as file:
        shares = [
            max(float(cell) for name, cell in line.items() if name.startswith("probability_"))
            for line in csv.DictReader(file)
        ]
    return shares.index(min(shares)) + 1
