"""A picture of a linear classifier: two classes, two prototypes, a hyperplane, and their paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from .._names import class_name
from ..linear import PrototypePath
from .hyperplane import (
    PathInPlane,
    path_in_plane,
    path_step_name,
    rows_with_hyperplane,
    rows_with_path,
    with_prototypes,
)
from .projection_display import MARGIN, name_axes, stretch_of
from .style import LegendDisplay, axes_for, class_marker, colour

DARK = "#222222"
# How far from the middle a hyperplane is, as a share of the way between the prototypes, before
# its shift is told.
SEEN = 1e-3
POINT, STAR, FIRST_STAR = 20.0, 200.0, 110.0  # sizes of samples and prototypes
FEW = 200  # number of samples that are drawn in full size


@dataclass(kw_only=True, eq=False, repr=False)
class PrototypePathDisplay(LegendDisplay):
    """Two classes with the prototypes and the hyperplane of a linear classifier.

    Make one with :meth:`from_estimator` or :meth:`from_path`.

    Parameters
    ----------
    plane : PathInPlane
        The samples, the prototypes and the hyperplanes in the plane: ``points``, ``codes``,
        ``prototypes``, ``lines``, ``classes``, ``axis_names``.
    name : str, default=None
        What the title calls the model.
    """

    plane: PathInPlane
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        legend: bool = True,
        ax: Any = None,
    ) -> PrototypePathDisplay:
        """Draw a fitted linear classifier of two classes.

        Two features are the axes. With more, the first axis is the distance to the hyperplane,
        along the line through the prototypes, and the second the first principal axis of the
        samples orthogonal to it; the hyperplane is seen edge on. A model with a ``path_`` is drawn
        as by :meth:`from_path`.

        Parameters
        ----------
        model : linear classifier of protolearn, Pipeline that ends in one, or LinearPrototypes
            The fitted model; a pipeline is shown in the space of its last step. Of another linear
            classifier give what :func:`~protolearn.generalized_prototypes` finds.
        """
        what = rows_with_hyperplane(model, X, y)
        with_prototypes(what.hyperplane, class_name(model))
        name = class_name(model) if name is None else name
        return cls(plane=path_in_plane(what), name=name).plot(ax=ax, legend=legend)

    @classmethod
    def from_path(
        cls,
        path: PrototypePath,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        legend: bool = True,
        ax: Any = None,
    ) -> PrototypePathDisplay:
        """Draw how the prototypes move along a path, with the first and the last hyperplane.

        Two features are the axes. With more, the plane is that of the first and the last normal, in
        which both hyperplanes are seen edge on.

        Parameters
        ----------
        name : str, default=None
            The title.
        """
        what = rows_with_path(path, X, y)
        return cls(plane=path_in_plane(what), name=name).plot(ax=ax, legend=legend)

    @property
    def stretch(self) -> float:
        """How large the second axis is drawn, compared with the first."""
        extent = np.vstack([self.plane.points, *self.plane.prototypes])
        return stretch_of(*extent.T) if np.ptp(extent, axis=0).all() else 1.0

    @property
    def _steps(self) -> tuple[str, ...]:
        """What the first and the last step of a path are called."""
        path = self.plane.path
        return () if path is None else (path_step_name(path, 0), path_step_name(path, -1))

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        alone, ax = ax is None, axes_for(ax)
        if alone:
            ax.figure.set_layout_engine("compressed")  # fits axes of equal units beside a legend
        self._draw_sides(ax)
        size = POINT * np.clip(np.sqrt(FEW / max(len(self.plane.points), 1)), 0.25, 1.0)
        for code, name in enumerate(self.plane.classes):
            rows, look = (
                self.plane.points[self.plane.codes == code],
                {"color": colour(code), "lw": 0},
            )
            ax.scatter(*rows.T, s=size, marker=class_marker(code), alpha=0.7, **look)
            ax.scatter([], [], s=POINT, marker=class_marker(code), label=name, **look)
        self._draw_hyperplanes(ax)
        self._draw_prototypes(ax)
        ax.set_title(self._title())
        name_axes(ax, self.plane.axis_names, self.stretch)
        if not self.plane.axis_names[1]:
            ax.set_yticks([])  # a single feature
        return ax

    def _title(self) -> str:
        """Return the title: the name, and the shift unless the hyperplane is in the middle."""
        between = np.diff(self.plane.prototypes[-1], axis=0)
        told = not self._steps and abs(self.plane.shift) > 2.0 * SEEN * float(np.sum(between**2))
        parts = [self.name or "", f"S = {self.plane.shift:.2g}" if told else ""]
        return ", ".join(filter(None, parts))

    def _draw_sides(self, ax: Any) -> None:
        """Colour both sides of the hyperplane."""
        extent = np.vstack([self.plane.points, *self.plane.prototypes])
        low, high = extent.min(axis=0), extent.max(axis=0)
        size = np.where(high > low, high - low, (high - low).max() or 1.0)
        pad = MARGIN * size
        across, up = np.stack([low - pad, high + pad], axis=1)
        u, v, c = self.plane.lines[-1]
        score = u * across + v * up[:, None] + c  # linear, so that the corners are enough
        most = float(np.abs(score).max())
        levels = [-2.0 * most, 0.0, 2.0 * most]
        ax.contourf(across, up, score, levels=levels, colors=[colour(0), colour(1)], alpha=0.12)
        ax.set(xlim=across, ylim=up)

    def _draw_hyperplanes(self, ax: Any) -> None:
        """Draw the lines, that of the first step faint."""
        names = [", ".join(("hyperplane", step)) for step in self._steps] or ["hyperplane"]
        looks: list[dict[str, Any]] = [{"lw": 1.0, "ls": "--", "alpha": 0.6}, {"lw": 1.6}]
        lines = self.plane.lines[[0, -1]] if self._steps else self.plane.lines
        middle = self.plane.prototypes[-1].mean(axis=0)
        for line, name, look in zip(lines, names, looks[-len(names) :], strict=True):
            normal, c = line[:2], line[2]
            if not normal.any():
                continue  # a path may begin with the same prototype for both classes
            foot = middle - normal * (middle @ normal + c) / (normal @ normal)
            ax.axline(foot, foot + normal[::-1] * (-1.0, 1.0), color=DARK, label=name, **look)

    def _draw_prototypes(self, ax: Any) -> None:
        """Draw the prototypes, and how they came there."""
        first, last = self.plane.prototypes[0], self.plane.prototypes[-1]
        ax.plot(*last.T, color=DARK, lw=0.8, ls=":", zorder=2.5)
        for code in range(2):
            if self._steps:
                for width, shade in ((4.0, "w"), (1.6, DARK)):
                    ax.plot(*self.plane.prototypes[:, code].T, color=shade, lw=width, zorder=3)
                star(ax, first[code], FIRST_STAR, "w")
            star(ax, last[code], STAR, colour(code))
        names = [f"prototype, {step}" for step in self._steps] or ["prototype"]
        shades = ["w"] if not self._steps else ["w", "#999999"]
        for name, shade in zip(names, shades, strict=True):
            ax.scatter([], [], s=FIRST_STAR, marker="*", color=shade, edgecolors="k", label=name)


def star(ax: Any, place: Floats, size: float, shade: str) -> None:
    """Draw a prototype, with a halo that sets it off from samples of the same colour."""
    ax.scatter(*place, s=2.2 * size, marker="*", color="w", lw=0, zorder=4)
    ax.scatter(*place, s=size, marker="*", color=shade, edgecolors="k", lw=1.0, zorder=4)
