"""The section of the map: rows, prototypes and decision regions in the plane of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import Indices
from ..._names import shorten_name
from ..projection_display import PlaneMap, plane_map
from ..style import COLOURS
from ..subject import Subject
from .chart import (
    ABOVE,
    INK,
    Chart,
    Trace,
    axis,
    class_colour,
    marks,
    palette_image,
    row_marks,
    safe,
    stars,
)
from .contents import Section, Story
from .html import paragraph, tag
from .prototype_section import image_of
from .suspect_rows import speaker

# Points along a side for the regions, and numbers of the rows at all of them.
FINEST, COARSEST, NUMBERS = 400, 150, 30_000_000
MOST_COLUMNS = 12  # of a row that is shown when it is pointed at
LONGEST = 60  # characters of a text there
OPACITY, EDGE = 38, 90  # of regions, and of the lines between them, out of 255


def map_section(story: Story, rows: Indices) -> Section:
    """Return the map of some rows."""
    section = Section("map", "The map", "Map")
    subject, some = story.subject, story.subject.take(rows)
    width = some.inner.shape[1]
    if width < 2:
        section.parts.append(paragraph("The model sees one number, so that there is no plane."))
        return section
    resolution = int(np.clip(np.sqrt(NUMBERS / width), COARSEST, FINEST))
    found = plane_map(subject.last, some.inner, subject.inner_names, resolution, some.codes)
    section.parts.append(paragraph(map_text(story, found, some), "of-chart"))
    chart = map_chart(story, found, some.codes, rows)
    hint = paragraph("Point at a mark, or tap it, to see its row here.")
    panel = tag("aside", tag("h3", "The row"), hint, id="row", class_="card", aria_live="polite")
    section.parts.append(tag("div", chart.figure, panel, class_="beside"))
    section.parts.append(paragraph("A map is a chart, and so is not shown here.", "of-no-chart"))
    section.placed.append(chart)
    if len(rows) < len(subject.y):
        text = (
            f"{len(rows):,} of {len(subject.y):,} rows are drawn: some at random, and those worth "
            "a second look."
        )
        section.parts.append(paragraph(text, "note"))
    return section


def map_text(story: Story, found: PlaneMap, some: Subject) -> str:
    """Return a text that says what is to be seen."""
    when = " when they were left out" if story.evidence.left_out else ""
    share = float((found.regions_at_points == some.predicted_codes).mean())
    return (
        "Each mark is a row, at its place in the plane in which the model is seen best; the "
        "colours below are the answers of the model there. Each axis has a scale of its own. "
        f"{faithful(share)} Rings: rows that were judged wrongly{when}."
    )


def faithful(share: float) -> str:
    """Return a text that says how far a plane can be trusted."""
    if share == 1.0:
        return "The plane loses nothing: each row lies in the region of its answer."
    return (
        f"{min(share, 0.999):.1%} of the rows lie in the region of their answer; the others are "
        "decided by directions that a plane does not show."
    )


def map_chart(story: Story, found: PlaneMap, codes: Indices, rows: Indices) -> Chart:
    """Return the chart of the map."""
    rings = np.flatnonzero(np.isin(rows, story.evidence.rows[story.evidence.wrong]))
    traces = marks_of_rows(story, found, codes, rows)
    if len(rings):
        look = {"color": INK, "symbol": "circle-open", "size": 13, "line": {"width": 1.4}}
        meta = {"classes": codes[rings].tolist()}
        told: dict[str, Any] = {"name": "judged wrongly", "hoverinfo": "skip", "meta": meta}
        traces.append(marks(found.points[rings], look, **told))
    if len(found.prototypes):
        classes = found.prototype_codes.tolist()
        colours, meta = [class_colour(code) for code in classes], {"classes": classes}
        what, names = found.star_name, story.subject.prototype_names
        if what != "prototype":
            names = [str(story.subject.classes[code]) for code in classes]
        traces.append(stars(found.prototypes, colours, names, what, meta=meta))
    n_classes = len(story.subject.classes)
    centers = "prototypes" if found.star_name == "prototype" else "class means"
    alt = (
        f"A map of {len(found.points)} rows of {n_classes} classes with {len(found.prototypes)} "
        f"{centers} and the decision regions of the model; {len(rings)} rows are ringed, which "
        "were judged wrongly."
    )
    title = f"Rows, {centers} and decision regions"
    return Chart("world", title, alt, traces, layout_of(found, n_classes), height=560)


def marks_of_rows(story: Story, found: PlaneMap, codes: Indices, rows: Indices) -> list[Trace]:
    """Return the rows, class by class; each knows its place among those that are drawn."""
    traces = []
    for code, name in enumerate(story.subject.classes):
        mine = np.flatnonzero(codes == code)
        if len(mine):
            texts = [f"row {story.row_names[rows[i]]}: {name}" for i in mine]
            told: dict[str, Any] = {
                "hovertext": [safe(shorten_name(text, LONGEST)) for text in texts],
                "hoverinfo": "text",
                "customdata": mine.tolist(),
                "meta": {"class": code, "rows": True},
            }
            places = found.points[mine]
            traces.append(row_marks(places, name, class_colour(code), code, 7.0, 0.85, **told))
    return traces


def layout_of(found: PlaneMap, n_classes: int) -> dict[str, Any]:
    """Return the axes, and the picture of the regions below."""
    across, up, regions = found.grid
    picture = {
        "source": picture_of(regions, n_classes),
        "xref": "x",
        "yref": "y",
        "x": float(across[0]),
        "y": float(up[-1]),
        "sizex": float(across[-1] - across[0]),
        "sizey": float(up[-1] - up[0]),
        "sizing": "stretch",
        "layer": "below",
    }
    axes = [
        axis(name, range=[float(ends[0]), float(ends[-1])], zeroline=False, showgrid=False)
        for name, ends in zip(found.axis_names, (across, up), strict=True)
    ]
    named = {"xaxis": axes[0], "yaxis": axes[1]}
    return {"images": [picture], **named, "showlegend": True, "legend": ABOVE}


def picture_of(regions: Indices, n_classes: int) -> str:
    """Return a picture of the regions, with lines between them; light enough for any background."""
    codes = np.where(regions < 0, n_classes, regions)
    edge = np.zeros(codes.shape, dtype=bool)
    edge[1:] |= codes[1:] != codes[:-1]
    edge[:, 1:] |= codes[:, 1:] != codes[:, :-1]
    last = min(n_classes, 254)
    codes = np.where(edge, last + 1, np.minimum(codes, last))
    shades = [bytes.fromhex(COLOURS[code % len(COLOURS)][1:]) for code in range(last)]
    colours = [(red, green, blue, OPACITY) for red, green, blue in shades]
    return palette_image(codes[::-1], [*colours, (0, 0, 0, 0), (128, 128, 128, EDGE)])


def row_details(story: Story, rows: Indices) -> dict[str, Any]:
    """Return the rows of the map as the page shows them when they are pointed at."""
    subject, some = story.subject, story.subject.take(rows)
    texts = some.texts()
    order = (story.columns_that_count or list(range(len(texts))))[:MOST_COLUMNS]
    evidence, places = story.evidence, rows.tolist()
    judged, sure = evidence.rows.tolist(), {}
    said = dict(zip(judged, evidence.answers.y_pred.tolist(), strict=True))
    if evidence.probability is not None:
        sure = dict(zip(judged, evidence.probability.tolist(), strict=True))
    return {
        "columns": [subject.names[j] for j in order],
        "left": len(texts) - len(order),
        "cells": [[shorten_name(text, LONGEST) for text in texts[j]] for j in order],
        "names": [shorten_name(str(story.row_names[i]), LONGEST) for i in places],
        "true": some.codes.tolist(),
        "says": some.predicted_codes.tolist(),
        "who": speaker(evidence),
        "said": [None if i not in said else shorten_name(str(said[i]), LONGEST) for i in places],
        "pictures": [image_of(story, row) for row in some.plain] if story.image_shape else None,
        "sure": [round(sure[i], 3) if i in sure else None for i in places],
    }
