"""The model and the rows with which the page itself computes: to be asked, and to be edited."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Floats, Indices
from ..._names import count, digits_text, shorten_name
from ...io import WorkingModel
from ...tables import OTHER, UNSEEN_CATEGORIES, CategoryColumn, ignore_warnings
from ..projection_display import Plane
from ..subject import Subject

ONE_IN = 5
"""One row in so many is kept from whoever edits a model, to judge the edits."""

MOST_ROWS, MOST_BYTES, LONGEST = 10_000, 1_500_000, 60
MOST_PROBABILITIES = 40_000
"""Numbers of held-out probabilities with which the page computes."""

TYPES = {"u1": 2**8 - 1, "u2": 2**16 - 1, "u4": 2**32 - 1}
"""How whole numbers are packed, and how many of each there are without the one for a gap."""

MOST_DIGITS = 9
GRID = "low", "high", "step", "per_unit", "multiple", "remainder"


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A model for the page, or why there is none."""

    working: WorkingModel | None
    reason: str  # why the page cannot compute with the model
    marks: NDArray[np.uint32]  # of the rows, by their values

    @classmethod
    def of(cls, subject: Subject) -> LiveModel:
        """Return the model of a page."""
        rows = np.ascontiguousarray(subject.plain + 0.0)  # without negative zeros
        marks = np.fromiter((zlib.crc32(row) for row in rows), np.uint32, len(rows))
        try:
            return cls(WorkingModel.of(subject.model), "", marks)
        except (TypeError, ValueError) as error:
            return cls(None, str(error).partition("; ")[0].rstrip("."), marks)

    @property
    def can_be_edited(self) -> bool:
        """Whether it has prototypes that can be moved."""
        return self.working is not None and self.working.edits is not None

    @property
    def is_kept(self) -> NDArray[np.bool_]:
        """Which rows are kept from whoever edits the model: the same on every page."""
        return np.asarray(self.marks % ONE_IN == 0)


@dataclass(frozen=True)
class EditReport:
    """The edits of a model, and what they have done to rows that their author did not see."""

    lines: list[list[str]]
    n_rows: int
    before: int  # how many of these are correct, before the edits and after
    after: int
    locked: list[str]

    @classmethod
    def of(cls, subject: Subject, live: LiveModel) -> EditReport | None:
        """Return the edits; None if there are none."""
        rule = getattr(subject.last, "rule_", None)
        if (log := getattr(rule, "log", None)) is None or rule is None:
            return None
        rows = np.flatnonzero(live.is_kept & ~np.isin(live.marks, log.shown))
        some = subject.take(rows)
        codes = [
            one.codes(one.read_rows(subject.last, some.inner)) if len(rows) else rows
            for one in (replace(rule, codebook=log.codebook, offsets=log.offsets), rule)
        ]
        before, after = (int((found == some.codes).sum()) for found in codes)
        lines = [[str(i), *edit_cells(entry)] for i, entry in enumerate(log.entries, start=1)]
        return cls(lines, len(rows), before, after, list(log.locked))


def edit_cells(entry: dict[str, Any]) -> list[str]:
    """Return an edit as the cells of a line."""
    what, number = str(entry["edit"]), entry.get("prototype")
    parts = [what]
    if number is not None:
        parts.append(f"prototype {number + 1}")
    elif what == "add":
        parts.append("a prototype")
    if "other" in entry:
        parts.append(f"with prototype {entry['other'] + 1}")
    if "label" in entry:
        parts.append(f"{'to' if what == 'relabel' else 'of'} {entry['label']}")
    values = entry.get("values", {})
    if values and what == "move":
        texts = [digits_text(one, 6) if type(one) is float else one for one in values.values()]
        parts.append("to " + ", ".join(map("{} = {}".format, values, texts)))
    parts += entry.get("columns", [])
    effect = entry.get("effect", {})
    told = ""
    if {"gained", "lost", "rows"} <= effect.keys():
        corrected = count(effect["gained"], "error")
        told = f"{corrected} corrected, {effect['lost']:,} new, in {count(effect['rows'], 'row')}"
    cells = shorten_name(" ".join(parts), 300), entry["reason"], entry["author"], entry["time"]
    return [*cells, told]


