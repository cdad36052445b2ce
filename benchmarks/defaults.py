"""Accuracy of every preset with no arguments, beside the same prototypes without training.

``python -m benchmarks.defaults [SET ...]`` prints the table and writes it into the documentation.
One prototype a class stands against nearest class means, five against k-means in each class. Rows
are split into five stratified folds, sets of few rows ten times, the same for all; features are
z-scored on the training part; word counts are turned into tf-idf instead, and very large sets keep
their customary split.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, LOGM, LVQ1, LVQ3, LVQ21, MCE, OLVQ1, RSLVQ, SNPC, MarginLVQ, datasets
from protolearn.blocks import Block
from protolearn.prototypes import initial_prototypes

PRESETS = (GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ)
RULES = (LVQ1, OLVQ1, LVQ21, LVQ3)
CUSTOMARY = ("mnist", "usps", "20ng", "semeval2013")
"""Sets that are not split again."""

FEW, REPEATS = 1000, 30
"""Sets of fewer rows are split so often: one row of the smallest is half a percent of a fold."""

PAGE = Path(__file__).parents[1] / "docs" / "defaults_table.md"


class Untrained:
    """The initial prototypes of every preset, as they are."""

    def __init__(self, prototypes_per_class: int, random_state: int):
        self.count, self.seed = prototypes_per_class, random_state

    def fit(self, X: Any, y: Any) -> Untrained:
        """Take the centres of k-means in each class."""
        self.classes, codes = np.unique(y, return_inverse=True)
        counts = np.full(len(self.classes), self.count)
        rng = np.random.RandomState(self.seed)
        self.prototypes = initial_prototypes("kmeans", Block(X, codes), counts, rng)
        self.labels = np.repeat(self.classes, self.count)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Give the share of rows whose nearest prototype has their label."""
        return float(np.mean(self.labels[pairwise_distances_argmin(X, self.prototypes)] == y))


def splits(name: str) -> Iterator[tuple[int, Any, Any, Any, Any]]:
    """Give the seed, and training and test part of each fold, scaled."""
    if name in CUSTOMARY:
        yield 0, *scaled(*datasets.load(name, "train"), *datasets.load(name, "test"))
        return
    X, y = datasets.load(name)
    for seed in range(REPEATS if len(X) < FEW else 1):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            yield seed, *scaled(X[train], y[train], X[test], y[test])


def scaled(X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[Any, Any, Any, Any]:
    """Scale the features by the training part."""
    scaler = TfidfTransformer(sublinear_tf=True) if issparse(X) else StandardScaler()
    X = scaler.fit_transform(X if issparse(X) else X.astype(np.float64))
    return X, y, scaler.transform(X_test), y_test


def accuracies(name: str, count: int) -> dict[str, float]:
    """Give the mean accuracy of each model on one set, in percent."""
    scores: dict[str, list[float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for seed, X, y, X_test, y_test in splits(name):
            sparse = issparse(X)
            for model in (Untrained, *PRESETS, *(() if sparse else RULES)):
                fitted = model(prototypes_per_class=count, random_state=seed).fit(X, y)
                scores.setdefault(model.__name__, []).append(fitted.score(X_test, y_test))
    return {model: 100.0 * float(np.mean(values)) for model, values in scores.items()}


def table(names: list[str], count: int) -> list[str]:
    """Give the lines of one table, in Markdown; what is below the first column is marked."""
    models = [model.__name__ for model in (*PRESETS, *RULES)]
    first = "class means" if count == 1 else "k-means"
    lines = [f"| set | {first} | {' | '.join(models)} |", "|---" * (len(models) + 2) + "|"]
    for name in names:
        begun = perf_counter()
        found = accuracies(name, count)
        start = found.pop("Untrained")
        cells = [cell(found.get(model), start) for model in models]
        lines.append(f"| {name} | {start:.1f} | {' | '.join(cells)} |")
        print(lines[-1], f" {perf_counter() - begun:.0f} s", flush=True)
    return lines


def cell(value: float | None, start: float) -> str:
    """Write an accuracy; in italics if it is below the start."""
    if value is None:
        return "-"
    return f"{value:.1f}" if value >= start - 1e-9 else f"*{value:.1f}*"


def by_size() -> list[str]:
    """Name the sets, small ones first; two are there twice."""
    sizes = {}
    for name in datasets.names():
        told = datasets.describe(name)
        sizes[name] = told.n_rows * told.n_features
    return [name for name in sorted(sizes, key=sizes.__getitem__) if name not in {"digits", "pima"}]


def main(names: list[str]) -> None:
    """Print both tables; write them if they are complete."""
    lines = []
    for count, title in ((1, "One prototype a class"), (5, "Five prototypes a class")):
        print(f"\n{title}", flush=True)
        lines += [f"**{title}**", "", *table(names or by_size(), count), ""]
    if not names:
        PAGE.write_text("\n".join(lines))
        print(f"\nwritten to {PAGE}")


if __name__ == "__main__":
    main(sys.argv[1:])
