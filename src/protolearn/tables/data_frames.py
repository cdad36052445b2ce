"""Data frames of pandas, polars and pyarrow as tables, and the table that an encoder is given."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import validate_data

from .._arrays import Floats
from .table import ArrayTable, StructuredTable, Table, is_whole, suggest_name, without_rounding
from .values import MICROSECONDS, Values, as_objects, infer_values, not_understood, to_times

TEXTS = nw.String, nw.Categorical, nw.Enum
NO_VALUES = nw.Object, nw.Unknown
"""Types of columns that tell nothing about the values."""


def as_numbers(series: Any) -> Floats:
    """Return a series of numbers as an array, with NaN where one is missing."""
    numbers = series.to_numpy()
    if numbers.dtype == object:  # of older versions of pandas, with marks of missing values
        known = as_objects(series.to_list())
        numbers = [np.nan if value is None else value for value in known]
    return np.array(numbers, dtype=np.float64)


class FrameTable(Table):
    """A data frame of any library, whose columns are read by narwhals."""

    def __init__(self, data: Any):
        names = getattr(data, "column_names", None) or list(data.columns)
        super().__init__(data, names)

    def select(self, names: Any) -> Any:
        """Return a frame of some columns."""
        return self.data[names]

    def read(self, name: Any) -> Values:
        """Return by the type what a column is, and by the values where the type tells nothing."""
        native = self.column(name)
        series = nw.from_native(native, series_only=True)
        dtype = series.dtype
        if dtype == nw.Boolean:
            return Values("boolean", as_objects(series.to_list()))
        if dtype.is_numeric():
            return Values("number", as_numbers(series.cast(nw.Float64)))
        if dtype == nw.Date or dtype == nw.Datetime:
            if getattr(dtype, "time_zone", None):
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            ticks = series.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64)
            return Values("date", as_numbers(ticks) / MICROSECONDS)
        if dtype in TEXTS:
            return Values("category", as_objects(series.to_list()), self.order(name))
        if dtype not in NO_VALUES:
            raise not_understood(name, self.dtype(name))
        if getattr(self.dtype(name), "kind", "") == "c":
            raise ValueError(f"Complex data not supported: column {name!r} is {self.dtype(name)}.")
        return infer_values(series.to_list(), name)

    def order(self, name: Any) -> tuple[Any, ...] | None:
        """Return the categories of a column, where its type has all of them in an order."""
        categories: Any = getattr(self.dtype(name), "categories", None)
        found = categories.to_list() if hasattr(categories, "to_list") else []
        return tuple(found) or None


class PandasTable(FrameTable):
    """A data frame of pandas."""

    def __init__(self, data: Any):
        super().__init__(data)
        self.names, self.index = data.columns.tolist(), data.index

    def column(self, name: Any) -> Any:
        """Return a series."""
        return self.data.iloc[:, self.names.index(name)]

    def dtype(self, name: Any) -> Any:
        """Return its dtype."""
        return self.column(name).dtype

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a data frame."""
        import pandas as pd  # type: ignore[import-untyped]

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


class PolarsTable(FrameTable):
    """A data frame of polars."""

    def column(self, name: Any) -> Any:
        """Return a series."""
        return self.data.get_column(name)

    def dtype(self, name: Any) -> Any:
        """Return its dtype."""
        return self.data.schema[name]

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


class ArrowFrame(FrameTable):
    """A table of pyarrow."""

    def column(self, name: Any) -> Any:
        """Return a chunked array."""
        return self.data.column(name)

    def dtype(self, name: Any) -> Any:
        """Return its type."""
        return self.data.schema.field(name).type

    def select(self, names: Any) -> Any:
        """Return a table of some columns."""
        return self.data.select(list(names))

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a table."""
        import pyarrow as pa

        return pa.table({str(name): column for name, column in columns.items()})

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return an array."""
        import pyarrow as pa

        data, known = values.data, isinstance(dtype, pa.DataType) and not fine
        if values.kind == "date":
            found = pa.array(to_times(data, whole_days, fine))
            if known and getattr(dtype, "tz", None):
                found = found.cast(pa.timestamp("us", "UTC"))
        elif values.kind in ("number", "empty"):
            whole = known and pa.types.is_integer(dtype)
            found = pa.array(without_rounding(data, whole), from_pandas=True)
            known = known and (not whole or is_whole(data))
        else:
            found = pa.array(data.tolist(), pa.bool_() if values.kind == "boolean" else None)
        try:
            return found.cast(dtype) if known else found
        except pa.ArrowException:  # it cannot hold them
            return found


LIBRARIES: dict[str, Any] = {
    "pandas": PandasTable,
    "polars": PolarsTable,
    "pyarrow": ArrowFrame,
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
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "column_names"):
        return "pyarrow"
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
        table = LIBRARIES[kind](table.select(names_here(encoder, table)))
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
