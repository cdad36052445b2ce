"""What an interrupted ``fit`` leaves behind, for the same command to go on with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from .._files import replacing
from .._fingerprint import digest, text
from ..io import ModelFileError, load, save


class Unfinished:
    """A folder beside the results that holds finished parts of the work.

    Its name tells data and settings: another command never goes on with it.

    Parameters
    ----------
    out : Path
        The folder of the results.
    known_by : mapping
        Whatever the results depend on.
    """

    def __init__(self, out: Path, known_by: Mapping[str, Any]):
        mark = digest(text({"version": __version__, **known_by}))
        self.folder = out / f".unfinished-{mark[:12]}"
        self.resumed = self.folder.is_dir() and any(self.folder.iterdir())

    def search(self, part: str) -> Path:
        """Return the file where the search of a part keeps its fits."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{part}.search.json"

    def keep(self, part: str, found: Mapping[str, Any]) -> None:
        """Write what came of a part."""
        with replacing(self.folder / f"{part}.json") as path:
            path.write_text(json.dumps(found), encoding="utf-8")

    def found(self, part: str) -> dict[str, Any] | None:
        """Return what came of a part, if it was finished."""
        try:
            return dict(json.loads((self.folder / f"{part}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def keep_model(self, part: str, model: Any) -> None:
        """Write a fitted model."""
        save(model, self.folder / f"{part}.protolearn")

    def found_model(self, part: str) -> Any:
        """Return a fitted model, if it was finished."""
        try:
            return load(self.folder / f"{part}.protolearn")
        except (OSError, ModelFileError):
            return None

    def remove(self) -> None:
        """Forget it all: the results are there."""
        shutil.rmtree(self.folder, ignore_errors=True)
