"""Dask collections: recognised without importing Dask, and answered lazily.

:func:`row_by_row` and :func:`mean_over_rows` decorate methods and functions of a fitted model and
rows: given a Dask collection they answer part by part, and only when they are computed. Nothing of
Dask is imported unless a collection is given. A part of an array is an array or a CSR matrix; a
part of a frame is a pandas frame, so that a model sees the names of its columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial, wraps
from importlib import import_module
from inspect import signature
from operator import itemgetter
from typing import Any, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._arrays import check_unmasked
from ._threads import one_blas_thread
from ._validation import finite_weights

F = TypeVar("F", bound=Callable[..., Any])

PACKAGES = ("dask", "dask_expr")

ALONG = ("y", "sample_weight")
"""Arguments that have an entry for each row of X."""

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What stands behind the decorators, by module and name: tasks carry the name only."""


def is_dask(value: Any) -> bool:
    """Whether a value is something of Dask: an array, a frame, a series, or no collection."""
    return type(value).__module__.partition(".")[0] in PACKAGES


def is_frame(value: Any) -> bool:
    """Whether a Dask collection is a frame or a series: its parts are pandas objects."""
    return is_dask(value) and hasattr(type(value), "map_partitions")


def row_by_row(function: F) -> F:
    """Return a function that answers row by row, and Dask collections lazily.

    Its first argument is a fitted model, its second X; an argument y has a label for each row. It
    returns an array with one or two axes, or a tuple of such. Anything but a Dask collection is
    passed on as it is. The answers are those of the model as it was when it was asked.
    """
    name = register(function)

    @wraps(function)
    def answer_rows(*args: Any, **kwargs: Any) -> Any:
        if not is_dask(args[1] if len(args) > 1 else kwargs.get("X")):
            return function(*args, **kwargs)
        model, X, *_ = (given := signature(function).bind(*args, **kwargs).arguments).values()
        return lazy_answers(name, model, X, dict(list(given.items())[2:]))

    return cast(F, answer_rows)


