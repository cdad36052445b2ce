"""How much a margin is worth: the factor of margins for probabilities.

It comes from the rows that were learned from, from rows that were held out, or, in a stream, from
rows that have not been learned from yet.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from .._arrays import Floats, as_floats, as_indices
from ..blocks import Blocks
from ..codebook import Codebook
from ..margins import class_margins
from ..native import f8, indices, matrix, native, types, vector, vector_out
from ..objective import ScoredRows, score_some_rows
from .problem import Problem
from .settings import Settings

FEWEST_MARGINS, MOST_MARGINS, ALL_MARGINS = 500, 4000, 1 << 16
"""Rows whose margins tell how much a margin is worth, least and most, and margins of all classes:
enough for one number, and few beside the passes of a fit."""

SLOPE = 0.25
"""Squared slope of the surprise of a row by the logarithm of the factor, about."""

LEAST, MOST = math.log(1e-6), math.log(1e6)
"""Logarithms of the factors that are looked at, for margins with a mean range of one."""

STEPS, LONGEST, PRECISE = 50, 1.5, 1e-6
"""Steps of a search for the logarithm of a factor, the longest of them, and the last."""

WHOLE = 1e-9
"""How far a ratio of weights may be from a whole number."""


def first_factor(
    settings: Settings, problem: Problem, codebook: Codebook, blocks: Blocks
) -> tuple[float, float, float] | None:
    """Return a factor of margins for probabilities from rows that were learned from.

    None if the model has probabilities of its own, or if there are rows of one class only so far.
    Beside the factor are a weight, for a stream that may follow, and the number of rows.
    """
    present, cost = np.unique(codebook.labels), problem.cost
    if settings.calibrate is None or problem.decision.soft or len(present) < 2:
        return None
    n, n_classes = blocks.n_samples, cost.n_classes
    share = max(min(MOST_MARGINS, ALL_MARGINS // n_classes), FEWEST_MARGINS) / n
    found = blocks.reduce(score_some_rows, cost.distance, codebook, n_classes, share)
    if len(present) < n_classes:  # as a stream may begin
        known = np.isin(found.codes, present)
        codes = np.searchsorted(present, found.codes[known])
        found = ScoredRows(found.nearest[known][:, present], codes, found.weights[known])
    margins = class_margins(-found.nearest / cost.scale, problem.class_scores)
    n_numbers = len(codebook.labels) * blocks.size / n
    n_numbers += codebook.metric.size if cost.distance.adaptive else 0
    rows = rows_by_weight(n, found.weights)
    factor, _ = fit_factor(margins, found.codes, found.weights, rows, problem.free * n_numbers)
    if settings.is_stream:  # its first rows are few, and the next ones tell more
        unit = float((margins.max(axis=1) - margins.min(axis=1)).mean())
        return max(factor, 1.0 / unit) if unit > 0.0 else factor, 0.0, rows
    return factor, SLOPE * rows, rows


def fit_factor(
    margins: Floats, codes: Any, weights: Floats, n_samples: float, n_learned: float = 0.0
) -> tuple[float, float]:
    """Return the factor of margins that gives the best probabilities, and their floor.

    The probabilities are ``(1 - e) softmax(factor * margins) + e / C``, with the floor
    ``e = C / (n + C)`` by the rule of succession: n rows cannot tell that an error is rarer than
    about ``1 / n``.

    The factor has the best likelihood of the true classes, less the optimism of margins of rows
    that were learned from. For log-odds this optimism is the mean covariance of the score of a row
    with its label (Efron, 2004), so that it is proportional to the factor; for q parameters with
    the best likelihood it is ``q / n`` (Akaike). So a factor f has the price
    ``q / (n + q) * f / f0``, where f0 is the best factor without a price, and q is ``n_learned``
    and one for the factor itself.

    Parameters
    ----------
    margins : array (n, C)
        One margin a class, by ``class_margins``.
    codes, weights : array (n,)
        Classes and weights of the rows.
    n_samples : float
        Number of rows that they stand for.
    n_learned : float
        How many numbers were free to follow the labels of these rows; 0: the model has not seen
        them.
    """
    n_classes = margins.shape[1]
    floor = n_classes / (n_samples + n_classes)
    leads = as_floats(margins - margins.max(axis=1, keepdims=True))
    unit = float(np.average(-leads.min(axis=1), weights=weights))
    if not 0.0 < unit < np.inf:
        return 1.0, floor
    price = (1.0 + n_learned) / (n_samples + 1.0 + n_learned)
    factor = best_factor(leads / unit, as_indices(codes), as_floats(weights), floor, price)
    return factor / unit, floor


@numba.njit
def _surprise(L, y, weight, factor, floor, mixes):
    """Return the derivatives of the mean surprise by the logarithm of the factor."""
    slope = curve = whole = 0.0
    n_classes = L.shape[1]
    for i in range(L.shape[0]):
        likely = first = second = even = 0.0
        for c in range(n_classes):
            lead = L[i, c]
            p = 1.0 if lead == 0.0 else math.exp(factor * lead)
            likely += p
            first += p * lead
            second += p * lead * lead
            even += lead
        first /= likely
        second = second / likely - first * first
        own = L[i, y[i]]
        if mixes:  # -log q with q = (1 - e) p + e / C
            p = (1.0 - floor) * math.exp(factor * own) / likely
            share = p / (p + floor / n_classes)
            g = -share * (own - first)
            h = g * g - share * ((own - first) * (own - first) - second)
        else:  # labels that are wrong at the rate of the floor
            g = first - (1.0 - floor) * own - floor * even / n_classes
            h = second
        slope += weight[i] * g
        curve += weight[i] * h
        whole += weight[i]
    slope *= factor / whole
    return slope, curve * factor * factor / whole + slope


@native(f8(matrix, indices, vector, f8, f8))
def best_factor(L, y, weight, floor, price):
    """Return the factor of leads L that gives the best likelihood, less its price.

    Newton's method on its logarithm, twice: without a price there is one minimum, and the second
    descent starts there.
    """
    place = 1.0
    for mixes in (False, True):
        cost = price / math.exp(place) if mixes else 0.0
        for _ in range(STEPS):
            factor = math.exp(place)
            slope, curve = _surprise(L, y, weight, factor, floor, mixes)
            slope += cost * factor
            curve += cost * factor
            step = -slope / curve if curve > 0.0 else -math.copysign(LONGEST, slope)
            step = min(max(step, -LONGEST), LONGEST)
            place = min(max(place + step, LEAST), MOST)
            if abs(step) < PRECISE:
                break
    return math.exp(place)


def rows_by_weight(n_samples: float, weights: Floats) -> float:
    """Return how many rows there are, one of weight two being two.

    So it is where all weights are multiples of the least one, up to a thousand times; otherwise
    only their ratios count.
    """
    if not weights.max() <= 1e3 * weights.min():
        return float(n_samples)
    times = weights / weights.min()
    whole = np.abs(times - np.rint(times)).max() < WHOLE
    return n_samples * float(times.mean()) if whole else float(n_samples)


def follow_factor(
    margins: Floats, codes: Any, weights: Floats, running: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return the factor of a stream after rows that have not been learned from yet.

    ``running`` holds the factor, the sum of the squared slopes of its logarithm, and the rows seen.
    Each row is a gradient step of AdaGrad (Duchi, Hazan and Singer, 2011) on its own surprise.
    """
    seen = np.isfinite(margins[np.arange(len(codes)), codes])  # others have no prototype yet
    margins = margins[seen] - margins[seen].max(axis=1, keepdims=True)
    state = np.array(running)
    follow(as_floats(margins), as_indices(codes[seen]), as_floats(weights[seen]), state)
    factor, slopes, rows = state.tolist()
    return factor, slopes, rows


@native(types.void(matrix, indices, vector, vector_out))
def follow(L, y, weight, state):
    """Make one step of the factor for each row."""
    n_classes = L.shape[1]
    for i in range(L.shape[0]):
        factor = state[0]
        likely = mean = 0.0
        for c in range(n_classes):
            if L[i, c] > -math.inf:
                p = math.exp(factor * L[i, c])
                likely += p
                mean += p * L[i, c]
        own = L[i, y[i]]
        state[2] += weight[i]
        floor = n_classes / (state[2] + n_classes)
        p = (1.0 - floor) * math.exp(factor * own) / likely
        slope = -p / (p + floor / n_classes) * factor * (own - mean / likely)
        state[1] += weight[i] * slope * slope
        if slope != 0.0:
            step = weight[i] * slope / math.sqrt(state[1])
            state[0] = factor * math.exp(-min(max(step, -1.0), 1.0))
