"""``protolearn demo``: from a built-in table to a model that one can read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import datasets
from .._files import replacing
from ..analysis import counterfactual, hypothesis_margin
from ..classifiers import GLVQ
from ..report import ProjectionDisplay

MOST_FEATURES = 10


def run(name: str, folder: Path, seed: int) -> None:
    """Fit GLVQ, print what it learned, save a picture."""
    console = Console()
    X, y = datasets.load(name)
    features = datasets.feature_names(name)
    console.print(
        f"[bold]{name}[/]: {X.shape[0]} rows, {X.shape[1]} features, {len(np.unique(y))} classes"
    )
    model = make_pipeline(StandardScaler(), GLVQ(random_state=seed))
    with console.status("ten-fold cross-validation"):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        scores = cross_val_score(model, X, y, cv=folds)
    console.print(
        f"GLVQ, one prototype a class: accuracy [bold]{scores.mean():.1%}[/] "
        f"(ten-fold, standard deviation {scores.std():.1%})"
    )
    model.fit(X, y)
    console.print(prototype_table(model, features))
    console.print(margin_table(model, X, y))
    with console.status("smallest changes"):
        changes = closest_calls(model, X, features)
    console.print("The closest call of each class, and the smallest change of the answer:")
    for line in changes:
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    path = save_picture(model, X, y, folder / f"{name}.png")
    console.print(f"Open [bold]{path}[/] to see prototypes and decision regions.", soft_wrap=True)


def prototype_table(model: Pipeline, features: list[str]) -> Table:
    """List the prototypes in the units of the data; a long table is cut and says so."""
    scaler, last = model[0], model[-1]
    values = scaler.inverse_transform(last.prototypes_)
    table = Table(title="Prototypes, in the units of the data")
    table.add_column("feature")
    for label in last.prototype_labels_:
        table.add_column(str(label), justify="right")
    for index, feature in enumerate(features[:MOST_FEATURES]):
        table.add_row(feature, *(f"{value:.3g}" for value in values[:, index]))
    if len(features) > MOST_FEATURES:
        table.caption = f"and {len(features) - MOST_FEATURES} features more"
    return table


def margin_table(model: Pipeline, X: Any, y: Any) -> Table:
    """Summarise the margins of each class."""
    margin = hypothesis_margin(model, X, y)
    table = Table(title="Margins, in standard deviations (negative: wrong)")
    for head in ("class", "smallest", "lower quarter", "median", "wrong", "rows"):
        table.add_column(head, justify="left" if head == "class" else "right")
    for label in model.classes_:
        part = margin[y == label]
        quantiles = np.quantile(part, [0.0, 0.25, 0.5])
        table.add_row(
            str(label), *(f"{q:.2f}" for q in quantiles), str(int((part < 0).sum())), str(len(part))
        )
    return table


def closest_calls(model: Pipeline, X: Any, features: list[str]) -> list[str]:
    """Say for the row of each predicted class that is nearest to the boundary what is beyond it."""
    found = replace(counterfactual(model, X), feature_names=tuple(features))
    lines = []
    for label in model.classes_:
        rows = np.flatnonzero(found.original_label == label)
        if len(rows):
            row = int(rows[found.distance[rows].argmin()])
            lines.append(f"row {row}, {found.distance[row]:.2g} away: {found.describe(row)}")
    return lines


def save_picture(model: Pipeline, X: Any, y: Any, path: Path) -> Path:
    """Draw the plane of the prototypes into a file."""
    import matplotlib

    matplotlib.use("Agg")
    display = ProjectionDisplay.from_estimator(model, X, y)
    display.ax_.set_title(f"GLVQ on {path.stem}: the plane of the prototypes")
    with replacing(path) as target:
        display.figure_.savefig(target, dpi=150, bbox_inches="tight")
    return path
