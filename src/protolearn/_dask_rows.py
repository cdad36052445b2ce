"""Dask collections as arrays of rows, and what belongs to the rows cut in the same places."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ._dask import is_dask, is_frame


def as_rows(X: Any) -> Any:
    """Return a collection as a Dask array with one chunk of columns."""
    if not isinstance(getattr(X, "ndim", None), int):  # neither an array nor a frame
        raise TypeError(f"X is a Dask {type(X).__name__}; give a Dask array or frame.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D rows, but X is a Dask {type(X).__name__} with {X.ndim}D.")
    if is_frame(X):
        return parts_of(X, len(X.columns))
    if np.isnan(X.shape[1]):
        raise ValueError(
            "The number of columns of X is not known; call X.compute_chunk_sizes() first."
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def parts_of(frame: Any, width: int) -> Any:
    """Return an array with a chunk a partition. The chunks themselves stay pandas objects."""
    import dask.array as da

    shape, meta = (np.nan, width), np.empty((0, 0))
    return da.concatenate([da.from_delayed(part, shape, meta=meta) for part in frame.to_delayed()])


def as_column(values: Any, name: str, rows: Any) -> Any:
    """Return what belongs to the rows as a Dask array with the same chunks and one column."""
    import dask.array as da

    known = not np.isnan(rows.shape[0])
    if not is_dask(values):
        if not known:
            raise ValueError(
                f"{name} is in memory, but the lengths of the parts of X are not known; give {name}"
                " as a Dask collection with the same parts, or call compute_chunk_sizes() of an "
                "array X first."
            )
        values = da.from_array(column_or_1d(values), chunks=-1)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one axis, but has {values.ndim}.")
    if is_frame(values):
        column = parts_of(values, 1)
    else:
        column = (with_chunks_of(rows, values, name) if known else values)[:, None]
    if column.numblocks[0] != rows.numblocks[0]:
        raise ValueError(
            f"X has {rows.numblocks[0]} parts and {name} has {column.numblocks[0]}, and lengths of "
            "parts are not known; give both the same parts, or call compute_chunk_sizes() first."
        )
    return column


def with_chunks_of(rows: Any, values: Any, name: str) -> Any:
    """Cut an array as the rows are cut, if its length is known."""
    if np.isnan(values.shape[0]):
        return values
    if len(values) != len(rows):
        raise ValueError(f"X has {len(rows)} rows, but {name} has {len(values)} entries.")
    return values.rechunk((rows.chunks[0],))
