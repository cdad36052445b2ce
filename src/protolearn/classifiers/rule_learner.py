"""What learns by a rule: the epochs, the rates, and what is kept between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._arrays import Floats, as_floats
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..distances import Distance, LowerBounded, Penalized
from ..native import Native
from ..prototypes import mistakes
from ..solvers import Callback, Memory, SolverResult
from ..solvers.base import Progress
from ..solvers.epochs import run_epochs
from ..solvers.schedules import SCHEDULES
from ..solvers.sequential import addresses, room_for, rows_at_once
from .decision import Decision
from .fewest_errors import FewestErrors
from .problem import Problem
from .rules import MOVED, follow

MOST_EPOCHS = 10
"""Epochs when the user names none."""


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
    problem : Problem
        What is known of the data; its scale is the unit of probabilities and of the steps of a
        metric.
    learning_rate, schedule, decay, least_rate : float, str, float, float
        First rate, how it falls, and the share of it that stays.
    metric_rate : float
        Rate of the metric as a share of that of the prototypes.
    shuffle : bool
        Whether each pass has a new random order.
    most_steps : int
        Samples to learn from, when the user names no number of epochs.
    keeps_best : bool
        Whether to keep the prototypes with the fewest training errors, or those of the last epoch.
    """

    name: str
    rule: Native
    theta: Floats
    distance: Distance
    problem: Problem
    learning_rate: float
    schedule: str
    decay: float
    least_rate: float
    metric_rate: float
    shuffle: bool
    most_steps: int
    keeps_best: bool

    @property
    def decision(self) -> Decision:
        """The nearest prototype decides."""
        return Decision(False, 1.0, 1.0)

    @property
    def advice(self) -> str:
        """What to do if it finds nothing better than the start."""
        return (
            "Every epoch made more training errors: a rule lowers no cost. Take more prototypes or "
            "GLVQ, or name max_iter to follow the rule all the same."
        )

    def for_trial(self) -> RuleLearner:
        """Give the same for a trial: prototypes that were split have to part, at whatever cost."""
        return replace(self, keeps_best=False)

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of epochs when the user names none: fewer for many rows."""
        return int(np.clip(self.most_steps // n_samples, 1, MOST_EPOCHS))

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
        """Learn from all the data, from the beginning; the cost is the share of errors met.

        Rules lower no cost, and too many epochs may drive prototypes away. So unless the user says
        how many there are, the best of them is kept, or the start.
        """
        start, codebook, memory = codebook, codebook.copy(), Memory()
        kept = FewestErrors(self, start, blocks, memory, callback) if self.keeps_best else None
        total = blocks.n_samples * max_iter
        result = run_epochs(
            lambda: self.one_pass(codebook, blocks, memory, rng, total),
            codebook,
            memory,
            Progress(kept or callback, self.distance),
            rng,
            blocks.journal,
            max_iter=max_iter,
            tol=tol,
            open_ended=self.schedule != "linear",
        )
        return result if kept is None else replace(result, codebook=kept.best, memory=kept.memory)

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
        functions = addresses(distance, self.rule, schedule)
        rate_theta = as_floats([self.learning_rate, n_steps, self.decay, self.least_rate])
        rates = memory.by_prototype.setdefault("rate", np.zeros(len(codebook.labels)))
        rates[rates == 0.0] = self.learning_rate  # prototypes that have just begun
        same = codebook.same_class(self.problem.n_classes)
        metric_rate = self.metric_rate / self.problem.scale if distance.adaptive else 0.0
        size, room = rows_at_once(distance, codebook), room_for(codebook, MOVED)
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
                room,
                distance.stride(codebook),
                metric_rate,
                distance.steep,
                distance.lowest(codebook) if isinstance(distance, LowerBounded) else -np.inf,
                memory.steps,
            )
            if isinstance(distance, Penalized) and distance.penalized:
                rate = batch.total_weight * schedule(memory.steps, rate_theta)
                distance.shrink(codebook, self.metric_rate * rate)
            weight += batch.total_weight
            memory.steps += len(batch)
        if distance.moving:
            codebook.metric[...] = distance.refresh(codebook)
        return float(wrong / weight)

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Give 1 for each row that is classified wrongly, else 0."""
        return mistakes(self.distance, codebook, block)

    def makes_worse(self, start: Codebook, reached: Codebook, blocks: Blocks) -> bool:
        """Tell whether no epoch made as few errors as the start."""
        return reached is start
