"""Edits of a model that a person has made in its report, applied to the model again.

An edits file is JSON: texts, numbers and lists, of which nothing is run. The report computes with
the document of the model (:func:`~protolearn.io.document_of`), and so does this module: a value of
a column moves the numbers of that column, and the steps of the pipeline carry the move to where
the last step has its prototypes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .._arrays import Floats, middle
from .._names import shorten_name
from ..distances import LinearMetric
from ..rule import DecisionRule, EditLog, LinearRule, as_rule
from .exports.exported_columns import EncodedRows
from .exports.model_document import Document, EncodedPrototypes, ModelParts, document_of
from .fitted_state import find_damage

FORMAT, VERSION = "protolearn-edits", 1
LARGEST, MOST_EDITS, LONGEST = 10_000_000, 10_000, 500
"""Bytes of a file, edits in it, and characters of a reason."""

MOST_PROTOTYPES = 10_000
EFFECTS = "correct before", "correct after", "gained", "lost", "rows"


class EditsError(ValueError):
    """Raised for edits that are broken, or made for another model; the message says why.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.io import EditsError, apply_edits
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> try:
    ...     apply_edits(model, {"format": "something else"})
    ... except EditsError as error:
    ...     print(error)
    The edits are not in the format 'protolearn-edits'. Give a file that a report has saved.
    """


def apply_edits(model: Any, edits: str | os.PathLike[str] | Mapping[str, Any]) -> Any:
    """Return a copy of a model with the edits that a person has made in its report.

    Parameters
    ----------
    model : classifier
        The model of the report: a fitted nearest-prototype model with squared Euclidean distance,
        also after a linear map, or a Pipeline or search that ends in one.
    edits : str, path or dict
        The file that the report has saved, or its content.

    Returns
    -------
    model : classifier
        It has the prototypes that the report has shown, and keeps a log of the edits in
        ``rule_.log``, which its own report shows.

    Raises
    ------
    EditsError
        If the edits are broken, or were made for another model.

    See Also
    --------
    model_fingerprint : What tells models apart.

    Notes
    -----
    Nothing of the file is run. Prototypes are sorted by class afterwards, those of a class keep
    their order. Probabilities keep their temperature. To learn on, give the rule of the new model
    as ``init`` of a model with the same distance.

    Examples
    --------
    >>> from protolearn import GLVQ, apply_edits
    >>> from protolearn.io import model_fingerprint
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> move = {"edit": "move", "prototype": 0, "values": {"x0": -1.0}}
    >>> why = {"reason": "a typo in row 2", "author": "Ada"}
    >>> edits = {"format": "protolearn-edits", "version": 1, "edits": [move | why]}
    >>> edited = apply_edits(model, edits | {"model": model_fingerprint(model)})
    >>> edited.prototypes_.ravel().tolist()[0], edited.predict([[2.0]]).tolist()
    (-1.0, [1])
    """
    found = check_edits(edits) if isinstance(edits, Mapping) else read_edits(edits)
    if found["model"] != model_fingerprint(model):
        raise EditsError(
            "The edits were made for another model: the fingerprints differ. Give the model of the "
            "report in which they were made."
        )
    changed = copy_to_last(model)
    last = ModelParts.of(changed).last
    bench = Bench.of(changed)
    for number, edit in enumerate(found["edits"], start=1):
        try:
            bench.apply(edit)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            reason = shorten_name(str(error).rstrip("."), LONGEST)
            raise EditsError(f"Edit {number} cannot be applied: {reason}.") from error
    rule = bench.rule(found)
    last.rule_ = rule
    if hasattr(last, "n_prototypes_"):
        counts = np.bincount(rule.codebook.labels, minlength=len(rule.classes)).tolist()
        last.n_prototypes_ = dict(zip(rule.classes.tolist(), counts, strict=True))
    for name in ("outside_", "history_"):  # of prototypes that are no longer there
        last.__dict__.pop(name, None)
    if (memory := getattr(last, "_memory", None)) is not None:
        last._memory = type(memory)(memory.steps, memory.updates)
    if damage := find_damage(last):
        raise EditsError(f"The edits leave a model that cannot be used: {damage}.")
    return changed


def copy_to_last(model: Any) -> Any:
    """Return a copy in which the step that decides can be changed; all else is shared."""
    changed = copy(model)
    if hasattr(model, "steps") and isinstance(model.steps, list):
        *before, (name, last) = model.steps
        changed.steps = [*before, (name, copy_to_last(last))]
        return changed
    for name in ("model_", "best_estimator_"):
        if hasattr(model, name):
            setattr(changed, name, copy_to_last(getattr(model, name)))
            break
    return changed


def model_fingerprint(model: Any) -> str:
    """Return a text that two models share only if they decide by the same numbers.

    Parameters
    ----------
    model : classifier
        As :func:`apply_edits` takes it.

    Returns
    -------
    fingerprint : str
        In hexadecimal digits.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.io import model_fingerprint
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> one, other = GLVQ(init="means").fit(X, y), GLVQ(init="means").fit(X[::-1], y)
    >>> model_fingerprint(one) == model_fingerprint(other)
    False
    """
    parts = ModelParts.of(model)
    rule = as_rule(parts.last)
    rows = EncodedRows.of(parts.steps, parts.last)
    names = [str(getattr(column, "name", column)) for column in rows.columns]
    text = [names, [str(label) for label in rule.classes.tolist()], repr(rule.decision)]
    seal = hashlib.sha256(json.dumps(text).encode("utf-8", "surrogatepass"))
    codebook = rule.codebook
    arrays: list[Any] = [codebook.prototypes, codebook.metric, rows.offset, rows.scale]
    if not isinstance(rule, LinearRule):
        arrays += [codebook.labels, codebook.group]
    if rule.offsets is not None:
        arrays.append(rule.offsets)
    for array in arrays:
        seal.update(repr(np.shape(array)).encode())
        seal.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return seal.hexdigest()[:32]


def read_edits(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what an edits file says, or raise if it is none."""
    file, name = Path(path), repr(os.fspath(path))
    if file.is_dir():
        raise IsADirectoryError(f"{name} is a folder; give a file that a report has saved.")
    with file.open("rb") as opened:
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise EditsError(f"{name} has more than {LARGEST:,} bytes, too many for edits.")
    try:
        content = json.loads(data, parse_constant=refuse_constant, object_pairs_hook=unique_pairs)
    except (ValueError, RecursionError) as error:
        reason = shorten_name(str(error).rstrip("."), LONGEST) or type(error).__name__
        raise EditsError(f"{name} cannot be read as JSON: {reason}.") from error
    return check_edits(content)


