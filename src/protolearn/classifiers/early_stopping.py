"""Early stopping: some rows are held out, and the best codebook on them is kept."""

from __future__ import annotations

import numpy as np

from .._arrays import Floats, Indices
from ..blocks import Block, Blocks
from ..codebook import Codebook
from ..objective import Cost, mean_cost
from ..solvers import Callback, State
from ..store import Record

PATIENCE = 10
"""Iterations without progress on the held-out rows after which a fit ends."""


def hold_out(
    block: Block, fraction: float, kept: Indices, rng: np.random.RandomState
) -> tuple[Block, Block]:
    """Return the rows in two parts, the same share of each class as far as whole rows allow.

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


class EarlyStopping:
    """A callback that follows the cost of held-out rows and keeps the best codebook.

    Parameters
    ----------
    cost : Objective or ErrorCount
        What a row costs.
    held : Blocks
        The rows.
    tol : float
        Share by which the cost has to fall to count as progress.
    callback : callable or None
        The next callback.
    record : callable
        Calls each sum of costs, and may know its result.
    """

    def __init__(
        self, cost: Cost, held: Blocks, tol: float, callback: Callback | None, record: Record
    ):
        self.curve: list[float] = []
        self.best: Codebook | None = None
        self._cost, self._held, self._tol, self._record = cost, held, tol, record
        self._callback = callback
        self._least, self._waited = np.inf, 0
        self._reference = np.inf

    def __call__(self, state: State) -> bool:
        """Note the cost; return whether to stop."""

        def held_cost(prototypes: Floats) -> float:
            return mean_cost(self._cost, state.codebook, self._held)

        cost: float = self._record(held_cost, state.codebook.prototypes)
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
