"""What a solver is, and the one that takes all the data at once: SciPy's L-BFGS-B."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from operator import call
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, OptimizeResult, minimize
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from .._arrays import Floats, Indices
from .._threads import one_blas_thread
from .._validation import ENDS_SILENTLY, check_integer
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance, Penalized
from ..losses import Loss
from ..margins import Margin
from ..objective import Objective, Partial
from ..store import Record

Rng = np.random.RandomState

MEMORY_BYTES = 1 << 26
"""What the past steps may take; with very many prototypes and features fewer are kept."""

METRIC_UNIT = 0.3
"""Unit of the metric: below one, the first steps move the prototypes more than the metric."""

ROUNDS = 20
"""Most minimisations, where the distance changes with the place of the prototypes."""

ORDINARY_SLOPE = 0.1
"""Largest derivative at a start, in units of the scale, of few classes and few features."""

RECENT, FIRST = 10, 3
"""Iterations that together have to lower the cost: a few may stall. The same at the beginning,
where nothing has been reached yet."""

AT_EDGES = 20
"""The same where only the winners count: the cost has edges where they change, and with many
classes a way down from one may take twice as long to find."""

MOST_WORK = 100_000_000
"""Learned numbers times iterations that L-BFGS makes unless it is told how many."""

SMALL_WORK = 20_000_000
"""Products of a sample, a feature and a prototype below which threads only wait for each other."""


@dataclass
class Memory:
    """What a learner remembers between passes, so that learning can go on at any time.

    Attributes
    ----------
    steps : int
        Samples seen.
    updates : int
        Steps taken; fewer than samples where several make one step.
    by_prototype : dict of arrays (K, ...)
        Numbers kept for each prototype, such as its velocity.
    by_group : dict of arrays (groups, ...)
        Numbers kept for each row of the metric.
    """

    steps: int = 0
    updates: int = 0
    by_prototype: dict[str, Floats] = field(default_factory=dict)
    by_group: dict[str, Floats] = field(default_factory=dict)

    def copy(self) -> Memory:
        """Copy everything."""
        kept = self.by_prototype, self.by_group
        return Memory(
            self.steps, self.updates, *({name: a.copy() for name, a in k.items()} for k in kept)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays."""
        parts = ("prototype", self.by_prototype), ("group", self.by_group)
        named = {f"{kind} {name}": a for kind, kept in parts for name, a in kept.items()}
        return {"counts": np.array([self.steps, self.updates]), **named}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Remember again what ``arrays`` returned."""
        self.steps, self.updates = arrays["counts"].tolist()
        for key, array in arrays.items():
            kind, _, name = key.partition(" ")
            if kind in ("prototype", "group"):
                (self.by_prototype if kind == "prototype" else self.by_group)[name] = array

    def rearrange(self, prototypes: Indices, groups: Indices) -> Memory:
        """Return the memory for a codebook of these old rows; -1 is a new one, with zeros."""
        return Memory(
            self.steps,
            self.updates,
            {name: rows_or_zeros(a, prototypes) for name, a in self.by_prototype.items()},
            {name: rows_or_zeros(a, groups) for name, a in self.by_group.items()},
        )


def rows_or_zeros(array: Floats, rows: Indices) -> Floats:
    """Return rows of an array, zeros where a row is -1."""
    taken = array[rows]
    taken[rows < 0] = 0.0
    return taken


@dataclass(frozen=True)
class State:
    """Where a fit stands; what ``callback`` receives after every iteration.

    Attributes
    ----------
    iteration : int
        Iterations or epochs done.
    loss : float
        Mean cost of a sample.
    codebook : Codebook
        The present prototypes and metric. Copy what you want to keep.
    elapsed : float
        Seconds since the solver began.
    distance : Distance
        What measures with this codebook: ``distance.suited_to(X).pairwise(X, codebook)`` gives the
        distances of any rows that the model takes, as doubles, to the prototypes.
    memory : Memory
        What the solver remembers from one iteration to the next.
    example : int
        The row that was presented, where steps are watched; -1 after an iteration.
    """

    iteration: int
    loss: float
    codebook: Codebook
    elapsed: float
    distance: Distance
    memory: Memory = field(default_factory=Memory)
    example: int = -1


Callback = Callable[[State], object]


@dataclass(frozen=True)
class SolverResult:
    """What a solver found, and how.

    ``converged`` is False where it ran out of iterations before it was done. Epochs of SGD are a
    budget: having used them up, it is done.
    """

    codebook: Codebook
    loss_curve: list[float]
    n_iter: int
    converged: bool
    memory: Memory


@dataclass
class Progress:
    """Collects the loss curve and tells the callback, which may end the fit."""

    callback: Callback | None
    distance: Distance
    loss_curve: list[float] = field(default_factory=list)
    stopped: bool = False
    start: float = field(default_factory=perf_counter)

    def report(self, loss: float, codebook: Codebook, memory: Memory | None = None) -> bool:
        """Note one more iteration; return whether to stop."""
        if not math.isfinite(loss):
            raise cost_error(loss)
        self.loss_curve.append(loss)
        if self.callback is None:
            return False
        elapsed, done = perf_counter() - self.start, len(self.loss_curve)
        state = State(done, loss, codebook, elapsed, self.distance, memory or Memory())
        try:
            self.stopped = bool(self.callback(state))
        except StopIteration as error:  # by which SciPy would believe that all is well
            raise RuntimeError(ENDS_SILENTLY) from error
        return self.stopped


def cost_error(loss: float) -> ValueError:
    """Return the error for a cost that has left the range of numbers."""
    return ValueError(
        f"The cost became {loss}: beta, xi, attraction, scale, init or the learning rate are "
        "out of proportion to the data. Take values of ordinary size, or rescale X."
    )


class Solver(BaseEstimator, ABC):
    """Lowers an objective.

    Attributes
    ----------
    name : str
        Short name.
    needs_smooth : bool
        Whether loss, margin and distance must have continuous slopes.
    takes_sparse : bool
        Whether it can learn from sparse rows.
    """

    name: ClassVar[str]
    needs_smooth: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def check(self, *axes: Distance | Margin | Loss) -> None:
        """Raise before any work starts if a setting is wrong or an axis does not fit."""
        self.check_settings()
        for axis in axes:
            if self.needs_smooth and not axis.smooth:
                raise ValueError(
                    f"solver={self.name!r} needs smooth axes, and {type(axis).__name__} is not "
                    "smooth; take solver='sgd' or solver='auto'."
                )

    def check_streaming(self) -> None:
        """Raise if the solver cannot learn from data that come in parts."""
        raise ValueError(
            f"solver={self.name!r} needs all the data at once; for partial_fit take 'sgd', 'adam', "
            "'momentum' or 'auto'."
        )

    @classmethod
    def for_stream(cls) -> Solver:
        """Return the solver with settings for data without end."""
        return cls()

    @abstractmethod
    def check_settings(self) -> None:
        """Raise if a setting is out of range."""

    @abstractmethod
    def default_max_iter(self, n_samples: int) -> int:
        """Return the number of iterations when the user names none."""

    def usual_max_iter(self, n_samples: int, codebook: Codebook) -> int:
        """Return the same where it is known how much is learned."""
        return self.default_max_iter(n_samples)

    @abstractmethod
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
        """Return the codebook that lowers the cost, and how it was reached.

        ``record`` calls each part of the work, and may know its result from an earlier run.
        """


def class_ranges(blocks: Blocks, labels: Indices) -> tuple[Floats, Floats]:
    """Return the least and the greatest value that the class of each prototype has, (K, d)."""
    low, high = np.inf, -np.inf
    for block in blocks:
        codes, X = block.codes, block.X
        parts = [np.flatnonzero(codes == label) for label in labels]
        ends = [feature_ends(X[part]) if len(part) else (np.inf, -np.inf) for part in parts]
        width = (len(labels), X.shape[1])
        below = np.stack([np.broadcast_to(end[0], width[1:]) for end in ends])
        above = np.stack([np.broadcast_to(end[1], width[1:]) for end in ends])
        low, high = np.fmin(low, below), np.fmax(high, above)
    is_known = np.isfinite(low) & np.isfinite(high)
    return np.where(is_known, low, -np.inf), np.where(is_known, high, np.inf)


def feature_ends(X: Any) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of each feature, missing values aside."""
    if issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)


