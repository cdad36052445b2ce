"""Distances of rows with missing values: over what is observed.

``d / o * sum over the o observed features of (x_j - w_j)^2``: the mean of the observed terms stands
for those that are missing. With z the offset of x from a point c among the data, 0 where missing,
v that of w, and M the matrix that is 1 where a value is observed,
``sum = |z|^2 - 2 z.v + M v^2``: two products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, native
from .base import Distance
from .lost_digits import distance_to_origin, has_all_digits, restore_digits
from .mixins import FeatureTerms, Geometry
from .relevance import DiagonalMetric


class PartialSquaredEuclidean(FeatureTerms, Distance):
    """``|x - w|^2`` over the observed features, times features / observed features.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import PartialSquaredEuclidean
    >>> x, w = np.array([0.0, np.nan]), np.array([3.0, 4.0])
    >>> PartialSquaredEuclidean.pair(x, w, np.empty(0))
    18.0
    """

    squared = True
    steep = True

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        total, observed = 0.0, 0
        for j in range(x.size):
            known = x[j] == x[j]
            r = x[j] - w[j] if known else 0.0
            observed += 1 if known else 0
            total += r * r
        return total * x.size / observed

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivative by the prototype; missing features do not move it."""
        observed = 0
        for j in range(x.size):
            observed += 1 if x[j] == x[j] else 0
        share = 2.0 * x.size / observed
        for j in range(x.size):
            gw[j] = share * (w[j] - x[j]) if x[j] == x[j] else 0.0

    def suited_to(self, X: Any) -> Distance:
        """Return itself for dense rows: complete ones are a special case."""
        return super().suited_to(X) if issparse(X) else self

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return the squared difference of each feature, 0 where it is missing."""
        W = codebook.prototypes[prototype]
        offset, _, share = split_observed(X - W, np.zeros(X.shape[1]))
        return share[:, None] * offset**2

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Any:
        """Return all distances, by two products."""
        offset, known, share = split_observed(X, codebook.center)
        V = (codebook.prototypes - codebook.center).astype(X.dtype, copy=False)
        D = offset @ (-2.0 * V).T
        D += known @ np.square(V).T
        norms = np.einsum("ij,ij->i", offset, offset)
        D += norms[:, None]
        D *= share[:, None]
        np.maximum(D, 0.0, out=D)
        if has_all_digits(D, share * norms, codebook, float(np.sqrt(share.max(initial=0.0)))):
            return D
        return restore_digits(
            D,
            X,
            share * norms,
            np.sqrt(share) * distance_to_origin(codebook),
            lambda rows: self.pairwise(rows, codebook),
            lambda rows: Distance.pairwise(self, rows, codebook),
        )

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 ((G'^T M) * V - G'^T Z)``, G' the rows of G times features / observed."""
        offset, known, share = split_observed(X, codebook.center)
        G = G * share[:, None]
        V = codebook.prototypes - codebook.center
        out.prototypes[...] += 2.0 * ((G.T @ known) * V - G.T @ offset)


class PartialRelevance(DiagonalMetric):
    """The relevance distance over the observed features, times features / observed features.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.
    """

    # The boundaries, and sums over rows, depend on the features that each row has.
    directions, steepness = Geometry.directions, Geometry.steepness
    nearest, pull_rows = Distance.nearest, Distance.pull_rows
    pull_winners = Distance.pull_winners

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        total, observed = 0.0, 0
        for j in range(x.size):
            known = x[j] == x[j]
            r = theta[j] * (x[j] - w[j]) if known else 0.0
            observed += 1 if known else 0
            total += r * r
        return total * x.size / observed

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives; what is missing moves nothing."""
        observed = 0
        for j in range(x.size):
            observed += 1 if x[j] == x[j] else 0
        share = 2.0 * x.size / observed
        for j in range(x.size):
            r = w[j] - x[j] if x[j] == x[j] else 0.0
            gw[j] = share * theta[j] * theta[j] * r
            gtheta[j] = share * theta[j] * r * r

    def suited_to(self, X: Any) -> Distance:
        """Return itself for dense rows: complete ones are a special case."""
        return super().suited_to(X) if issparse(X) else self

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Return all distances, by two products."""
        rows, known, share = split_observed(X, np.zeros(X.shape[1]))
        Z, V = self.mapped(rows, row), self.mapped(W, row).astype(X.dtype, copy=False)
        D = Z @ (-2.0 * V).T
        D += known @ np.square(V).T
        norms = np.einsum("ij,ij->i", Z, Z)
        D += norms[:, None]
        D *= share[:, None]
        return D, share * norms, None

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return what each feature adds, 0 where it is missing."""
        e, _, share = split_observed(X - codebook.prototypes[prototype], np.zeros(X.shape[1]))
        return share[:, None] * np.square(e * codebook.metric[codebook.group[prototype]])


def split_observed(X: Any, center: Floats) -> tuple[Any, Any, Any]:
    """Return offsets from the centre, 0 where missing; where observed; features / observed."""
    offset = X - center.astype(X.dtype, copy=False)
    missing = np.isnan(offset)
    offset[missing] = 0.0
    known = (~missing).astype(X.dtype)
    with np.errstate(divide="ignore"):  # a row with nothing observed has no distance
        return offset, known, X.shape[1] / known.sum(axis=1)
