"""What the word of a model is worth: the probability of its class where it fires.

A calibration is fitted on all rows of the training part, not on the few that a model learned from.
It turns numbers of models, arrays (models, rows), into one curve a model and into probabilities;
where a model does not fire its vote is zero.

The bins hold about equally many of the rows on which the model fires (Zadrozny and Elkan, 2001); a
curve is the edges between bins, filled up by infinity, and then the shares. Sigmoids (Platt) are
fitted by Newton's method with halved steps, after Lin, Lin and Weng (2007).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from .._arrays import Floats
from ..native import FAST, flags_matrix, matrix, matrix_out, native, types, vector

BINS, ROWS = 64, 10
"""Most bins, and fewest rows in a bin."""

TIE = 1e-12
"""Part of the largest value by which two values may differ and count as equal."""

WIDTH = 2 * BINS - 1

ITERATIONS, HALVINGS, GRADIENT = 100, 30, 1e-8
"""Most steps, most halvings of a step, and the gradient a row at which the fit is done."""

LEAST_VOTE = 1e-9
"""The least vote of a model that fires: it counts, even beside others that are rounded."""

FACTORS = 512
"""So many numbers from one to two have a product that is no overflow."""

Flags = NDArray[np.bool_]


class Calibration(ABC):
    """How a curve is made, and what it says.

    ``scores`` are decision values, ``distances`` squared distances to the exemplars, ``own`` tells
    which rows are of the class of a model and ``prior`` which share of all rows is. A row of the
    decision value minus infinity is none that the model looks at.
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

    width = WIDTH

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

    width = 2 * WIDTH
    needs_distances = True

    def fit(self, scores: Floats, distances: Floats, own: Flags, prior: Floats) -> Floats:
        """Count the shares, as log-odds that add up."""
        fires = scores > 0.0
        share = ((fires & own).sum(axis=1) + prior) / (fires.sum(axis=1) + 1.0)
        by_score = _curves(scores, scores, own, prior)
        by_distance = _curves(distances, scores, own, prior)
        for curves in (by_score, by_distance):
            curves[:, BINS - 1 :] = logit(curves[:, BINS - 1 :])
        by_score[:, BINS - 1 :] -= logit(share)[:, None]
        return np.hstack([by_score, by_distance])

    def votes(self, scores: Floats, distances: Floats, curves: Floats) -> Floats:
        """Look the log-odds up and add them."""
        out = np.empty_like(scores)
        add_odds(scores, distances, curves, out)
        return out


CALIBRATIONS: dict[str | None, Calibration] = {
    "local": Local(),
    "binning": Binning(),
    "platt": Platt(),
    None: Votes(),
}


def _curves(values: Floats, scores: Floats, own: Flags, prior: Floats) -> Floats:
    curves = np.empty((len(scores), WIDTH))
    fit_bins(values, scores, own, prior, curves)
    return curves


def _values(values: Floats, scores: Floats, curves: Floats) -> Floats:
    out = np.empty_like(scores)
    look_up_bins(values, scores, np.ascontiguousarray(curves), out)
    return out


