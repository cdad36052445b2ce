"""The table that a command learns from, as its options say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._arrays import Indices
from .._names import count
from ..reading import ParquetFolder, ReadTable, describe_origin, read_blocks
from .data_source import PLAIN_READING, Reading, folder_named, open_data
from .failure import Failure
from .learning_table import (
    AS_IT_IS,
    LearningTable,
    TableForm,
    check_classes,
    check_names,
    check_no_measurements,
    is_integer,
    learning_table,
    target_of,
    with_columns,
    without_labels,
)

MOST_ROWS, LEARNED_ROWS = 20_000, 1_000_000
"""Rows to compare models on, and to learn from, if no other number is wanted."""

FEWEST_PER_CLASS = 50
"""Rows that are drawn of each class, if it has so many."""

MOST_LABELS = 100_000
"""Different values of a target above which they are no classes."""


class OpenedTable(NamedTuple):
    """What was in a file, the rows to learn from, and how many rows of the file have a label."""

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
    form: TableForm = AS_IT_IS,
    reading: Reading = PLAIN_READING,
) -> OpenedTable:
    """Return the rows to learn from, of a file, a folder or a built-in set."""
    kinds = dict.fromkeys(categorical, "category")
    folder = folder_named(data)
    if folder is not None and rows and folder.n_rows > rows:
        if form._replace(keep_constant=False) != AS_IT_IS:
            raise Failure(
                "--bins, --merge-rare, --group, --by and --time-column need the whole table in "
                "memory; use --rows 0."
            )
        if reading._replace(id=(), memory=None) != PLAIN_READING:
            raise Failure(
                "--names, --missing and --strict need the whole table in memory; use --rows 0."
            )
        return draw_from_folder(folder, target, kinds, rows, seed, [*drop, *reading.id], keep)
    read = open_data(data, kinds=kinds, target=target, reading=reading)
    whole = learning_table(read, read.target or target, [*drop, *reading.id], keep, form)
    return OpenedTable(read, draw_rows(whole, rows, seed), len(whole.y))


def draw_rows(table: LearningTable, most: int, seed: int) -> LearningTable:
    """Return rows drawn class by class if there are too many; of small classes a few more."""
    if not most or len(table.y) <= most:
        return table
    labels, sizes = np.unique(table.y, return_counts=True)
    places = draw_places(sizes, most, seed)
    drawn = [
        np.flatnonzero(table.y == label)[own] for label, own in zip(labels, places, strict=True)
    ]
    keep = np.sort(np.concatenate(drawn))
    return table._replace(
        X=table.X[keep],
        y=table.y[keep],
        rows=table.rows[keep],
        groups=None if table.groups is None else table.groups[keep],
        by=None if table.by is None else table.by[keep],
        times=None if table.times is None else table.times[keep],
        notes=(*table.notes, draw_note(len(keep), len(table.y))),
    )


def draw_places(sizes: Indices, most: int, seed: int) -> list[Indices]:
    """Return the places of the rows to draw in each class, ascending, by the sizes of the classes.

    There are ``most`` in all, a few more where classes are small.
    """
    rng, total = np.random.RandomState(seed), int(sizes.sum())
    drawn = []
    for size in sizes.tolist():
        wanted = min(size, max(round(most * size / total), FEWEST_PER_CLASS))
        # Takes memory for those that are drawn only.
        drawn.append(np.sort(sample_without_replacement(size, wanted, random_state=rng)))
    return drawn


def draw_note(n_drawn: int, n_rows: int) -> str:
    """Return a text that says how many rows were drawn."""
    return (
        f"{count(n_drawn, 'row')} of {n_rows:,} sampled for fitting and testing (--rows N for "
        "more, --rows 0 for all)"
    )


def draw_from_folder(
    folder: ParquetFolder,
    target: str | None,
    kinds: Mapping[str, str],
    most: int,
    seed: int,
    drop: Sequence[str],
    keep: Sequence[str],
) -> OpenedTable:
    """Return rows drawn class by class from a folder of files that need not fit into memory.

    The labels are counted first, batch by batch; then the drawn rows are read. Columns are judged
    by those.
    """
    names, target = folder.names, target_of(folder.names, target)
    check_names(names, list(kinds))
    counts = count_labels(folder, target)
    kind = np.int64 if all(map(is_integer, counts)) else str
    texts = sorted(counts, key=int if kind is np.int64 else str)
    sizes = np.array([counts[one] for one in texts], dtype=np.intp)
    rare = check_classes(target, np.array(texts), sizes)
    n_labelled = int(sizes.sum())
    places = [np.arange(size) for size in sizes]
    if n_labelled > most:
        places = draw_places(sizes, most, seed)
    rows = find_rows(folder, target, dict(zip(texts, places, strict=True)))
    frame = folder.read_rows(names, {**kinds, target: "category"}, rows)
    read = ReadTable(frame, describe_origin(folder.name, folder.kind, folder.n_rows, names, names))
    check_names(names, drop, keep)
    y: NDArray[Any] = frame[target].astype(kind)
    notes = (*without_labels(target, folder.n_rows - n_labelled), *rare)
    few = len(y) < n_labelled
    table = LearningTable(frame, y, target, rows + 1, notes)
    table = with_columns(frame, table, drop, keep)
    if few:
        table = table._replace(notes=(*table.notes, draw_note(len(y), n_labelled)))
    return OpenedTable(read, table, n_labelled)


def label_blocks(folder: ParquetFolder, target: str) -> Iterator[tuple[int, list[Any]]]:
    """Return some labels at a time, None where one is missing, and how many were before."""
    for start, block in read_blocks(folder, [target], {target: "category"}):
        yield start, block[target].tolist()


def count_labels(folder: ParquetFolder, target: str) -> Counter[str]:
    """Return the number of rows of each label."""
    counts: Counter[str] = Counter()
    for _, labels in label_blocks(folder, target):
        counts.update(label for label in labels if label is not None)
        if len(counts) > MOST_LABELS:
            raise Failure(
                f"the target {target!r} holds more than {MOST_LABELS:,} different values; expected "
                "classes, which many rows share."
            )
    check_no_measurements(target, counts)
    return counts


def find_rows(folder: ParquetFolder, target: str, places: Mapping[str, Indices]) -> Indices:
    """Return the rows of the table that have these places in their classes, ascending."""
    before: Counter[str] = Counter()
    rows = []
    for start, labels in label_blocks(folder, target):
        texts = sorted({*labels} - {None})
        place = {text: code for code, text in enumerate(texts)}
        codes = np.array([place.get(label, -1) for label in labels])
        for code, text in enumerate(texts):
            here = np.flatnonzero(codes == code)
            first, last = np.searchsorted(places[text], [before[text], before[text] + len(here)])
            rows.append(start + here[places[text][first:last] - before[text]])
            before[text] += len(here)
    return np.sort(np.concatenate(rows))
