"""A table to learn from: which column is the answer, and which say something about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import NDArray

from .._names import count, suggest_name
from ..reading import ReadTable
from ..tables import frequent_categories, reads_as_text
from .data_source import TARGET
from .failure import Failure

FEWEST_ROWS = 3
"""Rows that a class needs: some to learn from, one to judge by."""

MOST_CATEGORIES = 50
"""Different texts in a column above which it is taken for names, or for text."""

MOST_NUMBERS = 20
"""Different numbers in the target above which they may be measurements, not classes."""

FEW_EACH = 5
"""Rows that share a number; if the usual one has fewer, they are measurements."""

MOST_SUBGROUPS = 10
"""Different numbers or dates above which subgroups are ranges or years."""

CONSTANT = "it has one value in all rows"

KEY = re.compile(r"(?:^|[^a-z])(?:id|ident|identifier|key|index|uid)(?:$|[^a-z])", re.IGNORECASE)
"""A word in the name of a column of keys."""


class TableForm(NamedTuple):
    """How a table is taken.

    Attributes
    ----------
    bins : str or None
        Number of classes that a numeric target is cut into, or their edges with commas.
    merge_rare : int
        Rows below which classes are merged into one; 0: none is.
    group : str or None
        Column whose rows with one value stay together in the folds; it is no feature.
    by : str or None
        Column by whose values the measures are told.
    time : str or None
        Column of when rows were observed, by which folds follow each other; it is no feature.
    keep_constant : bool
        Whether columns with one value stay.
    """

    bins: str | None = None
    merge_rare: int = 0
    group: str | None = None
    by: str | None = None
    time: str | None = None
    keep_constant: bool = False


AS_IT_IS = TableForm()

OTHER = "other"
"""The class of all rare ones."""


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
    left_out : tuple of (str, str)
        Columns that were left out, and why.
    groups : array of shape (n,) or None
        Rows that stay together have the same value.
    by : array of shape (n,) or None
        The subgroup of each row, by whose values the measures are told.
    times : array of shape (n,) or None
        When each row was observed: numbers or dates.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    target: str
    rows: NDArray[np.intp]
    notes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    groups: NDArray[Any] | None = None
    by: NDArray[Any] | None = None
    times: NDArray[Any] | None = None


def learning_table(
    read: ReadTable,
    target: str | None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    form: TableForm = AS_IT_IS,
) -> LearningTable:
    """Return the labels of a table and the columns that something can be learned from.

    ``keep`` names columns that stay although they look like row numbers, or like names.
    """
    names = list(read.frame.dtype.names or ())
    target = target_of(names, target)
    named = [one for one in (form.group, form.by, form.time) if one is not None]
    if form.group is not None and form.time is not None:
        raise Failure(
            "--group and --time-column are both given, and a group may be observed at several "
            "times; use one of them."
        )
    if target in named:
        raise Failure(f"{target!r} is the target; --group, --by and --time-column need another.")
    check_names(names, drop, keep, named)
    texts = read.frame[target]
    labelled = ~is_missing(texts)
    notes = without_labels(target, int((~labelled).sum()))
    frame, y = read.frame[labelled], class_labels(target, texts[labelled], form.bins)
    y, merged = merge_rare_classes(y, form.merge_rare)
    rare = check_classes(target, *np.unique(y, return_counts=True))
    rows = np.flatnonzero(labelled) + 1
    groups = None if form.group is None else as_texts(frame[form.group])
    by = None if form.by is None else subgroups_of(frame[form.by])
    times = None if form.time is None else checked_times(form.time, frame[form.time])
    table = LearningTable(frame, y, target, rows, (*notes, *merged, *rare), (), groups, by, times)
    drop = [*drop, *(one for one in (form.group, form.time) if one is not None)]
    return with_columns(frame, table, drop, keep, keep_constant=form.keep_constant)


def checked_times(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column of numbers or dates, none of them missing."""
    n_missing = int(is_missing(values).sum())
    if n_missing:
        raise Failure(
            f"--time-column {name}: {count(n_missing, 'row')} have no value there. Fill them "
            "in, or leave these rows out."
        )
    if values.dtype.kind not in "fM":
        raise Failure(
            f"--time-column {name}: the column holds {values[0]!r}, expected dates or increasing "
            "numbers."
        )
    return values


