"""Angles, margins and distances of linear classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn._arrays import Floats


def distances(model: Any, rows: Any) -> Floats:
    """Return the signed distances of rows to the hyperplane, positive on the side of class +1."""
    normal = model.coef_[0]
    return np.asarray((rows @ normal + model.intercept_[0]) / np.linalg.norm(normal))


def margin(model: Any, X: Any, y: Any) -> float:
    """Return the distance of the nearest row to the hyperplane, negative on the wrong side."""
    return float((y * distances(model, X)).min())


def angle(model: Any, other: Any) -> float:
    """Return the angle between the normals of two hyperplanes in degrees."""
    u, v = (one.coef_[0] / np.linalg.norm(one.coef_[0]) for one in (model, other))
    return float(np.rad2deg(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))))


def from_middle(model: Any) -> float:
    """Return how far the hyperplane is from halfway between the prototypes, as a share."""
    between = np.sum(np.diff(model.prototypes_, axis=0) ** 2)
    return float(np.ravel(model.shift_)[0] / (2.0 * between))


def canonical_gap(model: Any, X: Any) -> float:
    """Return how far a model is from its canonical form.

    The largest of ``|sum gamma|``, ``|sum |gamma| - 2|`` and the relative differences of the normal
    to ``sum gamma_i x_i`` and to ``p+ - p-``, all of the length that the last has.
    """
    gamma, apart = np.ravel(model.dual_coef_), np.diff(model.prototypes_, axis=0)[0]
    size = np.linalg.norm(apart)
    normal = model.coef_[0] * (size / np.linalg.norm(model.coef_[0]))
    gaps = [np.linalg.norm(normal - other) / size for other in (gamma @ X, apart)]
    return float(max(abs(gamma.sum()), abs(np.abs(gamma).sum() - 2.0), *gaps))
