"""Time two things in turn and compare the best of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Protocol


class Line(Protocol):
    """One line of a table."""

    def line(self) -> str:
        """Give the line as it is printed."""

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""


@dataclass(frozen=True)
class Table:
    """Lines under a heading; they come one after the other, as they are measured."""

    heading: str
    lines: Iterator[Line]


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

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.name:<42}{self.seconds:>10.4f}{self.ratio:>8.2f}{self.target:>9.2f}   "
            f"{self.against}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


HEADING = f"{'what':<42}{'seconds':>10}{'ratio':>8}{'at most':>9}   against"
"""The heading over lines of :class:`Row`."""


def mark(met: bool) -> str:
    """Give the end of a line."""
    return "" if met else "   MISSED"


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
