"""Columns of a file put together to a structured array, in as few passes as its cells allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Indices
from .cell_values import DECIMAL_MARK, MISSING, NumberFormat
from .column_kinds import KINDS, ColumnPlan, Judge, text_plan
from .column_values import ColumnReader, kind_of_type
from .data_file import MemoryLimit

PASSES = 3
"""Times that a file is read at most until its columns are known."""


class AssembledTable(NamedTuple):
    """The rows of a file, and what was found out and assumed about its columns."""

    frame: NDArray[Any]
    notes: list[str]
    assumptions: list[str]
    kinds: dict[str, str]


def read_columns(
    source: Any,
    chosen: Sequence[str],
    asked: Mapping[str, str],
    missing: Mapping[str | None, frozenset[str]],
    limit: MemoryLimit,
    rows: Indices | None = None,
) -> AssembledTable:
    """Read some columns, by what their first rows hold; again those that turn out otherwise.

    Of ``rows``, whose places ascend, others are not kept.
    """
    always = getattr(source, "missing", MISSING)
    judge = Judge(source.name, source.place, asked, missing, source.delimiter, always)
    work = Assembly(source, judge, source.sample(chosen))
    frame: Any = None
    changed = [name for name in chosen if name in work.plans]
    for turn in range(PASSES):
        fresh = {n: ColumnReader(n, work.plans[n], asked.get(n), source.place) for n in changed}
        frame = fill(source, fresh, limit, frame, rows)
        work.readers |= fresh
        changed = work.changed_plans(fresh, turn) if turn < PASSES - 1 else []
        if not changed:
            break
    told = [work.readers[n].tell_unread() for n in chosen if n in work.readers]
    names = [name for name in chosen if name in (frame.dtype.names or ())]
    frame = frame if list(frame.dtype.names or ()) == names else frame[names].copy()
    assumed = [*judge.assumptions, *work.why_words(), *filter(None, told)]
    kinds = {name: plan.kind for name, plan in work.plans.items()}
    return AssembledTable(frame, judge.notes, assumed, kinds)


class Assembly:
    """What is known of the columns while they are read."""

    def __init__(self, source: Any, judge: Judge, samples: Mapping[str, Any]):
        kinds = {name: kind_of_type(name, column.type) for name, column in samples.items()}
        self.judge = judge
        self.texts = {name: samples[name] for name, kind in kinds.items() if kind == "text"}
        self.typed = {
            name: typed_plan(name, kind, judge.asked, judge)
            for name, kind in kinds.items()
            if kind != "text"
        }
        self.words: dict[str, tuple[ColumnPlan, str]] = {}  # and why
        self.plans = self.typed | judge.plans(self.texts)
        self.readers: dict[str, ColumnReader] = {}

    def changed_plans(self, fresh: Mapping[str, ColumnReader], turn: int) -> list[str]:
        """Return the columns that have to be read again, since they are not what they seemed."""
        unread = {name: reader for name, reader in fresh.items() if reader.unread}
        if not unread:
            return []
        for name, reader in unread.items():
            if name in self.texts:
                self.texts[name] = with_cells(self.texts[name], list(reader.unread))
        judged = self.judge.plans(self.texts)
        for name, reader in unread.items():
            if name not in judged:
                continue
            if reader.is_readable and judged[name].kind != self.plans[name].kind:
                judged[name] = self.plans[name]
            same = turn > 0 or judged[name] == self.plans[name]
            if same and not reader.is_readable and name not in self.judge.asked:
                self.words[name] = text_plan({}, self.plans[name].missing), reader.tell_words()
        found = self.typed | judged | {name: plan for name, (plan, _) in self.words.items()}
        changed = [name for name in self.plans if found[name] != self.plans[name]]
        self.plans = found
        return changed

    def why_words(self) -> list[str]:
        """Return the reasons why columns are read as words."""
        why = self.judge.words | {name: why for name, (_, why) in self.words.items()}
        return [text for name, text in why.items() if self.plans[name].kind == "category"]


def typed_plan(name: str, kind: str, asked: Mapping[str, str], judge: Judge) -> ColumnPlan:
    """Return how a column that has a type of its own is read."""
    missing = judge.missing.get(None, frozenset()) | judge.missing.get(name, frozenset())
    wanted = asked.get(name, kind)
    return ColumnPlan(wanted, judge.plans_format(wanted), judge.always | missing)


def with_cells(array: Any, cells: Sequence[str]) -> Any:
    """Return an array of texts with more of them."""
    import pyarrow as pa

    parts = array.chunks if hasattr(array, "chunks") else [array]
    plain = [part.cast(pa.string()) for part in parts]
    return pa.chunked_array([*plain, pa.array(cells, pa.string())])


def fill(
    source: Any,
    readers: Mapping[str, ColumnReader],
    limit: MemoryLimit,
    known: NDArray[Any] | None,
    rows: Indices | None,
) -> NDArray[Any]:
    """Return an array with the columns of readers, and those that are known already."""
    fields: list[Any] = [(name, KINDS[reader.plan.kind]) for name, reader in readers.items()]
    kept = [] if known is None else [n for n in known.dtype.names or () if n not in readers]
    fields += [(name, known.dtype[name]) for name in kept] if known is not None else []
    frame = np.zeros(0, dtype=fields)
    names, n_rows = list(readers), 0
    types = {name: readers[name].plan.arrow_type for name in names}
    if any(reader.plan.format == NumberFormat(",") for reader in readers.values()):
        types[DECIMAL_MARK] = ","
    for start, block in source.blocks(names, types):
        size = len(block[names[0]])
        if rows is not None:
            first, last = np.searchsorted(rows, [start, start + size])
            block = {name: column.take(rows[first:last] - start) for name, column in block.items()}
            size = int(last - first)
        limit.check(source.name, (n_rows + size) * frame.itemsize)
        frame.resize(n_rows + size, refcheck=False)
        for name, reader in readers.items():
            frame[name][n_rows:] = reader.read(block[name], start)
        n_rows += size
        n_texts = sum(reader.n_bytes for reader in readers.values())
        limit.check(source.name, n_rows * frame.itemsize + n_texts)
    for name in kept:
        frame[name] = known[name]  # type: ignore[index]
    return frame
