"""Names of columns, as users give them."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from .array_table import ArrayTable
from .table import Table


def listed(names: Any) -> list[Any]:
    """Return several names as a list; a single one is one."""
    if names is None:
        return []
    return [names] if isinstance(names, str) or not np.iterable(names) else list(names)


def named(name: Any, table: Table, parameter: str) -> Any:
    """Return the name of a column, of an array also by its place."""
    if name in table.names:
        return name
    if isinstance(table, ArrayTable) and isinstance(name, (int, np.integer)):
        n = len(table.names)
        if -n <= name < n:
            return table.names[name]
    raise ValueError(
        f"{parameter} names the column {name!r}, which the table does not have."
        f"{near(name, table.names)}"
    )


def near(name: Any, names: list[Any]) -> str:
    """Suggest a name that a misspelt one resembles, or tell which there are."""
    match = difflib.get_close_matches(str(name), [str(other) for other in names], 1)
    if match:
        return f" Did you mean {match[0]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f" It has {', '.join(map(repr, names[:8]))}{more}."
