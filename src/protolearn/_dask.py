"""Whether something is a Dask collection, without importing Dask."""

from __future__ import annotations

from typing import Any

PACKAGES = ("dask", "dask_expr")


def is_dask(value: Any) -> bool:
    """Whether a value is something of Dask: an array, a frame, a series, or no collection."""
    return type(value).__module__.partition(".")[0] in PACKAGES


def is_frame(value: Any) -> bool:
    """Whether a Dask collection is a frame or a series: its parts are pandas objects."""
    return is_dask(value) and hasattr(type(value), "map_partitions")
