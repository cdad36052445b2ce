"""The checkpoint of a comparison: every finished fold, in a file that is never half-written."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..._checkpoints import changes, content_of, plain
from ..._files import replacing

FORMAT = "protolearn comparison 1"
LIBRARIES = "protolearn", "scikit-learn", "numpy", "scipy"


class Fold(NamedTuple):
    """What one fit gave."""

    score: float
    fit_time: float


Cell = tuple[str, str]
"""Names of a data set and a model."""


class Ledger:
    """Finished folds of each data set and model, written to a file as they come in.

    The file holds by what the data sets and models are known again; names that it does not have
    are new work, names that it has must stand for the same as before.

    Parameters
    ----------
    path : str or path, default=None
        The file; one that is there is continued. None: nothing is written.
    settings : dict of str to str
        What all folds share, such as the scoring.
    datasets, models : dict of str to dict of str to str
        Fingerprints: what each name stands for.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None,
        settings: Mapping[str, str],
        datasets: Mapping[str, Mapping[str, str]],
        models: Mapping[str, Mapping[str, str]],
    ):
        self.path = None if path is None else Path(path)
        self.folds: dict[Cell, dict[int, Fold]] = {}
        self._lines: dict[Cell, str] = {}
        self._head: dict[str, Any] = {
            "format": FORMAT,
            "versions": [_versions()],
            "settings": dict(settings),
            "datasets": {name: dict(print_) for name, print_ in datasets.items()},
            "models": {name: dict(print_) for name, print_ in models.items()},
        }
        if self.path is not None:
            if self.path.exists():
                self._continue(self.path)
            self._head_text = json.dumps(self._head, indent=1)[:-2]
            self._write()  # before any work: the path may be one that cannot be written

    def done(self, dataset: str, model: str) -> dict[int, Fold]:
        """Return the finished folds of a data set and a model by number."""
        return self.folds.get((dataset, model), {})

    def add(self, dataset: str, model: str, number: int, fold: Fold) -> None:
        """Write one more fold."""
        cell = dataset, model
        self.folds.setdefault(cell, {})[number] = fold
        if self.path is not None:
            self._lines[cell] = _line(cell, self.folds[cell])
            self._write()

    def _write(self) -> None:
        assert self.path is not None
        # Only the line of the last cell is new: writing costs little beside a fit.
        cells = ",\n".join(self._lines.values())
        with replacing(self.path) as target:
            target.write_text(f'{self._head_text},\n "cells": [\n{cells}\n]}}\n', encoding="utf-8")

    def _continue(self, path: Path) -> None:
        """Take over what a file has, if it belongs to this comparison."""
        with content_of(path, FORMAT, "compare") as content:
            folds = {_cell(entry): _folds(entry) for entry in content["cells"]}
            before = {key: dict(content[key]) for key in ("settings", "datasets", "models")}
            versions = list(content["versions"])
        self._refuse_others(path, before)
        for key in "datasets", "models":
            self._head[key] = before[key] | self._head[key]
        known = [entry for entry in versions if entry != _versions()]
        self._head["versions"] = [*known, _versions()]
        self.folds = folds
        self._lines = {cell: _line(cell, folds[cell]) for cell in folds}

    def _refuse_others(self, path: Path, before: Mapping[str, Any]) -> None:
        changed = changes("", before["settings"], self._head["settings"])
        for key, kind in ("datasets", "data set"), ("models", "model"):
            for name, now in self._head[key].items():
                if name in before[key]:
                    changed += changes(f" of {kind} {name!r}", before[key][name], now)
        if changed:
            raise ValueError(
                f"checkpoint={str(path)!r} belongs to another comparison: {'; '.join(changed)}. "
                "Give what was given before to continue it, another name to what is new, or "
                "another path."
            )


def _line(cell: Cell, folds: Mapping[int, Fold]) -> str:
    """Write the folds of one cell: number, score, seconds."""
    rows = [[number, *map(plain, folds[number])] for number in sorted(folds)]
    return json.dumps({"dataset": cell[0], "model": cell[1], "folds": rows})


def _cell(entry: Mapping[str, Any]) -> Cell:
    return str(entry["dataset"]), str(entry["model"])


def _folds(entry: Mapping[str, Any]) -> dict[int, Fold]:
    return {int(i): Fold(float(score), float(time)) for i, score, time in entry["folds"]}


def _versions() -> dict[str, str]:
    """Note what computed the scores."""
    return {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}
