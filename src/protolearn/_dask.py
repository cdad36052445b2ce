"""Whether something is a Dask collection, without importing Dask."""

from __future__ import annotations

from typing import Any

PACKAGES = ("dask", "dask_expr")


def is_dask(value: Any) -> bool:
    """Tell whether a value is a Dask array, frame or series."""
    kind = type(value)
    return kind.__module__.partition(".")[0] in PACKAGES and hasattr(kind, "ndim")


def is_frame(value: Any) -> bool:
    """Tell whether a Dask collection is a frame or a series: its parts are pandas objects."""
    return is_dask(value) and hasattr(value, "map_partitions")
