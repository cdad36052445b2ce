"""Data frames of polars."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Floats
from .table import Table, is_whole, whole
from .values import MICROSECONDS, Values, as_objects, not_understood, of_objects, times_of


class PolarsTable(Table):
    """A data frame of polars."""

    def __init__(self, data: Any):
        super().__init__(data, data.columns)

    def column(self, name: Any) -> Any:
        """Return a series."""
        return self.data.get_column(name)

    def dtype(self, name: Any) -> Any:
        """Return its dtype."""
        return self.data.schema[name]

    def read(self, name: Any) -> Values:
        """Return by the dtype what it is."""
        import polars as pl

        series = self.column(name)
        dtype = series.dtype
        if dtype == pl.Boolean:
            return Values("boolean", as_objects(series.to_list()))
        if dtype.is_numeric():
            return Values("number", _doubles(series))
        if dtype in (pl.Date, pl.Datetime):
            stamps = series.cast(pl.Datetime("us", getattr(dtype, "time_zone", None)))
            return Values("date", _doubles(stamps.to_physical()) / MICROSECONDS)
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            order = tuple(dtype.categories.to_list()) if dtype == pl.Enum else None
            return Values("category", as_objects(series.cast(pl.String).to_list()), order)
        if dtype in (pl.Object, pl.Null):
            return of_objects(series.to_list(), name)
        raise not_understood(name, dtype)

    def without(self, name: Any) -> Any:
        """Return the frame without a column."""
        return self.data.drop(name)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Make a data frame."""
        import polars as pl

        return pl.DataFrame([column.alias(str(name)) for name, column in columns.items()])

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Make a series."""
        import polars as pl

        data, kind = values.data, values.kind
        typed = isinstance(dtype, (pl.DataType, type(pl.Int64)))
        if kind == "date":
            series = pl.Series(times_of(data, whole_days, fine))
            zone = getattr(dtype, "time_zone", None)
            if zone is not None:
                series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
            wanted = dtype if typed and not fine else None
        elif kind in ("number", "empty"):
            integer = typed and not fine and dtype.is_integer()
            data = whole(data, integer)
            series = pl.Series(data, nan_to_null=True)
            fits = typed and (dtype.is_float() or (integer and is_whole(data)))
            wanted = dtype if fits and not fine else None
        else:
            series = pl.Series(data.tolist(), strict=False)
            wanted = dtype if typed and dtype != pl.Object else None
        if wanted is None:
            return series
        found = series.cast(wanted, strict=False)
        return series if found.null_count() > series.null_count() else found  # it cannot hold them


def _doubles(series: Any) -> Floats:
    """Return a series of polars as doubles."""
    import polars as pl

    return np.array(series.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
