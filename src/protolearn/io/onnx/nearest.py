"""The answers of nearest-prototype models."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...classifiers import NearestPrototypeClassifier
from ...rule import SINGLE
from .answers import Answers, Output, as_labels, two_columns
from .distances import distance_parts
from .tensor import Tensor, take_from


class NearestAnswers(Answers):
    """What follows from the distances to prototypes.

    Probabilities and the label need only what the distances of a row do not have in common.
    """

    model: NearestPrototypeClassifier

    def __init__(self, model: NearestPrototypeClassifier, X: Tensor):
        super().__init__(model, X)
        self.rule = model.rule_
        self._check_scale()
        self.codebook = self.rule.codebook
        self.parts = distance_parts(self.rule.distance, X, self.codebook)

    @classmethod
    def offered(cls, model: NearestPrototypeClassifier) -> dict[str, Output]:
        """Return the outputs by name; there is no margin where the distance is no metric."""
        K, C = len(model.prototype_labels_), len(model.classes_)
        found = {
            "label": Output(as_labels(model.classes_).dtype),
            "probabilities": Output(width=C),
            "nearest_prototype": Output(np.dtype(np.int64)),
            "distances": Output(width=K),
        }
        if model.rule_.distance.squared is not None:
            found["hypothesis_margin"] = Output()
        return {**found, "scores": Output(width=C)}

    @cached_property
    def nearest_prototype(self) -> Tensor:
        """The place of the nearest prototype among all."""
        return self.parts.relative.argmin()

    @cached_property
    def code(self) -> Tensor:
        """The class of the nearest prototype, or the most probable one of a soft decision."""
        if self.rule.decision.soft:
            return self._relative_scores.argmax()
        return take_from(
            self.X.graph, self.codebook.labels.astype(np.int64), self.nearest_prototype
        )

    @cached_property
    def probabilities(self) -> Tensor:
        """The softmax of the scores, in which what they have in common makes no difference."""
        return (self._relative_scores * self.rule.decision.sharpness).softmax()

    @cached_property
    def distances(self) -> Tensor:
        """The distances to all prototypes."""
        return self.parts.whole()

    @cached_property
    def hypothesis_margin(self) -> Tensor:
        """Half of how much farther the nearest prototype of another class is, unsquared."""
        C = len(self.model.classes_)
        nearest = self._by_class(self.distances).min(2).reshaped(-1, C)
        rival = nearest.without(self.code, C).min(1)
        both = nearest.at(self.code), rival
        own_length, rival_length = (x.root() if self.rule.distance.squared else x for x in both)
        return ((rival_length - own_length) * 0.5).reshaped(-1)

    @cached_property
    def scores(self) -> Tensor:
        """Minus the distance to each class, or its soft minimum; for two classes the lead."""
        scores = self._relative_scores * self.rule.scale
        if len(self.model.classes_) == 2:
            return two_columns(scores.take([1], axis=1) - scores.take([0], axis=1))
        return scores if self.parts.common is None else scores - self.parts.common

    @cached_property
    def _relative_scores(self) -> Tensor:
        """One score a class in units of the scale, less what those of a row have in common."""
        D, decision = self.parts.relative / self.rule.scale, self.rule.decision
        columns = self._by_class(D)
        if decision.soft:
            xi = float(decision.xi)
            scores = (columns * -xi).logsumexp(2) / xi
        else:
            scores = -columns.min(2)
        return scores.reshaped(-1, len(self.model.classes_))

    def _by_class(self, D: Tensor) -> Tensor:
        """Return the columns of the prototypes of each class, an array (n, n_classes, most).

        What a class has less than the others is infinite.
        """
        labels, C = self.codebook.labels, len(self.model.classes_)
        count = np.bincount(labels, minlength=C)
        order, most = np.argsort(labels, kind="stable"), int(count.max())
        absent = np.arange(most) >= count[:, None]
        places = np.zeros((C, most), dtype=np.int64)
        places[~absent] = order
        columns = D.take(places.ravel(), axis=1).reshaped(-1, C, most)
        return columns.replaced(columns.graph.constant(absent), np.inf) if absent.any() else columns

    def _check_scale(self) -> None:
        low, high = SINGLE
        if self.X.dtype == np.float32 and not low < self.rule.scale < high:
            raise ValueError(
                f"The distances are of the size {self.rule.scale:.3g}, which is out of the range "
                "of single precision; rescale the features, for example with StandardScaler in a "
                "Pipeline, and fit again."
            )