@native(types.void(matrix, matrix, flags_matrix, vector, matrix_out), makes_arrays=True)
def fit_bins(values, scores, own, prior, curves):
    """Write the curve of each model over ``values``; each bin has one row more, of the prior."""
    n = scores.shape[1]
    fired, kept = np.empty(n, np.intp), np.empty(n)
    for i in range(len(scores)):
        m = 0
        for j in range(n):
            if scores[i, j] > 0.0:
                fired[m], kept[m] = j, values[i, j]
                m += 1
        order = np.argsort(kept[:m])
        bins = max(min(m // ROWS, BINS), min(m, 1))
        share, last, used = prior[i], 0, 0
        for k in range(bins):
            first, end = last, (k + 1) * m // bins
            if end - first < min(ROWS, m):  # rows of equal value have taken this bin
                continue
            last = end
            equal = TIE * abs(kept[order[m - 1]])
            while last < m and kept[order[last]] - kept[order[last - 1]] <= equal:
                last += 1  # rows of equal value stay together
            if m - last < ROWS:
                last = m
            count = 0
            for position in range(first, last):
                count += own[i, fired[order[position]]]
            share = (count + prior[i]) / (last - first + 1.0)
            if last < m:
                curves[i, used] = 0.5 * (kept[order[last - 1]] + kept[order[last]])
                curves[i, BINS - 1 + used] = share
                used += 1
        for k in range(used, BINS):
            if k < BINS - 1:
                curves[i, k] = np.inf
            curves[i, BINS - 1 + k] = share


@native(types.void(matrix, matrix, matrix, matrix_out))
def look_up_bins(values, scores, curves, out):
    """Write what the curve says of each value where the model fires, and zero elsewhere."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            fires = scores[i, j] > 0.0
            out[i, j] = level_at(curves[i], 0, values[i, j]) if fires else 0.0


@native(types.void(matrix, matrix, matrix, matrix_out))
def add_odds(scores, distances, curves, out):
    """Write the share that both curves of log-odds say together, and zero where no model fires."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            out[i, j] = 0.0
            if scores[i, j] > 0.0:
                odds = level_at(curves[i], 0, scores[i, j])
                odds += level_at(curves[i], WIDTH, distances[i, j])
                out[i, j] = 1.0 / (1.0 + np.exp(-odds))


@numba.njit(**FAST)
def level_at(curves, start, value):
    """Return what the curve that begins at a place says of a value."""
    low, high = 0, BINS - 1
    while low < high:
        middle = (low + high) // 2
        if curves[start + middle] < value:
            low = middle + 1
        else:
            high = middle
    return curves[start + BINS - 1 + low]


@native(types.void(matrix, flags_matrix, matrix_out), makes_arrays=True)
def fit_sigmoids(scores, own, curves):
    """Write slope and offset of each model, ``p = 1 / (1 + exp(-slope f - offset))``."""
    n = scores.shape[1]
    out = np.empty(5)
    for i in range(len(scores)):
        positives, negatives, square = 0.0, 0.0, 0.0
        for j in range(n):
            if scores[i, j] > -np.inf:
                positives += own[i, j]
                negatives += not own[i, j]
                square += scores[i, j] * scores[i, j]
        total = positives + negatives
        unit = 1.0 / max(np.sqrt(square / total), 1e-300)
        high, low = (positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0)
        a, b = 0.0, np.log((positives + 1.0) / (negatives + 1.0))
        loss = entropy_and_slopes(scores[i], own[i], unit, high, low, a, b, out)
        for _ in range(ITERATIONS):
            g1, g2, h11, h12, h22 = out[0], out[1], out[2] + 1e-12, out[3], out[4] + 1e-12
            if abs(g1) + abs(g2) <= GRADIENT * total:
                break
            det = h11 * h22 - h12 * h12
            da, db = (h12 * g2 - h22 * g1) / det, (h12 * g1 - h11 * g2) / det
            step, descent = 1.0, g1 * da + g2 * db
            for _ in range(HALVINGS):
                new = entropy_and_slopes(
                    scores[i], own[i], unit, high, low, a + step * da, b + step * db, out
                )
                if new <= loss + 1e-4 * step * descent:
                    break
                step *= 0.5
            if not new < loss:  # a step of a singular Hessian may be NaN
                break
            a, b, loss = a + step * da, b + step * db, new
        curves[i, 0], curves[i, 1] = a * unit, b


@numba.njit(**FAST)
def entropy_and_slopes(scores, own, unit, high, low, a, b, out):
    """Return the cross entropy of the sigmoid; write its gradient and Hessian."""
    loss = g1 = g2 = h11 = h12 = h22 = 0.0
    product = 1.0  # of what the logarithm is taken of, which is slow
    for j in range(scores.size):
        if scores[j] == -np.inf:
            continue
        s = scores[j] * unit
        target = high if own[j] else low
        z = a * s + b
        e = np.exp(-abs(z))
        p = 1.0 / (1.0 + e) if z >= 0.0 else e / (1.0 + e)
        loss += max(z, 0.0) - target * z
        product *= 1.0 + e
        if j % FACTORS == 0:
            loss += np.log(product)
            product = 1.0
        d, w = p - target, p * (1.0 - p)
        g1 += d * s
        g2 += d
        h11 += w * s * s
        h12 += w * s
        h22 += w
    out[0], out[1], out[2], out[3], out[4] = g1, g2, h11, h12, h22
    return loss + np.log(product)


@native(types.void(matrix, matrix, matrix_out))
def sigmoids(scores, curves, out):
    """Write the probability of each model where it fires, and zero elsewhere."""
    for i in range(len(scores)):
        slope, offset = curves[i, 0], curves[i, 1]
        for j in range(scores.shape[1]):
            out[i, j] = 0.0
            if scores[i, j] > 0.0:
                z = slope * scores[i, j] + offset
                e = np.exp(-abs(z))
                out[i, j] = 1.0 / (1.0 + e) if z >= 0.0 else max(e / (1.0 + e), LEAST_VOTE)