def page_table(
    subject: Subject, live: LiveModel, drawn: Indices, names: Sequence[Any], seed: int
) -> dict[str, Any]:
    """Return rows for the page: those that are drawn, and others that are not kept back."""
    document = live.working.document if live.working else {}
    rest = np.setdiff1d(np.flatnonzero(~live.is_kept), drawn)
    rest = np.random.RandomState(seed).permutation(rest)
    n_rows = max(MOST_ROWS - len(drawn), 0)
    while True:
        rows = np.union1d(drawn, rest[:n_rows]).astype(np.intp)
        some = subject.take(rows)
        columns = [pack_numbers(values) for values in column_values(some, document["columns"])]
        size = sum(len(column["data"]) for column in columns)
        if size <= MOST_BYTES or not n_rows:
            break
        n_rows = int(min(0.9 * n_rows, n_rows * MOST_BYTES / size))
    known = [str(names[i]) for i in rows]
    return {
        "n": len(rows),
        "of": len(subject.y),
        "kept": int(live.is_kept.sum() - live.is_kept[rows].sum()),
        "columns": columns,
        "truth": pack_numbers(some.codes.astype(np.float64)),
        "names": [shorten_name(name, LONGEST) for name in known],
        "drawn": np.searchsorted(rows, drawn).tolist(),
    }


def column_values(subject: Subject, columns: Sequence[dict[str, Any]]) -> list[Floats]:
    """Return the values of each column of a document: of categories their places, NaN if missing.

    A category that the document does not know has the place behind the last one.
    """
    found = []
    with ignore_warnings(UNSEEN_CATEGORIES):
        table = subject.encoder.input_table(subject.frame)
    for column, name, about in zip(subject.columns, table.names, columns, strict=True):
        values = table.read(name)
        if about["kind"] == "unused":
            found.append(np.zeros(len(subject.y)))
        elif isinstance(column, CategoryColumn):
            known = [code for code, value in enumerate(column.categories) if value is not None]
            place = np.full(len(column.categories) + 1, np.nan)
            place[known], place[-1] = np.arange(len(known)), len(known)
            is_missing = np.array([one is None or one != one for one in values.data.tolist()])
            codes = np.asarray(column.codes(values))
            found.append(np.where(is_missing, np.nan, place[codes]))
        else:
            found.append(np.asarray(values.data, dtype=np.float64))
    return found


def column_ends(subject: Subject, columns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return of each column what its control needs: the ends of its values, and their grid."""
    found: list[dict[str, Any]] = []
    for column, about in zip(subject.columns, columns, strict=True):
        one: dict[str, Any] = {"name": shorten_name(str(column.name), LONGEST)}
        if isinstance(column, CategoryColumn):
            usual = -1 if None in column.categories else column.usual
            one |= {"usual": usual, "other": OTHER, "apart": column.distance}
        elif about["kind"] != "unused":
            grid = {name: float(getattr(column, name)) for name in GRID}
            one |= grid | {"unit": float(column.unit[0]), "whole": column.is_integer}
        found.append(one)
    return found


def pack_numbers(values: Floats) -> dict[str, Any]:
    """Return numbers as a text that the page unpacks without loss, as few bytes as that takes."""
    is_gap = np.isnan(values)
    known = values[~is_gap]
    for digits in range(MOST_DIGITS):
        per = 10.0**digits
        whole = np.rint(known * per)
        if not (np.abs(whole) < 2**52).all() or not (whole / per == known).all():
            continue
        low = int(whole.min(initial=np.inf)) if len(whole) else 0
        span = whole.max(initial=-np.inf) - low if len(whole) else 0
        for kind, most in TYPES.items():
            if span < most:
                packed = np.full(len(values), most, dtype=f"<{kind}")
                packed[~is_gap] = (whole - low).astype(f"<{kind}")
                return {"type": kind, "low": low, "per": per, "data": as_text(packed)}
    return {"type": "f8", "data": as_text(values.astype("<f8"))}


def as_text(array: NDArray[Any]) -> str:
    """Return the bytes of an array as text."""
    return base64.b64encode(array.tobytes()).decode()


def plane_numbers(working: WorkingModel, plane: Plane, corners: Floats, size: Floats) -> Any:
    """Return how the page finds a prototype on its map, and the region at each place of it."""
    (low, high), stretch = corners, size / (corners[1] - corners[0])
    seen = plane.seeing @ working.basis
    at = plane.seeing @ (working.base - plane.origin) - low
    start = plane.origin + [low[0], high[1]] @ plane.spanning - working.base
    return {
        "x": [*(stretch[0] * seen[0]), stretch[0] * at[0]],
        "y": [*(-stretch[1] * seen[1]), size[1] - stretch[1] * at[1]],
        "maps": [
            [
                (A @ start).tolist(),
                (A @ plane.spanning[0] / stretch[0]).tolist(),
                (A @ plane.spanning[1] / -stretch[1]).tolist(),
            ]
            for A in working.maps
        ],
    }
