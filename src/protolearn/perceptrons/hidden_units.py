"""How hidden units learn: by growth of a product (parity), and by least action (committee).

*Tiling-like growth*: each unit of a product learns where the units before it are wrong. A unit is
positive or negative, and negative on its border. The machine without units is positive.

*Least action*: a unit of a committee votes wrong on an example if its potential ``y (w.x - theta)``
is not positive. If most units do, the one with the smallest field among them, which has the least
to change, learns the example.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numba
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Floats, Indices
from ..native import FAST, f8, i8, indices, matrix, matrix_out, native, types, vector
from .examples import Best, Examples, Inputs
from .presentation import comparison_point
from .training_record import Training

LARGEST_CAP = 0.5
"""Most that ``a`` of a grandmother unit may be. From 1 on its cap would hold the pole."""


class MachineOutputs:
    """Some of the rows, and what the machine says of them so far."""

    def __init__(self, rows: Floats, signs: Floats):
        self.rows = rows
        self.signs = signs  # what it should say, +1 or -1
        self.outputs = np.ones(len(rows))  # what it says
        self.curve: list[int] = []  # number of errors after each unit

    @property
    def errors(self) -> int:
        """How many rows the machine has wrong."""
        return int(np.count_nonzero(self.outputs != self.signs))

    def errors_with(self, unit: Any) -> int:
        """Return how many it would have wrong with one more unit."""
        return int(np.count_nonzero(self.outputs * unit_states(unit, self.rows) != self.signs))

    def add(self, unit: Any) -> None:
        """Multiply a unit to the machine."""
        self.outputs *= unit_states(unit, self.rows)
        self.curve.append(self.errors)


def next_unit(
    part: MachineOutputs, estimator: Any, frame: SphereFrame, rng: np.random.RandomState
) -> Any:
    """Return a unit that lowers the number of errors: one that learns, or a grandmother unit."""
    right = part.outputs * part.signs
    unit = fit_unit(estimator, part.rows, right, rng)
    if part.errors_with(unit) < part.errors:
        return unit
    return Grandmother.isolate(part.rows, int(right.argmin()), frame)


def fit_unit(estimator: Any, rows: Floats, signs: Floats, rng: np.random.RandomState) -> Any:
    """Return a fitted copy of an estimator, with seeds from ours."""
    unit = clone(estimator)
    seeds = {
        name: rng.randint(np.iinfo(np.int32).max)
        for name in sorted(unit.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    unit.set_params(**seeds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return unit.fit(rows, signs.astype(np.intp))


def unit_states(unit: Any, X: Floats) -> Floats:
    """Return where a unit is positive: +1 or -1."""
    return np.where(border_distances(unit, X) > 0.0, 1.0, -1.0)


def border_distances(unit: Any, X: Floats) -> Floats:
    """Return the distance to the border of a unit, negative where the unit is, else infinite.

    The products are not those of a matrix, whose last digits depend on how many rows there are: a
    row on the border would change its side.
    """
    w = np.ravel(getattr(unit, "coef_", ()))
    if w.shape != X.shape[1:] or not hasattr(unit, "intercept_"):
        values = np.asarray(unit.decision_function(X), dtype=np.float64).reshape(len(X))
        if np.isnan(values).any():
            raise ValueError(f"The decision_function of {unit!r} is not a number for some rows.")
        return values
    fields = np.einsum("ij,j->i", X, w) + np.ravel(unit.intercept_)[0]
    length = row_lengths(w[None])[0]
    return fields / length if length > 0.0 else np.where(fields > 0.0, np.inf, -np.inf)


def product_scores(units: list[Any], X: Floats) -> Floats:
    """Return the product of the signs times the least distance to a border, or 1 without one."""
    outputs, nearest = np.ones(len(X)), np.full(len(X), np.inf)
    for unit in units:
        values = border_distances(unit, X)
        outputs *= np.where(values > 0.0, 1.0, -1.0)
        np.minimum(nearest, np.abs(values), out=nearest)
    nearest[np.isinf(nearest)] = 1.0
    return outputs * np.maximum(nearest, np.finfo(float).tiny)  # its sign is the product everywhere


class SphereFrame(NamedTuple):
    """The middle of the rows, and the largest distance from it."""

    center: Floats
    size: float

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Return the frame of rows that are not all equal."""
        center = rows.mean(axis=0)
        return cls(center, float(row_lengths(rows - center).max()))


