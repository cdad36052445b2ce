"""Hypothesis margin: how far the prototypes may move before a sample changes its class.

Nearest-prototype models: ``(d- - d+) / 2``, with d+ the distance to the nearest prototype of the
sample's label and d- to the nearest of any other (Crammer et al., 2002, lemma 1).

Linear classifiers have a shift besides their prototypes, which does not move. The score of a class
is ``a (|x - p-|^2 - |x - p+|^2 + S)``. If all prototypes move by ``theta``, at worst towards the
sample or away from it, then the lead of one class over another falls by ``2 theta`` times the sum
of all ``a |x - p|``, and, once a prototype has come to the sample, also by ``a (theta - |x -
p|)^2``, since it cannot come nearer. The margin is the ``theta`` at which the lead is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._arrays import Floats, Indices
from .._dask import row_by_row
from ..classifiers import NearestPrototypeClassifier
from ..linear import LinearPrototypeClassifier
from ..rule import DecisionRule, wrong_kind


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
    of the label and d- to the nearest of any other.

    Of a linear classifier with two classes and the shift S in favour of the label it is
    ``(d-^2 - d+^2 + S) / (2 (d- + d+))``, as long as no prototype that comes nearer has to pass the
    sample; S does not move. Of one versus rest it is the least over the other classes, where the
    prototypes of both classes and of their rests move.

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
    if isinstance(model, LinearPrototypeClassifier):
        check_lengths(X, y)
        return linear_margin(model, X, np.searchsorted(model.classes_, y))
    check_metric(model.rule_)
    D = model.distances(X)
    check_lengths(D, y)
    return nearest_margin(model.rule_, D, y)


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
    D = model.distances(X)
    soft = rule.decision.soft
    return nearest_margin(rule, D, model.predict(X) if soft else rule.labels[D.argmin(axis=1)])


def check_lengths(X: Any, y: Any) -> None:
    """Raise if there are not as many rows as labels."""
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(y):
        raise ValueError(f"X has {rows} rows and y has {len(y)} labels.")


def check_metric(rule: DecisionRule, advice: str = "") -> None:
    """Raise if the distance of a rule has no length, and so no margin."""
    if rule.distance.squared is None:
        raise ValueError(
            f"{type(rule.distance).__name__} is no metric, so there is no hypothesis margin"
            f"{advice}."
        )


def nearest_margin(rule: DecisionRule, D: Floats, y: Any) -> Floats:
    """Return the hypothesis margin of nearest prototypes, by their distances."""
    if rule.distance.squared:
        D = np.sqrt(D)
    own = rule.labels == y[:, None]
    nearest_own = np.where(own, D, np.inf).min(axis=1)
    nearest_rival = np.where(own, np.inf, D).min(axis=1)
    return 0.5 * (nearest_rival - nearest_own)


def linear_margin(model: LinearPrototypeClassifier, X: Any, codes: Indices | None = None) -> Floats:
    """Return the hypothesis margin of rows of some classes; None: of those that are predicted."""
    scores = np.asarray(model.decision_function(X))
    X = check_array(X, dtype=np.float64)
    if scores.ndim == 1:
        return margin_of_two(model, X, scores, scores > 0.0 if codes is None else codes == 1)
    return margin_of_many(model, X, scores, scores.argmax(axis=1) if codes is None else codes)


def margin_of_two(
    model: LinearPrototypeClassifier, X: Floats, scores: Floats, second: Any
) -> Floats:
    """Return the margin in favour of the second class where ``second``, else of the first."""
    near = cdist(model.prototypes_, X)
    own, rival = np.where(second, near[::-1], near)[:, :, None]
    weight = factors(model, model.prototypes_[1:] - model.prototypes_[:1])
    return signed_reach(np.where(second, 2.0, -2.0) * scores, own, rival, weight)


def margin_of_many(
    model: LinearPrototypeClassifier, X: Floats, scores: Floats, own: Indices
) -> Floats:
    """Return the least of the margins over the other classes, each against its rest."""
    near, rest = cdist(X, model.prototypes_), cdist(X, model.rest_prototypes_)
    rows = np.arange(len(X))
    weight = factors(model, model.prototypes_ - model.rest_prototypes_)
    weights = pairs(weight[own], weight)
    away, towards = pairs(near[rows, own], rest), pairs(rest[rows, own], near)
    lead = 2.0 * (scores[rows, own][:, None] - scores)
    margin = signed_reach(lead, away, towards, weights)
    margin[rows, own] = np.inf
    return margin.min(axis=1)


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


def signed_reach(lead: Floats, away: Floats, towards: Floats, weight: Floats) -> Floats:
    """Return how far prototypes may move before a lead is lost; negative: until one is won.

    Those at the distances ``away`` move away from the sample to lose a lead, those ``towards``
    move to it; to win one it is the other way round. Distances and their weights have the
    prototypes along the last axis.
    """
    behind = (lead < 0.0)[..., None]
    shrinking, growing = np.where(behind, away, towards), np.where(behind, towards, away)
    return np.copysign(reach(np.abs(lead), shrinking, growing, weight), lead)


def reach(lead: Floats, shrinking: Floats, growing: Floats, weight: Floats) -> Floats:
    """Return the theta that solves ``lead = 2 theta sum a d + sum_come a (theta - d)^2``.

    The second sum is over those among the shrinking distances that theta exceeds.
    """
    pace = (weight * (shrinking + growing)).sum(axis=-1)
    past = np.maximum(shrinking[..., :, None] - shrinking[..., None, :], 0.0)
    lost = 2.0 * shrinking * pace[..., None] + (weight[..., None, :] * past**2).sum(axis=-1)
    come = np.where(lost < lead[..., None], weight, 0.0)  # with their distance at zero
    alpha = come.sum(axis=-1)
    beta = (weight * growing + (weight - come) * shrinking).sum(axis=-1)
    gamma = np.maximum(lead - (come * shrinking**2).sum(axis=-1), 0.0)
    denominator = beta + np.sqrt(beta**2 + alpha * gamma)
    return np.divide(gamma, denominator, out=np.zeros_like(gamma), where=denominator > 0.0)


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
