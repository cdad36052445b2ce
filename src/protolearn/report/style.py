"""What displays share: colours that everybody can tell apart (Okabe and Ito), marks and axes."""

from __future__ import annotations

import inspect
import re
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


def panels_for(ax: Any, n_panels: int, across: int, **settings: Any) -> Any:
    """Return the axes of several panels, so many beside each other if they are new."""
    if ax is None:
        down = -(-n_panels // across)
        _, grid = pyplot().subplots(down, across, squeeze=False, layout="constrained", **settings)
        for unused in grid.ravel()[n_panels:]:
            unused.set_axis_off()
        return grid.ravel()[:n_panels]
    panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(panels) != n_panels:
        raise ValueError(
            f"ax has {len(panels)} axes; this picture has {n_panels}. Give as many, or None."
        )
    return panels


def pyplot() -> Any:
    """Import matplotlib."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'protolearn[report]'.") from error
    return plt


# What displays have in common: it is added to their docstrings, which say what is special.
SHARED_PARAMETERS = {
    "model": """classifier
    A fitted one.""",
    "X": """array-like of shape (n_samples, n_features)
    The rows.""",
    "y": """array-like of shape (n_samples,)
    Their labels.""",
    "path": """PrototypePath
    What :func:`~protolearn.regularization_path` gives, or ``path_`` of
    :class:`~protolearn.BoostedPrototypes`.""",
    "bins": """int, str or array-like
    About how many bins of equal width, one of which begins at the hyperplane; or how to find their
    edges, or the edges themselves, as in :func:`numpy.histogram_bin_edges`.""",
    "max_features": """int
    How many features to show, those that matter most.""",
    "name": """str
    What the legend or the title calls it; None: the class of the model.""",
    "legend": """bool
    Whether to draw a legend.""",
    "ax": """matplotlib Axes, or sequence of them where there are several panels
    Where to draw; None makes a figure.""",
}
SHARED_ATTRIBUTES = """
Attributes
----------
ax_ : matplotlib Axes, or array of them where there are several panels
    Where it was drawn.
figure_ : matplotlib Figure
    The figure of the axes.
"""


def complete_docstring(function: Any, returned: str) -> None:
    """Add the parameters that displays share to a docstring, and what is returned."""
    text, _, own = inspect.cleandoc(function.__doc__ or "").partition("\nParameters\n----------\n")
    special: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", own) if own else ():
        first, *others = entry.partition(" :")[0].split(", ")
        special |= {first: entry} | dict.fromkeys(others, "")
    parameters = []
    for name, one in list(inspect.signature(function).parameters.items())[1:]:
        kind, _, meaning = SHARED_PARAMETERS.get(name, "").partition("\n")
        default = "" if one.default is one.empty else f", default={one.default!r}"
        parameters.append(special.get(name, f"{name} : {kind}{default}\n{meaning}"))
    lines = [text.rstrip(), "", "Parameters", "----------", *filter(None, parameters)]
    function.__doc__ = "\n".join([*lines, "", "Returns", "-------", f"display : {returned}"])


class Display:
    """A picture on axes of matplotlib, which ``_draw`` of a subclass draws and returns."""

    _draw: Callable[..., Any]

    def __init_subclass__(cls) -> None:
        """Complete the docstrings of a display."""
        for name, one in vars(cls).items():
            if name == "plot" or (isinstance(one, classmethod) and name.startswith("from_")):
                function = getattr(one, "__func__", one)
                returned = str(inspect.get_annotations(function)["return"])
                complete_docstring(function, cls.__name__ if returned == "Self" else returned)
        text, notes, more = inspect.cleandoc(cls.__doc__ or "").partition("\nNotes\n-----\n")
        text, _, special = text.partition("\nAttributes\n----------\n")
        cls.__doc__ = f"{text.rstrip()}\n{SHARED_ATTRIBUTES}{special}\n{notes}{more}"

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


class LegendDisplay(Display):
    """A picture with a legend beside it."""

    def plot(self, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw."""
        ax = self._draw(ax)
        if legend:
            legend_beside(ax)
        return self._keep(ax)


def legend_beside(ax: Any) -> None:
    """Add a legend at the right of the axes."""
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
