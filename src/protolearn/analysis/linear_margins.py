"""Hypothesis margin of linear classifiers: how far their prototypes may move, the shift fixed.

The score of a class is ``a (|x - p-|^2 - |x - p+|^2 + S)``. If all prototypes move by ``theta``, at
worst towards the sample or away from it, then the lead of one class over another falls by ``2
theta`` times the sum of all ``a |x - p|``, and, once a prototype has come to the sample, also by
``a (theta - |x - p|)^2``, since it cannot come nearer. The margin is the ``theta`` at which the
lead is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from .._arrays import Floats, Indices
from ..linear.base import LinearPrototypeClassifier


def linear_margin(model: LinearPrototypeClassifier, X: Any, codes: Indices | None = None) -> Floats:
    """Give the hypothesis margin of rows of some classes; None: of those that are predicted."""
    scores = np.asarray(model.decision_function(X))
    X = check_array(X, dtype=np.float64)
    if scores.ndim == 1:
        return margin_of_two(model, X, scores, scores > 0.0 if codes is None else codes == 1)
    return margin_of_many(model, X, scores, scores.argmax(axis=1) if codes is None else codes)


def margin_of_two(
    model: LinearPrototypeClassifier, X: Floats, scores: Floats, second: Any
) -> Floats:
    """Give the margin in favour of the second class where ``second`` is true, else of the first."""
    near = cdist(model.prototypes_, X)
    own, rival = np.where(second, near[::-1], near)[:, :, None]
    weight = factors(model, model.prototypes_[1:] - model.prototypes_[:1])
    return signed_reach(np.where(second, 2.0, -2.0) * scores, own, rival, weight)


def margin_of_many(
    model: LinearPrototypeClassifier, X: Floats, scores: Floats, own: Indices
) -> Floats:
    """Give the least of the margins over the other classes, each against its rest."""
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
    """Put a number a row and one for each class together, an array (n, K, 2)."""
    return np.stack(np.broadcast_arrays(own[:, None], others), axis=-1)


def factors(model: LinearPrototypeClassifier, normals: Floats) -> Floats:
    """Give what the canonical normals ``p+ - p-`` and offsets are multiplied with.

    By the offsets where both prototypes are in one place, and the shift alone decides.
    """
    by_offset = np.ones(len(normals))
    np.divide(2.0 * model.intercept_, model.shift_, out=by_offset, where=model.shift_ != 0.0)
    size, apart = np.linalg.norm(model.coef_, axis=1), np.linalg.norm(normals, axis=1)
    return np.divide(size, apart, out=by_offset, where=apart > 0.0)


def signed_reach(lead: Floats, away: Floats, towards: Floats, weight: Floats) -> Floats:
    """Give how far prototypes may move before a lead is lost; negative: until one is won.

    Those at the distances ``away`` move away from the sample to lose a lead, those ``towards``
    move to it; to win one it is the other way round. Distances and their weights have the
    prototypes along the last axis.
    """
    behind = (lead < 0.0)[..., None]
    shrinking, growing = np.where(behind, away, towards), np.where(behind, towards, away)
    return np.copysign(reach(np.abs(lead), shrinking, growing, weight), lead)


def reach(lead: Floats, shrinking: Floats, growing: Floats, weight: Floats) -> Floats:
    """Solve ``lead = 2 theta sum a d + sum_come a (theta - d)^2`` for theta.

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
