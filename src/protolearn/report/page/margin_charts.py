"""The section of margins and certificates: how far each answer is from another one."""

from __future__ import annotations

from decimal import ROUND_FLOOR

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..._arrays import Floats
from ..._names import decimals_text, radius_text
from ...analysis import hypothesis_margin
from ...tables import distance_unit as unit_of_table
from ..subject import Subject
from .chart import (
    ABOVE,
    ACCENT,
    INK,
    Chart,
    Trace,
    axis,
    class_colour,
    curve,
    every,
    numbers,
    safe,
    shares,
)
from .contents import Section, Story, value_or_reason
from .html import Markup, paragraph, table

N_BINS, MOST_CLASSES, MOST_POINTS = 40, 8, 200
FAR = 99.0  # percentile at which the axis of radii ends


def margins_section(story: Story) -> Section:
    """Return margins and certificates."""
    section = Section("safety", "How far each answer is from another one", "Margins")
    some, radius = story.measured_subject, story.certified_radii
    margin = value_or_reason(hypothesis_margin, some.last, some.inner, some.y)
    if isinstance(margin, str):
        section.parts.append(paragraph(f"No hypothesis margin: {margin}."))
    else:
        section.parts.append(margins_chart(some, margin))
    if isinstance(radius, str):
        section.parts.append(paragraph(f"No certificate: {radius}."))
    else:
        section.parts.insert(0, paragraph(certificate_text(some, radius)))
        section.parts.append(certificates_chart(some, radius))
    if section.charts:
        n_rows, n_used = len(story.subject.y), len(story.measured_rows)
        which = f"{n_used:,} of {n_rows:,} rows, drawn at random" if n_used < n_rows else "all rows"
        seen = ", to which it was fitted unless they are others" if story.evidence.left_out else ""
        text = f"Both are those of the model itself on {which} of this page{seen}."
        section.parts.append(paragraph(text, "note"))
    section.parts.extend(certified_answers(story))
    return section


def certified_answers(story: Story) -> list[Markup]:
    """Return how many answers of each class stay the same under errors of measurement."""
    if story.certified is None:
        return []
    lines = [paragraph(story.certified.sentence)]
    if shares_by_class := story.certified.shares:
        lines.append(table(["class", "certified"], shares_by_class.items(), "Certified answers"))
    return lines


def distance_unit(subject: Subject) -> str:
    """Return the unit of distances: standard deviations only where they are that."""
    between = subject.between
    if not subject.begins_with_table:
        standardized = len(between) == 1 and isinstance(between[0][1], StandardScaler)
        between = [] if standardized else [("model", subject.last)]
    return unit_of_table(subject.columns, between)


def certificate_text(subject: Subject, radius: Floats) -> str:
    """Return a text that says what the certificates tell, in a sentence."""
    half = radius_text(np.median(radius))
    return (
        "A certificate is a proof: no change of a row that is smaller than its certified radius "
        f"can give it another answer. For half of the rows the radius is at least {half}, in "
        f"{distance_unit(subject)}."
    )


def certified_text(radius: float, share: float) -> str:
    """Return a point of the curve in words, both numbers rounded down."""
    percent = decimals_text(100.0 * share, 1, ROUND_FLOOR)
    return f"right in {percent}% of the rows<br>whatever changes by less than {radius_text(radius)}"


def margins_chart(subject: Subject, margin: Floats) -> Chart:
    """Return the distribution of margins by class."""
    low, high = float(margin.min()), float(margin.max())
    width = (high - low) / N_BINS or 1.0
    # A bin begins at zero, so that none holds right and wrong answers.
    edges = np.arange(width * np.floor(low / width), high + width + width, width)
    traces: list[Trace] = []
    codes = np.unique(subject.codes)
    for code in codes if len(codes) <= MOST_CLASSES else [None]:
        mine = margin if code is None else margin[subject.codes == code]
        counts, _ = np.histogram(mine, edges)
        name = "all classes" if code is None else subject.classes[code]
        traces.append(
            {
                "type": "bar",
                "name": safe(name),
                "x": numbers(edges[:-1] + 0.5 * width),
                "y": counts.tolist(),
                "width": width * 0.96,
                "marker": {"color": ACCENT if code is None else class_colour(int(code))},
                "hovertemplate": "margin about %{x:.3g}: %{y} rows<extra>%{fullData.name}</extra>",
                "meta": {} if code is None else {"class": int(code)},
            }
        )
    wrong = float((margin < 0.0).mean())
    soft = getattr(getattr(subject.last, "_decision", None), "soft", False)
    right = "for the nearest to be of its class" if soft else "for it to be right"
    ends = {"x0": 0, "x1": 0, "y0": 0, "y1": 1}  # a line at zero
    layout = {
        "barmode": "stack",
        "xaxis": axis("hypothesis margin"),
        "yaxis": axis("rows"),
        "shapes": [{"type": "line", **ends, "yref": "paper", "line": {"color": INK, "width": 1}}],
        "showlegend": len(traces) > 1,
        "legend": ABOVE,
    }
    note = (
        "How far all prototypes may move before a row changes its class; left of zero, "
        f"{wrong:.1%} of the rows, they would have to move {right}."
    )
    return Chart(
        "margins", "Margins", f"Histogram of hypothesis margins. {note}", traces, layout, note=note
    )


def certificates_chart(subject: Subject, radius: Floats) -> Chart:
    """Return the share of rows that stay right whatever change smaller than a radius is made."""
    right = subject.predicted_codes == subject.codes
    sizes = np.sort(radius[right])
    share = (len(sizes) - np.arange(len(sizes))) / len(radius)
    finite = radius[np.isfinite(radius)]
    end = float(np.percentile(finite, FAR)) if len(finite) else 1.0
    places = every(len(sizes), MOST_POINTS)
    x, y = [0.0, *sizes[places]], [right.mean(), *share[places]]
    trace = curve(
        x,
        y,
        ACCENT,
        line={"shape": "vh"},
        fill="tozeroy",
        text=[certified_text(*pair) for pair in zip(x, y, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )
    layout = {
        "xaxis": axis(f"change, in {distance_unit(subject).partition(',')[0]}", range=[0, end]),
        "yaxis": shares("right for certain", range=[0, 1.01]),
    }
    note = "The share of rows that are right, and stay right under every change smaller than this."
    alt = f"Certified accuracy falls from {right.mean():.1%} without change to zero. {note}"
    return Chart("certificates", "Certified accuracy", alt, [trace], layout, note=note)
