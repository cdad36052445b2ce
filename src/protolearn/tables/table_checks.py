"""Checks of what was understood of a table, and warnings about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .columns import CategoryColumn, Column
from .table import Table, find_column
from .values import Values, as_objects

NO_FEATURE_NAMES = "X does not have valid feature names"
"""A warning about rows that have lost the names of their columns on the way."""

UNSEEN_CATEGORIES = "Categories that the training rows"
"""How the warning about new categories begins, for those who have told it already."""


def categories_by_column(categories: Any, table: Table) -> dict[Any, list[Any]]:
    """Return the categories that a user names, by column."""
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise ValueError(
            f"categories={categories!r} must be a dict of the name of a column to a list of its "
            "categories."
        )
    return {
        find_column(name, table, "categories"): distinct_categories(name, given)
        for name, given in categories.items()
    }


def distinct_categories(name: Any, given: Any) -> list[Any]:
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


def codes_as_categories(values: Values, name: Any) -> Values:
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


def warn_of_empty_columns(columns: list[Column]) -> None:
    """Warn about columns without any value."""
    empty = [repr(column.name) for column in columns if column.kind == "empty"]
    if empty:
        warnings.warn(
            f"No row has a value in column {', '.join(empty)}, which is left out of account.",
            stacklevel=3,
        )


def warn_of_unseen_categories(unseen: dict[Any, list[Any]], unknown: str) -> None:
    """Warn of categories that the training rows do not have, by column."""
    if not unseen or unknown == "ignore":
        return
    told = "; ".join(
        f"{', '.join(map(repr, list(dict.fromkeys(found))[:5]))} in column {name!r} "
        f"({len(found)} row{'s' * (len(found) > 1)})"
        for name, found in unseen.items()
    )
    message = f"{UNSEEN_CATEGORIES} do not have: {told}."
    if unknown == "error":
        raise ValueError(message)
    warnings.warn(f"{message} They are taken as equally far from all.", stacklevel=5)


@contextmanager
def ignore_warnings(*messages: str) -> Iterator[None]:
    """Ignore warnings that begin with one of these messages."""
    with warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings("ignore", message)
        yield
