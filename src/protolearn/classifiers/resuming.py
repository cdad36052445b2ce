"""A fit that was cut off goes on: what it has computed stands in a journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..store import Journal, Record, parameters
from .rows import TrainingRows
from .settings import Settings

MAY_CHANGE = "callback", "checkpoint"
"""Parameters that may change before a fit goes on."""


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
