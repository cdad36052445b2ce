"""The nearest row of another class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._arrays import Floats, Indices, as_floats
from ..rule import DecisionRule, as_rule
from ..tables import (
    Table,
    TableEncoder,
    Values,
    build_frame,
    flatten_steps,
    native_column,
    no_way_back,
)
from .cells import ANY, Cells, complete_rows, describe_model
from .counterfactual_search import search_boundary
from .feature_units import Ranges, Units
from .limits import Limits
from .model_view import ModelView
from .result_tables import Counterfactuals
from .table_counterfactuals import TableCounterfactuals, change_columns, target_labels

Attempt = Callable[[Indices, float], tuple[Floats, NDArray[np.bool_]]]
"""Takes places of rows, and how far to go beyond the boundary, in units of the largest distance;
returns the changed rows, and which of them were found."""

ROUNDING = 1e-13  # relative error of sums of products that is sure not to be exceeded
# How far to go beyond the boundary, as a share of the largest distance: as little as serves.
INSETS = 10.0 ** np.arange(-15, 0)
# And if that is lost among the digits of the user's units, where all distances are tiny.
FARTHER = 10.0 ** np.arange(16)

OR_DATA = "Or give the training rows as data=; then any classifier has counterfactuals."


def counterfactual(
    model: Any,
    X: Any,
    target: Any = None,
    fixed: Any = None,
    bounds: Any = None,
    *,
    data: Any = None,
    increase_only: Any = None,
    decrease_only: Any = None,
    constraints: Any = None,
    max_changes: int | None = None,
    fewest: bool = False,
    n: int = 1,
) -> Counterfactuals | TableCounterfactuals:
    """Return for each row the smallest change that gives it another class.

    Parameters
    ----------
    model : classifier
        A fitted one: a pipeline that begins with a table
        (:func:`~protolearn.tables.table_pipeline`), a nearest-prototype or linear classifier, or a
        Pipeline that ends in one. With ``data`` any classifier.
    X : DataFrame, structured array, or array-like of shape (n_samples, n_features)
        The rows.
    target : label, or array-like of shape (n_samples,), default=None
        The class to reach, for all rows or for each; None: any other than the predicted one. A row
        that has the class already stays as it is.
    fixed : str, int, or sequence of these, or mask, default=None
        Columns that may not change, by name or place.
    bounds : dict, "training", tuple or sequence, default=None
        Ranges of the columns that may change, by name, in the units of X: ``(low, high)`` of
        numbers or dates, where None is no end, or a list of the categories that are allowed. A row
        outside is brought inside. Other columns change within the range of the training rows, if
        these are known. Arrays may also have a tuple ``(low, high)`` for all columns, or one pair
        for each. Ranges of fixed columns have no effect.
    data : DataFrame, or array-like of shape (n_rows, n_features), default=None
        Training rows. They tell the ranges and the grid of the columns of a model that does not
        begin with a table, and are where a search begins if the boundary is curved: if one of them
        has the class to reach, and only allowed changes lead there, a change is found.
    increase_only, decrease_only : str or sequence, default=None
        Columns of numbers that may only grow, or only fall.
    constraints : str or sequence of str, default=None
        Rules between columns of numbers, such as ``"income <= 12 * monthly"``.
    max_changes : int, default=None
        The number of columns that may change at most.
    fewest : bool, default=False
        Whether the fewest columns matter first, and the size of the change second.
    n : int, default=1
        Number of proposals; each of the further ones leaves out a column of every earlier one.

    Returns
    -------
    result : TableCounterfactuals or Counterfactuals
        With ``points``, ``distance``, ``label``, ``feasible``; print it to read what changes. Rows
        without a counterfactual keep their values, and ``feasible`` is False.

    See Also
    --------
    explain : What else there is to say about the answer.
    sample_margin : The distance alone, faster.
    certified_radius : A lower bound of the distance, for more models.

    Notes
    -----
    **By columns**: for a pipeline that begins with a table, with ``data``, or with any of the
    parameters after it. Numbers stay in the range that the training rows have, on the grid of
    their column (integers, cents, whole days), and categories jump. The size of a change is the sum
    over columns of standard deviations, and of the distance of categories, 1 by default. With flat
    boundaries (squared Euclidean, relevance, matrix and Mahalanobis distance, one metric for all,
    hard decision; linear classifiers; scalers in between) it is the optimum of a mixed-integer
    linear program for each rival prototype, proved by branch and bound; HiGHS
    (:func:`scipy.optimize.milp`) takes over where that takes long.
    Elsewhere it is the best of a search from rows that have the class: ``optimal`` tells.

    **As a point of space**: for models of arrays that do not know their training rows, when none of
    these parameters is given. The change is the shortest in the Euclidean norm as the model
    sees rows, and any real number is allowed. With flat boundaries it is exact, but for a step
    across the boundary as small as rounding allows; otherwise it is found by a search along the
    gradient, and the distance is an *upper* bound: ``exact`` tells. The steps of a pipeline must
    have ``inverse_transform``.

    Examples
    --------
    >>> from protolearn import GLVQ, counterfactual
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "blue"], [40.0, "red"], [41.0, "blue"]]
    >>> model = table_pipeline(GLVQ(init="means")).fit(rows, ["young", "young", "old", "old"])
    >>> print(counterfactual(model, [[22.0, "red"]]))
    row 0: would be old instead of young if x0 were 31 instead of 22
    """
    asked = data, increase_only, decrease_only, constraints, max_changes
    by_column = fewest or n != 1 or any(one is not None for one in asked)
    steps = flatten_steps(model)
    if isinstance(steps[0][1], TableEncoder) or by_column:
        check_data_known(steps[0][1], data)
        view = ModelView.of(model, X, data)
        wishes = fixed, bounds, increase_only, decrease_only, constraints, max_changes
        return change_columns(view, target, Limits.of(view.columns, *wishes), data, fewest, n)
    return nearest_points(model, X, target, fixed, bounds)


def check_data_known(first: Any, data: Any) -> None:
    """Raise if nothing is known about the columns."""
    if data is None and not isinstance(first, TableEncoder):
        raise ValueError(
            "increase_only, decrease_only, constraints, max_changes, fewest and n need the ranges "
            "of the columns. Give the training rows as data=, or a pipeline that begins with a "
            "table (protolearn.tables.table_pipeline)."
        )


def nearest_points(model: Any, X: Any, target: Any, fixed: Any, bounds: Any) -> Counterfactuals:
    """Return for each row the nearest point with another class, of any real numbers."""
    units = Units(model)
    try:
        rule = as_rule(units.last)
    except TypeError as error:
        raise TypeError(f"{error} {OR_DATA}") from None
    Z = complete_rows(rule, units.last, units.inner(X), "counterfactual").astype(np.float64)
    given = check_array(X, dtype=np.float64, input_name="X")
    unnamed = map("x{}".format, range(given.shape[1]))
    names = list(unnamed if units.names is None else units.names)
    ranges = Ranges.of(fixed, bounds, names)
    enter = np.full(len(Z), ANY)
    if target is not None:
        enter = np.searchsorted(rule.classes, target_labels(units.last, target, len(Z)))
    inner_ranges = units.ranges(ranges, Z.shape[1]) if units.steps else ranges
    question = Question(rule, Z, rule.distances(Z), rule.codes(Z), enter, inner_ranges)
    points, feasible, is_exact = cross_boundary(question, units, ranges, given)
    changed = as_floats(units.inner(points))
    return Counterfactuals(
        points=table_like(X, points),
        values=points,
        distance=np.where(feasible, np.linalg.norm(changed - Z, axis=1), np.inf),
        label=rule.classes[rule.codes(changed)],
        feasible=feasible,
        exact=is_exact,
        original=given,
        original_label=rule.classes[question.leave],
        sizes=np.abs(points - given if units.mixing else changed - Z),
        feature_names=tuple(names),
        index=X.index if hasattr(X, "iloc") else None,
        model=model,
        ranges=ranges,
    )


def table_like(X: Any, values: Floats) -> Any:
    """Return numbers as a frame like X, with its types where these hold them, if X is a frame."""
    if not hasattr(X, "columns"):
        return values
    table, columns = Table(X), {}
    for j, name in enumerate(table.names):
        exact = Values("number", values[:, j])
        column = native_column(table.library, exact, table.dtype(name))
        kept = Table(build_frame(table.library, {name: column})).read(name).data
        if (kept != values[:, j]).any():
            column = native_column(table.library, exact, table.dtype(name), fine=True)
        columns[name] = column
    return build_frame(table.library, columns, table.index)


@dataclass(frozen=True)
class Question:
    """Rows that are to get another class, all as the model sees them.

    ``D`` (n, K) are their distances to all prototypes; ``leave`` and ``enter`` the codes of their
    class and of the one to reach, or ``ANY``.
    """

    rule: DecisionRule
    rows: Floats
    D: Floats
    leave: Indices
    enter: Indices
    ranges: Ranges

    def rounding(self, places: Indices, points: Floats) -> Floats:
        """Return what rounding may do to the distances of points, in units of the largest distance.

        The answer for a point nearer to the boundary may depend on the rows that come with it.
        """
        U, codebook = self.rule.directions, self.rule.codebook
        if U is None and self.rule.distance.squared:
            steepness = np.asarray(self.rule.steepness)
            U = np.square(steepness)[:, None] * (codebook.prototypes - codebook.center)
        if U is None:  # no products: the error is that of the distance alone
            return np.full(len(points), ROUNDING)
        products = np.linalg.norm(points, axis=1) * np.linalg.norm(U, axis=1).max()
        return ROUNDING * products / np.maximum(self.D[places].max(axis=1), np.finfo(float).tiny)

    def is_sought(self, places: Indices, codes: Indices) -> NDArray[np.bool_]:
        """Whether these codes are what the rows at these places are to get."""
        leave, enter = self.leave[places], self.enter[places]
        return np.where(enter == ANY, codes != leave, codes == enter)


def cross_boundary(
    question: Question, units: Units, ranges: Ranges, given: Floats
) -> tuple[Floats, NDArray[np.bool_], bool]:
    """Return the changed rows in the user's units, which are there, and whether all is exact.

    Each row goes beyond the boundary by the first inset at which the model says so, for certain.
    """
    attempt, is_exact = choose_method(question, units)
    inside = (ranges.clip(given) == given).all(axis=1)
    points, feasible = given.copy(), (question.leave == question.enter) & inside
    sure, waiting = question.rounding(np.arange(len(given)), question.rows), ~feasible
    for inset in INSETS if units.mixing or not is_exact else (*INSETS, *FARTHER):
        rows = np.flatnonzero(waiting & (sure <= inset))
        if len(rows):
            changed, found = attempt(rows, inset)
            waiting[rows[~found]] = False
            rows, changed = rows[found], changed[found]
        if not len(rows):
            continue
        tried = ranges.clip(units.outer(given[rows], changed))
        seen = as_floats(units.inner(tried))
        there = question.is_sought(rows, question.rule.codes(seen))
        there &= question.rounding(rows, seen) <= inset
        if units.steps:
            is_exact &= units.undoes(seen[there], changed[there], question.rows)
        points[rows[there]], feasible[rows[there]] = tried[there], True
        waiting[rows[there]] = False
    if waiting.any() and units.mixing:
        name, step = units.mixing[0]
        reason = f"well enough for {waiting.sum()} of the rows, for which the model has an answer"
        warnings.warn(str(no_way_back(name, step, reason)), stacklevel=3)
    return points, feasible, is_exact and not waiting.any()


def choose_method(question: Question, units: Units) -> tuple[Attempt, bool]:
    """Return how to look for the nearest rows, and whether that is exact."""
    rule, ranges = question.rule, question.ranges
    cells = None if rule.is_soft else Cells.of(rule, ranges.movable, by_feature=ranges.is_bounded)
    if cells is None:
        if rule.steepness is None:
            raise ValueError(
                f"{describe_model(units.last)}: counterfactual needs a metric that depends on the "
                f"differences of features, or the square of one. {OR_DATA}"
            )
        return search_boundary(question), False

    def enter_cells(places: Indices, inset: float) -> tuple[Floats, NDArray[np.bool_]]:
        changed, box = question.rows[places], None
        if ranges.is_bounded:
            here = changed[:, ranges.movable]
            box = ranges.low[ranges.movable] - here, ranges.high[ranges.movable] - here
        leave, enter = question.leave[places], question.enter[places]
        found = cells.shortest_ways(question.D[places], leave, enter, box, inset)
        changed[:, ranges.movable] += found.ways
        return changed, found.rival >= 0

    return enter_cells, True
