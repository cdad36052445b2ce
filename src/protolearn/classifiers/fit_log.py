"""What a fit prints while it runs, and the journal from which an interrupted one goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ..blocks import Blocks, MemoryBlocks
from ..codebook import Codebook
from ..distances import Distance
from ..solvers import SequentialSolver, Solver, State
from ..store import Journal, Record, parameters
from .rows import TrainingRows
from .settings import Settings

LINES = 20
"""About how many lines a fit prints."""

SILENT = 10.0
"""Seconds after which the next iteration is printed in any case."""

MAY_CHANGE = "callback", "history", "checkpoint"
"""Parameters that may change before a fit goes on."""


class Reporter:
    """A callback that prints some iterations, or all, and calls the user's callback."""

    def __init__(self, settings: Settings, solver: str, max_iter: int):
        self._settings = settings
        self._every = 1 if settings.verbose > 1 else max(max_iter // LINES, 1)
        self._last: State | None = None
        self._printed: State | None = None
        print(f"[{settings.name}] solver {solver}, at most {max_iter} iterations", flush=True)

    def __call__(self, state: State) -> object:
        """Print some of the iterations; return what the user's callback returns."""
        self._last = state
        silent = self._printed is None or state.elapsed - self._printed.elapsed >= SILENT
        if silent or state.iteration % self._every == 0:
            self._print(state)
        callback = self._settings.callback
        return None if callback is None else callback(state)

    def finish(self) -> None:
        """Print the last iteration, if it was not printed."""
        if self._last is not None and self._last is not self._printed:
            self._print(self._last)

    def _print(self, state: State) -> None:
        self._printed = state
        print(line(self._settings.name, state), flush=True)


class PrototypeHistory:
    """Keeps where the prototypes were, and calls the user's callback as often."""

    def __init__(self, settings: Settings, codebook: Codebook, distance: Distance):
        self.by_step = isinstance(settings.history, str) and settings.history == "step"
        self._callback, self._distance, self._begun = settings.callback, distance, perf_counter()
        self._stopped, self._epoch = False, 1
        self._lines = [(0, -1, np.nan, codebook.prototypes.copy(), codebook.metric.copy())]

    def __call__(self, state: State) -> bool:
        """Keep the state after an epoch, unless single steps are kept; return whether to stop."""
        self._epoch = state.iteration + 1
        return self._stopped if self.by_step else self._keep(state)

    def keep_step(self, loss: float, codebook: Codebook, example: int) -> bool:
        """Keep the state after a sample."""
        elapsed = perf_counter() - self._begun
        state = State(self._epoch, loss, codebook, elapsed, self._distance, example=example)
        return self._keep(state)

    def _keep(self, state: State) -> bool:
        prototypes, metric = state.codebook.prototypes.copy(), state.codebook.metric.copy()
        self._lines.append((state.iteration, state.example, state.loss, prototypes, metric))
        self._stopped = self._callback is not None and bool(self._callback(state))
        return self._stopped

    def arrays(self) -> dict[str, Any]:
        """Return what was kept, one line a state, the first before any step."""
        names = "n_iter", "example", "loss", "prototypes", "metric"
        return dict(zip(names, map(np.array, zip(*self._lines, strict=True)), strict=True))


def watch(
    settings: Settings, solver: Solver, codebook: Codebook, blocks: Blocks, distance: Distance
) -> tuple[Settings, Solver, Blocks, PrototypeHistory]:
    """Return settings, solver and rows for a training whose history is kept, and the history."""
    history = PrototypeHistory(settings, codebook, distance)
    settings = replace(settings, callback=history)
    if not history.by_step:
        return settings, solver, blocks, history
    if not isinstance(solver, SequentialSolver):
        raise ValueError(
            f"history='step' of {settings.name} needs a solver that learns from one row at a time, "
            f"and {solver.name!r} does not: set solver='sgd', or history='sweep'."
        )
    if settings.checkpoint is not None or not isinstance(blocks, MemoryBlocks):
        raise ValueError(
            f"history='step' of {settings.name} needs rows in memory and no checkpoint; set "
            "history='sweep'."
        )
    solver = copy(solver)
    solver.watch = history.keep_step
    return settings, solver, blocks.number_rows(), history


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


@contextmanager
def open_journal(model: Any, settings: Settings, rng: np.random.RandomState) -> Iterator[Record]:
    """Open the journal that ``checkpoint`` names, for as long as the fit lasts."""
    with Journal(settings.checkpoint, parameters(model, without=MAY_CHANGE), rng) as journal:
        if journal.n_found and settings.verbose:
            print(
                f"[{settings.name}] continues after {journal.n_found} results of "
                f"{settings.checkpoint}"
            )
        yield journal.record


def check_same_data(record: Record, settings: Settings, rows: TrainingRows) -> None:
    """Raise if the journal belongs to other data."""
    mark = rows.mark()
    if record(lambda: mark) != mark:
        raise ValueError(
            f"checkpoint={str(settings.checkpoint)!r} belongs to a fit on other data. Give those "
            "to continue it, or another path, or delete the file."
        )
