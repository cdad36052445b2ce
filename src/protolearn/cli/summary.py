"""What ``protolearn fit`` tells on the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..tables import CategoryColumn, Column, ReadTable, TableEncoder
from .learning_table import LearningTable
from .outcome import Outcome
from .prototype_texts import PrototypeTexts, prototype_texts

MOST_COLUMNS = 20
MOST_CLASSES = 10
MOST_PROTOTYPES = 6
MOST_CATEGORIES = 4


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print words that may come from a user's file, as they are."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def print_table(console: Console, read: ReadTable, table: LearningTable) -> None:
    """Print what was understood of a file."""
    say(console, read.origin, "bold")
    for note in (*read.notes, *table.notes):
        say(console, f"  {note}")
    say(console, f"target {table.target!r}: {classes_text(table.y)}")
    columns = TableEncoder().fit(table.X).columns_
    shown = plain_table("column", "what it holds", "missing")
    for column in columns[:MOST_COLUMNS]:
        missing = f"{column.n_missing:,}" if column.n_missing else ""
        shown.add_row(str(column.name), what(column), missing)
    if len(columns) > MOST_COLUMNS:
        shown.caption = f"and {len(columns) - MOST_COLUMNS} columns more"
    console.print(shown, markup=False, highlight=False)


def classes_text(y: Any) -> str:
    """Write the classes with their numbers of rows."""
    labels, counts = np.unique(y, return_counts=True)
    parts = [f"{one} ({n:,})" for one, n in zip(labels, counts, strict=True)]
    more = f" and {len(parts) - MOST_CLASSES} more" if len(parts) > MOST_CLASSES else ""
    return f"{len(parts)} classes: {', '.join(parts[:MOST_CLASSES])}{more}"


def what(column: Column) -> str:
    """Write what a column holds."""
    if isinstance(column, CategoryColumn):
        texts = [column.text(code) for code in np.argsort(column.counts)[::-1]]
        more = ", ..." if len(texts) > MOST_CATEGORIES else ""
        return f"{len(texts)} categories: {', '.join(texts[:MOST_CATEGORIES])}{more}"
    kind = "dates" if column.kind == "date" else "numbers"
    return f"{kind} from {column.text(column.low)} to {column.text(column.high)}"


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print what was learned, how good it is, and where it is written."""
    console.print()
    for sentence in outcome.in_short:
        say(console, sentence)
    measures = plain_table("measure", "value", "95 % interval")
    for name, one in outcome.judgement.evaluation.table.items():
        ends = one.reason if one.reason else f"{one.low:.3f} to {one.high:.3f}"
        measures.add_row(name, "-" if np.isnan(one.value) else f"{one.value:.3f}", ends)
    console.print(measures, markup=False, highlight=False)
    found = prototype_texts(outcome.model)
    if found is not None:
        console.print(prototypes(found), markup=False, highlight=False)
        if found.remark:
            say(console, found.remark)
    folder = outcome.settings.folder
    model = folder / "model.protolearn"
    say(console, f"Next: protolearn predict {model} NEW_ROWS.csv -o answers.csv")
    say(console, f"      protolearn explain {model} NEW_ROWS.csv --row 1")
    say(console, f"Open {folder / 'report.html'} to see it all.", "bold")


def prototypes(found: PrototypeTexts) -> Table:
    """List the first prototypes in the user's units."""
    shown = Table(title="Prototypes, in the units of the table", title_justify="left")
    shown.add_column("column", overflow="fold")
    for name in found.names[:MOST_PROTOTYPES]:
        shown.add_column(name, justify="right")
    for column, texts in found.rows[:MOST_COLUMNS]:
        shown.add_row(column, *texts[:MOST_PROTOTYPES])
    more = [
        f"{n - most} {what} more"
        for n, most, what in (
            (len(found.names), MOST_PROTOTYPES, "prototypes"),
            (len(found.rows), MOST_COLUMNS, "columns"),
        )
        if n > most
    ]
    if more:
        shown.caption = f"and {' and '.join(more)}"
    return shown


def plain_table(*heads: str) -> Table:
    """Return a table without lines."""
    table = Table(box=None, pad_edge=False, title_justify="left", caption_justify="left")
    for head in heads:
        table.add_column(head, header_style="bold", overflow="fold")
    return table
