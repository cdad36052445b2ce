"""The feature space of a kernel: coordinates in it, and distances to combinations of samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._arrays import Floats, Indices, as_floats
from ..codebook import Codebook
from ..distances import Distance
from ..kernels import FeatureKernel
from .cholesky import partial_cholesky

FAR = 1e3
"""How many times the rounding rows have to vary."""


def coordinates(X: Floats, kernel: FeatureKernel | None, rounding: float) -> tuple[Floats, Indices]:
    """Return the rows in coordinates of the feature space, and those that span it.

    Without a kernel X is the Gram matrix.
    """
    if kernel is None:
        return partial_cholesky(X.diagonal(), lambda some: X[:, some], rounding)
    return partial_cholesky(kernel.diagonal(X), lambda some: kernel.between(X, X[some]), rounding)


def warn_if_far(L: Floats, rounding: float) -> None:
    """Warn if differences of rows drown in the rounding of their lengths."""
    largest = float(np.einsum("ij,ij->i", L, L).max())
    if float(L.var(axis=0).sum()) < FAR * rounding * largest:
        warnings.warn(
            "The rows lie so far from the origin of the feature space that much of their "
            "differences is lost to rounding; centre X first, for example with StandardScaler.",
            UserWarning,
            stacklevel=3,
        )


class GivenProducts(Distance):
    """``|phi(x) - sum_l a_l phi(x_l)|^2`` from given products, less the unknown ``|phi(x)|^2``.

    The prototypes of the codebook are the coefficients a, its metric their squared lengths.

    Parameters
    ----------
    columns : array (n_support,)
        Where a row has its products with the samples that are combined.
    """

    def __init__(self, columns: Indices):
        self.columns = columns

    def groups(self, labels: Indices) -> Indices:
        """Return each prototype a row of its own for its squared length."""
        return np.arange(len(labels))

    def effort(self, codebook: Codebook) -> float:
        """Return the numbers that a row needs: its products, and its distances."""
        return float(sum(codebook.prototypes.shape))

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return all distances, less what those of a row have in common."""
        return _combined(X[:, self.columns], codebook)


class FeatureSpaceDistance(GivenProducts):
    """``|phi(x) - sum_l a_l phi(x_l)|^2`` by a kernel.

    Parameters
    ----------
    kernel : FeatureKernel
        The products.
    rows : array (n_support, d)
        The samples that are combined.
    """

    squared = True

    def __init__(self, kernel: FeatureKernel, rows: Floats):
        self.kernel = kernel
        self.rows = rows

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return all distances."""
        D = _combined(self.kernel.between(X, self.rows), codebook)
        D += self.kernel.diagonal(X)[:, None]
        return np.maximum(D, 0.0, out=D)


def _combined(products: Any, codebook: Codebook) -> Floats:
    """Return ``|w|^2 - 2 phi(x).w``."""
    D = as_floats(products @ (-2.0 * codebook.prototypes.T))
    D += codebook.metric[:, 0]
    return D
