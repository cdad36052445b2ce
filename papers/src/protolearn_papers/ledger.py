"""What was finished before: a file to which each result is added as soon as it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORM = "protolearn-reproduce-1"


class Ledger:
    """Results by key, of one experiment with one set of settings.

    The file has a line for the settings and one for each result. Lines are only ever added, each
    by one write: a run that is stopped in the middle of a line loses the work of that line alone,
    and two runs at once do work twice at worst.

    Parameters
    ----------
    path : path or None
        The file; None: results are remembered while the process lasts.
    settings : mapping of str to str or int
        What the results depend on; a file with other settings is refused.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, str | int]):
        self.path = path
        self.results: dict[str, Any] = {}
        self._given: dict[str, str] = {}
        self._head = {"format": FORM, **settings}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if not self._take_over(path):
            self._write(self._head)

    def has(self, key: str, given: str = "") -> bool:
        """Whether there is a result that was found for what is given, in words."""
        return key in self.results and self._given.get(key) == given

    def __getitem__(self, key: str) -> Any:
        return self.results[key]

    def add(self, key: str, result: Any, given: str = "") -> None:
        """Remember a result and what it was found for, in the file too."""
        self.results[key], self._given[key] = result, given
        if self.path is not None:
            self._write({"key": key, "given": given, "result": result})

    def _write(self, record: Mapping[str, Any]) -> None:
        """Add a line at once."""
        assert self.path is not None
        line = (json.dumps(record) + "\n").encode("ascii")
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def _take_over(self, path: Path) -> bool:
        """Read what is there, but for lines without their end; tell whether there is a head."""
        content = path.read_bytes() if path.exists() else b""
        if content and not content.endswith(b"\n"):
            with path.open("ab") as file:  # what comes next begins a line
                file.write(b"\n")
        lines = content.splitlines()
        if not any(lines):
            return False
        head = _record(lines[0])
        if head is None or "format" not in head:
            raise ValueError(
                f"{str(path)!r} holds no results of an experiment, or its first line is damaged. "
                "Delete it to start anew, or name another folder."
            )
        self._check(path, head)
        for one in filter(None, map(_record, lines[1:])):
            key = one.get("key")
            if isinstance(key, str) and "result" in one:
                self.results[key], self._given[key] = one["result"], str(one.get("given"))
        return True

    def _check(self, path: Path, found: Mapping[str, Any]) -> None:
        """Raise if the settings are others."""
        other = [
            f"{key} was {found.get(key)!r} and is {value!r}"
            for key, value in self._head.items()
            if found.get(key) != value
        ]
        if other:
            raise ValueError(
                f"{str(path)!r} holds results of other settings: {'; '.join(other)}. Name another "
                "folder, or delete the file to start anew."
            )


def _record(line: bytes) -> dict[str, Any] | None:
    """Read a line; None if it is not whole."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
