"""A chart: what the charting library is given, and what a reader is told who cannot see it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .html import Markup, paragraph, tag

Colour = dict[str, str]
"""A colour that the page knows by name: another one in light than in dark."""

INK, MUTED, PAPER, ACCENT = ({"colour": name} for name in ("ink", "muted", "paper", "accent"))

SYMBOLS = "circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"
"""The marks of classes, in the order of the other pictures."""

DIGITS = 5
"""Of numbers that are drawn."""


@dataclass(frozen=True)
class Chart:
    """A chart of a page.

    Parameters
    ----------
    name : str
        By which the page knows it.
    title : str
        What it shows.
    alt : str
        The same in words for those who do not see it, with what is to be learned from it.
    traces : list of dict
        What is drawn.
    layout : dict
        Axes and the like.
    height : int
        In pixels.
    note : str
        A remark below.
    extra : dict
        What the script of the page needs besides.
    """

    name: str
    title: str
    alt: str
    traces: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    height: int = 340
    note: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def figure(self) -> Markup:
        """The place of the chart in the page."""
        place = tag(
            "div",
            id=self.name,
            class_="plot",
            role="img",
            aria_label=self.alt,
            style=f"height:{self.height}px",
        )
        note = paragraph(self.note, "note") if self.note else None
        return tag("figure", tag("figcaption", self.title), place, note, class_="chart")

    @property
    def data(self) -> dict[str, Any]:
        """What the charting library is given."""
        return {
            "name": self.name,
            "traces": self.traces,
            "layout": self.layout,
            "extra": self.extra,
        }


def class_colour(code: int) -> Colour:
    """Name the colour of a class."""
    return {"colour": f"class-{code % 8}"}


def class_symbol(code: int) -> str:
    """Return the mark of a class; with more classes than colours, colour and mark differ."""
    return SYMBOLS[(code + code // 8) % 8]


def safe(text: Any) -> str:
    """Write a text so that the charting library, which knows some tags, shows it as it is."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def lines(*texts: Any) -> str:
    """Write texts below each other."""
    return "<br>".join(map(safe, texts))


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """Describe an axis."""
    return {"title": {"text": safe(title)}, **settings}


def shares(title: str, **settings: Any) -> dict[str, Any]:
    """Describe an axis of shares."""
    return axis(title, tickformat=".1~%", **settings)


def numbers(values: Any) -> list[Any]:
    """Return numbers as JSON has them, with as many digits as can be seen."""
    return [rounded(value) for value in np.asarray(values, dtype=np.float64).ravel().tolist()]


def rounded(value: float) -> float | None:
    """Round a number; None if it is none."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None


def as_json(value: Any) -> Markup:
    """Write data for a script element, which no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def every(number: int, most: int) -> Sequence[int]:
    """Return the places of at most so many of some things, with the first and the last."""
    if number <= most:
        return range(number)
    return [int(i) for i in np.unique(np.linspace(0, number - 1, most).round().astype(int))]
