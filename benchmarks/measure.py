"""Time two things in turn and compare the best of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, against what, and what it should be at most."""

    name: str
    seconds: float
    against: str
    reference: float
    target: float

    @property
    def ratio(self) -> float:
        """How many times the reference."""
        return self.seconds / self.reference

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.ratio <= self.target


def best_of(*functions: Callable[[], object], repeats: int = 7) -> list[float]:
    """Run the functions in turn and give the shortest time of each."""
    times = [float("inf")] * len(functions)
    for function in functions:
        function()
    for _ in range(repeats):
        for index, function in enumerate(functions):
            start = perf_counter()
            function()
            times[index] = min(times[index], perf_counter() - start)
    return times
