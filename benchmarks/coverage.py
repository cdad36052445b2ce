"""How often intervals of measures cover the truth, and tests of two models raise false alarms.

``python -m benchmarks.coverage`` prints a table; it takes a few minutes. Scores are normal, with
a known distance of the two classes, so that the truth is computed from many rows.
``--bootstrap`` has intervals by resampled rows instead, and ``--folds`` those of a procedure that
is fitted in five folds. With ``--pairs`` two models compete in ten folds that see different columns
of the same kind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from protolearn.folds import RowGroups, stratified_folds
from protolearn.selection import evaluate, evaluate_predictions
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


def weighted(y: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return all measures of rows with weights, one line of ``w`` each; ``p`` rises."""
    sizes = [np.maximum((w * (y == k)).sum(axis=1), 1e-300) for k in (0, 1)]
    right = w * ((p > 0.5) == y)
    recalls = [(right * (y == k)).sum(axis=1) / sizes[k] for k in (0, 1)]
    area = (w * y * np.cumsum(w * (1 - y), axis=1)).sum(axis=1) / (sizes[0] * sizes[1])
    precisions = []
    for k, way in ((0, 1), (1, -1)):  # the surest rows of the class first
        weight = w[:, ::way]
        own = weight * (y == k)[::way]
        above = np.maximum(np.cumsum(weight, axis=1), 1e-300)
        precisions.append((own * np.cumsum(own, axis=1) / above).sum(axis=1) / sizes[k])
    losses = -np.log(np.where(y == 1, p, 1.0 - p))
    total = w.sum(axis=1)
    columns = right.sum(axis=1) / total, sum(recalls) / 2, area, sum(precisions) / 2
    return np.stack([*columns, w @ losses / total], axis=1)


