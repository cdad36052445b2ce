"""Numbers and categories side by side: the places of the levels of categories.

A row holds numbers, and blocks of shares: a category with p levels has p neighbouring entries, one
for each level. A block b has a matrix ``E_b`` whose columns are the places of its levels, and a
number has a block of its own with one entry:

    D(x, w) = sum_b |E_b (x_b - w_b)|^2.

Two levels are ``delta(a, c) = |E_a - E_c|^2`` apart, and of shares that sum to one
``|E (x - w)|^2 = -(x - w)^T delta (x - w) / 2``. The columns of E sum to zero at the start. Then so
do the rows of its gradient and the gradient of a prototype: shares that sum to one keep their sum.

A row of parameters is ``[blocks, rank, places, width of each block, E of each block]``. A block of
width p has ``min(rank, p)`` rows, and ``places`` is the number of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np

from .._arrays import Floats, Indices, as_floats, as_indices
from ..native import CONSTRAIN, FAST, f8, matrix, matrix_out, native, types, vector, vector_out
from .constraints import UnitNorm

PRIOR_ROWS = 1.0
"""Rows with the class frequencies of all that are added to those of each level."""

ROUNDED = 1e-9
"""Share by which shares may miss their sum."""

TOLD = 1e-6
"""Variance of class frequencies among levels below which they tell nothing."""


@numba.njit(**FAST)
def integer(parameter):
    """Return the integer that a parameter holds."""
    return int(parameter + 0.5)


class UnitNormOfPlaces(UnitNorm):
    """The entries of all E have norm one; what stands before them is not learned."""

    @native(CONSTRAIN)
    def constrain(theta, d):
        """Divide the entries of one row by their norm."""
        total, first = 0.0, 3 + integer(theta[0])
        for j in range(first, theta.size):
            total += theta[j] * theta[j]
        norm = math.sqrt(total)
        if norm > 0.0:
            for j in range(first, theta.size):
                theta[j] /= norm

    def apply(self, free: Floats) -> Floats:
        """Divide the entries of each row by their norm."""
        first, found = first_place(free[0]), np.rint(free)
        found[:, first:] = super().apply(free[:, first:])
        return found

    def pull_back(self, free: Floats, gradient: Floats) -> Floats:
        """Project the gradient by the entries on the sphere."""
        first, found = first_place(free[0]), np.zeros_like(gradient)
        found[:, first:] = super().pull_back(free[:, first:], gradient[:, first:])
        return found


def find_blocks(X: Any) -> Indices:
    """Return the widths of the blocks: of shares that sum to one number, and of single columns."""
    low, high = X.min(axis=0), X.max(axis=0)
    widths: list[int] = []
    while (first := sum(widths)) < len(low):
        widths.append(width_of_shares(X, low, high, first))
    return as_indices(widths)


def width_of_shares(X: Any, low: Floats, high: Floats, first: int) -> int:
    """Return how many columns from the first on are shares of one category; 1 if it is none.

    A level that no row has, a column of zeros, may be in it.
    """
    unit, total = 0.0, np.zeros(len(X))
    for last in range(first, len(low)):
        unit = unit or float(high[last])
        if low[last] < 0.0 or high[last] not in (unit, 0.0):
            return 1
        total += X[:, last]
        if total.max() > unit * (1.0 + ROUNDED):
            return 1
        if unit > 0.0 and total.min() >= unit * (1.0 - ROUNDED):
            return last + 1 - first
    return 1


def equal_places(width: int) -> Floats:
    """Return places that are equally far from each other, of a number one."""
    if width == 1:
        return np.ones((1, 1))
    values, vectors = np.linalg.eigh(np.eye(width) - 1.0 / width)
    return np.sqrt(np.maximum(values[::-1], 0.0))[:, None] * vectors.T[::-1]


def level_places(shares: Any, mass: Floats, rank: int) -> Floats:
    """Return places of the levels of a category, centred, with variance about one.

    ``mass`` is the weight of each row at its class.
    """
    unit, p = float(shares.max()) or 1.0, shares.shape[1]
    counts = (shares / unit).T @ mass
    size = counts.sum(axis=1, keepdims=True)
    known = counts + PRIOR_ROWS * mass.sum(axis=0) / mass.sum()
    frequencies = known / (size + PRIOR_ROWS)
    frequencies -= frequencies.mean(axis=0)
    share, equal = size[:, 0] / size.sum(), np.eye(p) - 1.0 / p
    grams = [gram for gram in (frequencies @ frequencies.T, equal) if variance(gram, share) > TOLD]
    gram = np.mean([gram / variance(gram, share) for gram in grams], axis=0) if grams else equal
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values[::-1][:rank], 0.0))
    return as_floats(roots[:, None] * vectors.T[::-1][:rank] / unit)


def variance(gram: Floats, share: Floats) -> float:
    """Return the variance of places with these products, of which each has a share of the rows."""
    return float(share @ gram.diagonal() - share @ gram @ share)


def parameter_rows(E: Sequence[Floats], rank: int, n_groups: int) -> Floats:
    """Return the rows of parameters with these places, of norm one."""
    if not any(places.any() for places in E):  # nothing varies
        E = [np.eye(*places.shape) for places in E]
    entries = np.concatenate([places.ravel() for places in E])
    head = [len(E), rank, sum(map(len, E)), *(places.shape[1] for places in E)]
    return np.tile(np.append(head, entries / np.linalg.norm(entries)), (n_groups, 1))


def first_place(row: Floats) -> int:
    """Return where the places begin in a row of parameters."""
    return 3 + round(float(row[0]))


def each_place(row: Floats) -> Iterator[Floats]:
    """Yield the matrix E of each block."""
    start, rank = first_place(row), round(float(row[1]))
    for width in np.rint(row[3:start]).astype(int).tolist():
        end = start + min(rank, width) * width
        yield row[start:end].reshape(-1, width)
        start = end


def are_places(metric: Floats, n_features: int) -> bool:
    """Whether rows of parameters say the same of their blocks, and have entries for all of them."""
    n, rank, total = (float(number) for number in metric[0, :3])
    if not (1.0 <= n <= n_features and n == int(n) and metric.shape[1] > 3 + n and rank >= 1.0):
        return False
    first = 3 + int(n)
    widths = metric[0, 3:first]
    heights = np.minimum(widths, rank)
    return bool(
        (metric[:, :first] == metric[0, :first]).all()
        and (widths >= 1.0).all()
        and (metric[0, 1:first] == np.rint(metric[0, 1:first])).all()
        and widths.sum() == n_features
        and heights.sum() == total
        and first + widths @ heights == metric.shape[1]
    )


def map_about(X: Any, center: Floats, row: Floats) -> Floats:
    """Return the places of rows, relative to that of a centre."""
    P = np.empty((len(X), round(float(row[2]))))
    write_places(as_floats(X), center, row, P)
    return P


def gradients_by_places(
    X: Floats, W: Floats, row: Floats, R: Floats, S: Floats
) -> tuple[Floats, Floats]:
    """Return ``-2 S E`` and ``2 (R^T X - S^T W)``, within blocks."""
    by_row, by_w = np.zeros_like(row), np.zeros_like(W)
    pull_places(X, R, row, 2.0, by_row)
    pull_places(W, S, row, -2.0, by_row)
    add_back(S, row, -2.0, by_w)
    return by_w, by_row


@native(types.void(matrix, vector, vector, matrix_out))
def write_places(X, center, row, P):
    """Write the places of rows, relative to a centre."""
    rank, first = integer(row[1]), 3 + integer(row[0])
    for i in range(X.shape[0]):
        x, p = X[i], P[i]
        j, place, at = 0, first, 0
        for b in range(3, first):
            width = integer(row[b])
            for _ in range(min(rank, width)):
                z = 0.0
                for f in range(width):
                    z += row[place + f] * (x[j + f] - center[j + f])
                p[at] = z
                at += 1
                place += width
            j += width


@native(types.void(matrix, vector, f8, matrix_out))
def add_back(Z, row, times, out):
    """Add ``times E^T z`` of rows."""
    rank, first = integer(row[1]), 3 + integer(row[0])
    for i in range(Z.shape[0]):
        z, x = Z[i], out[i]
        j, place, at = 0, first, 0
        for b in range(3, first):
            width = integer(row[b])
            for _ in range(min(rank, width)):
                step = times * z[at]
                for f in range(width):
                    x[j + f] += row[place + f] * step
                at += 1
                place += width
            j += width


@native(types.void(matrix, matrix, vector, f8, vector_out))
def pull_places(X, R, row, times, out):
    """Add ``times`` the products of rows and their pulls, within blocks."""
    rank, first = integer(row[1]), 3 + integer(row[0])
    for i in range(X.shape[0]):
        x, r = X[i], R[i]
        j, place, at = 0, first, 0
        for b in range(3, first):
            width = integer(row[b])
            for _ in range(min(rank, width)):
                step = times * r[at]
                for f in range(width):
                    out[place + f] += step * x[j + f]
                at += 1
                place += width
            j += width
