"""Checks of what was understood of a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .columns import CategoryColumn, Column
from .naming import named
from .table import Table
from .values import Values, as_objects

UNSEEN = "Categories that the training rows"
"""How the warning about new categories begins, for those who have told it already."""


def given_categories(categories: Any, table: Table) -> dict[Any, list[Any]]:
    """Return the categories that a user names, by column."""
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise ValueError(
            f"categories={categories!r} must be a dict of the name of a column to a list of its "
            "categories."
        )
    return {
        named(name, table, "categories"): one_column(name, given)
        for name, given in categories.items()
    }


def one_column(name: Any, given: Any) -> list[Any]:
    """Return the categories of a column that a user names; None for a missing value."""
    try:
        values = [] if isinstance(given, str) else as_objects(list(given)).tolist()
        different = len(set(values)) == len(values)
    except TypeError:  # no list, or lists in it
        different = False
    if not different or not any(value is not None for value in values):
        raise ValueError(
            f"categories of column {name!r} are {given!r}; expected a list of different ones."
        )
    return values


def of_codes(values: Values, name: Any) -> Values:
    """Return numbers that are codes of categories as categories."""
    if values.kind == "date":
        raise ValueError(
            f"Column {name!r} holds dates and is named as categorical; turn it into texts, or "
            "leave it out of the list."
        )
    if values.kind != "number":
        return values
    data = values.data
    if np.isfinite(data[~np.isnan(data)]).all() and not (data % 1.0 > 0.0).any():
        return Values("category", as_objects([v if v != v else int(v) for v in data.tolist()]))
    return Values("category", as_objects(data.tolist()))


def check_number_of_categories(columns: list[Column], most: int, given: Any) -> None:
    """Raise if a column has so many categories that it may be an identifier."""
    many = [
        f"{column.name!r} has {len(column.categories)}"
        for column in columns
        if isinstance(column, CategoryColumn)
        and len(column.categories) > most
        and column.name not in given
    ]
    if many:
        raise ValueError(
            f"More categories than max_categories={most}: column {', '.join(many)}. Drop "
            "identifiers and free text; turn numbers and dates that are written as text into "
            "numbers and dates; or allow more by max_categories."
        )


def tell_empty(columns: list[Column]) -> None:
    """Warn about columns without any value."""
    empty = [repr(column.name) for column in columns if column.kind == "empty"]
    if empty:
        warnings.warn(
            f"No row has a value in column {', '.join(empty)}, which is left out of account.",
            stacklevel=3,
        )


def tell_unseen(unseen: dict[Any, list[Any]], unknown: str) -> None:
    """Warn of categories that the training rows do not have, by column."""
    if not unseen or unknown == "ignore":
        return
    told = "; ".join(
        f"{', '.join(map(repr, list(dict.fromkeys(found))[:5]))} in column {name!r} "
        f"({len(found)} row{'s' * (len(found) > 1)})"
        for name, found in unseen.items()
    )
    message = f"{UNSEEN} do not have: {told}."
    if unknown == "error":
        raise ValueError(message)
    warnings.warn(f"{message} They are taken as equally far from all.", stacklevel=5)
