"""Sums over the draws of a set: accuracy, its spread, and how often a method wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protolearn.selection import Comparison

LEVEL = 0.05
"""Level of the corrected t-test, as in the paper."""


def accuracies(draws: Sequence[Comparison], method: str) -> list[float]:
    """Return the accuracy of a method in percent, of each draw that it was measured on."""
    used = [each for each in draws if method in each.models]
    return [100.0 * float(each.means[0, each.models.index(method)]) for each in used]


def mean_accuracy(draws: Sequence[Comparison], method: str) -> float:
    """Return the mean accuracy of a method in percent."""
    return float(np.mean(accuracies(draws, method)))


def spread(draws: Sequence[Comparison], method: str) -> tuple[float, float]:
    """Return standard deviations in percent: over the folds of a draw, and over draws."""
    used = [each for each in draws if method in each.models]
    folds = [each.standard_deviations[0, each.models.index(method)] for each in used]
    means = accuracies(draws, method)
    return 100.0 * float(np.mean(folds)), float(np.std(means, ddof=1)) if len(means) > 1 else np.nan


def shares_of_wins(draws: Sequence[Comparison], one: str, other: str) -> tuple[float, float]:
    """Return the shares of draws in which a method is significantly better, and worse."""
    better = worse = count = 0
    for each in draws:
        if one in each.models and other in each.models:
            statistic, pvalue = each.t_test(one, other)
            count += 1
            better += int(pvalue[0] < LEVEL and statistic[0] > 0.0)
            worse += int(pvalue[0] < LEVEL and statistic[0] < 0.0)
    return better / count, worse / count
