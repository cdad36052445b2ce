"""Matrix learning: ``|Omega (x - w)|^2`` with the squares of the entries of Omega summing to one.

With ``P = X Omega^T`` and ``Q = W Omega^T`` the distances are those of the rows of P and Q. Their
derivatives G by the distances pass back as ``R_i = sum_k G_ik (P_i - Q_k)`` and
``S_k = sum_i G_ik (P_i - Q_k)``: by W ``-2 S Omega``, by Omega ``2 (R^T X - S^T W)``. Two products
of the size n d r in all, and nothing of the size n d d.

Omega starts as the projector on the span of the centred data, and all its gradients lie in that
span: a feature that never varies has relevance zero, features that are copies share theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices, as_floats
from .._validation import check_choice, check_integer, check_number
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, f8, indices, indices_matrix, matrix, matrix_out, native, types
from .axes import complete_axes, principal_axes, span
from .distance import distances_by_row, has_all_digits, starts_from
from .linear_metric import LOCALIZED, LinearMetric, by_map
from .mixins import Penalized
from .sqeuclidean import SquaredEuclidean

EUCLIDEAN = SquaredEuclidean()

LARGEST = 20_000_000
"""Entries of Omega above which a rank has to be given."""

SIDE_BY_SIDE = 8
"""Maps up to which one product of them all is quicker than one for each."""

LOCAL_RANK = 100
"""Rows of each Omega where there are several, if no rank is given: enough for pictures of digits,
and far fewer numbers than the square of the features."""


class MatrixMetric(Penalized, LinearMetric):
    """A learned matrix: what the matrix distances of all kinds of rows share.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features, at most 100 if there are
        several Omegas.
    regularization : float, default=0.0
        Weight of the penalty on Omega.
    localized : {None, "class", "prototype"}, default=None
        Who has an Omega of its own; None: one for all.
    """

    blockwise = True

    def __init__(
        self,
        rank: int | None = None,
        regularization: float = 0.0,
        localized: str | None = None,
    ):
        super().__init__(localized)
        self.rank = rank
        self.regularization = regularization

    def check(self) -> None:
        """Raise if a setting is out of range."""
        super().check()
        check_number(self, "regularization", low=0.0)
        if self.rank is not None:
            check_integer(self, "rank", low=1)

    @starts_from("covariances")
    def initial(self, X: Any, y: Indices, weight: Floats, n_groups: int) -> Floats:
        """Return the projector on the span of the data, or the principal axes, scaled."""
        d, rank = X.shape[1], self._rank(X.shape[1])
        if rank < d:
            omega = principal_axes(X, weight, rank)
        else:
            basis = span(X, weight)
            omega = basis if self.penalized or len(basis) == d else basis.T @ basis
        if not omega.any():  # nothing varies
            omega = np.eye(rank, d)
        return np.tile((omega / np.linalg.norm(omega)).ravel(), (n_groups, 1))

    @starts_from("covariances")
    def start(
        self, X: Any, y: Indices, weight: Floats, labels: Indices, stream: bool = False
    ) -> Floats:
        """Return the same; in a stream with as many rows as can ever be, in all directions."""
        if not stream:
            return super().start(X, y, weight, labels)
        d, rank, n_groups = X.shape[1], self._rank(X.shape[1]), int(self.groups(labels).max()) + 1
        omega = complete_axes(principal_axes(X, weight, rank), rank) if rank < d else np.eye(d)
        return np.tile(omega.ravel() / np.sqrt(rank), (n_groups, 1))

    def _rank(self, d: int) -> int:
        """Return the number of rows of Omega, before the data have their say."""
        rank = d if self.rank is None else min(int(self.rank), d)
        if rank * d > LARGEST:
            raise ValueError(
                f"A matrix for {d} features has {rank} x {d} entries; give a smaller rank, "
                "for example rank=50."
            )
        return min(rank, LOCAL_RANK) if self.rank is None and self.localized else rank

    def effort(self, codebook: Codebook) -> float:
        """Return the rows of all Omegas, and the prototypes."""
        K, d = codebook.prototypes.shape
        return float(codebook.metric.size / d + K)

    def omega(self, row: Floats, n_features: int) -> Floats:
        """Return the matrix of one row of parameters."""
        return row.reshape(-1, n_features)

    def map_rows(self, X: Any, row: Floats) -> Any:
        """Return ``X Omega^T``."""
        return X @ self.omega(row, X.shape[1]).astype(X.dtype, copy=False).T

    def map_back(self, Z: Floats, row: Floats) -> Floats:
        """Return ``Z Omega``."""
        return Z @ row.reshape(Z.shape[1], -1)

    def relevances(self, metric: Floats, n_features: int) -> Floats:
        """Return the diagonal of each Lambda."""
        relevances: Floats = np.square(metric.reshape(len(metric), -1, n_features)).sum(axis=1)
        return relevances

    @property
    def penalized(self) -> bool:
        """Whether there is a penalty on Omega."""
        return bool(self.regularization > 0.0)

    def penalty(self, codebook: Codebook) -> tuple[float, Floats]:
        """Return ``-(mu / 2) log det(Omega Omega^T)``, mean over the maps, and its derivative."""
        maps = codebook.metric.reshape(len(codebook.metric), -1, codebook.prototypes.shape[1])
        mu = self.regularization / len(maps)
        # With Omega^T = Q R the derivative is R^-1 Q^T; of a square Omega, the inverse transposed.
        if maps.shape[1] == maps.shape[2]:
            inverse, logs = np.linalg.inv(maps).transpose(0, 2, 1), np.linalg.slogdet(maps)[1]
        else:
            Q, R = np.linalg.qr(maps.transpose(0, 2, 1))
            inverse = np.linalg.solve(R, Q.transpose(0, 2, 1))
            logs = np.log(np.abs(np.diagonal(R, axis1=1, axis2=2))).sum(axis=1)
        return -mu * float(logs.sum()), as_floats(-mu * inverse.reshape(codebook.metric.shape))

    def shrink(self, codebook: Codebook, step: float) -> None:
        """Take a proximal step: each singular value s to the root of ``s' - mu step / s' = s``."""
        d, mu = codebook.prototypes.shape[1], self.regularization / len(codebook.metric)
        for g, row in enumerate(codebook.metric):
            U, s, Vt = np.linalg.svd(self.omega(row, d), full_matrices=False)
            s = 0.5 * (s + np.sqrt(np.square(s) + 4.0 * mu * step))
            codebook.metric[g] = ((U * s) @ Vt).ravel()
        codebook.metric[...] = self.constraint.apply(codebook.metric)


class SideBySide(NamedTuple):
    """Rows and prototypes about a point among the data, and what all maps, side by side, make."""

    X: Floats  # (n, d)
    W: Floats  # (K, d)
    P: Floats  # (n, groups * r)
    Q: Floats  # (K, r), each by its own map


class Matrix(MatrixMetric):
    """``|Omega (x - w)|^2``: a learned linear map before the squared Euclidean distance.

    ``Lambda = Omega^T Omega`` shows which features, and which pairs of them, decide.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of Omega; None: as many as there are features. Few rows make a map to a
        space of few dimensions, for example 2 to plot. There are never more than features, nor,
        but for streams, than directions in which the data vary.
    regularization : float, default=0.0
        Weight mu of the penalty ``-(mu / 2) log det(Omega Omega^T)``, which keeps the metric from
        collapsing to few directions. Omega then has at most as many rows as the data have
        independent directions.
    localized : {None, "class", "prototype"}, default=None
        Who has an Omega of its own; None: one for all.

    References
    ----------
    Schneider, Biehl and Hammer (2009), *Adaptive relevance matrices in learning vector
    quantization*, Neural Computation 21. Bunte et al. (2012), *Limited rank matrix learning*,
    Neural Networks 26.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.distances import Matrix
    >>> x, w, omega = np.array([1.0, 2.0]), np.zeros(2), np.array([0.6, 0.8])
    >>> round(Matrix.pair(x, w, omega), 2)  # one row: (0.6 + 1.6)^2
    4.84
    """

    @native(PAIR)
    def pair(x, w, theta):
        """Return the distance of one sample to one prototype."""
        d, total = x.size, 0.0
        for start in range(0, theta.size, d):
            row = theta[start : start + d]
            z = 0.0
            for j in range(d):
                z += row[j] * (x[j] - w[j])
            total += z * z
        return total

    @native(GRADIENT)
    def gradient(x, w, theta, gw, gtheta):
        """Write the derivatives by the prototype and by Omega."""
        d = x.size
        for start in range(0, theta.size, d):
            row, out = theta[start : start + d], gtheta[start : start + d]
            z = 0.0
            for j in range(d):
                z += row[j] * (x[j] - w[j])
            for j in range(d):
                out[j] = 2.0 * z * (x[j] - w[j])
                gw[j] -= 2.0 * z * row[j]

    def center_rows(self, X: Any, codebook: Codebook) -> tuple[Any, Floats]:
        """Return rows and prototypes relative to a point among the data; sparse rows stay."""
        return (X, codebook.prototypes) if issparse(X) else super().center_rows(X, codebook)

    def forward(
        self, X: Any, codebook: Codebook, prepared: Floats | None = None
    ) -> tuple[Any, Any]:
        """Return all distances, and what the gradient can use again.

        A few maps side by side are one product, and so are their gradients.
        """
        maps, group = codebook.metric, codebook.group
        if issparse(X) or X.dtype != np.float64 or len(maps) > SIDE_BY_SIDE:
            return super().forward(X, codebook, prepared)
        rows, W = self.center_rows(X, codebook)
        every = maps.reshape(-1, W.shape[1]).T
        P, Q = rows @ every, W @ every
        if len(maps) > 1:
            Q = Q.reshape(len(W), len(maps), -1)[np.arange(len(W)), group]
        D, Q = np.empty((len(rows), len(W))), np.ascontiguousarray(Q)
        longest = np.array([measure_mapped(P, Q, group, D)])
        if not has_all_digits(D, longest, codebook):
            return super().forward(X, codebook, prepared)
        return D, SideBySide(rows, W, P, Q)

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
        kept = self.forward(X, codebook)[1] if kept is None else kept
        if not isinstance(kept, SideBySide):
            super().pull_winners(X, codebook, index, value, out, kept)
            return
        R, S = np.zeros_like(kept.P), np.zeros_like(kept.Q)
        pull_side_by_side(kept.P, kept.Q, codebook.group, index, value, R, S)
        if self.adaptive:
            out.metric[...] += 2.0 * (R.T @ kept.X).reshape(out.metric.shape)
        else:
            out.metric[...] = 0.0
        pull_prototypes(S, kept.W, codebook.metric, codebook.group, *out, self.adaptive)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add to the gradients, given the whole matrix dL/dD."""
        kept = self.forward(X, codebook)[1] if kept is None else kept
        if isinstance(kept, SideBySide):
            width = kept.Q.shape[1]
            kept = [
                (kept.X, kept.W[members], kept.P[:, g * width : (g + 1) * width], kept.Q[members])
                for g, members in by_map(codebook)
            ]
        super().pull_rows(X, codebook, G, out, kept)

    def one_by_one(self, X: Floats, W: Floats, row: Floats, center: Floats) -> Floats:
        """Return all distances by differences in the mapped space, where they are fewer."""
        P, Q = (as_floats(self.map_rows(points - center, row)) for points in (X, W))
        return distances_by_row(EUCLIDEAN, P, Q, np.empty((1, 0)), np.zeros(len(Q), dtype=np.intp))

    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients; rows whose winners have other maps take no part."""
        X, W, P, Q = kept
        if (index < 0).any():
            here = np.flatnonzero((index >= 0).any(axis=1))
            X, P, index, value = X[here], P[here], index[here], value[here]
        R, S = np.zeros_like(P), np.zeros_like(Q)
        pull_mapped(P, Q, index, value, R, S)
        return self._gradients(X, W, row, R, S)

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Return the gradients by small products in the mapped space and one large one."""
        X, W, P, Q = kept
        R = G.sum(axis=1)[:, None] * P - G @ Q
        return self._gradients(X, W, row, R, G.T @ P - G.sum(axis=0)[:, None] * Q)

    def _gradients(
        self, X: Any, W: Floats, row: Floats, R: Floats, S: Floats
    ) -> tuple[Floats, Floats]:
        """Return ``-2 S Omega`` and ``2 (R^T X - S^T W)``."""
        by_w = -2.0 * self.map_back(S, row)
        if not self.adaptive:
            return by_w, np.zeros_like(row)
        by_row = (X.T @ R).T if issparse(X) else R.T @ X
        by_row -= S.T @ W
        by_row *= 2.0
        return by_w, by_row.ravel()


