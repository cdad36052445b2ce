"""Images of the distances to a hyperplane along a path of prototypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from ..linear import PrototypePath
from .hyperplane import Shown, step
from .style import colour, panels_for, percent

SIZE = 8.0, 3.6
"""Size of a figure in inches."""

MOST = 200
"""Number of steps that are drawn at most."""


class DistancePathDisplay:
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
    figure_ : matplotlib Figure
        Their figure.
    """

    def __init__(
        self,
        *,
        values: Floats,
        shares: Floats,
        edges: Floats,
        prototypes: Floats,
        classes: list[str],
        parameter: str = "C",
    ):
        self.values = values
        self.shares = shares
        self.edges = edges
        self.prototypes = prototypes
        self.classes = classes
        self.parameter = parameter

    @classmethod
    def of(
        cls, path: PrototypePath, what: Shown, edges_of: Callable[[Floats], Floats]
    ) -> DistancePathDisplay:
        """Compute what is drawn of some rows."""
        kept = some_steps(np.where(path.coef.any(axis=1), path.values, np.nan))
        planes = [step(path, number) for number in kept]
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

    def plot(self, *, ax: Any = None) -> DistancePathDisplay:
        """Draw.

        Parameters
        ----------
        ax : array-like of two matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : DistancePathDisplay
        """
        panels = panels_for(ax, 1, 2, sharex=True, sharey=True, figsize=SIZE)
        for code, panel in enumerate(panels):
            self._draw(panel, code)
        panels[0].set_ylabel(self.parameter)
        self.axes_, self.figure_ = panels, panels[0].figure
        return self

    def _draw(self, panel: Any, code: int) -> None:
        """Draw the image of one class."""
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("", ["white", colour(code)])
        image = panel.pcolormesh(
            self.edges,
            between(self.values),
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
    place = places(values[order])
    wanted = np.linspace(place[0], place[-1], MOST)
    return order[np.unique(np.abs(place - wanted[:, None]).argmin(axis=1))]


def places(values: Floats) -> Floats:
    """Return where values are on their axis, which is logarithmic if that is possible."""
    return np.log(values) if values.min() > 0.0 else values


def between(values: Floats) -> Floats:
    """Return the edges of rows of an image, halfway between values on its axis."""
    if len(values) == 1:
        return values[0] * np.array([0.5, 2.0]) if values[0] > 0.0 else values[0] + [-0.5, 0.5]
    place = places(values)
    middle = 0.5 * (place[1:] + place[:-1])
    edges = np.r_[2.0 * place[0] - middle[0], middle, 2.0 * place[-1] - middle[-1]]
    return np.exp(edges) if values.min() > 0.0 else edges
