"""Squared Euclidean distance: ``|x - w|^2``, by matrix products.

With a point c among the data, ``|x - w|^2 = |x - c|^2 - 2 x.(w - c) + |w - c|^2 + 2 c.(w - c)``:
one product of the data as they are with the centred prototypes. Its rounding error grows with
``|c| / |w - c|``, not with the square of it as in the textbook expansion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats, Indices, as_floats
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, ROW, indices_matrix, matrix, matrix_out, native, types
from .distance import Distance, Finder, has_all_digits, least_of_rows
from .lost_digits import MANY, are_apart, distance_to_origin, restore_digits
from .mixins import BlockForm, FeatureTerms, Geometry, rounding_of_products

CHUNK = 1 << 17
"""Numbers that are copied at a time."""


class SquaredEuclidean(BlockForm, Geometry, FeatureTerms, Distance):
    """``|x - w|^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import SquaredEuclidean
    >>> nothing = np.empty(0)
    >>> SquaredEuclidean.pair(np.array([0.0, 0.0]), np.array([3.0, 4.0]), nothing)
    25.0
    """

    squared = True
    shows_nonfinite = True
    has_flat_boundaries = True

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        total = 0.0
        for j in range(x.size):
            r = x[j] - w[j]
            total += r * r
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivative by the prototype."""
        for j in range(x.size):
            gw[j] = 2.0 * (w[j] - x[j])

    @native(ROW)
    def row(x, W, theta, group, pair, out):
        """Write the distances of one sample to all prototypes, four at a time.

        The last four may overlap those before, so that equal prototypes have equal distances.
        """
        K = W.shape[0]
        for quarter in range((K + 3) // 4 if K > 3 else 0):
            k = min(4 * quarter, K - 4)
            a, b, c, d = W[k], W[k + 1], W[k + 2], W[k + 3]
            sum_a = sum_b = sum_c = sum_d = 0.0
            for j in range(x.size):
                r = x[j] - a[j]
                sum_a += r * r
                r = x[j] - b[j]
                sum_b += r * r
                r = x[j] - c[j]
                sum_c += r * r
                r = x[j] - d[j]
                sum_d += r * r
            out[k], out[k + 1], out[k + 2], out[k + 3] = sum_a, sum_b, sum_c, sum_d
        for k in range(K if K < 4 else 0):
            total = 0.0
            for j in range(x.size):
                r = x[j] - W[k, j]
                total += r * r
            out[k] = total

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return the squared difference of each feature."""
        return np.square(X - codebook.prototypes[prototype])

    def directions(self, codebook: Codebook) -> Floats:
        """Return the prototypes, relative to the centre."""
        return codebook.prototypes - codebook.center

    def steepness(self, codebook: Codebook) -> Floats:
        """Return ones: the triangle inequality."""
        return np.ones(len(codebook.prototypes))

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        return rounding_of_products(X, codebook, moved)

    def prepare(self, X: Any, codebook: Codebook) -> Floats:
        """Return the squared distance of each row to the centre."""
        norms = np.empty(len(X), dtype=X.dtype)
        rows = max(CHUNK // X.shape[1], 1)
        for start in range(0, len(X), rows):  # a copy of some rows at a time
            offset = X[start : start + rows] - codebook.center.astype(X.dtype, copy=False)
            np.einsum("ij,ij->i", offset, offset, out=norms[start : start + rows])
        return norms

    def factors(self, codebook: Codebook, dtype: Any) -> tuple[Any, Any]:
        """Return ``-2 (w - c)``, a prototype a column, and ``|w|^2 - |c|^2``, rounded to a type."""
        offset = codebook.prototypes - codebook.center
        norms = np.einsum("ij,ij->i", offset, offset) + 2.0 * (offset @ codebook.center)
        columns = np.empty(offset.shape, dtype)
        np.multiply(offset, -2.0, out=columns, casting="same_kind")
        return columns.T, norms.astype(dtype, copy=False)

    def terms_of(self, prepared: Any, codebook: Codebook) -> tuple[Any, float]:
        """Return what :func:`sizes` of the terms of rows follow from."""
        return prepared, distance_to_origin(codebook)

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, None]:
        """Return all distances, by one product, in the precision of X."""
        if prepared is None:
            prepared = self.prepare(X, codebook)
        columns, norms = self.factors(codebook, X.dtype)
        D = X @ columns
        D += norms
        D += prepared[:, None]
        np.maximum(D, 0.0, out=D)
        if has_all_digits(D, prepared, codebook):
            return D, None
        found = restore_digits(
            D,
            X,
            *self.terms_of(prepared, codebook),
            lambda rows: self.forward(rows, codebook)[0],
            lambda rows: Distance.pairwise(self, rows, codebook),
        )
        return found, None

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Any]:
        """Return the nearest prototype of each row, and a number that is finite if the row is."""
        return SquaredEuclidean.finder(self, codebook, X.dtype, X.shape[0])(X)

    def finder(self, codebook: Codebook, dtype: Any, n_rows: int) -> Finder:
        """Return the function that finds the nearest prototypes; norms of rows play no part in it.

        All digits are taken where prototypes are too near to each other for one product.
        """
        offset = codebook.prototypes - codebook.center
        few = n_rows < MANY * len(codebook.labels)
        if few or not are_apart(codebook, offset, offset, dtype):
            return lambda X: Distance.nearest(self, X, codebook)
        factors = self.factors(codebook, dtype)
        return lambda X: least_of_rows(relative(X, *factors))

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients while the rows are still in cache; no second product."""
        pull_differences(as_floats(X), codebook.prototypes, index, value, out.prototypes)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 (diag(G^T 1) W - G^T X)``."""
        share = G.T @ X
        np.subtract(G.sum(axis=0)[:, None] * codebook.prototypes, share, out=share)
        share *= 2.0
        out.prototypes[...] += share


def relative(X: Any, columns: Any, norms: Any) -> Any:
    """Return ``|x - w|^2 - |x - c|^2``, by one product in the precision of X."""
    D = X @ columns
    D += norms
    return D


@native(types.void(matrix, matrix, indices_matrix, matrix, matrix_out))
def pull_differences(X, W, index, value, gW):
    """Accumulate ``2 value (w - x)`` over the named entries of the distance matrix."""
    for i in range(X.shape[0]):
        x = X[i]
        for j in range(index.shape[1]):
            k, g = index[i, j], 2.0 * value[i, j]
            if g != 0.0:
                w, total = W[k], gW[k]
                for f in range(x.size):
                    total[f] += g * (w[f] - x[f])