def as_texts(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a column as texts; a missing one is a text too."""
    return np.array([f"{one:g}" if isinstance(one, float) else str(one) for one in values.tolist()])


def subgroups_of(values: NDArray[Any]) -> NDArray[Any]:
    """Return the subgroup of each row: its value, a quarter of the numbers, or its year."""
    missing, found = is_missing(values), as_texts(values).astype(object)
    if len(np.unique(found)) > MOST_SUBGROUPS and values.dtype.kind == "M":
        found = values.astype("datetime64[Y]").astype(str).astype(object)
    elif len(np.unique(found)) > MOST_SUBGROUPS and values.dtype.kind == "f":
        found[~missing] = in_ranges(values[~missing], quantile_edges(values[~missing], 4))
    found[missing] = "missing"
    return found.astype(str)


def quantile_edges(values: NDArray[Any], n_parts: int) -> NDArray[Any]:
    """Return numbers that cut others into parts of about equal size."""
    return np.unique(np.quantile(values, np.linspace(0.0, 1.0, n_parts + 1)[1:-1]))


def in_ranges(values: NDArray[Any], edges: NDArray[Any]) -> NDArray[Any]:
    """Return for each number between which edges it lies."""
    names = [f"below {edges[0]:g}", *map("{:g} to {:g}".format, edges[:-1], edges[1:])]
    return np.array([*names, f"{edges[-1]:g} and above"])[np.searchsorted(edges, values, "right")]


def merge_rare_classes(y: NDArray[Any], fewest: int) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return labels with all classes of fewer rows merged into one, and a note that says so."""
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    rare = counts < fewest
    if rare.sum() < 1:
        return y, ()
    names = np.where(rare, OTHER, labels.astype(str))
    told = ", ".join(
        f"{one} ({n})" for one, n in zip(labels[rare][:10], counts[rare], strict=False)
    )
    told += f" and {rare.sum() - 10} more" if rare.sum() > 10 else ""
    note = f"classes with fewer than {count(fewest, 'row')} are now {OTHER!r}: {told}"
    return names[codes], (note,)


def with_columns(
    frame: NDArray[Any],
    table: LearningTable,
    drop: Sequence[str],
    keep: Sequence[str],
    keep_constant: bool = False,
) -> LearningTable:
    """Return the columns that something can be learned from."""
    target, notes = table.target, list(table.notes)
    left_out: list[tuple[str, str]] = []
    columns = [name for name in frame.dtype.names or () if name != target and name not in drop]
    for name in list(columns):
        if name in keep:
            continue
        reason = why_useless(name, frame[name], table.rows)
        if keep_constant and reason == CONSTANT:
            continue
        if reason:
            columns.remove(name)
            left_out.append((name, reason))
            notes.append(f"column {name!r} left out: {reason} (--keep to use it anyway)")
    if not columns:
        raise Failure(f"there is no column other than {target!r} to learn from.")
    return table._replace(
        X=repack_fields(frame[columns]), notes=tuple(notes), left_out=tuple(left_out)
    )


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
    raise Failure(f"name the column to predict with --target: {', '.join(names[:12])}{more}.")


def check_column(name: str, names: Sequence[str]) -> str:
    """Return a name, which a table has to have."""
    if name not in names:
        raise Failure(f"the table has no column {name!r}.{suggest_name(name, list(names))}")
    return name


def class_labels(target: str, texts: NDArray[Any], bins: str | None = None) -> NDArray[Any]:
    """Return the classes as integers if all are whole numbers, else as texts."""
    if bins is not None:
        return cut_into_classes(target, texts, bins)
    if texts.dtype.kind == "M":
        raise Failure(f"the target {target!r} holds dates; expected classes.")
    if texts.dtype.kind == "f":
        texts = np.array([f"{value:.15g}" for value in texts], dtype=object)
    counts = Counter(texts.tolist())
    check_no_measurements(target, counts)
    return texts.astype(np.int64 if all(map(is_integer, counts)) else str)


def cut_into_classes(target: str, texts: NDArray[Any], bins: str) -> NDArray[Any]:
    """Return a class for each number: of about equal sizes, or between the edges that are given."""
    try:
        values = np.array([float(one) for one in texts.tolist()])
    except ValueError as error:
        raise Failure(
            f"--bins needs a target of numbers, and {target!r} holds {str(error).split(': ')[-1]}."
        ) from None
    try:
        edges = np.array([float(one) for one in bins.split(",")])
        whole = len(edges) > 1 or (edges[0] >= 2 and edges[0] % 1 == 0)
    except ValueError:
        whole = False
    if not whole or (np.diff(edges) <= 0).any():
        raise Failure(
            f"--bins {bins!r} is neither a number of classes such as 3 nor rising edges such as "
            "10,20."
        )
    if len(edges) == 1:
        edges = quantile_edges(values, int(edges[0]))
    return in_ranges(values, edges)


def check_no_measurements(target: str, counts: Mapping[str, int]) -> None:
    """Raise if labels are numbers of which hardly any two are the same."""
    many = len(counts) > MOST_NUMBERS and np.median(list(counts.values())) < FEW_EACH
    if many and all(map(is_number, counts)):
        raise Failure(
            f"the target {target!r} is numeric: it holds {len(counts)} different numbers, and "
            "expected are classes, which many rows share. To cut its range into classes of about "
            "equal size use --bins 3, or give their edges, such as --bins 10,20."
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


def check_classes(target: str, classes: NDArray[Any], counts: NDArray[Any]) -> tuple[str, ...]:
    """Raise unless there are two classes or more; return notes on odd ones."""
    if not len(classes):
        raise Failure(f"no row has a value of {target!r}.")
    if len(classes) < 2:
        raise Failure(
            f"the target {target!r} is {str(classes[0])!r} in every row; expected two classes or "
            "more."
        )
    small = np.flatnonzero(counts < FEWEST_ROWS)
    notes: tuple[str, ...] = ()
    if len(classes) > MOST_NUMBERS and all(is_number(str(one)) for one in classes):
        notes = (
            f"the target {target!r} is numeric: {len(classes)} different numbers are taken as "
            "classes; to cut its range into a few classes use --bins 3",
        )
    if not len(small):
        return notes
    told = ", ".join(f"{str(classes[i])!r} ({count(counts[i], 'row')})" for i in small[:5])
    more = f" and {len(small) - 5} classes more" if len(small) > 5 else ""
    if len(classes) - len(small) < 2:
        raise Failure(
            f"two classes of {target!r} need {FEWEST_ROWS} rows or more, for fitting and testing; "
            f"too few have {told}{more}. Get more rows, or use "
            "--merge-rare."
        )
    return (
        *notes,
        f"too few rows to test on; they are used to fit but never held out: {told}{more} "
        "(--merge-rare to make one class of them)",
    )


def why_useless(name: str, values: NDArray[Any], rows: NDArray[np.intp]) -> str:
    """Return a text that says why nothing can be learned from a column, if so."""
    if is_missing(values).all():
        return "it has no value in any row"
    if len(np.unique(values if values.dtype.kind in "fM" else values.astype(str))) == 1:
        return CONSTANT
    if values.dtype.kind == "f":
        if counts_rows(values, rows):
            return "it numbers the rows"
        return "its name and distinct whole numbers, like keys" if are_keys(name, values) else ""
    if values.dtype.kind == "O":
        different = Counter(value for value in values.tolist() if value is not None)
        if len(different) <= MOST_CATEGORIES or frequent_categories(different, MOST_CATEGORIES):
            return ""
        if not reads_as_text(different):
            return f"{len(different)} distinct texts, such as names or keys"
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
