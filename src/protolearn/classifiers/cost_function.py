"""Training by a cost function: a loss of a margin of distances, and a solver that lowers it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from sklearn.base import clone

from .._parameters import Codebook, Floats
from .._validation import check_number, number_in, resolve
from ..blocks import Block, Blocks, MemoryBlocks
from ..distances import Distance
from ..losses import Loss
from ..margins import Margin
from ..objective import Objective
from ..prototypes import SMALLEST_SCALE
from ..solvers import SOLVERS, Adam, Callback, Memory, Solver, SolverResult, StochasticSolver
from .decision import Decision
from .shared import TrainingParameters
from .trained import TrainedClassifier

BATCH_WORK = 200_000_000
"""Multiplications for all distances above which ``auto`` takes one sample after the other."""

BLOCK_WORK = 2_000_000_000
"""The same where the alternative is mini-batches."""

SPARSE_BATCH = 256
"""Sparse samples a step: the step itself goes through all features, and takes as long as many."""


@dataclass(frozen=True)
class CostLearner:
    """An objective and the solver that lowers it.

    ``trusted`` tells that whatever it reaches is kept: the solver was asked for, or cannot make the
    cost higher than it was.
    """

    objective: Objective
    solver: Solver
    decision: Decision
    trusted: bool

    @property
    def name(self) -> str:
        """What ``solver_`` tells."""
        return self.solver.name

    @property
    def scale(self) -> float:
        """The unit of distance."""
        return self.objective.scale

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

    def _given_scale(self) -> float | None:
        return None if isinstance(self.scale, str) else float(self.scale)

    def _learner(
        self,
        distance: Distance,
        n_classes: int,
        scale: float,
        n_prototypes: int = 0,
        work: float = 0.0,
        *,
        stream: bool = False,
        elsewhere: bool = False,
    ) -> CostLearner:
        _, margin, loss = (clone(axis) for axis in self._axes())
        margin = margin.suited_to(distance)
        margin.theta()
        loss.theta()
        attraction = check_number(self, "attraction", low=0.0)
        if not isinstance(self.scale, str) or self.scale != "data":
            number_in(self.scale, "scale={value!r} must be 'data', or it", SMALLEST_SCALE)
        decision = Decision(self._is_soft(), margin.sharpness, margin.sharpness * loss.sharpness)
        objective = Objective(distance, margin, loss, n_classes, attraction, scale)
        solver = self._solver(objective, n_prototypes, work, stream, elsewhere)
        automatic = isinstance(self.solver, str) and self.solver == "auto"
        trusted = not (automatic and isinstance(solver, StochasticSolver))
        return CostLearner(objective, solver, decision, trusted)

    def _takes_sparse(self) -> bool:
        if isinstance(self.solver, str) and self.solver == "auto":
            return True
        solver = SOLVERS.get(self.solver) if isinstance(self.solver, str) else self.solver
        return bool(getattr(solver, "takes_sparse", True))

    def _solver(
        self,
        objective: Objective,
        n_prototypes: int,
        work: float,
        stream: bool,
        elsewhere: bool,
    ) -> Solver:
        """Choose the solver, and check that it fits the axes and the data."""
        axes = objective.loss, objective.margin, objective.distance
        if isinstance(self.solver, str) and self.solver == "auto":
            name = automatic_solver(objective, n_prototypes, work, stream, elsewhere)
            kind = SOLVERS[name]
            if stream:
                return kind.for_stream()
            sparse = name == "adam" and objective.distance.takes_only_sparse
            return Adam(batch_size=SPARSE_BATCH) if sparse else kind()
        solver = resolve(self, "solver", SOLVERS, Solver, "auto")  # type: ignore[type-abstract]
        solver.check(*axes)
        if stream and isinstance(self.solver, str):
            solver = type(solver).for_stream()
        if stream:
            solver.check_streaming()
        return solver


def automatic_solver(
    objective: Objective,
    n_prototypes: int,
    work: float,
    stream: bool = False,
    elsewhere: bool = False,
) -> str:
    """Name the solver for some axes and an amount of data.

    Where rows are elsewhere it takes as few sums over them as it can.

    L-BFGS finds the minimum where the cost is about as tame as that of a linear model: one
    prototype a class, and a loss that does not level off for margins that grow without bound.
    Otherwise there are many minima, and passes that learn from every sample come, in less time, to
    ones that are as good on held-out rows or better. Steps of mini-batches through sparse rows take
    long, so there L-BFGS has all costs that do not level off; and with one prototype a class those
    that do, if all prototypes count and not the nearest alone.
    """
    smooth = objective.distance.smooth and objective.margin.smooth and objective.loss.smooth
    sparse = objective.distance.takes_only_sparse
    levels_off = objective.loss.bounded and not objective.margin.bounded
    one_each = n_prototypes <= objective.n_classes
    blockwise = objective.distance.blockwise
    if sparse:
        fits = not levels_off or (one_each and objective.margin.winners is None)
    else:
        small = work <= (BLOCK_WORK if blockwise else BATCH_WORK)
        fits = one_each and not levels_off and small
    if smooth and not stream and (elsewhere or fits):
        return "lbfgs"
    return "adam" if sparse or blockwise or elsewhere else "sgd"
