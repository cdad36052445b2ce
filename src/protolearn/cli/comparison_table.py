"""What a comparison on one table found, to be read on a screen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from rich.table import Table

from .._arrays import Floats
from ..selection import Comparison
from .summary import plain_table

SIGNIFICANT = 0.05
"""A p value below this counts."""

MOST_LETTERS = 200
"""Characters of a reason that are shown."""


class Failures:
    """Why models could not be fitted.

    Parameters
    ----------
    reasons : iterable of (str, str)
        Name of a model and a reason, once for each fold that failed.
    """

    def __init__(self, reasons: Iterable[tuple[str, str]]):
        self._reasons: dict[str, list[str]] = defaultdict(list)
        for model, reason in reasons:
            self._reasons[model].append(reason)

    def lines(self, comparison: Comparison) -> list[str]:
        """Write one line for each model that failed."""
        total = comparison.scores.shape[-1]
        return [
            f"{model} failed in {len(reasons)} of {total} folds: {shortened(reasons[0])}"
            for model, reasons in self._reasons.items()
        ]


def finished(comparison: Comparison) -> Comparison:
    """Return the models that have a score in every fold, from best to worst."""
    means = comparison.means[0]
    order = [i for i in np.argsort(-means, kind="stable").tolist() if not np.isnan(means[i])]
    return replace(
        comparison,
        models=tuple(comparison.models[i] for i in order),
        scores=comparison.scores[:, order],
        fit_times=comparison.fit_times[:, order],
    )


def comparison_table(comparison: Comparison) -> Table:
    """List the models from best to worst, with the difference to the best and its p value."""
    ranked = finished(comparison)
    heads = "accuracy", "deviation", "difference", "p", "seconds"
    table = plain_table("model", *heads)
    table.title = "Accuracy in percent, on rows that the models have not seen"
    table.caption = (
        "deviation: of the accuracy over folds; difference: to the best; p: of that difference, by "
        "the corrected resampled t-test, with Holm's correction for all pairs of models; seconds: "
        "of a fit"
    )
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    means, deviations = 100.0 * ranked.means[0], 100.0 * ranked.standard_deviations[0]
    pvalues = to_the_best(ranked)
    seconds = np.median(ranked.fit_times[0], axis=1)  # the first fit may compile
    for i, model in enumerate(ranked.models):
        against = (f"{means[i] - means[0]:.1f}", shown(pvalues[i])) if i else ("best", "")
        table.add_row(
            model, f"{means[i]:.1f}", f"{deviations[i]:.1f}", *against, f"{seconds[i]:.2g}"
        )
    for model in comparison.models:
        if model not in ranked.models:
            table.add_row(model, "failed")
    return table


def verdict(comparison: Comparison) -> list[str]:
    """Return which models are as good as the best, as far as the folds can tell."""
    ranked = finished(comparison)
    if len(ranked.models) < 2:
        return []
    best, *others = ranked.models
    alike = [
        name
        for name, pvalue in zip(others, to_the_best(ranked)[1:], strict=True)
        if pvalue >= SIGNIFICANT
    ]
    if len(alike) == len(others):
        return [f"No model is significantly worse than {best} (p < {SIGNIFICANT:g})."]
    if not alike:
        return [f"All others are significantly worse than {best} (p < {SIGNIFICANT:g})."]
    return [f"Not significantly worse than {best} (p >= {SIGNIFICANT:g}): {', '.join(alike)}."]


def to_the_best(ranked: Comparison) -> Floats:
    """Return the p values of the differences to the first model.

    The correction is that for all pairs, since the best was not known before.
    """
    return np.asarray(ranked.pairwise()[0]) if ranked.models else np.empty(0)


def shown(pvalue: float) -> str:
    """Write a p value."""
    return "< 0.001" if pvalue < 0.001 else f"{pvalue:.3f}"


def shortened(reason: str) -> str:
    """Return the first sentence of a reason, on one line."""
    line = " ".join(reason.split()).partition(". ")[0].removesuffix(".") + "."
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}..."
