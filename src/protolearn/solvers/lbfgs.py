"""Full-batch quasi-Newton: SciPy's L-BFGS-B on the flat vector of a codebook."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from operator import call

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from .._arrays import Floats
from .._threads import one_blas_thread
from .._validation import check_integer
from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Penalized
from ..objective import Objective, Partial
from ..store import Record
from .base import Callback, Memory, Progress, Solver, SolverResult, check_cost

MEMORY_BYTES = 1 << 26
"""What the past steps may take; with very many prototypes and features fewer are kept."""

METRIC_UNIT = 0.3
"""Unit of the metric: below one, the first steps move the prototypes more than the metric."""

ROUNDS = 20
"""Most minimisations, where the distance changes with the place of the prototypes."""

SMALL_WORK = 20_000_000
"""Products of a sample, a feature and a prototype below which threads only wait for each other."""


class LBFGS(Solver):
    """Limited-memory BFGS on all the data; the solver for small and medium sets.

    Parameters
    ----------
    memory : int, default=10
        Number of past steps that shape the next one; fewer, but at least three, where they would
        take more than 64 MB.
    """

    name = "lbfgs"
    needs_smooth = True

    def __init__(self, memory: int = 10):
        self.memory = memory

    def check_settings(self) -> None:
        """Raise if a setting is out of range."""
        check_integer(self, "memory", low=1)

    def default_max_iter(self, n_samples: int) -> int:
        """Return the number of iterations when the user names none."""
        return 1000

    def minimize(
        self,
        cost: Objective,
        codebook: Codebook,
        blocks: Blocks,
        rng: np.random.RandomState,
        *,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
        record: Record = call,
    ) -> SolverResult:
        """Lower the objective until no derivative exceeds ``tol``, or the cost hardly falls.

        Parameters of the distance that belong to where the prototypes are stay as they are for
        one such minimisation; then they are made anew, and so on for some rounds.
        """
        distance = cost.distance
        progress = Progress(callback, distance)
        blocks = blocks.prepare_for(distance, codebook)
        for _ in range(ROUNDS if distance.moving else 1):
            left = max_iter - len(progress.loss_curve)
            result = self._descend(cost, codebook, blocks, progress, left, tol, record)
            codebook = cost.coordinates(codebook, METRIC_UNIT).codebook(result.x)
            if distance.moving:
                codebook = replace(codebook, metric=distance.refresh(codebook))
            if progress.stopped or result.status == 1 or result.nit == 0:
                break
        return SolverResult(
            codebook,
            progress.loss_curve or [float(result.fun)],
            max(len(progress.loss_curve), 1),
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

        def evaluate(flat: Floats) -> tuple[float, Floats]:
            present = coordinates.codebook(flat)
            total: Partial = blocks.reduce(objective.partial, present)
            mean = total.over(total.weight)
            if isinstance(distance, Penalized) and distance.penalized:
                mean = mean.penalized(*distance.penalty(present))
            return mean.value, coordinates.gradient(flat, mean.gradients)

        def after_iteration(intermediate_result: OptimizeResult) -> None:
            present = coordinates.codebook(intermediate_result.x)
            if progress.report(float(intermediate_result.fun), present):
                raise StopIteration

        effort = distance.effort(codebook) * codebook.prototypes.shape[1]
        with one_blas_thread() if blocks.n_samples * effort < SMALL_WORK else nullcontext():
            result = minimize(
                partial(record, evaluate),
                start,
                jac=True,
                method="L-BFGS-B",
                callback=after_iteration,
                bounds=bounds,
                options={
                    "maxiter": max_iter,
                    "maxfun": 20 * max_iter,
                    "maxcor": min(self.memory, max(3, MEMORY_BYTES // (16 * start.size))),
                    "gtol": tol,
                    "ftol": tol**2,
                },
            )
        check_cost(float(result.fun))
        return result
