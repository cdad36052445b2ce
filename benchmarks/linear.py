"""Accuracy and time of the linear classifiers on several classes, beside those of scikit-learn.

``python -m benchmarks.linear [SET ...]`` prints two tables in Markdown, for ``docs/linear.md``:
accuracy by five stratified folds, the same for all, of features that are z-scored on the training
part; and seconds of processor time for all fits of a classifier, in the same run. Boosting is left
out on sets of more than 3,000 rows.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from protolearn import (
    RVM,
    BoostedPrototypes,
    FisherPrototypes,
    MeanOfClass,
    SoftMarginSVM,
    datasets,
)

SETS = (
    *("iris", "wine", "glass", "vehicle", "segment", "satimage", "optdigits", "pendigits"),
    *("letter", "wdbc", "ionosphere", "sonar", "heart", "diabetes"),
)
MOST_ROWS = {"BoostedPrototypes(C=0.01)": 3_000, "RVM()": 8_000}

OURS = {
    "MeanOfClass()": MeanOfClass(),
    "FisherPrototypes()": FisherPrototypes(),
    "SoftMarginSVM()": SoftMarginSVM(),
    "SoftMarginSVM(norm=2)": SoftMarginSVM(norm=2),
    "BoostedPrototypes(C=0.01)": BoostedPrototypes(C=0.01),
    "RVM()": RVM(),
}
if "multi_class" in SoftMarginSVM().get_params():
    OURS |= {
        'SoftMarginSVM(multi_class="crammer_singer")': SoftMarginSVM(multi_class="crammer_singer"),
        'SoftMarginSVM(multi_class="nearest")': SoftMarginSVM(multi_class="nearest"),
    }
THEIRS = {
    "NearestCentroid": NearestCentroid(),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "SVC, one versus rest": OneVsRestClassifier(SVC(kernel="linear")),
    "LinearSVC": LinearSVC(random_state=0),
    'LinearSVC(multi_class="crammer_singer")': LinearSVC(
        multi_class="crammer_singer", random_state=0
    ),
}


def main() -> None:
    """Print the tables."""
    names = sys.argv[1:] or SETS
    found = {name: measure_set(name) for name in names}
    for place, title in enumerate(("accuracy in percent", "seconds")):
        print(f"\n| {title} | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
        for model in (*OURS, *THEIRS):
            cells = [found[name].get(model, ("", ""))[place] for name in names]
            print(f"| `{model}` | {' | '.join(cells)} |")


def measure_set(name: str) -> dict[str, tuple[str, str]]:
    """Return accuracy and seconds of each classifier on a set."""
    X, y = datasets.load(name)
    X = np.asarray(X, dtype=np.float64)
    results = {}
    for label, model in (OURS | THEIRS).items():
        if len(X) <= MOST_ROWS.get(label, len(X)):
            results[label] = measure_model(model, X, y)
            print(f"{name}: {label} {results[label]}", file=sys.stderr, flush=True)
    return results


def measure_model(model: Any, X: Any, y: Any) -> tuple[str, str]:
    """Return the accuracy on held-out rows, and the seconds of all fits."""
    right, seconds = [], 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        rows, held_out = scaler.transform(X[train]), scaler.transform(X[test])
        started = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = clone(model).fit(rows, y[train])
        seconds += process_time() - started
        right.extend(fitted.predict(held_out) == y[test])
    return f"{100.0 * np.mean(right):.1f}", f"{seconds:.2f}"


if __name__ == "__main__":
    main()
