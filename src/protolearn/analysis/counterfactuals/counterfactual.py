"""The nearest row of another class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..._arrays import Floats, Indices, as_floats
from ...classifiers import NearestPrototypeClassifier
from ...distances import Geometry
from ..cells import ANY, Cells, complete_rows, named
from ..margins import known_labels
from ..planes import last_with_cells
from .exact import exact
from .question import Attempt, Question
from .ranges import Ranges
from .result import Counterfactuals
from .search import search
from .units import Units

INSETS = 10.0 ** np.arange(-15, 0)
"""How far to go beyond the boundary, as a share of the largest distance: as little as serves."""

FARTHER = 10.0 ** np.arange(16)
"""And if that is lost among the digits of the user's units, where all distances are tiny."""


def counterfactual(
    model: Any, X: Any, target: Any = None, fixed: Any = None, bounds: Any = None
) -> Counterfactuals:
    """Give for each row the nearest one with another class: the smallest change of the answer.

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
    last, units = last_with_cells(model), Units(model)
    Z = complete_rows(last, units.inner(X), "counterfactual")
    given = check_array(X, dtype=np.float64, input_name="X")
    names = [f"x{j}" for j in range(given.shape[1])] if units.names is None else list(units.names)
    ranges = Ranges.of(fixed, bounds, names, given.shape[1])
    leave, enter = last._codes(Z), target_codes(last, target, len(Z))
    question = Question(last, Z, leave, enter, units.ranges(ranges, Z.shape[1]))
    points, feasible, is_exact = crossed(question, units, ranges, given)
    changed = as_floats(units.inner(points))
    return Counterfactuals(
        points=points,
        distance=np.where(feasible, np.linalg.norm(changed - Z, axis=1), np.inf),
        label=last.classes_[last._codes(changed)],
        feasible=feasible,
        exact=is_exact,
        original=given,
        original_label=last.classes_[leave],
        sizes=np.abs(changed - Z if units.featurewise else points - given),
        feature_names=tuple(names),
        index=X.index if hasattr(X, "iloc") else None,
    )


def crossed(
    question: Question, units: Units, ranges: Ranges, given: Floats
) -> tuple[Floats, NDArray[np.bool_], bool]:
    """Give the changed rows in the user's units, which of them are there, and whether all is exact.

    Each row goes beyond the boundary by the first inset at which the model says so, for certain.
    """
    attempt, is_exact = method(question)
    points, feasible = given.copy(), (question.leave == question.enter) & ranges.hold(given)
    sure, waiting = question.rounding(np.arange(len(given)), question.rows), ~feasible
    for inset in (*INSETS, *FARTHER) if is_exact and units.featurewise else INSETS:
        rows = np.flatnonzero(waiting & (sure <= inset))
        if len(rows):
            changed, found = attempt(rows, inset)
            waiting[rows[~found]] = False
            rows, changed = rows[found], changed[found]
        if not len(rows):
            continue
        tried = ranges.clip(units.outer(given[rows], changed))
        seen = as_floats(units.inner(tried))
        there = question.answered(rows, seen) & (question.rounding(rows, seen) <= inset)
        is_exact &= units.undoes(seen[there], changed[there], question.rows)
        points[rows[there]], feasible[rows[there]] = tried[there], True
        waiting[rows[there]] = False
    return points, feasible, is_exact and not waiting.any()


def method(question: Question) -> tuple[Attempt, bool]:
    """Give how to look for the nearest rows, and whether that is exact."""
    model = question.model
    cells = Cells.of(model, question.ranges.movable)
    if cells is not None:
        return exact(question, cells), True
    distance = model._distance
    if not isinstance(distance, Geometry) or distance.steepness(model._codebook()) is None:
        raise ValueError(
            f"{named(model)}: counterfactual needs a metric that depends on the differences of "
            "features, or the square of one."
        )
    return search(question), False


def target_codes(model: NearestPrototypeClassifier, target: Any, n_rows: int) -> Indices:
    """Give the class code that each row is to reach; ``ANY`` where none is named."""
    if target is None:
        return np.full(n_rows, ANY)
    labels = np.full(n_rows, target) if np.ndim(target) == 0 else np.asarray(target)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"target has shape {labels.shape}, expected one label, or one for each of the "
            f"{n_rows} rows."
        )
    return np.searchsorted(model.classes_, known_labels(model, labels, "target"))
