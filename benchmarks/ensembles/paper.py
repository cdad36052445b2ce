"""Ten-fold accuracy and ensemble sizes beside those of Shen and Danyluk.

The paper's algorithm, without choosing models and with sigmoids, for several C and scalings, which
the paper does not give; then the defaults, with true labels and with one wrong label in ten, which
test rows have too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from protolearn_papers.shen.paper import PSVM, TABLE2, TABLE4, TABLE5

from ..measure import Table, mark
from .data import PAPER, Folds, noisy_folds, on_folds

FOLDS = 10

ALGORITHM: dict[str, Any] = {"pruning": None, "calibration": "platt"}
"""The algorithm as published."""

COSTS = (0.01, 1.0, 100.0, 1e4)

SEEDS = 5
"""Draws of label noise; one for the largest set."""

ACCURACY = {name: row[PSVM][:2] for name, row in TABLE2.items()}
NOISY_ACCURACY = {name: row[PSVM][:2] for name, row in TABLE4.items()}
"""Means and standard deviations of the PSVM."""


@dataclass(frozen=True)
class Result:
    """Accuracy in percent and size of the ensembles, beside the paper's.

    The bar is the mean of the paper less half a standard deviation.
    """

    name: str
    accuracy: float
    deviation: float
    published: float
    published_deviation: float
    models: float
    published_models: int
    seconds: float

    @property
    def bar(self) -> float:
        """Give what the accuracy should be at least."""
        return self.published - 0.5 * self.published_deviation

    @property
    def met(self) -> bool:
        """Whether it is."""
        return self.accuracy >= self.bar

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.name:<36}{self.accuracy:>8.1f}({self.deviation:>5.2f})"
            f"{self.published:>7.1f}({self.published_deviation:>5.2f}){self.bar:>7.1f}"
            f"{self.models:>8.0f}{self.published_models:>7}{self.seconds:>8.0f}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "bar": self.bar, "met": self.met}


HEADING = (
    f"{'ten folds':<36}{'ours %':>15}{'paper %':>14}{'bar':>7}{'models':>8}{'paper':>7}"
    f"{'seconds':>8}"
)
"""The heading over lines of :class:`Result`."""


def published_tables() -> Iterator[Table]:
    """Give the paper's algorithm for each C and scaling."""
    yield Table(f"the algorithm of the paper\n{HEADING}", published())


def published() -> Iterator[Result]:
    """Measure one set after the other."""
    for name, load in PAPER.items():
        X, y = load()
        for standardize in (False, True):
            for C in COSTS:
                start = perf_counter()
                folds = on_folds(X, y, y, FOLDS, **ALGORITHM, C=C, standardize=standardize)
                told = f"{name}, {'z-scored' if standardize else 'raw'}, C={C:g}"
                yield result(
                    told, folds, ACCURACY[name], TABLE5[name].clean, perf_counter() - start
                )


def tables() -> Iterator[Table]:
    """Give the defaults, with true labels and with noise."""
    yield Table(f"defaults, tables 2 and 5\n{HEADING}", clean())
    yield Table(f"defaults, one label in ten wrong, tables 4 and 5\n{HEADING}", noisy())


def clean() -> Iterator[Result]:
    """Measure with true labels."""
    for name, load in PAPER.items():
        X, y = load()
        start = perf_counter()
        folds = on_folds(X, y, y, FOLDS)
        yield result(name, folds, ACCURACY[name], TABLE5[name].clean, perf_counter() - start)


def noisy() -> Iterator[Result]:
    """Measure with label noise, in test rows too, as in the paper."""
    for name, load in PAPER.items():
        X, y = load()
        seeds = range(SEEDS if len(X) < 2000 else 1)
        start = perf_counter()
        folds = noisy_folds(X, y, seeds, FOLDS, noisy_tests=True)
        told = f"{name}, {len(seeds)} draw{'s' * (len(seeds) > 1)} of noise"
        seconds = perf_counter() - start
        yield result(told, folds, NOISY_ACCURACY[name], TABLE5[name].noisy, seconds)


def result(
    name: str, folds: Folds, published: tuple[float, float], models: int, seconds: float
) -> Result:
    """Sum up folds."""
    accuracy = 100.0 * folds.accuracy
    mean, deviation = float(accuracy.mean()), float(accuracy.std(ddof=1))
    return Result(name, mean, deviation, *published, float(folds.models.mean()), models, seconds)
