"""Stochastic gradient descent, one sample at a time: the classical way to train LVQ."""

from __future__ import annotations

import numpy as np

from .._parameters import Codebook, as_floats
from .._validation import check_choice, check_number, check_positive
from ..blocks import Blocks
from ..native import (
    ADDRESS,
    CONSTRAIN,
    GRADIENT,
    ROW,
    SCHEDULE,
    f8,
    flags_matrix,
    i8,
    indices,
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
)
from ..objective import AXES, PRICE, Objective, price
from .base import Callback, Progress, Solver, SolverResult
from .schedules import SCHEDULES

row_at = pointer(ROW)
gradient_at = pointer(GRADIENT)
constrain_at = pointer(CONSTRAIN)
price_at = pointer(PRICE)
schedule_at = pointer(SCHEDULE)

PATIENCE = 5
"""Epochs without progress after which a schedule that has no end stops."""

FUNCTIONS = types.UniTuple(ADDRESS, 6)
"""Row, pair, gradient, constrain, price and schedule."""


class SGD(Solver):
    """Sequential gradient descent: after each sample the prototypes move.

    Parameters
    ----------
    learning_rate : float, default=0.1
        First step size, in units of the scale.
    schedule : {"linear", "inverse_time", "constant"}, default="linear"
        How the rate falls: to zero in the last epoch, as ``1 / (1 + decay t)``, or not at all.
    decay : float, default=1e-4
        Decay of the inverse-time schedule, for each sample seen.
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

    def __init__(
        self,
        learning_rate: float = 0.1,
        schedule: str = "linear",
        decay: float = 1e-4,
        metric_rate: float = 0.01,
        shuffle: bool = True,
    ):
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.metric_rate = metric_rate
        self.shuffle = shuffle

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        check_positive(self, "learning_rate")
        check_choice(self, "schedule", tuple(SCHEDULES))
        check_number(self, "decay", low=0.0)
        check_number(self, "metric_rate", low=0.0)

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of epochs when the user names none: fewer for larger data."""
        return int(np.clip(1_000_000 // n_samples, 10, 100))

    def minimize(
        self,
        objective: Objective,
        codebook: Codebook,
        blocks: Blocks,
        rng: np.random.RandomState,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
    ) -> SolverResult:
        """Run ``max_iter`` epochs, or fewer if the rate stays up and the cost stops to fall."""
        codebook = codebook.copy()
        progress = Progress(callback)
        learn = self._learner(objective, codebook, blocks.n_samples * max_iter)
        best, waited, step = np.inf, 0, 0
        for _ in range(max_iter):
            total = weight = 0.0
            for block, order in blocks.passes(rng if self.shuffle else None):
                total += learn(block.X, block.y, block.weight, order, step)
                weight += block.weight.sum()
                step += len(block)
            loss = float(total / weight)
            waited = 0 if loss < best - tol * abs(best) or not np.isfinite(best) else waited + 1
            best = min(best, loss)
            if progress.report(loss, codebook) or (
                waited == PATIENCE and self.schedule != "linear"
            ):
                break
        n_iter = len(progress.loss_curve)
        return SolverResult(codebook, progress.loss_curve, n_iter, True)

    def _learner(self, objective, codebook, n_steps):
        """Bind everything that stays the same from call to call."""
        distance = objective.distance
        theta = as_floats([self.learning_rate, n_steps, self.decay])
        functions = (
            distance.row.address,
            distance.pair.address,
            distance.gradient.address,
            distance.constraint.constrain.address,
            price.address,
            SCHEDULES[self.schedule].address,
        )
        metric_rate = float(self.metric_rate) if distance.adaptive else 0.0
        same = codebook.same_class(objective.n_classes)
        winners = objective.margin.winners or len(codebook.labels)

        def learn(X, y, weight, order, step):
            return learn_in_order(
                X,
                y,
                weight,
                order,
                codebook.prototypes,
                codebook.metric,
                codebook.group,
                same,
                functions,
                objective.axes,
                theta,
                winners,
                objective.unit**2 / objective.scale,
                metric_rate,
                step,
            )

        return learn


@native(
    f8(
        matrix,
        indices,
        vector,
        indices,
        matrix_out,
        matrix_out,
        indices,
        flags_matrix,
        FUNCTIONS,
        AXES,
        vector,
        i8,
        f8,
        f8,
        i8,
    )
)
def learn_in_order(
    X,
    y,
    weight,
    order,
    W,
    theta,
    group,
    same,
    functions,
    axes,
    rate_theta,
    winners,
    stride,
    metric_rate,
    step,
):
    """Take one gradient step for each sample; give the summed cost met on the way."""
    fill, derive = row_at(functions[0]), gradient_at(functions[2])
    constrain, cost = constrain_at(functions[3]), price_at(functions[4])
    rate_of = schedule_at(functions[5])
    row = np.empty(W.shape[0])
    d, g, work = np.empty(winners), np.empty(winners), np.empty(winners)
    entries = np.empty(winners, dtype=np.intp)
    by_w, by_theta = np.empty(W.shape[1]), np.empty(theta.shape[1])
    metric_step = np.zeros(theta.shape)
    total = 0.0
    for t in range(order.size):
        i = order[t]
        x = X[i]
        fill(x, W, theta, group, functions[1], row)
        total += weight[i] * cost(row, same[y[i]], axes, entries, d, g, work)
        rate = weight[i] * rate_of(step + t, rate_theta)
        for j in range(winners):
            if g[j] != 0.0:
                k = entries[j]
                by_w[:] = 0.0
                by_theta[:] = 0.0
                derive(x, W[k], theta[group[k]], by_w, by_theta)
                move = stride * min(max(rate * g[j], -0.5), 0.5)
                for f in range(by_w.size):
                    W[k, f] -= move * by_w[f]
                for f in range(by_theta.size):
                    metric_step[group[k], f] += rate * g[j] * axes[6] * by_theta[f]
        if metric_rate > 0.0:
            for j in range(winners):
                r = group[entries[j]]
                for f in range(by_theta.size):
                    theta[r, f] -= metric_rate * metric_step[r, f]
                    metric_step[r, f] = 0.0
                constrain(theta[r])
    return total
