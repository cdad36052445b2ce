"""What the word of a model is worth: the probability of its class where it fires.

A calibration is fitted on all rows of the training part, not on the few that a model learned from.
It turns numbers of models, arrays (models, rows), into one curve a model and into probabilities;
where a model does not fire its vote is zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from .._arrays import Floats
from . import binning
from .platt import fit_sigmoids, sigmoids

Flags = NDArray[np.bool_]


class Calibration(ABC):
    """How a curve is made, and what it says.

    ``scores`` are decision values, ``distances`` squared distances to the exemplars, ``own`` tells
    which rows are of the class of a model and ``prior`` which share of all rows is.
    """

    width: int
    """How many numbers a curve is."""

    needs_distances = False

    @abstractmethod
    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Return the curves of some models."""

    @abstractmethod
    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Return the probability of its class according to each model that fires, else zero."""


class Votes(Calibration):
    """Every model that fires has one vote."""

    width = 0

    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Return no numbers."""
        return np.empty((len(scores), 0))

    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Return one where a model fires."""
        return (scores > 0.0).astype(np.float64)


class Platt(Calibration):
    """A sigmoid of the decision value."""

    width = 2

    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Fit the sigmoids."""
        curves = np.empty((len(scores), self.width))
        fit_sigmoids(scores, own, curves)
        return curves

    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Return the values of the sigmoids."""
        out = np.empty_like(scores)
        sigmoids(scores, curves, out)
        return out


class Binning(Calibration):
    """The share of the class among rows of about the same decision value."""

    width = binning.WIDTH

    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Count the shares."""
        return _curves(scores, scores, own, prior)

    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Look the shares up."""
        return _values(scores, scores, curves)


class Local(Calibration):
    """The shares at the decision value and at the distance from the exemplar, put together.

    The two are taken as independent given the class, as by naive Bayes: their log-odds add up, less
    those of the class where the model fires at all.
    """

    width = 2 * binning.WIDTH
    needs_distances = True

    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Count the shares, as log-odds that add up."""
        fires = scores > 0.0
        share = ((fires & own).sum(axis=1) + prior) / (fires.sum(axis=1) + 1.0)
        by_score = _curves(scores, scores, own, prior)
        by_distance = _curves(distances, scores, own, prior)
        for curves in (by_score, by_distance):
            curves[:, binning.BINS - 1 :] = logit(curves[:, binning.BINS - 1 :])
        by_score[:, binning.BINS - 1 :] -= logit(share)[:, None]
        return np.hstack([by_score, by_distance])

    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Look the log-odds up and add them."""
        odds = _values(scores, scores, curves[:, : binning.WIDTH])
        odds += _values(distances, scores, curves[:, binning.WIDTH :])
        fires = scores > 0.0
        odds[fires] = expit(odds[fires])  # elsewhere they are zero
        return odds


CALIBRATIONS: dict[str | None, Calibration] = {
    "local": Local(),
    "binning": Binning(),
    "platt": Platt(),
    None: Votes(),
}


def _curves(values: Floats, scores: Floats, own: Flags, prior: Floats) -> Floats:
    curves = np.empty((len(scores), binning.WIDTH))
    binning.fit_bins(values, scores, own, prior, curves)
    return curves


def _values(values: Floats, scores: Floats, curves: Floats) -> Floats:
    out = np.empty_like(scores)
    binning.bins(values, scores, np.ascontiguousarray(curves), out)
    return out
