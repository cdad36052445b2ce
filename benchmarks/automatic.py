"""The automatic choice beside a tuned SVC: accuracy, size and time on the same outer folds.

``python -m benchmarks.automatic [SET ...]`` prints the table, and writes it into the documentation
if it is complete. Each outer fit has 60 seconds; with nine sets and five folds it takes three
quarters of an hour. What is done is kept in ``results/automatic.json``: a run that was stopped goes
on from there, and to begin anew one deletes the file.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protolearn import AutoPrototypeClassifier, datasets
from protolearn._files import replacing
from protolearn.selection.auto.trials import n_numbers, n_prototypes

SETS = (
    "diabetes",
    "glass",
    "heart",
    "ionosphere",
    "sonar",
    "vehicle",
    "wdbc",
    "wine",
    "segment",
)
SECONDS = 60.0
SEED = 1
"""Of the outer folds; the candidates were picked by looking at other splits."""

RESULTS = Path(__file__).parent / "results" / "automatic.json"
PAGE = Path(__file__).parents[1] / "docs" / "automatic_table.md"
GRID = {"svc__C": 2.0 ** np.arange(-3, 12, 2), "svc__gamma": 2.0 ** np.arange(-11, 4, 2)}


def tuned_svc() -> GridSearchCV:
    """Give an rbf SVC with the usual grid, on five stratified folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=folds, n_jobs=2)


def outer_fit(X: Any, y: Any, train: Any, test: Any) -> dict[str, Any]:
    """Fit both on one outer fold."""
    start = perf_counter()
    svc = tuned_svc().fit(X[train], y[train])
    between = perf_counter()
    auto = AutoPrototypeClassifier(max_fits=None, time_budget=SECONDS, n_jobs=2, random_state=0)
    auto.fit(X[train], y[train])
    end = perf_counter()
    chosen = auto.best_estimator_[-1]
    return {
        "svc": svc.score(X[test], y[test]),
        "svc_seconds": between - start,
        "support_vectors": int(svc.best_estimator_[-1].n_support_.sum()),
        "auto": auto.score(X[test], y[test]),
        "auto_seconds": end - between,
        "auto_expected": auto.best_score_,
        "prototypes": n_prototypes(chosen),
        "numbers": n_numbers(chosen),
        "model": next(standing.model for standing in auto.leaderboard_ if standing.chosen),
        "stopped": auto.stopped_,
    }


def measure(name: str, done: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Give the outer fits on one set; those that are not done yet are made and kept."""
    X, y = datasets.load(name)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=SEED).split(X, y))
    fits = done.setdefault(name, [])
    for train, test in folds[len(fits) :]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits.append(outer_fit(X, y, train, test))
        print(f"  {name}: {json.dumps(fits[-1])}", flush=True)
        with replacing(RESULTS) as path:
            path.write_text(json.dumps(done, indent=1) + "\n")
    return fits


def line(name: str, fits: list[dict[str, Any]]) -> str:
    """Write the means of one set."""
    mean = {key: float(np.mean([fit[key] for fit in fits])) for key in fits[0] if key not in TEXTS}
    chosen = sorted({fit["model"].split("(")[0] for fit in fits})
    return (
        f"| {name} | {100 * mean['svc']:.1f} | {100 * mean['auto']:.1f} | "
        f"{100 * (mean['auto'] - mean['svc']):+.1f} | {mean['support_vectors']:.0f} | "
        f"{mean['prototypes']:.0f} | {mean['numbers']:.0f} | {mean['svc_seconds']:.0f} | "
        f"{mean['auto_seconds']:.0f} | {', '.join(chosen)} |"
    )


TEXTS = "model", "stopped"
HEAD = (
    "| set | tuned SVC | Auto | difference | support vectors | prototypes | numbers | s, SVC | "
    "s, Auto | chosen |\n|---|---|---|---|---|---|---|---|---|---|"
)


def mean_line(measured: dict[str, list[dict[str, Any]]]) -> str:
    """Write the mean over all sets."""
    svc, auto = (
        float(np.mean([np.mean([fit[key] for fit in fits]) for fits in measured.values()]))
        for key in ("svc", "auto")
    )
    return (
        f"| **mean** | **{100 * svc:.1f}** | **{100 * auto:.1f}** | "
        f"**{100 * (auto - svc):+.1f}** | | | | | | |"
    )


def main(names: list[str]) -> None:
    """Print the table; write it if it is complete."""
    done = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    measured = {name: measure(name, done) for name in names or SETS}
    lines = [HEAD, *(line(name, fits) for name, fits in measured.items()), mean_line(measured)]
    print("\n".join(lines))
    if not names:
        with replacing(PAGE) as path:
            path.write_text("\n".join(lines) + "\n")
        print(f"\nwritten to {PAGE}")


if __name__ == "__main__":
    main(sys.argv[1:])
