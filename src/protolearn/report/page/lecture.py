"""The lecture as a page: click points, and watch four algorithms learn them step by step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..._files import replacing
from .document import text_of, whole_page
from .html import Markup, paragraph, tag

TITLE = "Watch a classifier learn"
ALGORITHMS = {
    "rosenblatt": "Rosenblatt perceptron",
    "adatron": "AdaTron",
    "lvq1": "LVQ1",
    "glvq": "GLVQ",
}
DATA = {
    "separable": "separable classes",
    "overlapping": "overlapping classes",
    "squares": "opposite corners",
    "empty": "none: click your own",
}
ARROW = '<defs><marker id="tip" viewBox="0 0 10 10" refX="7" refY="5" markerWidth="5" '
ARROW += 'markerHeight="5" orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" '
ARROW += 'fill="context-stroke"/></marker></defs>'


def write_lecture(path: str | os.PathLike[str]) -> Path:
    """Write a page on which to watch Rosenblatt, AdaTron, LVQ1 and GLVQ learn.

    One file that a browser shows without a network. Click points of two classes, and go step by
    step or let it run; the formula, its numbers and the errors are beside the picture. The steps
    are those of ``Rosenblatt(order="cyclic")``, ``AdaTron(updates="sequential")``, ``LVQ1`` and
    ``GLVQ`` with ``raw_rates``.

    Parameters
    ----------
    path : str or path
        The file to make.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from protolearn import report
    >>> report.write_lecture(pathlib.Path(tempfile.mkdtemp()) / "lecture.html").name
    'lecture.html'
    """
    header = tag(
        "header",
        paragraph("protolearn lecture", "brand"),
        tag("h1", TITLE),
        paragraph("Click into the plane to add examples, then learn them one by one.", "about"),
    )
    body = [
        header,
        tag("main", tag("div", board(), panel(), class_="stage")),
        tag("footer", paragraph("Made with protolearn. This file is complete in itself.")),
    ]
    scripts = [tag("script", Markup(text_of("lecture.js")))]
    page = whole_page(TITLE, text_of("lecture.css"), tag("body", body, scripts))
    with replacing(path) as beside:
        beside.write_text(page, encoding="utf-8")
    return Path(path)


def board() -> Markup:
    """Return the plane, and what a click does."""
    plane = Markup(
        f'<svg id="plane" viewBox="-2 -2 4 4" role="img" aria-label="The plane">{ARROW}</svg>'
    )
    canvas = tag("canvas", width=144, height=144, id="regions")
    pens = [("0", "class A (circles)"), ("1", "class B (squares)"), ("erase", "erase")]
    choices = [
        tag("label", tag("input", type="radio", name_="pen", value=value, checked=k == 0), text)
        for k, (value, text) in enumerate(pens)
    ]
    clicks = tag("fieldset", tag("legend", "A click adds"), choices, class_="pens")
    return tag("div", tag("div", canvas, plane, class_="board"), clicks)


def panel() -> Markup:
    """Return the formula, the buttons and the settings."""
    buttons = [
        tag("button", "Step", id="step", type="button", class_="main"),
        tag("button", "Sweep", id="sweep", type="button"),
        tag("button", "Run", id="run", type="button"),
        tag("button", "Start again", id="reset", type="button"),
    ]
    return tag(
        "div",
        tag("div", setting("Algorithm", "algorithm", ALGORITHMS), class_="settings"),
        tag(
            "section",
            tag("h2", "", id="formula-name"),
            tag("div", "", id="formula", class_="formula"),
            tag("div", buttons, class_="buttons"),
            paragraph(tag("span", "", id="where"), "where"),
            tag("p", "", id="note", aria_live="polite"),
            Markup('<svg id="curve" viewBox="0 0 300 90" role="img" aria-label="Errors"></svg>'),
        ),
        tag(
            "section",
            tag("h2", "Settings"),
            tag(
                "div",
                setting("Examples", "data", DATA),
                slider("Rate η", "rate", 0.02, 0.5, 0.02, 0.1),
                setting(
                    "Largest strength \N{GREEK SMALL LETTER GAMMA}",
                    "gamma",
                    {"inf": "none", "10": "10", "1": "1"},
                ),
                slider("Slope β", "beta", 1, 15, 1, 4),
                setting("Prototypes a class", "count", {"1": "1", "2": "2", "3": "3"}),
                slider("Steps a second", "speed", 1, 30, 1, 6, show=False),
                class_="settings",
            ),
            paragraph(tag("span", "", id="about"), "note"),
        ),
        class_="card",
    )


def setting(text: str, name: str, options: dict[str, str]) -> Markup:
    """Return a choice with its name."""
    choices = [tag("option", label, value=value) for value, label in options.items()]
    label = tag("label", tag("span", text), tag("select", choices, id=name))
    return tag("div", label, id=f"of-{name}")


def slider(
    text: str, name: str, low: float, high: float, step: float, value: Any, show: bool = True
) -> Markup:
    """Return a slider with its name, and its value beside it."""
    given = {"min": low, "max": high, "step": step, "value": value, "id": name}
    shown = tag("output", "", id=f"{name}-value") if show else tag("span", "")
    label = tag("label", tag("span", text), tag("input", type="range", **given), shown)
    return tag("div", label, id=f"of-{name}")
