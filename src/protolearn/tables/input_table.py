"""The table that an encoder is given, checked against the one that it was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .array_table import ArrayTable
from .libraries import LIBRARIES, library
from .naming import near
from .table import Table


def input_table(encoder: Any, X: Any, reset: bool) -> Table:
    """Return a table that can be read by columns; in the order of ``fit`` if that was before."""
    kind = library(X)
    if kind == "numpy":
        if not hasattr(X, "dtype"):  # keep numbers beside texts
            X = np.asarray(X, dtype=object)
        options: Any = {"dtype": None, "ensure_all_finite": False}
        return ArrayTable(validate_data(encoder, X, reset=reset, **options))
    table = LIBRARIES[kind](X)  # type: ignore[call-arg]
    if table.n_rows == 0 or not table.names:
        raise ValueError(
            f"Found a frame of shape {X.shape}: a minimum of 1 row and 1 column is required."
        )
    if not reset and encoder._library != "numpy":
        table = LIBRARIES[kind](table.data[names_here(encoder, table)])  # type: ignore[call-arg]
    if kind == "structured":
        check_fields(encoder, table, reset)
    else:
        validate_data(encoder, table.data, reset=reset, skip_check_array=True)
    return table


def check_fields(encoder: Any, table: Table, reset: bool) -> None:
    """Do for a structured array what scikit-learn does for frames.

    It takes an array of one dimension for one without columns.
    """
    if reset or encoder._library == "numpy":
        places = np.empty((1, len(table.names)))
        validate_data(encoder, places, reset=reset, skip_check_array=True)
    if reset:
        encoder.feature_names_in_ = np.array(table.names, dtype=object)


def names_here(encoder: Any, table: Table) -> list[Any]:
    """Return the names of the columns that were there at ``fit``, all of which must be here."""
    names = [column.name for column in encoder.columns_]
    lost = [name for name in names if name not in table.names]
    if lost:
        raise ValueError(
            f"The frame has no column {lost[0]!r}, which was there when the encoder was fitted"
            + (f" (nor {', '.join(map(repr, lost[1:5]))})" if lost[1:] else "")
            + f".{near(lost[0], table.names)}"
        )
    return names
