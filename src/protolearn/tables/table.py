"""Tables that are read and built by columns, whatever library they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from .._arrays import Floats
from .._names import free_name, suggest_name
from .dtypes import WrittenType
from .values import (
    MICROSECONDS,
    Values,
    as_objects,
    infer_values,
    not_understood,
    to_days,
    to_times,
    zone_of,
)

WHOLE = 1e-9
"""Relative difference from an integer that is rounding."""

TEXTS, NO_VALUES = (nw.String, nw.Categorical, nw.Enum), (nw.Object, nw.Unknown)
"""Types of columns of texts, and those that tell nothing about the values."""


def library_of(X: Any) -> str:
    """Return which library a table is of; what is no frame is taken for an array."""
    module = type(X).__module__.partition(".")[0]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return "pandas"
    if module == "polars":
        if type(X).__name__ != "DataFrame":
            raise TypeError(
                f"A {type(X).__name__} of polars is given; expected a DataFrame. "
                "Call collect() on a LazyFrame, to_frame() on a Series."
            )
        return "polars"
    if module == "pyarrow" and hasattr(X, "column_names"):
        return "pyarrow"
    return "numpy" if getattr(getattr(X, "dtype", None), "names", None) is None else "structured"


class Table:
    """A frame or an array that can be read by columns.

    The columns of an array of two dimensions are called x0, x1, ...; those of a structured array
    are its fields.
    """

    def __init__(self, data: Any):
        self.library, self.index = library_of(data), None  # the names of the rows, of pandas
        if self.library == "structured":
            data = plain_fields(data)
            self.names = list(data.dtype.names)
        elif self.library == "numpy":
            self.names = [f"x{j}" for j in range(data.shape[1])]
        else:
            self.names = list(getattr(data, "column_names", None) or data.columns)
        self.places = {name: place for place, name in enumerate(self.names)}
        if len(self.places) < len(self.names):
            twice = Counter(self.names).most_common(1)[0][0]
            raise ValueError(
                f"The frame has several columns with the name {twice!r}; names must differ. "
                "Rename or drop some."
            )
        self.data, self.n_rows = data, data.shape[0]
        self.is_frame = self.library not in ("numpy", "structured")
        if self.is_frame:
            self.frame = nw.from_native(data, eager_only=True)
        if self.library == "pandas":
            self.index = data.index

    def column(self, name: Any) -> Any:
        """Return a column: an array, or a series of narwhals."""
        if self.library == "structured":
            return np.asarray(self.data[name])
        return (self.frame if self.is_frame else self.data)[:, self.places[name]]

    def dtype(self, name: Any) -> Any:
        """Return the type of a column in its library."""
        column = self.column(name)
        native = nw.to_native(column, pass_through=True)
        return native.type if self.library == "pyarrow" else native.dtype

    def select(self, names: Sequence[Any]) -> Any:
        """Return some columns."""
        if self.is_frame:
            return self.frame[:, [self.places[name] for name in names]].to_native()
        return self.data[list(names)]

    def read(self, name: Any) -> Values:
        """Return by the type what a column is, and by the values where the type tells nothing."""
        column = self.column(name)
        if not self.is_frame:
            return array_values(column, name)
        dtype = column.dtype
        if dtype == nw.Boolean:
            return Values("boolean", as_objects(column.to_list()))
        if dtype.is_numeric():
            return Values("number", as_numbers(column.cast(nw.Float64)))
        if dtype == nw.Date or dtype == nw.Datetime:
            if getattr(dtype, "time_zone", None):
                column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            ticks = column.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64)
            return Values("date", as_numbers(ticks) / MICROSECONDS)
        if dtype in TEXTS:
            categories: Any = getattr(self.dtype(name), "categories", None)
            order = categories.to_list() if hasattr(categories, "to_list") else []
            return Values("category", as_objects(column.to_list()), tuple(order) or None)
        if dtype not in NO_VALUES:
            raise not_understood(name, self.dtype(name))
        if getattr(self.dtype(name), "kind", "") == "c":
            raise ValueError(f"Complex data not supported: column {name!r} is {self.dtype(name)}.")
        return infer_values(column.to_list(), name)


def as_numbers(series: Any) -> Floats:
    """Return a series of numbers as an array, with NaN where one is missing."""
    numbers = series.to_numpy()
    if numbers.dtype == object:  # of older versions of pandas, with marks of missing values
        known = as_objects(series.to_list())
        numbers = [np.nan if value is None else value for value in known]
    return np.array(numbers, dtype=np.float64)


def array_values(column: NDArray[Any], name: Any) -> Values:
    """Return the values of an array by its type, or by what is in it."""
    kind = column.dtype.kind
    if column.dtype.names is not None or column.ndim > 1:
        raise not_understood(name, f"arrays or records ({column.dtype})")
    if kind in "fiu":
        return Values("number", column.astype(np.float64))
    if kind == "M":
        return Values("date", to_days(column))
    if kind == "b":
        return Values("boolean", column.astype(object))
    if kind in "SU":
        return Values("category", decode_bytes(column).astype(object))
    types = set(map(type, column)) if kind == "O" else set()
    if str in types and types <= {str, type(None)}:  # quick, where rows are many
        return Values("category", column)
    if kind in "OVT":
        return infer_values(column.tolist(), name)
    raise not_understood(name, column.dtype)


def native_column(
    library: str, values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False
) -> Any:
    """Return a column of some library, of a type if it can hold the values.

    ``whole_days``: dates to the nearest day; ``fine``: numbers and dates with all their digits,
    whatever the type.
    """
    data, kind = values.data, values.kind
    is_number = kind in ("number", "empty")
    known = None if isinstance(dtype, WrittenType) or (fine and data.dtype != object) else dtype
    if kind == "date":
        data = to_times(data, whole_days, fine)
    elif is_number:
        data = without_rounding(data, dtype_kind(known) in "iu")
        fits = dtype_kind(known) in "iuf" and (dtype_kind(known) == "f" or is_whole(data))
        known = known if fits else None
    if library in ("numpy", "structured"):
        if is_number and dtype_kind(known) in "iu" and fits_dtype(known, data):
            return data.astype(known)
        truths = library == "structured" and kind == "boolean" and dtype_kind(known) == "b"
        return data.astype(bool) if truths and None not in data.tolist() else data
    if library == "pandas":
        import pandas as pd  # type: ignore[import-untyped]

        series = pd.Series(data, dtype=None if kind == "date" or is_number else object)
    elif library == "polars":
        import polars as pl

        plain = data if kind == "date" or is_number else data.tolist()
        series = pl.Series(plain, strict=False, nan_to_null=True)
    else:
        import pyarrow as pa

        plain = data if kind == "date" or is_number else data.tolist()
        series = pa.chunked_array([pa.array(plain, from_pandas=True)])
    return cast_series(nw.from_native(series, series_only=True), known, library)


def cast_series(series: Any, dtype: Any, library: str) -> Any:
    """Return a series of a type, or as it is if that cannot hold it."""
    if zone_of(dtype) is not None:
        series = series.dt.replace_time_zone("UTC")
    native, holes = series.to_native(), series.null_count()
    is_text = library == "pandas" and native.dtype == object
    known = getattr(dtype, "categories", None)
    is_lost = is_text and known is not None and not native.dropna().isin(known).all()
    # Some types would make a value of None.
    if dtype is None or is_lost or (holes and isinstance(dtype, np.dtype) and dtype.kind in "bU"):
        return native
    try:
        with np.errstate(invalid="ignore"):
            if library == "polars":
                found = native.cast(dtype, strict=False)
            else:
                found = native.astype(dtype) if library == "pandas" else native.cast(dtype)
        back = nw.from_native(found, series_only=True)
        whole = series.dtype.is_float() and dtype_kind(dtype) in "iu"
        lost = back.null_count() > holes or (whole and bool((back != series).any()))
        return native if lost else found
    except Exception:  # of any library: it cannot hold them
        return native


def build_frame(library: str, columns: Mapping[Any, Any], index: Any = None) -> Any:
    """Return a frame of columns, or an array."""
    if library == "numpy":
        parts = list(columns.values())
        if len({part.dtype.kind for part in parts}) > 1:
            parts = [part.astype(object) for part in parts]
        return np.stack(parts, axis=1)
    if library == "structured":
        fields = [(str(name), column.dtype, column.shape[1:]) for name, column in columns.items()]
        data = np.empty(len(next(iter(columns.values()), ())), dtype=fields)
        for name, column in columns.items():
            data[str(name)] = column
        return data
    parts = [
        nw.from_native(column, series_only=True).alias(str(place))
        for place, column in enumerate(columns.values())
    ]
    frame: Any = parts[0].to_frame().with_columns(*parts[1:])
    if library != "pandas":
        return frame.rename(dict(zip(frame.columns, map(str, columns), strict=True))).to_native()
    found = frame.to_native()
    found.columns = type(found.columns)(list(columns), tupleize_cols=False)
    return found if index is None else found.set_axis(index)


def labelled_frame(library: str, columns: Mapping[Any, Any], labels: Any) -> Any:
    """Return a frame whose rows have labels, of pandas as its index, else in a column."""
    if library == "pandas":
        import pandas as pd

        return build_frame(library, columns, pd.Index(labels, name="label"))
    name = free_name("prototype_label", columns) if "label" in columns else "label"
    return build_frame(
        library, {name: native_column(library, Values("category", labels), None), **columns}
    )


def dtype_kind(dtype: Any) -> str:
    """Return the letter that NumPy has for types like that of a column of any library."""
    dtype = getattr(dtype, "pyarrow_dtype", dtype)
    text = str(dtype).lower()
    if text.startswith(("int", "uint")):
        return "i"
    if text.startswith(("float", "double", "halffloat", "decimal")):
        return "f"
    return getattr(dtype, "kind", "O")


def plain_fields(data: Any) -> Any:
    """Return a structured array without masks: NaN, NaT or None where one hides something."""
    if data.ndim != 1:
        raise ValueError(
            f"Found a structured array of shape {data.shape}; expected shape (n_samples,). "
            "Of a single row make an array by np.atleast_1d."
        )
    if type(data) in (np.ndarray, np.recarray):
        return data
    columns = {}  # of masked arrays, or records of FITS
    for name in data.dtype.names:
        hidden, column = np.ma.getmaskarray(data[name]), np.asarray(data[name])
        if hidden.any():
            column = decode_bytes(column)
            column = column.astype(np.float64) if column.dtype.kind in "iu" else column.copy()
            if column.dtype.kind not in "fM":
                column = as_objects(column.tolist())
            column[hidden] = np.datetime64("NaT") if column.dtype.kind == "M" else None
        columns[name] = column
    return build_frame("structured", columns)


def decode_bytes(column: NDArray[Any]) -> NDArray[Any]:
    """Return bytes as texts; those that are not UTF-8 are taken as Latin-1."""
    if column.dtype.kind != "S":
        return column
    try:
        return np.char.decode(column, "utf-8")
    except UnicodeDecodeError:
        return np.char.decode(column, "latin-1")


def is_whole(data: Floats) -> bool:
    """Whether all numbers that are there are integers."""
    known = data[~np.isnan(data)]
    return bool((known == np.rint(known)).all())


def fits_dtype(dtype: Any, data: Floats) -> bool:
    """Whether numbers are integers that a type of NumPy can hold."""
    ends = np.iinfo(dtype)
    # As a double the greatest integer of 64 bits is the first that is too large.
    inside = (data >= float(ends.min)) & (data < float(ends.max) + 1.0)
    return is_whole(data) and bool(inside.all())


def without_rounding(data: Any, integer: bool) -> Floats:
    """Return numbers; of integers without what rounding has added."""
    data = np.array([np.nan if v is None else v for v in data], dtype=np.float64)
    nearest = np.rint(data)
    off = np.abs(data - nearest)[~np.isnan(data)]
    size = np.maximum(np.abs(nearest[~np.isnan(data)]), 1.0)
    return nearest if integer and (off <= WHOLE * size).all() else data


def input_table(encoder: Any, X: Any, reset: bool) -> Table:
    """Return a table that can be read by columns, checked against the one of ``fit``.

    Unless ``reset``, its columns are those of ``fit``, in that order.
    """
    if library_of(X) == "numpy":
        if not hasattr(X, "dtype"):  # keep numbers beside texts
            X = np.asarray(X, dtype=object)
        options: Any = {"dtype": None, "ensure_all_finite": False}
        return Table(validate_data(encoder, X, reset=reset, **options))
    table = Table(X)
    if table.n_rows == 0 or not table.names:
        raise ValueError(
            f"Found a frame of shape {X.shape}: a minimum of 1 row and 1 column is required."
        )
    if not reset and encoder.library_ != "numpy":
        names = [column.name for column in encoder.columns_]
        lost = [name for name in names if name not in table.places]
        if lost:
            raise ValueError(
                f"The frame has no column {lost[0]!r}, which was there when the encoder was fitted"
                + (f" (nor {', '.join(map(repr, lost[1:5]))})" if lost[1:] else "")
                + f".{suggest_name(lost[0], table.names)}"
            )
        table = Table(table.select(names))
    if table.is_frame:
        validate_data(encoder, table.data, reset=reset, skip_check_array=True)
        return table
    # To scikit-learn a structured array has no columns.
    if reset or encoder.library_ == "numpy":
        places = np.empty((1, len(table.names)))
        validate_data(encoder, places, reset=reset, skip_check_array=True)
    if reset:
        encoder.feature_names_in_ = np.array(table.names, dtype=object)
    return table


def find_column(name: Any, table: Table, parameter: str) -> Any:
    """Return the name of a column, of an array also by its place."""
    if name in table.places:
        return name
    n = len(table.names)
    if table.library == "numpy" and isinstance(name, (int, np.integer)) and -n <= name < n:
        return table.names[name]
    raise ValueError(
        f"{parameter} names the column {name!r}, which the table does not have."
        f"{suggest_name(name, table.names)}"
    )
