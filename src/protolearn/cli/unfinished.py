"""What an interrupted ``fit`` leaves behind, for the same command to go on with."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..io import ModelFileError, load, save
from ..store import Owner, Store, StoreInUse, UnusableStore, digest, text
from .failure import Failure


class Unfinished(Store):
    """Finished parts of the work, in a folder beside the results.

    Its name tells data and settings: another command never goes on with it.

    Parameters
    ----------
    out : Path
        The folder of the results.
    known_by : mapping
        Whatever the results depend on.
    """

    def __init__(self, out: Path, known_by: Mapping[str, Any]):
        known = {"protolearn": __version__} | {name: text(one) for name, one in known_by.items()}
        self.folder = out / f".unfinished-{digest(text(known))[:12]}"
        self.resumed = self.folder.is_dir() and any(self.folder.iterdir())
        path, owner = self.folder / "parts.jsonl", Owner("protolearn fit", "command")
        try:
            super().__init__(path, known, owner=owner)
        except StoreInUse:
            raise Failure(
                f"the same command is already running on {str(out)!r}; wait for it to finish, or "
                "use another folder with --out."
            ) from None
        except UnusableStore:
            set_aside(path)
            super().__init__(path, known, owner=owner)

    def search_path(self, part: str) -> Path:
        """Return the file where the search of a part keeps its fits."""
        return self.folder / f"{part}.search.jsonl"

    def save_model(self, part: str, model: Any) -> None:
        """Write a fitted model."""
        save(model, self.folder / f"{part}.protolearn")

    def load_model(self, part: str) -> Any:
        """Return a fitted model, None if it was not finished."""
        try:
            return load(self.folder / f"{part}.protolearn")
        except (OSError, ModelFileError):
            return None

    def remove(self) -> None:
        """Forget it all: the results are there."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def set_aside(path: Path) -> None:
    """Rename a file of ours that cannot be used, and say so; it goes when the folder goes."""
    path.replace(path.with_name(f"{path.name}.damaged"))
    warnings.warn(f"{str(path)!r} is damaged; its fits are repeated.", RuntimeWarning, stacklevel=2)
