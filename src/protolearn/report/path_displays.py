"""Pictures of linear classifiers and their paths: in the plane, and how they near others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats
from .._names import class_name, number_repeats
from ..linear import PrototypePath
from .hyperplane import (
    Hyperplane,
    PathInPlane,
    check_path,
    hyperplane_at,
    hyperplane_of,
    path_in_plane,
    path_step_name,
    rows_with_hyperplane,
    rows_with_path,
    with_prototypes,
)
from .projection_display import MARGIN, name_axes, stretch_of
from .style import (
    Display,
    LegendDisplay,
    axes_for,
    class_marker,
    colour,
    line_style,
    number_drawn,
    panels_for,
)

CURVE = "convergence"  # by which a curve is known among the lines of an axes
# What differs, from the first panel to the last.
PANELS = ("of the prototypes", "of the unit normal", "of the offset $b/|w|$")
SMALLEST = 1e-6  # share of the largest difference below which a curve is not followed


SIZE = 5.6, 6.4  # of a figure in inches
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


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay(Display):
    """How far the steps of a path are from other linear classifiers, in three panels.

    Make one with :meth:`from_path`.

    Parameters
    ----------
    values : array of shape (n_steps,)
        What changes along the path.
    differences : dict of str to array of shape (3, n_steps)
        For each classifier, by its name in the legend, how far the path is from it: the norm of the
        difference of the prototypes, of both together, and of the unit normals ``w / |w|`` of the
        hyperplanes, and the difference of their offsets ``b / |w|``, the distances from the origin.
    parameter : str, default="C"
        What the values are.
    """

    values: Floats
    differences: Mapping[str, Floats]
    parameter: str = "C"

    @classmethod
    def from_path(
        cls,
        path: PrototypePath,
        *,
        start: Any = None,
        end: Any = None,
        name: Any = None,
        ax: Any = None,
    ) -> ConvergenceDisplay:
        """Draw how far each step of a path is from where it should begin, and end.

        Parameters
        ----------
        start, end : linear classifier of protolearn, or LinearPrototypes, default=None
            Fitted models of the same classes and features, for example
            :class:`~protolearn.MeanOfClass` and :class:`~protolearn.HardMarginSVM`. None: the first
            step of the path, or the last.
        name : tuple of two str, default=None
            What the legend calls them; None: their classes.
        """
        check_path(path)
        names, targets = [], []
        for model, number in ((start, 0), (end, -1)):
            names.append(path_step_name(path, number) if model is None else class_name(model))
            targets.append(
                hyperplane_at(path, number) if model is None else target_hyperplane(path, model)
            )
        if name is not None:
            names = [str(each) for each in name] if not isinstance(name, str) else [name]
            if len(names) != 2 or names[0] == names[1]:
                raise ValueError(f"name={name!r} must be two different names, of start and end.")
        order = np.argsort(path.values, kind="stable")
        differences = {
            each: path_differences(path, other)[:, order]
            for each, other in zip(number_repeats(names), targets, strict=True)
        }
        return cls(
            values=path.values[order], differences=differences, parameter=path.parameter
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        panels = panels_for(ax, 3, 1, sharex=True, figsize=SIZE)
        for which, panel in enumerate(panels):
            self._draw_differences(panel, which)
        panels[-1].set_xlabel(self.parameter)
        # Above, since one curve falls and the other rises: there is no free corner.
        panels[0].legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        return panels

    def _draw_differences(self, panel: Any, which: int) -> None:
        """Draw one kind of difference."""
        first = number_drawn(panel, CURVE)
        for i, (name, difference) in enumerate(self.differences.items(), start=first):
            look = {"color": colour(i), "ls": line_style(i), "gid": CURVE}
            single = "o" if len(self.values) == 1 else None  # a line of one point is unseen
            panel.plot(self.values, difference[which], label=f"to {name}", marker=single, **look)
        drawn = np.concatenate([line.get_ydata() for line in panel.lines])
        largest = np.nanmax(drawn, initial=0.0)
        if largest > 0.0:
            panel.set_yscale("log")
            smallest = drawn[drawn > SMALLEST * largest].min()
            panel.set_ylim(0.6 * smallest, 1.7 * largest)
        if self.values.min() > 0.0:
            panel.set_xscale("log")
        panel.set_ylabel(f"difference\n{PANELS[which]}")


def target_hyperplane(path: PrototypePath, model: Any) -> Hyperplane:
    """Return the hyperplane of a classifier that a path is compared with."""
    found, name = hyperplane_of(model), class_name(model)
    with_prototypes(found, name)
    if found.coef.shape != path.coef.shape[1:]:
        raise ValueError(
            f"{name} has {len(found.coef)} features, the path {path.coef.shape[1]}; fit them to "
            "the same data."
        )
    if path.classes[0] is not None and list(found.classes_) != list(path.classes):
        raise ValueError(
            f"{name} has the classes {found.classes_.tolist()!r}, the path "
            f"{path.classes.tolist()!r}; fit them to the same labels."
        )
    return found


def path_differences(path: PrototypePath, other: Hyperplane) -> Floats:
    """Return how far each step is from a hyperplane: prototypes, unit normal and offset."""
    apart = (path.prototypes - np.asarray(other.prototypes)).reshape(len(path), -1)
    normals, offsets = unit_normals(path.coef, path.intercept)
    normal, offset = unit_normals(other.coef[None], np.array([other.intercept]))
    return np.stack(
        [
            np.linalg.norm(apart, axis=1),
            np.linalg.norm(normals - normal, axis=1),
            np.abs(offsets - offset),
        ]
    )


def unit_normals(coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """Return hyperplanes with unit normals; NaN where there is none."""
    size = np.linalg.norm(coef, axis=1)
    size = np.where(size > 0.0, size, np.nan)
    return coef / size[:, None], intercept / size
