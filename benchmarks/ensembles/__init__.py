"""Prototype SVMs: which defaults are best, accuracy beside the published one, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..measure import Table
from . import choices, paper, speed

PARTS: dict[str, Callable[[], Iterator[Table]]] = {
    "choices": choices.tables,
    "paper": paper.tables,
    "published": paper.published_tables,
    "speed": speed.tables,
}
"""Tables that can be made alone."""
