"""Probabilities by counting: the share of the own class in each of a few bins.

The bins hold about equally many of the rows on which the model fires (Zadrozny and Elkan, 2001).
A curve is the edges between bins, filled up by infinity, and then the shares.
"""

from __future__ import annotations

import numpy as np

from ..native import flags_matrix, matrix, matrix_out, native, types, vector

BINS, ROWS = 64, 10
"""Most bins, and fewest rows in a bin."""

TIE = 1e-12
"""Part of the largest value by which two values may differ and count as equal."""

WIDTH = 2 * BINS - 1


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
def bins(values, scores, curves, out):
    """Write what the curve says of each value where the model fires, and zero elsewhere."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            out[i, j] = 0.0
            if scores[i, j] > 0.0:
                low, high = 0, BINS - 1
                while low < high:
                    middle = (low + high) // 2
                    if curves[i, middle] < values[i, j]:
                        low = middle + 1
                    else:
                        high = middle
                out[i, j] = curves[i, BINS - 1 + low]
