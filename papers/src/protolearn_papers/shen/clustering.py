"""The open hypothesis of section 6: PSVMs find clusters without a number that is given.

PSVMs stand beside methods that cluster, on the same folds; and where the parts of a set are known,
the clusters of each method beside these parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import completeness_score, homogeneity_score

from protolearn.selection import Comparison

from ..findings import Findings, Table
from ..folds import stratified
from ..work import Work
from .data import SETS, given, true_parts
from .draws import mean_accuracy, shares_of_wins, spread
from .folds import compared, n_folds
from .local_svms import ClusterSVMs
from .methods import KMEANS, LOCALIZED, MODELS, PROFILE
from .paper import EXTENDED, LOSS, PSVM, SHOWN, WIN

RIVALS = (KMEANS, LOCALIZED, PROFILE)
METHODS = (PSVM, EXTENDED, *RIVALS)
CLUSTERED = tuple(name for name in SETS if name != "segment")
"""The sets; a localized SVM trains a model for each row, and segment has too many."""

QUICK = ("spirals", "iris")
KNOWN = ("isolated", "striated")
"""Sets of which the parts of classes are known."""

FINDERS = (PSVM, EXTENDED, KMEANS)


def run(work: Work) -> Findings:
    """Compare accuracies and clusters."""
    names = QUICK if work.quick else CLUSTERED
    found = compared(work, METHODS, noisy=False, names=names, draws=1)
    parts = _clusters(work)
    return Findings([_accuracies(found), _parts(parts)], (), [*_remarks(found, parts), *SETTINGS])


SETTINGS = (
    "All see z-scored features and have C = 100. The number of clusters (1 to 64) or of neighbours "
    "(10, 30, 100) is chosen in each training part by a quarter of its rows, as PSVMs choose "
    "the number of shifts. Localized and profile SVMs are as Shen and Danyluk describe them: one "
    "linear SVM for each test row, of its nearest training rows; and one for each cluster of "
    "training rows that are alike to the same test rows. Segment is left out, since a localized "
    "SVM would train thousands of models a fold.",
    "A part is a cluster of *isolated*, its whole background, or a stripe of *striated*. The "
    "cluster of a row is the model whose positive set it is in. Homogeneity is 1 if no cluster has "
    "rows of several parts, completeness if no part is in several clusters.",
)


def _accuracies(found: dict[str, list[Comparison]]) -> Table:
    records, rows = [], []
    for name, draws in found.items():
        cells = []
        for method in METHODS:
            signs = [_sign(draws, psvm, method) for psvm in (PSVM, EXTENDED)]
            marks = "".join({1: WIN, -1: LOSS}.get(sign, "-") for sign in signs)
            mean = mean_accuracy(draws, method)
            cells.append(f"{mean:.1f}" + (f" {marks}" if method in RIVALS else ""))
            records.append(
                {
                    "dataset": name,
                    "method": method,
                    "accuracy": round(mean, 4),
                    "deviation": round(spread(draws, method)[0], 4),
                    "published_wins": signs[0] if method in RIVALS else "",
                    "extended_wins": signs[1] if method in RIVALS else "",
                }
            )
        rows.append([name, *cells])
    return Table(
        "accuracy",
        "Accuracy in percent on the same folds, clean labels",
        ["data set", *(SHOWN.get(method, method) for method in METHODS)],
        rows,
        records,
        [
            f"The two marks are of the PSVM as published and of the extended one: {WIN} it is "
            f"significantly better than this method, {LOSS} worse, - neither (corrected paired "
            "t-test, level 0.05)."
        ],
    )


def _sign(draws: list[Comparison], psvm: str, method: str) -> int:
    if method not in RIVALS:
        return 0
    better, worse = shares_of_wins(draws, psvm, method)
    return int(better > 0.5) - int(worse > 0.5)


def _clusters(work: Work) -> list[dict[str, Any]]:
    """Measure the clusters of each method in the training parts."""
    folds = n_folds(work)
    places = [(name, method) for name in KNOWN for method in FINDERS]
    tasks = {
        f"clusters/{name}/{method}/{fold}": (name, method, fold, folds, work.seed)
        for name, method in places
        for fold in range(folds)
    }
    values = list(work.map("clusters", find_clusters, tasks).values())
    return [
        {"dataset": name, "method": method}
        | {
            key: round(float(np.mean([v[key] for v in values[folds * i : folds * (i + 1)]])), 4)
            for key in ("parts", "clusters", "homogeneity", "completeness")
        }
        for i, (name, method) in enumerate(places)
    ]


def find_clusters(name: str, method: str, fold: int, folds: int, seed: int) -> dict[str, float]:
    """Return how many clusters a method has in a training part, and how they fit the true parts."""
    X, y = given(name, False, seed)
    train, _ = stratified(X, y, folds, seed)[fold]
    X, y, parts = X[train], y[train], true_parts(name, X, y)[train]
    model = MODELS[method](X.shape[1], len(np.unique(y)), seed).fit(X, y)
    if isinstance(model, ClusterSVMs):
        again = KMeans(model.size_, n_init=1, random_state=seed)
        cluster = again.fit(model.scaler_.transform(X)).labels_
    else:
        cluster = np.full(len(y), -1)
        for number, rows in enumerate(model.positive_sets_):
            cluster[rows] = number
    used = cluster >= 0
    return {
        "parts": len(np.unique(parts)),
        "clusters": len(np.unique(cluster[used])),
        "homogeneity": float(homogeneity_score(parts[used], cluster[used])),
        "completeness": float(completeness_score(parts[used], cluster[used])),
    }


def _parts(records: list[dict[str, Any]]) -> Table:
    return Table(
        "clusters",
        "Clusters of the training parts beside the true parts, means over folds",
        ["data set", "method", "true parts", "clusters", "homogeneity", "completeness"],
        [
            [
                *(
                    r["dataset"],
                    SHOWN.get(r["method"], r["method"]),
                    f"{r['parts']:.0f}",
                    f"{r['clusters']:.0f}",
                ),
                *(f"{r[key]:.2f}" for key in ("homogeneity", "completeness")),
            ]
            for r in records
        ],
        records,
    )


def _remarks(found: dict[str, list[Comparison]], records: list[dict[str, Any]]) -> Iterator[str]:
    for psvm, words in ((PSVM, "PSVM as published"), (EXTENDED, "extended PSVM")):
        counts = []
        for rival in RIVALS:
            signs = [_sign(draws, psvm, rival) for draws in found.values()]
            counts.append(f"{signs.count(1)} and {signs.count(-1)} of {len(signs)} ({rival})")
        yield (f"Sets on which the {words} is significantly better and worse: {', '.join(counts)}.")
    means = {m: np.mean([mean_accuracy(draws, m) for draws in found.values()]) for m in METHODS}
    yield f"Mean accuracy: {', '.join(f'{SHOWN.get(m, m)} {means[m]:.1f}' for m in METHODS)}."
    ratio = {m: [r["clusters"] / r["parts"] for r in records if r["method"] == m] for m in FINDERS}
    yield (
        "Clusters for each true part: "
        + ", ".join(f"{SHOWN.get(m, m)} {min(v):.1f} to {max(v):.1f}" for m, v in ratio.items())
        + ". A PSVM needs no number of clusters, but "
        + (
            "it ends with several times as many models as there are parts: its clusters are pieces "
            "of them. The hypothesis holds in so far as no number has to be given, and not if the "
            "clusters are meant to be the parts of a class."
            if min(min(ratio[PSVM]), min(ratio[EXTENDED])) > 2.0
            else "whether its clusters are the parts of a class depends on the set."
        )
    )
