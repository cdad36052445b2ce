"""What an experiment found: tables, figures and remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table for people, and the same numbers for programs.

    Attributes
    ----------
    name : str
        Name of the files, without ending.
    title : str
        What it shows.
    head : sequence of str
        Heads of the columns.
    rows : sequence of sequence of str
        The cells, as they are read.
    records : sequence of mapping
        The numbers behind them, a line of the CSV file each; all have the same keys.
    remarks : sequence of str
        What to know of the table; sentences that stand below it.
    """

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    records: Sequence[Mapping[str, Any]]
    remarks: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.head, ["---", *["---:"] * (len(self.head) - 1)], *self.rows]
        table = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        return "\n\n".join([f"**{self.title}**", table, *self.remarks])


@dataclass(frozen=True)
class Figure:
    """A picture.

    Attributes
    ----------
    name : str
        Name of the file, without ending.
    title : str
        What it shows; the words in place of the picture for those who cannot see it.
    draw : callable
        Draws on the empty matplotlib figure that it is given.
    size : pair of float
        Width and height in inches.
    """

    name: str
    title: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (7.0, 4.5)


@dataclass(frozen=True)
class Findings:
    """All that an experiment found.

    Attributes
    ----------
    tables, figures : sequence of Table, of Figure
        The results.
    remarks : sequence of str
        What was found in words: what holds, what is weaker than published, what was left out.
    """

    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    remarks: Sequence[str] = ()


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
