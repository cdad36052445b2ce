"""Margins and certificates: how far each prediction is from another one."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..._arrays import Floats
from ..._names import count, decimals_text, radius_text
from ...analysis import hypothesis_margin
from ...tables import distance_unit as unit_of_table
from ..subject import Subject
from .chart import Axis, Chart, Layer, every, shares
from .contents import Story, value_or_reason

N_BINS, MOST_CLASSES, MOST_POINTS = 40, 8, 200
FAR = 99.0  # percentile at which the axis of radii ends


def robustness_of(story: Story) -> dict[str, Any]:
    """Return what is known of margins and certificates of the model itself, or why not."""
    some, radius = story.measured_subject, story.certified_radii
    margin = value_or_reason(hypothesis_margin, some.last, some.inner, some.y)
    found: dict[str, Any] = {"charts": [], "half": "", "unit": distance_unit(some)}
    for kind, values in ("certificates", radius), ("margins", margin):
        found[f"no_{kind}"] = values if isinstance(values, str) else ""
    if not isinstance(radius, str):
        found["half"] = radius_text(np.median(radius))
        found["charts"].append(certificates_chart(some, radius))
    if not isinstance(margin, str):
        found["charts"].append(margins_chart(some, margin))
    return found


def distance_unit(subject: Subject) -> str:
    """Return the unit of distances: standard deviations only where they are that."""
    between = subject.between
    if not subject.begins_with_table:
        standardized = len(between) == 1 and isinstance(between[0][1], StandardScaler)
        between = [] if standardized else [("model", subject.last)]
    return unit_of_table(subject.columns, between)


def certified_text(radius: float, share: float) -> str:
    """Return a point of the curve in words, both numbers rounded down."""
    percent = decimals_text(100.0 * share, 1, ROUND_FLOOR)
    return f"correct for {percent}% of the rows, if no change is {radius_text(radius)} or larger"


def margins_chart(subject: Subject, margin: Floats) -> Chart:
    """Return the distribution of margins by class."""
    low, high = float(margin.min()), float(margin.max())
    width = (high - low) / N_BINS or 1.0
    # A bin begins at zero, so that none holds right and wrong answers.
    edges = np.arange(width * np.floor(low / width), high + width + width, width)
    layers = margin_bars(subject, margin, edges)
    note = margin_note(subject, float((margin < 0.0).mean()))
    ends = min(float(edges[0]), -0.02 * float(edges[-1])), max(float(edges[-1]), 0.0)
    return Chart(
        "margins",
        "Hypothesis margins",
        f"Histogram of hypothesis margins. {note}",
        Axis("hypothesis margin", *ends),
        Axis("rows", 0.0, 1.05 * max(float(layers[-1].y.max()), 1.0)),
        [*layers, Layer("line", [0.0, 0.0], [0.0, 1e9], look="ink")],
        note,
    )


def margin_bars(subject: Subject, margin: Floats, edges: Floats) -> list[Layer]:
    """Return the bars of each class, those of the next one above them."""
    width = edges[1] - edges[0]
    middle, base = edges[:-1] + 0.5 * width, np.zeros(len(edges) - 1)
    layers: list[Layer] = []
    codes = np.unique(subject.codes)
    for code in codes.tolist() if len(codes) <= MOST_CLASSES else [None]:
        mine = margin if code is None else margin[subject.codes == code]
        counts = np.histogram(mine, edges)[0]
        look, name = ("accent", "") if code is None else ("class", subject.classes[code])
        tips = [
            f"margin about {x:.3g}: {count(int(n), 'row')} {name}"
            for x, n in zip(middle, counts, strict=True)
        ]
        top = base + counts
        layers.append(Layer("bars", middle, top, base, look, name, code, 0.94 * width, tips))
        base = top
    return layers


def margin_note(subject: Subject, wrong: float) -> str:
    """Return a text that says what hypothesis margins are, and how many are negative."""
    what = (
        "The hypothesis margin of a row is how far all prototypes can move before its prediction "
        "changes. "
    )
    if not wrong:
        return f"{what}It is positive for all rows."
    soft = getattr(getattr(subject.last, "_decision", None), "soft", False)
    right = "the nearest one is of its class" if soft else "its prediction is correct"
    return (
        f"{what}It is negative for {wrong:.1%} of the rows: the prototypes would have to move that "
        f"far until {right}."
    )


def certificates_chart(subject: Subject, radius: Floats) -> Chart:
    """Return the share of rows that stay correct whatever change smaller than a radius is made."""
    right = subject.predicted_codes == subject.codes
    sizes = np.sort(radius[right])
    share = (len(sizes) - np.arange(len(sizes))) / len(radius)
    finite = radius[np.isfinite(radius)]
    end = float(np.percentile(finite, FAR)) if len(finite) else 1.0
    places = every(len(sizes), MOST_POINTS)
    x = np.append(0.0, sizes[places])
    y = np.append(right.mean(), share[places])
    tips = [certified_text(*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    note = (
        "The share of rows that are correct and stay correct under every change smaller than the "
        "value on the horizontal axis."
    )
    return Chart(
        "certificates",
        "Certified accuracy",
        f"Certified accuracy falls from {right.mean():.1%} without change to zero. {note}",
        Axis(f"size of the change, in {distance_unit(subject).partition(',')[0]}", 0.0, end or 1.0),
        shares("share certainly correct"),
        [Layer("area", x, y, tips=tips)],
        note,
    )
