"""Matrix learning beside the peers and beside our own GLVQ: seconds, and accuracy as well.

Ours is as by default. sklvq is fitted by its L-BFGS, prosemble by the best setting found for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..measure import Line, Table
from .process import peer
from .row import COMPARISONS, Comparison
from .rows import REPEATS, Setting, attempt, best

Numbers = dict[str, Any]

LIMIT = 125.0
"""Seconds after which sklvq is stopped."""

GAIN = 0.02
"""By how much a learned matrix should be better than GLVQ with as many prototypes."""

MNIST_ACCURACY = 0.96
"""What a matrix of low rank should reach on mnist."""

MATRICES = ("GMLVQ", "LGMLVQ", "matrix LOGM")
"""Ours that learn a matrix."""

OURS = ("GMLVQ", "GLVQ", "GRLVQ", "LGMLVQ", "MRSLVQ")
"""Ours, all by default, of which the first and the most accurate are shown beside the peers."""

CHOICES: dict[str, list[dict[str, Any]]] = {
    "sklvq": [{"model": model, "beta": beta} for model in ("GLVQ", "GMLVQ") for beta in (1, 5)],
    "prosemble": [{"model": model} for model in ("GLVQ", "GMLVQ")],
}
"""Of which each peer shows the most accurate; sklvq with its default slope and a steeper one."""


@dataclass(frozen=True)
class Race:
    """How one set is fitted.

    Attributes
    ----------
    sklvq, prosemble : float
        How many times faster ours should be.
    beta : float
        Slope of the sigmoid of sklvq.
    fits : int
        Fits in a process of prosemble, and of ours beside it; the last is compared.
    repeats : int
        Processes of each side.
    """

    sklvq: float
    prosemble: float
    beta: float = 5.0
    fits: int = 2
    repeats: int = REPEATS


RACES = {
    "digits": Race(20.0, 5.0),
    "satimage": Race(5.0, 5.0),
    "letter": Race(5.0, 5.0, beta=1.0, repeats=1),
    "usps": Race(20.0, 20.0, fits=1, repeats=1),
}
BESIDE_PEERS = ("iris", "wine", "wdbc", "digits")
BESIDE_GLVQ = ("vehicle", "segment", "satimage")
SETS = tuple(dict.fromkeys((*RACES, *BESIDE_PEERS, *BESIDE_GLVQ, "mnist")))
"""All sets that are measured."""


def tables(names: Collection[str] = SETS) -> Iterator[Table]:
    """Give the one table of this part, on some sets or on all."""
    with TemporaryDirectory() as folder:
        yield Table(COMPARISONS, comparisons(Setting(Path(folder)), names))


def comparisons(setting: Setting, names: Collection[str]) -> Iterator[Line]:
    """Give all lines: speed, accuracy beside the peers, accuracy beside GLVQ."""
    for measure, sets in (
        (beside_sklvq, RACES),
        (beside_prosemble, RACES),
        (partial(five_folds, rival="sklvq"), BESIDE_PEERS),
        (partial(five_folds, rival="prosemble"), BESIDE_PEERS),
        (beside_glvq, BESIDE_GLVQ),
        (low_rank, ("mnist",)),
    ):
        for name in sets:
            if name in names:
                yield from attempt(f"{name}, matrix", partial(measure, setting, name))


def beside_sklvq(setting: Setting, name: str) -> Iterator[Line]:
    """Fit one prototype a class; the first fit of a process, because sklvq compiles nothing."""
    path, race, sklvq = setting.path(name), RACES[name], peer("sklvq")
    theirs, mine = [], []
    for _ in range(race.repeats):
        theirs.append(sklvq.measure("fit_matrix", path=path, beta=race.beta, limit=LIMIT))
        mine.append(setting.ours.measure("fit_matrix", path=path, fits=1))
    yield Comparison(
        f"{name}, GMLVQ, first fit",
        f"sklvq, beta {race.beta:g}",
        best(mine, "cold"),
        best(theirs, "cold"),
        mine[0]["accuracy"],
        theirs[0]["accuracy"],
        race.sklvq,
        least_accuracy=theirs[0]["accuracy"],
        stopped=all(run["stopped"] for run in theirs),
    )


def beside_prosemble(setting: Setting, name: str) -> Iterator[Line]:
    """Fit one prototype a class; the second fit of a process, where it does not take too long."""
    path, race, prosemble = setting.path(name), RACES[name], peer("prosemble")
    theirs, mine = [], []
    for _ in range(race.repeats):
        theirs.append(prosemble.measure("fit_matrix", path=path, fits=race.fits))
        mine.append(setting.ours.measure("fit_matrix", path=path, fits=race.fits))
    yield Comparison(
        f"{name}, GMLVQ, {'first' if race.fits == 1 else 'second'} fit",
        "prosemble",
        best(mine, "warm"),
        best(theirs, "warm"),
        mine[0]["accuracy"],
        theirs[0]["accuracy"],
        race.prosemble,
        least_accuracy=theirs[0]["accuracy"],
    )


def five_folds(setting: Setting, name: str, rival: str) -> Iterator[Line]:
    """Compare mean accuracies, with the seconds of all folds; of each side its best model."""
    paths, library = setting.folds(name), peer(rival)
    found = [
        (choice, library.measure("fit_folds", paths=paths, **choice)) for choice in CHOICES[rival]
    ]
    choice, theirs = max(found, key=lambda pair: pair[1]["accuracy"])
    ours = {model: setting.ours.measure("fit_folds", paths=paths, model=model) for model in OURS}
    for model in dict.fromkeys((OURS[0], most_accurate(ours))):
        mine, beside = ours[model], words(rival, **choice)
        yield on_folds(f"{name}, {model}", mine, beside, theirs, theirs["accuracy"])


def beside_glvq(setting: Setting, name: str) -> Iterator[Line]:
    """Compare our best matrix with our GLVQ; one prototype a class."""
    paths, measure = setting.folds(name), setting.ours.measure
    plain = measure("fit_folds", paths=paths, model="GLVQ")
    found = {model: measure("fit_folds", paths=paths, model=model) for model in MATRICES}
    best_model = most_accurate(found)
    least = plain["accuracy"] + GAIN
    yield on_folds(f"{name}, {best_model}", found[best_model], "our GLVQ", plain, least)


def low_rank(setting: Setting, name: str) -> Iterator[Line]:
    """Fit five prototypes a class, with a matrix of low rank and without."""
    path, measure = setting.path(name), setting.ours.measure
    plain = measure("fit_many", path=path, per_class=5)
    mine = measure("fit_many", path=path, per_class=5, model="GMLVQ", rank=50)
    yield Comparison(
        f"{name}, GMLVQ of rank 50, five a class",
        "our GLVQ",
        mine["cold"],
        plain["cold"],
        mine["accuracy"],
        plain["accuracy"],
        at_least=None,
        least_accuracy=MNIST_ACCURACY,
    )


def on_folds(name: str, mine: Numbers, against: str, theirs: Numbers, least: float) -> Comparison:
    """Give the line of accuracies on five folds."""
    return Comparison(
        f"{name}, five folds",
        against,
        mine["seconds"],
        theirs["seconds"],
        mine["accuracy"],
        theirs["accuracy"],
        at_least=None,
        least_accuracy=least,
    )


def most_accurate(found: dict[str, Numbers]) -> str:
    """Give the model with the largest accuracy, the first of equal ones."""
    return max(found, key=lambda model: found[model]["accuracy"])


def words(rival: str, model: str, beta: float | None = None) -> str:
    """Name the model of a peer."""
    return f"{rival} {model}" if beta is None else f"{rival} {model}, beta {beta:g}"
