"""The table that a command learns from, as its options say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..tables import ReadTable
from .drawing import draw, draw_note
from .folder_table import FolderDraw
from .learning_table import LearningTable, learning_table
from .source import folder_named, open_data

MOST_ROWS = 20_000
"""Rows to learn from, if no other number is wanted."""


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
    """Read a file, a folder or a built-in set, and take the rows to learn from."""
    kinds = dict.fromkeys([*categorical, *([target] if target else [])], "category")
    folder = folder_named(data)
    if folder is not None and rows and folder.n_rows > rows:
        drawn = FolderDraw(folder, target, kinds, rows, seed)
        return OpenedTable(drawn.read, drawn.table(drop, keep), drawn.n_labelled)
    read = open_data(data, kinds=kinds)
    whole = learning_table(read, target, drop, keep)
    return OpenedTable(read, sampled(whole, rows, seed), len(whole.y))


def sampled(table: LearningTable, most: int, seed: int) -> LearningTable:
    """Draw rows class by class if there are too many; of small classes a few more."""
    if not most or len(table.y) <= most:
        return table
    labels, sizes = np.unique(table.y, return_counts=True)
    places = draw(sizes, most, seed)
    drawn = [
        np.flatnonzero(table.y == label)[own] for label, own in zip(labels, places, strict=True)
    ]
    keep = np.sort(np.concatenate(drawn))
    return table._replace(
        X=table.X[keep],
        y=table.y[keep],
        rows=table.rows[keep],
        notes=(*table.notes, draw_note(len(keep), len(table.y))),
    )
