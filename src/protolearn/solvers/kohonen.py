"""Kohonen's rules: which prototypes a sample moves, and how far; they follow no gradient.

A rule looks at the distances of one sample. With a distance delta and the learning rate eta a
prototype moves by ``w -= g eta d delta / dw`` (Biehl, eq. 5.9), where g is half of what the rule
says: for the squared Euclidean distance, ``w += 2 g eta (x - w)``. Unless rates are raw, steps of
other distances are multiplied by ``Distance.stride``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from operator import call
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np

from .._arrays import Floats
from ..blocks import Blocks
from ..codebook import Codebook
from ..native import Native, native
from ..objective import OWN_AND_RIVAL, PULL, Axes, ErrorCount, mean_cost
from ..store import Record
from .batch_solver import Callback, Memory, Rng, SolverResult, State
from .sequential import SequentialSolver
from .stochastic import PATIENCE

MOST_EPOCHS = 10
"""Epochs when the user names none."""


@numba.njit
def nearest(d):
    """Return the index of the smallest distance, the first of equal ones."""
    best = 0
    for k in range(1, d.size):
        if d[k] < d[best]:
            best = k
    return best


@numba.njit
def second_nearest(d, first):
    """Return the index of the smallest distance but one; -1 if there is none."""
    second = -1
    for k in range(d.size):
        if k != first and (second < 0 or d[k] < d[second]):
            second = k
    return second


@numba.njit
def pull_and_push(first, second, row, same, theta, entries, g):
    """Attract the right one of two and repel the other, if the sample lies in the window.

    The window asks that the ratio of unsquared distances exceed a bound, ``theta[0]``;
    ``theta[1]`` is 1 where the distance is squared.
    """
    near, far = row[first], row[second]
    if same[first] == same[second] or near <= 0.0:
        return
    ratio = near / far
    if (math.sqrt(ratio) if theta[1] > 0.0 else ratio) > theta[0]:
        entries[0], entries[1] = first, second
        g[0], g[1] = (0.5, -0.5) if same[first] else (-0.5, 0.5)


@native(PULL)
def lvq1(row, same, axes, entries, d, g, work):
    """Move the nearest prototype: to the sample if it is right, away from it if not."""
    k = nearest(row)
    g[:] = 0.0
    entries[0], g[0] = k, 0.5 if same[k] else -0.5
    return 0.0 if same[k] else 1.0


@native(PULL)
def olvq1(row, same, axes, entries, d, g, work):
    """Do the same with a rate for each prototype: it falls with each hit, rises with each miss.

    First ``eta <- min(eta(0), eta / (1 + psi eta))``, then the move with the new rate; ``theta[3]``
    is eta(0), by which the loop multiplies.
    """
    k, rates, first_rate = nearest(row), axes.loss_theta, axes.margin_theta[3]
    psi = 1.0 if same[k] else -1.0
    rates[k] = min(first_rate, rates[k] / (1.0 + psi * rates[k]))
    g[:] = 0.0
    entries[0], g[0] = k, 0.5 * psi * (rates[k] / first_rate)
    return 0.0 if same[k] else 1.0


@native(PULL)
def lvq21(row, same, axes, entries, d, g, work):
    """Move the two nearest, if one of them is right and the sample lies in the window."""
    first = nearest(row)
    second = second_nearest(row, first)
    g[:] = 0.0
    if second >= 0:
        pull_and_push(first, second, row, same, axes.margin_theta, entries, g)
    return 0.0 if same[first] else 1.0


@native(PULL)
def lvq3(row, same, axes, entries, d, g, work):
    """Do the same, and where both are right attract both a little, by ``theta[2]``."""
    first = nearest(row)
    second = second_nearest(row, first)
    g[:] = 0.0
    if second >= 0 and same[first] and same[second]:
        entries[0], entries[1] = first, second
        g[:] = 0.5 * axes.margin_theta[2]
    elif second >= 0:
        pull_and_push(first, second, row, same, axes.margin_theta, entries, g)
    return 0.0 if same[first] else 1.0


class Rule(NamedTuple):
    """A rule, and the samples it learns from when the user names no number of epochs."""

    pull: Native
    most_steps: int


RULES = {
    "lvq1": Rule(lvq1, 40_000),  # more of them drive prototypes away where many samples are wrong
    "olvq1": Rule(olvq1, 500_000),
    "lvq21": Rule(lvq21, 500_000),
    "lvq3": Rule(lvq3, 500_000),
}


@dataclass(eq=False, repr=False)
class Kohonen(SequentialSolver):
    """Follows a rule, one sample at a time; parameters as of the classifiers.

    ``keep_best``: keep the prototypes with the fewest training errors, not those of the last
    epoch. Rules lower no cost, and too many epochs may drive prototypes away.
    """

    rule: str
    learning_rate: float = 0.05
    schedule: str = "linear"
    decay: float = 1e-4
    least_rate: float | None = None
    metric_rate: float = 0.01
    shuffle: bool = True
    window: float = 0.1
    epsilon: float = 0.25
    keep_best: bool = False
    n_iter_no_change: int | None = PATIENCE
    raw_rates: bool = False
    limits_metric: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the rule."""
        return self.rule

    def check(self, *axes: Any) -> None:
        """Raise: a rule lowers no cost function."""
        raise ValueError(
            f"solver={self!r} follows a rule, which minimises no cost; use LVQ1, OLVQ1, LVQ21 or "
            "LVQ3 itself."
        )

    def default_max_iter(self, n_samples: int) -> int:
        """Return the number of epochs when the user names none: fewer for many rows."""
        return int(np.clip(RULES[self.rule].most_steps // n_samples, 1, MOST_EPOCHS))

    def minimize(
        self,
        cost: ErrorCount,
        codebook: Codebook,
        blocks: Blocks,
        rng: Rng,
        *,
        callback: Callback | None = None,
        record: Record = call,
        **budget: Any,
    ) -> SolverResult:
        """Follow the rule for ``max_iter`` epochs; the cost is the share of errors met."""
        kept = FewestErrors(cost, codebook, blocks, callback, record) if self.keep_best else None
        result = super().minimize(
            cost, codebook, blocks, rng, callback=kept or callback, record=record, **budget
        )
        if kept is None:
            return result
        return replace(result, codebook=kept.best, memory=kept.memory)

    def pull(
        self, cost: ErrorCount, codebook: Codebook, memory: Memory
    ) -> tuple[Native, Axes, int]:
        """Return the rule and its parameters; it moves two prototypes at most."""
        pull = RULES[self.rule].pull
        bound = (1.0 - self.window) / (1.0 + self.window)
        first = self.first_rate(cost.distance)
        theta = np.array([bound, float(bool(cost.distance.squared)), self.epsilon, first])
        theta.flags.writeable = False
        rates = np.empty(0)
        if pull is olvq1:
            rates = memory.by_prototype.setdefault("rate", np.zeros(len(codebook.labels)))
            rates[rates == 0.0] = first  # prototypes that have just begun
        unused = (pull.address,) * 3
        inverse_scale = 1.0 if self.raw_rates else 1.0 / cost.scale
        axes = Axes(*unused, theta, rates, 0.0, inverse_scale, OWN_AND_RIVAL)
        return pull, axes, 2

    def stride(self, cost: ErrorCount, codebook: Codebook) -> float:
        """Return the factor that brings other distances to the steepness of the Euclidean one."""
        return 1.0 if self.raw_rates else cost.distance.stride(codebook)


@dataclass
class FewestErrors:
    """A callback that keeps the best codebook on the training rows, of equal ones the last."""

    cost: ErrorCount
    best: Codebook
    blocks: Blocks
    callback: Callback | None
    record: Record
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        self._least = self._errors(self.best)

    def __call__(self, state: State) -> bool:
        """Note the errors; pass the state on."""
        errors = self._errors(state.codebook)
        if errors <= self._least:
            self.best, self.memory = state.codebook.copy(), state.memory.copy()
            self._least = errors
        return self.callback is not None and bool(self.callback(state))

    def _errors(self, codebook: Codebook) -> float:
        def errors(prototypes: Floats) -> float:
            return mean_cost(self.cost, codebook, self.blocks)

        return float(self.record(errors, codebook.prototypes))