@dataclass(frozen=True)
class Grandmother:
    """A unit that is negative for one example alone: inside a ball that holds it.

    The rows, centred and in units of their size, are put on the unit sphere by
    ``s = (2 x, |x|^2 - 1) / (|x|^2 + 1)``. There a perceptron with ``w = -s_p`` and the threshold
    ``delta - 1`` cuts off a cap around example p; no other example is in it if ``delta`` is less
    than every ``1 - s_p.s_q = 2 |x_q - x_p|^2 / ((1 + |x_q|^2) (1 + |x_p|^2))``. Among the rows
    the cap is a ball: with ``a = delta (1 + |x_p|^2) / 2`` its centre is ``x_p / (1 - a)``, and
    its squared radius ``a (1 + |x_p|^2 - a) / (1 - a)^2``.
    """

    example: Floats
    shift: Floats  # from it to the centre: differences of nearby rows keep all their digits
    radius: float

    @classmethod
    def isolate(cls, rows: Floats, p: int, frame: SphereFrame) -> Self:
        """Return the unit for row p, and rows that are equal to it."""
        apart = row_lengths(rows - rows[p])
        others = apart > 0.0
        sizes = row_lengths(rows[others] - frame.center) / frame.size
        caps = (apart[others] / frame.size) ** 2 / (1.0 + sizes**2)
        a = min(0.5 * float(caps.min(initial=np.inf)), LARGEST_CAP)
        place = rows[p] - frame.center
        square = float(row_lengths(place[None])[0] / frame.size) ** 2
        radius = frame.size * np.sqrt(a * (1.0 + square - a)) / (1.0 - a)
        return cls(rows[p].copy(), a / (1.0 - a) * place, float(radius))

    def decision_function(self, X: Floats) -> Floats:
        """Return the distance to the border of the ball, negative inside."""
        return row_lengths((X - self.example) - self.shift) - self.radius


def row_lengths(rows: Floats) -> Floats:
    """Return the lengths of rows, zero for zeros alone: squares of tiny numbers would vanish."""
    largest = np.abs(rows).max(axis=1)
    unit = np.where(largest > 0.0, largest, 1.0)
    scaled = rows / unit[:, None]
    return largest * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))


class Committee(NamedTuple):
    """Hidden units that have learned."""

    weights: Floats  # (K, at least N): the best weights of the inputs, followed by zeros
    last: Floats  # the same at the end of training
    n_updates: int
    n_iter: int
    converged: bool  # whether the last sweep was without a mistake


def random_weights(inputs: Inputs, n_units: int, rng: np.random.RandomState) -> Floats:
    """Return weights of a random direction, about as long as one update makes them."""
    weights = np.zeros((n_units, inputs.rows.shape[1]))
    size = np.sqrt(inputs.squares.mean()) / inputs.size
    weights[:, : inputs.size] = size * rng.normal(size=(n_units, inputs.size))
    return weights


def least_action(
    examples: Examples, start: Floats, orders: Iterator[Indices], training: Training
) -> Committee:
    """Return the committee that learns examples in orders until one passes without a mistake."""
    inputs, signs, weights = examples.inputs, examples.signs, start.copy()
    best, updates, n_iter, mistakes = Best(signs, False), 0, 0, 1
    best.offer(committee_scores(examples, weights), 1.0, weights)
    see_committee(training, examples, weights, 0)
    while n_iter < training.max_iter and mistakes and not training.stopped:
        order, mistakes, n_iter = next(orders), 0, n_iter + 1
        cut = comparison_point(n_iter, len(order))
        for segment in (order[:cut], order[cut:]) if cut < len(order) else (order,):
            for part in training.parts(segment):
                mistakes += sweep(inputs.rows, signs, part, 1.0 / inputs.size, weights)
                if training.by_step and not training.stopped:
                    see_committee(training, examples, weights, n_iter, part)
            if has_few_errors(inputs.rows, signs, weights, best.errors):
                best.offer(committee_scores(examples, weights), 1.0, weights)
        updates += mistakes
        if not training.by_step:
            see_committee(training, examples, weights, n_iter)
        training.report(n_iter, f"{mistakes} mistakes", last=mistakes == 0)
    return Committee(
        best.strengths if mistakes else weights, weights, updates, n_iter, mistakes == 0
    )


def committee_scores(examples: Examples, weights: Floats) -> Floats:
    """Return the scores of the rows, by the sign of which the majority decides."""
    inputs = examples.inputs
    fields = inputs.rows @ weights.T
    return middle_distances(fields, weights[:, : inputs.size - inputs.clamped])


def see_committee(
    training: Training,
    examples: Examples,
    weights: Floats,
    n_iter: int,
    part: Indices | None = None,
) -> None:
    """Keep the state of all units if someone watches."""
    if training.watched:
        scores = examples.signs * committee_scores(examples, weights)
        coef, intercept = examples.inputs.hyperplanes(weights, np.zeros(len(weights)))
        training.keep(np.empty(0), scores, 1.0, n_iter, part, (coef, intercept))


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
    """Present examples in an order by the rule of least action; return the number of mistakes."""
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


@native(types.boolean(matrix, vector, matrix, i8))
def has_few_errors(rows, signs, weights, most):
    """Whether the majority is wrong on no more than ``most`` examples."""
    errors = 0
    for i in range(rows.shape[0]):
        errors += int(wrong_unit(rows[i], signs[i], weights) >= 0)
        if errors > most:
            return False
    return True
