"""Relevance learning: of each feature, or of numbers and categories side by side.

``sum_j lambda_j (x_j - w_j)^2``, ``lambda = l^2``, sum one: the parameters are the roots l, a
vector of norm one. A feature that never varies starts, and so stays, with relevance zero. What
categories add is in ``level_places.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats, as_indices, has_missing, varying
from .._validation import check_integer
from ..codebook import Codebook, Gradients
from ..native import (
    GRADIENT,
    PAIR,
    indices_matrix,
    matrix,
    matrix_out,
    native,
    types,
    vector_out,
)
from .distance import Distance, has_all_digits, starts_from
from .level_places import (
    UnitNormOfPlaces,
    add_back,
    each_place,
    equal_places,
    find_blocks,
    first_place,
    gradients_by_places,
    level_places,
    map_about,
    parameter_rows,
)
from .linear_metric import LinearMetric
from .matrix import measure_mapped, pull_mapped


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


class MixedDistance(LinearMetric):
    """Numbers and categories: a relevance for each number, learned places for the levels.

    A category with p levels is a block of p neighbouring columns, which hold the share of each
    level: all of it for the level that a row has. :class:`~protolearn.tables.TableEncoder` makes
    such rows; a missing value is a level of its own there. Levels that tell the same about the
    classes come to lie together, others apart; :meth:`dissimilarities` returns how far.

    Parameters
    ----------
    blocks : sequence of int, default=None
        Widths of the blocks in the order of the columns: 1 for a number, p for a category with p
        columns. None: neighbouring columns without negative entries that have the same sum in
        every training row are the levels of one category. ``partial_fit`` needs the widths.
    rank : int, default=None
        Dimensions in which levels have places. None: the number of classes, one more than class
        frequencies need.
    localized : {None, "class", "prototype"}, default=None
        Who has relevances and places of its own; None: the same for all.

    Notes
    -----
    All columns begin with the same relevance: their places have variance one, as a standardised
    number has. Half of it comes from class frequencies, levels being as far apart as these differ
    (Stanfill and Waltz, 1986), half makes all levels equally far apart, as one-hot encoding does.

    References
    ----------
    Gower (1971), *A general coefficient of similarity and some of its properties*, Biometrics 27.
    Stanfill and Waltz (1986), *Toward memory-based reasoning*, Communications of the ACM 29.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import PrototypeClassifier
    >>> from protolearn.distances import MixedDistance
    >>> levels = np.array([0, 1, 2, 0, 1, 2])  # a category with three levels
    >>> X, y = np.eye(3)[levels], np.array([0, 0, 1, 0, 0, 1])
    >>> model = PrototypeClassifier(distance=MixedDistance(), random_state=0).fit(X, y)
    >>> delta, = model.rule_.distance.dissimilarities(model.rule_.codebook)
    >>> bool(delta[0, 1] < delta[0, 2])  # the first two levels tell the same
    True
    """

    constraint = UnitNormOfPlaces()
    shows_nonfinite = True
    blockwise = True
    batch_size = 192

    def __init__(self, blocks: Any = None, rank: int | None = None, localized: str | None = None):
        super().__init__(localized)
        self.blocks = blocks
        self.rank = rank

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        total, rank, first, j = 0.0, int(theta[1] + 0.5), 3 + int(theta[0] + 0.5), 0
        place = first
        for b in range(3, first):
            width = int(theta[b] + 0.5)
            for _ in range(min(rank, width)):
                z = 0.0
                for f in range(width):
                    z += theta[place + f] * (x[j + f] - w[j + f])
                total += z * z
                place += width
            j += width
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives by the prototype and by the places of the levels."""
        rank, first, j = int(theta[1] + 0.5), 3 + int(theta[0] + 0.5), 0
        place = first
        for b in range(3, first):
            width = int(theta[b] + 0.5)
            for _ in range(min(rank, width)):
                z = 0.0
                for f in range(width):
                    z += theta[place + f] * (x[j + f] - w[j + f])
                z *= 2.0
                for f in range(width):
                    gtheta[place + f] = z * (x[j + f] - w[j + f])
                    gw[j + f] -= z * theta[place + f]
                place += width
            j += width

    def check(self) -> None:
        """Raise if a setting is out of range."""
        super().check()
        if self.rank is not None:
            check_integer(self, "rank", low=1)
        if self.blocks is None:
            return
        widths = np.asarray(self.blocks)
        if widths.ndim != 1 or widths.dtype.kind not in "iu" or not (widths > 0).all():
            raise ValueError(
                f"blocks={self.blocks!r} must be a list of positive integers: 1 for a number, the "
                "number of its columns for a category."
            )

    def check_rows(self, X: Any) -> None:
        """Raise if the blocks do not make up the columns."""
        if self.blocks is not None and sum(self.blocks) != X.shape[1]:
            raise ValueError(
                f"blocks={self.blocks!r} have {sum(self.blocks)} columns, and X has {X.shape[1]}."
            )
        if self.blocks is not None and (X[:, np.repeat(self.blocks, self.blocks) > 1] < 0.0).any():
            raise ValueError(
                f"blocks={self.blocks!r} name columns as shares of levels that hold negative "
                "numbers; give categories as one-hot columns, which are not scaled."
            )

    def suited_to(self, X: Any) -> Distance:
        """Return itself, or raise if it does not take the rows."""
        if not issparse(X) and has_missing(X):
            raise ValueError(
                "MixedDistance does not take missing values in arrays; give a table by "
                "protolearn.tables.table_pipeline, which makes them cases of their own."
            )
        return super().suited_to(X)

    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return places of variance one, those of levels half by their class frequencies."""
        widths = find_blocks(X) if self.blocks is None else as_indices(self.blocks)
        n_classes = int(y.max()) + 1
        mass = weight[:, None] * (y[:, None] == np.arange(n_classes))
        rank = min(self.rank or n_classes, max(int(widths.max()) - 1, 1))
        ends, moves, E = np.cumsum(widths), varying(X), []
        for width, end in zip(widths.tolist(), ends.tolist(), strict=True):
            if width > 1:
                E.append(level_places(X[:, end - width : end], mass, min(rank, width)))
            else:
                z = X[:, end - 1] - weight @ X[:, end - 1] / weight.sum()
                spread = math.sqrt(weight @ np.square(z) / weight.sum())
                E.append(np.full((1, 1), 1.0 / spread if moves[end - 1] and spread else 0.0))
        return parameter_rows(E, rank, n_groups)

    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return the same; in a stream all levels are equally far apart."""
        if not stream:
            return super().start(X, y, weight, labels)
        if self.blocks is None:
            raise ValueError(
                "partial_fit needs the blocks of MixedDistance, which the first rows do not show: "
                "give blocks=[...], 1 for a number and the number of its columns for a category."
            )
        most = max(max(self.blocks) - 1, 1)
        rank = min(self.rank or most, most)
        E = [equal_places(width)[: min(rank, width)] for width in self.blocks]
        return parameter_rows(E, rank, int(self.groups(labels).max()) + 1)

    def dissimilarities(self, codebook: Codebook) -> list[Floats]:
        """Return how far the levels of each category are apart.

        Parameters
        ----------
        codebook : Codebook
            Of a fitted model: ``model.rule_.codebook``.

        Returns
        -------
        matrices : list of array of shape (p, p)
            One for each block of more than one column, in their order; with ``localized`` all
            those of the first class or prototype, then those of the next. Symmetric, with zeros
            in the diagonal.
        """
        found = []
        for E in (E for row in codebook.metric for E in each_place(row) if E.shape[1] > 1):
            gram = E.T @ E
            norms = gram.diagonal()
            found.append(np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0))
        return found

    def stride(self, codebook: Codebook) -> float:
        """Return the inverse of the mean eigenvalue: the squares of all entries sum to one."""
        return float(codebook.prototypes.shape[1])

    def size_of(self, row: Floats) -> float:
        """Return the root of the sum of the squares of all entries."""
        return float(np.linalg.norm(row[first_place(row) :]))

    def effort(self, codebook: Codebook) -> float:
        """Return the places, and the prototypes."""
        rank = float(codebook.metric[0, 1])
        return len(codebook.labels) + rank * len(codebook.metric)

    def map_rows(self, X: Any, row: Floats) -> Any:
        """Return the places of the rows."""
        P = map_about(X, np.zeros(X.shape[1]), row)
        return P.astype(X.dtype, copy=False)

    def map_back(self, Z: Floats, row: Floats) -> Floats:
        """Return ``E^T z`` for every row of Z."""
        found = np.zeros((len(Z), sum(E.shape[1] for E in each_place(row))))
        add_back(as_floats(Z), row, 1.0, found)
        return found

    def omega(self, row: Floats, n_features: int) -> Floats:
        """Return all E in one matrix."""
        return as_floats(self.map_rows(np.eye(n_features), row).T)

    def stretch(self, row: Floats, n_features: int) -> float:
        """Return the largest singular value of an E."""
        return max(float(np.linalg.norm(E, 2)) for E in each_place(row))

    def relevances(self, metric: Floats, n_features: int) -> Floats:
        """Return the squares of numbers, and how far each level is from the middle, squared."""
        squares = [[np.square(E).sum(axis=0) for E in each_place(row)] for row in metric]
        return np.array([np.concatenate(parts) for parts in squares])

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, and the places of rows and prototypes.

        Places that serve all prototypes are made in one pass over the rows.
        """
        if len(codebook.metric) > 1 or X.dtype != np.float64:
            return super().forward(X, codebook, prepared)
        row, center, W = codebook.metric[0], codebook.center, codebook.prototypes
        P, Q = map_about(X, center, row), map_about(W, center, row)
        D = np.empty((len(X), len(W)))
        longest = np.array([measure_mapped(P, Q, codebook.group, D)])
        if not has_all_digits(D, longest, codebook, self.size_of(row)):
            return super().forward(X, codebook, prepared)
        return D, [(X - center, W - center, P, Q)]

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
        if len(codebook.metric) > 1:
            super().pull_winners(X, codebook, index, value, out, kept)
            return
        kept = (self.forward(X, codebook)[1] if kept is None else kept)[0]
        by_w, by_row = self.pulled_by_winners(X, kept[1], codebook.metric[0], index, value, kept)
        out.prototypes[...] += by_w
        out.metric[0] += by_row

    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by sums over the rows that each prototype wins."""
        X, W, P, Q = (as_floats(part) for part in kept)
        R, S = np.zeros_like(P), np.zeros_like(Q)
        pull_mapped(P, Q, index, value, R, S)
        return gradients_by_places(X, W, row, R, S)

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by products of places."""
        X, W, P, Q = (as_floats(part) for part in kept)
        R = G.sum(axis=1)[:, None] * P - G @ Q
        return gradients_by_places(X, W, row, R, G.T @ P - G.sum(axis=0)[:, None] * Q)
