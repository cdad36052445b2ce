"""Table 1: four algorithms on ten small sets, USPS and 20 newsgroups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ..findings import Findings, Table
from ..work import Work
from . import fold, large
from .cells import Cell
from .protocol import Protocol
from .published import CHOSEN, LARGE, METHODS, SMALL
from .ranks import ranks_table

SMALL_PROTOCOL = Protocol(prototypes=(1, 2, 3, 4, 5), epochs=100, validation=1 / 3)
LARGE_PROTOCOL = Protocol(prototypes=(5, 10, 15, 20, 25), epochs=40, validation=1 / 5)
REPETITIONS = 10

QUICK_PROTOCOL = Protocol((1, 2), 20, 1 / 3, alphas=(0.0, 0.01), taus=(0.5, 1.5))
QUICK_SETS = ("iris", "wine", "wdbc")

Judged = Mapping[str, float]
"""Accuracy, validation accuracy and chosen setting of a method."""


def run(work: Work) -> Findings:
    """Fit everything, and put ours beside theirs."""
    cells = [*small_cells(work), *([] if work.quick else large_cells(work))]
    tables = [accuracy_table(cells), settings_table(cells)]
    if not work.quick:
        tables.insert(1, ranks_table(cells))
    return Findings(tables, remarks=remarks(cells, work.quick))


def small_cells(work: Work) -> Iterator[Cell]:
    """Give the cells of the ten small sets."""
    protocol = QUICK_PROTOCOL if work.quick else SMALL_PROTOCOL
    sets = QUICK_SETS if work.quick else tuple(SMALL)
    repetitions = 1 if work.quick else REPETITIONS
    found = work.map(
        "small sets",
        fold.judged_fold,
        {
            f"{name}/{repetition}/{number}": (name, repetition, number, protocol, work.seed)
            for name, repetition, number in product(sets, range(repetitions), range(fold.FOLDS))
        },
    )
    for name, (place, method) in product(sets, enumerate(METHODS)):
        means = [
            np.mean(
                [
                    found[f"{name}/{repetition}/{number}"][method]["accuracy"]
                    for number in range(fold.FOLDS)
                ]
            )
            for repetition in range(repetitions)
        ]
        chosen = [judged[method] for key, judged in found.items() if key.split("/")[0] == name]
        yield Cell.of_repetitions(name, method, means, SMALL[name][place], typical(chosen))


def large_cells(work: Work) -> Iterator[Cell]:
    """Give the cells of USPS and 20 newsgroups."""
    protocol = LARGE_PROTOCOL
    tried = work.map(
        "USPS and 20 newsgroups: settings",
        large.searched,
        {
            f"{name}/{method}/{n}": (name, method, n, protocol, work.seed)
            for name, n, method in product(LARGE, reversed(protocol.prototypes), METHODS)
        },
    )
    by_method = {
        (name, method): [one for n in protocol.prototypes for one in tried[f"{name}/{method}/{n}"]]
        for name, method in product(LARGE, METHODS)
    }
    found = work.map(
        "USPS and 20 newsgroups: test",
        large.judged,
        {
            f"{name}/{method}/test": (name, method, settings, protocol, work.seed)
            for (name, method), settings in by_method.items()
        },
    )
    for name, (place, method) in product(LARGE, enumerate(METHODS)):
        judged = found[f"{name}/{method}/test"]
        yield Cell.of_test(name, method, judged["accuracy"], LARGE[name][place], typical([judged]))


def typical(judged: list[Judged]) -> tuple[float, float, float]:
    """Give the median of the chosen settings."""
    alpha, prototypes, tau = (
        float(np.median([one[key] for one in judged])) for key in ("alpha", "prototypes", "tau")
    )
    return alpha, prototypes, tau


def accuracy_table(cells: list[Cell]) -> Table:
    """Put ours beside theirs."""
    names = list(dict.fromkeys(cell.data for cell in cells))
    of = {(cell.data, cell.method): cell for cell in cells}
    head = ["data", *(part for method in METHODS for part in (method, "paper"))]
    rows = [
        [name, *(text for method in METHODS for text in of[name, method].texts())] for name in names
    ]
    return Table(
        "accuracy",
        "Accuracy in percent: ours, the paper's, and standard deviations over repetitions",
        head,
        rows,
        [cell.record() for cell in cells],
        [
            "A star: below the paper's mean less one of its standard deviations (0.5 points for "
            "usps and 20ng, which have one test part)."
        ],
    )


def settings_table(cells: list[Cell]) -> Table:
    """Show what was chosen."""
    names = list(dict.fromkeys(cell.data for cell in cells))
    of = {(cell.data, cell.method): cell for cell in cells}
    theirs = {
        (name, method): one
        for name, settings in CHOSEN.items()
        for method, one in zip(METHODS, settings, strict=True)
    }
    records: list[dict[str, Any]] = []
    rows = []
    for name in names:
        row = [name]
        for method in METHODS:
            alpha, n, tau = of[name, method].setting
            published = theirs.get((name, method))
            row.append(f"({alpha:g}; {n:g}; {tau:g})")
            if published is not None:
                row[-1] += " paper ({:g}; {:g}; {:g})".format(*published)
            records.append(
                {"data": name, "method": method, "alpha": alpha, "prototypes": n, "tau": tau}
            )
        rows.append(row)
    return Table(
        "settings",
        "Chosen settings (attraction alpha; prototypes a class; tau), medians over folds",
        ["data", *METHODS],
        rows,
        records,
    )


def remarks(cells: list[Cell], quick: bool) -> list[str]:
    """Say which cells are short, and what to know of the protocol."""
    short = [cell for cell in cells if not cell.met]
    texts = [
        f"{len(cells) - len(short)} of {len(cells)} cells reach the paper's mean less one "
        "standard deviation (0.5 points for usps and 20ng)."
    ]
    texts += [
        f"{cell.data}, {cell.method}: {cell.accuracy:.2f}, {cell.bar - cell.accuracy:.2f} points "
        "short."
        for cell in short
    ]
    texts.append(
        "Small sets are z-scored with the rows of training; usps is as it is; 20ng holds "
        "logarithmic counts, headers included, of the 1,000 words with the highest information "
        "gain in the training part, times the logarithm of the inverse document frequency, at "
        "length one. The paper does not say how features were scaled."
    )
    texts.append("diabetes and pima are the same 768 rows; only the folds differ.")
    if quick:
        texts.append("usps and 20ng are left out of the reduced version.")
    return texts
