"""The rows to learn from, drawn from a folder of files that need not fit into memory.

The labels are counted first, batch by batch; then the rows are found that were drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from ..tables import CodedTexts, ParquetFolder, ReadTable, describe_origin
from .drawing import draw, draw_note
from .failure import Failure
from .learning_table import (
    LearningTable,
    check_classes,
    check_names,
    check_no_measurements,
    is_integer,
    target_of,
    with_columns,
    without_labels,
)

MOST_LABELS = 100_000
"""Different values of a target above which they are no classes."""


class FolderDraw:
    """Rows that are drawn from a folder, class by class.

    Parameters
    ----------
    folder : ParquetFolder
        The files.
    target : str or None
        The column of labels.
    kinds : mapping
        What some columns are to be.
    most : int
        Rows to draw.
    seed : int
        Of the draw.

    Attributes
    ----------
    read : ReadTable
        The drawn rows, with the labels.
    n_labelled : int
        Rows in all that have a label.
    """

    def __init__(
        self,
        folder: ParquetFolder,
        target: str | None,
        kinds: Mapping[str, str],
        most: int,
        seed: int,
    ):
        self._folder, self._target = folder, target_of(folder.names, target)
        check_names(folder.names, list(kinds))
        counts = self._counted()
        self._kind = np.int64 if all(map(is_integer, counts)) else str
        texts = sorted(counts, key=int if self._kind is np.int64 else str)
        sizes = np.array([counts[one] for one in texts], dtype=np.intp)
        check_classes(self._target, np.array(texts), sizes)
        self.n_labelled = int(sizes.sum())
        drawn = draw(sizes, most, seed)
        if self.n_labelled <= most:
            drawn = [np.arange(size) for size in sizes]
        self._rows = self._found(dict(zip(texts, drawn, strict=True)))
        asked = {**kinds, self._target: "category"}
        frame = folder.read_rows(folder.names, asked, self._rows)
        told = describe_origin(folder.name, folder.kind, folder.n_rows, folder.names, folder.names)
        self.read = ReadTable(frame, told)

    def table(self, drop: Sequence[str], keep: Sequence[str]) -> LearningTable:
        """Return the rows to learn from; columns are judged by those that were drawn."""
        check_names(self._folder.names, drop, keep)
        frame, target = self.read.frame, self._target
        y: NDArray[Any] = frame[target].astype(self._kind)
        notes = without_labels(target, self._folder.n_rows - self.n_labelled)
        rows = self._rows + 1
        few = len(y) < self.n_labelled
        found = with_columns(frame, LearningTable(frame, y, target, rows, notes), drop, keep, few)
        if few:
            found = found._replace(notes=(*found.notes, draw_note(len(y), self.n_labelled)))
        return found

    def _counted(self) -> Counter[str]:
        """Count the rows of each label."""
        counts: Counter[str] = Counter()
        for _, found in self._folder.coded_texts(self._target):
            for text, size in zip(found.texts, sizes_of(found), strict=True):
                if text is not None and size:
                    counts[text] += int(size)
            if len(counts) > MOST_LABELS:
                raise Failure(
                    f"the target {self._target!r} holds more than {MOST_LABELS:,} different "
                    "values; expected classes, which many rows share."
                )
        check_no_measurements(self._target, counts)
        return counts

    def _found(self, drawn: Mapping[str, Indices]) -> Indices:
        """Return the places of the drawn rows in the table, ascending."""
        before: Counter[str] = Counter()
        rows = []
        for start, found in self._folder.coded_texts(self._target):
            for code, text in enumerate(found.texts[:-1]):
                if text is None:
                    continue
                here = np.flatnonzero(found.codes == code)
                first, last = np.searchsorted(drawn[text], [before[text], before[text] + len(here)])
                rows.append(start + here[drawn[text][first:last] - before[text]])
                before[text] += len(here)
        return np.sort(np.concatenate(rows))


def sizes_of(found: CodedTexts) -> Indices:
    """Count the rows of each text; those without one last."""
    codes = np.where(found.codes < 0, len(found.texts) - 1, found.codes)
    return np.bincount(codes, minlength=len(found.texts))
