"""Data frames of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import Table, is_whole, whole
from .values import Values, days, of_objects, times_of


class PandasTable(Table):
    """A data frame of pandas."""

    def __init__(self, data: Any):
        super().__init__(data, data.columns.tolist())

    @property
    def index(self) -> Any:
        """The index."""
        return self.data.index

    def column(self, name: Any) -> Any:
        """Return a series."""
        return self.data.iloc[:, self.names.index(name)]

    def dtype(self, name: Any) -> Any:
        """Return its dtype."""
        return self.column(name).dtype

    def read(self, name: Any) -> Values:
        """Return by the dtype what it is, and by the values where the dtype is object."""
        import pandas as pd  # type: ignore[import-untyped]

        series, types = self.column(name), pd.api.types
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return Values("category", _objects(series), tuple(dtype.categories.tolist()))
        if types.is_bool_dtype(dtype):
            return Values("boolean", _objects(series))
        if types.is_complex_dtype(dtype):
            raise ValueError(f"Complex data not supported: column {name!r} is {dtype}.")
        if types.is_numeric_dtype(dtype):
            return Values("number", series.to_numpy(dtype=np.float64, na_value=np.nan))
        if types.is_datetime64_any_dtype(dtype):
            if series.dt.tz is not None:
                series = series.dt.tz_convert("UTC").dt.tz_localize(None)
            return Values("date", days(series.to_numpy(dtype="datetime64[us]")))
        return of_objects(_objects(series), name)

    def without(self, name: Any) -> Any:
        """Return the frame without a column."""
        return self.data.drop(columns=[name])

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Make a data frame."""
        import pandas as pd

        columns = {
            name: column.set_axis(index) if index is not None else column.reset_index(drop=True)
            for name, column in columns.items()
        }
        frame = pd.DataFrame(columns, index=index)
        frame.columns = pd.Index(list(columns), tupleize_cols=False)
        return frame

    @classmethod
    def labelled(cls, columns: dict[Any, Any], labels: Any) -> Any:
        """Make a data frame with labels as its index."""
        import pandas as pd

        return cls.build(columns, pd.Index(labels, name="label"))

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Make a series."""
        import pandas as pd

        data, kind = values.data, values.kind
        if kind == "date":
            series = pd.Series(times_of(data, whole_days, fine))
            zone = getattr(dtype, "tz", None)
            series = series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)
            typed = pd.api.types.is_datetime64_any_dtype(dtype)
            wanted = dtype if typed and not fine else None
        elif kind in ("number", "empty"):
            integer = not fine and pd.api.types.is_integer_dtype(dtype)
            series = pd.Series(whole(data, integer))
            fits = pd.api.types.is_numeric_dtype(dtype) and (not integer or is_whole(series))
            wanted = dtype if fits and not fine else None
        else:
            series, wanted = pd.Series(data, dtype=object), dtype
            if isinstance(dtype, np.dtype) and dtype.kind in "bU" and series.isna().any():
                wanted = None  # such an array would make a value of None
        return series if wanted is None else _cast(series, wanted)


def _cast(series: Any, dtype: Any) -> Any:
    """Return a series of a type, or as it is if that cannot hold it."""
    if hasattr(dtype, "categories") and not series.dropna().isin(dtype.categories).all():
        return series
    try:
        with np.errstate(invalid="ignore"):
            found = series.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return series
    lost = found.isna().sum() > series.isna().sum()
    whole_numbers = series.dtype.kind == "f" and getattr(dtype, "kind", "O") in "iu"
    return series if lost or (whole_numbers and (found != series).any()) else found


def _objects(series: Any) -> NDArray[Any]:
    """Return a series of pandas as objects, None where one is missing."""
    data = np.array(series.astype(object).to_numpy(dtype=object), dtype=object)
    data[series.isna().to_numpy(dtype=bool)] = None
    return data
