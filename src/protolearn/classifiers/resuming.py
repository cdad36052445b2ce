"""A fit that was cut off goes on: what it has computed stands in a journal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..blocks import FileJournal, Journal
from ..blocks.journal import NO_JOURNAL, Arrays, put_back, state_of
from ..codebook import Codebook
from .data import TrainingData

NOT_KNOWN_BY = "callback", "checkpoint"
"""Parameters that may change before a fit goes on."""

FIELDS = "prototypes", "labels", "metric", "group", "center"
"""The arrays of a codebook."""


def check_same_data(journal: Journal, data: TrainingData) -> None:
    """Raise if the journal belongs to other data."""
    if not isinstance(journal, FileJournal):
        return
    mark = np.array(data.mark())
    if journal.once(lambda: {"data": mark})["data"] != mark:
        raise ValueError(
            f"checkpoint={str(journal.path)!r} belongs to a fit on other data. Give those to "
            "continue it, or another path, or delete the file."
        )


def started(
    journal: Journal, start: Callable[[], Codebook], rng: np.random.RandomState
) -> Codebook:
    """Give the codebook to begin with, from the journal if it is there."""
    if journal is NO_JOURNAL:
        return start()

    def work() -> Arrays:
        codebook = start()
        return {**{name: getattr(codebook, name) for name in FIELDS}, **state_of(rng)}

    found = journal.once(work)
    put_back(rng, found)
    return Codebook(*(found[name] for name in FIELDS))
