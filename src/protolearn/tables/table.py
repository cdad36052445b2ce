"""A table that is read and built by columns, whatever library it comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from .._arrays import Floats
from .values import Values

WHOLE = 1e-9
"""Relative difference from an integer that is rounding."""


class Table(ABC):
    """A table that can be read by columns.

    Parameters
    ----------
    data : frame or array
        What it holds.
    names : sequence
        Names of the columns, each there once.
    """

    def __init__(self, data: Any, names: Sequence[Any]):
        self.data, self.names = data, list(names)
        self.n_rows = data.shape[0]
        twice = [name for name, number in Counter(self.names).items() if number > 1]
        if twice:
            raise ValueError(
                f"The frame has several columns with the name {twice[0]!r}; names must differ. "
                "Rename or drop some."
            )

    @property
    def index(self) -> Any:
        """Names of the rows, if there are some."""
        return None

    @abstractmethod
    def column(self, name: Any) -> Any:
        """Return a column as it is."""

    @abstractmethod
    def dtype(self, name: Any) -> Any:
        """Return the type of a column."""

    @abstractmethod
    def read(self, name: Any) -> Values:
        """Return the values of a column."""

    @abstractmethod
    def without(self, name: Any) -> Any:
        """Return the data without a column."""

    @staticmethod
    @abstractmethod
    def build(columns: dict[Any, Any], index: Any = None) -> Any:
        """Make a frame of columns."""

    @classmethod
    def labelled(cls, columns: dict[Any, Any], labels: Any) -> Any:
        """Make a frame whose rows have labels, in a column of their own."""
        name = free("prototype_label", columns) if "label" in columns else "label"
        return cls.build({name: cls.series(Values("category", labels), None), **columns})

    @staticmethod
    @abstractmethod
    def series(values: Values, dtype: Any, *, whole_days: bool = False, fine: bool = False) -> Any:
        """Make a column of values, of a type if it can hold them.

        ``whole_days``: dates to the nearest day; ``fine``: numbers and dates with all their digits,
        whatever the type.
        """


def free(name: str, taken: Container[Any]) -> str:
    """Return a name, with a number if it is taken."""
    names = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(other for other in names if other not in taken)


def is_whole(data: Any) -> bool:
    """Whether all numbers that are there are integers."""
    known = data[~np.isnan(data)]
    return bool((known == np.rint(known)).all())


def holds(dtype: Any, data: Floats) -> bool:
    """Whether numbers are integers that a type of NumPy can hold."""
    ends = np.iinfo(dtype)
    # As a double the greatest integer of 64 bits is the first that is too large.
    inside = (data >= float(ends.min)) & (data < float(ends.max) + 1.0)
    return is_whole(data) and bool(inside.all())


def whole(data: Any, integer: bool) -> Floats:
    """Return numbers; of integers without what rounding has added."""
    data = np.array([np.nan if v is None else v for v in data], dtype=np.float64)
    nearest = np.rint(data)
    off = np.abs(data - nearest)[~np.isnan(data)]
    size = np.maximum(np.abs(nearest[~np.isnan(data)]), 1.0)
    return nearest if integer and (off <= WHOLE * size).all() else data
