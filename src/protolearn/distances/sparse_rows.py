"""Distances of sparse rows: products that never see a dense row.

Prototypes of texts are long: what is done for each of their numbers takes as long as the products,
so it is done in one go, without arrays for what lies between.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse

from .._arrays import Floats, Indices, as_floats
from ..codebook import Codebook, Gradients
from ..native import (
    indices,
    indices_matrix,
    matrix,
    matrix_out,
    native,
    types,
    vector,
    vector_out,
)
from .base import Distance
from .mahalanobis import Mahalanobis
from .matrix import Matrix
from .relevance import Relevance, by_products
from .sqeuclidean import SquaredEuclidean

columns = types.Array(types.int32, 1, "C", readonly=True)

TILE = 32
"""Features that are turned at a time, so that their rows stay in the cache."""


class SparseForm(Distance):
    """What the forms for CSR matrices share."""

    takes_only_sparse = True
    dense_form: ClassVar[type[Distance]]

    def suited_to(self, X: Any) -> Distance:
        """Return itself for sparse rows, the ordinary forms for others."""
        return self if issparse(X) else self.dense_form(**self.get_params()).suited_to(X)


class SparseSquaredEuclidean(SparseForm, SquaredEuclidean):
    """``|x - w|^2`` for the rows of a CSR matrix and dense prototypes."""

    dense_form = SquaredEuclidean

    def prepare(self, X: Any, codebook: Codebook) -> Floats:
        """Return ``|x - c|^2 = |x|^2 - 2 x.c + |c|^2``."""
        center = codebook.center.astype(X.dtype, copy=False)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        norms: Floats = squares - 2.0 * (X @ center) + center @ center
        return norms

    def terms_of(self, prepared: Any, codebook: Codebook) -> tuple[Any, float]:
        """Return what :func:`sizes` follow from: lengths from the origin are among the terms."""
        length = np.sqrt(np.maximum(prepared, 0.0)) + float(np.linalg.norm(codebook.center))
        return np.square(length), 0.0

    def relative(self, X: Any, codebook: Codebook) -> Any:
        """Return ``|x - w|^2 - |x - c|^2``, by one product in the precision of X."""
        W = as_floats(codebook.prototypes)
        turned, norms = np.empty(W.shape[::-1]), np.empty(len(W))
        turn(W, codebook.center, turned, norms)
        D = X @ turned.astype(X.dtype, copy=False)
        D += norms.astype(X.dtype, copy=False)
        return D

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return the squared difference of each feature."""
        return super().terms(X.toarray(), codebook, prototype)

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add ``2 (diag(G^T 1) W - G^T X)`` for a G of a few entries a row."""
        total = np.bincount(index.ravel(), value.ravel(), minlength=len(codebook.labels))
        data = np.ascontiguousarray(X.data)
        features = np.ascontiguousarray(X.indices, dtype=np.int32)
        starts = np.ascontiguousarray(X.indptr, dtype=np.intp)
        pull(data, features, starts, index, value, total, codebook.prototypes, out.prototypes)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 (diag(G^T 1) W - G^T X)``."""
        pull_turned(X.T @ G, G.sum(axis=0), codebook.prototypes, out.prototypes)


@native(types.void(matrix, vector, matrix_out, vector_out))
def turn(W, center, turned, norms):
    """Write ``-2 (w - c)``, a prototype a column, and ``|w|^2 - |c|^2`` as ``(w - c).(w + c)``."""
    K, d = W.shape
    norms[:] = 0.0
    for begin in range(0, d, TILE):
        end = min(begin + TILE, d)
        for k in range(K):
            w, total = W[k], 0.0
            for f in range(begin, end):
                r = w[f] - center[f]
                total += r * (r + 2.0 * center[f])
                turned[f, k] = -2.0 * r
            norms[k] += total


@native(types.void(vector, columns, indices, indices_matrix, matrix, vector, matrix, matrix_out))
def pull(data, features, starts, index, value, total, W, gW):
    """Add ``2 (total w - sum value x)``, for the prototypes that the rows name."""
    for k in range(W.shape[0]):
        w, g, share = W[k], gW[k], 2.0 * total[k]
        for f in range(w.size):
            g[f] += share * w[f]
    for i in range(index.shape[0]):
        for j in range(index.shape[1]):
            g, share = gW[index[i, j]], 2.0 * value[i, j]
            for p in range(starts[i], starts[i + 1]):
                g[features[p]] -= share * data[p]


@native(types.void(matrix, vector, matrix, matrix_out))
def pull_turned(turned, total, W, gW):
    """Add ``2 (total w - pulled)``, where what is pulled has a prototype a column."""
    K, d = W.shape
    for begin in range(0, d, TILE):
        end = min(begin + TILE, d)
        for k in range(K):
            w, g, share = W[k], gW[k], total[k]
            for f in range(begin, end):
                g[f] += 2.0 * (share * w[f] - turned[f, k])


class SparseRelevance(SparseForm, Relevance):
    """The relevance distance of the rows of a CSR matrix.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.
    """

    dense_form = Relevance

    def mapped(self, X: Any, row: Floats) -> Any:
        """Return every feature times the root of its relevance, sparse if X is."""
        return X.multiply(row).tocsr() if issparse(X) else super().mapped(X, row)

    def centred(self, X: Any, codebook: Codebook) -> tuple[Any, Floats]:
        """Return rows and prototypes as they are: centred rows would be dense."""
        return X, codebook.prototypes

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Return all distances, by products that never see a dense row."""
        weight = np.square(row).astype(X.dtype, copy=False)
        D = X @ (-2.0 * weight * W.astype(X.dtype, copy=False)).T
        D += (np.square(W) @ np.square(row)).astype(X.dtype, copy=False)
        norms = X.multiply(X) @ weight
        D += norms[:, None]
        return D, norms, None

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return what each feature adds."""
        return super().terms(X.toarray(), codebook, prototype)

    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by a sparse G of a few entries a row."""
        here = index >= 0
        rows = np.concatenate([[0], np.cumsum(here.sum(axis=1))])
        G = csr_array((value[here], index[here], rows), (len(index), len(W)))
        return by_products(X, W, row, G)

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by products that never see a dense row."""
        return by_products(X, W, row, G)


class SparseMatrix(SparseForm, Matrix):
    """The same for the rows of a CSR matrix, of which products never see a dense row.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of each Omega, as in :class:`Matrix`.
    regularization : float, default=0.0
        Weight of the penalty, as in :class:`Matrix`; mean over the maps.
    localized : {None, "class", "prototype"}, default=None
        Who has an Omega of its own; None: one for all.
    """

    dense_form = Matrix


class SparseMahalanobis(SparseForm, Mahalanobis):
    """The same for the rows of a CSR matrix, of which products never see a dense row.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        The share, as in :class:`Mahalanobis`.
    """

    dense_form = Mahalanobis
