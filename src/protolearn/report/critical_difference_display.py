"""The critical-difference picture: mean ranks of models, and which of them do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from ..selection import Comparison
from .style import Display, colour, pyplot

DARK = "#333333"
RULER, AXIS, FIRST_GROUP_BAR = 0.35, 0.85, 1.05
GROUP_BAR_STEP, NAME_LEVEL_STEP, MARGIN = 0.13, 0.27, 0.15
AXIS_LENGTH, TICK = 4.5, 0.28  # places from the top, and lengths, in inches
SHORTEST = 0.3  # least share of the width for the axis
FONT_SIZE = 10.0


@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks on an axis, the best on the right, and bars over models that do not differ.

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
        Names of the models under each bar, best first.

    Notes
    -----
    The picture is that of Demsar (2006), *Statistical comparisons of classifiers over multiple
    data sets*, Journal of Machine Learning Research 7.
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
        ranks = np.asarray(self.ranks, dtype=float)[order]
        groups = indistinct_groups(ranks, self.critical_difference)
        new = ax is None
        if ax is None:
            # Nothing but this picture: its axes are the whole figure.
            ax = pyplot().figure().add_axes((0.0, 0.0, 1.0, 1.0))
        ax.axis("off")
        labels = [f"{self.models[i]}  {self.ranks[i]:.2f}" for i in order]
        sheet = _Sheet(ax, ranks, labels, len(groups), new)
        # With few data sets the ruler is longer than the axis.
        sheet.unit = (sheet.right - sheet.left) / max(len(ranks) - 1.0, self.critical_difference)
        sheet.draw_axis()
        sheet.draw_ruler(self.critical_difference, self.alpha)
        sheet.draw_models()
        sheet.draw_groups(groups)
        self.groups_ = [tuple(self.models[order[i]] for i in range(a, b + 1)) for a, b in groups]
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


class _Sheet:
    """The axes in inches: x from the left, y from the top; better models on the right."""

    unit: float  # length of a rank

    def __init__(self, ax: Any, ranks: Floats, labels: Sequence[str], n_groups: int, new: bool):
        self.ax, self.ranks, self.labels = ax, ranks, labels
        self.n_right = len(ranks) // 2
        self.first_level = FIRST_GROUP_BAR + GROUP_BAR_STEP * n_groups + 0.1
        height = self.first_level + NAME_LEVEL_STEP * (len(ranks) - self.n_right - 1) + 0.25
        self.font_size = FONT_SIZE
        left, right = self._name_widths()
        if new:
            width = left + max(AXIS_LENGTH, TICK * len(ranks)) + right
            ax.figure.set_size_inches(width, height)
        else:
            width, available = _size(ax)
            # Smaller letters where there is too little room for the names.
            shrink = min((1 - SHORTEST) * width / (left + right), available / height, 1.0)
            self.font_size = FONT_SIZE * shrink
            left, right = self._name_widths()
        self.width, self.left, self.right = width, left, width - right
        ax.set(xlim=(0.0, width), ylim=(height, 0.0))

    def _name_widths(self) -> tuple[float, float]:
        """Measure what the names need on the left and on the right."""
        margin = 2.0 * MARGIN * self.font_size / FONT_SIZE
        widths = [_width(self.ax, label, self.font_size) + margin for label in self.labels]
        return max(widths[self.n_right :]), max(widths[: self.n_right])

    def x(self, rank: float) -> float:
        """Return the place of a rank."""
        return self.left + (len(self.ranks) - rank) * self.unit

    def draw_axis(self) -> None:
        """Draw the axis of ranks."""
        last = len(self.ranks)
        self._line([self.x(last), self.x(1)], [AXIS, AXIS], lw=1.2)
        for half in range(2, 2 * last + 1):
            length = 0.05 if half % 2 else 0.1
            self._line([self.x(half / 2)] * 2, [AXIS - length, AXIS], lw=1.0)
        # Numbers that would touch each other are left out.
        step = int(np.ceil(TICK * self.font_size / FONT_SIZE / self.unit))
        for rank in range(1, last + 1, step):
            self._text(self.x(rank), AXIS - 0.13, str(rank), ha="center", va="bottom")

    def draw_ruler(self, difference: float, alpha: float | None) -> None:
        """Draw the critical difference."""
        ends = self.left, self.left + difference * self.unit
        self._line(ends, [RULER, RULER], lw=1.6, color=colour(5))
        for end in ends:
            self._line([end, end], [RULER - 0.05, RULER + 0.05], lw=1.6, color=colour(5))
        level = "" if alpha is None else f" (Nemenyi, alpha = {alpha:g})"
        text = f"critical difference {difference:.2f}{level}"
        room = self.width - _width(self.ax, text, self.font_size)
        self._text(max(min(self.left, room), 0.0), RULER - 0.08, text, ha="left", va="bottom")

    def draw_models(self) -> None:
        """Lead from each rank to a name: the better half to the right, the others to the left."""
        last = len(self.ranks) - 1
        for i, (rank, label) in enumerate(zip(self.ranks, self.labels, strict=True)):
            better = i < self.n_right
            level = self.first_level + NAME_LEVEL_STEP * (i if better else last - i)
            end, gap = (self.right, 0.06) if better else (self.left, -0.06)
            place = self.x(rank)
            self._line([place, place, end], [AXIS, level, level], lw=0.9)
            side = "left" if better else "right"
            self._text(end + gap, level, label, ha=side, va="center")

    def draw_groups(self, groups: Sequence[tuple[int, int]]) -> None:
        """Draw a bar over each group, longer than its ranks so that it is seen between them."""
        for number, (first, last) in enumerate(groups):
            y = FIRST_GROUP_BAR + GROUP_BAR_STEP * number
            ends = self.x(self.ranks[last]) - 0.05, self.x(self.ranks[first]) + 0.05
            self._line(ends, [y, y], lw=4.0, color=colour(0), gid="group", zorder=3)

    def _line(self, x: Any, y: Any, **style: Any) -> None:
        self.ax.plot(x, y, **{"color": DARK, "solid_capstyle": "butt", "clip_on": False, **style})

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        # Names are text, not mathematics, whatever signs they have.
        self.ax.text(x, y, text, size=self.font_size, parse_math=False, color=DARK, **style)


def _width(ax: Any, label: str, size: float) -> float:
    """Measure a text in inches."""
    text = ax.text(0.0, 0.0, label, size=size, parse_math=False)
    width = text.get_window_extent().width / ax.figure.dpi
    text.remove()
    return float(width)


def _size(ax: Any) -> tuple[float, float]:
    """Measure axes in inches, after the layout of their figure is done."""
    ax.figure.figure.draw_without_rendering()
    extent = ax.get_window_extent()
    return extent.width / ax.figure.dpi, extent.height / ax.figure.dpi
