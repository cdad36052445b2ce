"""Curves of how good a model is: ROC, calibration, and accuracy against rejection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats
from ..._names import count
from ...analysis import accuracy_reject_curve
from ...selection import curve_of, share_interval
from .chart import ACCENT, INK, MUTED, Chart, class_colour, every, lines, numbers, safe, shares
from .evidence import CONFIDENCE, Evidence
from .story import Story
from .traces import curve, diagonal, marks

MOST_CURVES = 8
MOST_POINTS = 150
N_BINS = 10


def roc(story: Story) -> Chart | None:
    """Draw the curves of each class against the others; of two classes one."""
    curves = curves_of(story.evidence)
    if not curves:
        return None
    drawn = dict(list(curves.items())[:MOST_CURVES])
    traces, told = [diagonal()], []
    for label, (x, y, area) in drawn.items():
        code = int(story.subject.codes_of(np.array([label]))[0])
        class_name = story.subject.classes[code]
        name = f"{class_name}, AUC {area:.3f}"
        texts = [
            lines(class_name, f"{a:.1%} false, {b:.1%} true") for a, b in zip(x, y, strict=True)
        ]
        told_by: dict[str, Any] = {"hovertext": texts, "hoverinfo": "text", "name": safe(name)}
        traces.append(curve(x, y, class_colour(code), meta={"class": code}, **told_by))
        told.append(name)
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
        note=roc_note(story.evidence, len(curves) - len(drawn)),
    )


def curves_of(evidence: Evidence) -> dict[Any, tuple[Floats, Floats, float]]:
    """Return both rates and the area of the curve of each class, of two classes of the second."""
    evaluation, answers = evidence.evaluation, evidence.answers
    if evaluation.roc is not None:  # of two classes, averaged over the folds
        found = evaluation.roc
        places = every(len(found.fpr), MOST_POINTS)
        return {found.positive: (found.fpr[places], found.tpr[places], evaluation.auc.value)}
    scores = answers.probabilities if answers.probabilities is not None else answers.scores
    curves: dict[Any, tuple[Floats, Floats, float]] = {}
    if scores is None:
        return curves
    for label in answers.classes:
        if 0 < (answers.y_true == label).mean() < 1:
            found = curve_of(answers.y_true, scores, answers.classes, label)
            places = every(len(found.fpr), MOST_POINTS)
            curves[label] = found.fpr[places], found.tpr[places], found.auc
    return curves


def roc_note(evidence: Evidence, n_left: int) -> str:
    """Return a text that says what the curves are."""
    left = f" {n_left} more are not drawn." if n_left else ""
    if evidence.evaluation.roc is not None:
        return "Averaged over the folds." if evidence.evaluation.n_folds else ""
    folds = " The answers of all folds are taken together, and the measures above are means."
    return f"Each class against the others.{left}{folds if evidence.evaluation.n_folds else ''}"


def calibration(evidence: Evidence) -> Chart | None:
    """Draw how often answers of some probability are right."""
    probability, right = evidence.probability, ~evidence.wrong
    if probability is None:
        return None
    groups = [Group.of(probability[rows], right[rows]) for rows in bins(probability)]
    said, share = [one.said for one in groups], [one.share for one in groups]
    ends = {
        "array": numbers([one.high - one.share for one in groups]),
        "arrayminus": numbers([one.share - one.low for one in groups]),
    }
    trace = curve(
        said,
        share,
        ACCENT,
        mode="lines+markers",
        error_y=ends | {"color": MUTED, "thickness": 1.4, "width": 3},
        hovertext=[one.text for one in groups],
        hoverinfo="text",
        marker={"color": ACCENT, "size": 8},
    )
    start = max(0.0, min(min(one.low, one.said) for one in groups) - 0.03)
    told = calibrated(groups, float(probability.mean()), float(right.mean()))
    return Chart(
        "calibration",
        "Calibration: is 80% right in 80%?",
        f"Share of right answers against their probability. {told}",
        [diagonal(), trace],
        {
            "xaxis": shares("probability of the answer", range=[start, 1.01]),
            "yaxis": shares("right", range=[start, 1.03]),
        },
        note=f"{told} The lines are {CONFIDENCE:.0%} intervals.",
    )


class Group(NamedTuple):
    """Answers of about the same probability.

    Attributes
    ----------
    n : int
        How many.
    said : float
        Their mean probability.
    share, low, high : float
        Share of them that are right, and its interval.
    """

    n: int
    said: float
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, probability: Floats, right: Any) -> Group:
        """Sum up some answers."""
        ends = share_interval(int(right.sum()), len(right), CONFIDENCE)
        return cls(len(right), float(probability.mean()), float(right.mean()), *ends)

    @property
    def text(self) -> str:
        """What is shown when it is pointed at."""
        return lines(
            f"{count(self.n, 'answer')} with probability {self.said:.1%} on average",
            f"right in {self.share:.1%} ({self.low:.1%} to {self.high:.1%})",
        )


def calibrated(groups: Sequence[Group], said: float, right: float) -> str:
    """Return a text that says whether answers are right as often as their probabilities say."""
    off = [one for one in groups if not one.low <= one.said <= one.high]
    if not off:
        return "Answers are right as often as they say, as far as these rows can tell."
    kinds = {one.said > one.share for one in off}
    how = "more or less" if len(kinds) > 1 else "less" if True in kinds else "more"
    return (
        f"In {len(off)} of {count(len(groups), 'group')} answers are right {how} often than they "
        f"say; over all they say {said:.1%} and are right in {right:.1%}."
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
    if len(rate) < 2:
        return None
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
    at_tenth = float(np.interp(0.1, rate, accuracy))
    return Chart(
        "reject",
        "Accuracy, if the least sure answers are left to a person",
        f"Accuracy of the others against the share left out: {accuracy[0]:.1%} with none left out, "
        f"{at_tenth:.1%} without the least sure tenth. {note}",
        traces,
        {
            "xaxis": shares("left to a person", rangemode="tozero"),
            "yaxis": shares("right among the others"),
        },
        note=note,
    )
