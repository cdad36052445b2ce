"""The distances of two classes to a hyperplane: all that a linear classifier sees of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .._names import class_name
from .._validation import integer_in
from ..linear import PrototypePath
from .hyperplane import HyperplaneRows, hyperplane_at, rows_with_hyperplane, rows_with_path
from .style import Display, LegendDisplay, axes_for, colour, panels_for, percent

IMAGES_SIZE = 8.0, 3.6  # of figures in inches
MOST = 200  # number of steps that are drawn at most
GREY = "#666666"
WIDE = 7.4, 4.0  # size of a figure in inches, which has room for a legend beside the axes


@dataclass(kw_only=True, eq=False, repr=False)
class DistanceDistributionDisplay(LegendDisplay):
    """Histograms of the signed distances of two classes to the hyperplane between them.

    The hyperplane is at zero and the second class should be on its right. Make one with
    :meth:`from_estimator`; :meth:`from_path` draws the distributions along a path.

    Parameters
    ----------
    distances : array of shape (n_samples,)
        ``(w.x + b) / |w|``.
    codes : array of shape (n_samples,)
        Classes of the samples, 0 or 1.
    classes : list of str
        Names of the classes.
    edges : array of shape (n_bins + 1,)
        Edges of the bins, for both classes.
    prototypes : array of shape (2,), default=None
        Distances of the prototypes.
    name : str, default=None
        The title.
    """

    distances: Floats
    codes: Indices
    classes: list[str]
    edges: Floats
    prototypes: Floats | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        bins: Any = 30,
        name: str | None = None,
        legend: bool = True,
        ax: Any = None,
    ) -> DistanceDistributionDisplay:
        """Draw the distances to the hyperplane of a fitted linear classifier of two classes.

        Parameters
        ----------
        model : linear classifier, Pipeline that ends in one, or LinearPrototypes
            A fitted one, of protolearn or of scikit-learn, with ``coef_`` and ``intercept_``. In a
            pipeline distances are those of the space of the last step. Prototypes are shown if
            there are any; :func:`~protolearn.generalized_prototypes` finds those of all others.
        """
        what = rows_with_hyperplane(model, X, y)
        plane = what.hyperplane
        distances = plane.distances(what.X)
        return cls(
            distances=distances,
            codes=what.codes,
            classes=plane.names(),
            edges=edges_of(distances, bins),
            prototypes=None if plane.prototypes is None else plane.distances(plane.prototypes),
            name=class_name(model) if name is None else name,
        ).plot(ax=ax, legend=legend)

    @classmethod
    def from_path(
        cls, path: PrototypePath, X: Any, y: Any, *, bins: Any = 60, ax: Any = None
    ) -> DistancePathDisplay:
        """Draw how the distributions change along a path: an image for each class."""
        what = rows_with_path(path, X, y)
        return DistancePathDisplay.of(path, what, bins).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        alone, ax = ax is None, axes_for(ax)
        if alone:
            ax.figure.set_size_inches(WIDE)
        for code, name in enumerate(self.classes):
            own = self.distances[self.codes == code]
            share = np.histogram(own, self.edges)[0] / max(len(own), 1)
            wrong = float(np.mean((own > 0.0) != bool(code))) if len(own) else 0.0
            label = f"{name}: {100.0 * wrong:.1f} % wrong"
            ax.stairs(share, self.edges, fill=True, color=colour(code), alpha=0.35)
            ax.stairs(share, self.edges, color=colour(code), lw=1.4, label=label)
            if self.prototypes is not None:
                ax.axvline(self.prototypes[code], color=colour(code), ls=":", lw=2.0)
        ax.axvline(0.0, color=GREY, lw=1.2, label="hyperplane")
        if self.prototypes is not None:
            ax.plot([], [], color=GREY, ls=":", lw=2.0, label="prototypes")
        ax.set(xlabel="distance to the hyperplane", ylabel="share of the class", title=self.name)
        ax.yaxis.set_major_formatter(percent)
        return ax


def edges_of(distances: Floats, bins: Any) -> Floats:
    """Return the edges of the bins; a number of bins is laid out from zero on both sides."""
    if isinstance(bins, (str, Sequence, np.ndarray)):
        return np.asarray(np.histogram_bin_edges(distances, bins), dtype=np.float64)
    count = integer_in(bins, "bins={value!r}", 1)
    width = float(np.ptp(distances) or 1.0) / count
    low, high = np.floor(distances.min() / width), np.ceil(distances.max() / width)
    return width * np.arange(low, max(high, low + 1.0) + 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class DistancePathDisplay(Display):
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
    """

    values: Floats
    shares: Floats
    edges: Floats
    prototypes: Floats
    classes: list[str]
    parameter: str = "C"

    @classmethod
    def of(cls, path: PrototypePath, what: HyperplaneRows, bins: Any) -> DistancePathDisplay:
        """Compute what is drawn of some rows."""
        kept = some_steps(np.where(path.coef.any(axis=1), path.values, np.nan))
        planes = [hyperplane_at(path, number) for number in kept]
        distances = np.stack([plane.distances(what.X) for plane in planes])
        edges = edges_of(distances, bins)
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
