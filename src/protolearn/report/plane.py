"""The plane in which a model is shown.

With one learned linear map it is the plane of the two leading directions of the metric, in which
distances are those of the model less what its other directions add. Otherwise it is spanned by the
two leading directions of the prototypes, or the normals of a linear model: with squared Euclidean
distance and up to three prototypes, or three classes, that is no approximation, since a decision
depends on the projection of the sample on it alone. All other models are shown in the plane of the
means of the rows that get the same answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats

NOTHING = 1e-6  # size, relative to the first direction, below which the metric has no second one
SOME_ROWS = 200  # rows of a sparse matrix that are enough to see where it varies


class Plane(NamedTuple):
    """A plane through the mean of the prototypes, and how it is seen."""

    origin: Floats  # (d,): the point that is seen at (0, 0)
    seeing: Floats  # (2, d): a sample x is seen at ``seeing (x - origin)``
    spanning: Floats  # (2, d): the place z shows the point ``origin + z spanning``
    axis_names: tuple[str, str]
    flat: bool = False  # whether the second direction may be so small that one would not see it

    def places(self, X: Any) -> Floats:
        """Return the places of rows; what is missing is taken from the origin."""
        if issparse(X):
            return np.asarray(X @ self.seeing.T - self.seeing @ self.origin)
        return zero_where_missing(np.asarray(X, dtype=np.float64) - self.origin) @ self.seeing.T

    def rows(self, places: Floats) -> Floats:
        """Return the points of the plane at some places."""
        return self.origin + places @ self.spanning


def plane_of_model(model: Any, X: Any, names: list[str]) -> Plane:
    """Return the plane in which a model is shown; ``names`` are those of its features."""
    if hasattr(model, "rule_") and hasattr(model, "project"):
        return plane_of_metric(model, X, names)
    if X.shape[1] == 2:
        return Plane(np.zeros(2), np.eye(2), np.eye(2), (names[0], names[1]))
    if getattr(getattr(model, "coef_", None), "ndim", 0) == 2:
        normals = model.coef_ - (model.coef_.mean(axis=0) if len(model.coef_) > 1 else 0.0)
        return plane_of_rows(mean_of(X), normals, X, "normals")
    if hasattr(model, "prototypes_"):
        origin = model.prototypes_.mean(axis=0)
        return plane_of_rows(origin, model.prototypes_ - origin, X, "prototypes")
    origin, said = mean_of(X), model.predict(X)
    means = np.stack([mean_of(X[np.flatnonzero(said == label)]) for label in np.unique(said)])
    return plane_of_rows(origin, means - origin, X, "class means")


def plane_of_rows(origin: Floats, rows: Floats, X: Any, what: str) -> Plane:
    """Return the plane of the two leading directions of some rows, completed by the data."""
    directions = leading_directions(rows, 2)
    if len(directions) < 2:
        directions = np.vstack([directions, other_directions(X, directions, 2 - len(directions))])
    directions = np.pad(directions, ((0, 2 - len(directions)), (0, 0)))
    return Plane(
        origin, directions, directions, (f"first direction of the {what}", "second direction")
    )


def mean_of(X: Any) -> Floats:
    """Return the mean of rows, without what is missing."""
    return np.asarray(X.mean(axis=0)).ravel() if issparse(X) else np.nanmean(X, axis=0)


def plane_of_metric(model: Any, X: Any, names: list[str]) -> Plane:
    """Return the plane of the two leading directions of the metric, completed by the data."""
    metric, parameters = model.rule_.distance, model.rule_.codebook.metric[0]
    origin, seeing = model.prototypes_.mean(axis=0), metric.leading(parameters, X.shape[1])
    size = np.linalg.norm(seeing, axis=1)
    labels = [
        f"{which}, {100 * part:.1f} % of the metric"
        for which, part in zip(
            directions_named(seeing, names), size**2 / model.relevances_.sum(), strict=True
        )
    ]
    if size[1] <= NOTHING * size[0]:
        seeing[1], labels[1] = 0.0, "a direction that has no part in the metric"
        rest = other_directions(X, seeing[:1] / size[0], 1)
        if len(rest):
            spread = Plane(origin, np.vstack([seeing[:1], rest]), seeing, ("", "")).places(X).std(0)
            seeing[1] = rest[0] * spread[0] / spread[1] if spread.all() else rest[0]
    squares = np.square(seeing).sum(axis=1, keepdims=True)
    spanning = np.divide(seeing, squares, out=np.zeros_like(seeing), where=squares > 0.0)
    return Plane(origin, seeing, spanning, (labels[0], labels[1]), flat=True)


def directions_named(directions: Floats, names: list[str]) -> list[str]:
    """Return the names of directions: a single feature by its name."""
    named = []
    for row, which in zip(directions, ("first", "second"), strict=True):
        alone = np.count_nonzero(row) == 1
        named.append(names[np.abs(row).argmax()] if alone else f"{which} direction")
    return named


def other_directions(X: Any, directions: Floats, count: int) -> Floats:
    """Return up to ``count`` directions, orthogonal to some, in which the data vary most."""
    if issparse(X):
        X = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], SOME_ROWS)).astype(np.intp)].toarray()
    rest = np.asarray(X, dtype=np.float64)
    rest = zero_where_missing(rest - np.nanmean(rest, axis=0))
    return leading_directions(rest - rest @ directions.T @ directions, count)


def leading_directions(rows: Floats, count: int) -> Floats:
    """Return up to ``count`` principal directions of the rows that have any extent."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[: int(min(count, np.sum(sizes > 1e-10 * max(sizes[0], 1e-300))))]


def zero_where_missing(offset: Floats) -> Floats:
    """Return zero where something is missing."""
    return np.where(np.isnan(offset), 0.0, offset)
