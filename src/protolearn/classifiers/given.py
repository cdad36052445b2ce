"""What the user gives to train with: parameters, rows and labels, checked and encoded."""

from __future__ import annotations

from os import PathLike
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from .._arrays import (
    Indices,
    MappedRows,
    check_magnitude,
    check_observed_rows,
    checked_sparse,
    has_missing,
    some_rows,
)
from .._validation import (
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_verbose,
)
from ..blocks import Block
from ..blocks.labels import encode
from ..distances import Distance
from ..prototypes import is_automatic
from .weights import check_every_class, weigh

IN_MEMORY = 1 << 24
"""Numbers of a memory map that are read at once."""


def check_parameters(model: Any, stream: bool) -> None:
    """Raise if a parameter that all trained classifiers have is wrong."""
    check_number(model, "tol", low=0.0)
    if model.max_iter is not None:
        check_integer(model, "max_iter", low=1)
    check_verbose(model)
    if model.callback is not None and not callable(model.callback):
        raise ValueError(f"callback={model.callback!r} must be a function of one argument.")
    check_number(model, "validation_fraction", low=0.0, high=1.0, above=True, below=True)
    if not isinstance(model.checkpoint, (str, PathLike, NoneType)):
        raise ValueError(f"checkpoint={model.checkpoint!r} must be the name of a file, or None.")
    if model.checkpoint is not None and stream:
        raise ValueError(
            "partial_fit keeps no checkpoint; leave it out, and save the model between two calls."
        )
    if check_flag(model, "early_stopping") and stream:
        raise ValueError("partial_fit has no rows to hold out; set early_stopping=False.")
    if is_automatic(model.prototypes_per_class) and stream:
        raise ValueError(
            "prototypes_per_class='auto' needs all the data; give partial_fit a number."
        )
    if is_automatic(model.prototypes_per_class) and not isinstance(model.init, str):
        raise ValueError("prototypes_per_class='auto' finds its own prototypes; leave out init.")
    if isinstance(model.class_weight, str) and stream:
        raise ValueError(
            f"class_weight={model.class_weight!r} needs all the data; give partial_fit a dict."
        )


def training_rows(
    model: Any, distance: Distance, X: Any, y: Any, sample_weight: Any, classes: Any = None
) -> tuple[Block, NDArray[Any]]:
    """Check and encode the data; rows of weight zero are left out."""
    if issparse(X) and not model._takes_sparse():
        raise ValueError(
            f"{type(model).__name__} learns from one sample at a time here and does not take "
            "sparse matrices; give X.toarray(), or take a cost function with solver='auto'."
        )
    streaming = classes is not None
    mapped = isinstance(X, np.memmap) and X.size > IN_MEMORY and not streaming
    X, y = validate_data(
        model,
        X,
        y,
        reset=classes is None or not hasattr(model, "_memory"),
        dtype="numeric" if mapped else np.float64,
        order=None if mapped else "C",
        accept_sparse="csr",
        ensure_all_finite=True if distance.missing_form is None else "allow-nan",
    )
    if mapped:
        X = MappedRows(X)
    if issparse(X):
        X = checked_sparse(X)
    check_rows(distance, X)
    check_classification_targets(y)
    classes = classes if streaming else np.unique(y)
    weight = check_sample_weight(sample_weight, len(y))
    if not issparse(X) and has_missing(X):
        check_observed_rows(X, weight)
    block = Block(X, encode(y, classes), weight)
    block = weigh(block, model.class_weight, classes, to_mean_one=not streaming)
    if distance.squared:
        check_magnitude(block.X)
    return block, classes


def check_rows(distance: Distance, X: Any) -> None:
    """Raise if the rows are not such as the distance takes."""
    if not isinstance(X, MappedRows):
        distance.check_rows(X)
        return
    for rows in some_rows(X):
        try:
            distance.check_rows(X[rows])
        except ValueError as error:
            raise ValueError(f"Rows {rows.start} to {rows.stop - 1} of X: {error}") from error


def check_classes(classes: NDArray[Any], rows: Indices) -> None:
    """Raise if there are fewer than two classes, or a class has no row."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at "
            "least two classes."
        )
    check_every_class(classes, rows)


def known_classes(model: Any, classes: Any) -> NDArray[Any]:
    """Give the classes of a stream, and check that a later call names the same."""
    known: NDArray[Any] | None = getattr(model, "classes_", None)
    if classes is None and known is None:
        raise ValueError(
            "classes must be given at the first call of partial_fit: all labels that will "
            "come, for example np.unique(y)."
        )
    if classes is None:
        return known  # type: ignore[return-value]
    if np.ndim(classes) != 1:
        raise ValueError(
            f"classes={classes!r} must be a list or an array of labels, for example np.unique(y)."
        )
    given = np.unique(column_or_1d(classes))
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes={given.tolist()!r} differ from {known.tolist()!r} of the first call."
        )
    if len(given) < 2:
        raise ValueError(f"classes={given.tolist()!r} must name at least two labels.")
    return given


def check_same_distance(model: Any, distance: Distance) -> None:
    """Raise if a stream would go on with another distance."""
    old = model._distance
    if type(old) is not type(distance) or repr(old) != repr(distance):
        raise ValueError(
            f"The stream began with the distance {old!r} and cannot go on with {distance!r}; "
            "begin a new one with fit or a clone."
        )
