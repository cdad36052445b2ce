"""MNIST in few dimensions, with its shifts: what prototypes of digits are trained on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from protolearn._arrays import Floats
from protolearn.datasets import load

SIDE = 28
"""Pixels a side."""

BORDER = 1
"""Pixels at each side that are left out: they are empty but for a few rows."""

STEPS = -0.5, -0.25, 0.0, 0.25, 0.5
"""Shifts in pixels, down and to the right."""


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


def shift(pictures: Floats, down: float, right: float) -> Floats:
    """Return pictures moved by a part of a pixel; what is moved in is empty."""
    for axis, step in ((1, down), (2, right)):
        whole = np.roll(pictures, np.sign(step).astype(int), axis=axis)
        edge = 0 if step > 0.0 else -1
        whole[(slice(None),) * axis + (edge,)] = 0.0
        pictures = (1.0 - abs(step)) * pictures + abs(step) * whole
    return pictures


class Subspace:
    """The principal components of pictures, and what shifts do in it.

    Attributes
    ----------
    mean : array (d,)
        The mean picture.
    axes : array (d, r)
        The first principal components, orthonormal.
    shifts : array (s, r + 1, r)
        For each shift the map of coordinates, with a last row of what it adds.
    """

    def __init__(self, X: Floats, n_axes: int):
        self.mean = X.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(X.T))
        self.axes = vectors[:, np.argsort(values)[: -n_axes - 1 : -1]]
        side = round(np.sqrt(X.shape[1]))
        basis = np.vstack([self.axes.T, self.mean]).reshape(-1, side, side)
        moved = [shift(basis, down, right) for down in STEPS for right in STEPS]
        shifts = np.stack([(one.reshape(len(basis), -1)) @ self.axes for one in moved])
        shifts[:, -1] -= self.mean @ self.axes
        self.shifts = shifts.astype(np.float32)

    def coordinates(self, X: Floats) -> Any:
        """Return where pictures lie, in single precision."""
        return ((X - self.mean) @ self.axes).astype(np.float32)

    def pictures(self, coordinates: Any) -> Floats:
        """Return the pictures at some coordinates."""
        return np.asarray(coordinates @ self.axes.T + self.mean)

    def __call__(self, X: Any, rng: np.random.RandomState) -> Any:
        """Return rows of coordinates, each shifted by a random part of a pixel."""
        which = rng.randint(len(self.shifts), size=len(X))
        for number, one in enumerate(self.shifts):
            rows = which == number
            X[rows] = X[rows] @ one[:-1] + one[-1]
        return X
