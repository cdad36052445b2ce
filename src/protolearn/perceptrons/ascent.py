"""Dual ascent: raise ``sum u - u^T C u / 2`` by the example, or the pair, that gains most.

The potentials ``E = C u`` with ``C_ij = y_i y_j K_ij`` follow each step. An embedding strength is
from 0 to ``gamma``. Without a threshold the strengths are free of each other, and one changes at a
time; a free threshold asks for ``sum u y = 0``, which steps of two keep.
"""

from __future__ import annotations

import numba
import numpy as np

from ..native import FAST, f8, i8, matrix, native, types, vector, vector_out

FLAT = 1e-12
"""Least curvature, in units of the largest product, that a step reckons with."""

ROUNDING = 1e-14
"""Part of a strength by which steps of two may miss a bound."""


@numba.njit(**FAST)
def least_curvature(K):
    """Return the least curvature that a step reckons with, positive even if all products vanish."""
    largest = 0.0
    for k in range(K.shape[0]):
        largest = max(largest, K[k, k])
    return FLAT * largest if largest > 0.0 else 1.0


@numba.njit(**FAST)
def bounded(before, change, gamma):
    """Change a strength within 0 and gamma, onto the bound if only rounding would keep it off."""
    after = before + change
    if after <= ROUNDING * before:
        return 0.0
    return gamma if after >= gamma * (1.0 - ROUNDING) else after


@numba.njit(**FAST)
def best_single(K, u, E, gamma, flat):
    """Return the example that gains most, and the largest violation of optimality."""
    best, gain, violation = -1, 0.0, 0.0
    for k in range(E.size):
        slope = 1.0 - E[k]
        if (slope > 0.0 and u[k] < gamma) or (slope < 0.0 and u[k] > 0.0):
            violation = max(violation, abs(slope))
            rise = slope * slope / max(K[k, k], flat)
            if rise > gain:
                best, gain = k, rise
    return best, violation


@numba.njit(**FAST)
def extremes(signs, u, E, gamma):
    """Return who has the largest ``y (1 - E)`` that may fall, this, and the least that may rise."""
    first, high, low = -1, -np.inf, np.inf
    for k in range(E.size):
        slope = signs[k] * (1.0 - E[k])
        if slope > high and (u[k] < gamma if signs[k] > 0.0 else u[k] > 0.0):
            first, high = k, slope
        if slope < low and (u[k] > 0.0 if signs[k] > 0.0 else u[k] < gamma):
            low = slope
    return first, high, low


@numba.njit(**FAST)
def best_partner(signs, K, i, high, u, E, gamma, flat):
    """Return the example that gains most together with i."""
    second, gain = -1, 0.0
    for k in range(E.size):
        lead = high - signs[k] * (1.0 - E[k])
        if lead > 0.0 and (u[k] > 0.0 if signs[k] > 0.0 else u[k] < gamma):
            rise = lead * lead / max(K[i, i] + K[k, k] - 2.0 * K[i, k], flat)
            if rise > gain:
                second, gain = k, rise
    return second


@native(types.Tuple((i8, f8))(vector, matrix, f8, f8, f8, i8, vector_out, vector_out))
def ascend(signs, K, eta, gamma, tol, steps, u, E):
    """Change one strength at a time; give the number of steps, and the violation that is left."""
    flat = least_curvature(K)
    violation = np.inf
    for step in range(steps):
        i, violation = best_single(K, u, E, gamma, flat)
        if violation <= tol:
            return step, violation
        changed = min(max(u[i] + eta * (1.0 - E[i]) / max(K[i, i], flat), 0.0), gamma)
        change = signs[i] * (changed - u[i])
        u[i] = changed
        for k in range(E.size):
            E[k] += signs[k] * change * K[i, k]
    return steps, violation


@native(types.Tuple((i8, f8))(vector, matrix, f8, f8, f8, i8, vector_out, vector_out))
def ascend_in_pairs(signs, K, eta, gamma, tol, steps, u, E):
    """Change two strengths at a time, so that ``sum u y`` stays as it is."""
    flat = least_curvature(K)
    violation = np.inf
    for step in range(steps):
        i, high, low = extremes(signs, u, E, gamma)
        violation = high - low
        if violation <= tol:
            return step, violation
        j = best_partner(signs, K, i, high, u, E, gamma, flat)
        curvature = max(K[i, i] + K[j, j] - 2.0 * K[i, j], flat)
        change = eta * (high - signs[j] * (1.0 - E[j])) / curvature
        change = min(change, gamma - u[i] if signs[i] > 0.0 else u[i])
        change = min(change, u[j] if signs[j] > 0.0 else gamma - u[j])
        mine = bounded(u[i], signs[i] * change, gamma)
        other = bounded(u[j], -signs[j] * change, gamma)
        by_i, by_j = signs[i] * (mine - u[i]), signs[j] * (other - u[j])
        u[i], u[j] = mine, other
        for k in range(E.size):
            E[k] += signs[k] * (by_i * K[i, k] + by_j * K[j, k])
    return steps, violation
