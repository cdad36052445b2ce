"""The support vector machine of several classes at once (Crammer and Singer, 2001).

    min  sum_c |w_c|^2 / 2 + sum_i C_i xi_i,    f_y(z_i) - f_c(z_i) >= 1 - xi_i  for c other than y

with ``f_c = w_c.z + b_c`` and free offsets. Its dual has multipliers ``alpha_ic``, which sum to
zero over the classes, are at most ``C_i`` for the own class and at most zero for all others, and
sum to zero over the samples: ``w_c = sum_i alpha_ic z_i``. The multipliers of one sample after the
other are set to the best ones (Keerthi et al., 2008), and an augmented Lagrangian of the offsets
takes care of the sums over the samples. Time and memory grow linearly with the numbers that are not
zero.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices, as_floats
from ..native import (
    FAST,
    f8,
    i8,
    indices,
    indices_out,
    matrix_out,
    native,
    types,
    vector,
    vector_out,
)

TOLERANCE = 1e-8
"""Violation of the conditions of an optimum that is let pass, in units of the margin."""

GAP = 1e-6
"""Part of the cost that a solution may be above the least one."""

SWEEPS = 20_000
"""The most times that all samples are passed through."""

UNSOLVED = 1e-4
"""A gap, or a violation, that is worth a warning."""

STEADY = 10
"""Sweeps between two changes of the multipliers of the offsets."""


class JointMachine(NamedTuple):
    """A solution, or a start for one."""

    alpha: Floats  # (n, K): multipliers of the samples
    offsets: Floats  # (K,)
    n_iter: int = 0  # passes through the samples


def crammer_singer(
    rows: Any, codes: Indices, C: Floats, n_classes: int, start: JointMachine | None = None
) -> JointMachine:
    """Return the machine of several classes; warn if it is not solved."""
    rows = csr_array(rows)
    order = np.arange(rows.shape[0])
    data = as_floats(rows.data), rows.indptr.astype(np.intp), rows.indices.astype(np.intp)
    square = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    alpha = np.zeros((len(codes), n_classes)) if start is None else start.alpha.copy()
    offsets = np.zeros(n_classes) if start is None else start.offsets.copy()
    if start is not None:
        keep_in_range(alpha, codes, C)
    normals = as_floats((alpha.T @ rows).T)  # (d, K): the classes of a feature lie together
    error, gap, n_iter, seed = np.inf, np.inf, 0, 1
    while n_iter < SWEEPS and error > TOLERANCE and gap > GAP:
        close = max(TOLERANCE, 0.1 * min(error, 1.0))
        count, seed, violation = sweep(
            *data, codes, C, square, STEADY, close, seed, alpha, normals, offsets, order
        )
        n_iter += count
        excess = alpha.sum(axis=0)
        offsets += excess
        error = max(violation, float(np.ptp(excess)))
        gap = duality_gap(rows, codes, C, alpha, normals, offsets)
    if min(error, gap) > UNSOLVED:
        warnings.warn(
            f"The machine of several classes was not solved in {n_iter} passes through the "
            f"samples: its cost may be {gap:.1e} above the least. Scale the features, or take a "
            "smaller C.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return JointMachine(alpha, offsets, n_iter)


def duality_gap(
    rows: Any, codes: Indices, C: Floats, alpha: Floats, normals: Floats, offsets: Floats
) -> float:
    """Return the part of the cost by which a solution may be above the least."""
    places = np.arange(len(codes))
    scores = rows @ normals + offsets
    lead = scores - scores[places, codes][:, None] + 1.0
    lead[places, codes] = 0.0
    half = 0.5 * float(np.sum(normals**2))
    primal = half + float(C @ lead.max(axis=1))
    dual = float(alpha[places, codes].sum()) - half  # minus the sum over all other classes
    # Multipliers that do not sum to zero over the samples are charged by the offsets they feel.
    unbalanced = abs(float(alpha.sum(axis=0) @ (offsets - offsets.mean())))
    return (primal - dual + unbalanced) / primal if primal > 0.0 else 0.0


def keep_in_range(alpha: Floats, codes: Indices, C: Floats) -> None:
    """Shrink the multipliers of samples whose C has become smaller."""
    own = alpha[np.arange(len(codes)), codes]
    alpha *= np.divide(C, own, out=np.ones_like(C), where=own > C)[:, None]


@numba.njit(**FAST)
def best_multipliers(gradient, size, y, C, alpha, ordered):
    """Write the change of the multipliers of a sample to the best ones into ``gradient``."""
    K = gradient.size
    for c in range(K):
        gradient[c] -= size * alpha[c]
        ordered[c] = gradient[c]
    ordered[y] += size * C
    for c in range(1, K):  # from the largest down
        value, place = ordered[c], c
        while place > 0 and ordered[place - 1] < value:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = value
    level, r = ordered[0] - size * C, 1
    while r < K and level < r * ordered[r]:
        level += ordered[r]
        r += 1
    level /= r
    for c in range(K):
        cap = C if c == y else 0.0
        gradient[c] = min(cap, (level - gradient[c]) / size) - alpha[c]


SWEEP = types.Tuple((i8, i8, f8))(
    vector, indices, indices, indices, vector, vector, i8, f8, i8,
    matrix_out, matrix_out, vector_out, indices_out,
)  # fmt: skip


@native(SWEEP, makes_arrays=True)
def sweep(
    values, starts, columns, codes, C, square, most, close, seed, alpha, normals, offsets, order
):
    """Pass through the samples until they violate the conditions of an optimum by little.

    Samples that are far from the margin are left out until the others are done.
    """
    n, K = alpha.shape
    gradient, ordered = np.empty(K), np.empty(K)
    active, last, count, worst = n, np.inf, 0, np.inf
    while count < most:
        worst, k = 0.0, 0
        while k < active:
            seed = (seed * 1103515245 + 12345) % 2147483648  # the same order in every process
            other = k + (seed >> 8) % (active - k)
            i = order[other]
            order[other] = order[k]
            order[k] = i
            y = codes[i]
            for c in range(K):
                gradient[c] = offsets[c] + (0.0 if c == y else 1.0)
            for t in range(starts[i], starts[i + 1]):
                value, j = values[t], columns[t]
                for c in range(K):
                    gradient[c] += value * normals[j, c]
            high, low, rival, used = -np.inf, np.inf, -np.inf, False
            for c in range(K):
                high = max(high, gradient[c])
                if c != y:
                    rival = max(rival, gradient[c])
                if alpha[i, c] < (C[i] if c == y else 0.0):
                    low = min(low, gradient[c])
                used = used or alpha[i, c] != 0.0
            worst = max(worst, high - low)
            if not used and gradient[y] - rival > last:
                active -= 1
                order[k] = order[active]
                order[active] = i
                continue
            k += 1
            if high - low > 0.0:
                best_multipliers(gradient, square[i] + 1.0, y, C[i], alpha[i], ordered)
                for c in range(K):
                    alpha[i, c] += gradient[c]
                    offsets[c] += gradient[c]
                for t in range(starts[i], starts[i + 1]):
                    value, j = values[t], columns[t]
                    for c in range(K):
                        normals[j, c] += value * gradient[c]
        count += 1
        last = worst if worst > 0.0 else np.inf
        if worst <= close:
            if active == n:
                break
            active, last = n, np.inf
    return count, seed, worst
