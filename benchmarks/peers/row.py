"""The lines of the tables: beside a peer, alone, and left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..measure import mark

ROUNDING = 1e-9
"""By how much of itself a loss may exceed the one to be reached; so for accuracies, below it."""


@dataclass(frozen=True)
class Comparison:
    """A peer beside ours: seconds, accuracy on the test rows, and how many times faster ours is.

    Attributes
    ----------
    name, peer : str
        What was measured, and against whom.
    ours, theirs : float
        Seconds.
    accuracy, their_accuracy : float
        Shares of test rows.
    at_least : float or None
        What the ratio should be at least; None where there is no target.
    least_accuracy : float
        What our accuracy should be at least.
    loss, their_loss : float
        Training losses, where ours had to come as low as that of the peer.
    stopped : bool
        Whether the peer was stopped before it ended: it takes more than these seconds.
    """

    name: str
    peer: str
    ours: float
    theirs: float
    accuracy: float
    their_accuracy: float
    at_least: float | None
    least_accuracy: float = 0.0
    loss: float = 0.0
    their_loss: float = 0.0
    stopped: bool = False

    @property
    def ratio(self) -> float:
        """How many times faster ours is, at least."""
        return self.theirs / self.ours

    @property
    def as_low(self) -> bool:
        """Whether the loss of the peer was reached, but for rounding."""
        return self.loss <= self.their_loss * (1.0 + ROUNDING)

    @property
    def met(self) -> bool:
        """Whether all that was asked is met."""
        fast = self.at_least is None or self.ratio >= self.at_least
        return fast and self.as_low and self.accuracy >= self.least_accuracy - ROUNDING

    def line(self) -> str:
        """Give the line as it is printed."""
        floor = f" (at least {100 * self.least_accuracy:.1f} %)" if self.least_accuracy else ""
        higher = "" if self.as_low else ", whose loss was not reached"
        more = ">" if self.stopped else ""
        return (
            f"{self.name:<44}{self.ours:>10.3g}{f'{more}{self.theirs:.3g}':>10}"
            f"{f'{more}{self.ratio:.1f}':>8}{target(self.at_least):>9}{100 * self.accuracy:>8.2f}"
            f"{100 * self.their_accuracy:>8.2f}   {self.peer}{floor}{higher}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


COMPARISONS = (
    f"{'what':<44}{'ours s':>10}{'peer s':>10}{'faster':>8}{'at least':>9}{'ours %':>8}"
    f"{'peer %':>8}   peer"
)
"""The heading over lines of :class:`Comparison`."""


@dataclass(frozen=True)
class Alone:
    """Ours against itself or a bound: a value, and how many times the reference it is."""

    name: str
    value: float
    unit: str
    against: str
    reference: float
    at_most: float | None

    @property
    def ratio(self) -> float:
        """How many times the reference."""
        return self.value / self.reference

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.at_most is None or self.ratio <= self.at_most

    def line(self) -> str:
        """Give the line as it is printed."""
        return (
            f"{self.name:<44}{self.value:>10.1f} {self.unit:<12}{self.ratio:>8.2f}"
            f"{target(self.at_most):>9}   {self.against}{mark(self.met)}"
        )

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}


ALONE = f"{'what':<44}{'value':>10} {'unit':<12}{'ratio':>8}{'at most':>9}   against"
"""The heading over lines of :class:`Alone`."""


@dataclass(frozen=True)
class LeftOut:
    """What could not be measured, and why."""

    name: str
    reason: str

    def line(self) -> str:
        """Give the line as it is printed."""
        return f"{self.name:<44}left out: {self.reason}"

    def record(self) -> dict[str, Any]:
        """Give the line as it is written."""
        return asdict(self)


def target(number: float | None) -> str:
    """Write a target, or that there is none."""
    return "-" if number is None else f"{number:g}"
