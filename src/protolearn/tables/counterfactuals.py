"""The smallest change of a row of a table that changes the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._arrays import Floats, Indices
from .._names import number_repeats
from .._validation import integer_in
from ..analysis import known_labels
from .checks import UNSEEN
from .columns import CategoryColumn, Column
from .jumps import Jumps
from .limits import Limits, places_of
from .nearest import NO_NAMES, Nearest, without_name_warnings
from .result import Change, TableCounterfactuals
from .steps import TableSteps
from .table import Table
from .values import Values

FARTHER = 10.0 ** np.arange(-12, -2)
"""How much farther to go, as a share of the way, where a date falls back by its last digit."""


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
    row 0: would be old instead of young if x0 were 30.5 instead of 22
    """
    most = integer_in(max_combinations, "max_combinations={value!r}", 1)
    steps = TableSteps.of(pipeline)
    encoder = steps.encoder
    limits = Limits.of(encoder, fixed, bounds)
    table = encoder._table(frame, reset=False)
    plain = encoder._plain(table)
    inner = [("units", encoder._units), *steps.between, ("model", steps.model)]
    names = number_repeats([name for name, _ in inner])  # pipelines in pipelines may repeat them
    model = Pipeline([(name, step) for name, (_, step) in zip(names, inner, strict=True)])
    label = np.asarray(predicted(pipeline, table.data))
    nearest = Nearest(model, plain, label, targets(steps.model, target, len(plain)), limits)
    check_apart(nearest, steps)
    nearest.look(jumps_of(steps, table, nearest), most)
    return answered(pipeline, steps, table, nearest)


def predicted(pipeline: Any, rows: Any) -> Any:
    """Return the answers of the whole pipeline; what it warns about was told before."""
    with without_name_warnings(NO_NAMES, "X has feature names", UNSEEN):
        return pipeline.predict(rows)


def targets(model: Any, target: Any, n_rows: int) -> NDArray[Any] | None:
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


def check_apart(nearest: Nearest, steps: TableSteps) -> None:
    """Raise if categories are mixed with other columns by a step."""
    if nearest.limits.fixed.any() and nearest.units.mixing:
        names = ", ".join(repr(name) for name, _ in steps.between)
        raise ValueError(
            f"Between the table and the model are steps that are not known to change each column "
            f"by itself (among {names}), and some columns are categories or fixed. Use scalers."
        )


def jumps_of(steps: TableSteps, table: Table, nearest: Nearest) -> Jumps:
    """Return the jumps that categories may make."""
    encoder, limits, rows = steps.encoder, nearest.limits, nearest.rows
    places = places_of(encoder)
    jumps = Jumps([], [], [], [], [], [])
    for j, codes in limits.allowed.items():
        column = encoder.columns_[j]
        assert isinstance(column, CategoryColumn)
        own = column.codes(table.read(table.names[j]))
        jumps.places.append(places[j])
        jumps.entries.append(column.entries)
        jumps.allowed.append(codes)
        jumps.own.append(own)
        jumps.stays.append(np.isin(own, codes) | (j not in limits.bounded))
        cost = np.empty((len(rows), len(column.categories)))
        for code, entry in enumerate(column.entries):
            moved = rows.copy()
            moved[:, places[j]] = entry
            cost[:, code] = nearest.squared(moved, np.arange(len(rows)))
        jumps.cost.append(cost)
    return jumps


def answered(
    pipeline: Any, steps: TableSteps, table: Table, nearest: Nearest
) -> TableCounterfactuals:
    """Return the result, with the labels that the pipeline gives the changed rows."""
    feasible, points = np.isfinite(nearest.reach), nearest.points
    frame = changed_frame(steps, table, nearest.rows, points)
    label = predicted(pipeline, frame)
    for farther in FARTHER:
        wrong = np.flatnonzero(feasible & ~sought(nearest, label))
        if not len(wrong):
            break
        points[wrong] = pushed(nearest, wrong, farther)
        frame = changed_frame(steps, table, nearest.rows, points)
        label = predicted(pipeline, frame)
    lost = feasible & ~sought(nearest, label)
    if lost.any():
        points[lost] = nearest.rows[lost]
        feasible &= ~lost
        frame = changed_frame(steps, table, nearest.rows, points)
        label = predicted(pipeline, frame)
    length = np.sqrt(nearest.squared(points, np.arange(len(points))))
    return TableCounterfactuals(
        points=frame,
        distance=np.where(feasible, length, np.inf),
        label=label,
        feasible=feasible,
        exact=nearest.exact and not lost.any(),
        original=table.data,
        original_label=nearest.label,
        changes=changes_of(steps, table, nearest.rows, points),
    )


def sought(nearest: Nearest, label: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are those that were asked for."""
    return label != nearest.label if nearest.target is None else label == nearest.target


def pushed(nearest: Nearest, rows: Indices, farther: float) -> Floats:
    """Return points a little farther on their way, but for categories and the ends of ranges."""
    start, limits = nearest.rows[rows], nearest.limits
    way = np.where(limits.fixed, 0.0, nearest.points[rows] - start)
    return np.clip(nearest.points[rows] + farther * way, limits.low, limits.high)


def changed_frame(steps: TableSteps, table: Table, rows: Floats, points: Floats) -> Any:
    """Return the table with the values that change; all others are as they were."""
    columns = {}
    for j, (name, places) in enumerate(zip(table.names, places_of(steps.encoder), strict=True)):
        column = steps.encoder.columns_[j]
        moved = (points[:, places] != rows[:, places]).any(axis=1)
        columns[name] = (
            changed_column(column, table, name, points[:, places], moved)
            if moved.any()
            else table.column(name)
        )
    return table.build(columns, table.index)


def changed_column(
    column: Column, table: Table, name: Any, points: Floats, moved: NDArray[np.bool_]
) -> Any:
    """Return a column with new values where it has changed."""
    old, new = table.read(name), column.values(points)
    data = np.where(moved, new.data, old.data)
    return table.series(Values(new.kind, data), table.dtype(name), fine=True)


def changes_of(
    steps: TableSteps, table: Table, rows: Floats, points: Floats
) -> tuple[tuple[Change, ...], ...]:
    """Return what changes in each row, the largest change first."""
    found: list[list[Change]] = [[] for _ in rows]
    before, after = (steps.encoder._units.transform(part) for part in (rows, points))
    for j, places in enumerate(places_of(steps.encoder)):
        column, old = steps.encoder.columns_[j], table.read(table.names[j])
        size = np.linalg.norm(after[:, places] - before[:, places], axis=1)
        for i in np.flatnonzero(size):
            texts = two_texts(column, old.data[i], rows[i, places], points[i, places])
            found[i].append(Change(column.name, *texts, float(size[i])))
    return tuple(tuple(sorted(part, key=lambda c: -c.size)) for part in found)


def two_texts(column: Column, given: Any, row: Floats, point: Floats) -> tuple[str, str]:
    """Write the value that was given and the one that is to be."""
    if isinstance(column, CategoryColumn):
        new = column.text(int(column.nearest(point[None])[0]))
        return "missing" if given is None else str(given), new
    old, new = column.texts(float(row[0]), float(point[0]))
    return (f"missing (taken as {old})" if given is None or given != given else old), new
