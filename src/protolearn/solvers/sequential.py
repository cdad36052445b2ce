"""Stochastic gradient descent, one sample at a time: the classical way to train LVQ."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, LowerBounded, Penalized
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
from ..objective import AXES, PRICE, Objective, price, scratch
from .memory import Memory
from .stochastic import StochasticSolver

row_at = pointer(ROW)
gradient_at = pointer(GRADIENT)
constrain_at = pointer(CONSTRAIN)
price_at = pointer(PRICE)
schedule_at = pointer(SCHEDULE)

GATHERED = 1 << 17
"""Numbers of samples that are brought together at a time: about a megabyte."""

PENALIZED = 32
"""Samples between two steps down a penalty on the metric."""

FUNCTIONS = types.UniTuple(ADDRESS, 6)
"""Row, pair, gradient, constrain, what decides who moves, and schedule."""

ROOM = types.Tuple([vector_out, indices_out, matrix_out, vector_out, vector_out, matrix_out])
"""For the distances of a sample, the prototypes that count, three numbers for each of these, the
derivatives by a prototype and by a row of the metric, and the step of the metric."""


class SGD(StochasticSolver):
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

    Notes
    -----
    With squared Euclidean distance a step moves a prototype at most as far as the sample, with
    other distances by half a unit of scale for each unit of their gradient: near the singular
    points of the relative and hypothesis margins the plain step would throw it out of the data.

    The linear schedule runs all its epochs, since it comes to rest only in the last; the others
    stop when the mean cost of an epoch has not fallen by the share ``tol`` for five epochs.
    """

    name = "sgd"
    takes_sparse = False

    def __init__(
        self,
        learning_rate: float = 0.05,
        schedule: str = "linear",
        decay: float = 1e-4,
        least_rate: float | None = None,
        metric_rate: float = 0.01,
        shuffle: bool = True,
    ):
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.least_rate = least_rate
        self.metric_rate = metric_rate
        self.shuffle = shuffle

    def sweep(
        self,
        objective: Objective,
        codebook: Codebook,
        blocks: Blocks,
        memory: Memory,
        rng: np.random.RandomState,
        n_steps: int,
    ) -> float:
        """Take a step after each sample."""
        distance = objective.distance
        schedule, theta = self.rate(n_steps, objective)
        functions = addresses(distance, price, schedule)
        metric_rate = float(self.metric_rate) if distance.adaptive else 0.0
        same = codebook.same_class(objective.n_classes)
        size, winners = rows_at_once(distance, codebook), objective.margin.winners
        room = room_for(codebook, winners or len(codebook.labels))
        total = weight = 0.0
        for batch in blocks.batches(size, rng if self.shuffle else None):
            total += learn_in_order(
                batch.X,
                batch.codes,
                batch.weights,
                codebook.prototypes,
                codebook.metric,
                codebook.group,
                same,
                functions,
                objective.axes,
                theta,
                room,
                objective.unit(codebook) ** 2 / objective.scale,
                metric_rate,
                distance.steep,
                distance.lowest(codebook) if isinstance(distance, LowerBounded) else -np.inf,
                memory.steps,
            )
            if isinstance(distance, Penalized) and distance.penalized:
                rate = batch.total_weight * schedule(memory.steps, theta)
                distance.shrink(codebook, metric_rate * rate)
            weight += batch.total_weight
            memory.steps += len(batch)
        return float(total / weight)


def addresses(distance: Distance, decide: Native, schedule: Native) -> tuple[int, ...]:
    """Give where the functions are that a loop over samples calls, ``decide`` the fifth."""
    return (
        distance.row.address,
        distance.pair.address,
        distance.gradient.address,
        distance.constraint.constrain.address,
        decide.address,
        schedule.address,
    )


def room_for(codebook: Codebook, n_entries: int) -> tuple[Any, ...]:
    """Give the room that a loop over samples needs: one that makes no arrays is faster."""
    K, d = codebook.prototypes.shape
    by_theta, metric_step = np.empty(codebook.metric.shape[1]), np.zeros(codebook.metric.shape)
    return np.empty(K), *scratch(n_entries), np.empty(d), by_theta, metric_step


def rows_at_once(distance: Distance, codebook: Codebook) -> int:
    """Return how many samples to bring together: about a megabyte, few if a penalty waits."""
    size = max(GATHERED // codebook.prototypes.shape[1], 1)
    waits = isinstance(distance, Penalized) and distance.penalized
    return min(size, PENALIZED) if waits else size


@numba.njit
def steepness(gradient, distance, stride):
    """Give how many times further than to the sample a whole step would go, at least once."""
    total = 0.0
    for f in range(gradient.size):
        total += gradient[f] * gradient[f]
    return max(1.0, stride * total / (4.0 * distance)) if distance > 0.0 else 1.0


@native(
    f8(
        matrix,
        indices,
        vector,
        matrix_out,
        matrix_out,
        indices,
        flags_matrix,
        FUNCTIONS,
        AXES,
        vector,
        ROOM,
        f8,
        f8,
        types.boolean,
        f8,
        i8,
    )
)
def learn_in_order(
    X,
    y,
    weight,
    W,
    theta,
    group,
    same,
    functions,
    axes,
    rate_theta,
    room,
    stride,
    metric_rate,
    steep,
    lowest,
    step,
):
    """Take one gradient step for each sample; give the summed cost met on the way."""
    fill, derive = row_at(functions[0]), gradient_at(functions[2])
    constrain, cost = constrain_at(functions[3]), price_at(functions[4])
    rate_of = schedule_at(functions[5])
    row, entries, numbers, by_w, by_theta, metric_step = room
    d, g, work = numbers[0], numbers[1], numbers[2]
    bounded = lowest > -np.inf
    total = 0.0
    for i in range(X.shape[0]):
        x = X[i]
        fill(x, W, theta, group, functions[1], row)
        total += weight[i] * cost(row, same[y[i]], axes, entries, d, g, work)
        rate = weight[i] * rate_of(step + i, rate_theta)
        for j in range(entries.size):
            if g[j] != 0.0:
                k = entries[j]
                by_w[:] = 0.0
                by_theta[:] = 0.0
                derive(x, W[k], theta[group[k]], by_w, by_theta)
                longest = 0.5 / steepness(by_w, row[k], stride) if steep else 0.5
                move = stride * min(max(rate * g[j], -longest), longest)
                for f in range(by_w.size):
                    W[k, f] -= move * by_w[f]
                if bounded:
                    for f in range(by_w.size):
                        W[k, f] = max(W[k, f], lowest)
                for f in range(by_theta.size):
                    metric_step[group[k], f] += rate * g[j] * axes[6] * by_theta[f]
        if metric_rate > 0.0:
            for j in range(entries.size):
                r = group[entries[j]]
                for f in range(by_theta.size):
                    theta[r, f] -= metric_rate * metric_step[r, f]
                    metric_step[r, f] = 0.0
                constrain(theta[r], by_w.size)
    return total
