"""The tangents of a picture: how its pixels change when it is moved, turned or stretched.

With ``I_x`` and ``I_y`` the slopes of the smoothed picture and (x, y) the place of a pixel, seen
from the middle, a small transformation adds a multiple of one of the pictures named below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._arrays import ROUNDING, Floats

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
    """Give the named tangents of pictures (K, height, width): an array (K, t, height, width).

    They are neither orthogonal nor of any particular length. A picture without contrast has
    zeros.
    """
    I_x, I_y = slopes(pictures, smoothing)
    height, width = pictures.shape[1:]
    y, x = np.ogrid[:height, :width]
    x, y = x - 0.5 * (width - 1), y - 0.5 * (height - 1)
    return np.stack([FORMULAS[name](I_x, I_y, x, y) for name in names], axis=1)


def slopes(pictures: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Give the slopes of the smoothed pictures to the right and down, at most one.

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
