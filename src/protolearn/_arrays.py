"""Types of arrays, what native functions ask of them, and facts about rows of any kind.

Rows may be dense, incomplete (NaN), sparse, or in a memory map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.utils import validation
from sklearn.utils.sparsefuncs import min_max_axis

Floats = NDArray[np.float64]
Reals = NDArray[np.floating[Any]]
"""In the precision of the rows: double or single."""

Indices = NDArray[np.intp]

CHUNK_BYTES = 1 << 23
"""How much of the samples and their distances is handled at a time: a good part of a cache."""


MOST_REMEMBERED, MOST_RESULTS = 1 << 18, 500
"""Numbers of arrays up to which work is remembered, and how many results."""


def rows_at_a_time(width: int, itemsize: int = 8) -> int:
    """Return the number of rows of ``width`` numbers that fit into one chunk."""
    return max(CHUNK_BYTES // (itemsize * width), 32)


def as_floats(values: Any) -> Floats:
    """Return an array as native functions take it: doubles, row by row."""
    return np.ascontiguousarray(values, dtype=np.float64)


def as_indices(values: Any) -> Indices:
    """Return indices as native functions take them."""
    return np.ascontiguousarray(values, dtype=np.intp)


def validate_data(model: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Return what scikit-learn's function returns, which would use the numbers under a mask."""
    for values, name in (X, "X"), (y, "y"):
        if isinstance(values, np.ma.MaskedArray):
            check_unmasked(values, name)
    has_labels = not isinstance(y, str)
    if is_valid(model, X, **options) and (not has_labels or are_labels(y, len(X))):
        model.n_features_in_ = X.shape[1]
        return (X, y) if has_labels else X
    return validation.validate_data(model, X, y, **options)


SMALL = 1 << 16
"""Numbers below which the checks of scikit-learn take longer than what follows them."""


def is_valid(
    model: Any,
    X: Any,
    *,
    reset: bool = True,
    dtype: Any = "numeric",
    order: str | None = None,
    ensure_all_finite: Any = True,
    accept_sparse: Any = False,
    **others: Any,
) -> bool:
    """Whether a few rows are an array that scikit-learn's function would return as it is."""
    return (
        type(X) is np.ndarray
        and not others
        and X.ndim == 2
        and 0 < X.size <= SMALL
        and (reset or X.shape[1] == model.__dict__.get("n_features_in_"))
        and X.dtype in (dtype if isinstance(dtype, list) else [dtype])
        and (order is None or (order == "C" and X.flags.c_contiguous))
        and "feature_names_in_" not in model.__dict__
        and bool(np.isfinite(X).all())
    )


def are_labels(y: Any, n_rows: int) -> bool:
    """Whether y is an array of one integer or string a row."""
    return type(y) is np.ndarray and y.shape == (n_rows,) and y.dtype.kind in "biuU"


def check_unmasked(values: Any, name: str) -> None:
    """Raise if values of a masked array are masked."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} is an array with masked values. Leave these rows out; or, in X, fill in "
            "numbers, or NaN if the model takes missing values."
        )


def relative_weights(weight: Floats) -> Floats:
    """Return weights divided by a power of four near the largest: no digit, even of roots, is lost.

    For methods that depend on the ratios of weights alone.
    """
    return np.ldexp(weight, -(np.frexp(weight.max())[1] // 2 * 2))


def middle(rows: Floats, weight: Floats | None = None) -> Floats:
    """Return the mean, exactly the common value in features where all rows agree."""
    mean = np.average(rows, axis=0, weights=weight)
    return np.clip(mean, rows.min(axis=0), rows.max(axis=0))


class MappedRows:
    """Rows of a memory map, all of them or those of an index, in whatever type they are stored.

    Indexing gives doubles, row by row; nothing else is read or kept.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, array: Any, index: Indices | None = None):
        self._array, self._index = array, index
        n_rows = array.shape[0] if index is None else len(index)
        self.shape = (int(n_rows), int(array.shape[1]))
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        return as_floats(np.asarray(self._array[self._places(rows)]))

    def some(self, rows: Any) -> MappedRows:
        """Return some of the rows, without reading them."""
        places = self._places(rows)
        return MappedRows(self._array, np.arange(len(self._array))[places])

    def _places(self, rows: Any) -> Any:
        return rows if self._index is None else self._index[rows]


ROUNDING = 1e-12
"""Share of itself by which a number may differ from an equal one."""


def row_lengths(X: Any) -> Any:
    """Return the Euclidean length of each row."""
    return (sparse_norm if issparse(X) else np.linalg.norm)(X, axis=1)


def column_ranges(X: Any) -> tuple[Floats, Floats]:
    """Return the least and the greatest observed value of each column; NaN if there is none."""
    if issparse(X):
        low, high = min_max_axis(X, axis=0)
        return low, high
    if isinstance(X, MappedRows):
        ends = [column_ranges(X[rows]) for rows in some_rows(X)]
        lows, highs = map(np.array, zip(*ends, strict=True))
        return np.fmin.reduce(lows), np.fmax.reduce(highs)
    low, high = X.min(axis=0), X.max(axis=0)
    if np.isnan(low).any():  # the slower way
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return low, high


def has_missing(X: Any) -> bool:
    """Whether a value of a dense array is NaN."""
    if isinstance(X, MappedRows):
        return any(bool(np.isnan(X[rows].min())) for rows in some_rows(X))
    return bool(X.size and np.isnan(X.min()))


