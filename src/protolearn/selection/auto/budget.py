"""How much may be tried: a number of fits, and seconds."""

from __future__ import annotations

from time import monotonic


class Budget:
    """What is left of the fits and of the time.

    Parameters
    ----------
    max_fits : int or None
        Fits that may be made.
    seconds : float or None
        Time within which fits may begin.

    Attributes
    ----------
    n_fits : int
        Fits that have been made.
    """

    def __init__(self, max_fits: int | None, seconds: float | None):
        self.max_fits = max_fits
        self.seconds = seconds
        self.n_fits = 0
        self._start = monotonic()

    @property
    def elapsed(self) -> float:
        """The seconds since the beginning."""
        return monotonic() - self._start

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and self.elapsed >= self.seconds

    def left(self, n_fits: int, timeless: bool = False) -> int:
        """Return how many of some fits may begin now; the very first always may.

        ``timeless``: among them are some that take no time.
        """
        if self.n_fits and not timeless and self.over:
            return 0
        return n_fits if self.max_fits is None else min(n_fits, self.max_fits - self.n_fits)

    def reason(self) -> str:
        """Return which limit was met."""
        if self.max_fits is not None and self.n_fits >= self.max_fits:
            return f"max_fits={self.max_fits} was reached"
        rest = "were over" if self.over else "leave no time for more"
        return f"time_budget={self.seconds:g} seconds {rest}"
