"""Accuracy of every preset with no arguments, beside the same prototypes without training.

Beside it, the log loss of its probabilities, and how far its prototypes lie outside the data.

``python -m benchmarks.defaults [SET ...] [--model NAME] [--count 1|5]`` prints the tables, and puts
their cells into the documentation as they come: a set or a model that is run again replaces its
own. One prototype a class stands against nearest class means, five against k-means in each class.
Rows are split into five stratified folds, sets of few rows thirty times, the same for all; features
are z-scored on the training part; word counts are turned into tf-idf instead, and very large sets
keep their customary split. Of large sets a stratified part is taken (``MOST_ROWS``,
``MOST_TRAINING``).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import log_loss, pairwise_distances_argmin
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    MRSLVQ,
    OLVQ1,
    RSLVQ,
    SNPC,
    KernelGLVQ,
    MarginLVQ,
    ScaleWarning,
    datasets,
)
from protolearn._files import replacing
from protolearn.blocks import Block
from protolearn.prototypes import initial_prototypes
from protolearn.selection.intervals import corrected_variance

PRESETS = (GLVQ, MCE, LOGM, SNPC, RSLVQ, MarginLVQ)
RULES = (LVQ1, OLVQ1, LVQ21, LVQ3)
METRICS = (GRLVQ, GMLVQ, LGMLVQ, MRSLVQ, KernelGLVQ)
FAMILIES = {"prototypes": (*PRESETS, *RULES), "metrics": METRICS}
COUNTS = {1: ("One prototype a class", "class means"), 5: ("Five prototypes a class", "k-means")}

CUSTOMARY = ("mnist", "usps", "20ng", "semeval2013")
"""Sets that are not split again."""

TWICE = ("digits", "pima")
"""Other names of sets, or parts of them."""

FEW, REPEATS = 1000, 30
"""Sets of fewer rows are split so often: one row of the smallest is half a percent of a fold."""

MOST_ROWS, MOST_TRAINING = 3000, 6000
"""Rows of a set that is split into folds, and training rows of a customary split, at most."""

PAGE = Path(__file__).parents[1] / "docs" / "defaults_table.md"


class Untrained:
    """The initial prototypes of every preset, as they are."""

    def __init__(self, prototypes_per_class: int, random_state: int):
        self.count, self.seed = prototypes_per_class, random_state

    def fit(self, X: Any, y: Any) -> Untrained:
        """Take the centres of k-means in each class."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.shares = np.bincount(codes) / len(codes)
        counts = np.full(len(self.classes_), self.count)
        rng = np.random.RandomState(self.seed)
        self.prototypes = initial_prototypes("kmeans", Block(X, codes), counts, rng)
        self.labels = np.repeat(self.classes_, self.count)
        self.outside_ = np.zeros(1)  # means of rows
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the shares of the classes."""
        return np.tile(self.shares, (X.shape[0], 1))

    def score(self, X: Any, y: Any) -> float:
        """Give the share of rows whose nearest prototype has their label."""
        return float(np.mean(self.labels[pairwise_distances_argmin(X, self.prototypes)] == y))


def splits(name: str) -> Iterator[tuple[int, Any, Any, Any, Any]]:
    """Give the seed, and training and test part of each fold, scaled."""
    if name in CUSTOMARY:
        train = some_rows(*datasets.load(name, "train"), MOST_TRAINING)
        yield 0, *scaled(*train, *datasets.load(name, "test"))
        return
    X, y = some_rows(*datasets.load(name), MOST_ROWS)
    for seed in range(REPEATS if len(X) < FEW else 1):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            yield seed, *scaled(X[train], y[train], X[test], y[test])


def some_rows(X: Any, y: Any, most: int) -> tuple[Any, Any]:
    """Return so many rows at most, of each class its share."""
    if X.shape[0] <= most:
        return X, y
    X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=0)
    return X, y


def scaled(X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[Any, Any, Any, Any]:
    """Scale the features by the training part."""
    scaler = TfidfTransformer(sublinear_tf=True) if issparse(X) else StandardScaler()
    X = scaler.fit_transform(X if issparse(X) else X.astype(np.float64))
    return X, y, scaler.transform(X_test), y_test


def takes(model: Any, X: Any) -> bool:
    """Whether a model learns from such rows with no arguments: words have no matrix."""
    return not issparse(X) or model not in (GMLVQ, LGMLVQ, MRSLVQ)


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Return the accuracy in percent."""
    return 100.0 * float(model.score(X, y))


def mean_log_loss(model: Any, X: Any, y: Any) -> float:
    """Return the log loss of the probabilities; without training, of the class shares."""
    return float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def furthest_outside(model: Any, X: Any, y: Any) -> float:
    """Return how far the furthest prototype is beyond the data, in ranges of a feature."""
    return float(np.max(getattr(model, "outside_", np.nan)))


MEASURES: dict[str, tuple[str, Any]] = {
    "accuracy": ("set", accuracy),
    "log_loss": ("set, log loss", mean_log_loss),
    "outside": ("set, outside", furthest_outside),
}
"""Of each measure the first cell of its table, and the function."""

Scores = dict[str, dict[str, list[float]]]
"""By measure and model, one number a fold."""


