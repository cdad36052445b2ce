"""The prototypes' own plane: samples, prototypes and decision regions in two dimensions.

The plane is spanned by the two leading directions of the prototypes. With squared Euclidean
distance and up to three prototypes it is no approximation: a decision depends on the projection of
the sample on this plane alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import Floats, Indices
from ..analysis.margins import known_labels, last_step
from .style import axes_for, colour, mark

MARGIN = 0.08


class ProjectionDisplay:
    """Samples, prototypes and decision regions in the plane of the prototypes.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The samples in the plane.
    codes : array of shape (n_samples,)
        Their classes, as indices of ``classes``.
    prototypes : array of shape (n_prototypes, 2)
        The prototypes in the plane.
    prototype_codes : array of shape (n_prototypes,)
        Their classes.
    wrong : array of bool of shape (n_samples,)
        Which samples the model gets wrong.
    grid : tuple of arrays
        Coordinates along both axes, and the class code at each crossing.
    classes : list of str
        Names of the classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    def __init__(
        self,
        *,
        points: Floats,
        codes: Indices,
        prototypes: Floats,
        prototype_codes: Indices,
        wrong: Any,
        grid: tuple[Floats, Floats, Indices],
        classes: list[str],
    ):
        self.points = points
        self.codes = codes
        self.prototypes = prototypes
        self.prototype_codes = prototype_codes
        self.wrong = wrong
        self.grid = grid
        self.classes = classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 500, ax: Any = None
    ) -> ProjectionDisplay:
        """Draw the plane of a fitted model with some samples.

        Parameters
        ----------
        estimator : nearest-prototype classifier, or Pipeline that ends in one
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
        model, X = last_step(estimator, X)
        wrong = model.predict(X) != known_labels(model, y)
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        origin, directions = plane(model.prototypes_, X)
        points = (X - origin) @ directions.T
        prototypes = (model.prototypes_ - origin) @ directions.T
        both = np.vstack([points, prototypes])
        low, high = both.min(axis=0), both.max(axis=0)
        pad = MARGIN * (high - low) + 1e-12
        across, up = (
            np.linspace(a, b, resolution) for a, b in zip(low - pad, high + pad, strict=True)
        )
        nodes = np.stack([z.ravel() for z in np.meshgrid(across, up)], axis=1)
        regions = model._codes(origin + nodes @ directions)
        return cls(
            points=points,
            codes=np.searchsorted(model.classes_, y),
            prototypes=prototypes,
            prototype_codes=np.searchsorted(model.classes_, model.prototype_labels_),
            wrong=wrong,
            grid=(across, up, regions.reshape(resolution, resolution)),
            classes=[str(label) for label in model.classes_],
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ProjectionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ProjectionDisplay
        """
        ax = axes_for(ax)
        colours = [colour(code) for code in range(len(self.classes))]
        levels = np.arange(len(colours) + 1) - 0.5
        across, up, regions = self.grid
        ax.contourf(across, up, regions, levels=levels, colors=colours, alpha=0.15)
        ax.contour(across, up, regions, levels=levels[1:-1], colors="#666666", linewidths=0.8)
        for code, name in enumerate(self.classes):
            rows = self.points[self.codes == code]
            ax.scatter(*rows.T, s=18, marker=mark(code), color=colours[code], label=name, lw=0)
        ax.scatter(
            *self.points[self.wrong].T, s=70, facecolors="none", edgecolors="k", label="wrong"
        )
        for code, center in zip(self.prototype_codes, self.prototypes, strict=True):
            ax.scatter(
                *center, s=260, marker="*", color=colours[code], edgecolors="k", lw=1.2, zorder=3
            )
        ax.scatter([], [], s=160, marker="*", color="w", edgecolors="k", label="prototype")
        ax.set(xlabel="first direction of the prototypes", ylabel="second direction")
        ax.set_aspect("equal")
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plane(prototypes: Floats, X: Floats) -> tuple[Floats, Floats]:
    """Give a point and two orthonormal directions: of the prototypes, completed by the data."""
    origin = prototypes.mean(axis=0)
    spread = prototypes - origin
    directions = _leading(spread, 2)
    if len(directions) < 2:
        rest = X - X.mean(axis=0)
        rest = rest - rest @ directions.T @ directions
        directions = np.vstack([directions, _leading(rest, 2 - len(directions))])
    missing = 2 - len(directions)
    return origin, np.pad(directions, ((0, missing), (0, 0)))


def _leading(rows: Floats, count: int) -> Floats:
    """Give up to ``count`` principal directions of the rows that have any extent."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[: int(min(count, np.sum(sizes > 1e-10 * max(sizes[0], 1e-300))))]
