"""Attacks on certified rows: projected gradients from many starts, and straight to the planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolearn._arrays import Floats

RIVALS, STEPS, WITHIN = 20, 8, 1.0 - 1e-9
"""Prototypes of each side that an attack looks at, its steps, and the share of the radius it goes."""


def count_broken(
    model: Any, X: Floats, y: Any, radius: float, norm: Any, restarts: int, seed: int
) -> int:
    """Return how many rows get another answer somewhere within the radius and [0, 1].

    The first start is the row itself, the others are random. Each step goes from the nearest own
    prototype to a rival, the nearest one in the first half of the starts and any of the nearest
    planes in the second; what is found is held against ``predict``.
    """
    rng = np.random.RandomState(seed)
    W, labels = model.prototypes_, model.prototype_labels_
    D, broken = model.rule_.distances(X), 0
    for x, label, d in zip(X, y, D, strict=True):
        owns, rivals = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        own = W[owns[np.argsort(d[owns])[:RIVALS]]]
        apart = np.linalg.norm(W[rivals] - own[0], axis=1)
        planes = (d[rivals] - d[owns].min()) / np.maximum(apart, 1e-12)
        tried = climb(x, own, W[rivals[np.argsort(planes)[:RIVALS]]], radius, norm, restarts, rng)
        broken += int((model.predict(tried) != label).any())
    return broken


def climb(
    x: Floats,
    own: Floats,
    rivals: Floats,
    radius: float,
    norm: Any,
    restarts: int,
    rng: np.random.RandomState,
) -> Floats:
    """Return the last points of the attacks on one row."""
    radius *= WITHIN
    start = rng.standard_normal((restarts, len(x)))
    start[0] = 0.0
    points = stay(x + start * radius * rng.uniform(size=(restarts, 1)), x, radius, norm)
    drawn = rng.randint(len(rivals), size=restarts)
    fixed = np.arange(restarts) >= restarts // 2
    for step in range(STEPS):
        rival = np.where(fixed, drawn, nearest(points, rivals))
        way = rivals[rival] - own[nearest(points, own)]
        if norm == np.inf:
            way = np.sign(way)
        else:
            way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
        points = stay(points + radius / (1.0 + 0.5 * step) * way, x, radius, norm)
    return points


def nearest(points: Floats, prototypes: Floats) -> Any:
    """Return the index of the prototype that is nearest to each point."""
    return (np.square(prototypes).sum(axis=1) - 2.0 * points @ prototypes.T).argmin(axis=1)


def stay(points: Floats, x: Floats, radius: float, norm: Any) -> Floats:
    """Return points moved back into the ball around x, and into [0, 1]."""
    way = np.clip(points, 0.0, 1.0) - x
    if norm == np.inf:
        return np.asarray(np.clip(x + np.clip(way, -radius, radius), 0.0, 1.0))
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.asarray(x + way * np.minimum(1.0, radius / np.maximum(length, 1e-12)))
