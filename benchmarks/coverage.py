"""How often intervals of measures cover the truth, and tests of two models raise false alarms.

``python -m benchmarks.coverage`` prints a table; it takes a few minutes. Scores are normal, with
a known distance of the two classes, so that the truth is computed from many rows. With ``--pairs``
two models compete in ten folds that see different columns of the same kind: class means.
"""

from __future__ import annotations

import sys

import numpy as np

from protolearn.folds import RowGroups, stratified_folds
from protolearn.selection import evaluate_predictions
from protolearn.selection.significance import corrected_t_test, row_test

NAMES = "accuracy", "balanced_accuracy", "auc", "average_precision", "log_loss"
SHIFT = 1.5
N_TRUTH = 300_000


def draw(rng: np.random.RandomState, n_rows: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and probabilities of the second class, which are right."""
    y = (rng.uniform(size=n_rows) < share).astype(int)
    x = rng.normal(size=n_rows) + SHIFT * y
    odds = share / (1.0 - share) * np.exp(SHIFT * x - 0.5 * SHIFT**2)
    return y, odds / (1.0 + odds)


def measured(
    y: np.ndarray, p: np.ndarray, n_resamples: int = 300
) -> dict[str, tuple[float, float, float]]:
    """Return value and interval of each measure."""
    found = evaluate_predictions(
        y,
        (p > 0.5).astype(int),
        probabilities=np.stack([1 - p, p], axis=1),
        classes=[0, 1],
        n_resamples=n_resamples,
        random_state=0,
    )
    return {name: getattr(found, name)[:3] for name in NAMES}


def main(n_draws: int = 2_000) -> None:
    """Print the coverage of 95 % intervals."""
    print("| rows | share | " + " | ".join(NAMES) + " |")
    print("|---|---|" + "---|" * len(NAMES))
    for share in (0.05, 0.5):
        truth = measured(*draw(np.random.RandomState(1), N_TRUTH, share), n_resamples=10)
        for n_rows in (80, 300, 3_000):
            rng, hits, n_used = np.random.RandomState(n_rows), np.zeros(len(NAMES)), 0
            while n_used < n_draws:
                y, p = draw(rng, n_rows, share)
                if min(y.sum(), len(y) - y.sum()) < 2:
                    continue
                n_used += 1
                ends = measured(y, p)
                hits += [ends[k][1] <= truth[k][0] <= ends[k][2] for k in NAMES]
            cells = " | ".join(f"{100 * one / n_used:.1f}" for one in hits)
            print(f"| {n_rows:,} | {share} | {cells} |", flush=True)


def right_rows(X: np.ndarray, y: np.ndarray, folds: list) -> np.ndarray:
    """Return which rows the nearest class mean gets right, each fitted without its fold."""
    right = np.zeros(len(y))
    for train, test in folds:
        means = [X[train][y[train] == k].mean(axis=0) for k in (0, 1)]
        way = means[1] - means[0]
        right[test] = ((X[test] - 0.5 * (means[0] + means[1])) @ way > 0.0) == y[test]
    return right


def alarms(n_rows: int, width: int, shift: float, n_draws: int) -> np.ndarray:
    """Return how often two equally good procedures differ, by rows and by folds (p < 0.05)."""
    found = np.zeros(2)
    for seed in range(n_draws):
        rng, y = np.random.RandomState(seed), np.arange(n_rows) % 2
        X = rng.normal(size=(n_rows, 2 * width)) + shift / np.sqrt(width) * (y[:, None] - 0.5)
        folds = stratified_folds(y, 10, RowGroups(None), random_state=seed)
        pair = [right_rows(part, y, folds) for part in (X[:, :width], X[:, width:])]
        gaps = np.array([(pair[0] - pair[1])[test].mean() for _, test in folds])
        sizes = [[len(part[k]) for part in folds] for k in (0, 1)]
        by_rows = row_test(*pair, np.arange(n_rows), 0.95).pvalue
        found += by_rows < 0.05, corrected_t_test(gaps, *sizes).pvalue < 0.05
    return found / n_draws


def pairs(n_draws: int = 1_500) -> None:
    """Print how often tests of two equally good models are below 0.05."""
    print(
        "| rows | columns | distance of the classes | by rows | by folds |\n|---|---|---|---|---|"
    )
    for n_rows, width, shift in (
        *((60, 3, 0.0), (60, 3, 1.5), (60, 10, 1.5), (200, 3, 0.0), (200, 3, 1.5)),
        *((200, 10, 2.5), (600, 10, 1.5), (200, 30, 2.5)),
    ):
        shares = " | ".join(f"{100 * one:.1f}" for one in alarms(n_rows, width, shift, n_draws))
        print(f"| {n_rows} | {width} | {shift} | {shares} |", flush=True)


if __name__ == "__main__":
    pairs() if "--pairs" in sys.argv else main()
