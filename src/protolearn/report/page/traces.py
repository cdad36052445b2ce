"""What charts are made of: curves, marks of rows, stars of prototypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._arrays import Floats
from .chart import INK, MUTED, PAPER, Colour, class_symbol, numbers, safe

ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
"""A legend above the chart."""


def curve(x: Any, y: Any, colour: Colour, *, width: float = 2.2, **more: Any) -> dict[str, Any]:
    """Draw a line."""
    line = {"color": colour, "width": width, **more.pop("line", {})}
    drawn = {"type": "scatter", "mode": "lines", "x": numbers(x), "y": numbers(y), "line": line}
    return drawn | more


def diagonal() -> dict[str, Any]:
    """Draw what guessing, or perfect calibration, would be."""
    unseen = {"hoverinfo": "skip", "showlegend": False}
    return curve([0, 1], [0, 1], MUTED, width=1, line={"dash": "dot"}, **unseen)


def marks(places: Floats, marker: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Draw marks at some places."""
    x, y = numbers(places[:, 0]), numbers(places[:, 1])
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker} | more


def of_rows(
    places: Floats, name: str, colour: Colour, code: int, size: float, opacity: float, **more: Any
) -> dict[str, Any]:
    """Draw rows of a class."""
    edge = {"color": PAPER, "width": 0.5}
    look = {"color": colour, "symbol": class_symbol(code), "size": size, "opacity": opacity}
    return marks(places, look | {"line": edge}, name=safe(name), **more)


def stars(
    places: Floats, colours: Sequence[Colour], names: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Draw prototypes."""
    edge = {"color": INK, "width": 1.5}
    look = {"color": list(colours), "symbol": "star", "size": 19, "line": edge}
    texts = [safe(f"prototype {name}") for name in names]
    return marks(places, look, name="prototype", hovertext=texts, hoverinfo="text", **more)
