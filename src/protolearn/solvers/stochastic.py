"""What the stochastic solvers have in common: a learning rate over time, and passes."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, TypeVar

import numpy as np

from .._arrays import Floats, as_floats
from .._validation import check_choice, check_flag, check_number, check_positive
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, SquaredEuclidean
from ..native import Native
from ..objective import Objective
from .base import Callback, Progress, Solver, SolverResult
from .epochs import default_epochs, run_epochs
from .memory import Memory
from .schedules import LEAST_IN_STREAMS, SCHEDULES

S = TypeVar("S", bound="StochasticSolver")


class StochasticSolver(Solver):
    """Learns from some samples at a time, at a rate that falls.

    A subclass has the parameters ``learning_rate``, ``schedule``, ``decay``, ``least_rate``,
    ``metric_rate`` and ``shuffle``, and says what one pass does.
    """

    learning_rate: float | None
    schedule: str
    decay: float
    least_rate: float | None
    metric_rate: float
    shuffle: bool

    steps_along_gradient: ClassVar[bool] = True
    """Whether steps grow with the gradient."""

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        self.first_rate(SquaredEuclidean())
        check_choice(self, "schedule", tuple(SCHEDULES))
        check_number(self, "decay", low=0.0)
        if self.least_rate is not None:
            check_number(self, "least_rate", low=0.0, high=1.0)
            if self.schedule != "inverse_time":
                raise ValueError(
                    f"least_rate={self.least_rate!r} belongs to schedule='inverse_time', and here "
                    f"it is {self.schedule!r}; leave one of them out."
                )
        check_number(self, "metric_rate", low=0.0)
        check_flag(self, "shuffle")

    def check_streaming(self) -> None:
        """Raise if the rate needs to know the end."""
        if self.schedule == "linear":
            raise ValueError(
                f"{type(self).__name__}(schedule='linear') falls to zero at an end that a stream "
                "does not have; for partial_fit take schedule='inverse_time' or 'constant'."
            )

    @classmethod
    def for_stream(cls: type[S]) -> S:
        """Give the solver with settings for data without end: a rate that never vanishes."""
        return cls(schedule="inverse_time", least_rate=LEAST_IN_STREAMS)

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of epochs when the user names none: fewer for larger data."""
        return default_epochs(n_samples)

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
        codebook, memory = codebook.copy(), Memory()
        total = blocks.n_samples * max_iter
        return run_epochs(
            lambda: self.one_pass(objective, codebook, blocks, memory, rng, total),
            codebook,
            memory,
            Progress(callback, objective.distance),
            rng,
            blocks.journal,
            max_iter=max_iter,
            tol=tol,
            open_ended=self.schedule != "linear",
        )

    def one_pass(
        self,
        objective: Objective,
        codebook: Codebook,
        blocks: Blocks,
        memory: Memory,
        rng: np.random.RandomState,
        n_steps: int = 1,
    ) -> float:
        """Learn from every sample once, in place; give the mean cost met on the way.

        ``n_steps`` is the number of samples in all passes, for the linear schedule. What the
        distance derives from the place of the prototypes is made anew at the end.
        """
        loss = self.sweep(objective, codebook, blocks, memory, rng, n_steps)
        if objective.distance.moving:
            codebook.metric[...] = objective.distance.refresh(codebook)
        return loss

    @abstractmethod
    def sweep(
        self,
        objective: Objective,
        codebook: Codebook,
        blocks: Blocks,
        memory: Memory,
        rng: np.random.RandomState,
        n_steps: int,
    ) -> float:
        """Learn from every sample once, in place; give the mean cost met on the way."""

    def rate(self, n_steps: int, objective: Objective) -> tuple[Native, Floats]:
        """Give the schedule and its parameters."""
        first = self.first_rate(objective.distance)
        if self.steps_along_gradient:
            first /= objective.slope_factor
        theta = as_floats([first, n_steps, self.decay, self.least_rate or 0.0])
        return SCHEDULES[self.schedule], theta

    def first_rate(self, distance: Distance) -> float:
        """Give the learning rate of the first step."""
        return check_positive(self, "learning_rate")
