"""The section of margins and certificates: how far each answer is from another one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import RobustScaler, StandardScaler

from ..._parameters import Floats
from ...analysis import certified_radius, hypothesis_margin
from ...tables.nearest import NO_NAMES, silent
from ..subject import Subject
from .chart import ACCENT, INK, Chart, axis, class_colour, every, numbers, safe, shares
from .html import paragraph
from .story import MOST_ROWS, Section, Story
from .traces import ABOVE, curve

N_BINS = 40
MOST_CLASSES = 8
MOST_POINTS = 200
FAR = 99.0
"""Percentile at which the axis of radii ends."""


def safety(story: Story) -> Section:
    """Draw margins and certificates."""
    section = Section("safety", "How far each answer is from another one", "Margins")
    rows = story.some_rows(MOST_ROWS)
    some = story.subject.take(rows)
    reasons = []
    try:
        with silent(NO_NAMES):
            margin = hypothesis_margin(some.last, some.inner, some.y)
        section.parts.append(margins(some, margin))
    except (TypeError, ValueError) as error:
        reasons.append(f"No hypothesis margin: {short(error)}.")
    try:
        with silent(NO_NAMES):
            radius = certified_radius(some.last, some.inner)
        section.parts.insert(0, paragraph(certain(some, radius)))
        section.parts.append(certificates(some, radius))
    except (TypeError, ValueError) as error:
        reasons.append(f"No certificate: {short(error)}.")
    section.parts += [paragraph(reason) for reason in reasons]
    if len(rows) < len(story.subject.y) and section.charts:
        text = f"By {len(rows):,} of {len(story.subject.y):,} rows, drawn at random."
        section.parts.append(paragraph(text, "note"))
    return section


def short(error: Exception) -> str:
    """Give a message without the advice for those who call functions."""
    return str(error).partition("; give ")[0].rstrip(".")


def unit(subject: Subject) -> str:
    """Name the unit of distances."""
    steps = [step for _, step in subject.between]
    if subject.begins_with_table or any(
        isinstance(s, (StandardScaler, RobustScaler)) for s in steps
    ):
        return "standard deviations of the columns"
    return "units of the rows, as the model sees them"


def certain(subject: Subject, radius: Floats) -> str:
    """Say what the certificates tell, in a sentence."""
    half = float(np.median(radius[np.isfinite(radius)])) if np.isfinite(radius).any() else np.inf
    return (
        "A certificate is a proof: no change of a row that is smaller than its certified radius "
        f"can give it another answer. For half of the rows the radius is at least {half:.2g}, in "
        f"{unit(subject)}."
    )


def margins(subject: Subject, margin: Floats) -> Chart:
    """Draw the distribution of margins by class."""
    low, high = float(margin.min()), float(margin.max())
    width = (high - low) / N_BINS or 1.0
    # A bin begins at zero, so that none holds right and wrong answers.
    bins = {"start": width * np.floor(low / width), "end": high + width, "size": width}
    traces: list[dict[str, Any]] = []
    codes = np.unique(subject.codes)
    for code in codes if len(codes) <= MOST_CLASSES else [None]:
        mine = margin if code is None else margin[subject.codes == code]
        edges = np.arange(bins["start"], bins["end"] + width, width)
        counts, edges = np.histogram(mine, edges)
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
    layout = {
        "barmode": "stack",
        "xaxis": axis("hypothesis margin"),
        "yaxis": axis("rows"),
        "shapes": [at_zero()],
        "showlegend": len(traces) > 1,
        "legend": ABOVE,
    }
    note = (
        "How far all prototypes may move before a row changes its class; left of zero, "
        f"{wrong:.1%} of the rows, they would have to move for it to be right."
    )
    return Chart(
        "margins", "Margins", f"Histogram of hypothesis margins. {note}", traces, layout, note=note
    )


def at_zero() -> dict[str, Any]:
    """Draw a line at zero."""
    return {
        "type": "line",
        "x0": 0,
        "x1": 0,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": INK, "width": 1},
    }


def certificates(subject: Subject, radius: Floats) -> Chart:
    """Draw the share of rows that stay right whatever change smaller than a radius is made."""
    right = subject.predicted == subject.codes
    sizes = np.sort(radius[right])
    share = (len(sizes) - np.arange(len(sizes))) / len(radius)
    finite = radius[np.isfinite(radius)]
    end = float(np.percentile(finite, FAR)) if len(finite) else 1.0
    places = every(len(sizes), MOST_POINTS)
    hover = "right in %{y:.1%} of the rows<br>whatever changes by less than %{x:.2g}<extra></extra>"
    trace = curve(
        [0.0, *sizes[places]],
        [right.mean(), *share[places]],
        ACCENT,
        line={"shape": "vh"},
        fill="tozeroy",
        hovertemplate=hover,
    )
    layout = {
        "xaxis": axis(f"change, in {unit(subject)}", range=[0, end]),
        "yaxis": shares("right for certain", range=[0, 1.01]),
    }
    note = (
        "The share of rows that are right, and stay right under every change smaller than this. By "
        "the model on the rows of this page."
    )
    alt = f"Certified accuracy falls from {right.mean():.1%} without change to zero. {note}"
    return Chart("certificates", "Certified accuracy", alt, [trace], layout, note=note)
