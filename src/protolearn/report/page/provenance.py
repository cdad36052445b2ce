"""How the model came about: the candidates, its settings, versions."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from time import perf_counter
from typing import Any

from ..._names import shorten_name
from ...store import digest
from .contents import Story

LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"
MOST_TRIED = 20
LONGEST = 2_000  # characters of the settings of a model


def provenance_tables(story: Story) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return how the model and the page were made, as captions and lines of tables."""
    time = ("time", f"{perf_counter() - story.begun:.1f} seconds")
    if not story.page:
        return [("The model and this page", [*story.made, time])]
    return [("The model", list(story.made)), ("This page", [*story.page, time])]


def versions_and_date() -> list[tuple[str, str]]:
    """Return the versions of what is installed, and the day."""
    return [
        ("versions", ", ".join(f"{name} {text}" for name, text in library_versions().items())),
        ("written", date.today().isoformat()),
    ]


def library_versions() -> dict[str, str]:
    """Return the versions of what a result depends on."""
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def data_fingerprint(X: Any, y: Any) -> str:
    """Return a text that other rows or labels would not have."""
    return digest(X, y)


def model_settings(model: Any) -> str:
    """Return a model as text, with its settings that are not the defaults."""
    return shorten_name(" ".join(repr(model).split()), LONGEST)


def loading_code(path: str | os.PathLike[str], rows: str) -> str:
    """Return the lines that load a model."""
    return (
        "from protolearn import load\n"
        f"model = load({os.fspath(path)!r})\n"
        f"model.predict({rows})  # rows with the same columns"
    )
