"""Types of columns as plain texts, so that a file need not hold objects of pandas or polars."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SETTINGS = "time_unit", "time_zone", "precision", "scale", "ordering"
"""Of types of polars."""

PLAIN = str, int, float, bool
"""Types of categories that can be written."""

ERRORS = (ImportError, AttributeError, KeyError, TypeError, ValueError, NotImplementedError)

ZONE = re.compile(r"datetime64\[\w+, (.+)\]|timestamp\[\w+, tz=([^\]]+)\](?:\[pyarrow\])?")
STAMP = re.compile(r"timestamp\[(\w+), tz=(.+)\]")
DECIMAL = re.compile(r"decimal(128|256)\((\d+), (\d+)\)")
DICTIONARY = re.compile(r"dictionary<values=(\w+), indices=(\w+), ordered=([01])>")
"""Names of types of pandas and of Arrow."""


@dataclass(frozen=True)
class WrittenType:
    """A type of a column in words, where its library is not installed or does not know it."""

    library: str  # numpy, pandas, polars or pyarrow
    name: str  # its name there
    settings: dict[str, Any] = field(default_factory=dict)  # what else makes it up

    @property
    def time_zone(self) -> datetime.tzinfo | None:
        """The time zone of dates, if they have one and it is known here."""
        found = ZONE.fullmatch(self.name)
        text = self.settings.get("time_zone") or (found and (found[1] or found[2]))
        if not text:
            return None
        with suppress(zoneinfo.ZoneInfoNotFoundError, ValueError):  # such as UTC+02:00
            return zoneinfo.ZoneInfo(text)
        with suppress(ValueError):
            return datetime.datetime.strptime(text.removeprefix("UTC"), "%z").tzinfo
        return None


class TypeInWords:
    """A column whose ``dtype`` is written in words."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "dtype": in_words(self.__dict__["dtype"])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state["dtype"], dict):
            self.__dict__["dtype"] = from_words(state["dtype"])


def in_words(dtype: Any) -> Any:
    """Return a type in words; the type itself if words would not give it back."""
    if dtype is None:
        return None
    if isinstance(dtype, WrittenType):
        return vars(dtype)
    with suppress(*ERRORS):
        for form in written_forms(dtype):
            with suppress(*ERRORS):
                if type_of(form) == dtype:
                    return vars(form)
    return dtype


def from_words(words: dict[str, Any]) -> Any:
    """Return a type from its words, or a ``WrittenType`` if that cannot be here."""
    form = WrittenType(**words)
    with suppress(*ERRORS):
        return type_of(form)
    return form


def written_forms(dtype: Any) -> Iterator[WrittenType]:
    """Return forms, of which the first may not be exact enough."""
    kind = dtype if isinstance(dtype, type) else type(dtype)
    library, settings = kind.__module__.partition(".")[0], {}
    if isinstance(dtype, np.dtype):
        yield WrittenType("numpy", dtype.str)
        yield WrittenType("numpy", dtype.char)
    elif library == "polars":
        settings = {name: getattr(dtype, name) for name in SETTINGS if name in vars(dtype)}
        if kind.__name__ == "Enum":
            settings["categories"] = dtype.categories.to_list()
        elif hasattr(dtype, "categories") and not dtype.categories.is_global():
            of = dtype.categories
            settings["named"] = [of.name(), of.namespace(), str(of.physical())]
        yield WrittenType("polars", kind.__name__, settings)
    elif hasattr(dtype, "categories"):  # of pandas, if they are plain values
        values, words = dtype.categories.tolist(), in_words(dtype.categories.dtype)
        if isinstance(words, dict) and all(type(value) in PLAIN for value in values):
            settings = {"categories": values, "of": words, "ordered": bool(dtype.ordered)}
            yield WrittenType("pandas", "category", settings)
    else:
        yield WrittenType(library, str(dtype))
        # Of some the name says less than they are, or something else.
        if hasattr(dtype, "pyarrow_dtype"):
            yield WrittenType("pandas", "arrow", {"of": str(dtype.pyarrow_dtype)})
        if hasattr(dtype, "storage"):
            yield WrittenType("pandas", f"string[{dtype.storage}]")
            yield WrittenType("pandas", "str", {"storage": dtype.storage})
        if isinstance(getattr(dtype, "tz", None), zoneinfo.ZoneInfo):
            yield WrittenType("pandas", f"datetime64[{dtype.unit}]", {"time_zone": dtype.tz.key})


def type_of(form: WrittenType) -> Any:
    """Return the type of a form; names are looked up among types and nowhere else."""
    makers: dict[str, Any] = {"numpy": np.dtype, "pyarrow": _arrow_type}
    if form.library in makers:
        return makers[form.library](str(form.name))
    return {"polars": _polars_type, "pandas": _pandas_type}[form.library](
        str(form.name), form.settings
    )


def _polars_type(name: str, settings: dict[str, Any]) -> Any:
    """Return a type of polars."""
    import polars as pl

    found = getattr(pl, name)
    if not (isinstance(found, type) and issubclass(found, pl.DataType)):
        raise TypeError(f"{name} is not a type of polars.")
    kind: Any = found
    if "named" in settings:
        own, space, physical = settings["named"]
        return kind(pl.Categories(own, space, _polars_type(physical, {})))
    return kind(**settings)


def _pandas_type(name: str, settings: dict[str, Any]) -> Any:
    """Return a type of pandas."""
    import pandas as pd  # type: ignore[import-untyped]

    if name == "category":
        values = pd.Index(settings["categories"], dtype=from_words(settings["of"]))
        return pd.CategoricalDtype(values, ordered=settings["ordered"])
    if name == "arrow":
        return pd.ArrowDtype(_arrow_type(settings["of"]))
    if "storage" in settings:
        return pd.StringDtype(settings["storage"], na_value=np.nan)
    found = pd.api.types.pandas_dtype(name)
    if "time_zone" in settings:
        unit, _ = np.datetime_data(found)
        return pd.DatetimeTZDtype(unit, zoneinfo.ZoneInfo(settings["time_zone"]))
    return found


def _arrow_type(name: str) -> Any:
    """Return a type of Arrow; some have no name that Arrow itself would read."""
    import pyarrow as pa

    if found := DECIMAL.fullmatch(name):
        maker = pa.decimal128 if found[1] == "128" else pa.decimal256
        return maker(int(found[2]), int(found[3]))
    if found := STAMP.fullmatch(name):
        return pa.timestamp(found[1], found[2])
    if found := DICTIONARY.fullmatch(name):
        return pa.dictionary(_arrow_type(found[2]), _arrow_type(found[1]), found[3] == "1")
    return pa.type_for_alias(name)