def refuse_constant(name: str) -> float:
    """Raise: there is no NaN and no infinity in JSON."""
    raise ValueError(f"{name} is not a number")


def unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict, or raise if a name stands in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def check_edits(edits: Any) -> dict[str, Any]:
    """Return the parts of an edits file that are known, or raise if any is not what it must be."""
    if not isinstance(edits, Mapping) or edits.get("format") != FORMAT:
        raise EditsError(
            f"The edits are not in the format {FORMAT!r}. Give a file that a report has saved."
        )
    version = edits.get("version")
    if type(version) is not int or version != VERSION:
        raise EditsError(
            f"The edits have the version {shorten_name(repr(version))}, and this protolearn reads "
            f"version {VERSION}. Save them again from a report of this version."
        )
    fingerprint, several, shown = (edits.get(name) for name in ("model", "edits", "shown"))
    if not isinstance(fingerprint, str):
        raise EditsError("The edits do not say for which model they were made.")
    if not isinstance(several, list) or not 1 <= len(several) <= MOST_EDITS:
        raise EditsError(f"The edits must be a list of 1 to {MOST_EDITS:,} edits.")
    shown = [] if shown is None else shown
    if not isinstance(shown, list) or not all(is_mark(mark) for mark in shown):
        raise EditsError("The marks of the rows that the editor saw are not whole numbers.")
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": fingerprint,
        "edits": [check_edit(edit, number) for number, edit in enumerate(several, start=1)],
        "shown": shown,
    }


def is_mark(mark: Any) -> bool:
    """Whether something is the mark of a row."""
    return type(mark) is int and 0 <= mark < 2**32


