"""What displays share: colours that everybody can tell apart (Okabe and Ito), marks and axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#444444")
LINES = ("-", "--", ":", "-.")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def colour(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def class_marker(code: int) -> str:
    """Return the mark of a class; with more classes than colours, colour and mark differ."""
    return MARKS[(code + code // len(COLOURS)) % len(MARKS)]


def line_style(code: int) -> str:
    """Return the style of a line; with more lines than colours the pair still tells them apart."""
    return LINES[code // len(COLOURS) % len(LINES)]


def percent(share: float, _: Any) -> str:
    """Return a share as it is written on an axis."""
    return f"{100 * share:g} %"


def number_drawn(ax: Any, gid: str) -> int:
    """Return how many lines of a kind the axes have, so that the next has another colour."""
    return sum(line.get_gid() == gid for line in ax.lines)


def axes_for(ax: Any) -> Any:
    """Return the axes to draw on, new ones if none are given."""
    return pyplot().subplots(layout="constrained")[1] if ax is None else ax


def panels_for(ax: Any, rows: int, columns: int, **settings: Any) -> Any:
    """Return the axes of a picture of several panels, new ones if none are given."""
    if ax is None:
        return pyplot().subplots(rows, columns, layout="constrained", **settings)[1]
    panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(panels) != rows * columns:
        raise ValueError(
            f"ax has {len(panels)} axes; this picture has {rows * columns}. Give as many, or None."
        )
    return panels


def pyplot() -> Any:
    """Import matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'protolearn[report]'.") from error
    return plt


def panel_grid(n_panels: int, across: int, **settings: Any) -> Any:
    """Return new axes in a grid with so many beside each other; places that are left are empty."""
    down = -(-n_panels // across)
    _, grid = pyplot().subplots(down, across, squeeze=False, layout="constrained", **settings)
    for unused in grid.ravel()[n_panels:]:
        unused.set_axis_off()
    return grid.ravel()[:n_panels]


class Display:
    """A picture on axes of matplotlib, which ``_draw`` of a subclass draws and returns."""

    _draw: Callable[..., Any]

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or sequence of them where there are several panels, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : Display
            The same, with the axes and the figure.
        """
        return self._keep(self._draw(ax))

    def _keep(self, axes: Any) -> Self:
        """Keep the axes and their figure."""
        self.ax_, self.figure_ = axes, np.ravel(axes)[0].figure
        return self


class CurveDisplay(Display):
    """A curve with a name in the legend."""

    name: str | None

    def plot(self, *, ax: Any = None, name: str | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            What the legend calls the curve; None: as it was made.

        Returns
        -------
        display : Display
            The same, with the axes and the figure.
        """
        return self._keep(self._draw(ax, self.name if name is None else name))


class LegendDisplay(Display):
    """A picture with a legend beside it."""

    def plot(self, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        display : Display
            The same, with the axes and the figure.
        """
        ax = self._draw(ax)
        if legend:
            legend_beside(ax)
        return self._keep(ax)


def legend_beside(ax: Any) -> None:
    """Add a legend at the right of the axes."""
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
