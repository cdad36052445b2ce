"""What a fit prints while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..codebook import Codebook
from ..solvers import Callback, State

LINES = 20


@contextmanager
def reporter(model: Any, solver: str, max_iter: int) -> Iterator[Callback | None]:
    """Give a callback that prints progress and calls the user's; print the end afterwards."""
    if not model.verbose:
        yield model.callback
        return
    name = type(model).__name__
    every = 1 if model.verbose > 1 else max(max_iter // LINES, 1)
    last: State | None = None
    print(f"[{name}] solver {solver}, at most {max_iter} iterations")

    def report(state: State) -> object:
        nonlocal last
        last = state
        if state.iteration == 1 or state.iteration % every == 0:
            print(_line(name, state), flush=True)
        return None if model.callback is None else model.callback(state)

    yield report
    if last is not None and last.iteration > 1 and last.iteration % every:
        print(_line(name, last), flush=True)


def report_pass(model: Any, codebook: Codebook, elapsed: float) -> None:
    """Print and tell the callback that one more part of a stream is learned."""
    state = State(model.n_iter_, model.loss_curve_[-1], codebook, elapsed, model._distance)
    if model.verbose:
        print(_line(type(model).__name__, state), flush=True)
    if model.callback is not None:
        model.callback(state)


def _line(name: str, state: State) -> str:
    return f"[{name}] iteration {state.iteration:>5}  loss {state.loss:.6f}  {state.elapsed:.1f} s"
