"""One visual language: colours that everybody can tell apart (Okabe and Ito), and marks."""

from __future__ import annotations

from typing import Any

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
    """Write a share on an axis."""
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
