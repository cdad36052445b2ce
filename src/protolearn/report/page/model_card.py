"""The model card: what a model is for, how good it is, and for whom, in one Markdown text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._names import class_name
from ..subject import Subject
from .contents import Story, sample_rows
from .evidence import Evidence
from .live_model import MOST_PROBABILITIES, edit_cells, pack_numbers
from .performance import measures
from .rendering import page_templates

BLANK_USE = "(to be filled in: who may use the model, for what, and for what not)"
FEW_ROWS = 30
"""Rows of a subgroup whose measures say little."""

MOST_CLASSES = 30
STEP = 1e-4  # of the probabilities of held-out rows; thresholds have steps of 0.01
MAY_LACK = (
    *("title", "data", "columns", "how", "confidence", "measures", "classes", "subgroups"),
    *("warnings", "made", "edits", "is_older"),
)
"""What the record of an older file may lack."""


def card_record(story: Story) -> dict[str, Any]:
    """Return what a card says, as JSON has it."""
    evaluation, evidence = story.evidence.evaluation, story.evidence
    labels = list(evaluation.recalls)[:MOST_CLASSES]
    counts = dict(zip(*np.unique(evidence.answers.y_true, return_counts=True), strict=True))
    return {
        "title": story.title,
        "model": class_name(story.subject.last),
        "data": story.about,
        "columns": story.subject.names,
        "how": evidence.how,
        "confidence": evaluation.confidence,
        "measures": [
            [name, *interval_of(one.estimate)] for name, one in measures(evidence).items()
        ],
        "classes": [
            [str(label), int(counts.get(label, 0)), *interval_of(evaluation.recalls[label])]
            for label in labels
        ],
        "subgroups": [
            [str(name), int(one.n_samples), *interval_of(one.accuracy)]
            for name, one in story.subgroups.items()
        ],
        "warnings": list(story.warnings),
        "made": [[str(name), str(value)] for name, value in (*story.made, *story.page)],
        "edits": edits_of(story.subject.last),
    }


def edits_of(last: Any) -> list[list[str]]:
    """Return the edits of a model as the cells of lines."""
    log = getattr(getattr(last, "rule_", None), "log", None)
    return [] if log is None else [edit_cells(entry) for entry in log.entries]


def interval_of(estimate: Any) -> list[float | None]:
    """Return an estimate and its interval, None where there is none."""
    values = (estimate.value, estimate.low, estimate.high)
    return [float(value) if np.isfinite(value) else None for value in values]


def model_card(record: dict[str, Any], use: str = "") -> str:
    """Return the card of a model as Markdown; what the record lacks is said to be unknown."""
    card = dict.fromkeys(MAY_LACK) | record
    template = page_templates().get_template("card.md")
    return template.render(card=card, use=use, blank_use=BLANK_USE, few=FEW_ROWS)


def error_shares(story: Story) -> dict[str, Any]:
    """Return whom the model errs on, for letters: by class, and by subgroup."""
    evidence, classes = story.evidence, story.subject.model.classes_.tolist()
    true, said = evidence.answers.y_true, evidence.answers.y_pred
    rows = []
    for label in classes:
        own, told = true == label, said == label
        right = int((own & told).sum())
        rows.append(
            {
                "n": int(own.sum()),
                "recall": right / int(own.sum()) if own.any() else None,
                "precision": right / int(told.sum()) if told.any() else None,
            }
        )
    groups = [
        f"{name}: {one.accuracy.value:.1%} of {one.n_samples:,} rows predicted correctly."
        for name, one in list(story.subgroups.items())[:8]
        if np.isfinite(one.accuracy.value)
    ]
    return {"how": "held-out" if evidence.left_out else "these", "rows": rows, "groups": groups}


def judged_data(evidence: Evidence, subject: Subject, seed: int) -> dict[str, Any] | None:
    """Return the probabilities of held-out rows, to choose a threshold by; None without them."""
    P, classes = evidence.answers.probabilities, subject.model.classes_
    if P is None or P.shape[1] != len(classes):
        return None
    rows = sample_rows(len(P), max(MOST_PROBABILITIES // len(classes), 1), seed)
    # Rounded down to a part of the steps of the threshold, so that the same rows reach it.
    shares = np.floor(P[rows] / STEP + 1e-9) * STEP
    codes = subject.codes_of(evidence.answers.y_true[rows]).astype(np.float64)
    return {
        "truth": pack_numbers(codes),
        "shares": [pack_numbers(column) for column in shares.round(4).T],
    }
