"""Tables that are read and built by columns: what all have in common, arrays, and their names."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats
from .values import Values, as_objects, infer_values, not_understood, to_days, to_times

WHOLE = 1e-9
"""Relative difference from an integer that is rounding."""


class Table(ABC):
    """A frame or an array that can be read by columns, whatever library it comes from."""

    def __init__(self, data: Any, names: Sequence[Any]):
        self.data, self.names = data, list(names)
        self.n_rows, self.index = data.shape[0], None  # the names of the rows, of pandas
        twice = [name for name, number in Counter(self.names).items() if number > 1]
        if twice:
            raise ValueError(
                f"The frame has several columns with the name {twice[0]!r}; names must differ. "
                "Rename or drop some."
            )

    @abstractmethod
    def column(self, name: Any) -> Any:
        """Return a column as it is."""

    @abstractmethod
    def dtype(self, name: Any) -> Any:
        """Return the type of a column."""

    def select(self, names: Any) -> Any:
        """Return some columns."""
        return self.data[names]

    @abstractmethod
    def read(self, name: Any) -> Values:
        """Return the values of a column."""

    @staticmethod
    @abstractmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a frame of columns."""

    @classmethod
    def build_labelled(cls, columns: dict[Any, Any], labels: Any) -> Any:
        """Return a frame whose rows have labels, in a column of their own."""
        name = free_name("prototype_label", columns) if "label" in columns else "label"
        return cls.build({name: cls.series(Values("category", labels), None), **columns})

    @staticmethod
    @abstractmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return a column of values, of a type if it can hold them.

        ``whole_days``: dates to the nearest day; ``fine``: numbers and dates with all their digits,
        whatever the type.
        """


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
            return Values("date", to_days(column))
        return infer_values(column.tolist(), name)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return an array."""
        parts = list(columns.values())
        if len({part.dtype.kind for part in parts}) > 1:
            parts = [part.astype(object) for part in parts]
        return np.stack(parts, axis=1)

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return a column; texts come back as texts, also those that were bytes."""
        if values.kind == "date":
            return to_times(values.data, whole_days, fine)
        if values.kind in ("number", "empty"):
            integer = not fine and isinstance(dtype, np.dtype) and dtype.kind in "iu"
            data = without_rounding(values.data, integer)
            return data.astype(dtype) if integer and fits_dtype(dtype, data) else data
        return values.data


class StructuredTable(Table):
    """A structured array of one dimension, a field a column."""

    def __init__(self, data: Any):
        if data.ndim != 1:
            raise ValueError(
                f"Found a structured array of shape {data.shape}; expected shape (n_samples,). "
                "Of a single row make an array by np.atleast_1d."
            )
        names = list(data.dtype.names)
        if type(data) not in (np.ndarray, np.recarray):  # masked arrays, records of FITS
            data = self.build({name: fill_masked(data[name]) for name in names})
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
            return Values("date", to_days(column))
        if dtype.kind == "b":
            return Values("boolean", column.astype(object))
        if dtype.kind in "SU":
            return Values("category", decode_bytes(column).astype(object))
        types = set(map(type, column)) if dtype.kind == "O" else set()
        if str in types and types <= {str, type(None)}:  # quick, where rows are many
            return Values("category", column)
        if dtype.kind in "OV":
            return infer_values(column.tolist(), name)
        raise not_understood(name, dtype)

    @staticmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Return a structured array."""
        fields = [(str(name), column.dtype, column.shape[1:]) for name, column in columns.items()]
        data = np.empty(len(next(iter(columns.values()), ())), dtype=fields)
        for name, column in columns.items():
            data[str(name)] = column
        return data

    @staticmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Return a field; truth values are such if none is missing."""
        truths = values.kind == "boolean" and isinstance(dtype, np.dtype) and dtype.kind == "b"
        if truths and all(value is not None for value in values.data):
            return values.data.astype(bool)
        return ArrayTable.series(values, dtype, whole_days=whole_days, fine=fine)


def fill_masked(column: Any) -> NDArray[Any]:
    """Return a field without its mask: NaN, NaT or None where it hides something."""
    hidden, data = np.ma.getmaskarray(column), np.asarray(column)
    if not hidden.any():
        return data
    data = decode_bytes(data)
    if data.dtype.kind in "iu":
        data = data.astype(np.float64)
    if data.dtype.kind not in "fM":
        data = as_objects(data.tolist())
    data = data.copy()
    data[hidden] = np.datetime64("NaT") if data.dtype.kind == "M" else None
    return data


def decode_bytes(column: NDArray[Any]) -> NDArray[Any]:
    """Return bytes as texts; those that are not UTF-8 are taken as Latin-1."""
    if column.dtype.kind != "S":
        return column
    try:
        return np.char.decode(column, "utf-8")
    except UnicodeDecodeError:
        return np.char.decode(column, "latin-1")


def free_name(name: str, taken: Container[Any]) -> str:
    """Return a name, with a number if it is taken."""
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(other for other in names if other not in taken)


def is_whole(data: Any) -> bool:
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


def as_list(names: Any) -> list[Any]:
    """Return several names as a list; a single one is one."""
    if names is None:
        return []
    return [names] if isinstance(names, str) or not np.iterable(names) else list(names)


def find_column(name: Any, table: Table, parameter: str) -> Any:
    """Return the name of a column, of an array also by its place."""
    if name in table.names:
        return name
    if isinstance(table, ArrayTable) and isinstance(name, (int, np.integer)):
        n = len(table.names)
        if -n <= name < n:
            return table.names[name]
    raise ValueError(
        f"{parameter} names the column {name!r}, which the table does not have."
        f"{suggest_name(name, table.names)}"
    )


def suggest_name(name: Any, names: list[Any]) -> str:
    """Suggest a name that a misspelt one resembles, or tell which there are."""
    match = difflib.get_close_matches(str(name), [str(other) for other in names], 1)
    if match:
        return f" Did you mean {match[0]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f" It has {', '.join(map(repr, names[:8]))}{more}."