def check_edit(edit: Any, number: int) -> dict[str, Any]:
    """Return an edit with what is known of it alone, or raise."""
    if not isinstance(edit, Mapping) or edit.get("edit") not in Bench.OPERATIONS:
        known = ", ".join(Bench.OPERATIONS)
        raise EditsError(f"Edit {number} is none of these: {known}.")
    found = {name: edit[name] for name in Bench.OPERATIONS[edit["edit"]] if name in edit}
    for name in ("reason", "author", "time"):
        text = edit.get(name, "")
        if not isinstance(text, str) or not (text.strip() or name == "time"):
            raise EditsError(f"Edit {number} has no {name}. Every edit needs one.")
        line = " ".join(text.split())
        found[name] = shorten_name("".join(c for c in line if c.isprintable()), LONGEST)
    effect = edit.get("effect") or {}
    if not isinstance(effect, Mapping):
        raise EditsError(f"Edit {number} has an effect that is not an object.")
    counts = {name: effect[name] for name in EFFECTS if name in effect}
    if not all(type(n) is int and 0 <= n < 2**53 for n in counts.values()):
        raise EditsError(f"Edit {number} has an effect that is not a number of rows.")
    return {"edit": edit["edit"], **found, "effect": counts}


@dataclass
class Point:
    """A prototype while it is edited."""

    code: int  # its class
    map: int  # the row of the metric that it uses
    place: Floats  # among the numbers of a document
    inner: Floats  # where the last step has it
    offset: float  # what is added to its distances


