"""From a frame to a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .columns import CategoryColumn
from .encoder import TableEncoder
from .libraries import LIBRARIES, library
from .naming import near
from .values import is_missing


def table_pipeline(
    model: Any,
    frame: Any = None,
    *,
    categorical: Any = None,
    categories: Any = None,
    missing: str = "category",
    unknown: str = "warn",
    category_distance: float = 1.0,
    max_categories: int = 50,
) -> Pipeline:
    """Return a pipeline with a :class:`TableEncoder` in front of a model.

    Parameters
    ----------
    model : classifier
        An unfitted model, of protolearn or scikit-learn.
    frame : pandas or polars DataFrame, structured array, or array-like, default=None
        A table to look at. What is wrong with it is told at once, and the categories of its columns
        become known, so that a fold of cross-validation without one of them is no surprise. Give
        it without the label.
    categorical, categories, missing, unknown, category_distance, max_categories : object
        Parameters of :class:`TableEncoder`.

    Returns
    -------
    pipeline : Pipeline
        Unfitted, with the steps ``"table"`` and ``"model"``.

    See Also
    --------
    split_target : The frame without the label, and the labels.
    prototypes_table : The prototypes in the units and words of the frame.
    counterfactual_table : The smallest changes of the answer.

    Examples
    --------
    >>> from protolearn import GLVQ
    >>> from protolearn.tables import table_pipeline
    >>> rows = [[20.0, "red"], [21.0, "red"], [30.0, "blue"], [31.0, "red"]]
    >>> model = table_pipeline(GLVQ(random_state=0), rows).fit(rows, ["no", "no", "yes", "yes"])
    >>> model.predict([[32.0, "blue"]]).tolist()
    ['yes']
    """
    encoder = TableEncoder(
        categorical=categorical,
        categories=categories,
        missing=missing,
        unknown=unknown,
        category_distance=category_distance,
        max_categories=max_categories,
    )
    if frame is not None:
        seen = clone(encoder).fit(frame)
        found = {
            column.name: list(column.categories)
            for column in seen.columns_
            if isinstance(column, CategoryColumn)
        }
        encoder.set_params(categories=found or None)
    return Pipeline([("table", encoder), ("model", model)])


def split_target(frame: Any, target: Any) -> tuple[Any, NDArray[Any]]:
    """Take the column of labels out of a frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame, or structured array
        The table with its labels.
    target : str or other
        Name of the column of labels.

    Returns
    -------
    X : DataFrame or structured array
        The frame without it.
    y : array of shape (n_samples,)
        The labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from protolearn.tables import split_target
    >>> X, y = split_target(pd.DataFrame({"age": [20, 30], "bought": ["no", "yes"]}), "bought")
    >>> list(X.columns), y.tolist()
    (['age'], ['no', 'yes'])
    """
    kind = library(frame)
    if kind == "numpy":
        raise TypeError(
            f"frame is {type(frame).__name__}; expected a DataFrame of pandas or polars, or a "
            "structured array."
        )
    table = LIBRARIES[kind](frame)  # type: ignore[call-arg]
    if target not in table.names:
        raise ValueError(f"The frame has no column {target!r}.{near(target, table.names)}")
    if len(table.names) == 1:
        raise ValueError(f"The frame has no column but {target!r}: there is nothing to learn from.")
    values = table.read(target).data
    missing = np.array([is_missing(value) for value in values.tolist()])
    if missing.any():
        raise ValueError(
            f"Column {target!r} has no label in {missing.sum()} of {len(missing)} rows, the first "
            f"is row {int(missing.argmax())}. Drop them."
        )
    return table.without(target), labels(table, target)


def labels(table: Any, target: Any) -> NDArray[Any]:
    """Return labels as an array that scikit-learn takes: of numbers, truth values or texts."""
    values = table.read(target)
    if values.kind in ("number", "date"):
        column = table.column(target)
        return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if len({isinstance(value, str) for value in values.data}) > 1:
        raise ValueError(
            f"Column {target!r} has texts and other values as labels; make all of them texts."
        )
    return np.array(values.data.tolist())
