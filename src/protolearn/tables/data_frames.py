"""Data frames of pandas and polars as tables, and the table that an encoder is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from .._arrays import Floats
from .table import ArrayTable, StructuredTable, Table, is_whole, suggest_name, without_rounding
from .values import (
    MICROSECONDS,
    Values,
    as_objects,
    infer_values,
    not_understood,
    to_days,
    to_times,
)


class PandasTable(Table):
    """A data frame of pandas."""

    def __init__(self, data: Any):
        super().__init__(data, data.columns.tolist())
        self.index = data.index

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
            return Values("date", to_days(series.to_numpy(dtype="datetime64[us]")))
        return infer_values(_objects(series), name)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a data frame."""
        import pandas as pd

        columns = {
            name: column.set_axis(index) if index is not None else column.reset_index(drop=True)
            for name, column in columns.items()
        }
        frame = pd.DataFrame(columns, index=index)
        frame.columns = pd.Index(list(columns), tupleize_cols=False)
        return frame

    @classmethod
    def build_labelled(cls, columns: dict[Any, Any], labels: Any) -> Any:
        """Return a data frame with labels as its index."""
        import pandas as pd

        return cls.build(columns, pd.Index(labels, name="label"))

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return a series."""
        import pandas as pd

        data, kind = values.data, values.kind
        if kind == "date":
            series = pd.Series(to_times(data, whole_days, fine))
            zone = getattr(dtype, "tz", None)
            series = series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)
            fits = not fine and pd.api.types.is_datetime64_any_dtype(dtype)
        elif kind in ("number", "empty"):
            integer = not fine and pd.api.types.is_integer_dtype(dtype)
            series = pd.Series(without_rounding(data, integer))
            numeric = pd.api.types.is_numeric_dtype(dtype)
            fits = not fine and numeric and (not integer or is_whole(series))
        else:
            series = pd.Series(data, dtype=object)
            # Some arrays would make a value of None.
            makes_values = isinstance(dtype, np.dtype) and dtype.kind in "bU"
            fits = dtype is not None and not (makes_values and series.isna().any())
        return _cast(series, dtype) if fits else series


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
            return infer_values(series.to_list(), name)
        raise not_understood(name, dtype)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a data frame."""
        import polars as pl

        return pl.DataFrame([column.alias(str(name)) for name, column in columns.items()])

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return a series."""
        import polars as pl

        data, kind = values.data, values.kind
        typed = isinstance(dtype, (pl.DataType, type(pl.Int64)))
        if kind == "date":
            series = pl.Series(to_times(data, whole_days, fine))
            zone = getattr(dtype, "time_zone", None)
            if zone is not None:
                series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
            fits = typed and not fine
        elif kind in ("number", "empty"):
            integer = typed and not fine and dtype.is_integer()
            data = without_rounding(data, integer)
            series = pl.Series(data, nan_to_null=True)
            fits = typed and not fine and (dtype.is_float() or (integer and is_whole(data)))
        else:
            series = pl.Series(data.tolist(), strict=False)
            fits = typed and dtype != pl.Object
        found = series.cast(dtype, strict=False) if fits else series
        return series if found.null_count() > series.null_count() else found  # it cannot hold them


def _doubles(series: Any) -> Floats:
    """Return a series of polars as doubles, NaN where one is missing."""
    return np.array(series.cast(float).fill_null(np.nan).to_numpy(), dtype=np.float64)


LIBRARIES: dict[str, Any] = {
    "pandas": PandasTable,
    "polars": PolarsTable,
    "structured": StructuredTable,
    "numpy": ArrayTable,
}


def library_of(X: Any) -> str:
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


def input_table(encoder: Any, X: Any, reset: bool) -> Table:
    """Return a table that can be read by columns, checked against the one of ``fit``.

    Unless ``reset``, its columns are those of ``fit``, in that order.
    """
    kind = library_of(X)
    if kind == "numpy":
        if not hasattr(X, "dtype"):  # keep numbers beside texts
            X = np.asarray(X, dtype=object)
        options: Any = {"dtype": None, "ensure_all_finite": False}
        return ArrayTable(validate_data(encoder, X, reset=reset, **options))
    table = LIBRARIES[kind](X)
    if table.n_rows == 0 or not table.names:
        raise ValueError(
            f"Found a frame of shape {X.shape}: a minimum of 1 row and 1 column is required."
        )
    if not reset and encoder.library_ != "numpy":
        table = LIBRARIES[kind](table.data[names_here(encoder, table)])
    if kind == "structured":
        check_fields(encoder, table, reset)
    else:
        validate_data(encoder, table.data, reset=reset, skip_check_array=True)
    return table


def check_fields(encoder: Any, table: Table, reset: bool) -> None:
    """Check a structured array, which to scikit-learn has no columns, as it does frames."""
    if reset or encoder.library_ == "numpy":
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
            + f".{suggest_name(lost[0], table.names)}"
        )
    return names
