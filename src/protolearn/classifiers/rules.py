"""Kohonen's rules as small functions.

A rule looks at the distances of one sample and says which prototypes move, and by which share of
the way to the sample; a negative share is away from it.
"""

from __future__ import annotations

import math

import numba

from ..native import f8, flags, i8, indices_out, native, vector, vector_out

RULE = i8(vector, flags, vector, f8, vector_out, indices_out, vector_out)
"""``rule(d, same, theta, rate, own_rates, entries, shares) -> how many prototypes move``

Given the distances of a sample and which prototypes are of its class, fills ``entries`` with the
prototypes that move and ``shares`` with how far. ``own_rates`` holds one rate a prototype, for the
rule that needs it.
"""


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
