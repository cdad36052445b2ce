"""Relevance learning: ``sum_j lambda_j (x_j - w_j)^2``, ``lambda = l^2``, sum one.

The parameters are the roots l, a vector of norm one. A feature that never varies starts, and so
stays, with relevance zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, varying
from ..native import GRADIENT, PAIR, indices_matrix, matrix, matrix_out, native, types, vector_out
from .distance import starts_from
from .linear_metric import LinearMetric


class DiagonalMetric(LinearMetric):
    """A map that weighs each feature: what the relevance distances of all kinds of rows share."""

    @starts_from("ranges")
    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return equal relevances for all features that vary."""
        roots = varying(X).astype(np.float64)
        return np.tile(roots / np.linalg.norm(roots), (n_groups, 1))

    @starts_from("ranges")
    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return equal relevances for all features, where some may begin to vary later."""
        roots = super().start(X, y, weight, labels)
        return np.full_like(roots, 1.0 / np.sqrt(X.shape[1])) if stream else roots

    def map_rows(self, X: Any, row: Floats) -> Any:
        """Return every feature times the root of its relevance."""
        return X * row.astype(X.dtype, copy=False)

    def map_back(self, Z: Floats, row: Floats) -> Floats:
        """Return the features of Z times the same roots."""
        return Z * row

    def omega(self, row: Floats, n_features: int) -> Floats:
        """Return the diagonal matrix of the roots."""
        return np.diag(row)

    def pulled_by_product(self, W: Floats, V: Floats, row: Floats) -> Floats:
        """Return the derivative of ``sum V lambda W`` by the roots."""
        return 2.0 * row * (V * W).sum(axis=0)

    def leading(self, row: Floats, n_features: int) -> Floats:
        """Return the two largest roots, each at its feature."""
        found = np.zeros((2, n_features))
        for place, feature in enumerate(np.argsort(-np.abs(row), kind="stable")[:2]):
            found[place, feature] = abs(row[feature])
        return found

    def stretch(self, row: Floats, n_features: int) -> float:
        """Return the largest weight."""
        return float(np.abs(row).max())

    def relevances(self, metric: Floats, n_features: int) -> Floats:
        """Return the squares."""
        return np.square(metric)


class Relevance(DiagonalMetric):
    """``sum_j lambda_j (x_j - w_j)^2``: a learned weight for every feature.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.

    References
    ----------
    Hammer and Villmann (2002), *Generalized relevance learning vector quantization*, Neural
    Networks 15.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import Relevance
    >>> x, w, roots = np.array([1.0, 2.0]), np.array([0.0, 0.0]), np.array([0.6, 0.8])
    >>> round(Relevance.pair(x, w, roots), 2)
    2.92
    """

    shows_nonfinite = True

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        total = 0.0
        for j in range(x.size):
            r = theta[j] * (x[j] - w[j])
            total += r * r
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives by the prototype and by the roots of the relevances."""
        for j in range(x.size):
            r = x[j] - w[j]
            gw[j] = -2.0 * theta[j] * theta[j] * r
            gtheta[j] = 2.0 * theta[j] * r * r

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Return all distances, by one product of weighted rows."""
        Z, V = self.map_rows(X, row), self.map_rows(W, row)
        D = Z @ (-2.0 * V).astype(X.dtype, copy=False).T
        D += np.einsum("ij,ij->i", V, V).astype(X.dtype, copy=False)
        norms = np.einsum("ij,ij->i", Z, Z)
        D += norms[:, None]
        return D, norms, None

    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Sum the differences and their squares while the rows are in cache."""
        by_w, by_square = np.zeros_like(W), np.zeros_like(row)
        pull_squares(X, W, index, value, by_w, by_square)
        return 2.0 * np.square(row) * by_w, 2.0 * row * by_square

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the same sums by products, relative to a point among the data."""
        center = W.mean(axis=0)
        return by_products(X - center, W - center, row, G)


def by_products(X: Any, W: Floats, row: Floats, G: Floats) -> tuple[Floats, Floats]:
    """Return ``2 (diag(G^T 1) W - G^T X) lambda`` and ``2 l sum_ik G_ik (x_i - w_k)^2``."""
    pulled, of_row, of_prototype = (X.T @ G).T, G.sum(axis=1), G.sum(axis=0)[:, None]
    pulled = pulled.toarray() if issparse(pulled) else pulled
    squares = X.multiply(X) if issparse(X) else np.square(X)
    by_square = squares.T @ of_row + (W * (of_prototype * W - 2.0 * pulled)).sum(axis=0)
    return 2.0 * np.square(row) * (of_prototype * W - pulled), 2.0 * row * by_square


@native(types.void(matrix, matrix, indices_matrix, matrix, matrix_out, vector_out))
def pull_squares(X, W, index, value, gW, squares):
    """Accumulate ``value (w - x)`` for each prototype and ``value (x - w)^2`` for all."""
    for i in range(X.shape[0]):
        x = X[i]
        for j in range(index.shape[1]):
            k, g = index[i, j], value[i, j]
            if k >= 0 and g != 0.0:
                w, total = W[k], gW[k]
                for f in range(x.size):
                    r = w[f] - x[f]
                    total[f] += g * r
                    squares[f] += g * r * r
