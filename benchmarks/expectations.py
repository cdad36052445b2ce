"""What a search says about new rows, beside what is true, on data of known distribution.

``python -m benchmarks.expectations [--draws 300]`` prints, for each number of rows, the mean of
what the search expects of its choice less the accuracy of the delivered model on 20,000 new rows,
and how often the 95 % interval holds that accuracy. Labels of a coin come last: 50 % is true.
Each line is printed when it is done.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from protolearn import AutoPrototypeClassifier
from protolearn.folds import row_groups
from protolearn.selection import Answers, on_folds

Draw = Callable[[int, np.random.RandomState], tuple[NDArray, NDArray]]
FAMILIES = "linear", "fixed"
SIZES = 80, 300, 1000
N_NEW = 20_000


def two_clusters(n_rows: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Return rows of two classes of two clusters each, which overlap."""
    y, part = rng.randint(2, size=n_rows), rng.choice([-1.0, 1.0], size=n_rows)
    X = rng.normal(size=(n_rows, 6))
    X[:, 0] += 1.5 * part
    X[:, 1] += 1.2 * (2 * y - 1) * part
    X[:, 2] += 0.8 * y
    return X, y


def one_in_five(n_rows: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Return rows of a class and of a rarer one, whose border is a plane."""
    X = rng.normal(size=(n_rows, 8))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n_rows) > 1.25).astype(int)
    return X, y


def coin(n_rows: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Return rows whose labels nobody can know."""
    return rng.normal(size=(n_rows, 6)), rng.permutation(np.arange(n_rows) % 2)


NAMES: dict[Draw, str] = {
    two_clusters: "two classes of two clusters each, which overlap",
    one_in_five: "a class and a rarer one (one row in five), whose border is a plane",
    coin: "labels of a coin",
}


def measure(draw: Draw, n_rows: int, seed: int) -> tuple[float, float, float, float]:
    """Return what a search expects, its interval, and what is true."""
    rng = np.random.RandomState(seed)
    X, y = draw(n_rows, rng)
    model = AutoPrototypeClassifier(families=FAMILIES, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    answers, sizes, places = [], [], []
    for fold in range(len(model.held_out_models_)):
        test = np.flatnonzero(model.held_out_folds_ == fold)
        shares = model.held_out_proba_[test]
        said = model.classes_[shares.argmax(axis=1)]
        answers.append(Answers(y[test], said, model.classes_, np.log(shares + 1e-300), shares))
        sizes.append((n_rows - len(test), len(test)))
        places.append(test)
    n_train, n_test = np.array(sizes).T
    groups = row_groups(X).of(np.concatenate(places))
    accuracy = on_folds(answers, n_train, n_test, 0.95, groups, chosen=True).accuracy
    new, labels = draw(N_NEW, rng)
    true = 0.5 if draw is coin else float(np.mean(model.predict(new) == labels))
    return accuracy.value, accuracy.low, accuracy.high, true


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=300)
    n_draws = parser.parse_args().draws
    print("| data | rows | expected less true, points | coverage of 95 % intervals, % |")
    print("|---|---|---|---|")
    for draw, sizes in (two_clusters, SIZES), (one_in_five, SIZES), (coin, SIZES[:1]):
        for n_rows in sizes:
            told = np.array([measure(draw, n_rows, seed) for seed in range(n_draws)])
            value, low, high, true = told.T
            off, covered = 100 * (value - true), (low <= true) & (true <= high)
            error = off.std(ddof=1) / np.sqrt(n_draws)
            columns = f"{off.mean():+.2f} ± {error:.2f} | {100 * covered.mean():.1f}"
            print(f"| {NAMES[draw]} | {n_rows} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
