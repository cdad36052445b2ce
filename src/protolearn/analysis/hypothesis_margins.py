"""Hypothesis margin: how far the prototypes may move before a sample changes its class.

Crammer et al. (2002, lemma 1) prove it for nearest-prototype models.

Linear classifiers have a shift besides their prototypes, which does not move. The score of a class
is ``a (|x - p-|^2 - |x - p+|^2 + S)``. If all prototypes move by ``theta``, at worst towards the
sample or away from it, then the lead of one class over another falls by ``2 theta`` times the sum
of all ``a |x - p|``, and, once a prototype has come to the sample, also by ``a (theta - |x -
p|)^2``, since it cannot come nearer. The margin is the ``theta`` at which the lead is lost. Where
classes are told apart jointly, the score is ``a (S - |x - p|^2)``, and there are no other
prototypes than one for each class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices, check_observed_rows, checked_sparse, rows_at_a_time
from .._dask import row_by_row
from ..blocks import Block
from ..classifiers import CoordinateDistance, NearestPrototypeClassifier
from ..linear import LinearPrototypeClassifier, is_joint
from ..margins import Hypothesis
from ..rule import DecisionRule, wrong_kind
from ..solvers import State

PAIRED = 32
"""Numbers for each class of a row: distances and weights of two prototypes against two others."""


@row_by_row
def hypothesis_margin(model: Any, X: Any, y: Any) -> Floats:
    """Return the hypothesis margin of labelled samples.

    How far all prototypes may move before a sample changes its class; negative where they have to
    move for it to get its class. So it is negative where the prediction is wrong, for all models
    but those with a soft decision, where that is where the nearest prototype is of another class.

    Parameters
    ----------
    model : nearest-prototype or linear classifier of protolearn, or Pipeline that ends in one
        A fitted model. In a pipeline the margin is measured in the space of the last step.
    X : array-like of shape (n_samples, n_features)
        The samples. A Dask array or frame is answered lazily, by a Dask array.
    y : array-like of shape (n_samples,)
        Their labels; for a Dask collection also a Dask array or series with the same parts.

    Returns
    -------
    margin : array of shape (n_samples,)
        In the units of the unsquared distance.

    Notes
    -----
    Of a nearest-prototype model it is ``(d- - d+) / 2``, d+ the distance to the nearest prototype
    of the label and d- to the nearest of any other. If the k nearest decide
    (:class:`~protolearn.margins.KNearest`), these are the distances to the h-th nearest prototype
    of a class, ``h = (k + 1) // 2``.

    Of a linear classifier with two classes and the shift S in favour of the label it is
    ``(d-^2 - d+^2 + S) / (2 (d- + d+))``, as long as no prototype that comes nearer has to pass the
    sample; S does not move. Of classes that are told apart jointly it is the least of these over
    the other classes; of one versus rest as well, where the prototypes of both classes and of their
    rests move.

    Examples
    --------
    >>> from protolearn import GLVQ, hypothesis_margin
    >>> model = GLVQ(init="means").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> hypothesis_margin(model, [[0.5]], [0]).shape
    (1,)
    """
    model, X = last_step(model, X)
    check_prototypes(model)
    y = known_labels(model, y)
    codes = np.searchsorted(model.classes_, y)
    if isinstance(model, LinearPrototypeClassifier):
        check_lengths(X, y)
        return linear_margin(model, X, codes)
    check_metric(model.rule_)
    rows = model.rule_.read_rows(model, X)
    check_lengths(rows, y)
    return nearest_margin(model.rule_, rows, codes)


def margin_of_prediction(model: Any, X: Any) -> Floats:
    """Return the hypothesis margin of the class that each row is predicted to have.

    It is never negative but for models with a soft decision.
    """
    model, X = last_step(model, X)
    check_prototypes(model)
    if isinstance(model, LinearPrototypeClassifier):
        return linear_margin(model, X)
    rule = model.rule_
    check_metric(rule, "; give measure='probability'")
    rows = rule.read_rows(model, X)
    return nearest_margin(rule, rows, rule.codes(rows) if rule.decision.soft else None)


def check_lengths(X: Any, y: Any) -> None:
    """Raise if there are not as many rows as labels."""
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(f"X has {rows} rows and y has {len(y)} labels.")


def check_metric(rule: DecisionRule, advice: str = "") -> None:
    """Raise if the distance of a rule has no length, and so no margin."""
    if rule.distance.squared is None:
        raise ValueError(
            f"{type(rule.distance).__name__} is not a metric, so there is no hypothesis margin"
            f"{advice}."
        )


def nearest_margin(rule: DecisionRule, rows: Any, codes: Any) -> Floats:
    """Return the hypothesis margin of rows of some classes; None: of the nearest prototypes."""
    near = rule.own_and_rival(rows, codes)
    own, rival = (np.sqrt(near) if rule.distance.squared else near).T
    return np.asarray(0.5 * (rival - own))


def linear_margin(model: LinearPrototypeClassifier, X: Any, codes: Indices | None = None) -> Floats:
    """Return the hypothesis margin of rows of some classes; None: of those that are predicted."""
    scores = np.asarray(model.decision_function(X))
    X = check_array(X, dtype=np.float64)
    if codes is None:
        codes = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0.0).astype(np.intp)
    size = rows_at_a_time(X.shape[1] + PAIRED * len(model.classes_))
    cuts = [slice(start, start + size) for start in range(0, len(X), size)]
    return np.concatenate([linear_part(model, X[c], scores[c], codes[c]) for c in cuts])


def linear_part(
    model: LinearPrototypeClassifier, X: Floats, scores: Floats, own: Indices
) -> Floats:
    """Return the hypothesis margin of some rows, given their scores and classes."""
    if scores.ndim == 1:
        second = own == 1
        near = cdist(model.prototypes_, X)
        away, towards = np.where(second, near[::-1], near)[:, :, None]
        weight = factors(model, model.prototypes_[1:] - model.prototypes_[:1])
        return signed_reach(np.where(second, 2.0, -2.0) * scores, away, towards, weight)
    near, rows = cdist(X, model.prototypes_), np.arange(len(X))
    lead = 2.0 * (scores[rows, own][:, None] - scores)
    if is_joint(model):
        away = near[rows, own][:, None, None]
        margin = signed_reach(lead, away, near[:, :, None], joint_factor(model))
    else:
        rest = cdist(X, model.rest_prototypes_)
        weight = factors(model, model.prototypes_ - model.rest_prototypes_)
        away, towards = pairs(near[rows, own], rest), pairs(rest[rows, own], near)
        margin = signed_reach(lead, away, towards, pairs(weight[own], weight))
    margin[rows, own] = np.inf
    return margin.min(axis=1)  # over the other classes


def pairs(own: Floats, others: Floats) -> Floats:
    """Return a number of each row beside one of each class, an array (n, K, 2)."""
    return np.stack(np.broadcast_arrays(own[:, None], others), axis=-1)


def factors(model: LinearPrototypeClassifier, normals: Floats) -> Floats:
    """Return what the canonical normals ``p+ - p-`` and offsets are multiplied with.

    By the offsets where both prototypes are in one place, and the shift alone decides.
    """
    by_offset = np.ones(len(normals))
    np.divide(2.0 * model.intercept_, model.shift_, out=by_offset, where=model.shift_ != 0.0)
    size, apart = np.linalg.norm(model.coef_, axis=1), np.linalg.norm(normals, axis=1)
    return np.divide(size, apart, out=by_offset, where=apart > 0.0)


def joint_factor(model: LinearPrototypeClassifier) -> Floats:
    """Return the factor between squared distances and twice the scores of a joint solution.

    By the offsets where all prototypes are in one place, and the shifts alone decide.
    """
    for scores, places in (
        (model.coef_, model.prototypes_),
        (2.0 * model.intercept_, model.shift_),
    ):
        size = np.linalg.norm(places - places[0])
        if size > 0.0:
            return np.array([np.linalg.norm(scores - scores[0]) / size])
    return np.ones(1)


def signed_reach(lead: Floats, away: Floats, towards: Floats, weight: Floats) -> Floats:
    """Return how far prototypes may move before a lead is lost; negative: until one is won.

    Those at the distances ``away`` move away from the sample to lose a lead, those ``towards``
    move to it; to win one it is the other way round. Distances and their weights have the
    prototypes along the last axis. Solves ``lead = 2 theta sum a d + sum_come a (theta - d)^2``,
    where the second sum is over those among the shrinking distances that theta exceeds.
    """
    behind = (lead < 0.0)[..., None]
    shrinking, growing = np.where(behind, away, towards), np.where(behind, towards, away)
    size = np.abs(lead)
    pace = (weight * (shrinking + growing)).sum(axis=-1)
    past = np.maximum(shrinking[..., :, None] - shrinking[..., None, :], 0.0)
    lost = 2.0 * shrinking * pace[..., None] + (weight[..., None, :] * past**2).sum(axis=-1)
    come = np.where(lost < size[..., None], weight, 0.0)  # with their distance at zero
    alpha = come.sum(axis=-1)
    beta = (weight * growing + (weight - come) * shrinking).sum(axis=-1)
    gamma = np.maximum(size - (come * shrinking**2).sum(axis=-1), 0.0)
    denominator = beta + np.sqrt(beta**2 + alpha * gamma)
    theta = np.divide(gamma, denominator, out=np.zeros_like(gamma), where=denominator > 0.0)
    return np.copysign(theta, lead)


def known_labels(model: Any, y: Any, name: str = "y") -> Any:
    """Return labels as an array; raise if the model has not seen all of them."""
    y = column_or_1d(y)
    known = set(model.classes_.tolist())
    unknown = [label for label in dict.fromkeys(y.tolist()) if label not in known]
    if unknown:
        raise ValueError(
            f"{name} contains {unknown!r}, which the model has not seen; its classes are "
            f"{model.classes_.tolist()!r}."
        )
    return y


def last_of(model: Any) -> Any:
    """Return the last step of a fitted pipeline, or what is no pipeline as it is."""
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        model = model[-1]
    return model


def last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a fitted pipeline, and X as it sees it; else both as they are."""
    last = last_of(model)
    several = isinstance(model, Pipeline) and len(model) > 1
    return last, model[:-1].transform(X) if several else X


