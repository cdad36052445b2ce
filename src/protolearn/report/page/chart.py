"""Charts of a page as SVG, which needs no script to be seen, and small pictures as PNG."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ..._arrays import Floats
from ..._names import digits_text

# Ends of the area that is drawn on, in a chart of 440 times 270 units, about pixels.
LEFT, RIGHT, TOP, BOTTOM = 46, 416, 24, 228
MOST_TICKS = 5  # of categories
SIGNATURE = b"\x89PNG\r\n\x1a\n"  # of a PNG file
GREY_PIXELS, COLOUR_PIXELS, PALETTE_PIXELS = 0, 2, 3  # kinds of PNG


@dataclass(frozen=True)
class Axis:
    """An axis of a chart."""

    title: str
    low: float
    high: float
    kind: str = "number"  # of the values: "number", "share" in percent, or "date" in days
    texts: Sequence[str] = ()  # of categories, whose values are 0, 1, 2 and so on

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Values with a tick, and their texts."""
        if self.texts:
            places = every(len(self.texts), MOST_TICKS)
            return [(float(k), self.texts[k]) for k in places]
        wide = (self.high - self.low) / (3.5 if self.kind == "date" else 5.0)
        power = 10.0 ** math.floor(math.log10(wide))
        step = next(size * power for size in (1.0, 2.0, 2.5, 5.0, 10.0) if size * power >= wide)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(step * k, self.text(step * k)) for k in range(first, last + 1)]

    def text(self, value: float) -> str:
        """Return a value in words."""
        if self.kind == "date":
            return str(np.datetime64(round(value), "D"))
        return f"{100.0 * value:.4g}%" if self.kind == "share" else digits_text(value, 6)


class Layer(NamedTuple):
    """Something that is drawn: a line, bars, intervals, or dots."""

    kind: str  # "line", "area", "band", "bars", "intervals" or "dots"
    x: Any
    y: Any
    # Lower ends of bars, of intervals and of a band, of which ``y`` has the upper ones.
    base: Any = 0.0
    look: str = "accent"  # a class of the style sheet
    name: str = ""  # in the legend
    code: int | None = None  # the class that it is about
    width: float = 0.0  # of bars, in the units of the axis
    tips: Sequence[str] = ()  # what is shown when a point is pointed at


@dataclass(frozen=True)
class Chart:
    """A chart of a page."""

    name: str  # by which the page knows it
    title: str
    alt: str  # the chart in words, for readers who do not see it
    x: Axis
    y: Axis
    layers: list[Layer] = field(default_factory=list)
    note: str = ""  # a remark below

    def across(self, values: Any) -> Floats:
        """Return where values are along the first axis."""
        share = (np.asarray(values, dtype=np.float64) - self.x.low) / (self.x.high - self.x.low)
        return LEFT + share.clip(0.0, 1.0) * (RIGHT - LEFT)

    def up(self, values: Any) -> Floats:
        """Return where values are along the second axis."""
        share = (np.asarray(values, dtype=np.float64) - self.y.low) / (self.y.high - self.y.low)
        return BOTTOM - share.clip(0.0, 1.0) * (BOTTOM - TOP)

    def points(self, layer: Layer) -> str:
        """Return the points of a line as SVG has them."""
        return points_text(np.stack([self.across(layer.x), self.up(layer.y)], axis=1))

    def pairs(self, layer: Layer) -> list[tuple[float, float]]:
        """Return where dots are."""
        places = np.stack([self.across(layer.x), self.up(layer.y)], axis=1).round(1)
        return [(x, y) for x, y in places.tolist()]

    def steps(self, layer: Layer) -> str:
        """Return a line that falls to its next point at once, so that it is never too high."""
        x, y = np.repeat(self.across(layer.x), 2)[:-1], np.repeat(self.up(layer.y), 2)[1:]
        return points_text(np.stack([x, y], axis=1))

    def area(self, layer: Layer) -> str:
        """Return the corners of the area below such a line."""
        x = self.across(layer.x)
        return f"{x[0]:.1f},{BOTTOM} {self.steps(layer)} {x[-1]:.1f},{BOTTOM}"

    def band(self, layer: Layer) -> str:
        """Return the corners of a band."""
        x, ends = self.across(layer.x), (self.up(layer.y), self.up(layer.base))
        sides = np.stack([x, ends[0]], axis=1), np.stack([x, ends[1]], axis=1)[::-1]
        return points_text(np.concatenate(sides))

    def boxes(self, layer: Layer) -> list[tuple[float, float, float, float]]:
        """Return left, top, width and height of bars; of intervals the width is zero."""
        left = self.across(np.asarray(layer.x) - 0.5 * layer.width)
        right = self.across(np.asarray(layer.x) + 0.5 * layer.width)
        top, low = self.up(layer.y), self.up(np.broadcast_to(layer.base, np.shape(layer.y)))
        boxes = np.stack([left, top, right - left, low - top], axis=1).round(1)
        return [(a, b, c, d) for a, b, c, d in boxes.tolist()]

    @property
    def scale(self) -> str:
        """What the script of the page needs to read values off the chart."""
        axes = [[one.title, one.low, one.high, one.kind] for one in (self.x, self.y)]
        return json.dumps([*axes, [LEFT, RIGHT, TOP, BOTTOM]])

    @property
    def legend(self) -> list[Layer]:
        """The layers with a name, if there are several or one has to be told."""
        return [layer for layer in self.layers if layer.name]


def shares(title: str, low: float = 0.0, high: float = 1.0) -> Axis:
    """Return an axis of shares."""
    return Axis(title, low, high, "share")


def points_text(places: Floats) -> str:
    """Return points as SVG has them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())


def diagonal() -> Layer:
    """Return the line that guessing, or perfect calibration, would be."""
    return Layer("line", [0.0, 1.0], [0.0, 1.0], look="reference")


def class_mark(code: int) -> int:
    """Return the mark of a class; with more classes than colours, colour and mark differ."""
    return (code + code // 8) % 8


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
