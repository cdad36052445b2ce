"""The loop that follows a rule.

One loop serves all rules and distances: with a distance delta the move is
``w -= share * (1/2) d delta / dw`` (Biehl, 2023, eq. 5.9), which is ``share * (x - w)`` for the
squared Euclidean one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parameters import Codebook, Floats, as_floats
from ..blocks import Block, Blocks
from ..distances import Distance
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
    matrix,
    matrix_out,
    native,
    pointer,
    types,
    vector,
    vector_out,
)
from ..prototypes import mistakes
from ..solvers import Callback, Memory, SolverResult
from ..solvers.base import Progress
from ..solvers.epochs import run_epochs
from ..solvers.schedules import SCHEDULES
from ..solvers.sequential import GATHERED, PENALIZED
from .decision import Decision
from .rules import RULE, nearest, steepness

FUNCTIONS = types.UniTuple(ADDRESS, 6)
"""Row, pair, gradient, constrain, rule and schedule."""

row_at = pointer(ROW)
gradient_at = pointer(GRADIENT)
constrain_at = pointer(CONSTRAIN)
rule_at = pointer(RULE)
schedule_at = pointer(SCHEDULE)


@dataclass(frozen=True)
class RuleLearner:
    """A rule, its distance and its learning rate.

    Attributes
    ----------
    name : str
        What ``solver_`` tells.
    rule : Native
        One of those in ``rules``.
    theta : array (3,)
        Bound of the ratio of unsquared distances, 1 where the distance is squared, epsilon.
    distance : Distance
        In the form that suits the data.
    n_classes : int
        Number of classes.
    scale : float
        Unit of distance: of probabilities, and of the steps of a metric.
    learning_rate, schedule, decay, least_rate : float, str, float, float
        First rate, how it falls, and the share of it that stays.
    metric_rate : float
        Rate of the metric as a share of that of the prototypes.
    shuffle : bool
        Whether each pass has a new random order.
    """

    name: str
    rule: Native
    theta: Floats
    distance: Distance
    n_classes: int
    scale: float
    learning_rate: float
    schedule: str
    decay: float
    least_rate: float
    metric_rate: float
    shuffle: bool

    @property
    def decision(self) -> Decision:
        """The nearest prototype decides."""
        return Decision(False, 1.0, 1.0)

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of epochs when the user names none; too many drive prototypes away."""
        return int(np.clip(2_000 // n_samples, 1, 5))

    def train(
        self,
        codebook: Codebook,
        blocks: Blocks,
        rng: np.random.RandomState,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None,
    ) -> SolverResult:
        """Learn from all the data, from the beginning; the cost is the share of errors met."""
        codebook, memory = codebook.copy(), Memory()
        total = blocks.n_samples * max_iter
        return run_epochs(
            lambda: self.one_pass(codebook, blocks, memory, rng, total),
            codebook,
            memory,
            Progress(callback, self.distance),
            rng,
            blocks.journal,
            max_iter=max_iter,
            tol=tol,
            open_ended=self.schedule != "linear",
        )

    def one_pass(
        self,
        codebook: Codebook,
        blocks: Blocks,
        memory: Memory,
        rng: np.random.RandomState,
        n_steps: int = 1,
    ) -> float:
        """Follow the rule for each sample, in place; give the share of errors met on the way."""
        distance, schedule = self.distance, SCHEDULES[self.schedule]
        functions = (
            distance.row.address,
            distance.pair.address,
            distance.gradient.address,
            distance.constraint.constrain.address,
            self.rule.address,
            schedule.address,
        )
        rate_theta = as_floats([self.learning_rate, n_steps, self.decay, self.least_rate])
        rates = memory.by_prototype.setdefault("rate", np.zeros(len(codebook.labels)))
        rates[rates == 0.0] = self.learning_rate  # prototypes that have just begun
        same = codebook.same_class(self.n_classes)
        metric_rate = self.metric_rate / self.scale if distance.adaptive else 0.0
        size = max(GATHERED // codebook.prototypes.shape[1], 1)
        if distance.penalized:
            size = min(size, PENALIZED)
        wrong = weight = 0.0
        for batch in blocks.batches(size, rng if self.shuffle else None):
            wrong += follow(
                batch.X,
                batch.codes,
                batch.weights,
                codebook.prototypes,
                codebook.metric,
                codebook.group,
                same,
                functions,
                self.theta,
                rate_theta,
                rates,
                distance.stride(codebook),
                metric_rate,
                distance.steep,
                distance.lowest(codebook),
                memory.steps,
            )
            if distance.penalized:
                rate = batch.total_weight * schedule(memory.steps, rate_theta)
                distance.shrink(codebook, self.metric_rate * rate)
            weight += batch.total_weight
            memory.steps += len(batch)
        codebook.metric[...] = distance.refresh(codebook)
        return float(wrong / weight)

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Give 1 for each row that is classified wrongly, else 0."""
        return mistakes(self.distance, codebook, block)


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
        vector,
        vector,
        vector_out,
        f8,
        f8,
        types.boolean,
        f8,
        i8,
    )
)
def follow(
    X,
    y,
    weight,
    W,
    theta,
    group,
    same,
    functions,
    rule_theta,
    rate_theta,
    own_rates,
    stride,
    metric_rate,
    steep,
    lowest,
    step,
):
    """Follow a rule for each sample; give the weight of those that were classified wrongly."""
    fill, derive = row_at(functions[0]), gradient_at(functions[2])
    constrain, rule = constrain_at(functions[3]), rule_at(functions[4])
    rate_of = schedule_at(functions[5])
    d = np.empty(W.shape[0])
    entries, shares = np.empty(2, dtype=np.intp), np.empty(2)
    by_w, by_theta = np.empty(W.shape[1]), np.empty(theta.shape[1])
    metric_step = np.zeros(theta.shape)
    bounded = lowest > -np.inf
    wrong = 0.0
    for i in range(X.shape[0]):
        x, mine = X[i], same[y[i]]
        fill(x, W, theta, group, functions[1], d)
        if not mine[nearest(d)]:
            wrong += weight[i]
        count = rule(d, mine, rule_theta, rate_of(step + i, rate_theta), own_rates, entries, shares)
        for j in range(count):
            k = entries[j]
            by_w[:] = 0.0
            by_theta[:] = 0.0
            derive(x, W[k], theta[group[k]], by_w, by_theta)
            longest = 1.0 / steepness(by_w, d[k], stride) if steep else 1.0
            move = 0.5 * min(max(weight[i] * shares[j], -longest), longest)
            for f in range(by_w.size):
                W[k, f] -= stride * move * by_w[f]
            if bounded:
                for f in range(by_w.size):
                    W[k, f] = max(W[k, f], lowest)
            for f in range(by_theta.size):
                metric_step[group[k], f] += move * by_theta[f]
        if metric_rate > 0.0:
            for j in range(count):
                r = group[entries[j]]
                for f in range(by_theta.size):
                    theta[r, f] -= metric_rate * metric_step[r, f]
                    metric_step[r, f] = 0.0
                constrain(theta[r], by_w.size)
    return wrong
