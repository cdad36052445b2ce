"""What a fit prints while it runs."""

from __future__ import annotations

from typing import Any

from ..solvers import State
from .settings import Settings

LINES = 20


class Reporter:
    """A callback that prints progress and calls the user's.

    Parameters
    ----------
    settings : Settings
        Tell how much to print.
    solver : str
        What works.
    max_iter : int
        Most iterations.
    """

    def __init__(self, settings: Settings, solver: str, max_iter: int):
        self._settings = settings
        self._every = 1 if settings.verbose > 1 else max(max_iter // LINES, 1)
        self._last: State | None = None
        print(f"[{settings.name}] solver {solver}, at most {max_iter} iterations")

    def __call__(self, state: State) -> object:
        """Print some of the iterations; return what the user's callback returns."""
        self._last = state
        if state.iteration == 1 or state.iteration % self._every == 0:
            print(line(self._settings.name, state), flush=True)
        callback = self._settings.callback
        return None if callback is None else callback(state)

    def finish(self) -> None:
        """Print the last iteration, if it was not printed."""
        last = self._last
        if last is not None and last.iteration > 1 and last.iteration % self._every:
            print(line(self._settings.name, last), flush=True)


def report_pass(settings: Settings, model: Any, elapsed: float) -> None:
    """Print that one more part of a stream is learned, and call the user's callback."""
    rule = model.rule_
    state = State(model.n_iter_, model.loss_curve_[-1], rule.codebook, elapsed, rule.distance)
    if settings.verbose:
        print(line(settings.name, state), flush=True)
    if settings.callback is not None:
        settings.callback(state)


def line(name: str, state: State) -> str:
    """Return a line about an iteration."""
    return f"[{name}] iteration {state.iteration:>5}  loss {state.loss:.6f}  {state.elapsed:.1f} s"
