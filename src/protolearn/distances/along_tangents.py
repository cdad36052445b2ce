"""What lies along the tangents of prototypes, and across them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from ..codebook import Codebook
from .axes import completed


def full(tangents: Floats) -> Floats:
    """Replace zeros by directions at random, all orthonormal: zeros would stay zeros."""
    return completed(tangents[tangents.any(axis=1)], len(tangents))


def tangents_of(codebook: Codebook) -> Floats:
    """Give the tangents of each prototype, an array (K, t, d)."""
    K, d = codebook.prototypes.shape
    return codebook.metric[codebook.group].reshape(K, -1, d)


def across(vectors: Floats, codebook: Codebook) -> Floats:
    """Take from one vector for each prototype its part along the tangents."""
    T = tangents_of(codebook)
    along = np.einsum("ktd,kd->kt", T, vectors)
    return vectors - np.einsum("ktd,kt->kd", T, along)


def by_prototype(index: Indices, value: Floats) -> Iterator[tuple[int, Indices, Floats]]:
    """Give each prototype that is named, the rows that name it, and their dL/dD."""
    rows, columns = np.nonzero(value)
    prototype, g = index[rows, columns], value[rows, columns]
    order = np.argsort(prototype, kind="stable")
    found, first = np.unique(prototype[order], return_index=True)
    for k, members in zip(found, np.split(order, first)[1:], strict=True):
        yield int(k), rows[members], g[members]


def by_tangents(X: Any, codebook: Codebook, k: int, g: Floats) -> Floats:
    """Give ``-2 sum_i g_i (T e_i) e_i``, e the difference of a row to prototype k."""
    d = codebook.prototypes.shape[1]
    e, T = X - codebook.prototypes[k], codebook.metric[codebook.group[k]].reshape(-1, d)
    along = e @ T.T
    along *= -2.0 * g[:, None]
    return (along.T @ e).ravel()
