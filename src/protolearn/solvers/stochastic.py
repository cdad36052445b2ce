"""What the stochastic solvers have in common: a learning rate over time, and passes.

The rate of step t = 0, 1, ... of one sample each:

* linear: ``rate (1 - t / total)`` (Jin et al., 2008, section 4)
* inverse_time: ``rate max(1 / (1 + decay t), least)``
* constant: ``rate``

Annealing runs any solver in stages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from operator import call
from time import perf_counter
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._arrays import Floats, as_floats
from .._validation import check_choice, check_flag, check_integer, check_number, check_positive
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..distances import Distance, SquaredEuclidean
from ..native import SCHEDULE, Native, native
from ..store import Record
from .batch_solver import (
    Callback,
    Memory,
    Progress,
    Rng,
    Solver,
    SolverResult,
    State,
    class_ranges,
)

PATIENCE = 5
"""Epochs without progress after which a schedule that has no end stops."""

S = TypeVar("S", bound="StochasticSolver")

Augment = Callable[[Any, np.random.RandomState], Any]
"""``augment(X, rng)``: returns some rows as they are to be learned from this time."""


@native(SCHEDULE)
def linear(t, theta):
    """Fall to zero at the last step; theta holds the rate and the number of steps."""
    return theta[0] * max(0.0, 1.0 - t / theta[1])


@native(SCHEDULE)
def inverse_time(t, theta):
    """Fall down to a share of the rate; theta holds the rate, unused, the decay and the share."""
    return theta[0] * max(1.0 / (1.0 + theta[2] * t), theta[3])


@native(SCHEDULE)
def constant(t, theta):
    """Stay."""
    return theta[0]


LEAST_IN_STREAMS = 0.1
"""Share of the first rate that stays in a stream, when the user leaves the rate to us."""

SCHEDULES: dict[str, Native] = {
    "linear": linear,
    "inverse_time": inverse_time,
    "constant": constant,
}


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
    inside: bool = False
    n_iter_no_change: int | None = PATIENCE
    raw_rates: bool = False

    augment: Augment | None = None
    """What changes the rows of each step."""

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
        check_flag(self, "inside")
        check_flag(self, "raw_rates")
        if self.n_iter_no_change is not None:
            check_integer(self, "n_iter_no_change", low=1)

    def check_streaming(self) -> None:
        """Raise if the rate needs to know the end."""
        if self.schedule == "linear":
            raise ValueError(
                f"{type(self).__name__}(schedule='linear') falls to zero at an end that a stream "
                "does not have; for partial_fit take schedule='inverse_time' or 'constant'."
            )
        if self.inside:
            raise ValueError(
                f"{type(self).__name__}(inside=True) needs the range of all rows, which a stream "
                "does not have; leave out inside for partial_fit."
            )

    @classmethod
    def for_stream(cls: type[S]) -> S:
        """Return the solver with settings for data without end: a rate that never vanishes."""
        return cls(schedule="inverse_time", least_rate=LEAST_IN_STREAMS)

    def default_max_iter(self, n_samples: int) -> int:
        """Return the number of epochs when the user names none.

        There are fewer for larger data, which take long, and for few rows, which would be learned
        by heart.
        """
        return int(np.clip(min(500_000 // n_samples, max(n_samples // 20, 10)), 8, 30))

    def minimize(
        self,
        cost: Any,
        codebook: Codebook,
        blocks: Blocks,
        rng: Rng,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
        record: Record = call,
    ) -> SolverResult:
        """Run ``max_iter`` epochs, or fewer if the rate stays up and the cost stops to fall."""
        codebook, memory, progress = codebook.copy(), Memory(), Progress(callback, cost.distance)
        n_steps = blocks.n_samples * max_iter
        ends = class_ranges(blocks, codebook.labels) if self.inside else None

        def one_pass(codebook: Codebook, memory: Memory, rng: Rng) -> float:
            loss = self.one_pass(cost, codebook, blocks, memory, rng, n_steps)
            if ends is not None:
                np.clip(codebook.prototypes, *ends, out=codebook.prototypes)
            return loss

        best, waited = np.inf, 0
        for _ in range(max_iter):
            loss = record(one_pass, codebook, memory, rng)
            waited = 0 if loss < best - tol * abs(best) or not np.isfinite(best) else waited + 1
            best = min(best, loss)
            stopped = self.schedule != "linear" and waited == self.n_iter_no_change
            if progress.report(loss, codebook, memory) or stopped:
                break
        curve = progress.loss_curve
        return SolverResult(codebook, curve, len(curve), True, memory)

    def one_pass(
        self,
        cost: Any,
        codebook: Codebook,
        blocks: Blocks,
        memory: Memory,
        rng: Rng,
        n_steps: int = 1,
    ) -> float:
        """Learn from every sample once, in place; return the mean cost met on the way.

        ``n_steps`` is the number of samples in all passes, for the linear schedule. What the
        distance derives from the place of the prototypes is made anew at the end.
        """
        loss = self.sweep(cost, codebook, blocks, memory, rng, n_steps)
        if cost.distance.moving:
            codebook.metric[...] = cost.distance.refresh(codebook)
        return loss

    @abstractmethod
    def sweep(
        self, cost: Any, codebook: Codebook, blocks: Blocks, memory: Memory, rng: Rng, n_steps: int
    ) -> float:
        """Learn from every sample once, in place; return the mean cost met on the way."""

    def augment_batch(self, batch: Any, rng: Rng) -> Any:
        """Return the rows of a step, changed if someone asks for it."""
        if self.augment is None:
            return batch
        X = np.asarray(self.augment(batch.X.copy(), rng))
        if X.shape != batch.X.shape or not np.isfinite(X).all():
            raise ValueError(
                f"augment returned an array of shape {X.shape} for rows of shape {batch.X.shape}, "
                "or numbers that are not finite; it must return as many finite rows."
            )
        X = np.ascontiguousarray(X, dtype=batch.X.dtype)
        return Block(X, batch.y, batch.weight, places=batch.places)

    def rate(self, n_steps: int, cost: Any) -> tuple[Native, Floats]:
        """Return the schedule and its parameters."""
        first = self.first_rate(cost.distance)
        if self.steps_along_gradient and not self.raw_rates:
            first /= cost.slope_factor
        theta = as_floats([first, n_steps, self.decay, self.least_rate or 0.0])
        return SCHEDULES[self.schedule], theta

    def first_rate(self, distance: Distance) -> float:
        """Return the learning rate of the first step."""
        return check_positive(self, "learning_rate")


class Annealing(Solver):
    """Another solver in stages, from a flat cost to the steep one that is to be lowered.

    A flat cost has few minima, and each stage begins where the one before ended. In stage s of S
    the sharpness ``xi`` of the margin, or else the slope ``beta`` of the loss, is multiplied with
    ``start^(1 - s / (S - 1))``, s = 0, ..., S - 1: the variance of the Gaussians of :class:`RSLVQ`
    falls from ``1 / start`` times its value to that value.

    Parameters
    ----------
    solver : Solver
        What lowers the cost of each stage: an object of :mod:`protolearn.solvers`.
    stages : int, default=3
        Number of stages. They share ``max_iter``.
    start : float, default=0.3
        Factor of the sharpness in the first stage.
    noise : float, default=0.0
        Root mean square length of random steps of all prototypes before each stage, in units of
        the length at which a distance is about one scale. It falls linearly, to zero before the
        last stage.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import RSLVQ
    >>> from protolearn.solvers import SGD, Annealing
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RSLVQ(xi=5.0, solver=Annealing(SGD()), random_state=0).fit(X, y)
    >>> model.solver_, model.score(X, y) > 0.9
    ('annealing', True)
    """

    name = "annealing"

    def __init__(
        self, solver: Solver, stages: int = 3, start: float = 0.3, noise: float = 0.0
    ) -> None:
        self.solver = solver
        self.stages = stages
        self.start = start
        self.noise = noise

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        """Whether the solver of the stages can learn from sparse rows."""
        return bool(getattr(self.solver, "takes_sparse", True))

    def check(self, *axes: Any) -> None:
        """Raise if a setting is wrong, or if there is no slope to be changed."""
        self.check_settings()
        self.solver.check(*axes)
        slopes = (axis for axis in axes if hasattr(axis, "steepened"))
        if all(axis.steepened(2.0) is axis for axis in slopes):
            names = " and ".join(type(axis).__name__ for axis in axes[:2])
            raise ValueError(
                f"Annealing changes the beta of a loss or the xi of a margin, and {names} have "
                "none; take another loss, such as Sigmoid, or another solver."
            )

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        if not isinstance(self.solver, Solver) or isinstance(self.solver, Annealing):
            raise ValueError(
                f"solver={self.solver!r} of Annealing must be an object such as "
                "protolearn.solvers.SGD()."
            )
        check_integer(self, "stages", low=1)
        check_number(self, "start", low=0.0, high=1.0, above=True)
        check_number(self, "noise", low=0.0)

    def default_max_iter(self, n_samples: int) -> int:
        """Return the iterations of all stages when the user names none."""
        return self.stages * self.solver.default_max_iter(n_samples)

    def minimize(
        self,
        cost: Any,
        codebook: Codebook,
        blocks: Blocks,
        rng: Rng,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
        record: Record = call,
    ) -> SolverResult:
        """Lower the cost of each stage from where the one before ended."""
        curve: list[float] = []
        begun, stopped = perf_counter(), False

        def report(state: State) -> bool:
            nonlocal stopped
            iteration, elapsed = len(curve) + state.iteration, perf_counter() - begun
            done = replace(state, iteration=iteration, elapsed=elapsed)
            stopped = callback is not None and bool(callback(done))
            return stopped

        heat = np.linspace(1.0, 0.0, self.stages) if self.stages > 1 else np.zeros(1)
        budgets = np.diff(np.linspace(0, max_iter, self.stages + 1).astype(int))
        for hot, budget in zip(heat.tolist(), budgets.tolist(), strict=True):
            present = cost.steepened(self.start**hot) if hot else cost
            if self.noise * hot > 0.0:
                codebook = shake(cost, codebook, self.noise * hot, rng)
            result = self.solver.minimize(
                present,
                codebook,
                blocks,
                rng,
                max_iter=max(budget, 1),
                tol=tol,
                callback=None if callback is None else report,
                record=record,
            )
            codebook = result.codebook
            curve += result.loss_curve
            if stopped:
                break
        return replace(result, loss_curve=curve, n_iter=len(curve))


def shake(cost: Any, codebook: Codebook, size: float, rng: Rng) -> Codebook:
    """Return a codebook with prototypes that took random steps of about a length."""
    coordinates = cost.coordinates(codebook)
    flat, shape = coordinates.flatten(codebook), codebook.prototypes.shape
    flat[: codebook.prototypes.size] += (
        size / np.sqrt(shape[1]) * rng.standard_normal(codebook.prototypes.size)
    )
    moved: Codebook = coordinates.codebook(coordinates.constrain(flat))
    return replace(moved, metric=cost.distance.refresh(moved)) if cost.distance.moving else moved
