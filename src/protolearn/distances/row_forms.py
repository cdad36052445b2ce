"""Forms of distances for sparse rows, and for rows with missing values.

Products with sparse rows never see a dense one. Prototypes of texts are long: what is done for each
of their numbers takes as long as the products, so it is done in one go, without arrays for what
lies between.

With missing values a distance is that over what is observed,
``d / o * sum over the o observed features of (x_j - w_j)^2``: the mean of the observed terms stands
for those that are missing. With z the offset of x from a point c among the data, 0 where missing,
v that of w, and M the matrix that is 1 where a value is observed,
``sum = |z|^2 - 2 z.v + M v^2``: two products.

Under a matrix it is ``d / o * |Omega e|^2``, ``e_j = x_j - w_j`` where observed and 0 where
missing: one product for each prototype.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats, class_means
from ..codebook import Codebook, Gradients
from ..native import (
    GRADIENT,
    PAIR,
    indices,
    indices_matrix,
    matrix,
    matrix_out,
    native,
    types,
    vector,
    vector_out,
)
from .distance import Distance, has_all_digits, starts_from
from .fixed_metrics import Mahalanobis
from .linear_metric import by_map
from .lost_digits import distance_to_origin, restore_digits
from .matrix import Matrix, MatrixMetric
from .mixins import FeatureTerms, Geometry
from .relevance import DiagonalMetric, Relevance, by_products
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

    def factors(self, codebook: Codebook, dtype: Any) -> tuple[Any, Any]:
        """Return ``-2 (w - c)``, a prototype a column, and ``|w|^2 - |c|^2``, rounded to a type."""
        W = as_floats(codebook.prototypes)
        turned, norms = np.empty(W.shape[::-1]), np.empty(len(W))
        turn(W, codebook.center, turned, norms)
        return turned.astype(dtype, copy=False), norms.astype(dtype, copy=False)

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
        pull_by_entries(X, codebook.prototypes, index, value, out.prototypes)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 (diag(G^T 1) W - G^T X)``."""
        pull_turned(X.T @ G, G.sum(axis=0), codebook.prototypes, out.prototypes)


class SparseRelevance(SparseForm, Relevance):
    """The relevance distance of the rows of a CSR matrix.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.
    """

    dense_form = Relevance

    def map_rows(self, X: Any, row: Floats) -> Any:
        """Return every feature times the root of its relevance, sparse if X is."""
        return X.multiply(row).tocsr() if issparse(X) else super().map_rows(X, row)

    def center_rows(self, X: Any, codebook: Codebook) -> tuple[Any, Floats]:
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
        """Return the gradients for a G of a few entries a row."""
        index, value = np.maximum(index, 0), np.where(index < 0, 0.0, value)
        by_w = np.zeros_like(W)
        total = pull_by_entries(X, W, index, value, by_w)
        by_square = X.multiply(X).T @ value.sum(axis=1) - total @ np.square(W)
        by_square += np.einsum("kf,kf->f", W, by_w)
        by_w *= np.square(row)
        return by_w, 2.0 * row * by_square

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by products that never see a dense row."""
        return by_products(X, W, row, G)


class SparseMatrix(SparseForm, Matrix):
    """The matrix distance for the rows of a CSR matrix, which never become dense.

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
    """The Mahalanobis distance for the rows of a CSR matrix, which never become dense.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        The share, as in :class:`Mahalanobis`.
    """

    dense_form = Mahalanobis


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


def pull_by_entries(X: Any, W: Floats, index: Indices, value: Floats, out: Floats) -> Floats:
    """Add ``2 (diag(G^T 1) W - G^T X)`` for a G of a few entries a row; return ``G^T 1``."""
    total = as_floats(np.bincount(index.ravel(), value.ravel(), minlength=len(W)))
    data = np.ascontiguousarray(X.data)
    features = np.ascontiguousarray(X.indices, dtype=np.int32)
    pull(
        *(data, features, np.ascontiguousarray(X.indptr, dtype=np.intp)),
        *(index, value, total, W, out),
    )
    return total


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

    def directions_when_complete(self, codebook: Codebook) -> Floats:
        """Return the directions that hold for rows without missing values: the prototypes."""
        offset: Floats = codebook.prototypes - codebook.center
        return offset

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
        Z, V = self.map_rows(rows, row), self.map_rows(W, row).astype(X.dtype, copy=False)
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


