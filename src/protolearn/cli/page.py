"""The report of ``protolearn fit``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ..report import (
    MOST_MEASURED_ROWS,
    Evidence,
    Story,
    Subject,
    data_fingerprint,
    describe_data,
    loading_code,
    pool_answers,
    relevances_of,
    sample_rows,
    versions_and_date,
)
from .judgement import Judgement
from .outcome import Outcome

N_REFITS = 20

FOR_REFITS = 0.02
"""Share of the time of the command for the intervals of relevances."""


def story(outcome: Outcome) -> Story:
    """Return what the report tells."""
    table, settings = outcome.table, outcome.settings
    subject = Subject.of(outcome.model, table.X, table.y)
    limit = settings.time_limit
    rows = sample_rows(len(table.y), MOST_MEASURED_ROWS, settings.seed)
    seconds = None if limit is None else FOR_REFITS * limit
    return Story(
        title=f"{table.target}: {outcome.chosen}",
        about=f"{outcome.opened.read.origin}. {describe_data(subject)}",
        sentences=outcome.in_short,
        subject=subject,
        evidence=evidence(outcome.judgement),
        relevances=relevances_of(subject, rows, N_REFITS, seconds, outcome.n_jobs, settings.seed),
        made=made(outcome),
        page=(),
        begun=perf_counter() - outcome.seconds,
        use=loading_code("model.protolearn", "frame"),
        row_names=table.rows.tolist(),
        threshold=outcome.judgement.reject.threshold,
        image_shape=settings.image,
        tried=outcome.model[-1].leaderboard_,
        seed=settings.seed,
    )


def evidence(judgement: Judgement) -> Evidence:
    """Return what was said about the rows of the outer folds."""
    folds = judgement.folds
    several = f"{len(folds)} outer folds" if len(folds) > 1 else "one outer fold"
    planned = judgement.n_planned
    left = "" if len(folds) == planned else f" of {planned} that were planned"
    how = (
        "Every row here was judged by a model that was chosen and fitted without it: "
        f"{several}{left}. So the measures are those of the whole procedure, the choice included."
    )
    rows = np.concatenate([fold.test for fold in folds])
    answers = pool_answers([fold.answers for fold in folds])
    return Evidence(judgement.evaluation, rows, answers, how, several)


def made(outcome: Outcome) -> list[tuple[str, Any]]:
    """Return how the model was made."""
    table, settings, search = outcome.table, outcome.settings, outcome.model[-1]
    n_rows = f"{len(table.y):,}"
    if len(table.y) < outcome.opened.n_labelled:
        n_rows += f" of {outcome.opened.n_labelled:,}, drawn at random class by class"
    return [
        ("data", outcome.opened.read.origin),
        *((("left out", "; ".join(table.notes)),) if table.notes else ()),
        ("rows", f"{n_rows}; fingerprint {data_fingerprint(table.X, table.y)}"),
        ("model", outcome.chosen),
        ("search", search.stopped_),
        ("seed", settings.seed),
        *versions_and_date(),
    ]
