"""Counterfactuals by search, where boundaries are curved: near ones, not surely the nearest.

From a point on the boundary, on the way to another class, look for nearer ones: where the
scores are taken as planes, which touch them there, the nearest point to the row at which they are
equal is the next point, and so on (Hasofer and Lind's iteration). Then go that way from the row, as
far as the boundary. As it may go round in circles, a second run goes half the way each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.linalg import norm
from numpy.typing import NDArray
from scipy.special import softmax

from .._arrays import Floats, Indices, as_floats
from ..native import ADDRESS, GRADIENT, indices, matrix, matrix_out, native, pointer, types
from ..rule import DecisionRule
from .projection import nearest_half_spaces

if TYPE_CHECKING:
    from .counterfactual_rows import Attempt, Question

STARTS = 4  # rival prototypes to start from, the nearest ones
TRIES = 10  # how often to look for a place in the other class
BEYOND = 1.1  # how far beyond what seems the boundary that is
ROUGH, FINE = 16, 45  # halvings of the way to the boundary, during the search and at its end
LEAP, LEAPS = 20, (1.0, 0.5)  # steps at once; part of the way that each goes, leap after leap
STEPS, SMALLEST = 30, 0.005  # steps one by one at most; the smallest part of the way of one
SHORTER = 1e-9  # relative gain that counts as one
WORTHWHILE = 1e-4  # relative gain of one step that makes another one worthwhile

gradient_at = pointer(GRADIENT)


def search_boundary(question: Question) -> Attempt:
    """Return the method for any metric: one search, then farther beyond with the inset."""
    best, length = question.rows.copy(), np.full(len(question.rows), np.inf)
    for start in range(min(STARTS, len(question.rule.codebook.labels)) + 1):
        points, found = beyond(question, start)
        places = np.flatnonzero(found)
        if len(places):
            points[places] = halve(question, places, points[places])
            points[places] = shorten_ways(question, places, points[places])
        reach = np.where(found, norm(points - question.rows, axis=1), np.inf)
        nearer = reach < length
        best[nearer], length = points[nearer], np.minimum(reach, length)
    found = np.isfinite(length)
    places = np.flatnonzero(found)
    best[places] = halve(question, places, best[places], FINE)
    length = norm(best - question.rows, axis=1)
    largest = question.D.max(axis=1)
    unit = np.sqrt(largest) if question.rule.distance.squared else largest

    def attempt(places: Indices, inset: float) -> tuple[Floats, NDArray[np.bool_]]:
        here = question.rows[places]
        farther = 1.0 + _over(inset * unit[places], length[places])
        past = here + farther[:, None] * (best[places] - here)
        return question.ranges.clip(past), found[places]

    return attempt


def beyond(question: Question, start: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return places in the class sought, and which were found.

    Starts from the rows, then from the rival prototypes one after another, the nearest first.
    """
    codebook, ranges, rows = question.rule.codebook, question.ranges, question.rows
    places, labels = np.arange(len(rows)), codebook.labels
    rivals = np.stack([question.is_sought(places, np.full(len(rows), c)) for c in labels], axis=1)
    order = np.where(rivals, question.D, np.inf).argsort(axis=1, kind="stable")
    rival = order[:, max(start - 1, 0)]
    ends = rows if start == 0 else np.where(ranges.movable, codebook.prototypes[rival], rows)
    ends, possible = ranges.clip(ends), rivals[places, rival]
    there = has_answer(question, places, ends)
    for _ in range(TRIES):
        astray = np.flatnonzero(~there & possible)
        if not len(astray):
            break
        ways = ways_to_planes(question, astray, ends[astray])
        ends[astray] = ranges.clip(rows[astray] + BEYOND * ways)
        there[astray] = has_answer(question, astray, ends[astray])
    return ends, there & possible


def has_answer(question: Question, places: Indices, points: Floats) -> NDArray[np.bool_]:
    """Whether points, made of the rows at these places, have the class sought."""
    codes = question.rule.codes(as_floats(points)) if len(points) else question.leave[:0]
    return question.is_sought(places, codes)


def halve(question: Question, places: Indices, ends: Floats, halvings: int = ROUGH) -> Floats:
    """Return the point past the boundary, between rows and ends in the other class, by halving."""
    here = question.ranges.clip(question.rows[places])
    low, high = np.zeros(len(here)), np.ones(len(here))
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        there = has_answer(question, places, here + middle[:, None] * (ends - here))
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return here + high[:, None] * (ends - here)


