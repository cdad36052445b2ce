"""Full-batch quasi-Newton: SciPy's L-BFGS-B on the flat vector of a codebook."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from .._parameters import Codebook, Coordinates, Floats
from .._threads import one_blas_thread
from .._validation import check_integer
from ..blocks import Blocks
from ..objective import Objective
from .base import Callback, Progress, Solver, SolverResult, check_cost
from .memory import Memory

MEMORY_BYTES = 1 << 26
"""What the past steps may take; with very many prototypes and features fewer are kept."""

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
        """Give the number of iterations when the user names none."""
        return 1000

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
        """Lower the objective until no derivative exceeds ``tol``, or the cost hardly falls."""
        constraint = objective.distance.constraint if objective.distance.adaptive else None
        coordinates = Coordinates(codebook, objective.unit, constraint)
        start = coordinates.flatten(codebook)
        progress = Progress(callback)
        blocks = blocks.prepared(objective.distance, codebook)

        def evaluate(flat: Floats) -> tuple[float, Floats]:
            present = coordinates.codebook(flat)
            total = blocks.reduce(objective.partial, present)
            gradient = coordinates.gradient(flat, total.gradients) / total.weight
            return total.value / total.weight, gradient

        def after_iteration(intermediate_result: OptimizeResult) -> None:
            present = coordinates.codebook(intermediate_result.x)
            if progress.report(float(intermediate_result.fun), present):
                raise StopIteration

        work = blocks.n_samples * codebook.prototypes.size
        with one_blas_thread() if work < SMALL_WORK else nullcontext():
            result = minimize(
                evaluate,
                start,
                jac=True,
                method="L-BFGS-B",
                callback=after_iteration,
                options={
                    "maxiter": max_iter,
                    "maxfun": 20 * max_iter,
                    "maxcor": min(self.memory, max(3, MEMORY_BYTES // (16 * start.size))),
                    "gtol": tol,
                    "ftol": tol**2,
                },
            )
        check_cost(float(result.fun))
        return SolverResult(
            coordinates.codebook(result.x),
            progress.loss_curve or [float(result.fun)],
            max(int(result.nit), 1),
            result.status != 1,
            Memory(steps=blocks.n_samples),
        )
