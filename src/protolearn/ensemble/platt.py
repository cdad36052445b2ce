"""Platt's probabilities: a sigmoid of the decision value, for many models at once.

The fit is by Newton's method with halved steps, after Lin, Lin and Weng (2007).
"""

from __future__ import annotations

import numba
import numpy as np

from ..native import FAST, flags_matrix, matrix, matrix_out, native, types

ITERATIONS, HALVINGS, GRADIENT = 100, 30, 1e-8
"""Most steps, most halvings of a step, and the gradient a row at which the fit is done."""

LEAST = 1e-9
"""The least vote of a model that fires: it counts, even beside others that are rounded."""

FACTORS = 512
"""So many numbers from one to two have a product that is no overflow."""


@numba.njit(**FAST)
def moments(scores, own, unit, high, low, a, b, out):
    """Return the cross entropy of the sigmoid; write its gradient and Hessian."""
    loss = g1 = g2 = h11 = h12 = h22 = 0.0
    product = 1.0  # of what the logarithm is taken of, which is slow
    for j in range(scores.size):
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


@native(types.void(matrix, flags_matrix, matrix_out), makes_arrays=True)
def fit_sigmoids(scores, own, curves):
    """Write slope and offset of each model, ``p = 1 / (1 + exp(-slope f - offset))``."""
    n = scores.shape[1]
    out = np.empty(5)
    for i in range(len(scores)):
        positives, square = 0.0, 0.0
        for j in range(n):
            positives += own[i, j]
            square += scores[i, j] * scores[i, j]
        unit = 1.0 / max(np.sqrt(square / n), 1e-300)
        high, low = (positives + 1.0) / (positives + 2.0), 1.0 / (n - positives + 2.0)
        a, b = 0.0, np.log((positives + 1.0) / (n - positives + 1.0))
        loss = moments(scores[i], own[i], unit, high, low, a, b, out)
        for _ in range(ITERATIONS):
            g1, g2, h11, h12, h22 = out[0], out[1], out[2] + 1e-12, out[3], out[4] + 1e-12
            if abs(g1) + abs(g2) <= GRADIENT * n:
                break
            det = h11 * h22 - h12 * h12
            da, db = (h12 * g2 - h22 * g1) / det, (h12 * g1 - h11 * g2) / det
            step, descent = 1.0, g1 * da + g2 * db
            for _ in range(HALVINGS):
                new = moments(scores[i], own[i], unit, high, low, a + step * da, b + step * db, out)
                if new <= loss + 1e-4 * step * descent:
                    break
                step *= 0.5
            if not new < loss:  # a step of a singular Hessian may be NaN
                break
            a, b, loss = a + step * da, b + step * db, new
        curves[i, 0], curves[i, 1] = a * unit, b


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
                out[i, j] = 1.0 / (1.0 + e) if z >= 0.0 else max(e / (1.0 + e), LEAST)
