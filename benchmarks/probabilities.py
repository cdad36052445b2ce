"""Log loss of the probabilities of every preset with no arguments, by each way of calibration.

``python -m benchmarks.probabilities`` prints a table for the sets by which the share of learned
numbers that follow single labels was chosen, and one for the others. Rows are split into three
stratified folds, large sets are cut to 2,000 rows, features are z-scored on the training part.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ, GRLVQ, datasets

from .defaults import PRESETS, RULES

CHOSEN_BY = ("heart", "sonar", "iris", "glass", "vehicle", "wdbc", "segment")
OTHERS = ("diabetes", "wine", "ionosphere", "glass2", "satimage")
WAYS = (None, "train", "cv")
ROWS = 2000


def losses(name: str) -> dict[str, list[float]]:
    """Return the mean log loss of each model by the prior and by each way."""
    X, y = datasets.load(name)
    some = np.random.RandomState(0).permutation(len(y))[:ROWS]
    X, y, found = X[some], y[some], dict[str, Any]()
    for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        scaler = StandardScaler().fit(X[train])
        labels, counts = np.unique(y[train], return_counts=True)
        prior = np.tile(counts / counts.sum(), (len(test), 1))
        for cls in (*PRESETS, *RULES, GRLVQ, GMLVQ):
            line = [log_loss(y[test], prior, labels=labels)]
            for way in WAYS:
                model = clone(cls(random_state=0, calibrate=way))
                model.fit(scaler.transform(X[train]), y[train])
                P = model.predict_proba(scaler.transform(X[test]))
                line.append(log_loss(y[test], P, labels=labels))
            found.setdefault(cls.__name__, []).append(line)
    return {model: np.mean(lines, axis=0).tolist() for model, lines in found.items()}


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    for names in (CHOSEN_BY, OTHERS):
        found = {name: losses(name) for name in names}
        print(f"\nMean over {', '.join(names)}\n")
        print("| | prior | None | train | cv | train above the prior |")
        print("|---|---|---|---|---|---|")
        for model in found[names[0]]:
            lines = np.array([found[name][model] for name in names])
            above = [name for name, line in zip(names, lines, strict=True) if line[2] >= line[0]]
            mean = " | ".join(f"{value:.3f}" for value in lines.mean(axis=0))
            print(f"| `{model}` | {mean} | {', '.join(above) or 'nowhere'} |", flush=True)


if __name__ == "__main__":
    main()
