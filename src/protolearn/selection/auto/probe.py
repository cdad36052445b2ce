"""What a fit may take, by fits to fewer rows: for models that have never been fitted."""

from __future__ import annotations

from .ledger import Ledger, trial

PARTS = 32, 8
"""One row in so many is fitted; more rows if by fewer there is time."""

FEWEST = 20
"""Rows that are fitted at least: less time than they take need not be known."""


def foretold(ledger: Ledger, number: int, left: float) -> float | None:
    """Return the seconds that a fit is expected to take, as if they grew with the rows.

    None: there are so few rows that nobody needs to know.
    """
    candidate, pair, seconds = ledger.candidates[number], ledger.pairs[0], None
    for part in PARTS:
        train, tests = pair.train[::part], (test[::part] for test in pair.tests)
        if len(train) >= FEWEST and (seconds is None or seconds <= left):
            seconds = part * trial(candidate, ledger.task, train, *tests).seconds
    return seconds