def differ(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return where two ends are further apart than rounding makes equal numbers."""
    return high - low > ROUNDING * np.fmax(np.abs(low), np.abs(high))


def varying(X: Any) -> NDArray[np.bool_]:
    """Return which columns take more than one value; all, if none does."""
    moves = differ(*column_ranges(X))
    return moves if moves.any() else np.ones_like(moves)


def check_observed_rows(X: Floats, weight: Floats | None = None) -> None:
    """Raise if a row that counts has no observed value: it has no distance to anything."""
    for rows in some_rows(X):
        empty = np.isnan(X[rows]).all(axis=1)
        if weight is not None:
            empty &= weight[rows] > 0.0
        if empty.any():
            raise ValueError(
                f"Row {rows.start + int(empty.argmax())} of X has only missing values; drop rows "
                "in which nothing was observed."
            )


def check_observed_columns(X: Floats) -> None:
    """Raise if a column has no observed value: a prototype could be anywhere in it."""
    empty = np.isnan(column_ranges(X)[0])
    if empty.any():
        raise ValueError(
            f"Feature {int(empty.argmax())} of X has no observed value; drop it, or impute it with "
            "SimpleImputer(keep_empty_features=True). A stream whose later rows show it can begin "
            "with more rows."
        )


def checked_sparse(X: Any) -> Any:
    """Return a CSR matrix without NaN and double entries, with indices as short as they can be."""
    if np.isnan(X.data).any():
        raise ValueError("X is sparse and contains NaN; missing values need a dense array.")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    largest = np.iinfo(np.int32).max
    if X.indices.dtype != np.int32 and X.nnz <= largest and X.shape[1] <= largest:
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return type(X)(parts, shape=X.shape)
    return X


def class_means(X: Any, y: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    """Return the mean of each class over what is observed; NaN where nothing is."""
    total, observed = np.zeros((2, n_classes, X.shape[1]))
    size = np.bincount(y, weight, minlength=n_classes)
    for rows in some_rows(X):
        part, codes = X[rows], y[rows]
        share = 1.0 / size[codes] if weight is None else weight[rows] / size[codes]
        shape = (len(codes), n_classes)
        members = csr_array((share, codes, np.arange(len(codes) + 1)), shape).T
        sums = members @ part
        if issparse(sums):
            sums = sums.toarray()
        elif np.isnan(sums).any():
            known = ~np.isnan(part)
            total += members @ np.where(known, part, 0.0)
            observed += members @ known.astype(np.float64)
            continue
        total += sums
        observed += members.sum(axis=1)[:, None]
    with np.errstate(invalid="ignore"):
        return total / observed


def some_rows(X: Any) -> Iterator[slice]:
    """Yield slices that cut the rows into parts of bounded size."""
    n = X.shape[0]
    size = rows_at_a_time(X.nnz // max(n, 1) + 1 if issparse(X) else X.shape[1])
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


LARGEST = 5e307
SMALLEST_SPREAD = 1e-152


def check_magnitude(X: Any) -> None:
    """Raise if a squared distance of two rows could overflow, or all of them would vanish."""
    check_ranges(*column_ranges(X))


def check_ranges(low: Floats, high: Floats) -> None:
    """Raise the same, given the least and the greatest value of each column."""
    low, high = low.astype(np.float64), high.astype(np.float64)
    with np.errstate(over="ignore"):
        largest = np.nansum((2.0 * np.fmax(np.abs(low), np.abs(high))) ** 2)
        spread = float(np.fmax.reduce(high - low))
    if not largest < LARGEST:
        raise ValueError(
            f"X has values up to {np.fmax.reduce(np.abs([low, high]), axis=None):.1e}, whose "
            "squared distances are beyond double precision; rescale X, for example with "
            "StandardScaler."
        )
    if 0.0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"The widest feature of X spans {spread:.1e}, and its squared distances vanish in "
            "double precision; rescale X, for example with StandardScaler."
        )


_remembered: dict[bytes, Any] | None = None


@contextmanager
def remember_work() -> Iterator[None]:
    """Within the context, work on the same arrays is done once: for many fits to the same rows."""
    global _remembered
    before, _remembered = _remembered, {}
    try:
        yield
    finally:
        _remembered = before


def do_once(work: Callable[..., Any], *given: Any, rng: np.random.RandomState | None = None) -> Any:
    """Return ``work(*given)``, or what it has returned before within :func:`remember_work`.

    With ``rng``, which is its last argument, that is left as the work would have left it. Nothing
    of the result may be changed.
    """
    known, drawn = _remembered, () if rng is None else (rng,)
    n_numbers = sum(one.size for one in given if isinstance(one, np.ndarray))
    if known is None or n_numbers > MOST_REMEMBERED or any(map(issparse, given)):
        return work(*given, *drawn)
    content = blake2b(f"{work.__module__}.{work.__qualname__}".encode(), digest_size=16)
    for one in (*given, *(() if rng is None else rng.get_state())):
        is_array = isinstance(one, np.ndarray)
        content.update(repr((one.shape, one.dtype) if is_array else one).encode())
        if is_array:
            content.update(np.ascontiguousarray(one).data)
    key = content.digest()
    entry = known.get(key)  # other threads may forget everything at any time
    if entry is None:
        found = work(*given, *drawn)
        if len(known) > MOST_RESULTS:
            known.clear()
        known[key] = found, None if rng is None else rng.get_state()
        return found
    if rng is not None:
        rng.set_state(entry[1])
    return entry[0]
