"""The relevances of many fits in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from .frames import import_pandas

MOST_LINES = 30
"""Features that the printed table shows."""


@dataclass(frozen=True, eq=False, repr=False)
class RelevanceProfile:
    """How much each feature counts, and how sure that is.

    All relevances are shares of one. With local metrics the arrays have one row for each group,
    a class or a prototype, and ``samples`` has the shape (n_resamples, n_groups, n_features).

    Attributes
    ----------
    feature_names : tuple of str
        The features, as the classifier sees them.
    relevances : array of shape (n_features,)
        Of the model fitted on all rows.
    mean : array of shape (n_features,)
        Mean over the refits.
    low, high : arrays of shape (n_features,)
        Ends of the percentile interval.
    samples : array of shape (n_resamples, n_features)
        Of every refit.
    level : float
        Share of the refits inside the interval.
    method : str
        How the rows were resampled.
    group_names : tuple of str
        With local metrics whose row is which; empty with one metric for all.
    """

    feature_names: tuple[str, ...]
    relevances: Floats
    mean: Floats
    low: Floats
    high: Floats
    samples: Floats
    level: float
    method: str
    group_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        local = f", {len(self.group_names)} groups" if self.group_names else ""
        return (
            f"<RelevanceProfile: {len(self.feature_names)} features{local}, "
            f"{len(self.samples)} refits ({self.method})>"
        )

    def __str__(self) -> str:
        title = (
            f"Relevance in percent: {len(self.samples)} refits ({self.method}), "
            f"{100 * self.level:g} % interval"
        )
        if not self.group_names:
            return "\n".join([title, *self._table(...)])
        lines = [title]
        for g, name in enumerate(self.group_names):
            lines += ["", f"{name}:", *self._table(g)]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the profile as a pandas data frame, one line a feature (and group).

        Returns
        -------
        frame : DataFrame
            Columns ``relevance``, ``mean``, ``low`` and ``high``; the features are the index, with
            local metrics below the groups.
        """
        pd = import_pandas()
        index = pd.Index(self.feature_names, name="feature")
        if self.group_names:
            index = pd.MultiIndex.from_product(
                [self.group_names, self.feature_names], names=["group", "feature"]
            )
        columns = {"relevance": self.relevances, "mean": self.mean}
        columns |= {"low": self.low, "high": self.high}
        return pd.DataFrame({name: part.ravel() for name, part in columns.items()}, index=index)

    def _table(self, group: Any) -> list[str]:
        """Return the lines of one group, the largest mean first."""
        mean = self.mean[group]
        shown = np.argsort(-mean, kind="stable")[:MOST_LINES]
        width = max(len("feature"), *(len(self.feature_names[j]) for j in shown))
        lines = [f"{'feature':<{width}}  {'mean':>5}  {'low':>5}  {'high':>5}  {'all rows':>8}"]
        percent = [100.0 * part[group] for part in (self.mean, self.low, self.high)]
        whole = 100.0 * self.relevances[group]
        for j in shown:
            middle = "  ".join(f"{part[j]:5.1f}" for part in percent)
            lines.append(f"{self.feature_names[j]:<{width}}  {middle}  {whole[j]:8.1f}")
        if len(mean) > len(shown):
            lines.append(f"... and {len(mean) - len(shown)} features more")
        return lines
