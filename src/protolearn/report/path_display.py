"""Displays along a path of prototypes: how it nears other classifiers, and the distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._arrays import Floats, Indices
from .._names import class_name, number_repeats
from ..linear import PrototypePath
from .hyperplane import (
    Hyperplane,
    HyperplaneRows,
    check_path,
    hyperplane_at,
    hyperplane_of,
    path_step_name,
    with_prototypes,
)
from .style import Display, colour, line_style, number_drawn, panels_for, percent

CURVE = "convergence"  # by which a curve is known among the lines of an axes
# What differs, from the first panel to the last.
PANELS = ("of the prototypes", "of the unit normal", "of the offset $b/|w|$")
SIZE, IMAGES_SIZE = (5.6, 6.4), (8.0, 3.6)  # of figures in inches
MOST = 200  # number of steps that are drawn at most
SMALLEST = 1e-6  # share of the largest difference below which a curve is not followed


class PathDisplay(Display):
    """A picture of several panels."""

    def _keep(self, axes: Any) -> Self:
        """Keep the axes and their figure."""
        self.axes_ = axes
        return super()._keep(axes)


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay(PathDisplay):
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

    Attributes
    ----------
    axes_ : array of three matplotlib Axes
        Where it was drawn.
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


@dataclass(kw_only=True, eq=False, repr=False)
class DistancePathDisplay(PathDisplay):
    """How the distances of two classes to the hyperplane change along a path: an image a class.

    The black line is the way of the prototype. Make one with
    :meth:`DistanceDistributionDisplay.from_path`.

    Parameters
    ----------
    values : array of shape (n_steps,)
        What changes along the path.
    shares : array of shape (2, n_steps, n_bins)
        Share of the rows of each class in each bin.
    edges : array of shape (n_bins + 1,)
        Edges of the bins, distances to the hyperplane.
    prototypes : array of shape (n_steps, 2)
        Distances of the prototypes to the hyperplane.
    classes : list of str
        Names of the classes.
    parameter : str, default="C"
        What the values are.

    Attributes
    ----------
    axes_ : array of two matplotlib Axes
        Where it was drawn.
    """

    values: Floats
    shares: Floats
    edges: Floats
    prototypes: Floats
    classes: list[str]
    parameter: str = "C"

    @classmethod
    def of(
        cls, path: PrototypePath, what: HyperplaneRows, edges_of: Callable[[Floats], Floats]
    ) -> DistancePathDisplay:
        """Compute what is drawn of some rows."""
        kept = some_steps(np.where(path.coef.any(axis=1), path.values, np.nan))
        planes = [hyperplane_at(path, number) for number in kept]
        distances = np.stack([plane.distances(what.X) for plane in planes])
        edges = edges_of(distances)
        shares = [
            [np.histogram(row, edges)[0] / max(rows.shape[1], 1) for row in rows]
            for rows in (distances[:, what.codes == code] for code in range(2))
        ]
        return cls(
            values=path.values[kept],
            shares=np.array(shares),
            edges=edges,
            prototypes=np.stack([plane.distances(plane.prototypes) for plane in planes]),
            classes=what.hyperplane.names(),
            parameter=path.parameter,
        )

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        panels = panels_for(ax, 2, 2, sharex=True, sharey=True, figsize=IMAGES_SIZE)
        for code, panel in enumerate(panels):
            self._draw_image(panel, code)
        panels[0].set_ylabel(self.parameter)
        return panels

    def _draw_image(self, panel: Any, code: int) -> None:
        """Draw the image of one class."""
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("", ["white", colour(code)])
        image = panel.pcolormesh(
            self.edges,
            edges_between(self.values),
            self.shares[code],
            cmap=shades,
            vmin=0.0,
            vmax=self.shares.max(),
            rasterized=True,
        )
        panel.axvline(0.0, color="#666666", lw=1.2)
        panel.plot(self.prototypes[:, code], self.values, color="w", lw=4.0)
        panel.plot(self.prototypes[:, code], self.values, color="k", lw=1.6)
        if self.values.min() > 0.0:
            panel.set_yscale("log")
        panel.set(title=self.classes[code], xlabel="distance to the hyperplane")
        bar = panel.figure.colorbar(image, ax=panel, aspect=40, pad=0.02)
        bar.ax.locator_params(nbins=5)
        bar.ax.yaxis.set_major_formatter(percent)
        if code:
            bar.set_label("share of the class")


def some_steps(values: Floats) -> Indices:
    """Return the steps to draw in their order: all, or some spread evenly over the axis."""
    order = np.argsort(values, kind="stable")
    order = order[np.isfinite(values[order])]
    if len(order) <= MOST:
        return order
    place = axis_places(values[order])
    wanted = np.linspace(place[0], place[-1], MOST)
    return order[np.unique(np.abs(place - wanted[:, None]).argmin(axis=1))]


def axis_places(values: Floats) -> Floats:
    """Return where values are on their axis, which is logarithmic if that is possible."""
    return np.log(values) if values.min() > 0.0 else values


def edges_between(values: Floats) -> Floats:
    """Return the edges of rows of an image, halfway between values on its axis."""
    if len(values) == 1:
        return values[0] * np.array([0.5, 2.0]) if values[0] > 0.0 else values[0] + [-0.5, 0.5]
    place = axis_places(values)
    middle = 0.5 * (place[1:] + place[:-1])
    edges = np.r_[2.0 * place[0] - middle[0], middle, 2.0 * place[-1] - middle[-1]]
    return np.exp(edges) if values.min() > 0.0 else edges
