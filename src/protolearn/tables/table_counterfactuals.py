"""The smallest change of a row of a table that changes the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Floats, Indices
from .._names import count, number_repeats
from .._validation import integer_in
from ..analysis import Printable, find_printable, first_rows, known_labels
from .columns import column_places
from .encoder import TableEncoder
from .limits import Limits
from .nearest_changes import Jumps, NearestRows
from .pipeline import TableSteps
from .table import Table
from .table_checks import NO_FEATURE_NAMES, UNSEEN_CATEGORIES, ignore_warnings
from .value_texts import change_texts, quote_text, write_outward
from .values import Values

FARTHER = 10.0 ** np.arange(-12, -2)
"""How much farther to go, as a share of the way, where a date falls back by its last digit."""

MOST_CHANGES = 5
"""How many changes of a row the text tells."""


class Change(NamedTuple):
    """A change of one value.

    Attributes
    ----------
    column : str or other
        The column.
    old, new : str
        What was there and what is to be. A new number is rounded away from the old one to a few
        digits; of all the new values of a row together, read back from these texts, the pipeline
        predicts the promised class.
    size : float
        How large it is, in standard deviations, or distances of categories.
    """

    column: Any
    old: str
    new: str
    size: float

    def __str__(self) -> str:
        return f"{self.column} were {self.new} instead of {self.old}"


@dataclass(frozen=True, eq=False, repr=False)
class TableCounterfactuals:
    """Rows of a table, changed as little as possible so that they get another class.

    Attributes
    ----------
    points : DataFrame, or array if the rows were one
        The changed rows, with the columns that the model uses. Numbers that change have their
        digits, also in columns of integers, and dates their time of day; a missing value that does
        not change is missing still. Rows without a counterfactual are as they were.
    distance : array of shape (n_samples,)
        Length of the change as the model measures rows; infinite where there is no counterfactual.
    label : array of shape (n_samples,)
        What the pipeline predicts for ``points``.
    feasible : array of bool of shape (n_samples,)
        Whether there is a counterfactual.
    exact : bool
        Whether they are the nearest ones. If not there may be nearer ones, and some where none was
        found.
    original : DataFrame or array
        The rows that were given, with the columns that the model uses.
    original_label : array of shape (n_samples,)
        What the pipeline predicts for them.
    changes : tuple of tuple of Change
        What changes in each row, the largest change first, in rounded values. ``points`` has all
        digits.
    """

    points: Any
    distance: Floats
    label: NDArray[Any]
    feasible: NDArray[np.bool_]
    exact: bool
    original: Any
    original_label: NDArray[Any]
    changes: tuple[tuple[Change, ...], ...]

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        kind = "nearest" if self.exact else "perhaps not the nearest"
        return f"<TableCounterfactuals: {self.feasible.sum()} of {len(self)} rows, {kind}>"

    def __str__(self) -> str:
        return first_rows(self)

    def describe(self, row: int) -> str:
        """Return in words what would change the answer about a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            A sentence.
        """
        if not self.feasible[row]:
            found = "no allowed change gives" if self.exact else "no change was found that gives"
            return f"is {self.original_label[row]}, and {found} the answer sought"
        changes = self.changes[row]
        if not changes:
            return f"is {self.label[row]} as it is"
        parts = [str(change) for change in changes[:MOST_CHANGES]]
        more = len(changes) - len(parts)
        if more:
            parts.append(f"{count(more, 'more column')} changed by less")
        text = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
        if self.label[row] == self.original_label[row]:  # bounds have moved it
            return f"is {self.label[row]}, and would still be if {text}"
        return f"would be {self.label[row]} instead of {self.original_label[row]} if {text}"

    def assignments(self, row: int) -> str:
        """Return all new values of a row, the largest change first.

        Parameters
        ----------
        row : int
            Which row.

        Returns
        -------
        text : str
            ``NAME to VALUE, NAME to VALUE``; "" for a row that stays as it is. A name or a value is
            in double quotes, written as JSON, if it is empty, holds a comma, a double quote, the
            word "to" or a character that cannot be printed, or begins or ends with a space.
        """
        pairs = ((str(change.column), change.new) for change in self.changes[row])
        return ", ".join(f"{quote_text(name)} to {quote_text(value)}" for name, value in pairs)

    def sentences(self) -> list[str]:
        """Return for each row in words what would change the answer.

        Returns
        -------
        texts : list of str
            A sentence for each row.
        """
        return [self.describe(row) for row in range(len(self))]


def counterfactual_table(
    pipeline: Any,
    frame: Any,
    target: Any = None,
    fixed: Any = None,
    bounds: Any = None,
    *,
    max_combinations: int = 500,
) -> TableCounterfactuals:
    """Return for each row of a table the nearest one with another class, in the user's units.

    Categories jump from one to another, and are never mixed; numbers and dates move.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted one that begins with a :class:`TableEncoder`, see :func:`table_pipeline`, or a
        search over such. Its model is one that :func:`~protolearn.counterfactual` takes. Steps in
        between are scalers.
    frame : DataFrame, or array-like of shape (n_samples, n_columns)
        The rows.
    target : label, or array-like of shape (n_samples,), default=None
        The class to reach, for all rows or for each; None: any other than the predicted one. A row
        that has the class already stays as it is.
    fixed : str, or sequence, default=None
        Names of columns that may not change.
    bounds : dict or "training", default=None
        Ranges of columns that may change, by name: ``(low, high)`` of numbers or dates, where None
        is no end, or a list of the categories that are allowed. ``"training"``: all numbers and
        dates lie between the least and the greatest of the training rows. A row outside is brought
        inside. Ranges of fixed columns have no effect.
    max_combinations : int, default=500
        Up to so many combinations of categories are all tried. If there are more, only one and two
        columns of categories change at once; ``exact`` is False if that may have missed a nearer
        row.

    Returns
    -------
    result : TableCounterfactuals
        With ``points``, ``distance``, ``label``, ``feasible``, ``exact``; print it to read what
        changes.

    See Also
    --------
    protolearn.counterfactual : The same for models of numbers.

    Notes
    -----
    Each combination of categories is tried with the best change of the numbers. What is nearest is
    measured as the model sees rows, by default in standard deviations of numbers, of which a jump
    between categories costs one. No category jumps to "missing". A missing value changes from what
    takes its place; in ``points`` it stays missing unless it changes.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import counterfactual_table, table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(GLVQ(init="means")).fit(rows, ["young", "young", "old", "old"])
    >>> found = counterfactual_table(model, [[22.0, "red"]])
    >>> print(found)
    row 0: would be old instead of young if x0 were 31 instead of 22
    """
    most = integer_in(max_combinations, "max_combinations={value!r}", 1)
    steps = TableSteps.of(pipeline)
    encoder = steps.encoder
    limits = Limits.of(encoder, fixed, bounds)
    table = encoder.input_table(frame)
    rows = encoder.unscaled_rows(table)
    inner = [("units", encoder.units_), *steps.between, ("model", steps.model)]
    names = number_repeats([name for name, _ in inner])  # pipelines in pipelines may repeat them
    model = Pipeline([(name, step) for name, (_, step) in zip(names, inner, strict=True)])
    label = np.asarray(predict_quietly(pipeline, table.data))
    targets = target_labels(steps.model, target, len(rows))
    nearest = NearestRows(model, rows, label, targets, limits)
    check_apart(nearest, steps)
    nearest.search(Jumps.of(encoder, table, nearest), most)
    return build_result(pipeline, steps, table, nearest)


def predict_quietly(pipeline: Any, rows: Any) -> Any:
    """Return the answers of the whole pipeline; what it warns about was told before."""
    with ignore_warnings(NO_FEATURE_NAMES, "X has feature names", UNSEEN_CATEGORIES):
        return pipeline.predict(rows)


def target_labels(model: Any, target: Any, n_rows: int) -> NDArray[Any] | None:
    """Return the label that each row is to get, None for any other."""
    if target is None:
        return None
    labels = np.full(n_rows, target) if np.ndim(target) == 0 else np.asarray(target)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"target has shape {labels.shape}, expected one label, or one for each of the "
            f"{n_rows} rows."
        )
    return known_labels(model, labels, "target")


def check_apart(nearest: NearestRows, steps: TableSteps) -> None:
    """Raise if categories are mixed with other columns by a step."""
    if nearest.limits.fixed.any() and nearest.units.mixing:
        names = ", ".join(repr(name) for name, _ in steps.between)
        raise ValueError(
            f"Between the table and the model are steps that are not known to change each column "
            f"by itself (among {names}), and some columns are categories or fixed. Use scalers."
        )


def build_result(
    pipeline: Any, steps: TableSteps, table: Table, nearest: NearestRows
) -> TableCounterfactuals:
    """Return the result, with the labels that the pipeline gives the changed rows."""
    feasible, points = np.isfinite(nearest.reach), nearest.points

    def predict_changed() -> tuple[Any, NDArray[Any]]:
        frame = changed_frame(steps.encoder, table, nearest.rows, points)
        return frame, predict_quietly(pipeline, frame)

    frame, label = predict_changed()
    for farther in FARTHER:
        wrong = np.flatnonzero(feasible & ~nearest.has_target(label))
        if not len(wrong):
            break
        points[wrong] = nearest.push_farther(wrong, farther)
        frame, label = predict_changed()

    def is_right(printed: Floats, places: Indices) -> NDArray[np.bool_]:
        changed = changed_frame(steps.encoder, table, nearest.rows, printed)
        return np.asarray(predict_quietly(pipeline, changed) == label)[places]

    write = write_outward(steps.encoder.columns_)
    printable = find_printable(nearest.rows, points, write, is_right, nearest.limits)
    lost = feasible & ~(nearest.has_target(label) & printable.is_right)
    if lost.any():
        points[lost] = printable.points[lost] = nearest.rows[lost]
        feasible &= ~lost
        frame, label = predict_changed()
    length = np.sqrt(nearest.squared_length(points, np.arange(len(points))))
    return TableCounterfactuals(
        points=frame,
        distance=np.where(feasible, length, np.inf),
        label=label,
        feasible=feasible,
        exact=nearest.exact and not lost.any(),
        original=table.data,
        original_label=nearest.label,
        changes=changes_of(steps.encoder, table, nearest.rows, printable),
    )


def changed_frame(encoder: TableEncoder, table: Table, rows: Floats, points: Floats) -> Any:
    """Return the table with the values that change; all others are as they were."""
    columns = {}
    parts = zip(encoder.split_columns(rows), encoder.split_columns(points), strict=True)
    for name, ((column, old), (_, new)) in zip(table.names, parts, strict=True):
        moved = (new != old).any(axis=1)
        if moved.any():
            values = column.values(new)
            values = Values(values.kind, np.where(moved, values.data, table.read(name).data))
            columns[name] = table.series(values, table.dtype(name), fine=True)
        else:
            columns[name] = table.column(name)
    return table.build(columns, table.index)


def changes_of(
    encoder: TableEncoder, table: Table, rows: Floats, printable: Printable
) -> tuple[tuple[Change, ...], ...]:
    """Return what changes in each row, the largest change first."""
    found: list[list[Change]] = [[] for _ in rows]
    points, texts = printable.points, printable.texts
    before, after = (encoder.units_.transform(part) for part in (rows, points))
    for j, places in enumerate(column_places(encoder.columns_)):
        column, old = encoder.columns_[j], table.read(table.names[j])
        size = np.linalg.norm(after[:, places] - before[:, places], axis=1)
        for i in np.flatnonzero(size):
            pair = rows[i, places], points[i, places]
            told = change_texts(column, old.data[i], *pair, texts[i, places][0])
            found[i].append(Change(column.name, *told, float(size[i])))
    return tuple(tuple(sorted(part, key=lambda c: -c.size)) for part in found)
