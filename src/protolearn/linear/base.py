"""What every linear classifier of two prototypes has in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from .._arrays import Floats, Indices
from ..one_versus_rest import LinearClassifier, Problem
from .canonical import Canonical, Expansion, Frame, canonical


class LinearPrototypeClassifier(LinearClassifier):
    """A linear classifier in canonical form; more than two classes by one versus rest.

    A subclass gives :meth:`_expand`, and ``fit`` with or without weights.
    """

    prototypes_: Floats
    shift_: Floats
    dual_coef_: Floats
    support_: Indices

    @abstractmethod
    def _expand(self, frame: Frame, problem: Problem) -> Expansion:
        """Find the hyperplane between two classes of the rows of a frame."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplanes and store them in canonical form."""
        self._check_parameters()
        rows, codes, weight, (n, places) = self._counting(X, y, sample_weight)
        frame = Frame.of(rows, weight)
        expansions = [self._expand(frame, each) for each in self._problems(codes, weight)]
        forms = [canonical(expansion, frame) for expansion in expansions]
        self._store(forms)
        self.dual_coef_ = np.zeros((len(forms), n))
        self.dual_coef_[:, places] = [form.gamma for form in forms]
        self.support_ = places[_support(expansions)]
        self._tell(expansions, forms)
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

    def _tell(self, expansions: list[Expansion], forms: list[Canonical]) -> None:
        """Store what a method has to tell beyond its hyperplanes."""


def _support(expansions: list[Expansion]) -> Indices:
    """Return the samples that any of the methods has chosen, in order."""
    chosen = [
        np.flatnonzero(expansion.gamma) if expansion.support is None else expansion.support
        for expansion in expansions
    ]
    return np.unique(np.concatenate(chosen))