def mean_over_rows(function: F) -> F:
    """Return a score that is a mean over rows, and is computed part by part for Dask collections.

    The arguments are those of ``score``: a fitted model, X, y and the weights of the rows.
    """
    name = register(function)

    @wraps(function)
    def score_rows(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        check_unmasked(y, "y")
        if not is_dask(X):
            return function(model, X, y, addable(finite_weights(sample_weight, len(y)))[0])
        return mean_over_parts(name, model, X, y, sample_weight)

    return cast(F, score_rows)


def register(function: Callable[..., Any]) -> str:
    """Remember a function, and return the name by which tasks find it."""
    name = f"{function.__module__}:{function.__qualname__}"
    FUNCTIONS[name] = function
    return name


def function_of(name: str) -> Callable[..., Any]:
    """Return a function, also in a process that has not imported its module yet."""
    if name not in FUNCTIONS:
        import_module(name.partition(":")[0])
    return FUNCTIONS[name]


class AccuracyMixin(ClassifierMixin):
    """A classifier whose score is taken part by part if the rows are a Dask collection."""

    @mean_over_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of right answers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, whatever ``predict`` takes. Of a Dask collection the predictions are counted
            part by part and never held together.
        y : array-like of shape (n_samples,)
            True labels; a Dask array or series too if X is a Dask collection.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as y.

        Returns
        -------
        accuracy : float
            Share of right answers, by weight.
        """
        return super().score(X, y, sample_weight)


def lazy_answers(name: str, model: Any, X: Any, options: dict[str, Any]) -> Any:
    """Return the answers about a collection as a lazy array, or a tuple of those."""
    rows = as_rows(X)
    along = {key: as_column(options.pop(key), key, rows) for key in ALONG if key in options}
    like = answer_about_nothing(name, model, X, tuple(along), options)
    ask = partial(answer, name=name, names=tuple(along), options=options, like=like)
    given = rows, as_node(model), *along.values()
    if not isinstance(like, tuple):
        return layer(ask, like, *given)
    both = map_rows(ask, like[0], *given)
    return tuple(layer(itemgetter(place), each, both) for place, each in enumerate(like))


def mean_over_parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the mean of a score over the rows, computed from its sum over each part."""
    import dask.array as da

    check_is_fitted(model)
    rows, given = as_rows(X), (y,) if sample_weight is None else (y, sample_weight)
    columns = [as_column(each, key, rows) for each, key in zip(given, ALONG, strict=False)]
    ask, chunks = partial(score_of_part, name=name), ((1,) * rows.numblocks[0], (3,))
    meta = np.empty((0, 0))
    parts = da.map_blocks(ask, rows, as_node(model), *columns, chunks=chunks, meta=meta)
    score, total, exponent = parts.compute().T
    if not total.any():
        raise ValueError("X has no rows with a positive weight, so there is nothing to score.")
    exponent = exponent.astype(int)
    weight = np.ldexp(total, exponent - exponent[total > 0.0].max())
    return float(np.average(score, weights=weight))


def addable(weight: Any) -> tuple[Any, int]:
    """Return weights divided by a power of two, so that their sum is finite, and its exponent."""
    if weight is None:
        return None, 0
    exponent = int(np.frexp(weight.max(initial=0.0))[1])
    return np.ldexp(weight, -exponent), exponent


def layer(function: Any, like: Any, rows: Any, *others: Any) -> Any:
    """Return the lazy array of what a function gives for each part of the rows."""
    out = map_rows(function, like, rows, *others)
    return out if like.ndim == 2 else out[:, 0]


def map_rows(function: Any, like: Any, rows: Any, *others: Any) -> Any:
    """Return a lazy array with two axes, as all parts have them within the graph."""
    import dask.array as da

    width = like.shape[1] if like.ndim == 2 else 1
    meta = np.empty((0, 0), dtype=like.dtype)
    return da.map_blocks(function, rows, *others, chunks=(rows.chunks[0], (width,)), meta=meta)


def as_node(model: Any) -> Any:
    """Return a model as one node of a graph: a copy, because it may learn more meanwhile."""
    from dask import delayed

    return delayed(deepcopy(model), pure=True, traverse=False)


def as_rows(X: Any) -> Any:
    """Return a collection as a Dask array with one chunk of columns."""
    if not isinstance(getattr(X, "ndim", None), int):  # neither an array nor a frame
        raise TypeError(f"X is a Dask {type(X).__name__}; give a Dask array or frame.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D rows, but X is a Dask {type(X).__name__} with {X.ndim}D.")
    if is_frame(X):
        return array_of_partitions(X, len(X.columns))
    if np.isnan(X.shape[1]):
        raise ValueError(
            "The number of columns of X is not known; call X.compute_chunk_sizes() first."
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


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
        column = array_of_partitions(values, 1)
    else:
        if known and not np.isnan(values.shape[0]):
            if len(values) != len(rows):
                raise ValueError(f"X has {len(rows)} rows, but {name} has {len(values)} entries.")
            values = values.rechunk((rows.chunks[0],))
        column = values[:, None]
    if column.numblocks[0] != rows.numblocks[0]:
        raise ValueError(
            f"X has {rows.numblocks[0]} parts and {name} has {column.numblocks[0]}, and lengths of "
            "parts are not known; give both the same parts, or call compute_chunk_sizes() first."
        )
    return column


def array_of_partitions(frame: Any, width: int) -> Any:
    """Return an array with a chunk a partition. The chunks themselves stay pandas objects."""
    import dask.array as da

    shape, meta = (np.nan, width), np.empty((0, 0))
    return da.concatenate([da.from_delayed(part, shape, meta=meta) for part in frame.to_delayed()])


def answer_about_nothing(
    name: str, model: Any, X: Any, names: tuple[str, ...], options: dict[str, Any]
) -> Any:
    """Return the answer about no rows, with the width and dtype of that about an example.

    So errors that do not depend on the rows are raised at once: a model that is not fitted, wrong
    columns, a wrong option.
    """
    problem: Exception | None = None
    for asked, numbers in examples(model, X.shape[1]):
        labels = dict.fromkeys(names, getattr(asked, "classes_", np.zeros(1))[:1])
        try:
            with warnings.catch_warnings(action="ignore"):  # it is only an example
                row = as_row_of(X, numbers) if asked is model else numbers
                told = function_of(name)(asked, row, **labels, **options)
        except (ValueError, TypeError) as error:
            problem = problem or error
        else:
            return tuple(each[:0] for each in told) if isinstance(told, tuple) else told[:0]
    assert problem is not None
    raise problem


def examples(model: Any, width: int) -> Iterator[tuple[Any, Any]]:
    """Yield models and rows to ask about, the most likely to be taken first.

    If the steps of a pipeline take none of these rows, its last step takes its own prototype.
    """
    last = model[-1] if isinstance(model, Pipeline) else model
    prototypes = getattr(last, "prototypes_", None)
    known = [] if prototypes is None else [np.array(prototypes[:1], dtype=np.float64)]
    plain = [np.zeros((1, width)), np.ones((1, width))]
    yield from ((model, row) for row in [*known, *plain] if row.shape == (1, width))
    if last is not model:
        yield from ((last, row) for row in known)


def as_row_of(X: Any, numbers: Any) -> Any:
    """Return a row of the kind that the parts of a collection have."""
    if is_frame(X):
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame(numbers, columns=X.columns).astype(X.dtypes)
    return numbers.astype(X.dtype if X.dtype.kind == "f" else np.float64)


def answer(
    part: Any,
    model: Any,
    *columns: Any,
    name: str,
    names: tuple[str, ...],
    options: dict[str, Any],
    like: Any,
    block_id: tuple[int, ...],
) -> Any:
    """Return the answer about one part; about no rows ``like``, because models refuse to."""
    with within(block_id):
        pairs = zip(names, columns, strict=True)
        along = {key: entries(part, column, key) for key, column in pairs}
        told = function_of(name)(model, part, **along, **options) if part.shape[0] else like
    return tuple(map(two_axes, told)) if isinstance(told, tuple) else two_axes(told)


def score_of_part(
    part: Any, model: Any, *columns: Any, name: str, block_id: tuple[int, ...]
) -> Any:
    """Return the score of one part and its weight: a sum, and the exponent of its power of two."""
    with within(block_id):
        y, *given = (entries(part, *pair) for pair in zip(columns, ALONG, strict=False))
        weight, exponent = addable(finite_weights(given[0], len(y)) if given else None)
        total = float(part.shape[0] if weight is None else weight.sum())
        score = function_of(name)(model, part, y, weight) if total else 0.0
    return np.array([[score, total, exponent]])


def entries(part: Any, column: Any, name: str) -> Any:
    """Return the entries that belong to the rows of a part, if they are as many."""
    if column.shape[0] != part.shape[0]:
        raise ValueError(f"it has {part.shape[0]} rows, but {name} has {column.shape[0]} entries.")
    return column[:, 0] if column.ndim == 2 else column


def two_axes(told: Any) -> Any:
    """Return an answer as a dense array with two axes."""
    told = told.toarray() if issparse(told) else np.asarray(told)
    return told if told.ndim == 2 else told[:, None]


@contextmanager
def within(block_id: tuple[int, ...]) -> Iterator[None]:
    """Work on one part with one BLAS thread; errors name the part."""
    try:
        with one_blas_thread():
            yield
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"In chunk {block_id[0]} of X: {error}") from error
