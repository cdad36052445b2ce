"""The section of the columns that count."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._names import shorten_name
from . import png
from .chart import ACCENT, INK, Chart, axis, lines, numbers, safe, shares
from .html import Markup, joined, paragraph, tag
from .relevances import Relevances
from .story import Section, Story

MOST_BARS = 20
MOST_GROUPS = 6
BAR_HEIGHT = 24


def counting(story: Story) -> Section:
    """Draw how much each column counts."""
    section = Section("columns", "Which columns count", "Columns")
    found = story.relevances
    if found.reason:
        section.parts.append(paragraph(f"There is no measure of it: {found.reason}."))
        return section
    section.parts.append(paragraph(told(found)))
    if story.image_shape is not None and len(found.names) == np.prod(story.image_shape):
        section.parts.append(picture(found, story.image_shape))
    groups = found.groups[:MOST_GROUPS] or [""]
    section.parts += [bars(found, g, name) for g, name in enumerate(groups)]
    left = len(found.groups) - len(groups)
    more = f" The first {len(groups)} of {len(found.groups)} local metrics." if left > 0 else ""
    section.parts.append(paragraph(found.meaning + more, "note"))
    return section


def told(found: Relevances) -> str:
    """Return a text that says which columns count most."""
    order, mean = found.order, found.values.mean(axis=0)
    if not mean.sum():
        return "No column counts: all rows get the same answer."
    if len(mean) == 1:
        return f"There is one column, {found.names[0]}."
    half = int(np.searchsorted(np.cumsum(mean[order]), 0.5 * mean.sum() * (1.0 - 1e-9))) + 1
    first = ", ".join(found.names[j] for j in order[: min(half, 5)])
    if half == 1:
        return f"One column of {len(mean)} counts for half of it or more: {first}."
    more = f" and {half - 5} more" if half > 5 else ""
    return f"{half} of {len(mean)} columns count for half of it: {first}{more}."


def bars(found: Relevances, g: int, group: str) -> Chart:
    """Draw the bars of a metric."""
    order = np.argsort(-found.values[g], kind="stable")
    shown = [int(j) for j in order[:MOST_BARS]]
    values, low, high = (part[g, shown] for part in (found.values, found.low, found.high))
    sure = np.isfinite(low).all()
    names = [found.names[j] for j in shown]
    texts = [
        lines(name, f"{value:.1%}" + (f", interval {a:.1%} to {b:.1%}" if sure else ""))
        for name, value, a, b in zip(names, values, low, high, strict=True)
    ]
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(values),
        "y": list(range(len(shown))),
        "hovertext": texts,
        "hoverinfo": "text",
        "marker": {"color": ACCENT, "opacity": 0.6},
    }
    traces = [trace]
    if sure:
        traces += intervals(low, high)
    places = {
        "tickvals": list(range(len(shown))),
        "ticktext": [safe(shorten_name(name)) for name in names],
        "autorange": "reversed",
        "automargin": True,
        "ticksuffix": "  ",
    }
    rest = len(found.names) - len(shown)
    title = "How much each column counts" + (f": {group}" if group else "")
    listed = "; ".join(f"{name} {value:.1%}" for name, value in zip(names, values, strict=True))
    return Chart(
        f"columns-{g}",
        title,
        f"{title}. Bars, the largest first: {listed}.",
        traces,
        {"xaxis": shares("share", rangemode="tozero"), "yaxis": axis("", **places), "bargap": 0.35},
        height=90 + BAR_HEIGHT * len(shown),
        note=f"The {len(shown)} largest; {rest} more are smaller." if rest > 0 else "",
    )


def intervals(low: Any, high: Any) -> list[dict[str, Any]]:
    """Draw the intervals of bars, whose ends need not lie around them."""
    x: list[Any] = []
    y: list[Any] = []
    for place, (a, b) in enumerate(zip(numbers(low), numbers(high), strict=True)):
        x += [a, b, None]
        y += [place, place, None]
    line = {"color": INK, "width": 1.6}
    marks = {"symbol": "line-ns", "size": 7, "line": {"color": INK, "width": 1.6}}
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": x,
            "y": y,
            "line": line,
            "marker": marks,
            "hoverinfo": "skip",
        }
    ]


def picture(found: Relevances, shape: tuple[int, ...]) -> Markup:
    """Show relevances of points of a picture where the points are."""
    frames = []
    names = found.groups or [""]
    for values, name in zip(found.values[:MOST_GROUPS], names, strict=False):
        image = png.grey(values.reshape(shape), 0.0, float(values.max()))
        of = f", {name}" if name else ""
        alt = f"How much each point of a picture counts{of}: bright points count most."
        frames.append(
            tag(
                "figure",
                tag("img", src=image, alt=alt, class_="pixels"),
                tag("figcaption", name or "bright counts"),
            )
        )
    return joined([tag("div", frames, class_="pictures")])
