"""Of the start and what each epoch reaches, keep what makes the fewest errors."""

from __future__ import annotations

from ..blocks import Blocks
from ..codebook import Codebook
from ..solvers import Callback, Memory, State
from .early_stopping import mean_cost
from .learner import Learner


class FewestErrors:
    """A callback that keeps the best codebook on the training rows, of equal ones the last.

    Parameters
    ----------
    learner : Learner
        Who tells the cost of a row: one, if it is classified wrongly.
    start : Codebook
        Where learning begins.
    blocks : Blocks
        The training rows.
    memory : Memory
        What the learner remembers; as it was then, it is kept with the codebook.
    callback : callable or None
        The next callback.
    """

    def __init__(
        self,
        learner: Learner,
        start: Codebook,
        blocks: Blocks,
        memory: Memory,
        callback: Callback | None,
    ):
        self._learner, self._blocks, self._callback = learner, blocks, callback
        self._present = memory
        self.best, self.memory = start, memory.copy()
        self._least = mean_cost(learner, start, blocks)

    def __call__(self, state: State) -> bool:
        """Note the errors; pass the state on."""
        errors = mean_cost(self._learner, state.codebook, self._blocks)
        if errors <= self._least:
            self.best, self.memory = state.codebook.copy(), self._present.copy()
            self._least = errors
        return self._callback is not None and bool(self._callback(state))
