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
from .cells import ANY, Cells, complete_rows, describe_model
from .counterfactual_search import search_boundary
from .feature_units import Ranges, Units, no_way_back
from .hypothesis_margins import known_labels
from .result_tables import Counterfactuals

Attempt = Callable[[Indices, float], tuple[Floats, NDArray[np.bool_]]]
"""Takes places of rows, and how far to go beyond the boundary, in units of the largest distance;
returns the changed rows, and which of them were found."""

ROUNDING = 1e-13  # relative error of sums of products that is sure not to be exceeded
# How far to go beyond the boundary, as a share of the largest distance: as little as serves.
INSETS = 10.0 ** np.arange(-15, 0)
# And if that is lost among the digits of the user's units, where all distances are tiny.
FARTHER = 10.0 ** np.arange(16)


def counterfactual(
    model: Any, X: Any, target: Any = None, fixed: Any = None, bounds: Any = None
) -> Counterfactuals:
    """Return for each row the nearest one with another class: the smallest change of the answer.

    Parameters
    ----------
    model : nearest-prototype or linear classifier, or Pipeline that ends in one
        A fitted model. Its distance must be a metric that depends on differences of features, or
        the square of one; or it is a classifier that takes the largest of ``X @ coef_.T +
        intercept_``, also scikit-learn's. The steps of a pipeline must have
        ``inverse_transform``, such as scalers; what is nearest is measured in the space of the
        last step.
    X : array-like of shape (n_samples, n_features)
        The rows.
    target : label, or array-like of shape (n_samples,), default=None
        The class to reach, for all rows or for each; None: any other than the predicted one. A row
        that has the class already stays as it is.
    fixed : str, int, or sequence of these, or mask, default=None
        Features that may not change, by name or place.
    bounds : dict, tuple or sequence, default=None
        Ranges of the features that may change, in the units of X: a dict of ``(low, high)`` by
        feature, a tuple ``(low, high)`` of numbers or arrays for all features, or one pair
        ``(low, high)`` for each feature; None or infinity is no end. A row outside is brought
        inside. Ranges of fixed features have no effect.

    Returns
    -------
    result : Counterfactuals
        With ``points``, ``distance``, ``label``, ``feasible``; print it to read what changes. Rows
        without a counterfactual keep their values, and ``feasible`` is False.

    See Also
    --------
    sample_margin : The distance alone, faster.
    certified_radius : A lower bound of the distance, for more models.

    Notes
    -----
    With flat boundaries (squared Euclidean, relevance, matrix and Mahalanobis distance, one metric
    for all, hard decision; linear classifiers) the nearest point of the cells of the rivals is
    exact, but for a step across the boundary as small as rounding allows. Otherwise (local
    metrics, soft decisions, other metrics) it is found by a search along the gradient, and the
    distance is an *upper* bound: ``exact`` tells. So it does where ``inverse_transform`` of a step
    is no true inverse (ties under a quantile transformer, values out of reach of a power
    transformer).

    Points in a pipeline with a scaler come in the units of X, and so do ``bounds``; ``distance``
    is that of the model, which the scaler has made comparable between features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import GLVQ, counterfactual
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    >>> found = counterfactual(model, X[:1], target=1, fixed=["sepal length (cm)"])
    >>> found.label, found.feasible
    (array([1]), array([ True]))
    """
    units = Units(model)
    rule = as_rule(units.last)
    Z = complete_rows(rule, units.last, units.inner(X), "counterfactual").astype(np.float64)
    given = check_array(X, dtype=np.float64, input_name="X")
    unnamed = map("x{}".format, range(given.shape[1]))
    names = list(unnamed if units.names is None else units.names)
    ranges = Ranges.of(fixed, bounds, names)
    enter = np.full(len(Z), ANY) if target is None else target_codes(units.last, target, len(Z))
    inner_ranges = units.ranges(ranges, Z.shape[1]) if units.steps else ranges
    question = Question(rule, Z, rule.distances(Z), rule.codes(Z), enter, inner_ranges)
    points, feasible, is_exact = cross_boundary(question, units, ranges, given)
    changed = as_floats(units.inner(points))
    return Counterfactuals(
        points=points,
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
                "differences of features, or the square of one."
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


def target_codes(model: Any, target: Any, n_rows: int) -> Indices:
    """Return the class code that each row is to reach."""
    labels = np.full(n_rows, target) if np.ndim(target) == 0 else np.asarray(target)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"target has shape {labels.shape}, expected one label, or one for each of the "
            f"{n_rows} rows."
        )
    return np.searchsorted(model.classes_, known_labels(model, labels, "target"))
