"""The values of one column, in one form whatever library they come from."""

from __future__ import annotations

import datetime
import decimal
import numbers
import zoneinfo
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Floats

MICROSECONDS = 86_400_000_000
"""In a day."""

UTC = datetime.timezone.utc  # noqa: UP017

START = datetime.datetime(1970, 1, 1, tzinfo=UTC)

FARTHEST = 100_000_000.0
"""Days from 1970 that a time in microseconds can surely hold."""


class Values(NamedTuple):
    """The values of a column.

    Numbers and dates, in days since 1970, are doubles with NaN where one is missing; others are
    objects, with None where one is missing.
    """

    kind: str  # number, boolean, category, date or empty
    data: NDArray[Any]
    order: tuple[Any, ...] | None = None  # of the categories, if the column itself has one


def as_objects(values: Any) -> NDArray[Any]:
    """Return an array of objects of one dimension, with None where one is missing."""
    found = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        found[i] = None if is_missing(value) else value
    return found


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the NA of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.datetime64)) and bool(value != value)


def infer_values(values: Any, name: Any) -> Values:
    """Find out what objects are."""
    data = as_objects(values)
    present = [value for value in data if value is not None]
    if not present:
        return Values("empty", data)
    if all(isinstance(value, (bool, np.bool_)) for value in present):
        return Values("boolean", data)
    if all(is_number(value) for value in present):
        return Values("number", np.array([np.nan if v is None else as_double(v) for v in data]))
    if all(isinstance(value, (datetime.date, np.datetime64)) for value in present):
        return Values("date", to_days(as_times(data)))
    for value in present:
        if not isinstance(value, (str, bool, np.bool_)) and not is_number(value):
            raise not_understood(name, type(value).__name__)
    return Values("category", data)


def detect_empty(values: Values) -> Values:
    """Return values, of kind ``"empty"`` if all are missing."""
    if values.data.dtype == object:
        empty = all(value is None for value in values.data)
    else:
        empty = bool(np.isnan(values.data).all())
    return Values("empty", values.data) if empty else values


def is_number(value: Any) -> bool:
    """Whether a value is a real number."""
    return isinstance(value, (numbers.Real, decimal.Decimal)) and not isinstance(
        value, (bool, np.bool_)
    )


def as_double(value: Any) -> float:
    """Return a number as a double; infinity if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return np.inf


def not_understood(name: Any, found: Any) -> TypeError:
    """Return an error that says that a column holds what is neither a number nor a category."""
    return TypeError(
        f"Column {name!r} holds {found}; expected numbers, texts, categories, truth values or "
        "dates (an entry of it must be a string or a number). Turn it into such, or drop it."
    )


def as_times(data: NDArray[Any]) -> NDArray[np.datetime64]:
    """Return dates, with a time zone or not, as times in UTC."""
    plain = [
        value.astimezone(UTC).replace(tzinfo=None) if getattr(value, "tzinfo", None) else value
        for value in data
    ]
    return np.array(plain, dtype="datetime64[us]")


def to_days(times: NDArray[np.datetime64]) -> Floats:
    """Return times as days since 1970, NaN for none."""
    found = times.astype("datetime64[us]").astype(np.int64) / MICROSECONDS
    found[np.isnat(times)] = np.nan
    return found


def to_times(day: Floats, whole: bool = False, fine: bool = False) -> NDArray[np.datetime64]:
    """Return days since 1970 as times, to the nearest day, microsecond (``fine``) or millisecond.

    Doubles hold days to about a microsecond, so that a rounded time of day is as it was.
    """
    step = 1 if fine else MICROSECONDS if whole else 1000
    there = np.isfinite(day)
    day = np.clip(np.where(there, day, 0.0), -FARTHEST, FARTHEST)
    ticks = np.rint(day * (MICROSECONDS // step)).astype(np.int64) * step
    times = ticks.astype("datetime64[us]")
    times[~there] = np.datetime64("NaT")
    return times


def zone_of(dtype: Any) -> datetime.tzinfo | None:
    """Return the time zone of a type of dates, if it has one."""
    dtype = getattr(dtype, "pyarrow_dtype", dtype)  # pandas has types of Arrow
    zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
    return zoneinfo.ZoneInfo(zone) if isinstance(zone, str) else zone


def to_clock(day: float, zone: datetime.tzinfo | None) -> float:
    """Return days since 1970 in UTC as the clocks of a time zone have them."""
    if zone is None:
        return day
    try:
        there = (START + datetime.timedelta(days=day)).astimezone(zone)
    except OverflowError:  # before the year 1, or after 9999
        return day
    return day + (there.utcoffset() or datetime.timedelta()) / datetime.timedelta(days=1)


def from_clock(day: float, zone: datetime.tzinfo | None) -> float:
    """Return days since 1970 by the clocks of a time zone in UTC."""
    guess = day - (to_clock(day, zone) - day)
    return day - (to_clock(guess, zone) - guess)


def to_kind(values: Values, kind: str, name: Any) -> Values:
    """Return values as the kind that a column had before, or raise if they are not of it."""
    if kind == values.kind:
        return values
    n = len(values.data)
    if values.kind == "empty":
        blank = np.full(n, np.nan) if kind in ("number", "date") else np.full(n, None)
        return Values(kind, blank)
    if kind in ("category", "boolean") and values.kind != "date":
        return Values(kind, as_objects(values.data.tolist()))
    if kind == "number" and values.kind == "boolean":
        return Values(kind, np.array([np.nan if v is None else float(v) for v in values.data]))
    example = next(value for value in values.data.tolist() if not is_missing(value))
    raise ValueError(
        f"Column {name!r} held {PLURAL[kind]} when the encoder was fitted, and now holds "
        f"{PLURAL[values.kind]}, such as {example!r}. Give it as it was."
    )


PLURAL = {
    "number": "numbers",
    "boolean": "truth values",
    "category": "categories",
    "date": "dates",
    "empty": "nothing",
}
