"""What is remembered from one pass over the data to the next."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices


@dataclass
class Memory:
    """What a learner remembers between passes, so that learning can go on at any time.

    Attributes
    ----------
    steps : int
        Samples seen.
    updates : int
        Steps taken; fewer than samples where several make one step.
    by_prototype : dict of arrays (K, ...)
        Numbers kept for each prototype, such as its velocity.
    by_group : dict of arrays (groups, ...)
        Numbers kept for each row of the metric.
    """

    steps: int = 0
    updates: int = 0
    by_prototype: dict[str, Floats] = field(default_factory=dict)
    by_group: dict[str, Floats] = field(default_factory=dict)

    def copy(self) -> Memory:
        """Copy everything."""
        return deepcopy(self)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give everything, to be put down."""
        parts = ("prototype", self.by_prototype), ("group", self.by_group)
        named = {f"{kind} {name}": a for kind, kept in parts for name, a in kept.items()}
        return {"counts": np.array([self.steps, self.updates]), **named}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Remember again what ``arrays`` gave."""
        self.steps, self.updates = arrays["counts"].tolist()
        for key, array in arrays.items():
            kind, _, name = key.partition(" ")
            if kind in ("prototype", "group"):
                (self.by_prototype if kind == "prototype" else self.by_group)[name] = array

    def rearranged(self, prototypes: Indices, groups: Indices) -> Memory:
        """Give the memory of a codebook that takes these old rows; -1 is a new one, with zeros."""
        return Memory(
            self.steps,
            self.updates,
            {name: rows_or_zeros(a, prototypes) for name, a in self.by_prototype.items()},
            {name: rows_or_zeros(a, groups) for name, a in self.by_group.items()},
        )


def rows_or_zeros(array: Floats, rows: Indices) -> Floats:
    """Take rows of an array, zeros where a row is -1."""
    taken = array[rows]
    taken[rows < 0] = 0.0
    return taken
