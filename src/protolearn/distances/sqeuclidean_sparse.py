"""Squared Euclidean distance of sparse rows: products that never see a dense row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .._parameters import Codebook, Floats, Gradients, Indices
from .base import Distance
from .sqeuclidean import SquaredEuclidean


class SparseSquaredEuclidean(SquaredEuclidean):
    """``|x - w|^2`` for the rows of a CSR matrix and dense prototypes."""

    def suited_to(self, X: Any) -> Distance:
        """Give itself for sparse rows, the ordinary forms for others."""
        return self if issparse(X) else SquaredEuclidean().suited_to(X)

    def prepare(self, X: Any, codebook: Codebook) -> Floats:
        """Give ``|x - c|^2 = |x|^2 - 2 x.c + |c|^2``."""
        center = codebook.center.astype(X.dtype, copy=False)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        norms: Floats = squares - 2.0 * (X @ center) + center @ center
        return norms

    def terms(self, X: Any, codebook: Codebook, prototype: Indices) -> Floats:
        """Give the squared difference of each feature."""
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
        n, per_row = index.shape
        rows = np.arange(0, n * per_row + 1, per_row)
        G = csr_array((value.ravel(), index.ravel(), rows), (n, len(codebook.labels)))
        pulled = G.T.tocsr() @ X
        add_pull(pulled.toarray(), np.asarray(G.sum(axis=0)).ravel(), codebook, out)

    def pull_rows(
        self, X: Any, codebook: Codebook, G: Floats, out: Gradients, kept: Any = None
    ) -> None:
        """Add ``2 (diag(G^T 1) W - G^T X)``."""
        add_pull((X.T @ G).T, G.sum(axis=0), codebook, out)


def add_pull(pulled: Floats, total: Floats, codebook: Codebook, out: Gradients) -> None:
    """Add ``2 (diag(G^T 1) W - G^T X)`` from its parts."""
    out.prototypes[...] += 2.0 * (total[:, None] * codebook.prototypes - pulled)
