"""How often intervals of measures cover the truth.

``python -m benchmarks.coverage`` prints a table; it takes a few minutes. Scores are normal, with
a known distance of the two classes, so that the truth is computed from many rows.
"""

from __future__ import annotations

import numpy as np

from protolearn.selection import evaluate_predictions

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


if __name__ == "__main__":
    main()
