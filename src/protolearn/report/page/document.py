"""The page as a whole: one file that a browser shows without a network."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from ..._names import count
from ...selection import Estimate
from ..style import COLOURS
from .chart import as_json
from .counting import counting
from .doubts import doubts, second_look
from .good import goodness
from .html import Markup, joined, paragraph, tag
from .made import made, tried
from .map import rows_drawn, world
from .path import paths
from .safety import safety
from .shown import prototypes
from .story import Section, Story

ON_DARK = ("#4FA8E0", "#E69F00", "#2FBF8F", "#E090BE", "#7FCBF2", "#F07F3C", "#F0E442", "#BDBDBD")
"""The colours of classes on a dark page, in the order of the others."""

NO_CHARTS = "The charts of a report need plotly: pip install 'protolearn[report]'."


def page(story: Story) -> str:
    """Write the page."""
    library = charting_library()
    found = doubts(story)
    rows = story.drawn(np.array([doubt.row for doubt in found], dtype=np.intp))
    wanted = [
        goodness(story),
        prototypes(story),
        counting(story),
        world(story, rows),
        safety(story),
        second_look(story, found),
        paths(story),
        tried(story),
        made(story),
    ]
    sections = [section for section in wanted if section is not None]
    charts = [chart.data for section in sections for chart in section.charts]
    data = {"charts": charts, "classes": story.subject.classes, "rows": rows_drawn(story, rows)}
    body = joined(
        [
            tag("a", "Skip to the text", href="#short", class_="skip"),
            header(story, sections),
            tag("main", in_short(story), [section.html for section in sections]),
            tag("footer", paragraph("Made with protolearn. This file is complete in itself.")),
        ]
    )
    scripts: list[Markup] = []
    if library:
        scripts = [
            tag("script", as_json(data), type="application/json", id="data"),
            tag("script", Markup(library)),
            tag("script", Markup(text_of("page.js"))),
        ]
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", story.title),
        tag("style", Markup(colours() + text_of("page.css"))),
    )
    kind = "with-charts" if library else "without-charts"
    inside = tag("body", body, scripts, class_=kind)
    return f'<!doctype html>\n<html lang="en">\n{head}\n{inside}\n</html>\n'


def header(story: Story, sections: list[Section]) -> Markup:
    """Return the head of the page: its title, and the way to the sections."""
    links = [tag("a", one.short, href=f"#{one.name}") for one in sections]
    options = [tag("option", "all classes", value="")]
    options += [tag("option", name, value=code) for code, name in enumerate(story.subject.classes)]
    pick = tag(
        "div",
        tag("label", "Show ", for_="class"),
        tag("select", options, id="class"),
        class_="pick",
    )
    return joined(
        [
            tag(
                "header",
                paragraph("protolearn report", "brand"),
                tag("h1", story.title),
                paragraph(story.about, "about"),
            ),
            tag("nav", tag("div", links, class_="links"), pick, aria_label="Sections"),
        ]
    )


def in_short(story: Story) -> Markup:
    """Return what was learned, with the most important numbers."""
    evaluation, subject = story.evidence.evaluation, story.subject
    accuracy, balanced = evaluation.accuracy, evaluation.balanced_accuracy
    n_prototypes = 0 if subject.prototypes is None else len(subject.prototypes[0])
    tiles = [
        tile(f"{accuracy.value:.1%}", "accuracy", between(accuracy)),
        tile(f"{balanced.value:.1%}", "balanced accuracy", between(balanced)),
        tile(
            f"{n_prototypes}" if n_prototypes else "none",
            "prototypes",
            f"{len(subject.classes)} classes",
        ),
        tile(f"{len(subject.y):,}", "rows", count(int(subject.used.sum()), "column")),
    ]
    missing = [] if charting_library() else [paragraph(NO_CHARTS, "warning")]
    return tag(
        "section",
        tag("h2", "What was learned"),
        [paragraph(sentence) for sentence in story.sentences],
        tag("div", tiles, class_="tiles"),
        missing,
        id="short",
    )


def between(one: Estimate) -> str:
    """Write an interval, unless it is empty."""
    return f"{one.low:.1%} to {one.high:.1%}" if one.low < one.high else "no interval"


def tile(value: str, name: str, more: str) -> Markup:
    """Show a number large."""
    return tag("div", tag("strong", value), tag("span", name), tag("small", more), class_="tile")


def colours() -> str:
    """Return the colours of classes to the page, for light and dark."""

    def named(values: Any) -> str:
        return "".join(f"--class-{i}:{value};" for i, value in enumerate(values))

    dark = f":root:not([data-theme=light]){{{named(ON_DARK)}}}"
    light = f":root{{{named(COLOURS)}}}"
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def text_of(name: str) -> str:
    """Read a file that is part of the page."""
    return files(__package__).joinpath(name).read_text("utf-8")


@cache
def charting_library() -> str:
    """Return the charting library, or nothing if it is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        return ""
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def tell_missing() -> None:
    """Warn if the page will have no charts."""
    if not charting_library():
        warnings.warn(NO_CHARTS, stacklevel=3)
