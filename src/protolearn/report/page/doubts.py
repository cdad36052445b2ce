"""The section of the rows that are most worth a second look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._parameters import Floats, Indices
from ...analysis import certified_radius
from ...tables.nearest import NO_NAMES, silent
from ..turns import Turn, turns_of
from .evidence import Evidence
from .html import Markup, paragraph, tag
from .shown import of_class, picture
from .story import MOST_ROWS, Section, Story

MOST_OF_A_KIND = 6
MOST_CHANGES = 4

KINDS = {
    "mislabelled": "perhaps mislabelled",
    "wrong": "judged wrongly",
    "border": "near the border",
}


@dataclass(frozen=True)
class Doubt:
    """A row that is worth a second look.

    Parameters
    ----------
    row : int
        Its place among the rows of the subject.
    kind : str
        A key of ``KINDS``.
    why : str
        A sentence.
    """

    row: int
    kind: str
    why: str


def second_look(story: Story) -> Section:
    """List the rows."""
    section = Section("look", "Rows worth a second look", "Rows")
    found = doubts(story)
    if not found:
        section.parts.append(paragraph("There are none: every row was judged rightly."))
        return section
    n_wrong = int(story.evidence.wrong.sum())
    when = " when they were left out" if story.evidence.left_out else ""
    text = (
        f"{n_wrong:,} of {len(story.evidence.rows):,} rows were judged wrongly{when}. Here are "
        "those that a person should look at first, each with the smallest change that would give "
        "it another answer of the model."
    )
    section.parts.append(paragraph(text))
    rows = np.array([doubt.row for doubt in found])
    turns, reason = turned(story, rows)
    cards = [card(story, doubt, turn) for doubt, turn in zip(found, turns, strict=True)]
    section.parts.append(tag("div", cards, class_="cards"))
    if reason:
        section.parts.append(paragraph(f"There are no counterfactuals: {reason}", "note"))
    return section


def turned(story: Story, rows: Indices) -> tuple[list[Turn | None], str]:
    """Give what would change the answers about rows, or why nobody knows."""
    try:
        return turns_of(story.subject.take(rows)), ""
    except (TypeError, ValueError) as error:
        return [None] * len(rows), str(error)


def doubts(story: Story) -> list[Doubt]:
    """Find the rows: perhaps mislabelled, judged wrongly, or near the border, each once."""
    found: list[Doubt] = []
    seen: set[int] = set()
    for kind, candidates in (
        ("mislabelled", mislabelled(story.evidence)),
        ("wrong", wrong(story.evidence)),
        ("border", near_border(story)),
    ):
        number = 0
        for row, why in candidates:
            if row not in seen and number < MOST_OF_A_KIND:
                seen.add(row)
                number += 1
                found.append(Doubt(row, kind, why))
    return found


def mislabelled(evidence: Evidence) -> list[tuple[int, str]]:
    """Find rows whose label contradicts what models say that have not seen them.

    By confident learning (Northcutt, Jiang and Chuang, 2021): another class is at least as probable
    as it is, on average, for the rows that have it.
    """
    answers, P = evidence.answers, evidence.answers.probabilities
    if P is None:
        return []
    labels = answers.classes.tolist()
    code = np.array([labels.index(label) for label in answers.y_true.tolist()])
    usual = np.array(
        [P[code == c, c].mean() if (code == c).any() else np.inf for c in range(len(labels))]
    )
    others = np.where(usual <= P, P, -np.inf)
    others[np.arange(len(P)), code] = -np.inf
    best = others.argmax(axis=1)
    own, rival = P[np.arange(len(P)), code], others.max(axis=1)
    there = np.flatnonzero(rival > own)
    order = there[np.argsort(own[there] - rival[there], kind="stable")]
    return [
        (
            int(evidence.rows[i]),
            f"{speaker(evidence)} says {labels[best[i]]} with probability {rival[i]:.0%}, as sure "
            f"as of rows that are; its label {labels[code[i]]} has {own[i]:.0%}.",
        )
        for i in order
    ]


def speaker(evidence: Evidence) -> str:
    """Say who judged a row."""
    return "Without it, a model" if evidence.left_out else "The model"


def wrong(evidence: Evidence) -> list[tuple[int, str]]:
    """Find rows that were judged wrongly, those first of which a model was surest."""
    places, answers = np.flatnonzero(evidence.wrong), evidence.answers
    sure = evidence.confidence
    if sure is not None:
        places = places[np.argsort(-sure[places], kind="stable")]
    found = []
    for i in places:
        text = f"{speaker(evidence)} says {answers.y_pred[i]}"
        if answers.probabilities is not None and sure is not None:
            text += f" with probability {sure[i]:.0%}"
        found.append((int(evidence.rows[i]), text + "."))
    return found


def near_border(story: Story) -> list[tuple[int, str]]:
    """Find rows whose answer the smallest change turns, or that are least sure."""
    evidence = story.evidence
    rows = story.some_rows(MOST_ROWS)
    some = story.subject.take(rows)
    try:
        with silent(NO_NAMES):
            radius: Floats = certified_radius(some.last, some.inner)
        order = np.argsort(radius, kind="stable")
        return [
            (int(rows[i]), f"The certified radius of its answer is {radius[i]:.2g}.") for i in order
        ]
    except (TypeError, ValueError):
        sure = evidence.confidence
    if sure is None or evidence.answers.probabilities is None:
        return []
    order = np.argsort(sure, kind="stable")
    return [
        (int(evidence.rows[i]), f"The best of the probabilities is {sure[i]:.0%}.") for i in order
    ]


def card(story: Story, doubt: Doubt, turn: Turn | None) -> Markup:
    """Show a row."""
    subject = story.subject
    code, says = int(subject.codes[doubt.row]), int(subject.predicted[doubt.row])
    labelled: list[Any] = ["labelled ", of_class(subject.classes[code], code)]
    if code != says:
        labelled += [", the model says ", of_class(subject.classes[says], says)]
    return tag(
        "article",
        tag("span", KINDS[doubt.kind], class_=f"kind {doubt.kind}"),
        tag("h3", f"Row {story.row_names[doubt.row]}"),
        paragraph(labelled),
        paragraph(doubt.why),
        before_and_after(story, doubt.row, turn) if story.image_shape else changes_of(turn),
        class_="card",
        data_class=code,
    )


def before_and_after(story: Story, row: int, turn: Turn | None) -> Markup:
    """Show a row as a picture, and the nearest one with another answer."""
    frames = [picture(story, story.subject.plain[row], f"row {story.row_names[row]}")]
    if turn is not None:
        frames.append(picture(story, turn.plain, f"would be {turn.label}"))
    return tag("div", frames, class_="pictures")


def changes_of(turn: Turn | None) -> Markup | None:
    """List what would have to change for another answer."""
    if turn is None:
        return None
    rows = [
        tag("tr", tag("th", change.column, scope="row"), tag("td", f"{change.old} → {change.new}"))
        for change in turn.changes[:MOST_CHANGES]
    ]
    more = len(turn.changes) - len(rows)
    rest = paragraph(f"and {more} smaller change{'s' * (more > 1)}", "note") if more else None
    name = tag("caption", f"It would be {turn.label} with")
    return Markup(tag("table", name, tag("tbody", rows), class_="turn") + (rest or ""))
