"""The folder of benchmark data that the environment variable ``PROTOLEARN_DATA`` names."""

from __future__ import annotations

import os
from pathlib import Path

from ._csv import CsvSource
from ._npz import NpzSource
from ._source import Source

VARIABLE = "PROTOLEARN_DATA"
KINDS = {".csv.gz": CsvSource, ".npz": NpzSource}


def folder_sources() -> dict[str, Source]:
    """Return the sets of the folder by name; NAME.csv.gz goes before NAME.npz."""
    folder = _folder()
    if folder is None or not folder.is_dir():
        return {}
    # Names come from this listing only: a name given by a caller never becomes a path.
    return {
        path.name.removesuffix(suffix): kind(path.name.removesuffix(suffix), path)
        for suffix, kind in reversed(KINDS.items())
        for path in sorted(folder.glob(f"[!.]*{suffix}"))
        if path.is_file()
    }


def folder_state() -> str:
    """Return a text that says what a user can do to have more sets."""
    folder = _folder()
    if folder is None:
        return (
            f"Other sets are read from a folder of NAME.csv.gz and NAME.npz files: set the "
            f"environment variable {VARIABLE} to it (it is not set)."
        )
    if not folder.is_dir():
        return (
            f"The environment variable {VARIABLE} is set to {str(folder)!r}, which is not a "
            "folder: set it to the folder of NAME.csv.gz and NAME.npz files."
        )
    return (
        f"Other sets are read from {str(folder)!r}, to which the environment variable "
        f"{VARIABLE} is set: put NAME.csv.gz or NAME.npz there, or set it to another folder."
    )


def _folder() -> Path | None:
    value = os.environ.get(VARIABLE)
    return Path(value).expanduser() if value else None
