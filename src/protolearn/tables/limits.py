"""What may change in a table: fixed columns, ranges of numbers, allowed categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats, Indices
from .columns import CategoryColumn, Column, NumberColumn, column_places
from .encoder import TableEncoder
from .table import as_list, suggest_name
from .values import as_times, from_clock, is_number, to_days, zone_of

SEEN = object()
"""In the place of a range: that of the training rows."""


@dataclass(frozen=True)
class Limits:
    """What may change of the d numbers that the encoder makes, in the user's units.

    Entries of categories are fixed as numbers, since they move by jumps.
    """

    fixed: NDArray[np.bool_]  # (d,), whether a number stays
    low: Floats  # (d,), the ranges of the others
    high: Floats
    allowed: dict[int, Indices]  # the codes to which categories may change, by place of the column
    bounded: set[int]  # the places of the columns in which only these are allowed

    @classmethod
    def of(cls, encoder: TableEncoder, fixed: Any, bounds: Any) -> Limits:
        """Read the parameters of a user."""
        names = [column.name for column in encoder.columns_]
        stays = {fitted_column(name, names, "fixed") for name in as_list(fixed)}
        ends = bounds_by_column(bounds, encoder.columns_)
        width = sum(column.width for column in encoder.columns_)
        still, low = np.zeros(width, dtype=bool), np.full(width, -np.inf)
        high, allowed, bounded = -low, {}, set()
        for j, places in enumerate(column_places(encoder.columns_)):
            column = encoder.columns_[j]
            moves, given = column.name not in stays, ends.get(column.name)
            still[places] = isinstance(column, CategoryColumn) or not moves
            if isinstance(column, CategoryColumn) and moves:
                allowed[j] = allowed_codes(column, given)
                bounded |= set() if given is None else {j}
            elif column.kind == "empty":
                still[places] = True
            elif moves and given is not None:
                low[places], high[places] = ends_of(column, given)
        return cls(still, low, high, allowed, bounded)

    def hold(self, plain: Floats) -> NDArray[np.bool_]:
        """Return which rows lie within the ranges."""
        return np.all((self.low <= plain) & (plain <= self.high), axis=1)

    def by_place(self) -> tuple[list[int] | None, dict[int, tuple[float, float]] | None]:
        """Return what ``counterfactual`` takes as fixed and bounds; None where there is nothing."""
        bounded = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high))
        ranges = {int(j): (float(self.low[j]), float(self.high[j])) for j in bounded}
        return np.flatnonzero(self.fixed).tolist() or None, ranges or None


def fitted_column(name: Any, names: list[Any], parameter: str) -> Any:
    """Return the name of a column, of an array also by its place; raise if there is none such."""
    is_array = names == [f"x{place}" for place in range(len(names))]
    if isinstance(name, (int, np.integer)) and is_array:
        name = f"x{name}"
    if name not in names:
        raise ValueError(
            f"{parameter} names the column {name!r}, which the model has not seen."
            f"{suggest_name(name, names)}"
        )
    return name


def bounds_by_column(bounds: Any, columns: tuple[Column, ...]) -> dict[Any, Any]:
    """Return the bounds of a user by column."""
    if bounds is None:
        return {}
    if isinstance(bounds, str) and bounds == "training":
        return {column.name: SEEN for column in columns if isinstance(column, NumberColumn)}
    if not isinstance(bounds, Mapping):
        raise ValueError(
            f"bounds={bounds!r} must be 'training', or a dict by column: of (low, high) for "
            "numbers and dates, of a list of the allowed ones for categories."
        )
    names = [column.name for column in columns]
    return {fitted_column(name, names, "bounds"): given for name, given in bounds.items()}


def allowed_codes(column: CategoryColumn, given: Any) -> Indices:
    """Return the codes of the allowed categories; a missing value is nothing to strive for."""
    if given is None:
        given = [value for value in column.categories if value is not None]
    given = as_list(given)
    strange = [value for value in given if value not in column.categories]
    if strange or not given:
        raise ValueError(
            f"bounds of column {column.name!r} are {given!r}; expected a list of some of its "
            f"categories: {list(column.categories)!r}."
        )
    return np.array(sorted({column.categories.index(value) for value in given}), dtype=np.intp)


def ends_of(column: Column, given: Any) -> tuple[float, float]:
    """Return both ends of a range in numbers."""
    assert isinstance(column, NumberColumn)
    if given is SEEN:
        return column.low, column.high
    try:
        low, high = given
        ends = end_of(column, low, -np.inf), end_of(column, high, np.inf)
    except (TypeError, ValueError):
        what = "dates" if column.kind == "date" else "numbers"
        raise ValueError(
            f"bounds of column {column.name!r} are {given!r}; expected a pair (low, high) of {what}"
            ", or None for no end."
        ) from None
    if not ends[0] <= ends[1]:
        raise ValueError(f"bounds of column {column.name!r} are {given!r}: low is above high.")
    return ends


def end_of(column: NumberColumn, end: Any, none: float) -> float:
    """Return one end of a range as a number; a date may also be written as text.

    A date without a time zone is one in the time zone of the column.
    """
    if end is None:
        return none
    if column.kind == "date":
        if is_number(end):
            raise TypeError
        day = float(to_days(as_times(np.array([end], dtype=object)))[0])
        told = getattr(end, "tzinfo", None) is not None
        return day if told else from_clock(day, zone_of(column.dtype))
    return float(end)
