"""A table to learn from: which column is the answer, and which say something about it."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from .._names import count
from ..tables import ReadTable, suggest_name
from .data_source import TARGET
from .failure import Failure

FEWEST_ROWS = 3
"""Rows that a class needs: some to learn from, one to judge by."""

MOST_CATEGORIES = 50
"""Different texts in a column above which it is taken for names or free text."""

MOST_NUMBERS = 20
"""Different numbers in the target above which they may be measurements, not classes."""

FEW_EACH = 5
"""Rows that share a number; if the usual one has fewer, they are measurements."""

KEY = re.compile(r"(?:^|[^a-z])(?:id|ident|identifier|key|index|uid)(?:$|[^a-z])", re.IGNORECASE)
"""A word in the name of a column of keys."""


class LearningTable(NamedTuple):
    """Rows to learn from.

    Attributes
    ----------
    X : structured array of shape (n,)
        The columns that a model may use.
    y : array of shape (n,)
        The labels: integers if all are whole numbers, else texts.
    target : str
        The column of the labels.
    rows : array of shape (n,)
        Number of each row in the file, the first is 1.
    notes : tuple of str
        What was left out, and why.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    target: str
    rows: NDArray[np.intp]
    notes: tuple[str, ...]


def learning_table(
    read: ReadTable,
    target: str | None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> LearningTable:
    """Return the labels of a table and the columns that something can be learned from.

    ``keep`` names columns that stay although they look like row numbers, or like names.
    """
    names = list(read.frame.dtype.names or ())
    target = target_of(names, target)
    check_names(names, drop, keep)
    texts = read.frame[target]
    labelled = ~is_missing(texts)
    notes = without_labels(target, int((~labelled).sum()))
    frame, y = read.frame[labelled], class_labels(target, texts[labelled])
    check_classes(target, *np.unique(y, return_counts=True))
    rows = np.flatnonzero(labelled) + 1
    return with_columns(frame, LearningTable(frame, y, target, rows, notes), drop, keep)


def with_columns(
    frame: NDArray[Any],
    table: LearningTable,
    drop: Sequence[str],
    keep: Sequence[str],
    drawn: bool = False,
) -> LearningTable:
    """Return the columns that something can be learned from; ``drawn``: there are other rows."""
    target, notes = table.target, list(table.notes)
    columns = [name for name in frame.dtype.names or () if name != target and name not in drop]
    for name in list(columns):
        if name in keep:
            continue
        if is_missing(frame[name]).all():
            raise no_values(name, drawn)
        reason = why_useless(name, frame[name], table.rows)
        if reason:
            columns.remove(name)
            notes.append(f"column {name!r} left out: {reason} (--keep to use it all the same)")
    if not columns:
        raise Failure(f"there is no column but {target!r} to learn from.")
    return table._replace(X=repack_fields(frame[columns]), notes=tuple(notes))


def check_names(names: Sequence[str], *given: Sequence[str]) -> None:
    """Raise if a table has no column of a name that was given."""
    for name in (one for some in given for one in some):
        check_column(name, names)


def without_labels(target: str, n_rows: int) -> tuple[str, ...]:
    """Return sentences that say how many rows have no label, if there are any."""
    return (f"{count(n_rows, 'row')} without a value of {target!r} left out",) if n_rows else ()


def target_of(names: Sequence[str], target: str | None) -> str:
    """Return the column of labels, which a built-in set need not name."""
    if target is not None:
        return check_column(target, names)
    if TARGET in names:
        return TARGET
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    raise Failure(f"say with --target which column to predict: {', '.join(names[:12])}{more}.")


def check_column(name: str, names: Sequence[str]) -> str:
    """Return a name, which a table has to have."""
    if name not in names:
        raise Failure(f"the table has no column {name!r}.{suggest_name(name, list(names))}")
    return name


def class_labels(target: str, texts: NDArray[Any]) -> NDArray[Any]:
    """Return the classes as integers if all are whole numbers, else as texts."""
    if texts.dtype.kind == "M":
        raise Failure(f"the target {target!r} holds dates; expected classes.")
    if texts.dtype.kind == "f":
        texts = np.array([f"{value:.15g}" for value in texts], dtype=object)
    counts = Counter(texts.tolist())
    check_no_measurements(target, counts)
    return texts.astype(np.int64 if all(map(is_integer, counts)) else str)


def check_no_measurements(target: str, counts: Mapping[str, int]) -> None:
    """Raise if labels are numbers of which hardly any two are the same."""
    many = len(counts) > MOST_NUMBERS and np.median(list(counts.values())) < FEW_EACH
    if many and all(map(is_number, counts)):
        raise Failure(
            f"the target {target!r} holds {len(counts)} different numbers; expected classes, which "
            "many rows share. To predict a number, cut its range into classes first."
        )


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def is_integer(text: str) -> bool:
    """Whether a text is an integer as it is usually written: neither 07 nor 7.0."""
    return bool(re.fullmatch(r"0|-?[1-9]\d{0,17}", text))


def check_classes(target: str, classes: NDArray[Any], counts: NDArray[Any]) -> None:
    """Raise unless there are two classes or more, none of them tiny."""
    if not len(classes):
        raise Failure(f"no row has a value of {target!r}.")
    if len(classes) < 2:
        raise Failure(
            f"the target {target!r} is {str(classes[0])!r} in every row; expected two classes or "
            "more."
        )
    small = np.flatnonzero(counts < FEWEST_ROWS)
    if len(small):
        told = ", ".join(f"{str(classes[i])!r} ({count(counts[i], 'row')})" for i in small[:5])
        more = f" and {len(small) - 5} classes more" if len(small) > 5 else ""
        raise Failure(
            f"each class of {target!r} needs {FEWEST_ROWS} rows, to learn from and to judge by; "
            f"too few have {told}{more}. Get more, merge classes, or take these rows out."
        )


def no_values(name: str, drawn: bool) -> Failure:
    """Return an error that says that a column has no values."""
    which = "in the rows that were drawn" if drawn else "in any row"
    more = ", or draw more with --rows" if drawn else ""
    return Failure(
        f"column {name!r} has no value {which}; leave it out with --drop {shlex.quote(name)}{more}."
    )


def why_useless(name: str, values: NDArray[Any], rows: NDArray[np.intp]) -> str:
    """Return a text that says why nothing can be learned from a column, if so."""
    if values.dtype.kind == "f":
        if counts_rows(values, rows):
            return "it numbers the rows"
        return "its name and different whole numbers, like keys" if are_keys(name, values) else ""
    if values.dtype.kind == "O":
        different = len(set(values.tolist()) - {None})
        if different > MOST_CATEGORIES:
            return f"{different} different texts, names or free text"
    return ""


def counts_rows(values: NDArray[Any], rows: NDArray[np.intp]) -> bool:
    """Whether a column counts 0, 1, 2, ... or 1, 2, 3, ..., as the rows of the table do."""
    ahead = [values - rows, values - np.arange(1, len(values) + 1)]
    return len(values) > 2 and any((one == one[0]).all() and one[0] in (-1, 0) for one in ahead)


def are_keys(name: str, values: NDArray[Any]) -> bool:
    """Whether a column is called so, and holds another whole number in each row."""
    if not KEY.search(name) or (values % 1.0 != 0.0).any():  # true of a missing one too
        return False
    return len(np.unique(values)) == len(values)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has no value."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "M":
        return np.isnat(values)
    return np.array([value is None for value in values.tolist()], dtype=bool)
