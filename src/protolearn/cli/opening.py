"""The table that a command learns from, as its options say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._names import count
from ..tables import ReadTable
from .learning_table import LearningTable, learning_table
from .source import open_data

MOST_ROWS = 20_000
"""Rows to learn from, if no other number is wanted."""

FEWEST_DRAWN = 50
"""Rows that are drawn of each class, if it has so many."""


class OpenedTable(NamedTuple):
    """A table to learn from, and where it comes from.

    Attributes
    ----------
    read : ReadTable
        What was in the file.
    table : LearningTable
        The rows to learn from.
    n_labelled : int
        Rows with a label, of which those may be a part.
    """

    read: ReadTable
    table: LearningTable
    n_labelled: int


def open_table(
    data: str,
    target: str | None,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    categorical: Sequence[str] = (),
    rows: int = MOST_ROWS,
    seed: int = 0,
) -> OpenedTable:
    """Read a file or a built-in set, and take the rows to learn from."""
    kinds = dict.fromkeys([*categorical, *([target] if target else [])], "category")
    read = open_data(data, kinds=kinds)
    whole = learning_table(read, target, drop, keep)
    return OpenedTable(read, sampled(whole, rows, seed), len(whole.y))


def sampled(table: LearningTable, most: int, seed: int) -> LearningTable:
    """Draw rows class by class if there are too many; of small classes a few more."""
    if not most or len(table.y) <= most:
        return table
    rng = np.random.RandomState(seed)
    drawn = []
    for label, size in zip(*np.unique(table.y, return_counts=True), strict=True):
        rows = np.flatnonzero(table.y == label)
        wanted = max(round(most * size / len(table.y)), FEWEST_DRAWN)
        drawn.append(rng.permutation(rows)[:wanted])
    keep = np.sort(np.concatenate(drawn))
    note = (
        f"{count(len(keep), 'row')} of {len(table.y):,} drawn to learn from and to judge by "
        "(--rows N for more, --rows 0 for all)"
    )
    return table._replace(
        X=table.X[keep], y=table.y[keep], rows=table.rows[keep], notes=(*table.notes, note)
    )
