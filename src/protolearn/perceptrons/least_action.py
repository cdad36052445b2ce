"""The rule of least action: the committee learns by the member who has the least to change.

A unit votes wrong on an example if its potential ``y (w.x - theta)`` is not positive. If most units
do, the one with the smallest field among them learns the example.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np

from .._arrays import Floats, Indices
from ..native import FAST, f8, i8, indices, matrix, matrix_out, native, vector
from .examples import Examples, Inputs
from .orders import look
from .progress import Progress


class Committee(NamedTuple):
    """Hidden units that have learned.

    Attributes
    ----------
    weights : array (K, at least N)
        The weights of the inputs, followed by zeros.
    n_updates : int
        How many times weights were changed.
    n_iter : int
        How many sweeps were made.
    converged : bool
        Whether the last sweep was without a mistake.
    """

    weights: Floats
    n_updates: int
    n_iter: int
    converged: bool


def random_weights(inputs: Inputs, n_units: int, rng: np.random.RandomState) -> Floats:
    """Return weights of a random direction, about as long as one update makes them."""
    weights = np.zeros((n_units, inputs.rows.shape[1]))
    size = np.sqrt(inputs.squares.mean()) / inputs.size
    weights[:, : inputs.size] = size * rng.normal(size=(n_units, inputs.size))
    return weights


def least_action(
    examples: Examples, start: Floats, orders: Iterator[Indices], max_iter: int, progress: Progress
) -> Committee:
    """Present examples in orders until one passes without a mistake."""
    inputs, signs, weights = examples.inputs, examples.signs, start.copy()
    best, updates = BestCommittee(examples, start), 0
    for n_iter, order in zip(range(1, max_iter + 1), orders, strict=False):
        cut = look(n_iter, len(order))
        mistakes = sweep(inputs.rows, signs, order[:cut], 1.0 / inputs.size, weights)
        if cut < len(order):
            best.offer(weights)
            mistakes += sweep(inputs.rows, signs, order[cut:], 1.0 / inputs.size, weights)
        updates += mistakes
        progress.tell(n_iter, f"{mistakes} mistakes", last=mistakes == 0)
        if mistakes == 0:
            return Committee(weights, updates, n_iter, True)
    best.offer(weights)
    return Committee(best.weights, updates, max_iter, False)


class BestCommittee:
    """The best weights seen: fewest errors, then largest least score of an example."""

    def __init__(self, examples: Examples, start: Floats):
        self.examples = examples
        self.weights, self.rating = start.copy(), self.rate(start)

    def rate(self, weights: Floats) -> tuple[int, float]:
        """Return the number of errors and minus the least score; the less the better."""
        inputs = self.examples.inputs
        fields = inputs.rows @ weights.T
        scores = middle_distances(fields, weights[:, : inputs.size - inputs.clamped])
        stabilities = self.examples.signs * scores
        return int(np.count_nonzero(stabilities <= 0.0)), -float(stabilities.min())

    def offer(self, weights: Floats) -> None:
        """Keep these weights if they are better."""
        rating = self.rate(weights)
        if rating < self.rating:
            self.weights, self.rating = weights.copy(), rating


def middle_distances(fields: Floats, weights: Floats) -> Floats:
    """Return the medians over the units (last axis of the fields) of ``(w.x - theta) / |w|``."""
    lengths = np.linalg.norm(weights, axis=-1)
    distances = fields / np.where(lengths > 0.0, lengths, 1.0)
    middle = distances.shape[-1] // 2
    return np.partition(distances, middle, axis=-1)[..., middle]


@numba.njit(**FAST)
def inner(a, b):
    """Return the scalar product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@numba.njit(**FAST)
def wrong_unit(x, sign, weights):
    """Return the unit with the smallest field among those that vote wrong; -1 if few do."""
    wrong, nearest, largest = 0, -1, -np.inf
    for k in range(weights.shape[0]):
        potential = sign * inner(x, weights[k])
        if potential <= 0.0:
            wrong += 1
            if potential > largest:
                nearest, largest = k, potential
    return nearest if 2 * wrong > weights.shape[0] else -1


@native(i8(matrix, vector, indices, f8, matrix_out))
def sweep(rows, signs, order, share, weights):
    """Present examples in an order by the rule of least action; give the number of mistakes."""
    mistakes = 0
    for i in order:
        x = rows[i]
        k = wrong_unit(x, signs[i], weights)
        if k >= 0:
            w = weights[k]
            for j in range(w.size):
                w[j] += share * signs[i] * x[j]
            mistakes += 1
    return mistakes
