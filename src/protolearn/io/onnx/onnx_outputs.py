"""The outputs of a graph: which there are for a model, and a formula for each."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from ..._arrays import Floats, as_floats, row_lengths
from ...analysis import factors, is_linear, joint_factor
from ...classifiers import NearestPrototypeClassifier
from ...distances import LinearMetric, SquaredEuclidean
from ...linear import RVM, LinearPrototypeClassifier, is_joint
from ...one_versus_rest import LinearClassifier
from ...perceptrons import KernelAdaTron
from ...rule import SINGLE, as_rule, planes
from ..exports.model_document import ModelParts, certificate_of, probabilities_of
from .onnx_distances import center_rows, distance_parts, mapped_parts, products
from .onnx_tensor import Tensor


class Output(NamedTuple):
    """The type of an output of a graph."""

    dtype: np.dtype[Any] | None = None  # None: numbers in the precision of the input
    width: int | None = None  # numbers for a row; None: one, and no second axis


class ModelOutputs:
    """The outputs of a fitted model for the rows X, each computed when it is asked for.

    A subclass has a property for every name in ``output_types``, and ``code``, the place of the
    predicted class among the classes.
    """

    code: Any
    center: Floats | None = None  # the mean row, if it is known

    def __init__(self, model: Any, X: Tensor):
        self.model = model
        self.X = X

    @classmethod
    def output_types(cls, model: Any) -> dict[str, Output]:
        """Return the outputs by name, the label first and what scores the classes second."""
        raise NotImplementedError

    @cached_property
    def label(self) -> Tensor:
        """The predicted class."""
        code, classes = self.code, as_labels(self.model.classes_)
        return self.X.graph.constant(classes).take(code)


class NearestOutputs(ModelOutputs):
    """What follows from the distances to prototypes.

    Probabilities and the label need only what the distances of a row do not have in common.
    """

    model: NearestPrototypeClassifier

    def __init__(self, model: NearestPrototypeClassifier, X: Tensor):
        super().__init__(model, X)
        self.rule = model.rule_
        low, high = SINGLE
        if X.dtype == np.float32 and not low < self.rule.scale < high:
            raise ValueError(
                f"The distances are of the size {self.rule.scale:.3g}, which is out of the range "
                "of single precision; rescale the features, for example with StandardScaler in a "
                "Pipeline, and fit again."
            )
        if self.rule.decision.neighbors > 1:
            raise ValueError(
                f"{self.rule.name} decides by several nearest prototypes, which has no ONNX form; "
                "take a margin by which the nearest one decides, such as Hypothesis."
            )
        self.codebook = self.rule.codebook
        self.parts = distance_parts(self.rule.distance, X, self.codebook)
        if self.rule.offsets is not None:
            raised = self.parts.relative + self.rule.offsets[None, :]
            self.parts = self.parts._replace(relative=raised)

    @classmethod
    def output_types(cls, model: NearestPrototypeClassifier) -> dict[str, Output]:
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
        known = isinstance(model.rule_.distance, (LinearMetric, SquaredEuclidean))
        if known and not model.rule_.decision.soft and model.rule_.steepness is not None:
            found["certified_radius"] = Output()
        if known and len(np.unique(model.rule_.codebook.labels)) > 1:
            found["contributions"] = Output(width=model.n_features_in_)
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
        nearest, labels = self.nearest_prototype, self.codebook.labels.astype(np.int64)
        return self.X.graph.constant(labels).take(nearest)

    @cached_property
    def probabilities(self) -> Tensor:
        """The softmax of the margins of the classes, mixed with equal probabilities."""
        decision = self.rule.decision
        P = (self._class_margins * float(decision.sharpness)).softmax()
        if not decision.floor:
            return P
        present = ~self._absent
        return P * (1.0 - decision.floor) + decision.floor / present.sum() * present

    @cached_property
    def distances(self) -> Tensor:
        """The distances to all prototypes."""
        return self.parts.whole()

    @cached_property
    def hypothesis_margin(self) -> Tensor:
        """Half of how much farther the nearest prototype of another class is, unsquared."""
        C = len(self.model.classes_)
        nearest = self._by_class(self.distances).min(2).reshape(-1, C)
        rival = nearest.without(self.code, C).min(1)
        both = nearest.at(self.code), rival
        own_length, rival_length = (x.root() if self.rule.distance.squared else x for x in both)
        return ((rival_length - own_length) * 0.5).reshape(-1)

    @cached_property
    def certified_radius(self) -> Tensor:
        """A length: no row that is nearer has another label, in the arithmetic of this graph.

        ``min_v (D_v - D_j) / pace_jv`` under one map, of the roots under several; the errors of
        distances are held against it.
        """
        (Z, V), D = center_rows(self.X, self.codebook), self.distances
        nearest = self.nearest_prototype
        same = self.code.reshape(-1, 1).equals(self.codebook.labels[None, :])
        certificate = certificate_of(self.rule)
        assert certificate is not None
        paces = np.array(certificate["pace"]) + np.eye(len(V))
        pace = self.X.graph.constant(paces, self.X.dtype).take(nearest)
        stretch = np.maximum(row_lengths(self.codebook.metric), not self.codebook.metric.size)
        length, unit = Z.square().sum(1).root(), float(np.finfo(self.X.dtype).eps)

        def least(E: Tensor) -> Tensor:
            far, near = D - E, (D + E).at(nearest)
            gap = far.positive().root() - near.root() if certificate["root"] else far - near
            return (gap / pace).replace_where(same, np.inf).min(1)

        # As ``Geometry.rounding``, but for one centre of rows and prototypes; D and labels have it.
        size = (least(D * 0.0) + length + row_lengths(V)) * stretch[self.codebook.group]
        radius = least(size.square() * (8.0 * V.shape[1] + 40.0) * (2.0 * unit))
        return (radius * (1.0 - 64.0 * unit) - length * (8.0 * unit)).positive().reshape(-1)

    @cached_property
    def contributions(self) -> Tensor:
        """By how much each feature is nearer to the own prototype than to that of a rival."""
        same = self.code.reshape(-1, 1).equals(self.codebook.labels[None, :])
        D = self.distances
        rival = D.replace_where(same, np.inf).argmin()
        return self._terms(rival) - self._terms(D.replace_where(~same, np.inf).argmin())

    def _terms(self, prototype: Tensor) -> Tensor:
        """Return ``e_j (A^T A e)_j`` for the difference from a named prototype of each row."""
        (Z, V), codebook, distance = center_rows(self.X, self.codebook), self.codebook, self.rule
        e = Z - Z.graph.constant(V, Z.dtype).take(prototype)
        if distance.distance.missing_form is not None:
            absent = e.apply("IsNaN", dtype=bool)
            known = (~absent).cast(Z.dtype)
            share = (known * 0.0 + 1.0).sum(1) / known.sum(1)
            e = e.replace_where(absent, 0.0)
        if not isinstance(distance.distance, LinearMetric):
            found = e.square()
        else:
            d, group = V.shape[1], Z.graph.constant(codebook.group, np.int64).take(prototype)
            omegas = [distance.distance.omega(row, d) for row in codebook.metric]
            found = total(
                e * (e @ (A.T @ A)) * group.equals(g).cast(Z.dtype).reshape(-1, 1)
                for g, A in enumerate(omegas)
            )
        return found if distance.distance.missing_form is None else found * share

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
        return scores.reshape(-1, len(self.model.classes_))

    @cached_property
    def _class_margins(self) -> Tensor:
        """As ``margins.class_margins``; in differences, what a row has in common does not count."""
        C, kind = len(self.model.classes_), self.rule.decision.margin
        if kind == "difference":
            return self._relative_scores
        D = self._by_class(self.distances).min(2).reshape(-1, C) / self.rule.scale
        if kind == "root":
            return -D.root()
        D = D.positive()
        second = D.without(D.argmin(), C).min(1)
        total, tiny = second + D, float(np.finfo(self.X.dtype).tiny)
        margin = ((second - D) / total).replace_where(~(total > tiny), 0.0)
        return margin.replace_where(margin.graph.constant(self._absent), -np.inf)

    @property
    def _absent(self) -> NDArray[np.bool_]:
        """Whether each class has no prototype yet."""
        return np.bincount(self.codebook.labels, minlength=len(self.model.classes_)) == 0

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
        columns = D.take(places.ravel(), axis=1).reshape(-1, C, most)
        return (
            columns.replace_where(columns.graph.constant(absent), np.inf)
            if absent.any()
            else columns
        )


class LinearView(ClassifierMixin, BaseEstimator):
    """A fitted linear classifier of scikit-learn, as what it decides by."""

    def __init__(self, model: Any):
        self.model = model
        normals, offsets = planes(model)
        two = len(model.classes_) == 2
        self.classes_, self.n_features_in_ = model.classes_, normals.shape[1]
        self.coef_, self.intercept_ = (x[1:] - x[:1] if two else x for x in (normals, offsets))
        self.shares = probabilities_of(ModelParts(last=model), as_rule(model))

    def fit(self, X: Any, y: Any) -> LinearView:
        """Return the view of a clone of the model, fitted to rows and labels."""
        return LinearView(clone(self.model).fit(X, y))

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""
        return self.model.predict(X)

    @classmethod
    def of(cls, model: Any) -> Any:
        """Return the view of a model, or the model itself if more than linear scores decides."""
        if not type(model).__module__.startswith("sklearn.") or not hasattr(model, "coef_"):
            return model
        try:
            view = cls(model)
        except (TypeError, ValueError):
            return model
        known = view.shares is not None or not hasattr(model, "predict_proba")
        return view if known and hasattr(model, "decision_function") else model


class LinearOutputs(ModelOutputs):
    """What follows from one score a class, or one for two."""

    @classmethod
    def output_types(cls, model: Any) -> dict[str, Output]:
        """Return the outputs by name; those of prototypes where the model has them."""
        C = len(model.classes_)
        found = {"label": Output(as_labels(model.classes_).dtype)}
        if isinstance(model, RVM) or getattr(model, "shares", None) is not None:
            found["probabilities"] = Output(width=C)
        found["scores"] = Output(width=C)
        if isinstance(model, LINEAR) and hasattr(model, "coef_"):
            found["certified_radius"] = Output()
            found["contributions"] = Output(width=model.coef_.shape[1])
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
        return (self._scores > 0.0).cast(np.int64).reshape(-1)

    @cached_property
    def probabilities(self) -> Tensor:
        """The logistic functions of the log-odds; of more than two classes divided by their sum.

        Of a view the softmax of the scores, if that is what its model has.
        """
        odds = self._scores.cast(self.X.dtype)
        if len(self.model.classes_) == 2:
            half = odds * (0.5 / getattr(self.model, "unit_", 1.0))
            return two_columns(half).softmax()
        if getattr(self.model, "shares", {"kind": None})["kind"] == "softmax":
            return odds.softmax()
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
    def certified_radius(self) -> Tensor:
        """A length: no row that is nearer has another label, in the arithmetic of this graph."""
        normals, offsets = self._planes
        X, unit, C = self.X, float(np.finfo(self.X.dtype).eps), len(normals)
        scores = X @ normals.T + offsets
        length = X.square().sum(1).root()
        size = length * row_lengths(normals)[None, :] + np.abs(offsets)[None, :]
        error = size * (2.0 * unit * (normals.shape[1] + 10))
        own = scores.at(self.code) - error.at(self.code)
        pace = X.graph.constant(cdist(normals, normals) + np.eye(C), X.dtype).take(self.code)
        gap = (own - scores - error).positive() / pace.maximum(float(np.finfo(X.dtype).tiny))
        least = gap.without(self.code, C).min(1)
        return (least * (1.0 - 64.0 * unit) - length * (8.0 * unit)).positive().reshape(-1)

    @cached_property
    def contributions(self) -> Tensor:
        """What each feature adds, from the boundary's point that is nearest to the mean row."""
        normals, offsets = self._planes
        graph, X, center = self.X.graph, self.X, self.center
        center = self._center if center is None else center
        offsets = offsets + normals @ center
        scores = (X - center) @ normals.T + offsets
        second = (-(-scores).without(self.code, len(normals))).argmax()
        W, b = graph.constant(normals, X.dtype), graph.constant(offsets, X.dtype)
        normal = W.take(self.code) - W.take(second)
        lead = (b.take(self.code) - b.take(second)).reshape(-1, 1)
        square = normal.square().sum(1)
        away = (lead / square).replace_where(~(square > 0.0), 0.0)
        return normal * (X - center + normal * away)

    @property
    def _planes(self) -> tuple[Floats, Floats]:
        """The normal and the offset of the score of each class; of two, of the first zero."""
        rule: Any = as_rule(self.model)
        return rule.unit * rule.codebook.prototypes, rule.unit * rule.codebook.metric[:, 0]

    @cached_property
    def hypothesis_margin(self) -> Tensor:
        """How far the prototypes may move before the class changes."""
        near = self.distances.root()
        two = len(self.model.classes_) == 2
        margin = self._margin_of_two(near) if two else self._margin_of_many(near)
        return (margin + near.sum(1) * 0.0).reshape(-1)  # so that NaN and infinity are not lost

    def _margin_of_two(self, near: Tensor) -> Tensor:
        P = self.model.prototypes_
        weight = factors(self.model, P[1:] - P[:1])
        own, rival = near.at(self.code), near.at((self.code * -1) + 1)
        return reach(self._scores.apply("Abs") * 2.0, [rival], [own], [weight])

    def _margin_of_many(self, near: Tensor) -> Tensor:
        """Return the least of the margins over the other classes."""
        model, graph = self.model, self.X.graph
        lead = (self._scores.at(self.code) - self._scores) * 2.0
        if is_joint(model):
            margin = reach(lead, [near], [near.at(self.code)], [joint_factor(model)])
            return margin.without(self.code, len(model.classes_)).min(1)
        rest = self._squares(model.rest_prototypes_).root()
        weight = factors(model, model.prototypes_ - model.rest_prototypes_)
        own_weight = graph.constant(weight, self.X.dtype).take(self.code).reshape(-1, 1)
        margin = reach(
            lead, [rest.at(self.code), near], [near.at(self.code), rest], [own_weight, weight]
        )
        return margin.without(self.code, len(weight)).min(1)

    def _squares(self, P: Floats) -> Tensor:
        return mapped_parts(self.X - self._center, P - self._center).whole()

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
        if isinstance(model, LINEAR) and hasattr(model, "coef_"):
            coef, center = model.coef_, self._center
            Z = self.X - center if center.any() else self.X
            return Z @ coef.T + (model.intercept_ + coef @ center)
        if isinstance(model, RVM):
            dual, offset = model.dual_coef_[:, model.support_], model.intercept_
            vectors = getattr(model, "relevance_vectors_", None)
        elif isinstance(model, LinearPrototypeClassifier):
            dual = model.score_scale_[:, None] * model.dual_coef_[:, model.support_]
            offset, vectors = model.intercept_, getattr(model, "support_vectors_", None)
        else:
            dual, offset = model.dual_coef_, model.offset_
            vectors = getattr(model, "support_vectors_", None)
        if vectors is None:
            found = self.X.take(model.support_, axis=1).cast(np.float64)
        else:
            found = products(model.kernel_, self.X, vectors)
        if (raised := model.raised_scores_) is not None:
            offset = offset + (raised if len(dual) > 1 else np.diff(raised))
        return found @ dual.T + offset


