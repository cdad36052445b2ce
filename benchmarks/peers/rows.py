"""The comparisons: each side in turn, in new processes, and of each side its best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..measure import Line, Table
from .data import Exports
from .process import Library, Unavailable, ours, peer
from .row import ALONE, COMPARISONS, Alone, Comparison, LeftOut

REPEATS = 3
"""Processes of each side."""

SIZES = {10**4: 40, 10**5: 10, 10**6: 4, 10**7: 2}
"""Rows of growing data, and how often each is measured."""

MEMORY = 1.10
"""Most memory of data and fit, as a multiple of the data."""

Runs = list[dict[str, Any]]


class Setting:
    """A folder for one run: exported data and compiled functions."""

    def __init__(self, folder: Path):
        exports = Exports(folder)
        self.path, self.folds = exports.path, exports.folds
        self.cache = folder / "compiled"

    @cached_property
    def ours(self) -> Library:
        """Give protolearn as it is once used: its functions are in the disk cache."""
        library = ours(self.cache)
        library.measure("compile_all", path=self.path("digits"))
        return library


def tables() -> Iterator[Table]:
    """Give the peers beside ours, then ours alone."""
    with TemporaryDirectory() as folder:
        setting = Setting(Path(folder))
        yield Table(COMPARISONS, comparisons(setting))
        yield Table(ALONE, attempt("growing data", partial(growth, setting)))


def comparisons(setting: Setting) -> Iterator[Line]:
    """Give all lines with a peer."""
    yield from attempt("sequential epoch, digits", partial(sequential, setting))
    for name in ("digits", "satimage", "usps"):
        yield from attempt(f"fit to equal loss, {name}", partial(equal_loss, setting, name))
    yield from attempt("fit, mnist", partial(mnist, setting))


def attempt(name: str, measure: Callable[[], Iterator[Line]]) -> Iterator[Line]:
    """Give the lines of a measurement, or why there are none."""
    try:
        yield from measure()
    except Unavailable as error:
        yield LeftOut(name, str(error))


def sequential(setting: Setting) -> Iterator[Line]:
    """One epoch, one sample at a time, one prototype a class, with the same step."""
    path, sklvq = setting.path("digits"), peer("sklvq")
    theirs, mine = [], []
    for _ in range(REPEATS):
        theirs.append(sklvq.measure("epochs", path=path))
        mine.append(setting.ours.measure("epochs", path=path))
    yield Comparison(
        "sequential epoch, digits (% after four)",
        "sklvq",
        epoch(mine),
        epoch(theirs),
        mine[0]["accuracy"],
        theirs[0]["accuracy"],
        at_least=200.0,
    )


def equal_loss(setting: Setting, name: str) -> Iterator[Line]:
    """Fit one prototype a class until the training loss is that of the peer."""
    path, prosemble = setting.path(name), peer("prosemble")
    theirs, mine = [], []
    for _ in range(REPEATS):
        theirs.append(prosemble.measure("fit_twice", path=path))
        loss = theirs[0]["loss"]
        mine.append(setting.ours.measure("fit_twice", path=path, loss=loss))
    with TemporaryDirectory() as empty:
        compiling = [ours(Path(empty)).measure("fit_twice", path=path, loss=loss)]
    for what, when, runs, at_least in (
        ("second fit", "warm", mine, 10.0),
        ("first fit", "cold", mine, 20.0),
        ("no disk cache", "cold", compiling, None),
    ):
        yield Comparison(
            f"{name} to equal loss, {what}",
            "prosemble",
            best(runs, when),
            best(theirs, when),
            runs[0]["accuracy"],
            theirs[0]["accuracy"],
            at_least,
            loss=max(run["loss"] for run in runs),
            their_loss=loss,
        )


def mnist(setting: Setting) -> Iterator[Line]:
    """Fit ten prototypes a class; ours by default, the peer by its best setting."""
    path, prosemble = setting.path("mnist"), peer("prosemble")
    theirs = prosemble.measure("fit_many", path=path, per_class=10)
    mine = setting.ours.measure("fit_many", path=path, per_class=10)
    yield Comparison(
        "mnist, ten prototypes a class, first fit",
        "prosemble",
        mine["cold"],
        theirs["cold"],
        mine["accuracy"],
        theirs["accuracy"],
        at_least=8.0,
        least_accuracy=0.942,
    )


def growth(setting: Setting) -> Iterator[Line]:
    """Time a sequential epoch on more and more rows, and weigh a fit against its data."""
    library = ours(setting.cache, "child_growth")
    runs = {n: library.measure("growth", n=n, repeats=r) for n, r in SIZES.items()}
    nanoseconds = {n: 1e9 * epoch([run]) / n for n, run in runs.items()}
    for n, value in nanoseconds.items():
        least = min(nanoseconds.values())
        yield Alone(f"sequential epoch, n={n:,}", value, "ns a sample", "the least", least, None)
    for n, run in runs.items():
        at_most = MEMORY if n == max(runs) else None  # small data weigh less than the process
        peak, data = run["peak_bytes"] / 2**20, run["data_bytes"] / 2**20
        yield Alone(f"peak memory of data and fit, n={n:,}", peak, "MiB", "X and y", data, at_most)


def best(runs: Runs, key: str) -> float:
    """Give the shortest time."""
    return float(min(run[key] for run in runs))


def epoch(runs: Runs) -> float:
    """Give the seconds of an epoch: many less few."""
    return (best(runs, "many") - best(runs, "few")) / float(runs[0]["epochs"])
