"""The section that tells how good a model is, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...selection import Estimate
from .curves import calibration, reject, roc
from .evidence import CONFIDENCE, Evidence
from .html import Markup, paragraph, table, table_of, tag
from .story import Section, Story

MOST_CLASSES = 40

EXPLAINED = {
    "accuracy": "share of right answers",
    "balanced accuracy": "the same, each class counting alike",
    "macro F": "mean of F over the classes",
    "MCC": "Matthews' correlation, 0 is guessing",
    "AUC": "a row of a class ranks above another's",
    "log loss": "of the probabilities, less is better",
}
"""What the measures are, in a few words."""


def goodness(story: Story) -> Section:
    """Return how good the model is."""
    section = Section("good", "How good, and how sure", "Quality")
    evidence = story.evidence
    both = tag("div", measures(evidence), confusion(evidence), class_="two")
    section.parts += [paragraph(evidence.how), both]
    section.parts += [paragraph(note, "note") for note in evidence.evaluation.notes]
    found = roc(story), calibration(evidence), reject(story)
    section.parts += [chart for chart in found if chart is not None]
    if evidence.answers.probabilities is None:
        text = "The model gives no probabilities, so that there is no calibration to show."
        section.parts.append(paragraph(text, "note"))
    return section


def measures(evidence: Evidence) -> Markup:
    """List the measures with their intervals, drawn from 0 to 1."""
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


def interval_bar(name: str, one: Estimate) -> Markup:
    """Draw a number and its interval between 0 and 1."""
    low, value, high = (100.0 * min(max(x, 0.0), 1.0) for x in (one.low, one.value, one.high))
    whole = tag("line", x1=0, x2=100, y1=8, y2=8, class_="track")
    between = tag("line", x1=f"{low:.1f}", x2=f"{high:.1f}", y1=8, y2=8, class_="between")
    tick = tag("line", x1=f"{value:.1f}", x2=f"{value:.1f}", y1=2, y2=14, class_="value")
    told = f"{name} {one.value:.3f}, interval {one.low:.3f} to {one.high:.3f}"
    return tag(
        "svg",
        whole,
        between,
        tick,
        viewBox="-2 0 104 16",
        class_="bar",
        role="img",
        aria_label=told,
        preserveAspectRatio="none",
    )


def confusion(evidence: Evidence) -> Markup:
    """Show which class is taken for which, each cell as dark as its share of the row."""
    found = evidence.evaluation.confusion
    labels = [str(label) for label in found.labels]
    if len(labels) > MOST_CLASSES:
        return most_confused(labels, found.counts)
    body = []
    for i, (label, counts) in enumerate(zip(labels, found.counts, strict=True)):
        total = max(counts.sum(), 1)
        cells = [confusion_cell(count, count / total, i == j) for j, count in enumerate(counts)]
        body.append(tag("tr", tag("th", label, scope="row"), cells, tag("td", f"{counts.sum():,}")))
    head = tag(
        "tr",
        tag("th", "true class", scope="col"),
        [tag("th", label, scope="col") for label in labels],
        tag("th", "rows", scope="col"),
    )
    caption = "Rows of each class, and what was said of them"
    return table_of(head, body, caption, "confusion")


def confusion_cell(count: Any, share: float, right: bool) -> Markup:
    """Write a cell: the count, and the share of the row."""
    kind = "right" if right else "wrong"
    percent = tag("small", f"{share:.0%}" if count else "")
    return tag("td", f"{count:,}", percent, class_=kind, style=f"--share:{share:.3f}")


def most_confused(labels: list[str], counts: Any) -> Markup:
    """List the pairs of classes that are confused most, of many classes."""
    errors = counts - np.diag(np.diag(counts))
    order = np.argsort(-errors, axis=None, kind="stable")[:20]
    places = [np.unravel_index(k, errors.shape) for k in order]
    rows = [(labels[i], labels[j], f"{errors[i, j]:,}") for i, j in places if errors[i, j]]
    caption = f"The most frequent confusions of {len(labels)} classes"
    return table(("true class", "taken for", "rows"), rows, caption)