def shorten_ways(question: Question, places: Indices, points: Floats) -> Floats:
    """Return points on shorter ways: many steps at once, then one by one as long as that gains."""
    points, part = points.copy(), np.ones(len(places))
    for share in LEAPS:
        points, _ = turn(question, places, points, LEAP, share * part)
    going = np.arange(len(places))
    for _ in range(STEPS):
        if not len(going):
            break
        points[going], gain = turn(question, places[going], points[going], 1, part[going])
        part[going[gain <= 0.0]] *= 0.25
        going = going[((gain <= 0.0) & (part[going] > SMALLEST)) | (gain > WORTHWHILE)]
    return points


def turn(
    question: Question, places: Indices, points: Floats, steps: int, part: Floats
) -> tuple[Floats, Floats]:
    """Return points as near or nearer, and by what share they are nearer.

    Ways turn by some steps, each a part of the way to the next point.
    """
    rows, points, part = question.rows[places], points.copy(), part[:, None]
    way, length = points - rows, norm(points - rows, axis=1)
    for _ in range(steps):
        way = (1.0 - part) * way + part * ways_to_planes(question, places, rows + way)
    reach = (1.0 - SHORTER) * _over(length, norm(way, axis=1))
    ends = question.ranges.clip(rows + reach[:, None] * way)
    nearer = has_answer(question, places, ends)
    points[nearer] = halve(question, places[nearer], ends[nearer])
    return points, 1.0 - _over(norm(points - rows, axis=1), length)


def ways_to_planes(question: Question, places: Indices, points: Floats) -> Floats:
    """Return the shortest ways from rows to where scores, as planes at the points, are equal."""
    ranges, rows = question.ranges, question.rows[places]
    lead, slope = lead_and_slope(question, places, points)
    slope = np.where(ranges.movable, slope, 0.0)
    size = norm(slope, axis=1)
    slope = _over(slope, size[:, None])
    across = np.einsum("ij,ij->i", slope, points - rows) - _over(lead, size)
    box = (ranges.low - rows, ranges.high - rows) if ranges.is_bounded else (rows[:, :0],) * 2
    ways = np.zeros_like(rows)
    nearest_half_spaces(slope, across, as_floats(box[0]), as_floats(box[1]), ways)
    return ways


def lead_and_slope(question: Question, places: Indices, points: Floats) -> tuple[Floats, Floats]:
    """Return the score of the class sought less that of others, and its slope at the sample."""
    rule, D = question.rule, question.rule.distances(points)
    codebook, codes = rule.codebook, np.arange(len(rule.classes))
    scores = rule.scale * rule.decision.scores(D / rule.scale, codebook.labels, len(codes))
    goal = np.stack([question.is_sought(places, np.full(len(D), c)) for c in codes], axis=1)
    ours, others = np.where(goal, scores, -np.inf), np.where(goal, -np.inf, scores)
    share = shares(rule, D, ours.argmax(axis=1)) - shares(rule, D, others.argmax(axis=1))
    slope = np.zeros_like(points)
    parts = codebook.prototypes, codebook.metric, codebook.group, rule.distance.gradient.address
    add_slopes(as_floats(points), *parts, as_floats(share), slope)
    return ours.max(axis=1) - others.max(axis=1), slope


def shares(rule: DecisionRule, D: Floats, code: Indices) -> Floats:
    """Return the share of each prototype in the score of a class; the nearest has all if hard."""
    own = rule.codebook.labels == code[:, None]
    if rule.decision.soft:
        return softmax(np.where(own, -rule.decision.xi / rule.scale * D, -np.inf), axis=1)
    return np.eye(D.shape[1])[np.where(own, D, np.inf).argmin(axis=1)]


@native(types.void(matrix, matrix, matrix, indices, ADDRESS, matrix, matrix_out), makes_arrays=True)
def add_slopes(X, W, theta, group, gradient, share, out):
    """Add up derivatives by the sample: of minus a distance, that by the prototype."""
    derive = gradient_at(gradient)
    by_w, by_theta = np.empty(W.shape[1]), np.empty(theta.shape[1])
    for i in range(X.shape[0]):
        for k in range(W.shape[0]):
            if share[i, k] != 0.0:
                by_w[:] = 0.0
                by_theta[:] = 0.0
                derive(X[i], W[k], theta[group[k]], by_w, by_theta)
                for f in range(by_w.size):
                    out[i, f] += share[i, k] * by_w[f]


def _over(a: Floats, b: Floats) -> Floats:
    """Return the quotient, zero where b is: no slope and no way lead nowhere."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
