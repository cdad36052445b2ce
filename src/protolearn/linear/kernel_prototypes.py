"""Linear classifiers in the feature space of a kernel: their prototypes are known by weights.

The centred Gram matrix ``K`` of the samples is ``Z Z^T`` with as many coordinates in Z as it has
eigenvalues above rounding. In these coordinates every linear method works as it does on rows, and
the coefficients of the samples are all that is needed of its solution.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices
from .._validation import all_or_nothing
from ..kernels import (
    FeatureKernel,
    check_gram,
    check_kernel,
    gram_rounding,
    kernel_of,
    support_products,
)
from .canonical import CenteredFrame, LinearPrototypeClassifier
from .logistic_model import gram_matrix

NOT_ALWAYS = (
    *("coef_", "prototypes_", "rest_prototypes_", "kernel_", "gamma_", "score_scale_"),
    *("support_vectors_", "exemplars_", "exemplar_indices_", "preimages_", "path_"),
)
"""Attributes that not every kernel has."""

INDEFINITE = 1e-8
"""Size of a negative eigenvalue, beside the largest, that is more than rounding."""

STEPS, STILL = 1000, 1e-12
"""The most steps to a pre-image, and a step that is the last, in units of the data."""


class KernelPrototypeClassifier(LinearPrototypeClassifier):
    """A linear classifier of rows, or in the feature space of a kernel.

    A subclass has the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.
    """

    kernel_: FeatureKernel | None
    gamma_: float
    score_scale_: Floats
    support_vectors_: Floats
    exemplars_: Floats
    exemplar_indices_: Indices
    preimages_: Floats

    def project(self, X: Any) -> Floats:
        """Return where rows lie along the axes of the decision, as signed distances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        place : array of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_axes)
            For two classes the signed distance from the hyperplane, positive on the side of the
            second class; one versus rest that from the hyperplane of each class. For classes that
            are told apart jointly, coordinates in the space through all prototypes, whose origin
            is their mean and whose axes are their principal axes.
        """
        if not self._is("linear"):
            raise ValueError(f"project needs kernel='linear', not kernel={self.kernel!r}.")
        return super().project(X)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes, and forget an earlier fit, maybe with another kernel."""
        with all_or_nothing(self):
            check_kernel(self)
            self._check_parameters()
            rounding = gram_rounding(X)
            rows, codes, weight, (n, places) = self._check_weighted_data(X, y, sample_weight)
            for name in NOT_ALWAYS:
                self.__dict__.pop(name, None)
            if self._is("linear"):
                self._solve_rows(rows, codes, weight, n, places)
                return self
            rows = rows.toarray() if issparse(rows) else rows
            if self._is("precomputed"):
                check_gram(rows if rows.shape[1] != n else rows[:, places], rounding)
                rows = rows[:, places]
            self.kernel_ = kernel_of(self, rows, weight)
            gram = gram_matrix(self.kernel_, rows, np.arange(len(rows)))
            frame, means = gram_frame(gram, weight, type(self).__name__)
            self._solve(frame, codes, weight, n, places)
            self._store_weights(rows, gram, means, places)
            del self._factors
        return self

    def _store_weights(self, rows: Floats, gram: Floats, means: Floats, places: Indices) -> None:
        """Store the solution by the coefficients of the samples, and what is like its prototypes.

        ``means`` are the mean products of each sample with all others.
        """
        dual, several = self.dual_coef_[:, places], len(self.classes_) > 2
        self.score_scale_ = self._factors
        self.intercept_ = self.intercept_ - self.score_scale_ * (dual @ means)
        weights = np.maximum(dual if several else np.vstack([-dual, dual]), 0.0)
        nearest = (gram.diagonal() - 2.0 * weights @ gram).argmin(axis=1)
        used = np.flatnonzero(dual.any(axis=0))
        self.support_, self.exemplar_indices_ = places[used], places[nearest]
        for name in ("coef_", "prototypes_", "rest_prototypes_", "path_"):
            self.__dict__.pop(name, None)
        if self.kernel_ is None:
            return
        self.support_vectors_, self.exemplars_ = rows[used], rows[nearest]
        if "gamma" in self.kernel_.settings:
            self.gamma_ = self.kernel_.settings["gamma"]
        if self.kernel_.kind == "rbf":
            self.preimages_ = gaussian_preimages(weights, rows, self.kernel_, rows[nearest])

    def _scores(self, X: Floats) -> Floats:
        if hasattr(self, "coef_"):
            return super()._scores(X)
        dual = self.score_scale_[:, None] * self.dual_coef_[:, self.support_]
        vectors = getattr(self, "support_vectors_", None)
        return support_products(self.kernel_, X, self.support_, vectors, dual) + self.intercept_


def gram_frame(gram: Floats, weight: Floats | None, name: str) -> tuple[CenteredFrame, Floats]:
    """Return samples in coordinates of their feature space, and their mean products."""
    n = len(gram)
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    if not np.isfinite(gram).all():
        raise ValueError(
            f"The kernel of {name} gives products of rows that are not finite. Scale the features, "
            "or take a smaller gamma or degree."
        )
    means = gram @ share
    centred = gram - means[:, None] - means + share @ means
    values, vectors = np.linalg.eigh(0.5 * (centred + centred.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = float(values.max(initial=0.0))
    if values.min(initial=0.0) < -INDEFINITE * largest:
        raise ValueError(
            f"The kernel of {name} is not positive semidefinite: the Gram matrix has the "
            f"eigenvalue {values.min():.2g}, the largest is {largest:.2g}."
        )
    kept = values > n * np.finfo(float).eps * largest
    rows = vectors[:, kept] * np.sqrt(values[kept])
    scale = float(np.sqrt(share @ np.einsum("ij,ij->i", rows, rows))) or 1.0
    return CenteredFrame(rows / scale, np.zeros(rows.shape[1]), scale, share), means


def gaussian_preimages(
    weights: Floats, rows: Floats, kernel: FeatureKernel, start: Floats
) -> Floats:
    """Return the points whose images are nearest to prototypes in Gaussian feature space.

    By the fixed-point iteration of Mika et al. (1999) from some rows; it never moves away.
    """
    found, size = start.copy(), np.abs(rows - rows[0]).max() or 1.0
    for _ in range(STEPS):
        pull = weights * kernel.between(found, rows)
        total = pull.sum(axis=1, keepdims=True)
        moved = np.divide(pull @ rows, total, out=found.copy(), where=total > 0.0)
        step, found = np.abs(moved - found).max(), moved
        if step <= STILL * size:
            break
    return found
