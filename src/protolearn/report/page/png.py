"""Small pictures as PNG, without a library for it."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR, PALETTE = 0, 2, 3


def grey(values: NDArray[Any], low: float, high: float) -> str:
    """Return a picture of numbers, or of three numbers a point, the lowest of them black."""
    scale = 255.0 / (high - low) if high > low else 0.0
    pixels = np.rint((values - low) * scale).clip(0, 255).astype(np.uint8)
    return address(pixels, COLOUR if values.ndim == 3 else GREY)


def painted(codes: NDArray[Any], colours: Sequence[tuple[int, int, int, int]]) -> str:
    """Return a picture of codes, each in its colour (red, green, blue, opacity)."""
    palette = np.array(colours, dtype=np.uint8)
    extra = chunk(b"PLTE", palette[:, :3].tobytes()) + chunk(b"tRNS", palette[:, 3].tobytes())
    return address(codes.astype(np.uint8), PALETTE, extra)


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
