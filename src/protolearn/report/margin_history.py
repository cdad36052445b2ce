"""Lines of the average margin during training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..analysis import MarginHistory
from .style import axes_for, colour, line_style, number_drawn

CURVE = "margins during training"
"""By which a curve is known among the lines of an axes."""


class MarginHistoryDisplay:
    """The average margin after every iteration of one or several fits.

    Make one with :meth:`MarginDisplay.from_history`.

    Parameters
    ----------
    histories : dict of str to MarginHistory
        What was recorded, by the name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    def __init__(self, *, histories: Mapping[str, MarginHistory]):
        self.histories = histories

    def plot(self, *, ax: Any = None) -> MarginHistoryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : MarginHistoryDisplay
        """
        for name, history in self.histories.items():
            if not history.iterations:
                raise ValueError(
                    f"{name} has recorded nothing; fit a model with this object as its callback. "
                    "A clone has a copy of its own."
                )
        ax = axes_for(ax)
        first = number_drawn(ax, CURVE)
        for i, (name, history) in enumerate(self.histories.items(), start=first):
            single = "o" if len(history.iterations) == 1 else None  # a line of one point is unseen
            ax.plot(
                history.iterations,
                history.mean_margin,
                color=colour(i),
                ls=line_style(i),
                marker=single,
                label=name,
                gid=CURVE,
            )
        ax.set(xlabel="iteration", ylabel="mean hypothesis margin")
        ax.locator_params(axis="x", integer=True)
        if first + len(self.histories) > 1:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