class PartialMatrix(MatrixMetric):
    """``|Omega e|^2`` over the observed features, times features / observed features.

    e is the difference of a sample and a prototype, 0 where the sample is missing.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of each Omega, as in :class:`Matrix`.
    regularization : float, default=0.0
        Weight of the penalty, as in :class:`Matrix`; mean over the maps.
    localized : {None, "class", "prototype"}, default=None
        Who has an Omega of its own; None: one for all.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import PartialMatrix
    >>> x, w, omega = np.array([1.0, np.nan]), np.array([0.0, 5.0]), np.array([0.6, 0.8])
    >>> round(PartialMatrix.pair(x, w, omega), 2)  # one row, half of it observed: 2 (0.6)^2
    0.72
    """

    # The boundaries, and sums over rows, depend on the features that each row has.
    directions, steepness = Geometry.directions, Geometry.steepness
    nearest = Distance.nearest

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        d, total, observed = x.size, 0.0, 0
        for j in range(d):
            observed += 1 if x[j] == x[j] else 0
        for start in range(0, theta.size, d):
            z = 0.0
            for j in range(d):
                z += theta[start + j] * (x[j] - w[j]) if x[j] == x[j] else 0.0
            total += z * z
        return total * d / observed

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives; what is missing moves nothing."""
        d, observed = x.size, 0
        for j in range(d):
            observed += 1 if x[j] == x[j] else 0
        for start in range(0, theta.size, d):
            z = 0.0
            for j in range(d):
                z += theta[start + j] * (x[j] - w[j]) if x[j] == x[j] else 0.0
            z *= 2.0 * d / observed
            for j in range(d):
                if x[j] == x[j]:
                    gtheta[start + j] = z * (x[j] - w[j])
                    gw[j] -= z * theta[start + j]

    def suited_to(self, X: Any) -> Distance:
        """Return itself for dense rows: complete ones are a special case."""
        return super().suited_to(X) if issparse(X) else self

    @starts_from("covariances")
    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return where the metric starts, with class means in place of what is missing."""
        return super().initial(with_class_means(X, y, weight), y, weight, n_groups)

    @starts_from("covariances")
    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return the same where classes of prototypes, or a stream, matter."""
        return super().start(with_class_means(X, y, weight), y, weight, labels, stream)

    def effort(self, codebook: Codebook) -> float:
        """Return the rows of the Omegas of all prototypes."""
        d = codebook.prototypes.shape[1]
        return float(len(codebook.labels) * max(codebook.metric.shape[1] // d, 1))

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Return all distances under one map, a prototype after the other, by differences."""
        rows, known, share = split_observed(as_floats(X), np.zeros(X.shape[1]))
        D = np.empty((len(X), len(W)))
        for k, w in enumerate(W):
            Z = self.map_rows(rows - known * w, row)
            D[:, k] = share * np.einsum("ij,ij->i", Z, Z)
        return D, np.zeros(len(X)), None

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, in the precision of X unless they leave its range."""
        D = np.empty((len(X), len(codebook.labels)))
        for g, members in by_map(codebook):
            W, row = codebook.prototypes[members], codebook.metric[g]
            D[:, members] = self.squares(X, W, row)[0]
        with np.errstate(over="ignore"):
            found = D.astype(X.dtype, copy=False)
        return (D if np.isinf(found).any() else found), None

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Return ``e_j (Omega^T Omega e)_j``, 0 where a feature is missing."""
        W = codebook.prototypes[prototype]
        e, _, share = split_observed(X - W, np.zeros(X.shape[1]))
        whole = replace(codebook, prototypes=np.zeros_like(codebook.prototypes))
        return share[:, None] * super().terms(e, whole, prototype)

    def pull_winners(
        self,
        X: Any,
        codebook: Codebook,
        index: Indices,
        value: Floats,
        out: Gradients,
        kept: Any = None,
    ) -> None:
        """Add to the gradients, for the rows that each prototype wins."""
        for k in np.unique(index):
            rows, column = np.nonzero(index == k)
            self._pull(X[rows], codebook, int(k), value[rows, column], out)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, a prototype after the other."""
        for k in range(len(codebook.labels)):
            self._pull(X, codebook, k, G[:, k], out)

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return ``-2 sum m (Omega^T p)`` and ``2 sum p e^T``, p the weighted ``Omega e``."""
        rows, known, share = split_observed(as_floats(X), np.zeros(X.shape[1]))
        by_w, by_row = np.empty_like(W), np.zeros((len(row) // W.shape[1], W.shape[1]))
        for k, w in enumerate(W):
            E = rows - known * w
            P = (2.0 * share * G[:, k])[:, None] * self.map_rows(E, row)
            by_w[k] = -(known * self.map_back(P, row)).sum(axis=0)
            by_row += P.T @ E
        return by_w, by_row.ravel()

    def _pull(self, X: Any, codebook: Codebook, k: int, value: Floats, out: Gradients) -> None:
        """Add what some rows do to one prototype and its map."""
        W, g = codebook.prototypes[k : k + 1], int(codebook.group[k])
        by_w, by_row = self.pulled_by_rows(X, W, codebook.metric[g], value[:, None], None)
        out.prototypes[k] += by_w[0]
        out.metric[g] += by_row


def with_class_means(X: Any, y: Indices, weight: Floats) -> Any:
    """Return rows with the mean of their class, or else of all, in place of what is missing."""
    if not np.isnan(X).any():
        return X
    means = class_means(X, y, weight, int(y.max()) + 1)
    overall = np.nan_to_num(class_means(X, np.zeros_like(y), weight, 1)[0])
    return np.where(np.isnan(X), np.where(np.isnan(means), overall, means)[y], X)


def split_observed(X: Any, center: Floats) -> tuple[Any, Any, Any]:
    """Return offsets from the centre, 0 where missing; where observed; features / observed."""
    offset = X - center.astype(X.dtype, copy=False)
    missing = np.isnan(offset)
    offset[missing] = 0.0
    known = (~missing).astype(X.dtype)
    with np.errstate(divide="ignore"):  # a row with nothing observed has no distance
        return offset, known, X.shape[1] / known.sum(axis=1)