class LocalMatrix(Matrix):
    """A matrix metric of its own for each class, or for each prototype.

    Parameters
    ----------
    rank : int, default=None
        Number of rows of each Omega; None: as many as there are features, at most 100.
    regularization : float, default=0.0
        Weight of the penalty, as in :class:`Matrix`; mean over the maps.
    localized : {"class", "prototype"}, default="class"
        Who has an Omega of its own.
    """

    def __init__(
        self, rank: int | None = None, regularization: float = 0.0, localized: str = "class"
    ):
        super().__init__(rank, regularization, localized)

    def check(self) -> None:
        """Raise if a setting is out of range."""
        check_choice(self, "localized", LOCALIZED)
        super().check()


@native(f8(matrix, matrix, indices, matrix_out))
def measure_mapped(P, Q, group, D):
    """Write the squared distances of mapped rows and prototypes; return the longest square."""
    width, longest = Q.shape[1], 0.0
    for i in range(P.shape[0]):
        p = P[i]
        for first in range(0, p.size, width):
            total = 0.0
            for f in range(first, first + width):
                total += p[f] * p[f]
            longest = max(longest, total)
        for k in range(Q.shape[0]):
            own, q, total = p[group[k] * width : (group[k] + 1) * width], Q[k], 0.0
            for f in range(width):
                step = own[f] - q[f]
                total += step * step
            D[i, k] = total
    return longest


