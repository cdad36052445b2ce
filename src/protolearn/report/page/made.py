"""The sections that tell what was tried, how the model was made, and how to use it again."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from ..._names import shortened
from ...store import digest
from .html import paragraph, table, tag
from .story import Section, Story

LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"
MOST_TRIED = 20

LONGEST = 2_000
"""Characters of the settings of a model."""


def tried(story: Story) -> Section | None:
    """List the candidates, if the model was chosen among some."""
    if len(story.tried) < 2:
        return None
    section = Section("tried", "What was tried", "Tried")
    rows = []
    for one in list(story.tried)[:MOST_TRIED]:
        name = tag("strong", one.model, ", chosen") if one.chosen else one.model
        score = "failed" if np.isnan(one.score) else f"{one.score:.3f} ± {one.standard_error:.3f}"
        numbers = "-" if np.isnan(one.n_numbers) else f"{one.n_numbers:,.0f}"
        rows.append((name, score, one.n_fits, numbers, f"{one.fit_time:.2g} s"))
    heads = "model", "score", "fits", "numbers in it", "time of a fit"
    section.parts.append(table(heads, rows, "Candidates, those with most fits first"))
    text = (
        "The score is the mean over the folds of the search, with its standard error; it helped to "
        "choose, so that the measures above are the honest ones."
    )
    rest = len(story.tried) - len(rows)
    section.parts.append(
        paragraph(text + (f" {rest} more were tried." if rest > 0 else ""), "note")
    )
    return section


def made(story: Story) -> Section:
    """Return how the model was made."""
    section = Section("made", "How it was made", "Made")
    time = ("time", f"{perf_counter() - story.begun:.1f} seconds")
    if story.page:
        section.parts.append(table((), story.made, "The model", "made"))
        section.parts.append(table((), [*story.page, time], "This page", "made"))
    else:
        section.parts.append(table((), [*story.made, time], "The model and this page", "made"))
    section.parts += [
        tag("h3", "Load it again"),
        tag("pre", tag("code", story.use), tabindex="0"),
    ]
    return section


def surroundings() -> list[tuple[str, str]]:
    """Return the versions of what is installed, and the day."""
    return [
        ("versions", ", ".join(f"{name} {text}" for name, text in versions().items())),
        ("written", date.today().isoformat()),
    ]


def versions() -> dict[str, str]:
    """Return the versions of what a result depends on."""
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}


def data_fingerprint(X: Any, y: Any) -> str:
    """Return a text that other rows or labels would not have."""
    return digest(X, y)


def settings(model: Any) -> str:
    """Write a model with its settings that are not the defaults."""
    return shortened(" ".join(repr(model).split()), LONGEST)
