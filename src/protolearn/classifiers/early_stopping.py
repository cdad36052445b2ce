"""Early stopping: some rows are held out, and the best codebook on them is kept."""

from __future__ import annotations

import numpy as np

from .._arrays import Floats, Indices
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..solvers import Callback, State
from .learner import Learner

PATIENCE = 10
"""Iterations without progress on the held-out rows after which a fit ends."""


def hold_out(
    block: Block, fraction: float, kept: Indices, rng: np.random.RandomState
) -> tuple[Block, Block]:
    """Split the rows, the same share of each class as far as whole rows allow.

    A class keeps at least ``kept`` rows to learn from, so with few rows none may be left in the
    second part.
    """
    rows = np.bincount(block.y, minlength=len(kept))
    spare = np.maximum(rows - kept, 0)
    counts = np.minimum((fraction * rows).astype(np.intp), spare)
    missing = min(round(fraction * len(block)), int(spare.sum())) - int(counts.sum())
    if missing > 0:  # one more where the share lost most by rounding
        lost = np.where(counts < spare, fraction * rows - counts, -np.inf)
        counts[np.argsort(-lost, kind="stable")[: min(missing, int((counts < spare).sum()))]] += 1
    held = np.zeros(len(block), dtype=bool)
    for code in np.flatnonzero(counts):
        held[rng.permutation(np.flatnonzero(block.y == code))[: counts[code]]] = True
    return block.some(np.flatnonzero(~held)), block.some(np.flatnonzero(held))


def mean_cost(learner: Learner, codebook: Codebook, blocks: Blocks) -> float:
    """Give the weighted mean cost of some rows."""
    told = blocks.journal.once(
        lambda: {"sums": blocks.reduce(summed_costs, learner, codebook)}, at=codebook.prototypes
    )
    total, weight = told["sums"]
    return float(total / weight)


def summed_costs(learner: Learner, codebook: Codebook, block: Block) -> Floats:
    """Sum the costs and the weights of a block."""
    return np.array([learner.costs(codebook, block) @ block.weights, block.total_weight])


class EarlyStopping:
    """A callback that follows the cost of held-out rows and keeps the best codebook.

    Parameters
    ----------
    learner : Learner
        Who tells the cost.
    held : Blocks
        The rows.
    tol : float
        Share by which the cost has to fall to count as progress.
    callback : callable or None
        The next callback.
    """

    def __init__(self, learner: Learner, held: Blocks, tol: float, callback: Callback | None):
        self.curve: list[float] = []
        self.best: Codebook | None = None
        self._learner, self._held, self._tol = learner, held, tol
        self._callback = callback
        self._least, self._waited = np.inf, 0
        self._reference = np.inf

    def __call__(self, state: State) -> bool:
        """Note the cost; tell whether to stop."""
        cost = mean_cost(self._learner, state.codebook, self._held)
        self.curve.append(cost)
        if cost < self._least:
            self._least, self.best = cost, state.codebook.copy()
        progress = not np.isfinite(self._reference) or (
            cost < self._reference - self._tol * abs(self._reference)
        )
        self._waited = 0 if progress else self._waited + 1
        if progress:
            self._reference = cost
        stop = self._callback is not None and bool(self._callback(state))
        return stop or self._waited >= PATIENCE
