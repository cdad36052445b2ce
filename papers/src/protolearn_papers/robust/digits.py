"""MNIST in few dimensions, with small changes: what prototypes of digits are trained on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from protolearn._arrays import Floats
from protolearn.datasets import load

SIDE = 28
"""Pixels a side."""

BORDER = 1
"""Pixels at each side that are left out: they are empty but for a few rows."""

MAPS, AT_A_TIME = 128, 16
"""Small changes of pictures that are drawn once, and how many of them a step takes."""

TURN, STRETCH, SHEAR, SHIFT = 0.065, 0.035, 0.05, 0.375
"""Largest angle, logarithm of a factor, slant, and shift in pixels, of such a change."""

BEND, WIDTH = 0.4, 4.0
"""Mean length of the bends of a change, in pixels, and how far they reach."""


class Digits(NamedTuple):
    """Grey levels from 0 to 1 without the border, and labels."""

    train: Floats
    y_train: Any
    test: Floats
    y_test: Any


def digits() -> Digits:
    """Return the rows and labels of MNIST."""
    train, y_train = load("mnist", part="train")
    test, y_test = load("mnist", part="test")
    return Digits(inner(train), y_train, inner(test), y_test)


def inner(X: Any) -> Floats:
    """Return pictures as grey levels from 0 to 1, without their border."""
    cut = slice(BORDER, SIDE - BORDER)
    return X.reshape(-1, SIDE, SIDE)[:, cut, cut].reshape(len(X), -1) / 255.0


def change(pictures: Floats, rng: np.random.RandomState) -> Floats:
    """Return pictures turned, stretched, slanted, shifted and bent a little, all alike."""
    angle, slant = TURN * rng.uniform(-1.0, 1.0), SHEAR * rng.uniform(-1.0, 1.0)
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.array([[cosine, -sine], [sine, cosine]]) @ np.array([[1.0, 0.0], [slant, 1.0]])
    turn *= np.exp(STRETCH * rng.uniform(-1.0, 1.0, size=2))
    side = pictures.shape[1]
    centre = (side - 1.0) / 2.0
    places = np.einsum("ij,jab->iab", turn, np.indices((side, side)) - centre) + centre
    places += SHIFT * rng.uniform(-1.0, 1.0, size=(2, 1, 1))
    bends = rng.uniform(-1.0, 1.0, size=(2, side, side))
    bends = np.stack([gaussian_filter(one, WIDTH, mode="constant") for one in bends])
    places += BEND * bends / np.sqrt(np.square(bends).mean())
    return np.stack([map_coordinates(one, places, order=3) for one in pictures])


class Subspace:
    """The principal components of pictures, and what small changes of pictures do in it.

    Turns, shifts and bends are linear maps of pictures, so they are products of coordinates.

    Attributes
    ----------
    mean : array (d,)
        The mean picture.
    axes : array (d, r)
        The first principal components, orthonormal.
    maps : array (m, r + 1, r)
        The map of coordinates of each change, with a last row of what it adds.
    """

    def __init__(self, X: Floats, n_axes: int, seed: int):
        rng = np.random.RandomState(seed)
        self.mean = X.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(X.T))
        self.axes = vectors[:, np.argsort(values)[: -n_axes - 1 : -1]]
        side = round(np.sqrt(X.shape[1]))
        basis = np.vstack([self.axes.T, self.mean]).reshape(-1, side, side)
        changed = np.stack([change(basis, rng).reshape(len(basis), -1) for _ in range(MAPS)])
        maps = changed @ self.axes
        maps[:, -1] -= self.mean @ self.axes
        self.maps = maps.astype(np.float32)

    def coordinates(self, X: Floats) -> Any:
        """Return where pictures lie, in single precision."""
        return ((X - self.mean) @ self.axes).astype(np.float32)

    def pictures(self, coordinates: Any) -> Floats:
        """Return the pictures at some coordinates."""
        return np.asarray(coordinates @ self.axes.T + self.mean)

    def __call__(self, X: Any, rng: np.random.RandomState) -> Any:
        """Return rows of coordinates, each changed a little."""
        drawn = rng.randint(len(self.maps), size=AT_A_TIME)
        which = rng.randint(AT_A_TIME, size=len(X))
        for number, one in enumerate(self.maps[drawn]):
            rows = which == number
            X[rows] = X[rows] @ one[:-1] + one[-1]
        return X
