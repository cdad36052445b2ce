"""``protolearn datasets``: the data sets that can be named in place of a file."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import datasets
from ..datasets import folder_state
from .summary import plain_table, say

MOST_CLASSES = 3
"""Classes of a set that are listed."""


def run() -> None:
    """List the sets, say where others are read from, and how to use one."""
    console = Console()
    console.print(listing())
    say(console, folder_state())
    say(console, "Use one by its name: protolearn fit iris")


def listing() -> Table:
    """Return a line for each set; of a file that cannot be read, the reason."""
    table = plain_table("name", "rows", "features", "classes", "from")
    for column in table.columns[1:3]:
        column.justify = "right"
    for name in datasets.names():
        try:
            found = datasets.describe(name)
        except (ValueError, OSError) as error:
            table.add_row(escape(name), "", "", "", escape(f"cannot be read: {error}"))
            continue
        table.add_row(
            escape(name),
            f"{found.n_rows:,}",
            f"{found.n_features:,}",
            escape(classes_of(found)),
            escape(source_of(found)),
        )
    return table


def classes_of(found: datasets.Description) -> str:
    """Write the classes with their numbers of rows, the first few of many."""
    first = [f"{label} ({rows:,})" for label, rows in list(found.classes.items())[:MOST_CLASSES]]
    more = len(found.classes) - MOST_CLASSES
    return ", ".join([*first, f"... {len(found.classes)} in all"] if more > 0 else first)


def source_of(found: datasets.Description) -> str:
    """Name the library, or the file in the folder that is told below."""
    library = "scikit-learn"
    return library if found.origin.startswith(library) else Path(found.origin).name
