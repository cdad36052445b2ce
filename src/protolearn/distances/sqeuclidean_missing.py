"""Squared Euclidean distance of rows with missing values: over what is observed.

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
from .base import Distance, row_of_pairs
from .lost_digits import distance_to_origin, has_all_digits, restored
from .sqeuclidean import SquaredEuclidean


class PartialSquaredEuclidean(SquaredEuclidean):
    """``|x - w|^2`` over the observed features, times features / observed features.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import PartialSquaredEuclidean
    >>> x, w = np.array([0.0, np.nan]), np.array([3.0, 4.0])
    >>> PartialSquaredEuclidean.pair(x, w, np.empty(0))
    18.0
    """

    shows_nonfinite = False
    steep = True

    @native(PAIR)
    def pair(x, w, theta):
        """Give the distance of one sample to one prototype."""
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

    row = row_of_pairs

    def suited_to(self, X: Any) -> Distance:
        """Give itself for dense rows: complete ones are a special case."""
        return super().suited_to(X) if issparse(X) else self

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Give the squared difference of each feature, 0 where it is missing."""
        W = codebook.prototypes[prototype]
        offset, _, share = observed(X - W, np.zeros(X.shape[1]))
        return share[:, None] * offset**2

    def prepare(self, X: Floats, codebook: Codebook) -> None:
        """Prepare nothing."""

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Any:
        """Give all distances, by two products."""
        offset, known, share = observed(X, codebook.center)
        V = (codebook.prototypes - codebook.center).astype(X.dtype, copy=False)
        D = offset @ (-2.0 * V).T
        D += known @ np.square(V).T
        norms = np.einsum("ij,ij->i", offset, offset)
        D += norms[:, None]
        D *= share[:, None]
        np.maximum(D, 0.0, out=D)
        if has_all_digits(D, share * norms, codebook, float(np.sqrt(share.max(initial=0.0)))):
            return D
        return restored(
            D,
            X,
            share * norms,
            np.sqrt(share) * distance_to_origin(codebook),
            lambda rows: self.pairwise(rows, codebook),
            lambda rows: Distance.pairwise(self, rows, codebook),
        )

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Any]:
        """Give the nearest prototype of each row, and its distance."""
        return Distance.nearest(self, X, codebook)

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, given dL/dD at two prototypes of each row."""
        Distance.pull_winners(self, X, codebook, index, value, out)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 ((G'^T M) * V - G'^T Z)``, G' the rows of G times features / observed."""
        offset, known, share = observed(X, codebook.center)
        G = G * share[:, None]
        V = codebook.prototypes - codebook.center
        out.prototypes[...] += 2.0 * ((G.T @ known) * V - G.T @ offset)


def observed(X: Any, center: Floats) -> tuple[Any, Any, Any]:
    """Give the offsets from the centre, 0 where missing; where observed; features / observed."""
    offset = X - center.astype(X.dtype, copy=False)
    missing = np.isnan(offset)
    offset[missing] = 0.0
    known = (~missing).astype(X.dtype)
    with np.errstate(divide="ignore"):  # a row with nothing observed has no distance
        return offset, known, X.shape[1] / known.sum(axis=1)
