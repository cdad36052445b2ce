"""The files that ``protolearn fit`` leaves."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from .._files import replacing_files
from .._names import class_name
from ..io import ModelFileError, save
from ..report import (
    Evidence,
    Story,
    Subject,
    card_record,
    data_fingerprint,
    describe_data,
    library_versions,
    loading_code,
    pool_answers,
    relevances_of,
    sample_rows,
    versions_and_date,
    write_page,
)
from ..selection import Estimate, Evaluation
from .command_output import open_text, spreadsheet_lines
from .failure import FAILED, Failure
from .fit_outcome import FEW_ROWS, Outcome, Performance
from .saved_model import row_marks

MODEL, METRICS, PREDICTIONS, REPORT = FILES = (
    "model.protolearn",
    "metrics.json",
    "predictions.csv",
    "report.html",
)

N_REFITS, REFITTED_ROWS = 20, 1_000

FOR_REFITS = 0.02
"""Share of the time of the command for the intervals of relevances."""


def write_results(outcome: Outcome) -> None:
    """Write the model, the measures, the predictions of the outer folds and the report."""
    story = report_story(outcome)
    with replacing_files(outcome.settings.folder) as folder:
        try:
            notes = model_notes(outcome) | {"card": card_record(story)}
            save(outcome.model, folder / MODEL, notes=notes)
        except ModelFileError as error:  # none of the user's doing
            raise Failure(f"the model cannot be saved: {error}", FAILED) from error
        with open_text(folder / PREDICTIONS) as file:
            lines = spreadsheet_lines(prediction_lines(outcome), outcome.settings.raw)
            csv.writer(file).writerows(lines)
        # What UTF-8 cannot hold is written as JSON itself writes it.
        with open_text(folder / METRICS) as file:
            json.dump(metrics_record(outcome), file, indent=2, ensure_ascii=False)
            file.write("\n")
        write_page(story, folder / REPORT)


def model_notes(outcome: Outcome) -> dict[str, Any]:
    """Return what the other commands need to know of a model."""
    threshold = outcome.performance.reject.threshold
    return {
        "target": outcome.table.target,
        "columns": list(outcome.table.X.dtype.names or ()),
        "reject": {"measure": "probability", "threshold": threshold},
        "id": list(outcome.settings.reading.id),
        "missing": list(outcome.settings.reading.missing),
        "rows": row_marks(outcome.model[0], outcome.table.X),
    }


def metrics_record(outcome: Outcome) -> dict[str, Any]:
    """Return all measures, and how they came about, as JSON has them."""
    performance, settings = outcome.performance, outcome.settings
    labels, counts = np.unique(outcome.table.y, return_counts=True)
    confusion = performance.evaluation.confusion
    auto = outcome.model[-1]
    return {
        "model": outcome.chosen_model,
        "target": outcome.table.target,
        "classes": {str(one): int(n) for one, n in zip(labels, counts, strict=True)},
        "rows": len(outcome.table.y),
        "rows_with_a_label": outcome.opened.n_labelled,
        "columns": [column.name for column in outcome.model[0].columns_],
        "measures": {name: interval(one) for name, one in performance.measures.items()},
        "recalls": {
            str(label): interval(one) for label, one in performance.evaluation.recalls.items()
        },
        **by_class_record(performance.evaluation),
        "confidence": performance.evaluation.confidence,
        "notes": list(performance.evaluation.notes),
        **subgroup_record(outcome),
        **certified_record(outcome),
        "warnings": [one._asdict() for one in outcome.warnings],
        "confusion": {
            "labels": [str(label) for label in confusion.labels],
            "counts": confusion.counts.tolist(),
        },
        "majority": {"label": performance.majority[0], "accuracy": performance.majority[1]},
        "reject": {key: json_value(value) for key, value in performance.reject._asdict().items()},
        "outer_folds": [
            {
                "fold": fold.number,
                "rows": len(fold.test),
                "accuracy": float((fold.answers.y_true == fold.answers.y_pred).mean()),
                "model": fold.chosen,
            }
            for fold in performance.folds
        ],
        "outer_folds_planned": performance.n_planned,
        "search": {
            "best_score": json_value(auto.best_score_),
            "candidates": len(auto.leaderboard_),
            "fits": auto.n_fits_,
            "stopped": auto.stopped_,
        },
        "n_candidates": len(auto.leaderboard_),
        "prefer": auto.prefer,
        "metric": outcome.aim.metric,
        "positive": None if outcome.aim.positive is None else str(outcome.aim.positive),
        "threshold": outcome.threshold
        and {"label": outcome.threshold[0], "probability": outcome.threshold[1]},
        "n_fits": auto.n_fits_,
        "seed": settings.seed,
        "seconds": round(outcome.seconds, 1),
        "data": outcome.opened.read.origin,
        "versions": library_versions(),
    }


def subgroup_record(outcome: Outcome) -> dict[str, Any]:
    """Return the measures of each subgroup, if they were asked for."""
    found = outcome.performance.subgroups
    if not found:
        return {}
    groups = {
        name: {
            "rows": one.n_samples,
            "too_small": one.n_samples < FEW_ROWS,
            "measures": {title: interval(value) for title, value in one.table.items()},
        }
        for name, one in found.items()
    }
    return {"by": {"column": outcome.settings.by, "groups": groups}}


def certified_record(outcome: Outcome) -> dict[str, Any]:
    """Return how many answers stay the same under the tolerances, if they were asked for."""
    certified = outcome.certified
    if certified is None:
        return {}
    record: dict[str, Any] = {"tolerance": outcome.settings.tolerance, "note": certified.sentence}
    if certified.found is not None:
        shares = {str(label): share for label, share in certified.found.by_class().items()}
        record |= {"share": float(certified.found.certified.mean()), "by_class": shares}
    return {"certified": record}


def by_class_record(evaluation: Evaluation) -> dict[str, Any]:
    """Return the measures of each class."""
    measured = {
        "precision": evaluation.precisions,
        "recall": evaluation.recalls,
        "average_precision": evaluation.average_precisions,
    }
    record: dict[str, Any] = {
        name: {str(label): interval(one) for label, one in by.items()}
        for name, by in measured.items()
    }
    lifts = {str(label): json_value(one) for label, one in evaluation.lifts.items()}
    return record | {"lift": lifts}


def interval(estimate: Estimate) -> dict[str, Any]:
    """Return a measure with its interval, or why there is none."""
    found = {key: json_value(value) for key, value in estimate._asdict().items()}
    return {key: value for key, value in found.items() if value != ""}


def json_value(value: Any) -> Any:
    """Return a number as JSON has it, which has no NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def prediction_lines(outcome: Outcome) -> Iterator[list[Any]]:
    """Return the header, and a line for each row of the outer folds, in the order of the file."""
    classes = outcome.model.classes_.tolist()
    yield ["row", "fold", "true", "label", "right", *(f"probability_{one}" for one in classes)]
    lines = []
    for fold in outcome.performance.folds:
        said = fold.answers
        assert said.probabilities is not None
        for place, true, label, shares in zip(
            fold.test, said.y_true, said.y_pred, said.probabilities, strict=True
        ):
            right = "true" if true == label else "false"
            shown = [f"{share:.6g}" for share in shares]
            lines.append([int(outcome.table.rows[place]), fold.number, true, label, right, *shown])
    yield from sorted(lines, key=lambda line: line[0])