@native(types.void(matrix, matrix, indices, indices_matrix, matrix, matrix_out, matrix_out))
def pull_side_by_side(P, Q, group, index, value, R, S):
    """Accumulate ``value (p - q)`` for each row, in the place of its map, and each prototype."""
    width = Q.shape[1]
    for i in range(P.shape[0]):
        for j in range(index.shape[1]):
            k, g = index[i, j], value[i, j]
            if g != 0.0:
                first, last = group[k] * width, (group[k] + 1) * width
                p, r, q, s = P[i, first:last], R[i, first:last], Q[k], S[k]
                for f in range(width):
                    step = g * (p[f] - q[f])
                    r[f] += step
                    s[f] += step


@native(types.void(matrix, matrix, matrix, indices, matrix_out, matrix_out, types.boolean))
def pull_prototypes(S, W, metric, group, by_w, by_metric, adaptive):
    """Add ``-2 S Omega`` to the gradient of prototypes, and ``-2 S^T W`` to that of the maps."""
    d = W.shape[1]
    for k in range(W.shape[0]):
        w, out, theta, gtheta = W[k], by_w[k], metric[group[k]], by_metric[group[k]]
        for f in range(S.shape[1]):
            pull, row, grow = (
                -2.0 * S[k, f],
                theta[f * d : (f + 1) * d],
                gtheta[f * d : (f + 1) * d],
            )
            for j in range(d):
                out[j] += pull * row[j]
            if adaptive:
                for j in range(d):
                    grow[j] += pull * w[j]


@native(types.void(matrix, matrix, indices_matrix, matrix, matrix_out, matrix_out))
def pull_mapped(P, Q, index, value, R, S):
    """Accumulate ``value (p - q)`` for each row and for each prototype."""
    for i in range(P.shape[0]):
        p, r = P[i], R[i]
        for j in range(index.shape[1]):
            k, g = index[i, j], value[i, j]
            if k >= 0 and g != 0.0:
                q, s = Q[k], S[k]
                for f in range(p.size):
                    step = g * (p[f] - q[f])
                    r[f] += step
                    s[f] += step


matrix_forms = measure_mapped, pull_side_by_side, pull_prototypes
"""The native functions of a step: distances of mapped rows, and two of its gradients."""
