"""The canonical form of a linear classifier: two prototypes and a shift (Graf et al., 2009).

``w = sum_i gamma_i x_i`` with ``sum gamma_i = 0`` and ``sum |gamma_i| = 2``. The samples with
positive coefficients average to the prototype of one class, those with negative ones to that of the
other, ``w = p+ - p-``, and ``w.x + b > 0`` says the same as ``|x - p-|^2 - |x - p+|^2 + S > 0``.
All classifiers that are fitted in this form are a :class:`LinearPrototypeClassifier`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from .._arrays import Floats, Indices
from .._validation import all_or_nothing
from ..one_versus_rest import BinaryProblem, LinearClassifier

BALANCED = 1e-7
"""How much of all coefficients their sum may be, to count as zero."""


class CenteredFrame(NamedTuple):
    """The samples in coordinates in which all is computed: centred, and of unit size."""

    rows: Any  # (x - center) / scale; sparse samples keep their origin
    center: Floats  # the weighted mean of the samples
    scale: float  # the root mean square of their distances from it
    share: Floats  # the weights of the samples, which sum to one

    @classmethod
    def of(cls, X: Any, weight: Floats | None = None) -> CenteredFrame:
        """Return the frame of some samples."""
        n = X.shape[0]
        share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        if issparse(X):
            center, rows = np.zeros(X.shape[1]), X
            size = np.sqrt(share @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
        else:
            center = middle_of(X, share)
            rows = X - center
            size = np.sqrt(share @ np.einsum("ij,ij->i", rows, rows))
        scale = float(size) or 1.0
        return cls(rows / scale, center, scale, share)


class Expansion(NamedTuple):
    """A hyperplane by its samples: ``f(z) = sum_i gamma_i z_i.z + intercept`` in a frame."""

    gamma: Floats
    intercept: float
    support: Indices | None = None  # the samples chosen; None: those with a coefficient
    details: Any = None  # what else the method has to store


class Canonical(NamedTuple):
    """A hyperplane in canonical form, in the coordinates of the samples."""

    gamma: Floats  # coefficients, which sum to zero, and their absolute values to two
    prototypes: Floats  # p- and p+
    shift: float  # S = 2 b + |p+|^2 - |p-|^2
    coef: Floats  # w = p+ - p-
    intercept: float  # b
    factor: float  # what f of the expansion was multiplied with


def canonical(expansion: Expansion, frame: CenteredFrame) -> Canonical:
    """Return a hyperplane in canonical form.

    Without any coefficient there is no hyperplane: both prototypes are the mean of the samples.
    """
    gamma, scale = balance_coefficients(expansion.gamma, frame.share), frame.scale
    positive = np.maximum(gamma, 0.0)
    negative = np.maximum(-gamma, 0.0)
    total = float(positive.sum())
    factor = 1.0 / total if total > 0.0 else 1.0
    if total > 0.0:
        positive, negative = positive / positive.sum(), negative / negative.sum()
    inner = np.stack([np.asarray(part @ frame.rows).ravel() for part in (negative, positive)])
    normal, offset = inner[1] - inner[0], factor * expansion.intercept
    shift = scale**2 * float(2.0 * offset + inner[1] @ inner[1] - inner[0] @ inner[0])
    coef = scale * normal
    return Canonical(
        gamma=positive - negative,
        prototypes=frame.center + scale * inner,
        shift=shift,
        coef=coef,
        intercept=float(scale**2 * offset - coef @ frame.center),
        factor=scale**2 * factor,
    )


def middle_of(X: Any, share: Floats | None = None) -> Floats:
    """Return the weighted mean of samples, exactly the common value where a feature is constant."""
    if issparse(X):
        return np.asarray(X.mean(axis=0)).ravel()
    mean = X.mean(axis=0) if share is None else share @ X
    return np.clip(mean, X.min(axis=0), X.max(axis=0))


def balance_coefficients(gamma: Floats, share: Floats) -> Floats:
    """Return coefficients that sum to zero, and the same combination of centred samples."""
    total = gamma.sum()
    if abs(total) <= BALANCED * np.abs(gamma).sum():
        return gamma  # the rest is rounding: coefficients that are zero stay so
    return gamma - total * share


class LinearPrototypeClassifier(LinearClassifier):
    """A linear classifier in canonical form; more than two classes by one versus rest.

    A subclass defines :meth:`_expand`, and ``fit`` with or without weights.
    """

    prototypes_: Floats
    shift_: Floats
    dual_coef_: Floats
    support_: Indices

    @abstractmethod
    def _expand(self, frame: CenteredFrame, problem: BinaryProblem) -> Expansion:
        """Return the hyperplane between two classes of the rows of a frame."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes and store them in canonical form."""
        with all_or_nothing(self):
            self._check_parameters()
            rows, codes, weight, (n, places) = self._check_weighted_data(X, y, sample_weight)
            frame = CenteredFrame.of(rows, weight)
            expansions = [self._expand(frame, each) for each in self._problems(codes, weight)]
            forms = [canonical(expansion, frame) for expansion in expansions]
            self._store(forms)
            self.dual_coef_ = np.zeros((len(forms), n))
            self.dual_coef_[:, places] = [form.gamma for form in forms]
            chosen = [np.flatnonzero(gamma) if s is None else s for gamma, _, s, _ in expansions]
            self.support_ = places[np.unique(np.concatenate(chosen))]
            self._store_details(expansions, forms)
        return self

    def _store(self, forms: list[Canonical]) -> None:
        """Store the hyperplanes and their prototypes."""
        self.coef_ = np.stack([form.coef for form in forms])
        self.intercept_ = np.array([form.intercept for form in forms])
        self.shift_ = np.array([form.shift for form in forms])
        if len(forms) == 1:
            self.prototypes_ = forms[0].prototypes
            self.__dict__.pop("rest_prototypes_", None)  # of an earlier fit with more classes
        else:
            self.prototypes_ = np.stack([form.prototypes[1] for form in forms])
            self.rest_prototypes_ = np.stack([form.prototypes[0] for form in forms])

    def _store_details(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what a method has beyond its hyperplanes."""