@dataclass
class Bench:
    """The prototypes of a model while they are edited, as the page does it."""

    model: Any
    document: Document
    learned: DecisionRule
    rows: EncodedRows
    encoded: EncodedPrototypes
    points: list[Point]
    locked: list[str] = field(default_factory=list)

    OPERATIONS: ClassVar[dict[str, tuple[str, ...]]] = {
        "move": ("prototype", "values"),
        "remove": ("prototype",),
        "relabel": ("prototype", "label"),
        "add": ("label", "values"),
        "merge": ("prototype", "other"),
        "lock": ("columns",),
        "unlock": ("columns",),
    }
    """The edits there are, and what each of them says."""

    @classmethod
    def of(cls, model: Any) -> Bench:
        """Return the prototypes of a model."""
        parts = ModelParts.of(model)
        rule = as_rule(parts.last)
        if isinstance(rule, LinearRule):
            raise TypeError(
                f"{rule.name} is linear: it has no prototypes that could be edited. Edit a "
                "nearest-prototype model, such as GLVQ or GMLVQ."
            )
        document = document_of(model)
        rows = EncodedRows.of(parts.steps, parts.last)
        places = np.array(document["prototypes"], dtype=np.float64)
        inner, code = rule.codebook.prototypes, rule.codebook.labels.tolist()
        offsets = np.zeros(len(code)) if rule.offsets is None else rule.offsets
        several = zip(code, document["map_of"], places, inner, offsets.tolist(), strict=True)
        points = [Point(*one) for one in several]
        encoded = EncodedPrototypes.of(rule, rows)
        return cls(
            model, document, rule, rows, encoded, points, list(rule.log.locked) if rule.log else []
        )

    def apply(self, edit: Mapping[str, Any]) -> None:
        """Make one edit."""
        operation: Callable[[Mapping[str, Any]], None] = getattr(self, f"_{edit['edit']}")
        operation(edit)

    def rule(self, found: Mapping[str, Any]) -> DecisionRule:
        """Return the rule with the prototypes as they are, sorted by class, and the log."""
        old, order = self.learned, np.argsort([p.code for p in self.points], kind="stable")
        points = [self.points[k] for k in order]
        metric, group = old.codebook.metric, np.array([point.map for point in points])
        if len(metric) > 1:
            own = getattr(old.distance, "localized", None) == "prototype"
            rows, group = (
                (group, np.arange(len(group))) if own else np.unique(group, return_inverse=True)
            )
            metric = metric[rows]
        prototypes = np.stack([point.inner for point in points])
        codebook = replace(
            old.codebook,
            prototypes=prototypes,
            labels=np.array([point.code for point in points], dtype=np.intp),
            metric=np.ascontiguousarray(metric),
            group=np.ascontiguousarray(group, dtype=np.intp),
            center=middle(prototypes),
        )
        log = EditLog(old.codebook, offsets=old.offsets) if old.log is None else old.log
        entries = [*log.entries, *deepcopy(found["edits"])]
        shown = sorted({*log.shown, *found["shown"]})
        log = replace(log, entries=entries, locked=list(self.locked), shown=shown)
        offsets = None if old.offsets is None else np.array([point.offset for point in points])
        return replace(old, codebook=codebook, offsets=offsets, log=log)

    def _point(self, k: Any) -> Point:
        """Return a prototype by its number."""
        if type(k) is not int or not 0 <= k < len(self.points):
            raise ValueError(f"there is no prototype {shorten_name(repr(k))}")
        return self.points[k]

    def _class_code(self, label: Any) -> int:
        """Return the place of a label among the classes."""
        for code, known in enumerate(self.document["classes"]):
            if is_same(known, label):
                return code
        raise ValueError(f"there is no class {shorten_name(repr(label))}")

    def _need_other(self, point: Point) -> None:
        """Raise if a prototype is the last one of its class."""
        if sum(one.code == point.code for one in self.points) < 2:
            label = self.document["classes"][point.code]
            raise ValueError(f"it would leave the class {label!r} without a prototype")

    def _move(self, edit: Mapping[str, Any]) -> None:
        point, values = self._point(edit["prototype"]), edit["values"]
        place, names = point.place.copy(), []
        for name, here, numbers in self._numbers_of(values):
            names.append(name)
            place[here] = numbers
        if held := [name for name in names if name in self.locked]:
            raise ValueError(f"the column {held[0]!r} is locked")
        self.points[edit["prototype"]] = self._point_at(point, place)

    def _remove(self, edit: Mapping[str, Any]) -> None:
        self._need_other(self._point(edit["prototype"]))
        del self.points[edit["prototype"]]

    def _relabel(self, edit: Mapping[str, Any]) -> None:
        point, code = self._point(edit["prototype"]), self._class_code(edit["label"])
        if code == point.code:
            raise ValueError("the prototype has this class already")
        self._need_other(point)
        offset = next(one.offset for one in self.points if one.code == code)
        self.points[edit["prototype"]] = replace(point, code=code, offset=offset)

    def _add(self, edit: Mapping[str, Any]) -> None:
        if len(self.points) >= MOST_PROTOTYPES:
            raise ValueError(f"there are {MOST_PROTOTYPES:,} prototypes already")
        code = self._class_code(edit["label"])
        like = next(point for point in self.points if point.code == code)
        place, n_named = np.zeros(len(like.place)), 0
        for _, here, numbers in self._numbers_of(edit["values"]):
            place[here], n_named = numbers, n_named + 1
        lacking = sum(column["kind"] != "unused" for column in self.document["columns"]) - n_named
        if lacking:
            raise ValueError(f"a new prototype needs a value in every column; {lacking} have none")
        self.points.append(self._point_at(like, place))

    def _merge(self, edit: Mapping[str, Any]) -> None:
        one, other = self._point(edit["prototype"]), self._point(edit["other"])
        if one is other:
            raise ValueError("a prototype cannot be merged with itself")
        if one.code != other.code:
            self._need_other(other)
        place, start = 0.5 * (one.place + other.place), 0
        for column in self.document["columns"]:
            end = start + column["width"]
            if column["name"] in self.locked:
                place[start:end] = one.place[start:end]
            start = end
        self.points[edit["prototype"]] = self._point_at(one, place)
        del self.points[edit["other"]]

    def _lock(self, edit: Mapping[str, Any]) -> None:
        names = {column["name"] for column in self.document["columns"]}
        several = edit["columns"]
        if not isinstance(several, list) or not all(isinstance(name, str) for name in several):
            raise ValueError("the columns are not a list of names")
        if unknown := [name for name in several if name not in names]:
            raise ValueError(f"there is no column {shorten_name(repr(unknown[0]))}")
        free = [name for name in self.locked if name not in several]
        self.locked = free if edit["edit"] == "unlock" else [*free, *dict.fromkeys(several)]

    _unlock = _lock

    def _point_at(self, point: Point, place: Floats) -> Point:
        """Return a prototype at another place."""
        delta = np.zeros(len(self.encoded.used))
        delta[self.encoded.used] = place - point.place
        if self.rows.matrix is not None:
            delta = self.rows.matrix @ delta
        return replace(point, place=place, inner=point.inner + delta)

    def _numbers_of(self, values: Any) -> list[tuple[str, slice, Floats]]:
        """Return what values of columns are among the numbers of the document."""
        if not isinstance(values, Mapping):
            raise ValueError("the values are not an object with a value for each column")
        places, start = {}, 0
        for column in self.document["columns"]:
            places[column["name"]] = (column, slice(start, start + column["width"]))
            start += column["width"]
        found = []
        for name, value in values.items():
            if name not in places or places[name][0]["kind"] == "unused":
                raise ValueError(f"there is no column {shorten_name(repr(name))} that is used")
            column, here = places[name]
            found.append((name, here, encoded_value(column, value)))
        return found


