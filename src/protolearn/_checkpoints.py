"""What checkpoint files have in common."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST_SHOWN = 60
"""Characters of a value that a message shows."""


@contextmanager
def content_of(path: Path, form: str, owner: str) -> Iterator[dict[str, Any]]:
    """Return the content of a file for the block; raise that it is damaged if the block fails.

    Parameters
    ----------
    path : path
        A JSON file.
    form : str
        The format that the file must name.
    owner : str
        Whose checkpoint is expected, for the message.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != form:
            raise ValueError(f"its format is {content['format']!r}, expected {form!r}")
        yield content
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is no checkpoint of {owner}, or it is damaged "
            f"({type(error).__name__}: {error}). Give another path, or delete the file to "
            "start anew."
        ) from error


def changes(where: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return which entries differ, three at most: the class alone, or the simplest ones."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names = names[:1] if "class" in names else names
    names.sort(key=lambda name: len(before.get(name, "") + now.get(name, "")))
    return [
        f"{name}{where} was {_short(before.get(name))} and is {_short(now.get(name))}"
        for name in names[:3]
    ]


def plain(value: float) -> float | str:
    """Return a number as JSON has it, which has no infinity and no NaN."""
    return value if math.isfinite(value) else str(value)


def _short(value: str | None) -> str:
    if value is None:
        return "not there"
    return value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}..."
