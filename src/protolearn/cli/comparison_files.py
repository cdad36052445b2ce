"""What a comparison leaves in a folder: the scores of all folds, and a picture of them."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .._files import replacing
from ..report import colour, percent
from ..selection import Comparison
from .comparison_table import finished

SCORES = "comparison.csv"
PICTURE = "comparison.png"

HEAD = "model", "repeat", "fold", "accuracy", "fit_seconds"
"""Columns of the file of scores."""

INCHES_A_MODEL = 0.32


def write_scores(comparison: Comparison, folds: int, out: Path) -> Path:
    """Write a line for each model and fold; both numbers are empty where a fit failed."""
    with (
        replacing(out / SCORES) as path,
        path.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for j, model in enumerate(comparison.models):
            for number, (score, seconds) in enumerate(
                zip(comparison.scores[0, j], comparison.fit_times[0, j], strict=True)
            ):
                repeat, fold = divmod(number, folds)
                numbers = [score, f"{seconds:.6f}"] if np.isfinite(score) else ["", ""]
                writer.writerow([model, repeat + 1, fold + 1, *numbers])
    return out / SCORES


def draw(comparison: Comparison, out: Path) -> Path | None:
    """Draw the scores of each model as dots, the best on top; None without matplotlib."""
    ranked = finished(comparison)
    if not ranked.models or find_spec("matplotlib") is None:
        return None
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
    with replacing(out / PICTURE) as path:
        figure.savefig(path, dpi=150)
    return out / PICTURE
