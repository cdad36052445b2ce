"""A picture of a model: samples, prototypes and decision regions in two dimensions.

With one learned linear map it is the plane of the two leading directions of the metric, in which
distances are those of the model less what its other directions add. Otherwise it is spanned by the
two leading directions of the prototypes, or the normals of a linear model: with squared Euclidean
distance and up to three prototypes, or three classes, that is no approximation, since a decision
depends on the projection of the sample on it alone. All other models are shown in the plane of the
means of the rows that get the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats, Indices
from ..analysis import feature_names, is_linear_rule, known_labels, last_step
from ..classifiers import NearestPrototypeClassifier
from ..tables import NO_FEATURE_NAMES, ignore_warnings, labelled_prototypes
from .style import Display, axes_for, class_marker, colour, legend_beside

NOTHING = 1e-6  # size, relative to the first direction, below which the metric has no second one
SOME_ROWS = 200  # rows of a sparse matrix that are enough to see where it varies
MARGIN = 0.08
AT_A_TIME = 2_000_000  # numbers of rows that a model is asked about at once
# Height of a picture as a share of its width, from and to which axes are drawn alike.
FLATTEST, STEEPEST = 0.4, 2.0
UNSEEN_STRETCH = 1.3  # stretch up to which an axis is left as it is


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(Display):
    """Samples, prototypes and decision regions in the plane of the metric or of the prototypes.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    plane : PlaneMap
        The samples, the prototypes and the decision regions in the plane: ``points``,
        ``prototypes``, ``prototype_codes``, ``grid``, ``axis_names``, ``stretch``.
    codes : array of shape (n_samples,)
        Classes of the samples, as indices of ``classes``.
    wrong : array of bool of shape (n_samples,)
        Which samples the model gets wrong.
    classes : list of str
        Names of the classes.
    """

    plane: PlaneMap
    codes: Indices
    wrong: Any
    classes: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 500, ax: Any = None
    ) -> ProjectionDisplay:
        """Draw the plane of a fitted model with some samples.

        A model with one learned linear map (GRLVQ, GMLVQ, MRSLVQ) is shown in the two leading
        directions of its metric, as ``project`` gives them, less the mean of the prototypes. If
        the metric has more directions, the regions are those of points that are in all others
        where the mean of the prototypes is; that of a sample may be another. A metric with a
        single direction is completed by the direction in which the samples vary most, and a second
        direction that is too small to see is drawn larger. Two features are the plane themselves.
        Linear models are shown in the plane of their normals, other nearest-prototype models in
        that of their prototypes, and all others in that of the means of the predicted classes.

        Missing values are drawn where the origin of the plane is.

        Parameters
        ----------
        estimator : classifier, or Pipeline that ends in one
            The fitted model; a pipeline is shown in the space of its last step.
        resolution : int, default=500
            Points along each side for the decision regions.
        """
        before = estimator[:-1] if isinstance(estimator, Pipeline) and len(estimator) > 1 else None
        model, X = last_step(estimator, X)
        if not is_classifier(model):
            name = type(model).__name__
            raise TypeError(f"{name} is neither a classifier nor a Pipeline that ends in one.")
        check_is_fitted(model)
        y = known_labels(model, y)
        codes = np.searchsorted(model.classes_, y)
        return cls(
            plane=plane_map(model, X, feature_names(model, before), resolution, codes),
            codes=codes,
            wrong=model.predict(X) != y,
            classes=[str(label) for label in model.classes_],
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        ax, plane = axes_for(ax), self.plane
        colours = [colour(code) for code in range(len(self.classes))]
        levels = np.arange(len(colours) + 1) - 0.5
        across, up, regions = plane.grid
        ax.contourf(across, up, regions, levels=levels, colors=colours, alpha=0.15)
        ax.contour(across, up, regions, levels=levels[1:-1], colors="#666666", linewidths=0.8)
        for code, name in enumerate(self.classes):
            rows, look = plane.points[self.codes == code], {"color": colours[code], "lw": 0}
            ax.scatter(*rows.T, s=18, marker=class_marker(code), label=name, **look)
        wrong = plane.points[self.wrong]
        ax.scatter(*wrong.T, s=70, facecolors="none", edgecolors="k", label="wrong")
        star = {"s": 260, "marker": "*", "edgecolors": "k", "lw": 1.2, "zorder": 3}
        for code, center in zip(plane.prototype_codes, plane.prototypes, strict=True):
            ax.scatter(*center, color=colours[code], **star)
        ax.scatter([], [], s=160, marker="*", color="w", edgecolors="k", label=plane.star_name)
        name_axes(ax, plane.axis_names, plane.stretch)
        legend_beside(ax)
        return ax


class PlaneMap(NamedTuple):
    """What is drawn of a model in a plane."""

    points: Floats  # (n_samples, 2): the samples
    # (n_prototypes, 2): the prototypes; none if they do not lie among the samples.
    prototypes: Floats
    prototype_codes: Indices  # (n_prototypes,): their classes
    # Coordinates along both axes, and the class code at each crossing.
    grid: tuple[Floats, Floats, Indices]
    axis_names: tuple[str, str]  # what the axes are
    stretch: float  # how large the second axis is drawn, compared with the first
    # (n_samples,): the class of the region in which each sample is drawn.
    regions_at_points: Indices
    star_name: str  # what a star is
    view: Plane  # where the plane lies


def plane_map(
    model: Any, X: Any, names: list[str], resolution: int, codes: Indices | None = None
) -> PlaneMap:
    """Return the map of a model; ``names`` are those of its features.

    With the classes of the rows, a linear model has their means: its prototypes lie anywhere along
    the normal of its boundary.
    """
    X = X if issparse(X) else np.asarray(X, dtype=np.float64)
    with ignore_warnings(NO_FEATURE_NAMES):
        view = plane_of_model(model, X, names)
    centers, labels = prototypes_in_plane(model, X.shape[1])
    star_name = "prototype"
    if codes is not None and len(centers) and is_linear_rule(model):
        there, star_name = np.unique(codes), "mean of the class"
        centers = np.vstack([mean_of(X[codes == code]) for code in there])
        labels = model.classes_[there]
    points, prototypes = view.places(X), view.places(centers)
    both = np.vstack([points, prototypes])
    low, high = both.min(axis=0), both.max(axis=0)
    pad = MARGIN * (high - low) + 1e-12
    across, up = (np.linspace(a, b, resolution) for a, b in zip(low - pad, high + pad, strict=True))
    nodes = np.stack([z.ravel() for z in np.meshgrid(across, up)], axis=1)
    return PlaneMap(
        points,
        prototypes,
        np.searchsorted(model.classes_, labels),
        (across, up, regions_at(model, view, nodes).reshape(resolution, resolution)),
        view.axis_names,
        stretch_of(across, up) if view.flat else 1.0,
        regions_at(model, view, points),
        star_name,
        view,
    )


def regions_at(model: Any, view: Plane, places: Floats) -> Indices:
    """Return the class code at places of the plane, so many at a time as memory has room for."""
    size = max(AT_A_TIME // len(view.origin), 1)
    parts = [places[i : i + size] for i in range(0, len(places), size)]
    return np.concatenate([codes_at(model, view.rows(part)) for part in parts])


def prototypes_in_plane(model: Any, width: int) -> tuple[Floats, Any]:
    """Return the prototypes that lie among the samples, and their labels."""
    if hasattr(model, "prototypes_"):
        centers, labels = labelled_prototypes(model)
        if centers.shape[1] == width:
            return centers, labels
    return np.empty((0, width)), model.classes_[:0]


def codes_at(model: Any, rows: Floats) -> Indices:
    """Return the class code at each row, -1 where the distance of the model has no meaning."""
    distance = getattr(getattr(model, "rule_", None), "distance", None)
    codes, there = np.full(len(rows), -1), np.isfinite(rows).all(axis=1)
    if getattr(distance, "positive_only", False):
        there &= (rows >= 0.0).all(axis=1)
    if there.any():
        inside = np.ascontiguousarray(rows[there])
        codes[there] = codes_of_rows(model, inside)
    return codes


def codes_of_rows(model: Any, rows: Floats) -> Indices:
    """Return the classes of rows; of prototypes without the labels, which may be long texts."""
    if isinstance(model, NearestPrototypeClassifier):
        return model.rule_.codes(rows)
    with ignore_warnings(NO_FEATURE_NAMES):
        return np.searchsorted(model.classes_, model.predict(rows))


def stretch_of(across: Floats, up: Floats) -> float:
    """Return how large the second axis has to be drawn for a picture that one can look at."""
    ratio = np.ptp(up) / np.ptp(across)
    stretch = float(f"{np.clip(ratio, FLATTEST, STEEPEST) / ratio:.2g}")
    return stretch if max(stretch, 1.0 / stretch) > UNSEEN_STRETCH else 1.0


def name_axes(ax: Any, names: tuple[str, str], stretch: float) -> None:
    """Name the axes of a plane, of which the second may be drawn larger than the first."""
    size = "" if stretch == 1.0 else f"\ndrawn {stretch:g} times as large"
    ax.set(xlabel=names[0], ylabel=names[1] + size, aspect=stretch)


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
        return plane_of_rows(mean_of(X), normals, X, "scores")
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
    names = f"direction in which the {what} differ most", "direction at a right angle to it"
    return Plane(origin, directions, directions, names)


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