def scores_of(name: str, models: tuple[Any, ...], count: int) -> Scores:
    """Return the measures of the start and of each model in each fold of one set."""
    scores: Scores = {measure: {} for measure in MEASURES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        for seed, X, y, X_test, y_test in splits(name):
            for model in (Untrained, *(model for model in models if takes(model, X))):
                fitted = model(prototypes_per_class=count, random_state=seed).fit(X, y)
                for measure, (_, function) in MEASURES.items():
                    found = function(fitted, X_test, y_test)
                    scores[measure].setdefault(model.__name__, []).append(found)
    return scores


def gain(scores: list[float], start: list[float]) -> tuple[float, float]:
    """Give how far a mean is above the start, and the standard error of that; NaN for one fold."""
    difference = np.subtract(scores, start)
    if len(scores) == 1:
        return float(difference[0]), np.nan
    return float(difference.mean()), np.sqrt(corrected_variance(difference, n_train=4, n_test=1))


def cell(scores: list[float], start: list[float]) -> str:
    """Write a mean; in italics if below the start, bold if by more than the standard error."""
    text, (above, error) = f"{np.mean(scores):.1f}", gain(scores, start)
    if above >= -1e-9:
        return text
    return f"**{text}**" if above < -error else f"*{text}*"


def cells_of(name: str, measure: str, scores: Scores) -> dict[str, str]:
    """Return the cells of one line by model; print how far below the start some models are."""
    found = dict(scores[measure])
    start = found.pop("Untrained")
    if measure != "accuracy":
        means = {"Untrained": np.mean(start), **{m: np.mean(v) for m, v in found.items()}}
        return {model: "-" if np.isnan(mean) else f"{mean:.2f}" for model, mean in means.items()}
    for model, values in found.items():
        above, error = gain(values, start)
        if above < 0.0:
            print(f"  {name}, {model}: {above:.2f}, standard error {error:.2f}")
    cells = {model: cell(values, start) for model, values in found.items()}
    return {"Untrained": f"{np.mean(start):.1f}", **cells}


def by_size() -> list[str]:
    """Name the sets, small ones first."""
    sizes = {}
    for name in datasets.names():
        told = datasets.describe(name)
        sizes[name] = told.n_rows * told.n_features
    return [name for name in sorted(sizes, key=sizes.__getitem__) if name not in TWICE]


def stored() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """Return the cells of the page by title and head of their table, set and model."""
    tables: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    title = head = ""
    for text in PAGE.read_text().splitlines() if PAGE.exists() else ():
        parts = [part.strip() for part in text.strip("|").split("|")]
        if text.startswith("**"):
            title = text.strip("*")
        elif text.startswith("| set"):
            head, names = text, ["Untrained", *parts[2:]]
        elif text.startswith("| "):
            tables.setdefault((title, head), {})[parts[0]] = dict(
                zip(names, parts[1:], strict=True)
            )
    return tables


def put(title: str, head: str, name: str, cells: dict[str, str]) -> None:
    """Put cells of one line into the page, in place of older ones."""
    tables, order = stored(), by_size()
    tables.setdefault((title, head), {}).setdefault(name, {}).update(cells)
    told = []
    for count, (shown, _) in COUNTS.items():
        told += [f"**{shown}**", ""]
        for measure in MEASURES:
            for models in FAMILIES.values():
                first = header(models, count, measure)
                rows = tables.get((shown, first), {})
                told += [first, "|---" * (len(models) + 2) + "|"] if rows else []
                for each in sorted(rows, key=order.index):
                    told.append(line(each, models, rows[each]))
                told += [""] if rows else []
    with replacing(PAGE) as path:
        path.write_text("\n".join(told))


def line(name: str, models: tuple[Any, ...], cells: dict[str, str]) -> str:
    """Return one line of a table, in Markdown."""
    names = ["Untrained", *(model.__name__ for model in models)]
    return f"| {name} | {' | '.join(cells.get(each, '-') for each in names)} |"


def header(models: tuple[Any, ...], count: int, measure: str = "accuracy") -> str:
    """Return the first line of a table."""
    start = "class shares" if measure == "log_loss" else COUNTS[count][1]
    names = " | ".join(model.__name__ for model in models)
    return f"| {MEASURES[measure][0]} | {start} | {names} |"


def main() -> None:
    """Print the tables, and write each line."""
    names = {model.__name__: model for models in FAMILIES.values() for model in models}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="data sets; all if none is named")
    parser.add_argument("--model", choices=names, action="append", help="default: all")
    parser.add_argument("--count", choices=COUNTS, type=int, action="append", help="default: both")
    asked = parser.parse_args()
    for name in asked.names or by_size():
        for count in asked.count or COUNTS:
            for models in FAMILIES.values():
                some = tuple(m for m in models if asked.model is None or m.__name__ in asked.model)
                if not some:
                    continue
                begun = perf_counter()
                scores = scores_of(name, some, count)
                for measure in MEASURES:
                    cells = cells_of(name, measure, scores)
                    put(COUNTS[count][0], header(models, count, measure), name, cells)
                    print(count, measure, line(name, some, cells), flush=True)
                print(f"  {perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
