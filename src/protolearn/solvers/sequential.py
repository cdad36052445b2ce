"""Stochastic gradient descent, one sample at a time: the classical way to train LVQ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np

from .._arrays import Floats, Indices
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, LowerBounded, Penalized, SquaredEuclidean
from ..native import (
    ADDRESS,
    CONSTRAIN,
    GRADIENT,
    ROW,
    SCHEDULE,
    Native,
    f8,
    flags_matrix,
    i8,
    indices,
    indices_out,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from ..objective import AXES, PULL, Axes, Objective, price
from .batch_solver import Memory, Rng
from .minibatch import Momentum
from .stochastic import PATIENCE, StochasticSolver

row_at = pointer(ROW)
gradient_at = pointer(GRADIENT)
constrain_at = pointer(CONSTRAIN)
pull_at = pointer(PULL)
schedule_at = pointer(SCHEDULE)

GATHERED = 1 << 17
"""Numbers of samples that are brought together at a time: about a megabyte."""

EUCLIDEAN_GRADIENT = SquaredEuclidean.gradient

NEGLIGIBLE = 1e-12
"""Share of the strongest pull at a prototype of one sample below which others are left out."""

SPARSE_ROWS = 16
"""Sparse samples that become dense at a time, at least."""

PENALIZED = 32
"""Samples between two steps down a penalty on the metric."""


class Functions(NamedTuple):
    """What the loop over samples calls, by address."""

    row: int
    pair: int
    gradient: int
    constrain: int
    pull: int
    schedule: int

    @classmethod
    def of(cls, distance: Distance, pull: Native, schedule: Native) -> Functions:
        """Return the addresses for a distance, what one sample does, and the learning rate."""
        return cls(
            distance.row.address,
            distance.pair.address,
            distance.gradient.address,
            distance.constraint.constrain.address,
            pull.address,
            schedule.address,
        )


class LoopArrays(NamedTuple):
    """Arrays for the loop: one that makes none itself is faster, and sooner loaded from disk."""

    distances: Floats
    entries: Indices
    numbers: Floats
    by_prototype: Floats
    by_metric: Floats
    metric_step: Floats

    @classmethod
    def of(cls, codebook: Codebook, most: int) -> LoopArrays:
        """Return room for a codebook of which a sample moves so many prototypes at most."""
        return cls(
            np.empty(len(codebook.labels)),
            np.zeros(most, dtype=np.intp),
            np.empty((3, most)),
            np.empty(codebook.prototypes.shape[1]),
            np.empty(codebook.metric.shape[1]),
            np.zeros(codebook.metric.shape),
        )


class StepSizes(NamedTuple):
    """How far a sample moves prototypes and metric."""

    stride: float  # factor of the step of a prototype
    metric_rate: float  # of the metric, as a share of that; 0 if it is not learned
    steep: bool  # whether steps are shortened so that they do not pass the sample
    limits_metric: bool  # whether the step of the metric is shortened as that of the prototype
    lowest: float  # the smallest number that a prototype may have
    plain: bool  # whether the derivative is 2 (w - x), and nothing else is learned
    limit: float  # the largest rate times derivative; infinite if steps are as long as printed


FUNCTIONS = types.NamedUniTuple(ADDRESS, 6, Functions)
LOOP_ARRAYS = types.NamedTuple(
    [vector_out, indices_out, matrix_out, vector_out, vector_out, matrix_out], LoopArrays
)
SAMPLES = matrix, indices, vector  # rows, class codes, weights
LEARNED = matrix_out, matrix_out, indices, flags_matrix  # the codebook, and whose prototypes are
STEP_SIZES = types.NamedTuple(
    [f8, f8, types.boolean, types.boolean, f8, types.boolean, f8], StepSizes
)


class SequentialSolver(StochasticSolver):
    """Learns from one sample at a time.

    A subclass says what one sample does to which prototypes: a native ``PULL`` and its axes.
    """

    takes_sparse = False
    limits_metric: ClassVar[bool] = False
    watch: Callable[[float, Codebook, int], bool] | None = None
    """What is called after each sample with its cost and its place; a true value ends the pass."""

    @abstractmethod
    def pull(self, cost: Any, codebook: Codebook, memory: Memory) -> tuple[Native, Axes, int]:
        """Return the native ``PULL``, what it knows, and how many prototypes it moves at most."""

    @abstractmethod
    def stride(self, cost: Any, codebook: Codebook) -> float:
        """Return the factor of the step of a prototype."""

    def parts(self, n: int) -> list[tuple[int, int]]:
        """Return what is learned from at a time: one sample if someone watches, or all n."""
        return [(0, n)] if self.watch is None else [(i, i + 1) for i in range(n)]

    def sweep(
        self, cost: Any, codebook: Codebook, blocks: Blocks, memory: Memory, rng: Rng, n_steps: int
    ) -> float:
        """Take a step after each sample."""
        d = codebook.prototypes.shape[1]
        sparse, distance = cost.distance.takes_only_sparse, cost.distance
        if sparse:  # some rows at a time become dense
            distance = distance.suited_to(np.zeros((1, d)))
        pull, axes, most = self.pull(cost, codebook, memory)
        schedule, theta = self.rate(n_steps, cost)
        functions, room = Functions.of(distance, pull, schedule), LoopArrays.of(codebook, most)
        metric_rate = float(self.metric_rate) if distance.adaptive else 0.0
        same = codebook.same_class(cost.n_classes)
        size = max(GATHERED // d, SPARSE_ROWS if sparse else 1)
        learned = codebook.prototypes, codebook.metric, codebook.group, same
        plain = distance.gradient is EUCLIDEAN_GRADIENT and not (distance.steep or metric_rate)
        penalized = isinstance(distance, Penalized) and distance.penalized
        if penalized:
            size = min(size, PENALIZED)
        total = weight = 0.0
        for given in blocks.batches(size, rng if self.shuffle else None):
            batch = self.augment_batch(given, rng)
            step = StepSizes(
                self.stride(cost, codebook),
                metric_rate,
                distance.steep and not self.raw_rates,
                self.limits_metric,
                distance.lowest(codebook) if isinstance(distance, LowerBounded) else -np.inf,
                plain,
                np.inf if self.raw_rates else 0.5,
            )
            samples = batch.X.toarray() if sparse else batch.X, batch.codes, batch.weights
            for first, last in self.parts(len(batch)):
                part = (column[first:last] for column in samples)
                called = functions, axes, theta, room, step, memory.steps + first
                met = learn_in_order(*part, *learned, *called)
                total += met
                if self.watch is not None and self.watch(met, codebook, batch.place(first)):
                    return float(total / (weight + batch.weights[:last].sum()))
            if penalized:
                rate = batch.total_weight * schedule(memory.steps, theta)
                distance.shrink(codebook, metric_rate * rate)
            weight += batch.total_weight
            memory.steps += len(batch)
        return float(total / weight)


class SGD(SequentialSolver):
    """Sequential gradient descent: after each sample the prototypes move.

    Parameters
    ----------
    learning_rate : float, default=0.05
        First step size, in units of the scale; so many times smaller as the loss was made steeper.
    schedule : {"linear", "inverse_time", "constant"}, default="linear"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)``, or not at all.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
    least_rate : float, default=None
        Share of the first rate below which the inverse-time schedule does not fall, from 0 to 1;
        None: zero.
    metric_rate : float, default=0.01
        Step size of a learned metric as a share of that of the prototypes.
    shuffle : bool, default=True
        Whether each epoch takes the samples in a new random order.
    n_iter_no_change : int or None, default=5
        Epochs without progress after which a schedule that is not linear ends; None: never.
    raw_rates : bool, default=False
        Whether steps are as printed, ``w -= rate dPhi/dw`` and ``metric_rate`` times as fast for a
        metric (Biehl, eq. 5.17), with nothing rescaled or shortened; see Notes.
    inside : bool, default=False
        Whether prototypes are moved back into the range that the rows of their class have in each
        feature after every epoch.

    Notes
    -----
    With squared Euclidean distance a step moves a prototype at most as far as the sample, with
    other distances by half a unit of scale for each unit of their gradient: near the singular
    points of the relative and hypothesis margins the plain step would throw it out of the data.

    The linear schedule runs all its epochs, since it comes to rest only in the last; the others
    stop when the mean cost of an epoch has not fallen by the share ``tol`` for five epochs.
    """

    name = "sgd"

    def __init__(
        self,
        learning_rate: float = 0.05,
        schedule: str = "linear",
        decay: float = 1e-4,
        least_rate: float | None = None,
        metric_rate: float = 0.01,
        shuffle: bool = True,
        n_iter_no_change: int | None = PATIENCE,
        raw_rates: bool = False,
        inside: bool = False,
    ):
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate
        self.metric_rate = metric_rate
        self.shuffle = shuffle
        self.n_iter_no_change = n_iter_no_change
        self.raw_rates = raw_rates
        self.inside = inside

    def pull(self, cost: Objective, codebook: Codebook, memory: Memory) -> tuple[Native, Axes, int]:
        """Return the price of a sample, whose derivative pulls."""
        return price, cost.axes, 2 if cost.margin.winners else len(codebook.labels)

    def sweep(
        self, cost: Any, codebook: Codebook, blocks: Blocks, memory: Memory, rng: Rng, n_steps: int
    ) -> float:
        """Take a step after each sample; with margins of pairs by the forms for batches."""
        if getattr(cost, "margin", None) is None or cost.margin.winners != "pair":
            return super().sweep(cost, codebook, blocks, memory, rng, n_steps)
        if self.raw_rates or self.watch is not None:
            raise ValueError(
                "raw_rates=True and history='step' have no form for margins of pairs; leave them "
                "out."
            )
        settings = self.get_params(deep=False)
        del settings["raw_rates"]
        one = Momentum(momentum=0.0, batch_size=1, **settings)
        one.augment = self.augment
        return one.sweep(cost, codebook, blocks, memory, rng, n_steps)

    def stride(self, cost: Objective, codebook: Codebook) -> float:
        """Return the square of a length of one scale, by the scale; raw, what undoes the scale."""
        if self.raw_rates:
            return 1.0 / cost.scale
        return cost.distance.length(cost.scale, codebook) ** 2 / cost.scale


@numba.njit
def steepness(gradient, distance, stride):
    """Return how many times further than to the sample a whole step would go, at least once."""
    total = 0.0
    for f in range(gradient.size):
        total += gradient[f] * gradient[f]
    return max(1.0, stride * total / (4.0 * distance)) if distance > 0.0 else 1.0


@native(f8(*SAMPLES, *LEARNED, FUNCTIONS, AXES, vector, LOOP_ARRAYS, STEP_SIZES, i8))
def learn_in_order(X, y, weight, W, theta, group, same, functions, axes, rate_theta, room, step, t):
    """Take a step for each sample; return the summed cost met on the way."""
    fill, derive = row_at(functions.row), gradient_at(functions.gradient)
    constrain, pull = constrain_at(functions.constrain), pull_at(functions.pull)
    rate_of, row, entries = schedule_at(functions.schedule), room.distances, room.entries
    d, g, work = room.numbers[0], room.numbers[1], room.numbers[2]
    by_w, by_theta, metric_step = room.by_prototype, room.by_metric, room.metric_step
    bounded, limit, total = step.lowest > -np.inf, step.limit, 0.0
    plain = step.plain and not bounded
    for i in range(X.shape[0]):
        x = X[i]
        fill(x, W, theta, group, functions.pair, row)
        total += weight[i] * pull(row, same[y[i]], axes, entries, d, g, work)
        rate = weight[i] * rate_of(t + i, rate_theta)
        least = 0.0
        if entries.size > 2:  # of a thousand prototypes few are near
            for j in range(entries.size):
                least = max(least, abs(g[j]))
            least *= NEGLIGIBLE
        for j in range(entries.size):
            if plain and abs(g[j]) > least:
                w, twice = W[entries[j]], 2.0 * step.stride * min(max(rate * g[j], -limit), limit)
                for f in range(x.size):
                    w[f] -= twice * (w[f] - x[f])
            elif abs(g[j]) > least:
                k = entries[j]
                by_w[:] = 0.0
                by_theta[:] = 0.0
                derive(x, W[k], theta[group[k]], by_w, by_theta)
                longest = limit / steepness(by_w, row[k], step.stride) if step.steep else limit
                share = min(max(rate * g[j], -longest), longest)
                move = step.stride * share
                for f in range(by_w.size):
                    W[k, f] -= move * by_w[f]
                if bounded:
                    for f in range(by_w.size):
                        W[k, f] = max(W[k, f], step.lowest)
                metric_share = (share if step.limits_metric else rate * g[j]) * axes.inverse_scale
                for f in range(by_theta.size):
                    metric_step[group[k], f] += metric_share * by_theta[f]
        if step.metric_rate > 0.0:
            for j in range(entries.size):
                if g[j] != 0.0:
                    r = group[entries[j]]
                    for f in range(by_theta.size):
                        theta[r, f] -= step.metric_rate * metric_step[r, f]
                        metric_step[r, f] = 0.0
                    constrain(theta[r], by_w.size)
    return total
