"""The tangents of prototypes: those of a picture, and what lies along tangents and across them.

With ``I_x`` and ``I_y`` the slopes of the smoothed picture and (x, y) the place of a pixel, seen
from the middle, a small transformation adds a multiple of one of the pictures named below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._arrays import ROUNDING, Floats, Indices
from ..codebook import Codebook

Formula = Callable[[Floats, Floats, Floats, Floats], Floats]

FORMULAS: dict[str, Formula] = {
    "horizontal": lambda I_x, I_y, x, y: I_x,
    "vertical": lambda I_x, I_y, x, y: I_y,
    "rotation": lambda I_x, I_y, x, y: y * I_x - x * I_y,
    "scaling": lambda I_x, I_y, x, y: x * I_x + y * I_y,
    "stretch": lambda I_x, I_y, x, y: x * I_x - y * I_y,
    "shear": lambda I_x, I_y, x, y: y * I_x + x * I_y,
    "thickness": lambda I_x, I_y, x, y: np.square(I_x) + np.square(I_y),
}
"""Simard's seven, each up to a factor."""


def image_tangents(pictures: Floats, names: tuple[str, ...], smoothing: float) -> Floats:
    """Return the named tangents of pictures (K, height, width): an array (K, t, height, width).

    They are neither orthogonal nor of any particular length. A picture without contrast has
    zeros.
    """
    I_x, I_y = slopes(pictures, smoothing)
    height, width = pictures.shape[1:]
    y, x = np.ogrid[:height, :width]
    x, y = x - 0.5 * (width - 1), y - 0.5 * (height - 1)
    return np.stack([FORMULAS[name](I_x, I_y, x, y) for name in names], axis=1)


def slopes(pictures: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Return the slopes of the smoothed pictures to the right and down, at most one.

    What is rounding beside the brightest pixel is none.
    """
    from scipy.ndimage import gaussian_filter  # no other distance needs to wait for it

    smooth = gaussian_filter(pictures, (0.0, smoothing, smoothing), mode="nearest")
    down, right = np.gradient(smooth, axis=(1, 2))
    both = np.stack([right, down])
    least = ROUNDING * np.abs(pictures).max(axis=(1, 2), keepdims=True)
    both[np.abs(both) <= least] = 0.0
    steepest = np.abs(both).max(axis=(0, 2, 3))[:, None, None]
    both /= np.where(steepest > 0.0, steepest, 1.0)
    return both[0], both[1]


def tangents_of(codebook: Codebook) -> Floats:
    """Return the tangents of each prototype, an array (K, t, d)."""
    K, d = codebook.prototypes.shape
    return codebook.metric[codebook.group].reshape(K, -1, d)


def across(vectors: Floats, codebook: Codebook) -> Floats:
    """Take from one vector for each prototype its part along the tangents."""
    T = tangents_of(codebook)
    along = np.einsum("ktd,kd->kt", T, vectors)
    return vectors - np.einsum("ktd,kt->kd", T, along)


def by_prototype(index: Indices, value: Floats) -> Iterator[tuple[int, Indices, Floats]]:
    """Return each prototype that is named, the rows that name it, and their dL/dD."""
    rows, columns = np.nonzero(value)
    prototype, g = index[rows, columns], value[rows, columns]
    order = np.argsort(prototype, kind="stable")
    found, first = np.unique(prototype[order], return_index=True)
    for k, members in zip(found, np.split(order, first)[1:], strict=True):
        yield int(k), rows[members], g[members]


def by_tangents(X: Any, codebook: Codebook, k: int, g: Floats) -> Floats:
    """Return ``-2 sum_i g_i (T e_i) e_i``, e the difference of a row to prototype k."""
    d = codebook.prototypes.shape[1]
    e, T = X - codebook.prototypes[k], codebook.metric[codebook.group[k]].reshape(-1, d)
    along = e @ T.T
    along *= -2.0 * g[:, None]
    return (along.T @ e).ravel()
