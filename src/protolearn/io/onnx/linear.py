"""The answers of linear classifiers, and of those that are linear in the space of a kernel."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..._arrays import Floats, as_floats
from ...analysis import factors, is_linear
from ...linear import RVM
from ...one_versus_rest import LinearClassifier
from .answers import Answers, Output, as_labels, two_columns
from .distances import mapped_parts
from .kernels import products
from .reach import reach
from .tensor import Tensor


class LinearAnswers(Answers):
    """What follows from one score a class, or one for two."""

    @classmethod
    def offered(cls, model: Any) -> dict[str, Output]:
        """Return the outputs by name; those of prototypes where the model has them."""
        C = len(model.classes_)
        found = {"label": Output(as_labels(model.classes_).dtype)}
        if isinstance(model, RVM):
            found["probabilities"] = Output(width=C)
        found["scores"] = Output(width=C)
        if is_linear(model):
            found["nearest_prototype"] = Output(np.dtype(np.int64))
            found["distances"] = Output(width=len(model.prototypes_))
            found["hypothesis_margin"] = Output()
        return found

    @cached_property
    def scores(self) -> Tensor:
        """The decision function; for two classes minus and plus it."""
        return two_columns(self._scores) if len(self.model.classes_) == 2 else self._scores

    @cached_property
    def code(self) -> Tensor:
        """The class with the largest score, the second of two if it is positive."""
        if len(self.model.classes_) > 2:
            return self._scores.argmax()
        return (self._scores > 0.0).cast(np.int64).reshaped(-1)

    @cached_property
    def probabilities(self) -> Tensor:
        """The logistic functions of the log-odds; of more than two classes divided by their sum."""
        odds = self._scores.cast(self.X.dtype)
        if len(self.model.classes_) == 2:
            half = odds * (0.5 / self.model.unit_)
            return two_columns(half).softmax()
        return (-(-odds).apply("Softplus")).softmax()

    @cached_property
    def nearest_prototype(self) -> Tensor:
        """The place of the nearest prototype; it need not be that of the predicted class."""
        return self.distances.argmin()

    @cached_property
    def distances(self) -> Tensor:
        """The squared Euclidean distances to the prototypes."""
        return self._squares(self.model.prototypes_)

    @cached_property
    def hypothesis_margin(self) -> Tensor:
        """How far the prototypes may move before the class changes."""
        near = self.distances.root()
        two = len(self.model.classes_) == 2
        margin = self._margin_of_two(near) if two else self._margin_of_many(near)
        return (margin + near.sum(1) * 0.0).reshaped(-1)  # so that NaN and infinity are not lost

    def _margin_of_two(self, near: Tensor) -> Tensor:
        P = self.model.prototypes_
        weight = factors(self.model, P[1:] - P[:1])
        own, rival = near.at(self.code), near.at((self.code * -1) + 1)
        return reach(self._scores.apply("Abs") * 2.0, [rival], [own], [weight])

    def _margin_of_many(self, near: Tensor) -> Tensor:
        """Return the least of the margins over the other classes, each against its rest."""
        model, graph = self.model, self.X.graph
        rest = self._squares(model.rest_prototypes_).root()
        weight = factors(model, model.prototypes_ - model.rest_prototypes_)
        own_weight = graph.constant(weight, self.X.dtype).take(self.code).reshaped(-1, 1)
        lead = (self._scores.at(self.code) - self._scores) * 2.0
        margin = reach(
            lead, [rest.at(self.code), near], [near.at(self.code), rest], [own_weight, weight]
        )
        return margin.without(self.code, len(weight)).min(1)

    def _squares(self, P: Floats) -> Tensor:
        center = self._center
        return mapped_parts(self.X - center, P - center).whole()

    @property
    def _center(self) -> Floats:
        """A point among the data, where few digits are lost; the origin if none is known."""
        if is_linear(self.model):
            return as_floats(self.model.prototypes_.mean(axis=0).astype(self.X.dtype))
        return np.zeros(self.model.n_features_in_)

    @cached_property
    def _scores(self) -> Tensor:
        """The scores as the model has them, an array (n, C) or (n, 1)."""
        model = self.model
        if isinstance(model, LinearClassifier) and hasattr(model, "coef_"):
            coef, center = model.coef_, self._center
            Z = self.X - center if center.any() else self.X
            return Z @ coef.T + (model.intercept_ + coef @ center)
        if isinstance(model, RVM):
            dual, offset = model.dual_coef_[:, model.support_], model.intercept_
            vectors = getattr(model, "relevance_vectors_", None)
        else:
            dual, offset = model.dual_coef_, model.offset_
            vectors = getattr(model, "support_vectors_", None)
        if vectors is None:
            found = self.X.take(model.support_, axis=1).cast(np.float64)
        else:
            found = products(model.kernel_, self.X, vectors)
        return found @ dual.T + offset
