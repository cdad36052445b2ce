"""Lines about training, for those who wait."""

from __future__ import annotations


class Progress:
    """Print a line for the 1st, 2nd, ..., 10th, 20th, ..., 100th, 200th sweep and so on.

    Parameters
    ----------
    verbose : int
        Whether to print at all.
    name : str
        What is learned.
    unit : str
        What is counted.
    """

    def __init__(self, verbose: int, name: str, unit: str = "sweep"):
        self.verbose, self.name, self.unit = verbose, name, unit
        self._next = 1

    def tell(self, count: int, text: str, *, last: bool = False) -> None:
        """Print how far training has come, if enough has happened since the line before."""
        if self.verbose and (last or count >= self._next):
            print(f"{self.name}, {self.unit} {count}: {text}")
            step = 10 ** (len(str(count)) - 1)
            self._next = (count // step + 1) * step
