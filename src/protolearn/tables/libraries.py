"""The libraries whose tables are known."""

from __future__ import annotations

from typing import Any

from .array_table import ArrayTable
from .pandas_table import PandasTable
from .polars_table import PolarsTable
from .structured_table import StructuredTable
from .table import Table

LIBRARIES: dict[str, type[Table]] = {
    "pandas": PandasTable,
    "polars": PolarsTable,
    "structured": StructuredTable,
    "numpy": ArrayTable,
}


def library(X: Any) -> str:
    """Return which library a table is of; what is no frame is taken for an array."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return "pandas"
    if type(X).__module__.partition(".")[0] == "polars":
        if type(X).__name__ != "DataFrame":
            raise TypeError(
                f"A {type(X).__name__} of polars is given; expected a DataFrame. "
                "Call collect() on a LazyFrame, to_frame() on a Series."
            )
        return "polars"
    if getattr(getattr(X, "dtype", None), "names", None) is not None:
        return "structured"
    return "numpy"
