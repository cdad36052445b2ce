"""Columns of a file put together to a structured array, in as few passes as its cells allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Indices
from .cell_values import MISSING
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
    samples = source.sample(chosen)
    kinds = {name: kind_of_type(name, column.type) for name, column in samples.items()}
    texts = {name: samples[name] for name, kind in kinds.items() if kind == "text"}
    typed = {
        name: typed_plan(name, kind, asked, judge) for name, kind in kinds.items() if kind != "text"
    }
    words: dict[str, ColumnPlan] = {}
    why_words: dict[str, str] = {}
    plans = typed | judge.plans(texts)
    readers: dict[str, ColumnReader] = {}
    frame, changed = None, [name for name in chosen if name in plans]
    for turn in range(PASSES):
        fresh = {n: ColumnReader(n, plans[n], asked.get(n), source.place) for n in changed}
        frame = fill(source, fresh, limit, frame, rows)
        readers |= fresh
        if not any(reader.unread for reader in fresh.values()):
            break
        for name, reader in fresh.items():
            if reader.unread and name in texts:
                texts[name] = with_cells(texts[name], list(reader.unread))
            hopeless = not reader.is_readable and name not in asked
            if hopeless and (turn or judge.plans({name: texts[name]})[name] == plans[name]):
                words[name] = text_plan({}, plans[name].missing)
                why_words[name] = reader.tell_words()
        judged = judge.plans(texts)
        kept = {
            name: plans[name]
            for name, reader in fresh.items()
            if reader.is_readable and name in judged and judged[name].kind != plans[name].kind
        }
        found = typed | judged | kept | words
        changed = [n for n in chosen if n in plans and found[n] != plans[n] and turn < PASSES - 1]
        plans = found
        if not changed:
            break
    told = [readers[n].tell_unread() for n in chosen if n in readers and readers[n].unread]
    frame = np.zeros(0, [(name, "f8") for name in chosen]) if frame is None else frame
    order = [name for name in chosen if name in (frame.dtype.names or ())]
    frame = frame if list(frame.dtype.names or ()) == order else frame[order].copy()
    found_kinds = {name: plan.kind for name, plan in plans.items()}
    why_words = judge.words | why_words
    words_of = [why for name, why in why_words.items() if plans[name].kind == "category"]
    assumed = [*judge.assumptions, *words_of, *told]
    return AssembledTable(frame, judge.notes, assumed, found_kinds)


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
