"""The model card: what a model is for, how good it is, and for whom, in one Markdown text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._names import class_name
from ..subject import Subject
from .contents import Story, sample_rows
from .evidence import Evidence
from .live_model import MOST_PROBABILITIES, edit_cells, pack_numbers
from .performance import measures

BLANK_USE = "(to be filled in: who may use the model, for what, and for what not)"
FEW_ROWS = 30
"""Rows of a subgroup whose measures say little."""

MOST_CLASSES = 30


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
    share = record.get("confidence")
    interval = "interval" if share is None else f"{share:.0%} interval"
    rows = [
        [name, number(value), between(low, high)]
        for name, value, low, high in record.get("measures", ())
    ]
    groups = [
        [name, f"{n:,}", percent(value), between(low, high, "%"), "few rows" * (n < FEW_ROWS)]
        for name, n, value, low, high in record.get("subgroups", ())
    ]
    classes = [
        [name, f"{n:,}", percent(value), between(low, high, "%"), "few rows" * (n < FEW_ROWS)]
        for name, n, value, low, high in record.get("classes", ())
    ]
    edits = record.get("edits", [])
    warnings = [f"- {plain(text)}" for text in record.get("warnings", ())]
    limits = [
        *warnings,
        "- The measures hold for rows like those of the data. They say nothing about others.",
        "- Subgroups and classes with few rows are measured badly.",
        *(["- The measures were taken before the edits."] if record.get("is_older") else []),
    ]
    lines = [
        f"# Model card: {plain(record.get('title') or record['model'])}",
        *("", "## Intended use", "", use.strip() or BLANK_USE),
        *("", "## Model", "", f"A {plain(record['model'])} model."),
        *table(["", ""], record.get("made", ())),
        *("", "## Data", "", plain(record.get("data") or UNKNOWN)),
        *("", f"Columns: {plain(', '.join(record.get('columns', ())) or UNKNOWN)}."),
        *("", "## Performance", "", plain(record.get("how") or UNKNOWN)),
        *table(["measure", "value", interval], rows),
        *("", "### By class", "", "The share of the rows of a class that are predicted correctly."),
        *table(["class", "rows", "recall", interval, ""], classes),
        *("", "### By subgroup", ""),
        *(table(["subgroup", "rows", "accuracy", interval, ""], groups) or [NO_GROUPS]),
        *("", "## Limits", "", *limits),
        *("", "## Edits by people", ""),
        *(table(["edit", "reason", "author", "time", "effect"], edits) or ["There are none."]),
    ]
    return "\n".join(lines) + "\n"


UNKNOWN = "Not known: the model was saved without it."
NO_GROUPS = "No subgroups were measured. `protolearn fit --by COLUMN` measures those of a column."


def plain(text: Any) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    line = " ".join(str(text).split())
    for sign in "\\`*_|[]<>#":
        line = line.replace(sign, f"\\{sign}")
    return line


def table(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> list[str]:
    """Return a table in Markdown, with an empty line before; nothing if it has no lines."""
    found = [f"| {' | '.join(plain(cell) for cell in line)} |" for line in lines]
    if not found:
        return []
    return ["", f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *found]


def number(value: float | None) -> str:
    """Return a measure as text."""
    return "unknown" if value is None else f"{value:.3g}"


def percent(value: float | None) -> str:
    """Return a share as text."""
    return "unknown" if value is None else f"{value:.1%}"


def between(low: float | None, high: float | None, kind: str = "") -> str:
    """Return an interval as text."""
    if low is None or high is None:
        return "unknown"
    return f"{low:.1%} to {high:.1%}" if kind else f"{low:.3g} to {high:.3g}"


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
    shares = P[:, 1:] if len(classes) == 2 else P
    rows = sample_rows(len(P), max(MOST_PROBABILITIES // shares.shape[1], 1), seed)
    codes = subject.codes_of(evidence.answers.y_true[rows]).astype(np.float64)
    return {
        "truth": pack_numbers(codes),
        "shares": [pack_numbers(np.asarray(column[rows], dtype=np.float64)) for column in shares.T],
    }
