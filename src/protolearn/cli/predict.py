"""``protolearn predict``: what a saved model says about each row of a table."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import track

from .._files import replacing
from .._names import count
from .answers import Answers, Respondent
from .failure import Failure
from .saved import SavedModel
from .summary import say

ROWS = 10_000
"""Rows that are asked about at a time."""

STANDARD_OUTPUT = Path("-")


def run(model: Path, data: str, out: Path) -> None:
    """Ask a model about all rows, and write a line for each."""
    aside = Console(stderr=True)
    saved = SavedModel.open(model)
    check_file(out)
    with aside.status("reading"):
        frame = saved.rows(data)
    unseen = saved.unseen(frame)
    if unseen:
        say(aside, f"note: {unseen}")
    respondent = Respondent(saved)
    starts: Iterable[int] = range(0, len(frame), ROWS)
    if len(frame) > ROWS and aside.is_terminal:
        starts = track(starts, "asking", console=aside, transient=True)
    n_flagged = 0
    with opened(out) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header(respondent))
        for start in starts:
            answers = respondent.ask(frame[start : start + ROWS])
            writer.writerows(lines(respondent, answers))
            n_flagged += 0 if answers.flagged is None else int(answers.flagged.sum())
    for what, reason in respondent.silent.items():
        say(aside, f"note: no {what.replace('_', ' ')}: {reason}")
    where = "" if out == STANDARD_OUTPUT else f" in {out}"
    flagged = f", {n_flagged:,} flagged for a second look" if respondent.threshold else ""
    say(aside, f"{count(len(frame), 'answer')}{where}{flagged}")


def header(respondent: Respondent) -> list[str]:
    """Return the names of the columns."""
    shares = [f"probability_{label}" for label in respondent.classes]
    return ["label", *shares, "nearest_prototype", "margin", "certified_radius", "reject"]


def lines(respondent: Respondent, answers: Answers) -> Iterator[list[Any]]:
    """Write answers, a line each; what the model cannot tell is left empty."""
    empty = [""] * len(answers.label)
    nearest = empty
    if answers.distances is not None:
        nearest = [respondent.prototypes[k] for k in answers.distances.argmin(axis=1)]
    shares: Any = [empty] * len(respondent.classes)
    if answers.probability is not None:
        shares = [numbers(share) for share in answers.probability.T]
    flags = empty
    if answers.flagged is not None:
        flags = ["true" if flag else "false" for flag in answers.flagged]
    margin, radius = (
        empty if values is None else numbers(values) for values in (answers.margin, answers.radius)
    )
    yield from zip(answers.label.tolist(), *shares, nearest, margin, radius, flags, strict=True)


def numbers(values: Any) -> list[str]:
    """Write numbers."""
    return [f"{value:.6g}" for value in values.tolist()]


@contextmanager
def opened(out: Path) -> Iterator[IO[str]]:
    """Open what the lines are written to; a file is there when all of it is."""
    if out == STANDARD_OUTPUT:
        yield sys.stdout
        return
    with replacing(out) as path, path.open("w", newline="", encoding="utf-8") as file:
        yield file


def check_file(out: Path) -> None:
    """Raise before any work if there is no place for the answers."""
    if out.is_dir():
        raise Failure(f"-o {str(out)!r} is a folder; expected the name of a file.")
