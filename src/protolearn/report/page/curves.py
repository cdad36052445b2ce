"""Curves of how good a model is: ROC, calibration, and accuracy against rejection."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis import accuracy_reject_curve
from ...selection.intervals import share_interval
from ...selection.roc_curves import curve_of
from .chart import ACCENT, INK, MUTED, Chart, class_colour, every, lines, numbers, safe, shares
from .evidence import CONFIDENCE, Evidence
from .story import Story
from .traces import curve, diagonal, marks

MOST_CURVES = 8
MOST_POINTS = 150
N_BINS = 10


def roc(evidence: Evidence) -> Chart | None:
    """Draw the curves of each class against the others; of two classes one."""
    answers = evidence.answers
    scores = answers.probabilities if answers.probabilities is not None else answers.scores
    if scores is None:
        return None
    there = [label for label in answers.classes if 0 < (answers.y_true == label).mean() < 1]
    wanted = there[-1:] if len(answers.classes) == 2 else there[:MOST_CURVES]
    if not wanted:
        return None
    traces, told = [diagonal()], []
    for label in wanted:
        found = curve_of(answers.y_true, scores, answers.classes, label)
        code = answers.classes.tolist().index(label)
        places = every(len(found.fpr), MOST_POINTS)
        name = f"{label}, AUC {found.auc:.3f}"
        x, y = found.fpr[places], found.tpr[places]
        texts = [lines(label, f"{a:.1%} false, {b:.1%} true") for a, b in zip(x, y, strict=True)]
        told_by: dict[str, Any] = {"hovertext": texts, "hoverinfo": "text", "name": safe(name)}
        traces.append(curve(x, y, class_colour(code), meta={"class": code}, **told_by))
        told.append(name)
    rest = len(there) - len(wanted) if len(answers.classes) > 2 else 0
    return Chart(
        "roc",
        "ROC: what a threshold buys",
        f"ROC curves, true against false positive rate. {'; '.join(told)}.",
        traces,
        {
            "xaxis": shares("false positives", range=[0, 1]),
            "yaxis": shares("true positives", range=[0, 1.01]),
            "showlegend": True,
            "legend": {"x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom"},
        },
        note=(f"The first {len(wanted)} classes; {rest} more are not drawn. " if rest else "")
        + "Each class against the others, the answers of all folds together.",
    )


def calibration(evidence: Evidence) -> Chart | None:
    """Draw how often answers of some probability are right."""
    if evidence.answers.probabilities is None:
        return None
    probability, right = evidence.answers.probabilities.max(axis=1), ~evidence.wrong
    said, share, low, high, texts = [], [], [], [], []
    for rows in bins(probability):
        said.append(probability[rows].mean())
        share.append(right[rows].mean())
        around = share_interval(int(right[rows].sum()), len(rows), CONFIDENCE)
        low.append(share[-1] - around.low)
        high.append(around.high - share[-1])
        texts.append(
            lines(
                f"{len(rows):,} answers with probability {said[-1]:.1%} on average",
                f"right in {share[-1]:.1%} ({around.low:.1%} to {around.high:.1%})",
            )
        )
    gap = float(np.mean(probability) - np.mean(right))
    size = "about as often as it says"
    if abs(gap) > 0.02:
        size = f"{abs(gap):.1%} {'less' if gap > 0 else 'more'} often than it says"
    ends = {"array": numbers(high), "arrayminus": numbers(low)}
    trace = curve(
        said,
        share,
        ACCENT,
        mode="lines+markers",
        error_y=ends | {"color": MUTED, "thickness": 1.4, "width": 3},
        hovertext=texts,
        hoverinfo="text",
        marker={"color": ACCENT, "size": 8},
    )
    lowest = min(mean - below for mean, below in zip(share, low, strict=True))
    start = max(0.0, min(*said, lowest) - 0.03)
    return Chart(
        "calibration",
        "Calibration: is 80% right in 80%?",
        f"Share of right answers against their probability. The model is right {size}.",
        [diagonal(), trace],
        {
            "xaxis": shares("probability of the answer", range=[start, 1.01]),
            "yaxis": shares("right", range=[start, 1.03]),
        },
        note=f"The model is right {size}; the lines are {CONFIDENCE:.0%} intervals.",
    )


def bins(values: Any) -> list[Any]:
    """Cut rows into parts of about equal size by their values; equal values stay together."""
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, N_BINS + 1)[1:-1]))
    place = np.searchsorted(edges, values, side="left")
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def reject(story: Story) -> Chart | None:
    """Draw what accuracy is bought by leaving less sure answers to a person."""
    evidence = story.evidence
    confidence = evidence.confidence
    if confidence is None:
        return None
    answers = evidence.answers
    found = accuracy_reject_curve(answers.y_true, answers.y_pred, confidence)
    # Of the last few rows the accuracy says little.
    there = found.reject_rate <= 1.0 - min(20, len(confidence)) / len(confidence)
    rate, accuracy = found.reject_rate[there], found.accuracy[there]
    places = every(len(rate), MOST_POINTS)
    hover = "without %{x:.1%} of the rows<br>right in %{y:.1%}<extra></extra>"
    traces = [curve(rate[places], accuracy[places], ACCENT, hovertemplate=hover)]
    note = ""
    if story.threshold is not None:
        kept = confidence >= story.threshold
        if kept.any():
            at, right = float(1.0 - kept.mean()), float(1.0 - evidence.wrong[kept].mean())
            note = (
                f"The dot: below a probability of {story.threshold:.2f} answers are flagged, "
                f"{at:.1%} of the rows; the others are right in {right:.1%}."
            )
            look = {"color": INK, "size": 11, "symbol": "circle-open-dot"}
            told_by = {"hovertext": [safe(note)], "hoverinfo": "text"}
            traces.append(marks(np.array([[at, right]]), look, **told_by))
    half = float(np.interp(0.1, rate, accuracy))
    return Chart(
        "reject",
        "Accuracy, if the least sure answers are left to a person",
        f"Accuracy of the others against the share left out: {accuracy[0]:.1%} with none left out, "
        f"{half:.1%} without the least sure tenth. {note}",
        traces,
        {
            "xaxis": shares("left to a person", rangemode="tozero"),
            "yaxis": shares("right among the others"),
        },
        note=note,
    )
