"""How much time a command has left."""

from __future__ import annotations

from time import monotonic

SHORTEST = 0.05
"""Seconds that any part of the work is given."""

ENDING = 3.0
"""Seconds that are kept for a fit that takes longer than expected, and for the files at the end."""

MOST_OF_IT = 0.25
"""But not more than this share of the time."""


class Clock:
    """Deal out the seconds that a command may take.

    Parameters
    ----------
    seconds : float or None
        All of them; None: there is no end.
    spent : float
        Seconds that are over already: to start Python takes some.
    """

    def __init__(self, seconds: float | None, spent: float = 0.0):
        self.seconds = seconds
        self._start = monotonic() - spent

    @property
    def elapsed(self) -> float:
        """The seconds since the beginning."""
        return monotonic() - self._start

    @property
    def left(self) -> float:
        """The seconds that are left for work, without those kept for the end."""
        if self.seconds is None:
            return float("inf")
        return self.seconds - min(ENDING, MOST_OF_IT * self.seconds) - self.elapsed

    def share(self, n_parts: int) -> float | None:
        """Return the seconds for the next of so many equal parts; None: no end."""
        return None if self.seconds is None else max(self.left / n_parts, SHORTEST)
