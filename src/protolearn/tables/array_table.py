"""Arrays as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import Table, holds, whole
from .values import Values, days, of_objects, times_of


class ArrayTable(Table):
    """An array of two dimensions; its columns are called x0, x1, ..."""

    def __init__(self, data: NDArray[Any]):
        super().__init__(data, [f"x{j}" for j in range(data.shape[1])])

    def column(self, name: Any) -> Any:
        """Return a column."""
        return self.data[:, self.names.index(name)]

    def dtype(self, name: Any) -> Any:
        """Return the type of the whole."""
        return self.data.dtype

    def read(self, name: Any) -> Values:
        """Return by the type of the array, or by the values."""
        column, kind = self.column(name), self.data.dtype.kind
        if kind in "fiu":
            return Values("number", column.astype(np.float64))
        if kind == "M":
            return Values("date", days(column))
        return of_objects(column.tolist(), name)

    def without(self, name: Any) -> Any:
        """Return the array without a column."""
        return np.delete(self.data, self.names.index(name), axis=1)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Make an array."""
        parts = list(columns.values())
        if len({part.dtype.kind for part in parts}) > 1:
            parts = [part.astype(object) for part in parts]
        return np.stack(parts, axis=1)

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Make a column."""
        if values.kind == "date":
            return times_of(values.data, whole_days, fine)
        if values.kind in ("number", "empty"):
            integer = not fine and isinstance(dtype, np.dtype) and dtype.kind in "iu"
            data = whole(values.data, integer)
            return data.astype(dtype) if integer and holds(dtype, data) else data
        return values.data
