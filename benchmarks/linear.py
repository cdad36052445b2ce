"""Accuracy and time of the linear classifiers on several classes, beside those of scikit-learn.

``python -m benchmarks.linear [SET ...]`` prints two tables in Markdown, for ``docs/linear.md``:
accuracy by five stratified folds, the same for all, of features that are z-scored on the training
part; and seconds of processor time for all fits of a classifier, in the same run. Boosting is left
out on sets of more than 3,000 rows, one-versus-rest SVC and the RVM on those of more than 8,000.

``python -m benchmarks.linear wide`` prints times and costs on 2,000 rows of 20,000 features beside
LIBLINEAR, and ``sparse`` times and memory of all estimators on sparse rows (the RVM on a part).
"""

from __future__ import annotations

import sys
import tracemalloc
import warnings
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
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
    HardMarginSVM,
    MeanOfClass,
    SoftMarginSVM,
    datasets,
)

SETS = (
    *("iris", "wine", "glass", "vehicle", "segment", "satimage", "optdigits", "pendigits"),
    *("letter", "wdbc", "ionosphere", "sonar", "heart", "diabetes"),
)
MOST_ROWS = {
    "BoostedPrototypes(C=0.01)": 3_000,
    "RVM()": 8_000,
    "SVC, one versus rest": 8_000,
}

OURS = {
    "MeanOfClass()": MeanOfClass(),
    "FisherPrototypes()": FisherPrototypes(),
    "SoftMarginSVM()": SoftMarginSVM(),
    "SoftMarginSVM(norm=2)": SoftMarginSVM(norm=2),
    "BoostedPrototypes(C=0.01)": BoostedPrototypes(C=0.01),
    "RVM()": RVM(),
    'SoftMarginSVM(multi_class="ovr")': SoftMarginSVM(multi_class="ovr"),
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


WIDE, SPARSE = (2_000, 20_000), (5_000, 100_000)
IN_A_ROW = 100


def main() -> None:
    """Print the tables."""
    names = sys.argv[1:] or SETS
    if names in (["wide"], ["sparse"]):
        (measure_wide if names == ["wide"] else measure_sparse)()
        return
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


def measure_wide() -> None:
    """Print times and costs of the machine of two classes on wide rows."""
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal(WIDE), rng.standard_normal(WIDE[1])
    y = np.sign(X @ w / np.linalg.norm(w) + 0.5 * rng.standard_normal(WIDE[0]))
    SoftMarginSVM().fit(X[:1000, :2000], y[:1000])  # compiles
    print("| C | tol of LinearSVC | seconds | LinearSVC | ratio | cost, LinearSVC's over ours |")
    print("|---|---|---|---|---|---|")
    for C in (1.0, 1e-4):
        seconds, cost = time_fit(SoftMarginSVM(C=C), X, y)
        for tol in (1e-4, 1e-6):
            peer = LinearSVC(C=C, loss="hinge", tol=tol, max_iter=10_000, random_state=0)
            other, price = time_fit(peer, X, y)
            ratio, excess = seconds / other, price / cost
            print(f"| {C} | {tol} | {seconds:.2f} | {other:.2f} | {ratio:.2f} | {excess:.6f} |")


def time_fit(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return the seconds of processor time of a fit, and the cost without the offset."""
    started = process_time()
    model.fit(X, y)
    seconds, w = process_time() - started, model.coef_[0]
    slack = np.maximum(1.0 - y * (X @ w + model.intercept_[0]), 0.0)
    return seconds, float(0.5 * w @ w + model.C * slack.sum())


def measure_sparse() -> None:
    """Print times and the peak of memory of all estimators on sparse rows."""
    rng = np.random.default_rng(0)
    (n, d), size = SPARSE, SPARSE[0] * IN_A_ROW
    places = np.repeat(np.arange(n), IN_A_ROW), rng.integers(0, d, size)
    X = csr_matrix((rng.uniform(size=size), places), shape=SPARSE)
    y = (X @ rng.standard_normal(SPARSE[1]) > 0.0).astype(int)
    megabytes = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    print(f"{X.shape}, {megabytes:.0f} MB sparse, {X.shape[0] * X.shape[1] * 8e-6:.0f} MB dense")
    print("| | seconds | peak of the fit, MB |\n|---|---|---|")
    models = {**OURS, "HardMarginSVM()": HardMarginSVM(), "LinearSVC": LinearSVC(loss="hinge")}
    for label, model in models.items():
        part = slice(0, 1000 if label == "RVM()" else len(y))  # its time grows with the square
        started = process_time()
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clone(model).fit(X[part], y[part])
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"| `{label}` | {process_time() - started:.2f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
