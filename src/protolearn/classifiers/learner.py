"""What a classifier trains with: a cost and its solver, or a heuristic rule."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._arrays import Floats
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..solvers import Callback, Memory, SolverResult
from .decision import Decision
from .problem import Problem


class Learner(Protocol):
    """Moves the prototypes of a codebook."""

    @property
    def name(self) -> str:
        """What ``solver_`` tells."""

    @property
    def advice(self) -> str:
        """What to do if it finds nothing better than the start."""

    @property
    def problem(self) -> Problem:
        """What it knows of the data."""

    @property
    def decision(self) -> Decision:
        """How the fitted model decides."""

    def for_trial(self) -> Learner:
        """Give the same for a trial whose outcome held-out rows judge."""

    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of iterations when the user names none."""

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

    def one_pass(
        self, codebook: Codebook, blocks: Blocks, memory: Memory, rng: np.random.RandomState
    ) -> float:
        """Go on learning, in place, from some more data; give the mean cost met on the way."""

    def costs(self, codebook: Codebook, block: Block) -> Floats:
        """Give the cost of each row, to judge a codebook by."""

    def makes_worse(self, start: Codebook, reached: Codebook, blocks: Blocks) -> bool:
        """Tell whether what was reached had better not be kept."""
