"""What things are called: models in a legend, numbers of things, long names cut short."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sklearn.pipeline import Pipeline


def things_by_name(things: Any, name: Any, default: Callable[[Any], str]) -> dict[str, Any]:
    """Return things by name: a single one, a list of them, or a dict that names them already.

    Names by default that repeat are numbered.
    """
    if isinstance(things, Mapping):
        if name is not None:
            raise ValueError(f"name={name!r} and a dict, which has names already; give one.")
        found = {str(key): thing for key, thing in things.items()}
    else:
        things = list(things) if isinstance(things, (list, tuple)) else [things]
        names = number_repeats([default(thing) for thing in things])
        if name is not None:
            names = [name] if isinstance(name, str) else [str(one) for one in name]
        if len(names) != len(things) or len(set(names)) != len(names):
            raise ValueError(
                f"name={name!r} must be {len(things)} different names, as many as shown."
            )
        found = dict(zip(names, things, strict=True))
    if not found:
        raise ValueError("There is nothing to show: the list is empty.")
    return found


def number_repeats(names: list[str]) -> list[str]:
    """Return names, with a number after those that are there more than once."""
    total, seen = Counter(names), {name: itertools.count(1) for name in names}
    return [f"{name} {next(seen[name])}" if total[name] > 1 else name for name in names]


def class_name(model: Any) -> str:
    """Return the name of the class of a model, of the last step in a pipeline."""
    return type(model[-1] if isinstance(model, Pipeline) else model).__name__


def count(n: Any, what: str) -> str:
    """Return a number of things as text."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def shorten_name(name: str, most: int = 28) -> str:
    """Return a name, cut in the middle if it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 + 1 :]}"
