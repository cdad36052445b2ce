"""Which part of a model it is that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEEPEST = 40
"""Parts within parts that are looked into; an object may hold itself."""


def culprit(thing: Any, place: str, depth: int = 0) -> str:
    """Return the place and the type of the innermost part that cannot be written."""
    inside = next(((where, part) for where, part in parts(thing) if not is_written(part)), None)
    if inside is None or depth == DEEPEST:
        return f"{place} ({type(thing).__name__})"
    return culprit(inside[1], place + inside[0], depth + 1)


def parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """Return what a thing holds, each with how it is reached."""
    if isinstance(thing, dict):
        yield from ((f"[{name!r}]", part) for name, part in thing.items())
    elif isinstance(thing, (list, tuple)):
        yield from ((f"[{number}]", part) for number, part in enumerate(thing))
    else:
        yield from ((f".{name}", part) for name, part in getattr(thing, "__dict__", {}).items())


def is_written(thing: Any) -> bool:
    """Whether a thing can be written alone."""
    from skops.io import dumps

    try:
        return bool(dumps(thing))
    except Exception:
        return False
