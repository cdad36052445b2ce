"""Kohonen's rules as small functions, and the loop that follows them.

A rule looks at the distances of one sample and says which prototypes move, and by which share of
the way to the sample; a negative share is away from it. One loop serves all rules and distances:
with a distance delta the move is ``w -= share * (1/2) d delta / dw`` (Biehl, 2023, eq. 5.9), which
is ``share * (x - w)`` for the squared Euclidean one.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from ..native import (
    CONSTRAIN,
    GRADIENT,
    ROW,
    SCHEDULE,
    f8,
    flags,
    flags_matrix,
    i8,
    indices,
    indices_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from ..solvers.sequential import FUNCTIONS, ROOM

RULE = i8(vector, flags, vector, f8, vector_out, indices_out, vector_out)
"""``rule(d, same, theta, rate, own_rates, entries, shares) -> how many prototypes move``

Given the distances of a sample and which prototypes are of its class, fills ``entries`` with the
prototypes that move and ``shares`` with how far. ``own_rates`` holds one rate a prototype, for the
rule that needs it.
"""

MOVED = 2
"""Most prototypes that move."""

row_at = pointer(ROW)
gradient_at = pointer(GRADIENT)
constrain_at = pointer(CONSTRAIN)
rule_at = pointer(RULE)
schedule_at = pointer(SCHEDULE)


@numba.njit
def nearest(d):
    """Give the index of the smallest distance, the first of equal ones."""
    best = 0
    for k in range(1, d.size):
        if d[k] < d[best]:
            best = k
    return best


@numba.njit
def steepness(gradient, distance, stride):
    """Give how many times further than to the sample a whole step would go, at least once."""
    total = 0.0
    for f in range(gradient.size):
        total += gradient[f] * gradient[f]
    return max(1.0, stride * total / (4.0 * distance)) if distance > 0.0 else 1.0


@numba.njit
def two_nearest(d):
    """Give the indices of the smallest distance and the next; the second is -1 if there is none."""
    first = nearest(d)
    second = -1
    for k in range(d.size):
        if k != first and (second < 0 or d[k] < d[second]):
            second = k
    return first, second


@numba.njit
def in_window(near, far, theta):
    """Tell whether ``near / far`` of unsquared distances exceeds the bound of the window."""
    if near <= 0.0:
        return False
    ratio = near / far
    return (math.sqrt(ratio) if theta[1] > 0.0 else ratio) > theta[0]


@numba.njit
def pull_and_push(first, second, same, rate, entries, shares):
    """Attract the prototype of the right class, repel the other."""
    entries[0], entries[1] = first, second
    shares[0], shares[1] = (rate, -rate) if same[first] else (-rate, rate)
    return 2


@native(RULE)
def lvq1(d, same, theta, rate, own_rates, entries, shares):
    """Move the nearest prototype: to the sample if it is right, away from it if not."""
    entries[0] = nearest(d)
    shares[0] = rate if same[entries[0]] else -rate
    return 1


@native(RULE)
def olvq1(d, same, theta, rate, own_rates, entries, shares):
    """Do the same with a rate for each prototype: it falls with each hit, rises with each miss.

    First ``eta <- min(eta(0), eta / (1 + psi eta))``, then the move with the new rate.
    """
    k = nearest(d)
    psi = 1.0 if same[k] else -1.0
    own_rates[k] = min(rate, own_rates[k] / (1.0 + psi * own_rates[k]))
    entries[0], shares[0] = k, psi * own_rates[k]
    return 1


@native(RULE)
def lvq21(d, same, theta, rate, own_rates, entries, shares):
    """Move the two nearest, if one of them is right and the sample lies in the window."""
    first, second = two_nearest(d)
    if second >= 0 and same[first] != same[second] and in_window(d[first], d[second], theta):
        return pull_and_push(first, second, same, rate, entries, shares)
    return 0


@native(RULE)
def lvq3(d, same, theta, rate, own_rates, entries, shares):
    """Do the same, and where both are right attract both a little."""
    first, second = two_nearest(d)
    if second < 0:
        return 0
    if same[first] and same[second]:
        entries[0], entries[1] = first, second
        shares[0] = shares[1] = theta[2] * rate
        return 2
    if same[first] != same[second] and in_window(d[first], d[second], theta):
        return pull_and_push(first, second, same, rate, entries, shares)
    return 0


@native(
    f8(
        matrix,
        indices,
        vector,
        matrix_out,
        matrix_out,
        indices,
        flags_matrix,
        FUNCTIONS,
        vector,
        vector,
        vector_out,
        ROOM,
        f8,
        f8,
        types.boolean,
        f8,
        i8,
    )
)
def follow(
    X,
    y,
    weight,
    W,
    theta,
    group,
    same,
    functions,
    rule_theta,
    rate_theta,
    own_rates,
    room,
    stride,
    metric_rate,
    steep,
    lowest,
    step,
):
    """Follow a rule for each sample; give the weight of those that were classified wrongly."""
    fill, derive = row_at(functions[0]), gradient_at(functions[2])
    constrain, rule = constrain_at(functions[3]), rule_at(functions[4])
    rate_of = schedule_at(functions[5])
    d, entries, numbers, by_w, by_theta, metric_step = room
    shares = numbers[0]
    bounded = lowest > -np.inf
    wrong = 0.0
    for i in range(X.shape[0]):
        x, mine = X[i], same[y[i]]
        fill(x, W, theta, group, functions[1], d)
        if not mine[nearest(d)]:
            wrong += weight[i]
        count = rule(d, mine, rule_theta, rate_of(step + i, rate_theta), own_rates, entries, shares)
        for j in range(count):
            k = entries[j]
            by_w[:] = 0.0
            by_theta[:] = 0.0
            derive(x, W[k], theta[group[k]], by_w, by_theta)
            longest = 1.0 / steepness(by_w, d[k], stride) if steep else 1.0
            move = 0.5 * min(max(weight[i] * shares[j], -longest), longest)
            for f in range(by_w.size):
                W[k, f] -= stride * move * by_w[f]
            if bounded:
                for f in range(by_w.size):
                    W[k, f] = max(W[k, f], lowest)
            for f in range(by_theta.size):
                metric_step[group[k], f] += move * by_theta[f]
        if metric_rate > 0.0:
            for j in range(count):
                r = group[entries[j]]
                for f in range(by_theta.size):
                    theta[r, f] -= metric_rate * metric_step[r, f]
                    metric_step[r, f] = 0.0
                constrain(theta[r], by_w.size)
    return wrong
