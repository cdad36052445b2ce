"""What was finished before: a file to which each result is added as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORM = "protolearn-reproduce-1"


class Ledger:
    """Results by key, of one experiment with one set of settings.

    The file has a line for the settings and one for each result. Lines are only ever added: a run
    that is stopped, even in the middle of a line, loses the work of that line alone.

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
        self._settings = dict(settings)
        if path is None:
            return
        if path.exists() and path.stat().st_size:
            self._take_over(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._add({"format": FORM, **self._settings})

    def __contains__(self, key: str) -> bool:
        return key in self.results

    def __getitem__(self, key: str) -> Any:
        return self.results[key]

    def add(self, key: str, result: Any) -> None:
        """Remember a result, in the file too."""
        self.results[key] = result
        if self.path is not None:
            self._add({"key": key, "result": result})

    def _add(self, record: Mapping[str, Any]) -> None:
        assert self.path is not None
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def _take_over(self, path: Path) -> None:
        """Read what is there; a last line without its end is cut off."""
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        try:
            head, *lines = (json.loads(line) for line in whole.splitlines())
            found = {key: head[key] for key in ("format", *self._settings)}
            self.results = {line["key"]: line["result"] for line in lines}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{str(path)!r} holds no results of an experiment, or it is damaged "
                f"({type(error).__name__}: {error}). Delete it to start anew, or name another "
                "folder."
            ) from error
        wanted = {"format": FORM, **self._settings}
        if found != wanted:
            other = [
                f"{key} was {found[key]!r} and is {wanted[key]!r}"
                for key in wanted
                if found[key] != wanted[key]
            ]
            raise ValueError(
                f"{str(path)!r} holds results of other settings: {'; '.join(other)}. Name another "
                "folder, or delete the file to start anew."
            )
        if whole != text:
            with path.open("r+b") as file:
                file.truncate(len(whole.encode("utf-8")))