class LBFGS(Solver):
    """Limited-memory BFGS on all the data; the solver for small and medium sets.

    Parameters
    ----------
    memory : int, default=10
        Number of past steps that shape the next one; fewer, but at least three, where they would
        take more than 64 MB.
    inside : bool, default=False
        Whether prototypes stay within the range that the rows of their class have in each feature,
        so that none looks like no row. The bounds are part of the minimisation (L-BFGS-B): what a
        prototype may not do, the others and the metric make up for.
    """

    name = "lbfgs"
    needs_smooth = True

    def __init__(self, memory: int = 10, inside: bool = False):
        self.memory = memory
        self.inside = inside

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        check_integer(self, "memory", low=1)
        if not isinstance(self.inside, (bool, np.bool_)):
            raise ValueError(f"inside={self.inside!r} must be True or False.")

    def default_max_iter(self, n_samples: int) -> int:
        """Return the number of iterations when the user names none."""
        return 1000

    def usual_max_iter(self, n_samples: int, codebook: Codebook) -> int:
        """Return fewer iterations, at least 200, for millions of learned numbers."""
        fewer = MOST_WORK // max(codebook.prototypes.size + codebook.metric.size, 1)
        return min(self.default_max_iter(n_samples), max(fewer, 200))

    def minimize(
        self,
        cost: Objective,
        codebook: Codebook,
        blocks: Blocks,
        rng: Rng,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
        record: Record = call,
    ) -> SolverResult:
        """Lower the objective until it is level, or hardly falls.

        It is level where the largest derivative, in units of the scale, is below ``tol``; if even
        the first one is below 0.1, as with many classes and features, below ``10 tol`` times that.
        It hardly falls if ten iterations (twenty if the nearest of several prototypes decides,
        where the cost has edges) lower it by less than ``tol**2`` each, as a share of it where it
        is above one. Without any slope the codebook is returned as it is.

        Parameters of the distance that belong to where the prototypes are stay as they are for
        one such minimisation; then they are made anew, and so on for some rounds.
        """
        distance = cost.distance
        progress = Progress(callback, distance)
        blocks = blocks.prepare_for(distance, codebook)
        for _ in range(ROUNDS if distance.moving else 1):
            left = max_iter - len(progress.loss_curve)
            result = self._descend(cost, codebook, blocks, progress, left, tol, record)
            if result.nit == 0:
                break
            codebook = cost.coordinates(codebook, METRIC_UNIT).codebook(result.x)
            if self.inside:
                ends = class_ranges(blocks, codebook.labels)
                codebook = replace(codebook, prototypes=np.clip(codebook.prototypes, *ends))
            if distance.moving:
                codebook = replace(codebook, metric=distance.refresh(codebook))
            if progress.stopped or result.status == 1:
                break
        return SolverResult(
            codebook,
            progress.loss_curve,
            len(progress.loss_curve),
            result.status != 1,
            Memory(steps=blocks.n_samples),
        )

    def _descend(
        self,
        objective: Objective,
        codebook: Codebook,
        blocks: Blocks,
        progress: Progress,
        max_iter: int,
        tol: float,
        record: Record,
    ) -> OptimizeResult:
        """Minimise from a codebook."""
        distance, coordinates = objective.distance, objective.coordinates(codebook, METRIC_UNIT)
        start, bounds = coordinates.flatten(codebook), None
        if coordinates.lowest > -np.inf:
            bounds = Bounds(coordinates.lower_bounds())
        if self.inside:
            low, high = class_ranges(blocks, codebook.labels)
            bounds = Bounds(*coordinates.bounds(low, high))
            start = np.clip(start, bounds.lb, bounds.ub)

        def evaluate(flat: Floats) -> tuple[float, Floats]:
            present = coordinates.codebook(flat)
            total: Partial = blocks.reduce(objective.partial, present)
            mean = total.over(total.weight)
            if isinstance(distance, Penalized) and distance.penalized:
                mean = mean.add_penalty(*distance.penalty(present))
            return mean.value, coordinates.gradient(flat, mean.gradients)

        cost, gradient = record(evaluate, start)
        known, costs = [(cost, gradient)], [cost]
        has_edges = objective.margin.winners is not None and len(codebook.labels) > 2
        patience = AT_EDGES if has_edges else RECENT

        def after_iteration(intermediate_result: OptimizeResult) -> None:
            costs.append(float(intermediate_result.fun))
            stopped = progress.report(costs[-1], coordinates.codebook(intermediate_result.x))
            recent = costs[-1 - patience :]
            least = (len(recent) - 1) * tol**2 * max(1.0, abs(costs[-1]))
            if stopped or (len(recent) > FIRST and recent[0] - recent[-1] <= least):
                raise StopIteration

        effort = distance.effort(codebook) * codebook.prototypes.shape[1]
        with one_blas_thread() if blocks.n_samples * effort < SMALL_WORK else nullcontext():
            result = minimize(
                lambda flat: known.pop() if known else record(evaluate, flat),
                start,
                jac=True,
                method="L-BFGS-B",
                callback=after_iteration,
                bounds=bounds,
                options={
                    "maxiter": max_iter,
                    "maxfun": 20 * max_iter,
                    "maxcor": min(self.memory, max(3, MEMORY_BYTES // (16 * start.size))),
                    "gtol": tol * min(1.0, np.abs(gradient).max(initial=0.0) / ORDINARY_SLOPE),
                    "ftol": 0.0,
                },
            )
        if not math.isfinite(result.fun):
            raise cost_error(result.fun)
        return result
