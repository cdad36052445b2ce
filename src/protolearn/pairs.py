"""The pairs of prototypes that margins of pairs are about, by few products.

``m = min_j max_i margin(D_i, D_j, |u_i - u_j|)`` over the rivals j and the own prototypes i. For
the nearest own prototype the margins with all rivals come from one product of the prototypes that
are nearest to a row with all prototypes. Each is at most the maximum over i, so only rivals whose
margin there is below the least maximum found so far are compared with the other own prototypes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ._arrays import Floats, Indices, Reals, as_floats, as_indices
from .margins import Margin, Radius
from .native import (
    ADDRESS,
    MARGIN,
    Native,
    f8,
    flags,
    flags_matrix,
    indices,
    indices_matrix_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)

DUAL = {1: "chebyshev", 2: "euclidean", np.inf: "cityblock"}
"""The metric between prototypes that belongs to the norm in which a row moves."""

SURE = {"d": 1e-6, "f": 1e-3}
"""Share of the squared lengths of two vectors below which their product lost digits."""

SURE_IN_DOUBLE, SURE_IN_SINGLE = SURE["d"], SURE["f"]

REALS = types.Array(types.float16, 2, "C", readonly=True)
REALS_OUT = types.Array(types.float16, 2, "C")
REAL = types.Array(types.float16, 1, "C", readonly=True)
EITHER = REALS, REALS_OUT, REAL
"""Stand for arrays in double or in single precision."""

THREE = np.array([True, False, False])
THREE.flags.writeable = False
"""Whose the numbers are that a margin of pairs receives."""

margin_at = pointer(MARGIN)


class Pairs(NamedTuple):
    """The own prototype, the rival, and the nearest own prototype of each row; and how far apart.

    ``apart`` is the length between the first two, ``value`` the margin.
    """

    places: Indices  # (n, 3)
    apart: Floats
    value: Floats


def lengths_between(U: Reals, V: Reals, norm: Any) -> Floats:
    """Return the dual norms of all ``u - v``, an array (len(U), len(V))."""
    if norm != 2:
        return cdist(U, V, DUAL[norm])
    by_u, by_v = np.einsum("ij,ij->i", U, U), np.einsum("ij,ij->i", V, V)
    squares, share = U @ V.T, SURE[U.dtype.char]
    squares *= -2.0
    squares += by_u[:, None]
    squares += by_v
    np.maximum(squares, 0.0, out=squares)
    if U.size and V.size and squares.min() < share * (by_u.max() + by_v.max()):
        i, j = np.nonzero(squares < share * (by_u[:, None] + by_v))
        squares[i, j] = np.square(U[i] - V[j]).sum(axis=1)
    return as_floats(np.sqrt(squares, out=squares))


def lost_digits(U: Reals) -> float:
    """Return the share of a length between prototypes that products may lose to rounding."""
    return 4.0 * (U.shape[1] + 16) * float(np.finfo(U.dtype).eps) / SURE[U.dtype.char]


def find_pairs(
    margin: Margin, D: Floats, codes: Indices, U: Reals, labels: Indices, units: Floats
) -> Pairs:
    """Return the pair of each row that decides about its margin.

    ``U`` are the directions of the prototypes, with the class codes ``labels``, in the precision
    of products; ``units`` are the factors of distances and of lengths between prototypes.
    """
    n, same = len(D), labels == np.arange(max(labels.max(), codes.max()) + 1)[:, None]
    found = Pairs(np.full((n, 3), -1, dtype=np.intp), np.zeros(n), np.full(n, np.inf))
    called = margin.margin.address, as_floats(margin.theta()), units, THREE
    nearest_own[D.dtype.char](D, codes, same, found.places)
    near, place = np.unique(found.places[:, 2], return_inverse=True)
    given = codes, same, as_indices(place), found.places
    if margin.norm == 2 and D.dtype == U.dtype and margin.margin is Radius.margin:
        V, sizes, ratio = np.empty_like(D), np.einsum("ij,ij->i", U, U), units[0] / units[1]
        meet_planes[D.dtype.char](D, *given, U, near, U[near] @ U.T, sizes, ratio, V)
    else:
        V, lengths = np.empty(D.shape), lengths_between(U[near], U, margin.norm)
        meet_rivals(as_floats(D), *given, lengths, *called, V)
    first = as_indices(V.argmin(axis=1))
    every = np.arange(n)
    settle(found, D, codes, U, labels, margin.norm, called, every, first)
    V[every, first] = np.inf
    limits = np.nextafter(found.value.astype(V.dtype), V.dtype.type(np.inf))[:, None]
    open_rows, rivals = np.nonzero(limits > V)
    settle(found, D, codes, U, labels, margin.norm, called, open_rows, rivals)
    return found


def settle(
    found: Pairs,
    D: Floats,
    codes: Indices,
    U: Reals,
    labels: Indices,
    norm: Any,
    called: tuple[Any, ...],
    rows: Indices,
    rivals: Indices,
) -> None:
    """Compare some rivals of rows with all own prototypes; keep the least margin, in place."""
    for code in np.unique(codes[rows]):
        here = np.flatnonzero(codes[rows] == code)
        owns = np.flatnonzero(labels == code)
        some, place = np.unique(rivals[here], return_inverse=True)
        lengths = lengths_between(U[some], U[owns], norm)
        which = rows[here], rivals[here], as_indices(place), owns
        settle_rivals[D.dtype.char](D, *map(as_indices, which), lengths, *called, *found)


def in_either(*signature: Any) -> Callable[[Callable[..., Any]], dict[str, Native]]:
    """Return a decorator for a native function in double and in single precision, by type."""

    def both(function: Callable[..., Any]) -> dict[str, Native]:
        forms = {}
        for char, real in ("d", types.float64), ("f", types.float32):
            arrays = [arg if arg not in EITHER else arg.copy(dtype=real) for arg in signature]
            forms[char] = native(types.void(*arrays), makes_arrays=True)(function)
        return forms

    return both


@in_either(REALS, indices, flags_matrix, indices_matrix_out)
def nearest_own(D, codes, same, index):
    """Write the nearest own prototype of each row, twice, and any rival between."""
    for i in range(D.shape[0]):
        mine, own = same[codes[i]], -1
        for k in range(mine.size):
            if mine[k]:
                if own < 0 or D[i, k] < D[i, own]:
                    own = k
            else:
                index[i, 1] = k
        index[i, 0], index[i, 2] = own, own


CALLED = ADDRESS, vector, vector, flags


@in_either(
    *(REALS, indices, flags_matrix, indices, indices_matrix_out),
    *(REALS, indices, REALS_OUT, REAL, f8, REALS_OUT),
)
def meet_planes(D, codes, same, place, index, U, near, products, sizes, ratio, V):
    """Write the distances to the planes between the nearest own prototype of a row and all rivals.

    ``ratio`` is the factor of distances over that of lengths.
    """
    share = SURE_IN_SINGLE if D.itemsize == 4 else SURE_IN_DOUBLE
    for k in range(near.size):
        u, row = U[near[k]], products[k]
        for j in range(row.size):
            both = sizes[near[k]] + sizes[j]
            square = both - 2.0 * row[j]
            if square < share * both:
                square = 0.0
                for f in range(u.size):
                    square += (u[f] - U[j, f]) ** 2
            row[j] = 0.5 * ratio / math.sqrt(square) if square > 0.0 else 0.0
    for i in range(D.shape[0]):
        mine, scaled, d = same[codes[i]], products[place[i]], D[i, index[i, 2]]
        for j in range(mine.size):
            V[i, j] = np.inf if mine[j] else (D[i, j] - d) * scaled[j]


@native(
    types.void(
        *(matrix, indices, flags_matrix, indices, indices_matrix_out, matrix), *CALLED, matrix_out
    ),
    makes_arrays=True,
)
def meet_rivals(D, codes, same, place, index, lengths, margin, theta, units, three, V):
    """Write the margins of the nearest own prototype of each row with all rivals."""
    measure, d, g = margin_at(margin), np.empty(3), np.zeros(3)
    for i in range(D.shape[0]):
        mine, apart = same[codes[i]], lengths[place[i]]
        d[0] = units[0] * D[i, index[i, 2]]
        for j in range(mine.size):
            V[i, j] = np.inf
            if not mine[j]:
                d[1], d[2] = units[0] * D[i, j], units[1] * apart[j]
                V[i, j] = measure(d, three, theta, g)


@in_either(
    *(REALS, indices, indices, indices, indices, matrix),
    *(*CALLED, indices_matrix_out, vector_out, vector_out),
)
def settle_rivals(
    D, rows, rivals, place, owns, lengths, margin, theta, units, three, index, apart, value
):
    """Keep for each row the rival with the least of its largest margins, given those before."""
    measure, d, g = margin_at(margin), np.empty(3), np.zeros(3)
    for e in range(rows.size):
        i, j, between, largest, best = rows[e], rivals[e], lengths[place[e]], -np.inf, 0
        d[1] = units[0] * D[i, j]
        for m in range(owns.size):
            d[0], d[2] = units[0] * D[i, owns[m]], units[1] * between[m]
            found = measure(d, three, theta, g)
            if found > largest:
                largest, best = found, m
                if largest >= value[i]:
                    break
        if largest < value[i]:
            value[i], apart[i] = largest, between[best]
            index[i, 0], index[i, 1] = owns[best], j


def pull_directions(U: Floats, pairs: Pairs, by_length: Floats, norm: Any, out: Floats) -> None:
    """Add to the gradient by the directions, given that by the length between each pair."""
    pull_apart(U, pairs.places, pairs.apart, by_length, list(DUAL).index(norm), out)


@native(types.void(matrix, indices_matrix_out, vector, vector, types.intp, matrix_out))
def pull_apart(U, index, apart, by_length, kind, out):
    """Accumulate the derivatives of the lengths; those of the largest difference for kind 0."""
    for i in range(index.shape[0]):
        g = by_length[i]
        if g == 0.0 or apart[i] == 0.0:
            continue
        u, v, by_u, by_v = U[index[i, 0]], U[index[i, 1]], out[index[i, 0]], out[index[i, 1]]
        if kind == 0:
            largest = 0
            for f in range(u.size):
                if abs(u[f] - v[f]) > abs(u[largest] - v[largest]):
                    largest = f
            step = g * np.sign(u[largest] - v[largest])
            by_u[largest] += step
            by_v[largest] -= step
            continue
        for f in range(u.size):
            step = u[f] - v[f]
            step = g * step / apart[i] if kind == 1 else g * np.sign(step)
            by_u[f] += step
            by_v[f] -= step
