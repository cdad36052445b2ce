"""Structured arrays of NumPy as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import Table, holds, whole
from .values import Values, as_objects, days, not_understood, of_objects, times_of

PLAIN = np.ndarray, np.recarray


class StructuredTable(Table):
    """A structured array of one dimension, a field a column."""

    def __init__(self, data: Any):
        if data.ndim != 1:
            raise ValueError(
                f"Found a structured array of shape {data.shape}; expected shape (n_samples,). "
                "Of a single row make an array by np.atleast_1d."
            )
        names = list(data.dtype.names)
        if type(data) not in PLAIN:  # masked arrays, records of FITS
            data = self.build({name: unmasked(data[name]) for name in names})
        super().__init__(data, names)

    def column(self, name: Any) -> Any:
        """Return a field."""
        return np.asarray(self.data[name])

    def dtype(self, name: Any) -> Any:
        """Return the type of a field."""
        return self.data.dtype[name]

    def read(self, name: Any) -> Values:
        """Return by the type of the field, or by the values."""
        column, dtype = self.column(name), self.dtype(name)
        if dtype.subdtype is not None or dtype.names is not None:
            raise not_understood(name, f"arrays or records ({dtype})")
        if dtype.kind in "fiu":
            return Values("number", column.astype(np.float64))
        if dtype.kind == "M":
            return Values("date", days(column))
        if dtype.kind == "b":
            return Values("boolean", column.astype(object))
        if dtype.kind in "SU":
            return Values("category", decoded(column).astype(object))
        types = set(map(type, column)) if dtype.kind == "O" else set()
        if str in types and types <= {str, type(None)}:  # quick, where rows are many
            return Values("category", column)
        if dtype.kind in "OV":
            return of_objects(column.tolist(), name)
        raise not_understood(name, dtype)

    def without(self, name: Any) -> Any:
        """Return the array without a field."""
        return self.data[[other for other in self.names if other != name]]

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Make a structured array."""
        fields = [(str(name), column.dtype, column.shape[1:]) for name, column in columns.items()]
        n_rows = len(next(iter(columns.values()), ()))
        data = np.empty(n_rows, dtype=fields)
        for name, column in columns.items():
            data[str(name)] = column
        return data

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Make a field; texts come back as texts, also those that were bytes."""
        data = values.data
        kind = dtype.kind if isinstance(dtype, np.dtype) else "O"
        if values.kind == "date":
            return times_of(data, whole_days, fine)
        if values.kind in ("number", "empty"):
            integer = not fine and kind in "iu"
            data = whole(data, integer)
            return data.astype(dtype) if integer and holds(dtype, data) else data
        if kind == "b" and values.kind == "boolean" and all(v is not None for v in data):
            return data.astype(bool)
        return data


def unmasked(column: Any) -> NDArray[Any]:
    """Return a field without its mask: NaN, NaT or None where it hides something."""
    hidden, data = np.ma.getmaskarray(column), np.asarray(column)
    if not hidden.any():
        return data
    data = decoded(data)
    if data.dtype.kind in "iu":
        data = data.astype(np.float64)
    if data.dtype.kind not in "fM":
        data = as_objects(data.tolist())
    data = data.copy()
    data[hidden] = np.datetime64("NaT") if data.dtype.kind == "M" else None
    return data


def decoded(column: NDArray[Any]) -> NDArray[Any]:
    """Return bytes as texts; those that are not UTF-8 are taken as Latin-1."""
    if column.dtype.kind != "S":
        return column
    try:
        return np.char.decode(column, "utf-8")
    except UnicodeDecodeError:
        return np.char.decode(column, "latin-1")
