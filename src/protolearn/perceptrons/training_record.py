"""What can be watched while a unit learns: lines, states for a callback, and the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._arrays import Floats, Indices
from .examples import Examples, best_threshold


@dataclass(frozen=True)
class TrainingState:
    """Where a unit stands; what ``callback`` receives after every sweep or step.

    Parameters
    ----------
    name : str
        What the unit is to separate.
    n_iter : int
        The number of the sweep; 0 before the first.
    example : int
        The example that was presented; -1 if the record is by sweep.
    coef : array of shape (n_features,) or None
        The weights, of a committee one line a unit; None in the feature space of a kernel.
    intercept : float or array of shape (n_units,)
        Minus the threshold.
    embedding_strengths : array of shape (n_samples,)
        The embedding strengths.
    potentials : array of shape (n_samples,)
        The local potentials ``E``.
    stability : float
        The least ``E / |w|``; 0 without weights.
    """

    name: str
    n_iter: int
    example: int
    coef: Floats | None
    intercept: Any
    embedding_strengths: Floats
    potentials: Floats
    stability: float

    @property
    def errors(self) -> int:
        """The number of examples with ``E <= 0``."""
        return int(np.count_nonzero(self.potentials <= 0.0))

    def cost(self, k: float = 1.0, c: float = 0.0) -> float:
        """Return ``sum (c - E)^k`` over the examples with ``E < c``."""
        return power_cost(self.potentials, k, c)


def power_cost(potentials: Floats, k: float, c: float) -> float:
    """Return the cost ``H^[k]``, the sum of ``(c - E)^k`` where ``E < c``."""
    lacking = c - potentials[potentials < c]
    return float((lacking**k).sum())


@dataclass
class Training:
    """One unit in training: how long it may take, what is printed, called and kept.

    ``unit`` is what the lines count. Lines are those of the 1st, 2nd, ..., 10th, 20th, ..., 100th,
    200th sweep and so on. A callback that returns a true value ends the training.
    """

    name: str
    max_iter: int
    verbose: int = 0
    callback: Callable[[TrainingState], object] | None = None
    record: Any = False  # False, True or "sweep", "step"
    unit: str = "sweep"
    states: list[TrainingState] = field(default_factory=list)
    stopped: bool = False
    _next: int = 1

    @classmethod
    def of(cls, model: Any, name: str, max_iter: int | None = None) -> Training:
        """Return the training of a model's unit, of ``max_iter`` sweeps or as many as it has."""
        return cls(
            name,
            int(model.max_iter if max_iter is None else max_iter),
            model.verbose,
            getattr(model, "callback", None),
            getattr(model, "history", False),
        )

    @property
    def watched(self) -> bool:
        """Whether anyone asks for states."""
        return self.callback is not None or self.record is not False

    @property
    def by_step(self) -> bool:
        """Whether there is a state for each example that is presented."""
        return isinstance(self.record, str) and self.record == "step"

    def parts(self, order: Indices) -> Iterable[Indices]:
        """Return what is presented at a time: one example if someone watches each, or all."""
        return (order[k : k + 1] for k in range(len(order))) if self.by_step else (order,)

    def report(self, count: int, text: str, *, last: bool = False) -> None:
        """Print how far training has come, if enough has happened since the line before."""
        if self.verbose and (last or count >= self._next):
            print(f"{self.name}, {self.unit} {count}: {text}")
            step = 10 ** (len(str(count)) - 1)
            self._next = (count // step + 1) * step

    def see(
        self,
        examples: Examples,
        w: Floats,
        u: Floats,
        n_iter: int,
        part: Indices | None = None,
        threshold: float | None = None,
    ) -> None:
        """Keep the state of linear weights ``w`` if someone watches.

        A free threshold is the best one for the weights, if none is given.
        """
        if not self.watched:
            return
        inputs = examples.inputs
        fields, d = inputs.rows @ w, inputs.size - inputs.clamped
        theta = threshold or 0.0
        if examples.free and threshold is None:
            theta = best_threshold(fields, examples.signs)
        intercept = 0.0 - float(w[d]) if inputs.clamped else 0.0 - theta
        if inputs.center is not None:
            intercept -= float(w[:d] @ inputs.center)
        potentials, length = examples.signs * (fields - theta), float(np.linalg.norm(w))
        self.keep(u, potentials, length, n_iter, part, (w[:d].copy(), intercept))

    def keep(
        self,
        u: Floats,
        potentials: Floats,
        length: float,
        n_iter: int,
        part: Indices | None = None,
        weights: tuple[Floats | None, Any] = (None, 0.0),
    ) -> None:
        """Keep a state, and call the callback."""
        example = int(part[0]) if part is not None and self.by_step else -1
        stability = float(potentials.min()) / length if length > 0.0 else 0.0
        state = TrainingState(
            self.name, n_iter, example, *weights, u.copy(), potentials.copy(), stability
        )
        if self.record is not False:
            self.states.append(state)
        if self.callback is not None:
            self.stopped = bool(self.callback(state)) or self.stopped

    def history(self) -> dict[str, Any]:
        """Return the states as arrays, one line a state, the first before any step."""
        names = ["n_iter", "example", "embedding_strengths", "potentials", "stability", "errors"]
        if self.states and self.states[0].coef is not None:
            names += ["coef", "intercept"]
        return {name: np.array([getattr(each, name) for each in self.states]) for name in names}
