"""The files that ``protolearn fit`` leaves."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._files import replacing
from ..io import ModelFileError, save
from ..report import library_versions, write_page
from ..selection import Estimate
from .failure import FAILED, Failure
from .outcome import Outcome
from .page import story

MODEL, METRICS, PREDICTIONS, REPORT = (
    "model.protolearn",
    "metrics.json",
    "predictions.csv",
    "report.html",
)


def check_folder(folder: Path) -> None:
    """Raise before any work if the results cannot be written."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"--out {str(folder)!r} is a file; expected a folder for the results.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".unfinished-trial").touch()
        (folder / ".unfinished-trial").unlink()
    except OSError as error:
        raise Failure(f"--out {str(folder)!r} cannot be written: {error.strerror}.") from error


def write_results(outcome: Outcome) -> None:
    """Write the model, the measures, the predictions of the outer folds and the report."""
    folder = outcome.settings.folder
    try:
        save(outcome.model, folder / MODEL, notes=notes(outcome))
    except ModelFileError as error:  # none of the user's doing
        raise Failure(f"the model cannot be saved: {error}", FAILED) from error
    with replacing(folder / PREDICTIONS) as path:
        write_predictions(outcome, path)
    with replacing(folder / METRICS) as path:
        path.write_text(json.dumps(metrics(outcome), indent=2, ensure_ascii=False) + "\n", "utf-8")
    write_page(story(outcome), folder / REPORT)


def notes(outcome: Outcome) -> dict[str, Any]:
    """Return what the other commands need to know of a model."""
    threshold = outcome.judgement.reject.threshold
    return {
        "target": outcome.table.target,
        "columns": list(outcome.table.X.dtype.names or ()),
        "reject": {"measure": "probability", "threshold": threshold},
    }


def metrics(outcome: Outcome) -> dict[str, Any]:
    """Return all measures, and how they came about, as JSON has them."""
    judgement, settings = outcome.judgement, outcome.settings
    labels, counts = np.unique(outcome.table.y, return_counts=True)
    confusion = judgement.evaluation.confusion
    auto = outcome.model[-1]
    return {
        "model": outcome.chosen,
        "target": outcome.table.target,
        "classes": {str(one): int(n) for one, n in zip(labels, counts, strict=True)},
        "rows": len(outcome.table.y),
        "rows_with_a_label": outcome.opened.n_labelled,
        "columns": [column.name for column in outcome.model[0].columns_],
        "measures": {name: interval(one) for name, one in judgement.evaluation.table.items()},
        "confidence": judgement.evaluation.confidence,
        "confusion": {
            "labels": [str(label) for label in confusion.labels],
            "counts": confusion.counts.tolist(),
        },
        "majority": {"label": judgement.majority[0], "accuracy": judgement.majority[1]},
        "reject": {key: plain(value) for key, value in judgement.reject._asdict().items()},
        "outer_folds": [
            {
                "fold": fold.number,
                "rows": len(fold.test),
                "accuracy": float((fold.answers.y_true == fold.answers.y_pred).mean()),
                "model": fold.chosen,
            }
            for fold in judgement.folds
        ],
        "outer_folds_planned": judgement.n_planned,
        "search": {
            "best_score": plain(auto.best_score_),
            "candidates": len(auto.leaderboard_),
            "fits": auto.n_fits_,
            "stopped": auto.stopped_,
        },
        "seed": settings.seed,
        "seconds": round(outcome.seconds, 1),
        "data": outcome.opened.read.origin,
        "versions": library_versions(),
    }


def interval(estimate: Estimate) -> dict[str, Any]:
    """Return a measure with its interval, or why there is none."""
    found = {key: plain(value) for key, value in estimate._asdict().items()}
    return {key: value for key, value in found.items() if value != ""}


def plain(value: Any) -> Any:
    """Return a number as JSON has it, which has no NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def write_predictions(outcome: Outcome, path: Path) -> None:
    """Write what was said about each row that was left out once."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(predictions(outcome))


def predictions(outcome: Outcome) -> Iterator[list[Any]]:
    """Return the header, and a line for each row of the outer folds, in the order of the file."""
    classes = outcome.model.classes_.tolist()
    yield ["row", "fold", "true", "label", "right", *(f"probability_{one}" for one in classes)]
    lines = []
    for fold in outcome.judgement.folds:
        said = fold.answers
        assert said.probabilities is not None
        for place, true, label, shares in zip(
            fold.test, said.y_true, said.y_pred, said.probabilities, strict=True
        ):
            right = "true" if true == label else "false"
            shown = [f"{share:.6g}" for share in shares]
            lines.append([int(outcome.table.rows[place]), fold.number, true, label, right, *shown])
    yield from sorted(lines, key=lambda line: line[0])
