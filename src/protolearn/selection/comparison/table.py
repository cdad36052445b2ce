"""A comparison as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._arrays import Floats
from .significance import rounded

SHARES = "accuracy", "balanced_accuracy"
"""Scores that are shown in percent."""


def table(
    datasets: Sequence[str],
    models: Sequence[str],
    means: Floats,
    deviations: Floats,
    scoring: str,
    ranks: Floats | None,
) -> str:
    """Write means and standard deviations, the best of each row with a star.

    Parameters
    ----------
    datasets, models : sequence of str
        Names of the rows and columns.
    means, deviations : array of shape (n_datasets, n_models)
        What is shown; a deviation that is NaN is left out.
    scoring : str
        Name of the score.
    ranks : array of shape (n_models,) or None
        The last row.
    """
    unit, form = (100.0, "{:.2f}") if scoring in SHARES else (1.0, "{:.4g}")
    title = f"{scoring} in percent" if scoring in SHARES else scoring
    rows = [["", *models]]
    for name, mean, deviation in zip(datasets, means, deviations, strict=True):
        rows.append([name, *_entries(unit * mean, unit * deviation, form)])
    if ranks is not None:
        rows.append(["mean rank", *(f"{rank:.2f} " for rank in ranks)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
    return "\n".join([f"{title}, mean +- standard deviation over splits; * best", *lines])


def _entries(mean: Floats, deviation: Floats, form: str) -> list[str]:
    """Write one row; the place of the star is always there, so that the numbers line up."""
    known = mean[~np.isnan(mean)]
    near = np.full(mean.shape, False)
    if known.size:
        near[~np.isnan(mean)] = rounded(known) == rounded(known).max()
    return [
        form.format(m) + (f" +- {form.format(s)}" if np.isfinite(s) else "") + "* "[not best]
        for m, s, best in zip(mean, deviation, near, strict=True)
    ]
