"""A chart: what the charting library is given, and what a reader is told who cannot see it."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
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


# What charts are made of: curves, marks of rows, stars of prototypes.


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


def row_marks(
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


# Small pictures as PNG, without a library for it.


SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY_PIXELS, COLOUR_PIXELS, PALETTE_PIXELS = 0, 2, 3


def grey_image(values: NDArray[Any], low: float, high: float) -> str:
    """Return a picture of numbers, or of three numbers a point, the lowest of them black."""
    scale = 255.0 / (high - low) if high > low else 0.0
    pixels = np.rint((values - low) * scale).clip(0, 255).astype(np.uint8)
    return address(pixels, COLOUR_PIXELS if values.ndim == 3 else GREY_PIXELS)


def palette_image(codes: NDArray[Any], colours: Sequence[tuple[int, int, int, int]]) -> str:
    """Return a picture of codes, each in its colour (red, green, blue, opacity)."""
    palette = np.array(colours, dtype=np.uint8)
    extra = chunk(b"PLTE", palette[:, :3].tobytes()) + chunk(b"tRNS", palette[:, 3].tobytes())
    return address(codes.astype(np.uint8), PALETTE_PIXELS, extra)


def address(pixels: NDArray[np.uint8], kind: int, extra: bytes = b"") -> str:
    """Return a picture as an address that holds it."""
    height, width = pixels.shape[:2]
    lines = pixels.reshape(height, -1)
    data = np.hstack([np.zeros((height, 1), dtype=np.uint8), lines]).tobytes()
    parts = [
        SIGNATURE,
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        extra,
        chunk(b"IDAT", zlib.compress(data, 9)),
        chunk(b"IEND", b""),
    ]
    return "data:image/png;base64," + base64.b64encode(b"".join(parts)).decode()


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a part of a file, with its length and its check."""
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
