"""What learns by a rule: the epochs, the rates, and what is kept between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._parameters import Codebook, Floats, as_floats
from ..blocks import Block, Blocks
from ..distances import Distance
from ..native import Native
from ..prototypes import mistakes
from ..solvers import Callback, Memory, SolverResult
from ..solvers.base import Progress
from ..solvers.epochs import run_epochs
from ..solvers.schedules import SCHEDULES
from ..solvers.sequential import addresses, room_for, rows_at_once
from .decision import Decision
from .rules import MOVED, follow


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
        functions = addresses(distance, self.rule, schedule)
        rate_theta = as_floats([self.learning_rate, n_steps, self.decay, self.least_rate])
        rates = memory.by_prototype.setdefault("rate", np.zeros(len(codebook.labels)))
        rates[rates == 0.0] = self.learning_rate  # prototypes that have just begun
        same = codebook.same_class(self.n_classes)
        metric_rate = self.metric_rate / self.scale if distance.adaptive else 0.0
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

    def makes_worse(self, start: Codebook, reached: Codebook, blocks: Blocks) -> bool:
        """Tell that a rule is followed wherever it leads."""
        return False
