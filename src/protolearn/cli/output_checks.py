"""Whether results may be written where they are wanted, told before any work."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from .._files import finish_replacing, is_stream
from .data_source import is_set_beside_folder
from .failure import Failure

METRICS_KEYS = {"model", "target", "measures", "outer_folds", "versions"}
"""Some keys that the measures of a fit have."""


def check_outputs(outputs: Iterable[Path], inputs: Iterable[str | Path], force: bool) -> None:
    """Raise if a file is read and written, or would be overwritten without ``--force``."""
    read = [path for one in inputs for path in input_files(one)]
    for path in outputs:
        finish_replacing(path.parent)
        if path.is_dir():
            raise Failure(f"{str(path)!r} is a folder; expected the name of a file.")
        if path.is_file() and any(path.samefile(one) for one in read):
            raise Failure(
                f"{str(path)!r} is the input of this command; use another name for the output."
            )
        if not force and path.exists() and not is_stream(path):
            raise Failure(f"{str(path)!r} exists; use another name, or --force to overwrite it.")


def check_results(folder: Path, names: Iterable[str], data: str, force: bool) -> None:
    """Raise if a fit would overwrite its table, or files that are no results of a fit."""
    check_outputs([folder / name for name in names], [data], force=True)
    there = [name for name in names if (folder / name).exists()]
    check_ours(folder, there, force or is_result_folder(folder))


def check_ours(folder: Path, there: Sequence[str], is_ours: bool) -> None:
    """Raise if files are there that are not ours to replace."""
    if there and not is_ours:
        raise Failure(
            f"--out {str(folder)!r} holds {there[0]!r}, but no results of this command; use "
            "another folder, or --force to overwrite."
        )


def is_result_folder(folder: Path) -> bool:
    """Whether the measures in a folder are those of a fit."""
    try:
        found = json.loads((folder / "metrics.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= METRICS_KEYS


def input_files(given: str | Path) -> list[Path]:
    """Return the regular files that are read if this is given; none for a built-in set."""
    path = Path(given)
    if path.is_dir() and not is_set_beside_folder(str(given)):
        return [one for one in path.rglob("*") if one.is_file()]
    return [path] if path.is_file() else []


def check_folder(folder: Path) -> None:
    """Raise before any work if the results cannot be written."""
    if folder.exists() and not folder.is_dir():
        raise Failure(f"--out {str(folder)!r} is a file; expected a folder for the results.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Failure(f"--out {str(folder)!r} cannot be written: {error.strerror}.") from error


def check_model_file(path: Path) -> None:
    """Raise if a model would be read from what can be read only once, or waits for a writer."""
    finish_replacing(path.parent)
    if is_stream(path):
        raise Failure(f"{str(path)!r} is a pipe or a device; save the model to a file first.")
