"""The section that tells how good a model is, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import auc

from ..._arrays import Floats
from ..._names import count, shorten_name
from ...analysis import accuracy_reject_curve
from ...selection import Estimate, curve_of, precision_steps, share_interval
from .chart import (
    ACCENT,
    INK,
    MUTED,
    Chart,
    class_colour,
    curve,
    diagonal,
    every,
    lines,
    marks,
    numbers,
    safe,
    shares,
)
from .contents import Section, Story
from .evidence import CONFIDENCE, Evidence
from .html import Markup, paragraph, table, table_of, tag

MOST_CLASSES, MOST_CURVES, MOST_POINTS = 40, 8, 150
CURVE_POINTS = 1_000  # of curves whose area is told; fewer would change it
N_BINS = 10

# What the measures are, in a few words.
EXPLAINED = {
    "accuracy": "share of right answers",
    "balanced accuracy": "the same, each class counting alike",
    "macro F": "mean of F over the classes",
    "MCC": "Matthews' correlation, 0 is guessing",
    "AUC": "chance that a random positive scores higher than a random negative",
    "average precision": "area under the precision-recall curve, mean of the classes",
    "log loss": "of the probabilities, less is better",
}


def performance_section(story: Story) -> Section:
    """Return how good the model is."""
    section = Section("good", "Performance", "Performance")
    evidence = story.evidence
    both = tag("div", measures_table(evidence), confusion_table(evidence), class_="two")
    section.parts += [paragraph(evidence.how), both, class_table(evidence)]
    section.parts += [paragraph(note, "note") for note in evidence.evaluation.notes]
    found = (
        roc_chart(story),
        precision_chart(story),
        calibration_chart(evidence),
        reject_chart(story),
    )
    section.parts += [chart for chart in found if chart is not None]
    if evidence.answers.probabilities is None:
        text = "The model gives no probabilities, so that there is no calibration to show."
        section.parts.append(paragraph(text, "note"))
    return section


def measures_table(evidence: Evidence) -> Markup:
    """Return the measures with their intervals, drawn from 0 to 1."""
    rows = []
    for name, one in evidence.evaluation.table.items():
        known = not np.isnan(one.value)
        ends = f"{one.low:.3f} to {one.high:.3f}" if known else one.reason
        bar = interval_bar(name, one) if known and name != "log loss" else ""
        label = [name, tag("small", EXPLAINED[name])]
        rows.append((label, f"{one.value:.3f}" if known else "-", ends, bar))
    heads = "measure", "value", f"{CONFIDENCE:.0%} interval", "from 0 to 1"
    which = " that had no part in the model" if evidence.left_out else ", by the model itself"
    return table(heads, rows, f"Measures on rows{which}", "measures")


def class_table(evidence: Evidence) -> Markup:
    """Return precision, recall, average precision and lift of each class."""
    found, rows = evidence.evaluation, []
    counts = dict(zip(found.confusion.labels.tolist(), found.confusion.counts, strict=True))
    for label in list(found.recalls)[:MOST_CLASSES]:
        cells = [
            share_text(by[label])
            for by in (found.precisions, found.recalls, found.average_precisions)
        ]
        lift = "-" if np.isnan(found.lifts[label]) else f"{found.lifts[label]:.1f}"
        rows.append((shorten_name(str(label), 80), f"{counts[label].sum():,}", *cells, lift))
    heads = "class", "rows", "precision", "recall", "average precision", "lift"
    caption = f"Measures by class, with {CONFIDENCE:.0%} intervals"
    return table(heads, rows, caption)


def share_text(one: Estimate) -> str:
    """Return a share with its interval as text, or why there is none."""
    return one.reason or f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})"


def interval_bar(name: str, one: Estimate) -> Markup:
    """Return a drawing of a number and its interval between 0 and 1."""
    low, value, high = (100.0 * min(max(x, 0.0), 1.0) for x in (one.low, one.value, one.high))
    return tag(
        "svg",
        tag("line", x1=0, x2=100, y1=8, y2=8, class_="track"),
        tag("line", x1=f"{low:.1f}", x2=f"{high:.1f}", y1=8, y2=8, class_="between"),
        tag("line", x1=f"{value:.1f}", x2=f"{value:.1f}", y1=2, y2=14, class_="value"),
        viewBox="-2 0 104 16",
        class_="bar",
        role="img",
        aria_label=f"{name} {one.value:.3f}, interval {one.low:.3f} to {one.high:.3f}",
        preserveAspectRatio="none",
    )


def confusion_table(evidence: Evidence) -> Markup:
    """Return which class is taken for which, each cell as dark as its share of the row."""
    found = evidence.evaluation.confusion
    labels = [str(label) for label in found.labels]
    if len(labels) > MOST_CLASSES:
        return most_confused(labels, found.counts)
    body = []
    for i, (label, counts) in enumerate(zip(labels, found.counts, strict=True)):
        total = max(counts.sum(), 1)
        cells = [confusion_cell(count, count / total, i == j) for j, count in enumerate(counts)]
        body.append(tag("tr", tag("th", label, scope="row"), cells, tag("td", f"{counts.sum():,}")))
    head = tag("tr", [tag("th", name, scope="col") for name in ("true class", *labels, "rows")])
    return table_of(head, body, "Confusion matrix", "confusion")


def confusion_cell(count: Any, share: float, right: bool) -> Markup:
    """Return a cell: the count, and the share of the row."""
    kind = "right" if right else "wrong"
    percent = tag("small", f"{share:.0%}" if count else "")
    return tag("td", f"{count:,}", percent, class_=kind, style=f"--share:{share:.3f}")


def most_confused(labels: list[str], counts: Any) -> Markup:
    """Return the pairs of classes that are confused most, of many classes."""
    errors = counts - np.diag(np.diag(counts))
    order = np.argsort(-errors, axis=None, kind="stable")[:20]
    places = [np.unravel_index(k, errors.shape) for k in order]
    rows = [(labels[i], labels[j], f"{errors[i, j]:,}") for i, j in places if errors[i, j]]
    caption = f"The most frequent confusions of {len(labels)} classes"
    return table(("true class", "taken for", "rows"), rows, caption)


def roc_chart(story: Story) -> Chart | None:
    """Return the curves of each class against the others; of two classes one."""
    curves = curves_of(story.evidence)
    if not curves:
        return None
    drawn = dict(list(curves.items())[:MOST_CURVES])
    traces, told = [diagonal()], []
    for label, (x, y, area) in drawn.items():
        code = int(story.subject.codes_of(np.array([label]))[0])
        class_name = story.subject.classes[code]
        name = f"{class_name}, AUC {area:.3f}"
        hover = lines(class_name, "%{x:.1%} false, %{y:.1%} true") + "<extra></extra>"
        told_by: dict[str, Any] = {"hovertemplate": hover, "name": safe(name)}
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
    scores = answers.probabilities if answers.probabilities is not None else answers.scores
    curves: dict[Any, Any] = {}
    if evaluation.roc is not None:  # of two classes, averaged over the folds
        mean = getattr(evaluation.roc, "mean_curve", (evaluation.roc.fpr, evaluation.roc.tpr))
        curves[evaluation.roc.positive] = *mean[:2], evaluation.auc.value
    elif scores is not None:
        for label in answers.classes:
            if 0 < (answers.y_true == label).mean() < 1:
                found = curve_of(answers.y_true, scores, answers.classes, label)
                curves[label] = found.fpr, found.tpr, found.auc
    return {
        label: (fpr[places], tpr[places], area)
        for label, (fpr, tpr, area) in curves.items()
        for places in [every(len(fpr), CURVE_POINTS)]
    }


def precision_chart(story: Story) -> Chart | None:
    """Return the precision-recall curve of each class against the others, of all rows together."""
    answers = story.evidence.answers
    scores = answers.probabilities if answers.probabilities is not None else answers.scores
    labels = [one for one in answers.classes if 0 < (answers.y_true == one).mean() < 1]
    if scores is None or not labels:
        return None
    traces, told = [], []
    for label in labels[:MOST_CURVES]:
        code = int(story.subject.codes_of(np.array([label]))[0])
        positive = answers.y_true == label
        recall, precision = thin_steps(
            *precision_steps(positive, scores[:, np.searchsorted(answers.classes, label)])
        )
        area = float(auc(recall, precision))
        name = f"{story.subject.classes[code]}, average precision {area:.3f}"
        hover = "%{x:.1%} found, %{y:.1%} of the alarms right<extra></extra>"
        how: dict[str, Any] = {"hovertemplate": hover, "name": safe(name)}
        traces.append(curve(recall, precision, class_colour(code), meta={"class": code}, **how))
        told.append(f"{name} (a blind guess has {positive.mean():.3f})")
    folds = "The answers of all folds are taken together. " if story.evidence.left_out else ""
    left = len(labels) - MOST_CURVES
    return Chart(
        "precision",
        "Precision and recall",
        f"Precision against recall. {'; '.join(told)}.",
        traces,
        {
            "xaxis": shares("recall: rows of the class that are found", range=[0, 1]),
            "yaxis": shares("precision: alarms that are right", range=[0, 1.01]),
            "showlegend": True,
            "legend": {"x": 0, "y": 0, "xanchor": "left", "yanchor": "bottom"},
        },
        note=f"{folds}{'; '.join(told)}.{f' {left} more are not drawn.' if left > 0 else ''}",
    )


def thin_steps(recall: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Return a line of fewer steps with the same area below it, if there are many."""
    ends, heights = np.append(recall[:1], recall[1::2]), precision[::2]
    area = np.append(0.0, np.cumsum(np.diff(ends) * heights))
    places = np.array(every(len(ends), CURVE_POINTS // 2))
    ends, area = ends[places], area[places]
    return np.repeat(ends, 2)[1:-1], np.repeat(np.diff(area) / np.diff(ends), 2)


def roc_note(evidence: Evidence, n_left: int) -> str:
    """Return a text that says what the curves are."""
    left = f" {n_left} more are not drawn." if n_left else ""
    if evidence.evaluation.roc is not None:
        at = "Averaged over the folds, at equal false positive rates."
        return at if evidence.evaluation.n_folds else ""
    folds = " The answers of all folds are taken together, and the measures above are means."
    return f"Each class against the others.{left}{folds if evidence.evaluation.n_folds else ''}"


def calibration_chart(evidence: Evidence) -> Chart | None:
    """Return how often answers of some probability are right."""
    probability, right = evidence.probability, ~evidence.wrong
    if probability is None:
        return None
    groups = [Group.of(probability[rows], right[rows]) for rows in equal_bins(probability)]
    ends = {
        "array": numbers([one.high - one.share for one in groups]),
        "arrayminus": numbers([one.share - one.low for one in groups]),
    }
    trace = curve(
        [one.said for one in groups],
        [one.share for one in groups],
        ACCENT,
        mode="lines+markers",
        error_y=ends | {"color": MUTED, "thickness": 1.4, "width": 3},
        hovertext=[one.text for one in groups],
        hoverinfo="text",
        marker={"color": ACCENT, "size": 8},
    )
    start = max(0.0, min(min(one.low, one.said) for one in groups) - 0.03)
    told = calibration_text(groups, float(probability.mean()), float(right.mean()))
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
    """Answers of about the same probability."""

    n: int  # how many
    said: float  # their mean probability
    share: float  # how many of them are right, and the interval of that
    low: float
    high: float

    @classmethod
    def of(cls, probability: Floats, right: Any) -> Group:
        """Return the summary of some answers."""
        ends = share_interval(int(right.sum()), len(right), CONFIDENCE)
        return cls(len(right), float(probability.mean()), float(right.mean()), *ends)

    @property
    def text(self) -> str:
        """What is shown when it is pointed at."""
        return lines(
            f"{count(self.n, 'answer')} with probability {self.said:.1%} on average",
            f"right in {self.share:.1%} ({self.low:.1%} to {self.high:.1%})",
        )


def calibration_text(groups: Sequence[Group], said: float, right: float) -> str:
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


def equal_bins(values: Any) -> list[Any]:
    """Return rows in parts of about equal size by their values; equal values stay together."""
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, N_BINS + 1)[1:-1]))
    place = np.searchsorted(edges, values, side="left")
    return [np.flatnonzero(place == k) for k in np.unique(place)]


def reject_chart(story: Story) -> Chart | None:
    """Return what accuracy is bought by leaving less sure answers to a person."""
    evidence, confidence = story.evidence, story.evidence.confidence
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
    if story.threshold is not None and (kept := confidence >= story.threshold).any():
        at, right = float(1.0 - kept.mean()), float(1.0 - evidence.wrong[kept].mean())
        note = (
            f"The dot: below a probability of {story.threshold:.2f} answers are flagged, "
            f"{at:.1%} of the rows; the others are right in {right:.1%}."
        )
        look = {"color": INK, "size": 11, "symbol": "circle-open-dot"}
        told_by = {"hovertext": [safe(note)], "hoverinfo": "text"}
        traces.append(marks(np.array([[at, right]]), look, **told_by))
    return Chart(
        "reject",
        "Accuracy, if the least sure answers are left to a person",
        f"Accuracy of the others against the share left out: {accuracy[0]:.1%} with none left out, "
        f"{np.interp(0.1, rate, accuracy):.1%} without the least sure tenth. {note}",
        traces,
        {
            "xaxis": shares("left to a person", rangemode="tozero"),
            "yaxis": shares("right among the others"),
        },
        note=note,
    )