def encoded_value(column: Document, value: Any) -> Floats:
    """Return the numbers of a value, as a column of a document describes them."""
    if "categories" in column:
        if value is None:
            return np.array(column["missing"])
        for known, entry in zip(column["categories"], column["entries"], strict=True):
            if is_same(known, value):
                return np.array(entry)
        category = shorten_name(repr(value))
        raise ValueError(f"the column {column['name']!r} has no category {category}")
    numbers = np.zeros(column["width"])
    if value is None:
        if column["missing"] is None:
            raise ValueError(f"the column {column['name']!r} needs a value")
        numbers[0] = column["missing"]
        numbers[1:] = column.get("indicator", [0.0, 0.0])[1]
        return numbers
    if column["kind"] == "date" and isinstance(value, str):
        value = days_of(value)
    if type(value) not in (int, float) or not math.isfinite(value):
        what = "date, such as 2024-05-31" if column["kind"] == "date" else "number"
        raise ValueError(f"the column {column['name']!r} needs a {what}")
    numbers[0] = (value - column["offset"]) * column["scale"]
    numbers[1:] = column.get("indicator", [0.0])[0]
    if not np.isfinite(numbers).all() or abs(numbers[0]) > LARGEST:
        raise ValueError(f"{value:g} in the column {column['name']!r} is far from all rows")
    return numbers


def days_of(text: str) -> float:
    """Return the days since 1970 of a date as the page writes it; NaN if it is none."""
    try:
        return (datetime.fromisoformat(text) - datetime(1970, 1, 1)) / timedelta(days=1)
    except (TypeError, ValueError):
        return math.nan


def is_same(known: Any, value: Any) -> bool:
    """Whether a value of JSON is one that is known: 1 is 1.0, and true is no number."""
    kinds = [(bool if isinstance(one, bool) else float) for one in (known, value)]
    if isinstance(known, str) or isinstance(value, str):
        return isinstance(known, str) and isinstance(value, str) and known == value
    numbers = isinstance(known, (int, float)) and isinstance(value, (int, float))
    return numbers and kinds[0] is kinds[1] and known == value


def blank_edits(model: Any) -> dict[str, Any]:
    """Return an edits file without edits, to which a report adds those of its reader."""
    return {"format": FORMAT, "version": VERSION, "model": model_fingerprint(model)}


@dataclass(frozen=True, eq=False)
class WorkingModel:
    """A model as a page computes with it.

    Attributes
    ----------
    document : dict
        See :func:`document_of`.
    edits : dict or None
        The edits file that a page adds to; None for linear models.
    maps : list of array
        The maps of the metric, of what the last step sees.
    basis, base : array
        The last step sees ``basis @ z + base`` of the numbers z of the document.
    is_mixed : bool
        Whether a step before the last one mixes columns.
    """

    document: Document
    edits: dict[str, Any] | None = None
    maps: list[Floats] = field(default_factory=list)
    basis: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    base: Floats = field(default_factory=lambda: np.zeros(0))
    is_mixed: bool = False

    @classmethod
    def of(cls, model: Any) -> WorkingModel:
        """Return a model for a page; raise as :func:`document_of` does."""
        document, parts = document_of(model), ModelParts.of(model)
        rule = as_rule(parts.last)
        if isinstance(rule, LinearRule):
            return cls(document)
        rows, d = EncodedRows.of(parts.steps, parts.last), rule.codebook.prototypes.shape[1]
        encoded, maps = EncodedPrototypes.of(rule, rows), [np.eye(d)]
        if isinstance(rule.distance, LinearMetric):
            maps = [rule.distance.omega(row, d) for row in rule.codebook.metric]
        basis, base = np.eye(d), encoded.center
        if rows.matrix is not None and rows.shift is not None:
            basis, base = rows.matrix, rows.matrix @ base + rows.shift
        is_mixed = rows.matrix is not None
        return cls(document, blank_edits(model), maps, basis[:, encoded.used], base, is_mixed)
