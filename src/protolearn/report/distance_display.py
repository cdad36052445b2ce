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
from .hyperplane import rows_with_hyperplane, rows_with_path
from .path_display import DistancePathDisplay
from .style import LegendDisplay, axes_for, colour, percent

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
        return DistancePathDisplay.of(path, what, lambda found: edges_of(found, bins)).plot(ax=ax)

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
