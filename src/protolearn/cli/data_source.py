"""Where the rows come from: a file, a folder of files, or a built-in set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from .. import datasets
from .._names import suggest_name
from ..datasets import folder_state
from ..reading import ParquetFolder, ReadTable, read_table
from .command_output import Screen, plain_table, say
from .failure import Failure

TARGET = "target"
"""Name of the column of labels of a built-in set."""

CLASSES_SHOWN = 3
"""Classes of a built-in set that are listed."""


STANDARD_INPUT = "-"


class Reading(NamedTuple):
    """How a file is read.

    Attributes
    ----------
    names : sequence of str or None
        Names of the columns of a text without a header.
    id : sequence of str
        Columns that name the rows.
    missing : sequence of str
        Further cells without a value.
    strict : bool
        Whether an assumption is an error.
    memory : str or None
        Memory that the table may take.
    """

    names: Sequence[str] | None = None
    id: Sequence[str] = ()
    missing: Sequence[str] = ()
    strict: bool = False
    memory: str | None = None


PLAIN_READING = Reading()


def open_data(
    data: str,
    *,
    kinds: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    drop: Sequence[str] = (),
    reading: Reading = PLAIN_READING,
) -> ReadTable:
    """Return the table in a file or a folder, or else the built-in set of that name."""
    if data == STANDARD_INPUT or (Path(data).exists() and not is_set_beside_folder(data)):
        options: dict[str, Any] = reading._asdict()
        return read_table(data, kinds=kinds, columns=columns, target=target, drop=drop, **options)
    if data in datasets.names():
        return built_in_table(data, kinds or {}, columns)
    if Path(data).suffix or len(Path(data).parts) > 1:
        raise Failure(f"there is no file {data!r}; check the name and the folder.")
    known = ", ".join(datasets.names())
    raise Failure(f"{data!r} is neither a file nor a built-in set; the sets are {known}.")


def is_set_beside_folder(data: str) -> bool:
    """Whether a folder may hold what was learned from the built-in set of its name."""
    return Path(data).is_dir() and data in datasets.names()


def folder_named(data: str) -> ParquetFolder | None:
    """Return the folder of files that is named, if it is one."""
    if not Path(data).is_dir() or is_set_beside_folder(data):
        return None
    return ParquetFolder(data)


def built_in_table(
    name: str, kinds: Mapping[str, str], columns: Sequence[str] | None = None
) -> ReadTable:
    """Return a built-in set as a table, its labels in a column of their own."""
    X, y = datasets.load(name)
    if not isinstance(X, np.ndarray):
        raise Failure(f"{name!r} is a sparse set of {X.shape[1]} words; expected a table.")
    values = dict(zip(datasets.feature_names(name), X.T, strict=True)) | {TARGET: y}
    for one in kinds:
        if one not in values:
            raise Failure(f"{name!r} has no column {one!r}.{suggest_name(one, list(values))}")
    chosen = {one: column for one, column in values.items() if columns is None or one in columns}
    texts = {TARGET, *(one for one, kind in kinds.items() if kind == "category")}
    frame = np.empty(len(X), dtype=[(one, object if one in texts else float) for one in chosen])
    for one, column in chosen.items():
        numbers = one in texts and column.dtype.kind in "fiu"
        frame[one] = [f"{value:.15g}" for value in column] if numbers else column
    origin = f"{name}: a built-in set, {len(X)} rows, {len(chosen)} columns"
    return ReadTable(frame, origin, ())


def print_datasets() -> None:
    """Run ``protolearn datasets``: list the sets, and say where others are read from."""
    console = Screen()
    console.print(datasets_table())
    say(console, folder_state())
    say(console, "To use one, give its name: protolearn fit iris")


def datasets_table() -> Table:
    """Return a line for each set; of a file that cannot be read, the reason."""
    table = plain_table("name", "rows", "features", "classes", "from", right=slice(1, 3))
    for name in datasets.names():
        try:
            found = datasets.describe(name)
        except (ValueError, OSError) as error:
            table.add_row(name, "", "", "", f"cannot be read: {error}")
            continue
        sizes = f"{found.n_rows:,}", f"{found.n_features:,}"
        table.add_row(name, *sizes, classes_of(found), source_of(found))
    return table


def classes_of(found: datasets.Description) -> str:
    """Return the classes with their numbers of rows, the first few of many."""
    first = [f"{label} ({rows:,})" for label, rows in list(found.classes.items())[:CLASSES_SHOWN]]
    more = len(found.classes) - CLASSES_SHOWN
    return ", ".join([*first, f"... {len(found.classes)} in all"] if more > 0 else first)


def source_of(found: datasets.Description) -> str:
    """Return the name of the library, or of the file in the folder that is printed below."""
    library = "scikit-learn"
    return library if found.origin.startswith(library) else Path(found.origin).name
