"""What charts and pictures of a page are made of: traces, axes, small images as PNG."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats
from .html import Markup, paragraph, tag

Colour = dict[str, str]  # a colour that the page knows by name: another one in light than in dark
Trace = dict[str, Any]  # what the charting library draws
INK, MUTED, PAPER, ACCENT = ({"colour": name} for name in ("ink", "muted", "paper", "accent"))
# The marks of classes, in the order of the other pictures.
SYMBOLS = "circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"
DIGITS = 5  # of numbers that are drawn
SIGNATURE = b"\x89PNG\r\n\x1a\n"  # of a PNG file
GREY_PIXELS, COLOUR_PIXELS, PALETTE_PIXELS = 0, 2, 3  # kinds of PNG
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # a legend above the chart


@dataclass(frozen=True)
class Chart:
    """A chart of a page."""

    name: str  # by which the page knows it
    title: str  # what it shows
    alt: str  # the same in words for those who do not see it, with what is to be learned from it
    traces: list[Trace]  # what is drawn
    layout: dict[str, Any] = field(default_factory=dict)  # axes and the like
    height: int = 340  # in pixels
    note: str = ""  # a remark below
    extra: dict[str, Any] = field(default_factory=dict)  # what the script of the page needs besides

    @property
    def figure(self) -> Markup:
        """The place of the chart in the page."""
        style = f"height:{self.height}px"
        place = tag(
            "div", id=self.name, class_="plot", role="img", aria_label=self.alt, style=style
        )
        note = paragraph(self.note, "note") if self.note else None
        return tag("figure", tag("figcaption", self.title), place, note, class_="chart")

    @property
    def data(self) -> dict[str, Any]:
        """What the charting library is given."""
        return {key: getattr(self, key) for key in ("name", "traces", "layout", "extra")}


def class_colour(code: int) -> Colour:
    """Return the name of the colour of a class."""
    return {"colour": f"class-{code % 8}"}


def class_symbol(code: int) -> str:
    """Return the mark of a class; with more classes than colours, colour and mark differ."""
    return SYMBOLS[(code + code // 8) % 8]


def safe(text: Any) -> str:
    """Return a text so that the charting library, which knows some tags, shows it as it is."""
    return escape(str(text), quote=False)


def lines(*texts: Any) -> str:
    """Return texts below each other."""
    return "<br>".join(map(safe, texts))


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of an axis."""
    return {"title": {"text": safe(title)}, **settings}


def shares(title: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of an axis of shares."""
    return axis(title, tickformat=".1~%", **settings)


def numbers(values: Any) -> list[Any]:
    """Return numbers as JSON has them, with as many digits as can be seen."""
    return [
        float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
        for value in np.asarray(values, dtype=np.float64).ravel().tolist()
    ]


def as_json(value: Any) -> Markup:
    """Return data for a script element, which no text in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def every(number: int, most: int) -> Sequence[int]:
    """Return the places of at most so many of some things, with the first and the last."""
    if number <= most:
        return range(number)
    return [int(i) for i in np.unique(np.linspace(0, number - 1, most).round().astype(int))]


def curve(x: Any, y: Any, colour: Colour, *, width: float = 2.2, **more: Any) -> Trace:
    """Return a line."""
    line = {"color": colour, "width": width, **more.pop("line", {})}
    drawn = {"type": "scatter", "mode": "lines", "x": numbers(x), "y": numbers(y), "line": line}
    return drawn | more


def diagonal() -> Trace:
    """Return the line that guessing, or perfect calibration, would be."""
    unseen = {"hoverinfo": "skip", "showlegend": False}
    return curve([0, 1], [0, 1], MUTED, width=1, line={"dash": "dot"}, **unseen)


def marks(places: Floats, marker: dict[str, Any], **more: Any) -> Trace:
    """Return marks at some places."""
    x, y = numbers(places[:, 0]), numbers(places[:, 1])
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker} | more


def row_marks(
    places: Floats, name: str, colour: Colour, code: int, size: float, opacity: float, **more: Any
) -> Trace:
    """Return the marks of rows of a class."""
    edge = {"color": PAPER, "width": 0.5}
    look = {"color": colour, "symbol": class_symbol(code), "size": size, "opacity": opacity}
    return marks(places, look | {"line": edge}, name=safe(name), **more)


def stars(
    places: Floats,
    colours: Sequence[Colour],
    names: Sequence[str],
    what: str = "prototype",
    **more: Any,
) -> Trace:
    """Return the stars of prototypes, or of what else they are."""
    edge = {"color": INK, "width": 1.5}
    look = {"color": list(colours), "symbol": "star", "size": 19, "line": edge}
    texts = [safe(f"{what} {name}") for name in names]
    return marks(places, look, name=what, hovertext=texts, hoverinfo="text", **more)


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
    data = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(SIGNATURE + head + extra + body).decode()


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a part of a file, with its length and its check."""
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
