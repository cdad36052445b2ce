"""The critical-difference picture: mean ranks of models, and which of them do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from .._names import shorten_name
from ..selection import Comparison
from .style import Display, colour, pyplot

LONGEST = 40  # letters of a name
WIDTH, HEAD, LINE = (
    6.4,
    1.2,
    0.28,
)  # of a new figure, of what is above and below, of a model; inches
BAR_STEP = 0.03  # from bar to bar, as a share of the ranks


@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks of models, the best on top, and bars beside models that do not differ.

    Two models differ significantly by Nemenyi's test if no bar joins them, that is if their ranks
    are at least as far apart as the ruler on top is long. Make one with :meth:`from_comparison`.

    Parameters
    ----------
    models : sequence of str
        Names of the models, at least two.
    ranks : array of shape (n_models,)
        Mean rank of each, 1 is best.
    critical_difference : float
        Difference of ranks that is significant.
    alpha : float, default=None
        Level of the test, for the label of the ruler.

    Attributes
    ----------
    groups_ : list of tuple of str
        Names of the models beside each bar, best first.

    Notes
    -----
    The test and the bars are those of Demsar (2006), *Statistical comparisons of classifiers over
    multiple data sets*, Journal of Machine Learning Research 7.
    """

    models: Sequence[str]
    ranks: Floats
    critical_difference: float
    alpha: float | None = None

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, alpha: float = 0.05, ax: Any = None
    ) -> CriticalDifferenceDisplay:
        """Draw the ranks of a comparison over several data sets.

        Parameters
        ----------
        comparison : Comparison
            What :func:`~protolearn.selection.compare` gives.
        alpha : float, default=0.05
            Level of Nemenyi's test.
        """
        return cls(
            models=comparison.models,
            ranks=comparison.ranks,
            critical_difference=comparison.critical_difference(alpha),
            alpha=alpha,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        order = np.argsort(self.ranks, kind="stable")
        ranks, rows = np.asarray(self.ranks, dtype=float)[order], np.arange(len(order))
        groups = indistinct_groups(ranks, self.critical_difference)
        self.groups_ = [tuple(self.models[i] for i in order[a : b + 1]) for a, b in groups]
        if ax is None:
            size = WIDTH, HEAD + LINE * len(order)
            ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        ax.plot(ranks, rows, "o", color=colour(0), ms=7)
        names = [f"{shorten_name(self.models[i], LONGEST)}  {self.ranks[i]:.2f}" for i in order]
        ax.set_yticks(rows, names, parse_math=False)
        right, step = ranks[-1], BAR_STEP * max(float(np.ptp(ranks)), self.critical_difference)
        for k, (first, last) in enumerate(groups, start=2):
            ends = first - 0.3, last + 0.3
            ax.plot([right + step * k] * 2, ends, color=colour(0), lw=4.0, gid="group")
        ruler = ranks[0], ranks[0] + self.critical_difference
        ax.plot(ruler, [-1.0, -1.0], "|-", color=colour(5), lw=1.6, gid="ruler")
        level = "" if self.alpha is None else f" (Nemenyi, alpha = {self.alpha:g})"
        text = f"critical difference {self.critical_difference:.2f}{level}"
        ax.set_title(text, color=colour(5), fontsize="medium", loc="left")
        ax.set(xlabel="mean rank, 1 is best", ylim=(len(order) - 0.5, -1.5))
        ax.grid(axis="x", alpha=0.3)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "right", "top"]].set_visible(False)
        return ax


def indistinct_groups(ranks: Floats, difference: float) -> list[tuple[int, int]]:
    """Return the first and last of all largest groups in which no two ranks differ significantly.

    Ranks are in ascending order; this difference and more is significant.
    """
    lasts = np.searchsorted(ranks, ranks + difference, side="left") - 1
    groups: list[tuple[int, int]] = []
    for first, last in enumerate(lasts.tolist()):
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