LINEAR = LinearClassifier, LinearView

FAMILIES: dict[type[Any], type[ModelOutputs]] = {
    LinearView: LinearOutputs,
    NearestPrototypeClassifier: NearestOutputs,
    LinearClassifier: LinearOutputs,
    KernelAdaTron: LinearOutputs,
}
"""The outputs of the models of a family, and of those derived from them."""


def outputs_class(model: Any) -> type[ModelOutputs]:
    """Return the class of the outputs of a model."""
    return next(kind for family, kind in FAMILIES.items() if isinstance(model, family))


def as_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as ONNX has them: 64-bit integers, double precision, booleans or strings."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "iu" and np.array_equal(labels.astype(np.int64), labels):
        return labels.astype(np.int64)
    if labels.dtype.kind == "f":
        return labels.astype(np.float64)
    if labels.dtype.kind == "b" or all(isinstance(label, str) for label in labels.tolist()):
        return labels if labels.dtype.kind == "b" else labels.astype(object)
    raise TypeError(
        f"The labels {labels.tolist()!r} have no common type in ONNX, which has strings, 64-bit "
        "integers, numbers in double precision and booleans; fit the model with such labels."
    )


def two_columns(scores: Tensor) -> Tensor:
    """Return one score a class for the score of the second of two."""
    return (-scores).beside(scores)


