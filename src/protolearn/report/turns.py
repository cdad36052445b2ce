"""What would give rows another answer, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._arrays import Floats
from ..analysis import Counterfactuals, counterfactual
from ..tables import (
    NO_FEATURE_NAMES,
    UNSEEN_CATEGORIES,
    CategoryColumn,
    Change,
    Column,
    counterfactual_table,
    ignore_warnings,
)
from .subject import Subject


class Turn(NamedTuple):
    """What gives a row another answer.

    Attributes
    ----------
    label : object
        The other answer.
    changes : tuple of Change
        What changes, the largest change first.
    plain : array
        The changed row, in the user's units.
    """

    label: Any
    changes: tuple[Change, ...]
    plain: Floats


def turns_of(subject: Subject) -> list[Turn | None]:
    """Return for each row what would change the answer; raise if the model cannot tell."""
    with ignore_warnings(NO_FEATURE_NAMES, UNSEEN_CATEGORIES):
        if not subject.begins_with_table:
            model = Pipeline([*subject.between, ("model", subject.last)])
            found = counterfactual(model, subject.X)
            return [turn_of(subject.columns, found, row) for row in range(len(found))]
        table = counterfactual_table(subject.model, subject.frame)
        points = subject.encoder.unscaled_rows(subject.encoder.input_table(table.points))
    told = zip(table.feasible, table.label, table.changes, points, strict=True)
    return [Turn(*turn) if there else None for there, *turn in told]


def turn_of(columns: Sequence[Column], found: Counterfactuals, row: int) -> Turn | None:
    """Return what would change the answer about a row of numbers, the largest change first."""
    if not found.feasible[row]:
        return None
    old, new = found.original[row], found.points[row]
    changes = []
    for j in np.argsort(-found.sizes[row], kind="stable").tolist():
        column = columns[j]
        if old[j] != new[j] and not isinstance(column, CategoryColumn):
            was, to_be = column.texts(float(old[j]), float(new[j]))
            changes.append(Change(column.name, was, to_be, float(found.sizes[row, j])))
    return Turn(found.label[row], tuple(changes), new)