def check_prototypes(model: Any) -> None:
    """Raise unless a model is fitted and has a hypothesis margin."""
    if not isinstance(model, (LinearPrototypeClassifier, NearestPrototypeClassifier)):
        what = "is neither a nearest-prototype classifier nor a linear one with prototypes"
        raise wrong_kind(model, what, "of protolearn's")
    check_is_fitted(model)
    if isinstance(model, LinearPrototypeClassifier) and not hasattr(model, "prototypes_"):
        raise ValueError(
            f"{type(model).__name__} has no prototypes with these parameters, so that there is no "
            "hypothesis margin."
        )


class MarginHistory:
    """The mean hypothesis margin of some rows while a model learns.

    Give it as ``callback=`` to a classifier; after every iteration it measures the rows under the
    present prototypes and metric. A ``fit`` that begins anew begins a new record.

    The record is that of the object that the fitted classifier has as its ``callback``. Cross
    validation and searches fit clones, which have copies of their own; take the one of
    ``best_estimator_``, or fit the model itself.

    Parameters
    ----------
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        The rows: those of training, or others. In a pipeline, as the last step sees them.
    y : array-like of shape (n_samples,)
        Their labels: those of the model, all of them, since classes are known by their order; with
        ``partial_fit`` all have to be there from the first part on.

    Attributes
    ----------
    iterations : list of int
        Iterations or epochs after which was measured.
    mean_margin : list of float
        The mean hypothesis margin after each, in the units of the unsquared distance.
    error : list of float
        The share of rows with a negative margin.

    See Also
    --------
    protolearn.hypothesis_margin : The margins of a fitted model.

    Notes
    -----
    With early stopping the model keeps its best iteration, not the last. :class:`KernelGLVQ`
    learns in coordinates of its feature space, where the rows are not known: that is an error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GLVQ
    >>> from protolearn.analysis import MarginHistory
    >>> X, y = load_iris(return_X_y=True)
    >>> history = MarginHistory(X, y)
    >>> model = GLVQ(callback=history, random_state=0).fit(X, y)
    >>> len(history.mean_margin) == model.n_iter_
    True
    """

    def __init__(self, X: Any, y: Any):
        X = check_array(
            X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )
        if issparse(X):
            X = checked_sparse(X)
        else:
            check_observed_rows(X)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        self._X, self._codes, self._n_classes = X, codes, len(classes)
        self.iterations: list[int] = []
        self.mean_margin: list[float] = []
        self.error: list[float] = []

    def __call__(self, state: State) -> None:
        """Measure the rows; never end the fit."""
        if state.iteration == 1:
            self.iterations, self.mean_margin, self.error = [], [], []
        margin = self._margin(state)
        self.iterations.append(state.iteration)
        self.mean_margin.append(float(margin.mean()))
        self.error.append(float(np.mean(margin < 0.0)))

    def __repr__(self) -> str:
        return f"<MarginHistory: {self._X.shape[0]} rows, {len(self.iterations)} iterations>"

    def _margin(self, state: State) -> Floats:
        """Return the hypothesis margins under the present codebook."""
        if isinstance(state.distance, CoordinateDistance):
            raise ValueError(
                "MarginHistory cannot follow KernelGLVQ, which learns in coordinates of its "
                "feature space; hypothesis_margin measures the fitted model."
            )
        distance, codebook = state.distance.suited_to(self._X), state.codebook
        if distance.squared is None:
            raise ValueError(
                f"{type(distance).__name__} is not a metric, so MarginHistory cannot measure it."
            )
        distance.check_rows(self._X)
        if self._X.shape[1] != codebook.prototypes.shape[1]:
            raise ValueError(
                f"The rows of MarginHistory have {self._X.shape[1]} features, the prototypes "
                f"{codebook.prototypes.shape[1]}; in a Pipeline give them as its last step sees "
                "them."
            )
        known = np.unique(codebook.labels)
        if len(known) != self._n_classes or known[-1] >= self._n_classes:
            raise ValueError(
                f"y of MarginHistory has {self._n_classes} classes, and the model has prototypes "
                f"of {len(known)}; give rows of all classes of the model, and of no others."
            )
        margin, same = Hypothesis().suited_to(distance), codebook.same_class(self._n_classes)
        chunks = Block(self._X, self._codes).chunks(distance.effort(codebook))
        parts = [margin(distance.pairwise(c.X, codebook), same[c.codes])[0] for c in chunks]
        return np.concatenate(parts)
