"""Training by a cost function: a loss of a margin of distances, and a solver that lowers it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._arrays import Floats
from .._validation import check_number, number_in, resolve
from ..blocks import Block, Blocks, MemoryBlocks
from ..codebook import Codebook
from ..distances import Distance
from ..losses import Loss
from ..margins import Margin
from ..objective import Objective
from ..prototypes import SMALLEST_SCALE, FirstDistances
from ..solvers import SOLVERS, Callback, Memory, Solver, SolverResult, StochasticSolver
from .decision import Decision
from .problem import HIGH_CONTRAST, Problem
from .shared import OF_COSTS, TrainingParameters
from .slope import slope_factor, steepened
from .solver_choice import automatic_solver
from .trained import TrainedClassifier


@dataclass(frozen=True)
class CostLearner:
    """An objective and the solver that lowers it.

    ``trusted`` tells that whatever it reaches is kept: the solver was asked for, or cannot make the
    cost higher than it was.
    """

    objective: Objective
    solver: Solver
    decision: Decision
    problem: Problem
    trusted: bool

    @property
    def name(self) -> str:
        """What ``solver_`` tells."""
        return self.solver.name

    @property
    def advice(self) -> str:
        """What to do if it finds nothing better than the start."""
        return (
            "Its slope or sharpness (beta or xi) may be out of proportion to the data: take "
            "another one, or another model, or name a solver to keep what it reaches."
        )

    def for_trial(self) -> CostLearner:
        """Give the same for a trial whose outcome held-out rows judge."""
        return self

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of iterations when the user names none."""
        return self.solver.default_max_iter(n_samples)

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
        """Learn from all the data, from the beginning."""
        return self.solver.minimize(
            self.objective, codebook, blocks, rng, max_iter=max_iter, tol=tol, callback=callback
        )

    def one_pass(
        self, codebook: Codebook, blocks: Blocks, memory: Memory, rng: np.random.RandomState
    ) -> float:
        """Go on learning, in place, from some more data; give the mean cost met on the way."""
        assert isinstance(self.solver, StochasticSolver)
        return self.solver.one_pass(self.objective, codebook, blocks, memory, rng)

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Give the cost of each row, to judge a codebook by."""
        return self.objective.costs(codebook, block)

    def wrong(self, codebook: Codebook, block: Block) -> float:
        """Give the weight of the rows that are classified wrongly."""
        objective, wrong = self.objective, 0.0
        for chunk in block.chunks(objective.distance.effort(codebook)):
            D = objective.distance.pairwise(chunk.X, codebook, chunk.prepared) / objective.scale
            scores = self.decision.scores(D, codebook.labels, objective.n_classes)
            wrong += float(chunk.weights @ (scores.argmax(axis=1) != chunk.y))
        return wrong

    def makes_worse(self, start: Codebook, reached: Codebook, blocks: Blocks) -> bool:
        """Tell whether more rows are classified wrongly than in the beginning."""
        if self.trusted or not isinstance(blocks, MemoryBlocks):  # elsewhere a look takes long
            return False
        before, after = (blocks.reduce(self.wrong, codebook) for codebook in (start, reached))
        return bool(after > before)


class CostFunctionClassifier(TrainedClassifier):
    """A classifier that lowers ``loss(margin(distance(x, prototypes)))``.

    A subclass names its parts in ``_axes``.
    """

    slope_factor_: float
    _told = OF_COSTS

    def __init__(
        self,
        *,
        solver: Any = "auto",
        attraction: float = 0.0,
        scale: Any = "data",
        **training: Unpack[TrainingParameters],
    ):
        super().__init__(**training)
        self.solver = solver
        self.attraction = attraction
        self.scale = scale

    @abstractmethod
    def _axes(self) -> tuple[Distance, Margin, Loss]:
        """Name the distance, the margin and the loss."""

    def _is_soft(self) -> bool:
        """Tell whether all prototypes decide, by their posterior."""
        return False

    def _named_distance(self) -> Distance:
        return self._axes()[0]

    def _first_distances(
        self, form: Distance, codebook: Codebook, blocks: Blocks
    ) -> FirstDistances:
        if not isinstance(self.scale, str):
            return FirstDistances(float(self.scale), HIGH_CONTRAST)  # distances as they are
        return super()._first_distances(form, codebook, blocks)

    def _objective(self, distance: Distance, problem: Problem) -> Objective:
        """Put the axes together; raise if a parameter of theirs is wrong."""
        _, margin, loss = (clone(axis) for axis in self._axes())
        margin = margin.suited_to(distance)
        margin.theta()
        loss.theta()
        attraction = check_number(self, "attraction", low=0.0)
        if not isinstance(self.scale, str) or self.scale != "data":
            number_in(self.scale, "scale={value!r} must be 'data', or it", SMALLEST_SCALE)
        margin, loss, times = steepened(margin, loss, slope_factor(distance, loss, problem))
        return Objective(
            distance, margin, loss, problem.n_classes, attraction, problem.scale, times
        )

    def _learner(self, distance: Distance, problem: Problem) -> CostLearner:
        objective = self._objective(distance, problem)
        solver = self._solver(objective, problem)
        sharpness = objective.margin.sharpness
        decision = Decision(self._is_soft(), sharpness, sharpness * objective.loss.sharpness)
        automatic = isinstance(self.solver, str) and self.solver == "auto"
        trusted = not (automatic and isinstance(solver, StochasticSolver))
        return CostLearner(objective, solver, decision, problem, trusted)

    def _store(
        self, codebook: Codebook, learner: Any, distance: Distance, classes: NDArray[Any]
    ) -> None:
        super()._store(codebook, learner, distance, classes)
        self.slope_factor_ = learner.objective.slope_factor

    def _takes_sparse(self) -> bool:
        if isinstance(self.solver, str) and self.solver == "auto":
            return True
        solver = SOLVERS.get(self.solver) if isinstance(self.solver, str) else self.solver
        return bool(getattr(solver, "takes_sparse", True))

    def _solver(self, objective: Objective, problem: Problem) -> Solver:
        """Choose the solver, and check that it fits the axes and the data."""
        if isinstance(self.solver, str) and self.solver == "auto":
            return automatic_solver(objective, problem)
        solver = resolve(self, "solver", SOLVERS, Solver, "auto")  # type: ignore[type-abstract]
        solver.check(objective.loss, objective.margin, objective.distance)
        if problem.stream and isinstance(self.solver, str):
            solver = type(solver).for_stream()
        if problem.stream:
            solver.check_streaming()
        return solver
