"""What a solver is: it lowers the objective from a starting codebook."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ..blocks import Blocks
from ..codebook import Codebook
from ..distances import Distance
from ..losses import Loss
from ..margins import Margin
from ..objective import Objective
from .memory import Memory


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
    """

    iteration: int
    loss: float
    codebook: Codebook
    elapsed: float
    distance: Distance


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


class Progress:
    """Collects the loss curve and tells the callback, which may end the fit."""

    def __init__(self, callback: Callback | None, distance: Distance):
        self.loss_curve: list[float] = []
        self.stopped = False
        self._callback = callback
        self._distance = distance
        self._start = perf_counter()

    def report(self, loss: float, codebook: Codebook) -> bool:
        """Note one more iteration; tell whether to stop."""
        check_cost(loss)
        self.loss_curve.append(loss)
        if self._callback is None:
            return False
        elapsed = perf_counter() - self._start
        state = State(len(self.loss_curve), loss, codebook, elapsed, self._distance)
        self.stopped = bool(self._callback(state))
        return self.stopped


def check_cost(loss: float) -> None:
    """Raise if the cost has left the range of numbers."""
    if not math.isfinite(loss):
        raise ValueError(
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
        """Give the solver with settings for data without end."""
        return cls()

    @abstractmethod
    def check_settings(self) -> None:
        """Raise if a setting is out of range."""

    @abstractmethod
    def default_max_iter(self, n_samples: int) -> int:
        """Give the number of iterations when the user names none."""

    @abstractmethod
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
        """Lower the objective and give the codebook reached."""
