"""Tables of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..findings import Table
from .models import YARDSTICK
from .results import Standing

FAILED, NOTHING = "failed", "-"


def summary(ordered: Sequence[Standing], sets: Sequence[str]) -> Table:
    """Make a row a model: accuracy, rank, time."""
    return Table(
        "summary",
        f"Models over {len(sets)} sets, the best mean rank first",
        ["model", "of", "mean rank", "accuracy %", "fit in ms", f"/ {YARDSTICK}", "failed on"],
        [_summary_row(one, len(sets)) for one in ordered],
        [_summary_record(one) for one in ordered],
        [
            "Ranks are among the models that failed on no set. Accuracies and times of a model "
            "that failed are those of its other sets, not to be held against the others'. Times "
            f"are medians over folds; ms and ratio to {YARDSTICK} are geometric means over sets."
        ],
    )


def accuracies(ordered: Sequence[Standing], sets: Sequence[str], folds: int) -> Table:
    """Make a row a model and a column a set."""
    best = {
        name: max((one.accuracy[name] for one in ordered if name in one.accuracy), default=np.nan)
        for name in sets
    }

    def cell(one: Standing, name: str) -> str:
        if name not in one.accuracy:
            return FAILED
        shown = f"{100 * one.accuracy[name]:.1f}"
        return f"{shown}*" if one.accuracy[name] == best[name] else shown

    return Table(
        "accuracies",
        f"Accuracy in percent, mean over {folds} folds; * best of the set",
        ["model", *sets],
        [[one.name, *(cell(one, name) for name in sets)] for one in ordered],
        [record for one in ordered for record in _records(one, sets)],
    )


def _summary_row(one: Standing, n_sets: int) -> list[str]:
    mean = mean_accuracy(one)
    return [
        one.name,
        "ours" if one.ours else "sklearn",
        NOTHING if one.rank is None else f"{one.rank:.1f}",
        NOTHING if mean is None else f"{100 * mean:.1f}",
        NOTHING if not one.milliseconds else f"{typical_time(one):.3g}",
        NOTHING if one.ratio is None else f"{one.ratio:.2g}",
        f"{len(one.failed)} of {n_sets}" if one.failed else "",
    ]


def _summary_record(one: Standing) -> dict[str, Any]:
    return {
        "model": one.name,
        "ours": one.ours,
        "rank": one.rank,
        "accuracy": mean_accuracy(one),
        "milliseconds": typical_time(one),
        "ratio": one.ratio,
        "failed_sets": len(one.failed),
        "unfinished_sets": len(one.unfinished),
    }


def _records(one: Standing, sets: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "model": one.name,
            "dataset": name,
            "accuracy": one.accuracy.get(name),
            "milliseconds": one.milliseconds.get(name),
            "unfinished": name in one.unfinished,
            "failed": one.failed.get(name, ""),
        }
        for name in sets
    ]


def mean_accuracy(one: Standing) -> float | None:
    """Return the mean over the sets on which the model did not fail."""
    return float(np.mean(list(one.accuracy.values()))) if one.accuracy else None


def typical_time(one: Standing) -> float | None:
    """Return the geometric mean over the same, in milliseconds."""
    if not one.milliseconds:
        return None
    return float(np.exp(np.mean(np.log(list(one.milliseconds.values())))))
