"""Prototypes behind a map of few rows, trained with the rounding of small whole numbers.

A class has the score ``S_c = sum_k Z_kc exp(-|A x - b_k|^2)``, and the probability ``S_c / sum S``:
a projection A, prototypes b and their label scores Z, trained together, as by ProtoNN (Gupta et
al., "ProtoNN: Compressed and Accurate kNN for Resource-scarce Devices", ICML 2017), here by the
cross-entropy, with scores that are not negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans

from .._arrays import Indices
from ..native import indices, native, types

Singles = NDArray[np.float32]

f4 = types.float32
single_out, singles_out = (types.Array(f4, axes, "C") for axes in (1, 2))
singles = types.Array(f4, 2, "C", readonly=True)

RATE = 0.02
"""First step of Adam, in units of the numbers."""

OTHER_CLASS = -3.0
"""Logarithm of the first score of a prototype for classes other than its own."""

FIRST_DISTANCE = 2.0
"""Mean distance of a row to its nearest prototype before training."""

PRUNES, ROUNDS = 0.3, 0.6
"""Shares of training after which the smallest numbers are left out, and all others are rounded."""

MOST_STEPS = 10_000
"""Steps after which training ends, also in fewer epochs."""

TINY = np.float32(1e-12)

FARTHEST = 12.0
"""Difference of squared distances beyond which a prototype has no part in a step."""


class Shape(NamedTuple):
    """How large a small model is.

    Attributes
    ----------
    rank : int
        Rows of the map.
    density : float
        Share of the entries of the map that are not zero.
    n_prototypes : int
        Prototypes.
    label_scores : int
        Classes for which each prototype has a score.
    noise : float
        Standard deviation of what is added to rows in training, in units of theirs.
    """

    rank: int
    density: float
    n_prototypes: int
    label_scores: int
    noise: float


class Rounding(NamedTuple):
    """The grid on which numbers lie: whole multiples of units, up to a largest one.

    Attributes
    ----------
    map_unit, place_unit : float
        Units of the entries of the map, and of prototypes behind it.
    shift : int
        Bits by which whole images of rows are shifted down, to the units of prototypes.
    top : int
        The largest whole number.
    """

    map_unit: float
    place_unit: float
    shift: int
    top: int


@dataclass
class Mixture:
    """A map, prototypes behind it, and the logarithms of their label scores.

    Attributes
    ----------
    A, B, V : arrays of shape (r, d), (m, r) and (m, C)
    map_mask, label_mask : arrays of 0 and 1
        Which entries of the map and which scores there are.
    rounding : Rounding, or None
        None: numbers are not rounded yet.
    """

    A: Singles
    B: Singles
    V: Singles
    map_mask: Singles
    label_mask: Singles
    rounding: Rounding | None = None

    @property
    def arrays(self) -> tuple[Singles, Singles, Singles]:
        """What is learned."""
        return self.A, self.B, self.V

    def images(self, X: Singles) -> tuple[Any, ...]:
        """Return images of rows, which of their numbers are clipped, prototypes, label scores."""
        A, B, clipped = self.A * self.map_mask, self.B, None
        if self.rounding is not None:
            step, unit, _, top = self.rounding
            A = np.clip(np.rint(A / step), -top, top) * np.float32(step)
            B = np.clip(np.rint(B / unit), -top, top) * np.float32(unit)
        H = X @ A.T
        if self.rounding is not None:
            whole = np.rint(H / np.float32(unit))
            clipped = np.abs(whole) > top
            H = np.clip(whole, -top, top) * np.float32(unit)
        return H, clipped, B, np.exp(np.minimum(self.V, 20.0)) * self.label_mask

    def scores(self, X: Singles) -> Singles:
        """Return the score of each class, but for a factor of each row."""
        H, _, B, Z = self.images(X)
        D = np.square(B).sum(axis=1) - 2.0 * (H @ B.T)
        return np.exp(D.min(axis=1, keepdims=True) - D) @ Z

    def gradients(self, X: Singles, y: Indices) -> tuple[Singles, Singles, Singles]:
        """Return the derivatives of the mean cross-entropy; rounding counts as the identity."""
        H, clipped, B, Z = self.images(X)
        by_image, by_place, by_label = (np.zeros_like(p) for p in (H, B, Z))
        D = np.square(B).sum(axis=1) - 2.0 * (H @ B.T)
        add_gradients(D, H, B, Z, y, by_image, by_place, by_label)
        if clipped is not None:
            by_image[clipped] = 0.0
        return (by_image.T @ X) * self.map_mask, by_place, by_label

    def prune(self, shape: Shape, spread: Singles) -> None:
        """Leave out the smallest entries of the map, and the smallest scores of each prototype."""
        n_kept = max(int(shape.density * self.A.size), len(self.A))
        if n_kept < self.A.size:
            size = np.abs(self.A) * spread
            limit = np.partition(size, -n_kept, axis=None)[-n_kept]
            self.map_mask = (size >= limit).astype(np.float32)
        if shape.label_scores < self.V.shape[1]:
            kept = np.argsort(-self.V, axis=1, kind="stable")[:, : shape.label_scores]
            self.label_mask = np.zeros_like(self.V)
            np.put_along_axis(self.label_mask, kept, 1.0, axis=1)

    def grid(self, X: Singles, bits: int) -> Rounding:
        """Return units in which the map, images of rows and prototypes fit into some bits."""
        top = 2 ** (bits - 1) - 1
        A = self.A * self.map_mask
        step = max(float(np.abs(A).max()), 1e-30) / top
        images = np.abs(X[:: max(len(X) // 5000, 1)] @ A.T)
        reach = max(float(np.quantile(images, 0.9995)), float(np.abs(self.B).max()), 1e-30)
        shift = max(int(np.ceil(np.log2(reach / (step / top) / top))), 0)
        return Rounding(step, step / top * 2.0**shift, shift, top)


def first_mixture(
    X: Singles, y: Indices, axes: Singles, shape: Shape, n_classes: int, seed: int
) -> Mixture:
    """Return prototypes by k-means in each class behind some axes, which are the map."""
    A = axes[: shape.rank]
    H = X @ A.T
    sizes = np.bincount(y, minlength=n_classes)
    counts = np.minimum(np.maximum(shape.n_prototypes // n_classes, 1), sizes)
    places, labels = [], np.repeat(np.arange(n_classes), counts)
    for c, count in enumerate(counts):
        rows = H[y == c]
        if count < len(rows):
            means = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=1024)
            rows = means.fit(rows).cluster_centers_
        places.append(rows[:count])
    B = np.concatenate(places).astype(np.float32)
    some = H[:: max(len(H) // 500, 1)]
    D = np.square(some).sum(axis=1)[:, None] - 2.0 * some @ B.T + np.square(B).sum(axis=1)
    length = float(np.maximum(D.min(axis=1), 0.0).mean()) or float(np.abs(D).mean()) or 1.0
    factor = np.float32(np.sqrt(FIRST_DISTANCE / length))
    V = np.full((len(B), n_classes), OTHER_CLASS, dtype=np.float32)
    V[np.arange(len(B)), labels] = 0.0
    mask = np.ones_like(V)
    if shape.label_scores == 1:
        mask = (V == 0.0).astype(np.float32)
    return Mixture(factor * A, factor * B, V, np.ones_like(A), mask)


@native(
    types.void(singles, singles, singles, singles, indices, *3 * [singles_out]), makes_arrays=True
)
def add_gradients(D, H, B, Z, y, by_image, by_place, by_label):
    """Add the derivatives of the mean cross-entropy by images, prototypes and logarithms of scores.

    D are squared distances, but for a number of each row. Prototypes are passed over that are so
    far behind the nearest, of all and of those with a score for the row's class, that they hardly
    count.
    """
    n, m = D.shape
    r, C = H.shape[1], Z.shape[1]
    totals = np.empty(m, np.float32)
    near, weight, own = np.empty(m, np.intp), np.empty(m, np.float32), np.empty(m, np.float32)
    for k in range(m):
        totals[k] = Z[k].sum()
    for i in range(n):
        least, least_own, count = np.float32(np.inf), np.float32(np.inf), 0
        for k in range(m):
            least = min(least, D[i, k])
            if Z[k, y[i]] > 0.0:
                least_own = min(least_own, D[i, k])
        total, total_own = np.float32(0.0), np.float32(0.0)
        for k in range(m):
            has_own = Z[k, y[i]] > 0.0 and D[i, k] < least_own + FARTHEST
            if has_own or D[i, k] < least + FARTHEST:
                near[count], weight[count] = k, np.exp(least - D[i, k])
                own[count] = np.exp(least_own - D[i, k]) * Z[k, y[i]] if has_own else 0.0
                total += weight[count] * totals[k]
                total_own += own[count]
                count += 1
        for t in range(count):
            k, part = near[t], weight[t] / (n * total)
            more = own[t] / (n * total_own) if own[t] > 0.0 else np.float32(0.0)
            for c in range(C):
                by_label[k, c] += part * Z[k, c]
            by_label[k, y[i]] -= more
            pull = np.float32(2.0) * (part * totals[k] - more)
            for j in range(r):
                away = pull * (B[k, j] - H[i, j])
                by_image[i, j] += away
                by_place[k, j] -= away


@native(types.void(*4 * [single_out], f4, f4, f4))
def take_step(p, gradient, mean, square, rate, first, second):
    """Move numbers by a step of Adam; the last two numbers correct for the start of the means."""
    for j in range(len(p)):
        mean[j] += np.float32(0.1) * (gradient[j] - mean[j])
        square[j] += np.float32(0.001) * (gradient[j] * gradient[j] - square[j])
        size = np.sqrt(square[j] / second) + np.float32(1e-8)
        p[j] -= rate * mean[j] / (first * size)


def train_mixture(
    mixture: Mixture,
    X: Singles,
    y: Indices,
    shape: Shape,
    bits: int,
    n_epochs: int,
    seed: int,
) -> Mixture:
    """Train by Adam: all numbers at first, then fewer, and at last rounded ones."""
    rng = np.random.Generator(np.random.SFC64(seed))
    mixture = replace(mixture, A=mixture.A.copy(), B=mixture.B.copy(), V=mixture.V.copy())
    spread = X.std(axis=0)
    units = np.abs(mixture.A).mean(), max(mixture.B.std(), TINY), 1.0
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in mixture.arrays]
    batch = int(np.clip(len(X) // 20, 8, 128))
    n_steps = min(max(n_epochs * (len(X) // batch), 1), MOST_STEPS)
    order = np.empty(0, dtype=np.intp)
    for t in range(1, n_steps + 1):
        if len(order) < batch:
            order = rng.permutation(len(X))
        some, order = order[:batch], order[batch:]
        rows = X[some]
        if shape.noise:
            rows = rows + shape.noise * spread * rng.standard_normal(rows.shape, np.float32)
        if t == int(PRUNES * n_steps) + 1:
            mixture.prune(shape, spread)
        if t == int(ROUNDS * n_steps) + 1:
            mixture.rounding = mixture.grid(X, bits)
        rate = RATE * 0.5 * (1.0 + np.cos(np.pi * t / n_steps))
        steps = zip(mixture.arrays, mixture.gradients(rows, y[some]), moments, units, strict=True)
        for p, gradient, means, unit in steps:
            flat = (each.reshape(-1) for each in (p, gradient, *means))
            take_step(*flat, rate * unit, 1.0 - 0.9**t, 1.0 - 0.999**t)
    return mixture