def report_story(outcome: Outcome) -> Story:
    """Return what the report tells."""
    table, settings = outcome.table, outcome.settings
    subject = Subject.of(outcome.model, table.X, table.y)
    limit = settings.seconds
    rows = sample_rows(len(table.y), REFITTED_ROWS, settings.seed)
    seconds = None if limit is None else FOR_REFITS * limit
    what = f"It is a model of type {class_name(subject.last)}"  # the settings are under Method
    return Story(
        title=f"Predicting {table.target}",
        about=f"{outcome.opened.read.origin.partition(': ')[0]}: {describe_data(subject)}",
        sentences=[one.replace(f"It is {outcome.chosen_model}", what) for one in outcome.sentences],
        subject=subject,
        evidence=report_evidence(outcome.performance),
        certified=outcome.certified,
        relevances=relevances_of(subject, rows, N_REFITS, seconds, outcome.n_jobs, settings.seed),
        made=provenance(outcome),
        page=(),
        begun=perf_counter() - outcome.seconds,
        use=loading_code(MODEL, "frame"),
        row_names=table.rows.tolist(),
        threshold=outcome.performance.reject.threshold,
        image_shape=settings.image,
        tried=outcome.model[-1].leaderboard_,
        seed=settings.seed,
        warnings=[one.text for one in outcome.warnings],
        metric=outcome.aim.metric,
        subgroups=outcome.performance.subgroups,
    )


def report_evidence(performance: Performance) -> Evidence:
    """Return what was said about the rows of the outer folds."""
    folds, planned, several = performance.folds, performance.n_planned, performance.fold_count
    left = "" if len(folds) == planned else f" of {planned} that were planned"
    how = (
        "Each row was predicted by a model that was fitted without it, and chosen by the other "
        f"folds: {several}{left}. The measures cover the whole procedure, including the choice of "
        "the model."
    )
    if planned == 1:
        how = (
            f"A model was chosen and fitted without {several}, and tested on these. The measures "
            "cover the whole procedure, including the choice. The model of this report was then "
            "fitted to all rows."
        )
    rows = np.concatenate([fold.test for fold in folds])
    answers = pool_answers([fold.answers for fold in folds])
    return Evidence(performance.evaluation, rows, answers, how, several)


def provenance(outcome: Outcome) -> list[tuple[str, Any]]:
    """Return how the model was made."""
    table, settings, search = outcome.table, outcome.settings, outcome.model[-1]
    n_rows = f"{len(table.y):,}"
    if len(table.y) < outcome.opened.n_labelled:
        n_rows += f" of {outcome.opened.n_labelled:,}, drawn at random class by class"
    return [
        ("data", outcome.opened.read.origin),
        *((("left out", "; ".join(table.notes)),) if table.notes else ()),
        ("rows", f"{n_rows}; fingerprint {data_fingerprint(table.X, table.y)}"),
        ("model", outcome.chosen_model),
        ("search", search.stopped_),
        ("seed", settings.seed),
        *versions_and_date(),
    ]
