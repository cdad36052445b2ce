"""The checkpoint of a search: its fits, in a file that is never half-written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from ..._checkpoints import changes, content_of, plain
from ..._files import replacing
from ..._fingerprint import digest, text
from .ledger import Ledger, Place, Trial

FORMAT = "protolearn search 1"

INTERVAL = 1.0
"""Seconds between two writings."""


class Checkpoint:
    """Fits of a search, written to a file as they come in.

    Parameters
    ----------
    path : str or path
        The file; one that is there is continued.
    ledger : Ledger
        The search. It takes over the fits of the file: they need not be made again.
    settings : mapping of str to object
        What decides about the fits beside the data, candidates and folds.
    """

    def __init__(self, path: str | PathLike[str], ledger: Ledger, settings: Mapping[str, Any]):
        self.path, self.ledger = Path(path), ledger
        self._fingerprint = fingerprint(ledger, settings)
        self._n_written = 0
        self._next = 0.0
        if self.path.exists():
            ledger.known = self._continue()
        self.write()  # before any work: the path may be one that cannot be written

    def note(self) -> None:
        """Write what is new, if the last time is long enough ago."""
        if monotonic() >= self._next:
            self.write()
            self._next = monotonic() + INTERVAL

    def write(self) -> None:
        """Write all fits, those of the file that were not asked for again too."""
        fits = self.ledger.known | self.ledger.trials
        if self._n_written == len(fits) > 0:
            return
        lines = ",\n".join(json.dumps(_entry(place, fit)) for place, fit in fits.items())
        head = json.dumps({"format": FORMAT, "search": self._fingerprint}, indent=1)[:-2]
        with replacing(self.path) as target:
            target.write_text(f'{head},\n "fits": [\n{lines}\n]}}\n', encoding="utf-8")
        self._n_written = len(fits)

    def _continue(self) -> dict[Place, Trial]:
        """Read the fits of the file, if they belong to this search."""
        with content_of(self.path, FORMAT, "AutoPrototypeClassifier") as content:
            before = {str(name): str(value) for name, value in content["search"].items()}
            fits = dict(_fit(entry) for entry in content["fits"])
            n_candidates, n_pairs, _ = self.ledger.scores.shape
        changed = changes("", before, self._fingerprint)
        if changed:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another search: {'; '.join(changed)}. "
                "Give what was given before to continue it, or another path, or delete the file."
            )
        if not all(0 <= c < n_candidates and 0 <= pair < n_pairs for c, pair in fits):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is damaged: it has fits that this search does not "
                "have. Give another path, or delete the file to start anew."
            )
        return fits


def fingerprint(ledger: Ledger, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return by what a search is known again: all that its fits depend on."""
    task = ledger.task
    every = [[str(one), one.settings, one.scaled] for one in ledger.candidates]
    return {
        "protolearn": version("protolearn"),
        "X": f"{task.X.shape[0]} rows, {task.X.shape[1]} features #{digest(task.X)}",
        "y": f"#{digest(task.y)}",
        "families": text(list(dict.fromkeys(one.family for one in ledger.candidates))),
        "candidates": f"{len(every)} #{digest(text(every))}",
        "folds": f"#{digest(*(rows for pair in ledger.pairs for rows in pair.tests))}",
        **{name: text(value) for name, value in settings.items()},
    }


def _entry(place: Place, fit: Trial) -> list[Any]:
    """Return a fit as JSON has it."""
    numbers = fit.seconds, fit.n_numbers, fit.n_prototypes, fit.steepness
    return [*place, [plain(score) for score in fit.scores], *map(plain, numbers), fit.failure]


def _fit(entry: Any) -> tuple[Place, Trial]:
    """Read a fit."""
    candidate, pair, (first, second), *numbers, failure = entry
    seconds, n_numbers, n_prototypes, steepness = map(float, numbers)
    fit = Trial(
        (float(first), float(second)), seconds, n_numbers, n_prototypes, steepness, str(failure)
    )
    return (int(candidate), int(pair)), fit
