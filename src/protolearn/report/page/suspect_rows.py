"""The rows that are most worth a second look, and what would give them another answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Floats, Indices
from ..._names import radius_text
from ...analysis import Change, Explanation, ModelView, explain
from ...selection import places_among
from ...tables import (
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    ignore_warnings,
)
from ..subject import Subject
from .contents import Story
from .evidence import Evidence
from .margin_charts import distance_unit
from .prototype_cards import image_of
from .rendering import short

MOST_OF_A_KIND = 6
MOST_REASONS = 4
SURE = 0.9  # probability of an answer that is not near the border

KINDS = {
    "mislabelled": "label in doubt",
    "wrong": "predicted wrongly",
    "border": "close call",
}


@dataclass(frozen=True)
class SuspectRow:
    """A row that is worth a second look."""

    row: int  # its place among the rows of the subject
    kind: str  # a key of ``KINDS``
    why: str  # a sentence


@dataclass(frozen=True)
class Case:
    """A row that is worth a second look, as it is shown."""

    suspect: SuspectRow
    kind: str  # why, in two words
    name: str  # what the row is called
    label: int  # its class
    says: int  # what the model predicts
    reasons: list[tuple[str, str, float]]  # the columns that matter most for that
    rival: str  # the class that they speak against
    turn: Turn | None  # what would give it another answer
    pictures: list[tuple[str, str]]  # addresses of pictures, and what they are


def cases_of(story: Story, found: Sequence[SuspectRow]) -> tuple[list[Case], str]:
    """Return rows with what the model says of them, or why it knows no smallest change."""
    if not found:
        return [], ""
    subject = story.subject
    some = subject.take(np.array([one.row for one in found]))
    with ignore_warnings(NO_FEATURE_NAMES, UNSEEN_CATEGORIES):
        told = explain(some.model, some.X, data=subject.X, n_exemplars=1)
        turns = turns_of(subject, some.model, told)
    cases = []
    for i, (one, turn) in enumerate(zip(found, turns, strict=True)):
        pictures = []
        name = str(story.row_names[one.row])
        if story.image_shape is not None:
            pictures.append((image_of(story, subject.plain[one.row]), f"row {name}"))
            if turn is not None:
                pictures.append((image_of(story, turn.plain), f"would be {short(turn.label)}"))
        codes = int(subject.codes[one.row]), int(subject.predicted_codes[one.row])
        reasons = reasons_of(subject, told, i), short(told.rival[i])
        cases.append(Case(one, KINDS[one.kind], name, *codes, *reasons, turn, pictures))
    return cases, told.reasons.get("counterfactual", "")


def find_suspects(story: Story) -> list[SuspectRow]:
    """Return the rows: perhaps mislabelled, judged wrongly, or near the border, each once."""
    found: dict[int, SuspectRow] = {}
    for kind, candidates in (
        ("mislabelled", find_mislabelled(story.evidence)),
        ("wrong", find_wrong(story.evidence)),
        ("border", find_near_border(story)),
    ):
        fresh = {row: SuspectRow(row, kind, why) for row, why in candidates if row not in found}
        found |= dict(islice(fresh.items(), MOST_OF_A_KIND))
    return list(found.values())


def find_mislabelled(evidence: Evidence) -> list[tuple[int, str]]:
    """Return rows whose label contradicts what models say that have not seen them.

    By confident learning (Northcutt, Jiang and Chuang, 2021): another class is at least as probable
    as it is, on average, for the rows that have it.
    """
    answers, P = evidence.answers, evidence.answers.probabilities
    if P is None:
        return []
    names = [short(label) for label in answers.classes]
    code = places_among(answers.classes, answers.y_true)
    usual = np.array(
        [P[code == c, c].mean() if (code == c).any() else np.inf for c in range(len(names))]
    )
    others = np.where(usual <= P, P, -np.inf)
    others[np.arange(len(P)), code] = -np.inf
    best = others.argmax(axis=1)
    own, rival = P[np.arange(len(P)), code], others.max(axis=1)
    there = np.flatnonzero(rival > own)
    order = there[np.argsort(-label_doubt(P, code)[there], kind="stable")]
    order = order[np.sort(np.unique(P[order].round(9), axis=0, return_index=True)[1])]
    return [
        (
            int(evidence.rows[i]),
            f"{speaker(evidence)} predicts {names[best[i]]} with probability {rival[i]:.0%}, as "
            f"certain as for rows of that class; its label {names[code[i]]} has {own[i]:.0%}.",
        )
        for i in order
    ]


def label_doubt(P: Floats, code: Indices) -> Floats:
    """Return how much the evidence speaks against each label: the log ratio of the best other one.

    Probabilities are divided by the mean ones of the rows with that label, as if there were one row
    more with the shares of the classes: rows of a rare class have a small probability anyway, and
    classes that are often taken for each other say less about a single row.
    """
    counts = np.bincount(code, minlength=P.shape[1])
    sums = np.stack([P[code == c].sum(axis=0) for c in range(P.shape[1])])
    usual = (sums + np.maximum(counts, 1) / len(code)) / (counts[:, None] + 1)
    evidence = np.log(np.maximum(P, np.finfo(float).tiny) / usual[code])
    places = np.arange(len(P))
    own = evidence[places, code]
    evidence[places, code] = -np.inf
    return np.asarray(evidence.max(axis=1) - own)


def speaker(evidence: Evidence) -> str:
    """Return who judged a row."""
    return "A model fitted without it" if evidence.left_out else "The model"


def find_wrong(evidence: Evidence) -> list[tuple[int, str]]:
    """Return rows that were judged wrongly, those first of which a model was surest."""
    places, answers = np.flatnonzero(evidence.wrong), evidence.answers
    sure = evidence.confidence
    if sure is not None:
        places = places[np.argsort(-sure[places], kind="stable")]
    found = []
    for i in places:
        text = f"{speaker(evidence)} predicts {short(answers.y_pred[i])}"
        if evidence.probability is not None:
            text += f" with probability {evidence.probability[i]:.0%}"
        found.append((int(evidence.rows[i]), text + "."))
    return found


def find_near_border(story: Story) -> list[tuple[int, str]]:
    """Return rows whose answer the smallest change turns, or of which models are least sure."""
    radius, rows, evidence = story.certified_radii, story.measured_rows, story.evidence
    if not isinstance(radius, str):
        text = f"The certified radius of its answer is {{}}, in {distance_unit(story.subject)}."
        order = np.argsort(radius, kind="stable")
        return [(int(rows[i]), text.format(radius_text(radius[i]))) for i in order]
    sure = evidence.probability
    if sure is None:
        return []
    return [
        (int(evidence.rows[i]), f"The prediction has a probability of {sure[i]:.0%}.")
        for i in np.argsort(sure, kind="stable")
        if sure[i] < SURE
    ]


def reasons_of(subject: Subject, told: Explanation, row: int) -> list[tuple[str, str, float]]:
    """Return the columns that contribute most to the answer for a row: name, value and share.

    The share is that of the sizes of all contributions; negative: it speaks for the other class.
    """
    if told.contributions is None:
        return []
    shares = told.contributions[row] / (np.abs(told.contributions[row]).sum() or 1.0)
    return [
        (subject.columns[j].name, told.values[j][row], float(shares[j]))
        for j in told.order(row)[:MOST_REASONS]
        if abs(shares[j]) >= 0.005
    ]


class Turn(NamedTuple):
    """What gives a row another answer."""

    label: Any  # the other answer
    changes: tuple[Change, ...]  # what changes, the largest change first
    plain: Floats  # the changed row, in the user's units


def turns_of(subject: Subject, model: Any, told: Explanation) -> list[Turn | None]:
    """Return for each explained row what would change the answer; None where that is not known."""
    found = told.counterfactual
    if found is None:
        return [None] * len(told)
    view = ModelView.of(model, found.points, subject.X)
    names = dict(zip((column.name for column in view.columns), subject.columns, strict=True))
    changes = [[c._replace(column=names[c.column].name) for c in row] for row in found.changes]
    turns = zip(found.feasible, found.label, map(tuple, changes), view.plain, strict=True)
    return [Turn(*turn) if there else None for there, *turn in turns]
