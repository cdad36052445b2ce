"""A small model in whole numbers, as C runs it: the reference, bit for bit, also for learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import Floats
from ...classifiers import LEVELS
from .fixed_point import AWAY_BITS, divide_by_power
from .model_document import Document

COARSE = {8: 0, 16: 16}
"""Bits that normals lose before they are squared."""

FINE = 8
"""Bits by which points that learn are finer."""

WHOLE_RATE = 1024
POWERS = np.rint(2.0 ** (15.0 - np.arange(LEVELS) / LEVELS)).astype(np.int64)
"""Weights of distances in one step of halving."""


class SmallFixedPointModel:
    """The whole numbers of a model of :func:`~protolearn.compress`, and what they answer.

    ``points`` are the prototypes behind the map; :meth:`learn` moves them.
    """

    def __init__(self, document: Document):
        whole = document["whole"]
        self.document, self.bits = document, int(whole["bits"])
        self.input_scale, self.shift = np.asarray(whole["input_scale"]), int(whole["shift"])
        self.matrix = np.array(whole["map"], dtype=np.int64)
        self.points = np.array(whole["places"], dtype=np.int64) << FINE
        self.classes = np.array(whole["classes"], dtype=np.int64)
        self.costs = np.array(whole["costs"], dtype=np.int64) * int(whole["cost_unit"])
        self.steepness, self.flatness = int(whole["rate"]), int(whole["rate_shift"])
        self.top = 2 ** (self.bits - 1) - 1
        size = np.linalg.norm(self.matrix * self.input_scale) * whole["unit"] / 2.0**self.shift
        self.distance_unit = float((whole["unit"] / size) ** 2)
        self.contribution_unit = self.distance_unit / 2.0**self.shift

    def quantized_rows(self, Z: Floats) -> Any:
        """Return encoded rows as whole numbers."""
        x = np.asarray(Z) * self.input_scale
        return np.clip(np.trunc(x + np.copysign(0.5, x)), -self.top, self.top).astype(np.int64)

    def image(self, q: Any) -> Any:
        """Return rows under the map, cut off at the largest number."""
        return np.clip(divide_by_power(q @ self.matrix.T, self.shift), -self.top, self.top)

    def distances(self, q: Any) -> Any:
        """Return the squared distances of rows to prototypes, of which each label score has one."""
        image, places = self.image(q), divide_by_power(self.points, FINE)
        D = np.stack([np.square(image - place).sum(axis=1) for place in places], axis=1)
        return np.repeat(D, self.classes.shape[1], axis=1) + self.costs.ravel()

    def scores(self, q: Any) -> Any:
        """Return the sum of the weights of each class, an array (n, C)."""
        levels = (self.distances(q) * self.steepness) >> self.flatness
        levels -= levels.min(axis=1, keepdims=True)
        near = levels < 16 * LEVELS
        weights = np.where(near, POWERS[levels % LEVELS] >> np.minimum(levels // LEVELS, 16), 0)
        classes = range(len(self.document["classes"]))
        return np.stack([weights[:, self.classes.ravel() == c].sum(axis=1) for c in classes], 1)

    def codes(self, q: Any) -> Any:
        """Return the place of the class of each row."""
        return self.scores(q).argmax(axis=1)

    def rivals(self, q: Any, codes: Any) -> tuple[Any, Any]:
        """Return the nearest prototypes of classes and of all others, by their best label scores.

        A point counts for the class of its best label score; where no point stands for a class,
        all label scores count.
        """
        D, n_scores = self.distances(q), self.classes.shape[1]
        own = np.asarray(codes)[:, None] == self.classes.ravel()
        best = np.arange(n_scores) == self.costs.argmin(axis=1)[:, None]
        pair = []
        for side in (own, ~own):
            main = side & best.ravel()
            side = np.where(main.any(axis=1, keepdims=True), main, side)
            nearest = np.where(side, D, np.iinfo(np.int64).max).argmin(axis=1)
            pair.append(np.where(side.any(axis=1), nearest, -1))
        return pair[0], pair[1]

    def contributions(self, q: Any) -> Any:
        """Return what each number adds to the lead of the nearest prototype of the class."""
        pair = self.rivals(q, self.codes(q))
        one, other = (divide_by_power(self.points, FINE)[k // self.classes.shape[1]] for k in pair)
        normal = 2 * (one - other) @ self.matrix
        cost = self.costs.ravel()
        lead = cost[pair[1]] - cost[pair[0]] + (np.square(other) - np.square(one)).sum(axis=1)
        square = np.square(divide_by_power(normal, COARSE[self.bits]))
        total = np.maximum(square.sum(axis=1, keepdims=True), 1)
        share = (square << AWAY_BITS) // total
        away = (lead[:, None] * share) << max(self.shift - AWAY_BITS, 0)
        return normal * q + divide_by_power(away, max(AWAY_BITS - self.shift, 0))

    def learn(self, q: Any, code: int, step: str, rate: int = 51) -> None:
        """Move points by one row of whole numbers: ``step`` is "lvq1" or "glvq".

        ``rate`` is in units of 1/1024.
        """
        D, labels = self.distances(q[None])[0], self.classes.ravel()
        image = self.image(q[None])[0]
        if step == "lvq1":
            k = int(D.argmin())
            self._move(k, image, rate if labels[k] == code else -rate)
            return
        own, rival = (int(k[0]) for k in self.rivals(q[None], [code]))
        if own < 0 or rival < 0:
            return
        total = int(D[own] + D[rival])
        share = int(D[rival]) * WHOLE_RATE // total if total else WHOLE_RATE // 2
        self._move(own, image, rate * share // WHOLE_RATE)
        self._move(rival, image, -(rate * (WHOLE_RATE - share) // WHOLE_RATE))

    def _move(self, k: int, image: Any, share: int) -> None:
        point, most = self.points[k // self.classes.shape[1]], self.top << FINE
        point += divide_by_power(((image << FINE) - point) * share, 10)
        np.clip(point, -most, most, out=point)