def reach(
    lead: Tensor, shrinking: list[Tensor], growing: list[Tensor], weight: list[Any]
) -> Tensor:
    """Return how far prototypes may move before a lead is lost, which is not negative.

    As ``analysis.hypothesis_margin``: it solves ``lead = 2 theta sum a d + sum_come a (theta -
    d)^2`` for theta, the second sum over those among the shrinking distances that theta exceeds.
    """
    every = list(zip(shrinking, growing, weight, strict=True))
    pace = total((s + g) * a for s, g, a in every)
    come = []
    for s, _, a in every:
        past = total((s - other).positive().square() * b for other, _, b in every)
        lost = s * pace * 2.0 + past
        come.append((lost * 0.0).replace_where(lost < lead, a))
    alpha = total(come)
    beta = total(g * a + (-c + a) * s for (s, g, a), c in zip(every, come, strict=True))
    gone = total(c * s.square() for s, c in zip(shrinking, come, strict=True))
    gamma = (lead - gone).positive()
    denominator = beta + (beta.square() + alpha * gamma).root()
    return (gamma * 0.0).replace_where(denominator > 0.0, gamma / denominator)


def total(tensors: Iterable[Tensor]) -> Tensor:
    """Return the sum of some tensors."""
    return reduce(add, tensors)
