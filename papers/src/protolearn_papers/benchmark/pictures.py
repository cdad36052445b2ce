"""Pictures of the benchmark: ranks that do not differ, and ranks against training time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from protolearn.report import CriticalDifferenceDisplay, colour
from protolearn.selection import Comparison

from .models import YARDSTICK
from .results import Standing

LABEL_SIZE = 7.5
PLACES = (
    (5, 5, "left"),
    (-5, 5, "right"),
    (5, -5, "left"),
    (-5, -5, "right"),
    (7, 0, "left"),
    (-7, 0, "right"),
    (0, 8, "center"),
    (0, -8, "center"),
)
"""Where the name of a point can stand: points to the right and up, and its side."""


def critical_difference(compared: Comparison, level: float, figure: Any) -> None:
    """Draw the mean ranks."""
    CriticalDifferenceDisplay.from_comparison(compared, alpha=level, ax=figure.subplots())


def picture_height(compared: Comparison) -> float:
    """Return the inches that the names of the models need."""
    return 1.2 + 0.28 * len(compared.models)


def pareto_front(ordered: Sequence[Standing]) -> list[Standing]:
    """Return the models than which none is both faster and better, the fastest first."""
    front: list[Standing] = []
    for one in sorted(_ranked(ordered), key=lambda one: (one.ratio, one.rank)):
        if not front or (one.rank or 0.0) < (front[-1].rank or 0.0):
            front.append(one)
    return front


def draw_pareto(ordered: Sequence[Standing], figure: Any) -> None:
    """Draw rank against time, ours and scikit-learn's, and the front of both."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax, front = figure.subplots(), pareto_front(ordered)
    for number, (ours, label) in enumerate(((True, "protolearn"), (False, "scikit-learn"))):
        some = [one for one in _ranked(ordered) if one.ours is ours]
        style = {"color": colour(0 if ours else 5), "marker": "os"[number], "ls": "", "ms": 6}
        ax.plot([one.ratio for one in some], [one.rank for one in some], label=label, **style)
    steps = [(one.ratio, one.rank) for one in front]
    ax.step(*zip(*steps, strict=True), where="post", color="#444444", lw=1, zorder=1, label="front")
    ax.set(xscale="log", ylabel="mean rank by accuracy, 1 is best")
    ax.set_xlabel(f"training time relative to {YARDSTICK}")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.invert_yaxis()
    ax.margins(x=0.08)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="lower right")
    _write_names(ax, _ranked(ordered), front)


def _ranked(ordered: Sequence[Standing]) -> list[Standing]:
    return [one for one in ordered if one.rank is not None and one.ratio is not None]


def _write_names(ax: Any, some: Sequence[Standing], front: Sequence[Standing]) -> None:
    """Write each name where it touches no other; those of the front first, and in bold."""
    ax.figure.draw_without_rendering()  # the layout decides where points are
    at = ax.transData.transform([(one.ratio, one.rank) for one in some])
    taken = [(x - 5.0, y - 5.0, x + 5.0, y + 5.0) for x, y in at]
    frame = ax.get_window_extent().extents
    for one in sorted(some, key=lambda one: one not in front):
        weight = "bold" if one in front else "normal"
        texts = [_name_at(ax, one, place, weight) for place in PLACES]
        boxes = [tuple(text.get_window_extent().extents) for text in texts]
        best = int(np.argmin([_cost(box, taken, frame) for box in boxes]))
        for text in texts[:best] + texts[best + 1 :]:
            text.remove()
        taken.append(boxes[best])


def _name_at(ax: Any, one: Standing, place: tuple[int, int, str], weight: str) -> Any:
    """Write a name beside its point."""
    right, up, side = place
    style = {"ha": side, "va": "center", "size": LABEL_SIZE, "weight": weight}
    at = one.ratio, one.rank
    return ax.annotate(one.name, at, (right, up), textcoords="offset points", **style)


def _cost(box: Any, taken: Sequence[Any], frame: Any) -> float:
    """Return the area of a box on what is taken, and beyond the frame."""
    outside = _overlap(box, box) - _overlap(box, frame)
    return outside + sum(_overlap(box, other) for other in taken)


def _overlap(a: Any, b: Any) -> float:
    """Return the common area of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(width, 0.0) * max(height, 0.0)