def resampled(
    y: np.ndarray, p: np.ndarray, n_resamples: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of all measures by percentiles, and by those of BCa (Efron 1987)."""
    order = np.argsort(p)
    y, p, n = y[order], p[order], len(y)
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=n_resamples).astype(float)
    values, value = weighted(y, p, drawn), weighted(y, p, np.ones((1, n)))[0]
    part = np.arange(n) % min(n, 100)  # leaves out a hundredth of the rows at a time
    left_out = weighted(y, p, (part != np.arange(part.max() + 1)[:, None]).astype(float))
    pull = left_out.mean(axis=0) - left_out
    cubes = (pull**3).sum(axis=0) / np.maximum(6.0 * (pull**2).sum(axis=0) ** 1.5, 1e-300)
    below = ((values < value) + 0.5 * (values == value)).mean(axis=0)
    bias = norm.ppf(np.clip(below, 1e-3, 1.0 - 1e-3))
    shifted = bias + norm.ppf([[0.025], [0.975]])
    places = norm.cdf(bias + shifted / (1.0 - cubes * shifted))
    corrected = [np.quantile(values[:, j], places[:, j]) for j in range(len(value))]
    return np.percentile(values, [2.5, 97.5], axis=0), np.transpose(corrected)


def analytic(y: np.ndarray, p: np.ndarray, _: np.random.RandomState) -> list[np.ndarray]:
    """Return the intervals of the library."""
    ends = measured(y, p)
    return [np.transpose([ends[name][1:] for name in NAMES])]


def main(is_bootstrap: bool, n_draws: int = 2_000) -> None:
    """Print the coverage of 95 % intervals, in draws with ten rows of each class or more."""
    methods = ("percentile", "BCa") if is_bootstrap else ("library",)
    print("| rows | share | intervals | " + " | ".join(NAMES) + " |")
    print("|---|---|---|" + "---|" * len(NAMES))
    for share in (0.05, 0.5):
        truth = measured(*draw(np.random.RandomState(1), N_TRUTH, share), n_resamples=10)
        values = np.array([truth[name][0] for name in NAMES])
        for n_rows in (80, 300, 3_000):
            rng, n_used = np.random.RandomState(n_rows), 0
            hits = np.zeros((len(methods), len(NAMES)))
            while n_used < n_draws:
                y, p = draw(rng, n_rows, share)
                if min(y.sum(), n_rows - y.sum()) < (10 if n_rows * share > 10 else 2):
                    continue
                n_used += 1
                found = resampled(y, p, 500, rng) if is_bootstrap else analytic(y, p, rng)
                hits += [(low <= values) & (values <= high) for low, high in found]
            for name, line in zip(methods, hits, strict=True):
                cells = " | ".join(f"{100 * one / n_used:.1f}" for one in line)
                print(f"| {n_rows:,} | {share} | {name} | {cells} |", flush=True)


def over_folds(n_draws: int = 300) -> None:
    """Print the coverage for a linear discriminant that is fitted in five folds.

    The truth is the mean over models of as many rows as the folds have, on many new rows.
    """
    print("| rows | share | distance | " + " | ".join(NAMES) + " |\n|---|---|---|" + "---|" * 5)
    model = LinearDiscriminantAnalysis()
    for n_rows, share, shift in (
        *((80, 0.5, 0.0), (300, 0.5, 0.0), (300, 0.5, 0.7), (80, 0.5, 1.5), (300, 0.05, 1.5)),
        *((300, 0.5, 1.5), (3_000, 0.05, 1.5), (3_000, 0.5, 1.5)),
    ):
        found, truth = np.zeros((n_draws, len(NAMES), 2)), []
        for seed in range(n_draws):
            rng = np.random.RandomState(seed)
            X, y = draw_columns(rng, n_rows, share, shift)
            while y.sum() < 10:
                X, y = draw_columns(rng, n_rows, share, shift)
            ends = evaluate(model, X, y, cv=5, n_resamples=300, random_state=0)
            found[seed] = [getattr(ends, name)[1:3] for name in NAMES]
            if seed < 50:
                model.fit(X[: 4 * n_rows // 5], y[: 4 * n_rows // 5])
                new = draw_columns(rng, 20_000, share, shift)
                ends = evaluate(model, *new, n_resamples=10, random_state=0)
                truth.append([getattr(ends, name).value for name in NAMES])
        values = np.mean(truth, axis=0)
        held = ((found[..., 0] <= values) & (values <= found[..., 1])).mean(axis=0)
        cells = " | ".join(f"{100 * one:.1f}" for one in held)
        print(f"| {n_rows:,} | {share} | {shift} | {cells} |", flush=True)


def draw_columns(
    rng: np.random.RandomState, n_rows: int, share: float, shift: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of five normal columns, and labels."""
    y = (rng.uniform(size=n_rows) < share).astype(int)
    return rng.normal(size=(n_rows, 5)) + shift / np.sqrt(5.0) * y[:, None], y


def right_by_means(X: np.ndarray, y: np.ndarray, folds: list) -> np.ndarray:
    """Return which rows the nearest class mean gets right, each fitted without its fold."""
    right = np.zeros(len(y))
    for train, test in folds:
        means = [X[train][y[train] == k].mean(axis=0) for k in (0, 1)]
        way = means[1] - means[0]
        right[test] = ((X[test] - 0.5 * (means[0] + means[1])) @ way > 0.0) == y[test]
    return right


def right_by(model: Any) -> Callable[..., np.ndarray]:
    """Return the same of a model of scikit-learn."""

    def right(X: np.ndarray, y: np.ndarray, folds: list) -> np.ndarray:
        return (cross_val_predict(model, X, y, cv=folds) == y).astype(float)

    return right


def alarms(
    right_rows: Callable[..., np.ndarray], n_rows: int, width: int, shift: float, n_draws: int
) -> np.ndarray:
    """Return how often two equally good procedures differ, by rows and by folds (p < 0.05)."""
    found = np.zeros(3)
    for seed in range(n_draws):
        rng, y = np.random.RandomState(seed), np.arange(n_rows) % 2
        X = rng.normal(size=(n_rows, 2 * width)) + shift / np.sqrt(width) * (y[:, None] - 0.5)
        folds = stratified_folds(y, 10, RowGroups(None), random_state=seed)
        pair = [right_rows(part, y, folds) for part in (X[:, :width], X[:, width:])]
        gaps = np.array([(pair[0] - pair[1])[test].mean() for _, test in folds])
        sizes = [[len(part[k]) for part in folds] for k in (0, 1)]
        rows = np.arange(n_rows)
        found += [
            one < 0.05
            for one in (
                row_test(*pair, rows, 0.95, y).pvalue,
                row_test(*pair, rows, 0.95).pvalue,
                corrected_t_test(gaps, *sizes).pvalue,
            )
        ]
    return found / n_draws


CELLS = (
    *((60, 3, 0.0), (60, 3, 1.5), (60, 10, 1.5), (200, 3, 0.0), (200, 3, 0.5), (200, 3, 1.0)),
    *((200, 3, 1.5), (200, 10, 2.5), (200, 30, 0.0), (200, 30, 1.0), (200, 30, 2.5)),
    *((600, 3, 0.0), (600, 3, 0.5), (600, 10, 1.5)),
)
"""Rows, columns and distance of the classes."""

OTHERS = {
    "5 nearest rows": KNeighborsClassifier(5),
    "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
}


def pairs(n_draws: int = 5_000, n_others: int = 1_000) -> None:
    """Print how often tests of two equally good models are below 0.05."""
    print("| model | rows | columns | distance of the classes | by rows | McNemar | by folds |")
    print("|---|---|---|---|---|---|---|")
    cases = [("class means", right_by_means, cell, n_draws) for cell in CELLS]
    for name, model in OTHERS.items():
        cases += [(name, right_by(model), CELLS[i], n_others) for i in (3, 4, 6)]
    for name, right_rows, cell, n in cases:
        shares = " | ".join(f"{100 * one:.1f}" for one in alarms(right_rows, *cell, n))
        print(f"| {name} | {' | '.join(map(str, cell))} | {shares} |", flush=True)


if __name__ == "__main__":
    if "--pairs" in sys.argv:
        pairs()
    elif "--folds" in sys.argv:
        over_folds()
    else:
        main("--bootstrap" in sys.argv)
