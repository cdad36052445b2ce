"""A picture of a model: samples, prototypes and decision regions in two dimensions."""

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
from .plane import Plane, mean_of, plane_of_model
from .style import Display, axes_for, class_marker, colour, legend_beside

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
    points : array of shape (n_samples, 2)
        The samples in the plane.
    codes : array of shape (n_samples,)
        Their classes, as indices of ``classes``.
    prototypes : array of shape (n_prototypes, 2)
        The prototypes in the plane; of a linear model the means of the classes.
    prototype_codes : array of shape (n_prototypes,)
        Their classes.
    wrong : array of bool of shape (n_samples,)
        Which samples the model gets wrong.
    grid : tuple of arrays
        Coordinates along both axes, and the class code at each crossing.
    classes : list of str
        Names of the classes.
    axis_names : tuple of two str, default=("first direction", "second direction")
        What the axes are.
    stretch : float, default=1.0
        How large the second axis is drawn, compared with the first.
    star_name : str, default="prototype"
        What a star is; of a linear model, "mean of the class".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    points: Floats
    codes: Indices
    prototypes: Floats
    prototype_codes: Indices
    wrong: Any
    grid: tuple[Floats, Floats, Indices]
    classes: list[str]
    axis_names: tuple[str, str] = ("first direction", "second direction")
    stretch: float = 1.0
    star_name: str = "prototype"

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
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        resolution : int, default=500
            Points along each side for the decision regions.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ProjectionDisplay
        """
        before = estimator[:-1] if isinstance(estimator, Pipeline) and len(estimator) > 1 else None
        model, X = last_step(estimator, X)
        if not is_classifier(model):
            name = type(model).__name__
            raise TypeError(f"{name} is no classifier, or a Pipeline that ends in one.")
        check_is_fitted(model)
        y = known_labels(model, y)
        codes = np.searchsorted(model.classes_, y)
        found = plane_map(model, X, feature_names(model, before), resolution, codes)
        return cls(
            points=found.points,
            codes=codes,
            prototypes=found.prototypes,
            prototype_codes=found.prototype_codes,
            wrong=model.predict(X) != y,
            grid=found.grid,
            classes=[str(label) for label in model.classes_],
            axis_names=found.axis_names,
            stretch=found.stretch,
            star_name=found.star_name,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        ax = axes_for(ax)
        colours = [colour(code) for code in range(len(self.classes))]
        levels = np.arange(len(colours) + 1) - 0.5
        across, up, regions = self.grid
        ax.contourf(across, up, regions, levels=levels, colors=colours, alpha=0.15)
        ax.contour(across, up, regions, levels=levels[1:-1], colors="#666666", linewidths=0.8)
        for code, name in enumerate(self.classes):
            rows, look = self.points[self.codes == code], {"color": colours[code], "lw": 0}
            ax.scatter(*rows.T, s=18, marker=class_marker(code), label=name, **look)
        wrong = self.points[self.wrong]
        ax.scatter(*wrong.T, s=70, facecolors="none", edgecolors="k", label="wrong")
        star = {"s": 260, "marker": "*", "edgecolors": "k", "lw": 1.2, "zorder": 3}
        for code, center in zip(self.prototype_codes, self.prototypes, strict=True):
            ax.scatter(*center, color=colours[code], **star)
        ax.scatter([], [], s=160, marker="*", color="w", edgecolors="k", label=self.star_name)
        name_axes(ax, self.axis_names, self.stretch)
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
