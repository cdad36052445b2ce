"""The relevance distance of rows with missing values, and of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._arrays import Floats, Indices
from ..codebook import Codebook, Gradients
from ..native import GRADIENT, PAIR, native
from .base import Distance
from .relevance import Relevance, by_products
from .sqeuclidean_missing import observed


class PartialRelevance(Relevance):
    """The relevance distance over the observed features, times features / observed features.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.
    """

    shows_nonfinite = False

    @native(PAIR)
    def pair(x, w, theta):
        """Give the distance of one sample to one prototype."""
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
        """Give itself for dense rows: complete ones are a special case."""
        return super().suited_to(X) if issparse(X) else self

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Give all distances, by two products."""
        rows, known, share = observed(X, np.zeros(X.shape[1]))
        Z, V = self.mapped(rows, row), self.mapped(W, row).astype(X.dtype, copy=False)
        D = Z @ (-2.0 * V).T
        D += known @ np.square(V).T
        norms = np.einsum("ij,ij->i", Z, Z)
        D += norms[:, None]
        D *= share[:, None]
        return D, share * norms, None

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Any]:
        """Give the nearest prototype of each row, and its distance."""
        return Distance.nearest(self, X, codebook)

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Give what each feature adds, 0 where it is missing."""
        e, _, share = observed(X - codebook.prototypes[prototype], np.zeros(X.shape[1]))
        return share[:, None] * np.square(e * codebook.metric[codebook.group[prototype]])

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
        """Add to the gradients, given the whole matrix dL/dD."""
        Distance.pull_rows(self, X, codebook, G, out)


class SparseRelevance(Relevance):
    """The relevance distance of the rows of a CSR matrix.

    Parameters
    ----------
    localized : {None, "class", "prototype"}, default=None
        Who has weights of its own; None: the same for all.
    """

    def suited_to(self, X: Any) -> Distance:
        """Give itself for sparse rows, the ordinary forms for others."""
        return self if issparse(X) else Relevance(self.localized).suited_to(X)

    def mapped(self, X: Any, row: Floats) -> Any:
        """Give every feature times the root of its relevance, sparse if X is."""
        return X.multiply(row).tocsr() if issparse(X) else super().mapped(X, row)

    def centred(self, X: Any, codebook: Codebook) -> tuple[Any, Floats]:
        """Leave sparse rows where they are."""
        return X, codebook.prototypes

    def squares(self, X: Any, W: Floats, row: Floats) -> tuple[Any, Any, Any]:
        """Give all distances, by products that never see a dense row."""
        weight = np.square(row).astype(X.dtype, copy=False)
        D = X @ (-2.0 * weight * W.astype(X.dtype, copy=False)).T
        D += (np.square(W) @ np.square(row)).astype(X.dtype, copy=False)
        norms = X.multiply(X) @ weight
        D += norms[:, None]
        return D, norms, None

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Give what each feature adds."""
        return super().terms(X.toarray(), codebook, prototype)

    def pulled_by_winners(
        self, X: Any, W: Floats, row: Floats, index: Indices, value: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Give the gradients by a sparse G of a few entries a row."""
        here = index >= 0
        rows = np.concatenate([[0], np.cumsum(here.sum(axis=1))])
        G = csr_array((value[here], index[here], rows), (len(index), len(W)))
        return by_products(X, W, row, G)

    def pulled_by_rows(
        self, X: Any, W: Floats, row: Floats, G: Floats, kept: Any
    ) -> tuple[Floats, Floats]:
        """Give the gradients by products that never see a dense row."""
        return by_products(X, W, row, G)
