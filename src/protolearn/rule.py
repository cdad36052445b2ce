"""What a fitted classifier is: labelled prototypes, a distance, and how distances decide.

Whoever looks at a fitted model (predictions, margins, certificates, counterfactuals, ONNX, the
report) takes its :class:`DecisionRule`. A nearest-prototype model holds one as ``rule_``, and
:func:`as_rule` makes one of any linear classifier.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import check_is_fitted

from ._arrays import (
    Floats,
    Indices,
    as_floats,
    check_observed_rows,
    checked_sparse,
    row_lengths,
    rows_at_a_time,
    some_rows,
    validate_data,
)
from .codebook import Codebook
from .distances import Distance, Geometry
from .margins import class_margins, class_minima

__all__ = ["Decision", "DecisionRule", "EditLog", "LinearRule", "as_rule", "with_raised_scores"]

Part = Callable[..., tuple[Any, Any]]
"""A function of some rows, a codebook, a distance and, if there are any, class codes of the rows:
returns a result, and numbers that are finite if the rows and their distances are."""

SINGLE = (1e-25, 1e25)
"""Scales at which squared distances fit into single precision."""

NEAR = 1e-5
"""Lead of the best score, in units of the numbers it comes from, that single precision may miss."""


@dataclass(frozen=True)
class Decision:
    """How distances, in units of the scale, become scores and probabilities.

    Attributes
    ----------
    soft : bool
        Whether all prototypes of a class count, by ``(1/xi) log sum exp(-xi D)``, or the nearest
        alone, by ``-min D``.
    xi : float
        Sharpness of the Gaussians of a soft decision.
    sharpness : float
        Factor of the margins of the classes in the softmax that gives probabilities.
    margin : {"difference", "relative", "root"}
        What the margins of the classes are (:func:`~protolearn.margins.class_margins`).
    floor : float
        Share of the probability that all classes have in equal parts.
    neighbors : int
        The h of a hard decision by the h-th nearest prototype of each class.
    """

    soft: bool = False
    xi: float = 1.0
    sharpness: float = 1.0
    neighbors: int = 1
    margin: str = "difference"
    floor: float = 0.0

    @property
    def by_nearest(self) -> bool:
        """Whether the nearest prototype alone decides."""
        return not self.soft and self.neighbors == 1

    def scores(self, D: Any, codes: Any, n_classes: int) -> Any:
        """Return one score a class for each row, an array (n, n_classes)."""
        nearest = class_minima(D, codes, n_classes)
        if self.by_nearest or nearest is D:
            return -nearest
        return np.stack([self._score(D[:, codes == c]) for c in range(n_classes)], axis=1)

    def probabilities(self, scores: Any) -> Any:
        """Return the softmax of the margins, mixed with equal probabilities by the floor.

        A class without prototypes has the probability zero.
        """
        P = softmax(self.sharpness * class_margins(scores, self.margin), axis=1)
        if self.floor:
            present = (scores > -np.inf).astype(P.dtype)
            P *= 1.0 - self.floor
            P += self.floor / present.sum(axis=1, keepdims=True) * present
        return P

    def _score(self, D: Any) -> Any:
        if not D.shape[1]:  # a class that has no prototype yet
            return np.full(len(D), -np.inf, dtype=D.dtype)
        if self.soft:
            return logsumexp(-self.xi * D, axis=1) / self.xi
        h = min(self.neighbors, D.shape[1]) - 1
        return -np.partition(D, h, axis=1)[:, h]


@dataclass(frozen=True, eq=False)
class EditLog:
    """What people have changed in a rule since it was learned.

    Attributes
    ----------
    codebook : Codebook
        The prototypes before the first edit.
    offsets : array (K,) or None
        What was added to their distances.
    entries : list of dict
        Each edit, with its reason, its author, the time and its effect.
    locked : list of str
        Columns in which no prototype may be changed.
    shown : list of int
        Marks of rows that the editors saw, out of those that are kept from them.
    """

    codebook: Codebook
    entries: list[dict[str, Any]] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    offsets: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRule:
    """Labelled prototypes, a distance, and how distances decide.

    The methods take rows as :meth:`read_rows` returns them.

    Attributes
    ----------
    codebook : Codebook
        The prototypes, their class codes and the metric.
    distance : Distance
        Measures rows by the codebook.
    decision : Decision
        Turns distances into scores.
    classes : array (n_classes,)
        The labels, sorted.
    scale : float
        Unit of distance.
    name : str
        Name of the classifier, for messages.
    offsets : array (K,) or None
        What is added to the distance of each prototype, never negative: thresholds other than
        equal distances. None: nothing.
    log : EditLog or None
        What people have changed since the rule was learned. None: nothing.
    """

    codebook: Codebook
    distance: Distance
    decision: Decision
    classes: NDArray[Any]
    scale: float
    name: str
    offsets: Floats | None = field(default=None, kw_only=True)
    log: EditLog | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        decides = "all decide" if self.is_soft else "the nearest decides"
        if self.decision.neighbors > 1:
            decides = f"the {2 * self.decision.neighbors - 1} nearest decide"
        return (
            f"<{type(self).__name__} of {self.name}: {len(self.codebook.labels)} prototypes of "
            f"{len(self.classes)} classes, {self.distance!r}, {decides}>"
        )

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each prototype."""
        return self.classes[self.codebook.labels]

    @property
    def is_soft(self) -> bool:
        """Whether more than the nearest prototype counts: not with one prototype a class."""
        labels = self.codebook.labels
        return self.decision.soft and len(np.unique(labels)) < len(labels)

    @property
    def directions(self) -> Floats | None:
        """Where prototypes lie, if the boundaries between their cells are flat; else None."""
        known = isinstance(self.distance, Geometry)
        return self.distance.directions(self.codebook) if known else None

    @property
    def steepness(self) -> Floats | None:
        """How fast each distance, unsquared, can change as a row moves; None without a bound."""
        known = isinstance(self.distance, Geometry)
        return self.distance.steepness(self.codebook) if known else None

    def read_rows(self, model: Any, X: Any, *, allow_nonfinite: bool = False) -> Any:
        """Return X as an array or a CSR matrix that the rule takes; raise if it is none.

        Single precision stays if distances at this scale fit into it. ``model`` knows the number
        and the names of the features.
        """
        may_miss = self.distance.missing_form is not None
        X = validate_data(
            model,
            X,
            reset=False,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr" if self.distance.sparse_form else False,
            ensure_all_finite=not allow_nonfinite and ("allow-nan" if may_miss else True),
        )
        if issparse(X):
            X = checked_sparse(X)
        self.distance.check_rows(X)
        fits = SINGLE[0] < self.scale < SINGLE[1]
        return X if fits else X.astype(np.float64, copy=False)

    def distances(self, rows: Any) -> Any:
        """Return the distance of each row to each prototype, an array (n, K)."""
        return self.by_chunks(rows, lambda part, code, form: (form.pairwise(part, code),) * 2)

    def scores(self, rows: Any) -> Any:
        """Return one score a class for each row, in units of the scale."""

        def scores(part: Any, codebook: Codebook, distance: Distance) -> tuple[Any, Any]:
            D = distance.pairwise(part, codebook)
            far = np.sqrt(np.finfo(D.dtype).max)  # as good as infinite, but a number
            return self._scores(np.minimum(D / self.scale, far)), D

        return self.by_chunks(rows, scores)

    def probabilities(self, rows: Any) -> Any:
        """Return the probability of each class, columns in the order of the classes.

        The class that :meth:`codes` returns has the largest one, also where two classes are equally
        near but for rounding.
        """
        scores = self.scores(rows)
        P = self.decision.probabilities(scores)
        codes = scores.argmax(axis=1) if self.decision.soft else self.codes(rows)
        astray = np.flatnonzero(P.argmax(axis=1) != codes)
        best = P[astray].max(axis=1, initial=0.0)
        P[astray, codes[astray]] = np.nextafter(best, P.dtype.type(2.0))
        return P

    def codes(self, rows: Any) -> Indices:
        """Return the class code of each row."""
        if not self.decision.by_nearest:
            codes: Indices = self.scores(rows).argmax(axis=1)
            return codes
        return self.codebook.labels[self.nearest(rows)]

    def nearest(self, rows: Any) -> Indices:
        """Return the nearest prototype of each row."""
        if self.offsets is not None:
            return np.asarray(self.distances(rows).argmin(axis=1))

        @cache
        def finder(distance: Distance, dtype: Any, n_rows: int) -> Any:
            return distance.finder(self.codebook, dtype, n_rows)

        found: Indices = self.by_chunks(
            rows, lambda part, _, distance: finder(distance, part.dtype, part.shape[0])(part)
        )
        return found

    def own_and_rival(self, rows: Any, codes: Any = None) -> Any:
        """Return the distances to the nearest prototype of a class and of all others, (n, 2).

        ``codes`` are the classes of the rows; None: that of the nearest prototype of each. If
        several prototypes decide, the h-th nearest stands for each class.
        """
        labels = self.codebook.labels
        if self.decision.neighbors > 1:
            return self.by_chunks(rows, self._class_gap, codes=codes)

        def nearest_two(
            part: Any, codebook: Codebook, distance: Distance, codes: Any = None
        ) -> tuple[Any, Any]:
            D = distance.pairwise(part, codebook)
            codes = labels[D.argmin(axis=1)] if codes is None else codes
            own = labels == codes[:, None]
            sides = np.where(own, D, np.inf).min(axis=1), np.where(own, np.inf, D).min(axis=1)
            return np.stack(sides, axis=1), D

        return self.by_chunks(rows, nearest_two, codes=codes)

    def _class_gap(
        self, part: Any, codebook: Codebook, distance: Distance, codes: Any = None
    ) -> tuple[Any, Any]:
        """Return the distances that decide for a class and for the nearest other one."""
        D = distance.pairwise(part, codebook)
        by_class = -self._scores(D)
        codes = by_class.argmin(axis=1) if codes is None else codes
        places = np.arange(len(D)), codes
        own = by_class[places]
        by_class[places] = np.inf
        return np.stack([own, by_class.min(axis=1)], axis=1), D

    def contributions(self, rows: Any) -> Floats:
        """Return the signed share of each feature in the lead of the class of each row."""
        speaks = self.feature_leads(rows)
        for some in some_rows(speaks):  # a second array of this size would be large
            total = np.abs(speaks[some]).sum(axis=1, keepdims=True)
            np.divide(speaks[some], total, out=speaks[some], where=total > 0.0)
        return speaks

    def feature_leads(self, rows: Any) -> Floats:
        """Return by how much each feature brings a row nearer to its class than to any other.

        Of a hard decision without offsets the sum is the lead of the best score in
        ``decision_function``.
        """
        labels = self.codebook.labels
        if len(np.unique(labels)) < 2:
            raise ValueError("There are prototypes of one class only: nothing to decide between.")

        def leads(part: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
            D = distance.pairwise(part, codebook)
            own = self._scores(D / self.scale).argmax(axis=1)[:, None] == labels
            winner = np.where(own, D, np.inf).argmin(axis=1)
            rival = np.where(own, np.inf, D).argmin(axis=1)
            speaks = distance.terms(part, codebook, rival) - distance.terms(part, codebook, winner)
            return speaks, D

        rows = rows.astype(np.float64, copy=False)
        found: Floats = self.by_chunks(rows, leads, width=rows.shape[1])
        return found

    def by_chunks(
        self,
        rows: Any,
        function: Part,
        distance: Distance | None = None,
        width: int | None = None,
        codes: Any = None,
    ) -> Any:
        """Return the stacked results of a function over chunks of rows that fit into a cache.

        ``width`` is how many numbers it needs for a row; as many as the row has by default.
        ``codes`` are class codes of the rows that the function takes as well.
        """
        codebook = self.codebook
        if distance is None:
            distance = self.distance.suited_to(rows) if issparse(rows) else self.distance
        if width is None:
            width = rows.nnz // max(rows.shape[0], 1) if issparse(rows) else rows.shape[1]
        size = rows_at_a_time(width + int(distance.effort(codebook)), rows.dtype.itemsize)
        out = None
        form: Any = distance if self.offsets is None else RaisedDistance(distance, self.offsets)
        for start in range(0, rows.shape[0], size):
            part = slice(start, start + size)
            beside = () if codes is None else (codes[part],)
            with np.errstate(over="ignore", invalid="ignore"):
                result, numbers = function(rows[part], codebook, form, *beside)
            if not np.isfinite(numbers).all():
                return self._retry(rows, function, distance, codes)
            if out is None:
                out = np.empty((rows.shape[0], *result.shape[1:]), dtype=result.dtype)
            out[part] = result
        return out

    def _scores(self, D: Any) -> Any:
        return self.decision.scores(D, self.codebook.labels, len(self.classes))

    def _retry(self, rows: Any, function: Part, distance: Distance, codes: Any) -> Any:
        """Find out why numbers are not finite: missing values, bad rows, too little precision."""
        may_miss = not issparse(rows) and distance.missing_form is not None
        values = rows.data if issparse(rows) else rows
        assert_all_finite(values, allow_nan=may_miss, estimator_name=self.name, input_name="X")
        if may_miss:
            check_observed_rows(rows)
            form = distance.suited_to(rows)
            if form is not distance:
                return self.by_chunks(rows, function, form, codes=codes)
        if rows.dtype == np.float32:
            return self.by_chunks(rows.astype(np.float64), function, distance, codes=codes)
        raise ValueError("The distances overflow: rescale X as the training data were scaled.")


class RaisedDistance:
    """A distance to which a number is added for each prototype; the rest is that of the distance.

    Differences of two such distances have the same derivatives as without, and roots of them change
    no faster.
    """

    def __init__(self, distance: Distance, offsets: Floats):
        self.inner, self.offsets = distance, offsets

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Any:
        """Return the raised distances of all rows to all prototypes, an array (n, K)."""
        D = self.inner.pairwise(X, codebook, prepared)
        return D + self.offsets.astype(D.dtype)

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        known: Any = self.inner
        return np.asarray(known.rounding(X, codebook, D, moved) + 4.0 * (D + self.offsets))


class ClassScore(Geometry, Distance):
    """Minus twice the linear score of a class, raised by as much as makes it positive.

    Minus twice the scores differ by linear functions of the sample, with the derivative
    ``2 (w_j - w_v)``: what :meth:`directions` promises, with normals in the place of prototypes
    and offsets in that of parameters. ``terms`` are the sizes of what adds up to the normals, and
    ``count`` how many these are.
    """

    def __init__(self, terms: Any = None, count: int = 1):
        self.terms, self.count = terms, count

    def groups(self, labels: Indices) -> Indices:
        """Return an offset of its own for each class."""
        return np.arange(len(labels))

    def scores(self, X: Any, codebook: Codebook) -> Floats:
        """Return the score of each class, an array (n, K)."""
        return np.asarray(X @ codebook.prototypes.T) + codebook.metric[:, 0]

    def size(self, X: Any, codebook: Codebook) -> Floats:
        """Return the size of the numbers that make up the scores: rounding is a share of it."""
        size = row_lengths(X) * row_lengths(codebook.prototypes).max()
        size += np.abs(codebook.metric).max()
        return np.where(size > 0.0, size, 1.0)  # the origin, without offsets

    def pairwise(self, X: Any, codebook: Codebook, prepared: Floats | None = None) -> Floats:
        """Return numbers that fall as the score rises, never far below the largest."""
        return 2.0 * (2.0 * self.size(X, codebook)[:, None] - self.scores(X, codebook))

    def nearest(self, X: Any, codebook: Codebook) -> tuple[Indices, Floats]:
        """Return the class with the largest score, the first of several."""
        scores = self.scores(X, codebook)
        return scores.argmax(axis=1), scores.max(axis=1)

    def directions(self, codebook: Codebook) -> Floats:
        """Return the normals."""
        return codebook.prototypes

    def rounding(self, X: Any, codebook: Codebook, D: Floats, moved: Floats) -> Floats:
        """Return how far computed distances can be from exact ones, in units of roundoff."""
        size = abs(X) @ self.terms.T + moved[:, None] * row_lengths(self.terms)
        n, offsets = 2.0 * (X.shape[1] + self.count + 10), np.abs(codebook.metric[:, 0])
        return n * (size + offsets) + 8.0 * self.size(X, codebook)[:, None]


ClassScore.sparse_form = ClassScore


class Predictor(Protocol):
    """A fitted classifier, of whatever library."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearRule(DecisionRule):
    """The rule of a linear classifier: the class with the largest score ``w_c.x + b_c`` wins.

    Attributes
    ----------
    model : classifier
        Whose rule it is; its own predictions count, with their own rounding.
    unit : float
        What the numbers of the codebook are multiplied with in ``coef_`` and ``intercept_``.
    """

    model: Predictor
    unit: float

    def __repr__(self) -> str:
        return f"<LinearRule of {self.name}: linear scores of {len(self.classes)} classes>"

    @classmethod
    def of(cls, model: Any) -> LinearRule:
        """Return the rule of a fitted classifier with ``coef_`` and ``intercept_``.

        The normals are scaled, exactly, so that their largest number is between a half and one.
        """
        normals, offsets = planes(model)
        order = np.argsort(model.classes_)
        exponent = -np.frexp(np.abs(normals).max())[1]  # powers of two are exact
        codes = np.arange(len(order))
        codebook = Codebook(
            as_floats(np.ldexp(normals[order], exponent)),
            codes,
            np.ldexp(offsets[order], exponent)[:, None],
            codes,
            np.zeros(normals.shape[1]),
        )
        classes, name = np.asarray(model.classes_)[order], type(model).__name__
        unit, distance = float(np.ldexp(1.0, -exponent)), ClassScore(np.abs(codebook.prototypes))
        if isinstance(model, (SVC, NuSVC)):  # it adds up products with its support vectors
            found = abs(model.dual_coef_) @ abs(model.support_vectors_) / unit
            found = np.pad(found.toarray() if issparse(found) else found, ((1, 0), (0, 0)))
            distance = ClassScore(found, len(model.support_))
        return cls(codebook, distance, Decision(), classes, 1.0, name, model, unit)

    def read_rows(self, model: Any, X: Any, *, allow_nonfinite: bool = False) -> Any:
        """Return X as an array or a CSR matrix; raise unless scores decide about its rows."""
        if isinstance(self.model, BaseEstimator):
            rows = super().read_rows(self.model, X)
        else:
            kinds = [np.float64, np.float32]
            rows = check_array(X, accept_sparse="csr", dtype=kinds, order="C", input_name="X")
            n_features = self.codebook.prototypes.shape[1]
            if rows.shape[1] != n_features:
                raise ValueError(
                    f"X has {rows.shape[1]} features, but {self.name} is expecting {n_features} "
                    "features as input."
                )
        predicted = np.asarray(self.model.predict(X))
        if predicted.shape != (rows.shape[0],):
            raise TypeError(
                f"{self.name} predicts several labels for a row; distances to other classes need "
                "exactly one label."
            )
        astray = np.flatnonzero(self.classes[super().codes(rows)] != predicted)
        if len(astray) and self.by_chunks(rows[astray], leads_surely).any():
            raise TypeError(
                f"{self.name} does not predict the class with the largest score X @ coef_.T + "
                "intercept_, so its coefficients do not define its regions."
            )
        return rows

    def scores(self, rows: Any) -> Floats:
        """Return the score of each class, ``X @ coef_.T + intercept_``; of two, zero and that."""

        def scores(part: Any, codebook: Codebook, distance: Any) -> tuple[Floats, Floats]:
            found = distance.scores(part, codebook)
            return self.unit * found, found

        found: Floats = self.by_chunks(rows, scores)
        return found

    def probabilities(self, rows: Any) -> Any:
        """Return the probabilities of the classifier itself, if it has any."""
        if not hasattr(self.model, "predict_proba"):
            raise ValueError(f"{self.name} has no predict_proba, and so no probabilities.")
        return self.model.predict_proba(rows)[:, np.argsort(self.model.classes_)]

    def codes(self, rows: Any) -> Indices:
        """Return the class codes that the classifier itself predicts."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return np.searchsorted(self.classes, self.model.predict(rows))


def leads_surely(X: Any, codebook: Codebook, distance: Any) -> tuple[NDArray[np.bool_], Floats]:
    """Return where the best score exceeds the second by more than rounding."""
    scores = distance.scores(X, codebook)
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    return best - second > NEAR * distance.size(X, codebook), scores


def as_rule(model: Any) -> DecisionRule:
    """Return the rule by which a fitted nearest-prototype or linear classifier decides.

    Parameters
    ----------
    model : classifier
        One of protolearn's nearest-prototype models, or any classifier that takes the largest of
        ``X @ coef_.T + intercept_``, also scikit-learn's.

    Returns
    -------
    rule : DecisionRule
        For linear classifiers a :class:`LinearRule`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from protolearn.rule import as_rule
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> rule = as_rule(model)
    >>> rule.codes(rule.read_rows(model, [[0.5], [4.5]]))
    array([0, 1])
    """
    if isinstance(model, Pipeline):
        raise TypeError("as_rule takes a classifier; of a Pipeline give the last step, model[-1].")
    if isinstance(model, ClassifierMixin):
        check_is_fitted(model)
    rule = getattr(model, "rule_", None)
    if isinstance(rule, DecisionRule):
        return rule
    needed = "coef_", "intercept_", "classes_"
    missing = [name for name in needed if not hasattr(model, name)]
    if missing or not hasattr(model, "predict"):
        kernel = getattr(model, "kernel", None)
        lacks = missing[0] if missing else "predict"
        reason = f"it has no {lacks}" + (f" with kernel={kernel!r}" if kernel else "")
        kinds = "is neither a nearest-prototype classifier nor a linear one"
        raise wrong_kind(model, f"{kinds}: {reason}", "that is")
    return LinearRule.of(model)


def with_raised_scores(model: Any, raised: Any) -> Any:
    """Return a copy of a fitted classifier with a number added to the score of each class.

    Parameters
    ----------
    model : classifier
        A classifier of this library, or one with ``coef_`` and ``intercept_``.
    raised : array-like of shape (n_classes,)
        What is added to what ``decision_function`` returns; of two classes the difference counts.

    Returns
    -------
    model : classifier
        It shares all arrays that do not change.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.rule import with_raised_scores
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> bool(with_raised_scores(model, [0.0, 5.0]).predict([[2.4]])[0] == 1)
    True
    """
    raised, changed = as_floats(raised), copy(model)
    rule = getattr(model, "rule_", None)
    if isinstance(rule, DecisionRule):
        offsets = -raised[rule.codebook.labels]
        offsets = offsets if rule.offsets is None else rule.offsets + offsets
        changed.rule_ = replace(rule, offsets=as_floats(offsets - offsets.min()))
        return changed
    if hasattr(model, "raised_scores_") and not hasattr(
        model, "coef_"
    ):  # votes have no offset of their own
        before = model.raised_scores_
        changed.raised_scores_ = raised if before is None else before + raised
        return changed
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise wrong_kind(model, "has no scores that could be raised", "with linear scores")
    more = raised if len(np.atleast_2d(model.coef_)) > 1 else np.diff(raised)
    changed.intercept_ = np.asarray(model.intercept_ + more)
    if hasattr(model, "shift_") and hasattr(model, "prototypes_"):
        changed.shift_ = np.asarray(model.shift_ + more * shift_of_scores(model))
    return changed


def shift_of_scores(model: Any) -> Floats:
    """Return by how much the shift of canonical prototypes rises with the score."""
    w, p = model.coef_, model.prototypes_
    if hasattr(model, "rest_prototypes_"):  # one versus rest
        normals, apart = w, p - model.rest_prototypes_
    elif len(w) < len(p):  # two classes
        normals, apart = w, p[1:] - p[:1]
    else:  # all have one factor
        normals, apart = ((places - places[0]).reshape(1, -1) for places in (w, p))
    size, length = (np.linalg.norm(one, axis=1) for one in (normals, apart))
    return np.asarray(np.divide(2.0 * length, size, out=np.zeros_like(size), where=size > 0.0))


def planes(model: Any) -> tuple[Floats, Floats]:
    """Return the normal and the offset of the score of each class."""
    name, n_classes = type(model).__name__, len(model.classes_)
    if isinstance(model, (SVC, NuSVC)) and n_classes > 2:
        raise TypeError(
            f"{name} separates each pair of its {n_classes} classes, and lets the pairs vote: no "
            "class has a score that is linear. Give a classifier with one versus rest, such as "
            "LinearSVC, or two classes."
        )
    coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    normals = as_floats(np.atleast_2d(coef))
    if normals.ndim > 2 or (len(normals) != n_classes and (len(normals), n_classes) != (1, 2)):
        raise TypeError(
            f"coef_ of {name} has shape {np.shape(coef)} for {n_classes} classes; expected one row "
            "for each class, or one row for two classes."
        )
    offsets = np.broadcast_to(np.ravel(as_floats(model.intercept_)), len(normals))
    if len(normals) == 1:  # the score of the first of two classes is zero
        normals, offsets = np.pad(normals, ((1, 0), (0, 0))), np.pad(offsets, (1, 0))
    return normals, offsets


def wrong_kind(model: Any, what: str, these: str) -> TypeError:
    """Return an error that says what a model is not, and what to give."""
    inner = [name for name in ("best_estimator_", "model_") if hasattr(model, name)]
    return TypeError(
        f"{type(model).__name__} {what}; give "
        + (f"its {inner[0]}, " if inner else "")
        + f"one {these}, or a Pipeline that ends in one."
    )
